# SPDX-License-Identifier: MIT
# To be sourced: what rot-core is to do with a program, in the text form of entities, which names all fields in order.

# describe_program FILE PER_THREAD PROGRAM ARGUMENT...: page faults of user mode, of each thread or (PER_THREAD false) in all
describe_program()
{
	local file=$1 per_thread=$2 program=$3
	shift 3
	{
		describe_command '=> 1' 0 '=> 2' "$per_thread"
		printf '%s\n' Program executable "$program" arguments $# "$@" environment 0 folder '' standardInput '' standardOutput ''
		describe_pass '=> 3'
	} >"$file"
}

# describe_visit FILE PID: the same of each thread of a running process
describe_visit()
{
	{
		describe_command '<null>' "$2" '=> 1' true
		describe_pass '=> 2'
	} >"$1"
}

describe_command()
{
	printf '%s\n' ProgramCommand program "$1" processId "$2" passes 1 "$3" runCount 1 perThread "$4" followForks true \
		regions 0 regionBackend auto rules 0
}

describe_pass()
{
	printf '%s\n' PerfEventMeasurer id 0 events 1 "$1" countUser true countKernel false scrubEvent '' scrubCount 0 \
		PerfEventDefinition name faults definition perf::PERF_COUNT_SW_PAGE_FAULTS '<end>'
}
