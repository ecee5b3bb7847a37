# SPDX-License-Identifier: MIT
# To be sourced: what rot-core is to do with a program, in the text form of entities, which names all fields in order, and numbers
# the entities in the order in which they are named.

page_faults=perf::PERF_COUNT_SW_PAGE_FAULTS

# describe_program FILE PER_THREAD PROGRAM ARGUMENT...: page faults of user mode, of each thread or (PER_THREAD false) in all
describe_program()
{
	local file=$1 per_thread=$2
	shift 2
	{
		describe_command '=> 1' 0 '=> 2' "$per_thread"
		describe_executable "$@"
		describe_pass 3 $page_faults
		describe_events $page_faults
	} >"$file"
}

# describe_visit FILE PID: the same of each thread of a running process
describe_visit()
{
	{
		describe_command '<null>' "$2" '=> 1' true
		describe_pass 2 $page_faults
		describe_events $page_faults
	} >"$1"
}

# describe_region FILE BACKEND FUNCTION EVENTS PROGRAM ARGUMENT...: these events of each thread, and in the function; observed in this way alone
describe_region()
{
	local file=$1 backend=$2 function=$3 events=$4
	shift 4
	{
		describe_command '=> 1' 0 '=> 2' true "$backend" '=> 3'
		describe_executable "$@"
		describe_pass 4 $events
		printf '%s\n' Region name "$function" begin "$function" end '' firstHit 1 lastHit 0
		describe_events $events
	} >"$file"
}

# describe_counting FILE PROGRAM ARGUMENT...: the instructions of each thread, counted by blocks; with $has_caches=true lines of
# modelled caches as well, one of $sampling; with $counts_functions=true also what functions do
describe_counting()
{
	local file=$1 events=step::instructions
	shift
	! ${has_caches:-false} || events='step::instructions step::l1Fills'
	{
		describe_command '=> 1' 0 '=> 2' true
		describe_executable "$@"
		echo StepMeasurer
		describe_pass 3 $events | tail -n +2
		printf '%s\n' l1Bytes 32768 l1Ways 8 l2Bytes 1048576 l2Ways 8 l3Bytes 33554432 l3Ways 16 l1Policy lru l2Policy lru l3Policy lru l1LineBytes 64 l2LineBytes 64 l3LineBytes 64 l1IsShared false l2IsShared false l3IsShared true tlbEntries 64 tlbWays 0 tlbPageBytes 4096 allThreads false followsWarming false
		describe_events $events
	} >"$file"
}

# describe_command PROGRAM PID PASS PER_THREAD [BACKEND REGION]
describe_command()
{
	printf '%s\n' ProgramCommand program "$1" processId "$2" passes 1 "$3" runCount 1 perThread "$4" followForks true \
		regions $(($# > 4)) ${6+"$6"} regionBackend "${5:-auto}" cacheSampling "${sampling:-1}" missCurve false missKinds false whatIfs 0 samplePeriod 0 samplesStacks false countsFunctions "${counts_functions:-false}" \
		tellsLines false tellsTrips false dividesAll true rules 0
}

# describe_executable PROGRAM ARGUMENT...
describe_executable()
{
	local program=$1
	shift
	printf '%s\n' Program executable "$program" arguments $# "$@" environment 0 folder '' standardInput '' standardOutput ''
}

# describe_pass FIRST EVENT...: the events are the entities from number FIRST on
describe_pass()
{
	local i first=$1
	shift
	printf '%s\n' PerfEventMeasurer id 0 events $#
	for ((i = 0; i < $#; i++)); do
		echo "=> $((first + i))"
	done
	printf '%s\n' countUser true countKernel false scrubEvent '' scrubCount 0
}

# describe_events EVENT...: ends the description
describe_events()
{
	local event
	for event; do
		printf '%s\n' PerfEventDefinition name "${event##*::}" definition "$event"
	done
	echo '<end>'
}
