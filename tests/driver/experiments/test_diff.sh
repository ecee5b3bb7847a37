#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot diff": how much two results differ, in words, and what differs of their environment.
. "$top_srcdir/tests/support/program.sh"

# quantity NAME OF UNIT KIND SAMPLE...: the first sample is the value; low and high are the second and the last one
quantity()
{
	head="\"name\": \"$1\", \"of\": \"$2\", \"unit\": \"$3\", \"kind\": \"$4\""
	shift 4
	list=$(echo "$*" | tr ' ' ',')
	low=${2:-$1}
	for high in "$@"; do :; done
	[ $# -gt 5 ] || [ $# = 1 ] || low=null high=null
	echo "{$head, \"value\": $1, \"low\": $low, \"high\": $high, \"confidence\": 0.95, \"n\": $#, \"estimator\": \"median\", \"samples\": [$list]}"
}

# result COMPILER POINT...
result()
{
	echo "{\"schema\": \"rot.result/1\", \"controller\": \"test\", \"machine\": {\"cpuName\": \"A CPU\", \"cpuFamily\": 6},"
	echo "\"software\": {\"kernel\": \"6.1\", \"compilers\": [\"$1\"], \"compileLines\": [\"cc -O$1\"]}, \"points\": ["
	shift
	separator=
	for quantities in "$@"; do
		echo "$separator{\"series\": \"S\", \"label\": \"${quantities%%|*}\", \"coordinates\": {}, \"quantities\": [${quantities#*|}]}"
		separator=,
	done
	echo ']}'
}

time_of()
{
	quantity time microSeconds s measured "$@"
}

# timed FILE SAMPLE...: a result with one time
timed()
{
	file=$1
	shift
	result 2 "1|$(time_of "$@")" >"$file.json"
}

# Without a drift, for which intervals would be wider.
steady="100 99 101 99 100 100 100 101 99 101"
faster="80 79 81 79 80 80 80 81 79 81"
wide="100 60 70 80 90 100 110 120 130 140"
result 2 "1|$(time_of $steady), $(quantity performance flop flop/s measured $steady)" \
	"2|$(time_of $wide), $(quantity transferredBytes llcRam byte expected 800)" "3|$(time_of 100 99)" "4|$(time_of 1)" >before.json
result 3 "1|$(time_of $faster), $(quantity performance flop flop/s measured $faster)" \
	"2|$(time_of $steady), $(quantity transferredBytes llcRam byte expected 800)" "3|$(time_of 50 49)" "5|$(time_of 1)" >after.json

# Two versions of a program have two names, and their threads other numbers.
one_run()
{
	result 2 "$1|$(quantity instructions "" instruction measured 10)" "worker $2|$(quantity instructions "" instruction measured "$3")" \
		"worker 9|$(quantity instructions "" instruction measured 40)" |
		sed 's/"controller": "test"/"program": {}/; s/"S", "label": ".\//"program", "label": ".\//'
}
# Modelled bytes are counted once by blocks.
modelled()
{
	result 2 "1|$(quantity transferredBytes llcRam byte modelled "$1" | sed 's/"low.*"confidence"/"low": null, "high": null, "source": "blocks, modelled caches", "confidence"/')"
}
# with_counts FILE NUMBER: its points have so many operations, too
with_counts()
{
	sed 's/"quantities": \[/"quantities": ['"$(quantity operationCount flop flop measured "$2")"', '"$(quantity operationCount doublePrecisionFlop flop measured "$2")"', /' "$1"
}

# functions EXECUTABLE SAMPLES FUNCTION...: "NAME FILE ADDRESS SAMPLES INSTRUCTIONS" each, of a run with a sample each millisecond
# times: of the program, in its runs
times="1 1"
functions()
{
	executable=$1 all=$2
	shift 2
	places=
	for function; do
		places="$places$(echo "$function" | LC_ALL=C awk -v all="$all" '{
			name = $1 == "-" ? "" : $1
			printf "{\"object\": \"/x/%s\", \"function\": \"%s\", \"symbol\": \"%s\", \"address\": %d, \"size\": 16, ", $2, name, name, $3
			printf "\"samples\": %d, \"share\": %.17g, \"counts\": {\"instructions\": %d, \"packedDouble\": %d}}", $4, $4 / all, $5, $5 / 2
		}'),"
	done
	result 2 "1|$(quantity time microSeconds s measured $times)" | sed 's|"controller": "test"|"program": {"executable": "'"$executable"'"}, "functions": {"cpuTime": '"$((all / 1000))"', "sampledRuns": 1, "functions": ['"${places%,}"']}|'
}
# Their order is another one in the second.
some_functions()
{
	functions ./old 10000 "slow old 16 2000 1000" "same old 32 3000 1000" "near old 48 1000 10" "gone libx.so 16 500 100" "- libx.so 64 300 50" \
		"- libx.so 128 20 50" "twice old 160 700 5" "twice old 176 100 5" "more old 192 10 300" "little old 208 0 1" >first.json
	functions ./new 12000 "more new 32 12 400" "slow new 48 4000 1000" "same new 64 3001 1000" "near new 80 1110 10" "- libx.so 64 900 50" \
		"- libx.so 128 22 50" "new new 96 350 100" "twice new 112 702 5" "twice new 128 400 5" "little new 256 0 2" >second.json
}

many_functions()
{
	i=0
	set --
	while [ $((i += 1)) -le 12 ]; do
		set -- "$@" "f$i old $((16 * i)) 500 $((100 + i))"
	done
	functions ./old 10000 "$@" >many.json
	sed 's/"samples": 500/"samples": 100/g; s/"share": 0.05[0-9]*/"share": 0.01/g' many.json >fewer.json
}

with_runs()
{
	times=$1
	set -- "a old 64 10 0" "b old 80 10 0" "c old 96 10 0" "d old 112 10 0" "e old 128 10 0" "f old 144 10 0"
	functions ./old 10000 "slow old 16 2000 1000" "same old 32 7000 1000" "near old 48 1000 10" "$@" >first.json
	functions ./old 12000 "slow old 16 4000 1000" "same old 32 6890 1000" "near old 48 1110 10" "$@" >second.json
}

# Twenty comparisons: what one of them would show by chance is marked, what is beyond chance is not.
above="101.2 99.8 101.6 100.3 101.4 101.1 100.4 101.5 101.3 101.7"
many_times()
{
	set --
	for i in $(seq 3 20); do set -- "$@" "$i|$(time_of $steady)"; done
	result 2 "1|$(time_of $steady)" "2|$(time_of $steady)" "$@" >many.json
	result 2 "1|$(time_of $above)" "2|$(time_of $faster)" "$@" >many-others.json
}

rate()
{
	quantity throughput llcRam.read byte/s modelled "$@"
}

borders=
for border in cpuL1 l1l2 l2l3 llcRam; do
	borders="$borders,$(quantity throughput $border byte/s modelled $steady)"
done

# A count: by blocks one run is enough, by events it is no more than its value.
counted()
{
	quantity instructions "" instruction measured "$1" | sed 's/"n": 1/"n": 1, "source": "blocks"/'
}

transcript tests/driver/experiments/golden/diff.txt
exit $((nr_failed != 0))
