#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot diff": how much two results differ, in words, and what differs of their environment.
. "$top_srcdir/tests/support/program.sh"

# says WHAT PART-OF-OUTPUT
says()
{
	case $out in *"$2"*) result=0 ;; *) result=1 ;; esac
	check "$1"
}

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

# Without a drift, for which intervals would be wider.
steady="100 99 101 99 100 100 100 101 99 101"
faster="80 79 81 79 80 80 80 81 79 81"
wide="100 60 70 80 90 100 110 120 130 140"
result 2 "1|$(quantity time microSeconds s measured $steady), $(quantity performance flop flop/s measured $steady)" \
	"2|$(quantity time microSeconds s measured $wide), $(quantity transferredBytes llcRam byte expected 800)" \
	"3|$(quantity time microSeconds s measured 100 99)" "4|$(quantity time microSeconds s measured 1)" >before.json
result 3 "1|$(quantity time microSeconds s measured $faster), $(quantity performance flop flop/s measured $faster)" \
	"2|$(quantity time microSeconds s measured $steady), $(quantity transferredBytes llcRam byte expected 800)" \
	"3|$(quantity time microSeconds s measured 50 49)" "5|$(quantity time microSeconds s measured 1)" >after.json

call diff before.json after.json
result=$status
check "two results"
says "less time is faster, by the quotient of the times" "faster by 25 % ["
says "less performance is slower" "slower by 20 % ["
says "an interval that holds 0" "no difference shown ["
says "two runs" "differs by a factor of 2.01 (too few runs: it may be noise)"
says "a point of the first alone" "only in before.json: S 4"
says "a point of the second alone" "only in after.json: S 5"
says "another compiler" "< 2"
says "other flags" "> -O3"
says "a summary" "1 faster, 1 slower, 1 no difference shown, 1 not known (-runs=6 or more tells) in 3 points"
case $out in *bytes*) result=1 ;; *) result=0 ;; esac
check "what is expected and the same is not shown"

# Two versions of a program have two names, and their threads other numbers.
one_run()
{
	result 2 "$1|$(quantity instructions "" instruction measured 10)" "worker $2|$(quantity instructions "" instruction measured "$3")" \
		"worker 9|$(quantity instructions "" instruction measured 40)" |
		sed 's/"controller": "test"/"program": {}/; s/"S", "label": ".\//"program", "label": ".\//'
}
one_run ./old 8 20 >old.json
one_run ./new 10 30 >new.json
call diff --limit=60% old.json new.json
says "programs of two names" "in 3 points"
says "threads are compared in their order" "S worker 8 -> worker 10
    instructions"
result=$status
check "no point is in one file alone"

# More than eight threads are one series, fewer are one each.
sed 's/"S", "label": "worker/"threads", "label": "worker/' old.json >many-threads.json
sed 's/"S", "label": "\(worker [0-9]*\)"/"\1", "label": "\1"/' new.json >few-threads.json
call diff --limit=60% many-threads.json few-threads.json
says "so they are compared as well" "threads worker 8 -> worker 10
    instructions"
result=$status
check "with no thread in one file alone"
call diff --limit=60% few-threads.json many-threads.json
result=$status
check "the other way round"
# A thread has the name of its program.
sed 's/worker 10/old 8/g' few-threads.json >named.json
sed 's/worker 10/new 10/g' few-threads.json >renamed.json
call diff --all named.json renamed.json
says "threads of a renamed program are compared in their order" "old 8 -> new 10
"
case $out in *"only in"*) result=1 ;; *) result=0 ;; esac
check "and none is alone"

# Modelled bytes are counted once by blocks.
modelled()
{
	result 2 "1|$(quantity transferredBytes llcRam byte modelled "$1" | sed 's/"low.*"confidence"/"low": null, "high": null, "source": "blocks, modelled caches", "confidence"/')"
}
modelled 100000 >model.json
modelled 110000 >model-more.json
modelled 100000.1 >model-close.json
call diff model.json model-more.json
says "a count needs no runs for an interval" "more by 10 %
"
says "a mark is explained" "  (m): modelled"
call diff --all model.json model-close.json
says "what looks the same is no difference" "the same in the digits shown"
call diff --all --limit=0.00001% model.json model-close.json
says "unless it is beyond the limit" "beyond the limit"
sed 's/"quantities": \[/"quantities": ['"$(quantity operationCount flop flop measured 10)"', '"$(quantity operationCount doublePrecisionFlop flop measured 10)"', /' old.json >much.json
sed 's/"quantities": \[/"quantities": ['"$(quantity operationCount flop flop measured 20)"', '"$(quantity operationCount doublePrecisionFlop flop measured 20)"', /' new.json >more.json
call diff much.json more.json
says "of a run the widest value of each quantity is shown" "    operations "
says "and how many others differ" "    3 differences of other operations and borders: --all"
case $out in *"(double precision)"*) result=1 ;; *) result=0 ;; esac
check "which are left out"
call diff --all much.json more.json
says "but with --all" "    operations (double precision) "
sed 's/"program": {}/"controller": "program"/' old.json >mine.json
call diff mine.json new.json
says "points of an experiment are those of one name" "only in mine.json: program ./old"

# ---- functions ----
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
functions ./old 10000 "slow old 16 2000 1000" "same old 32 3000 1000" "near old 48 1000 10" "gone libx.so 16 500 100" "- libx.so 64 300 50" \
	"- libx.so 128 20 50" "twice old 160 700 5" "twice old 176 100 5" "more old 192 10 300" "little old 208 0 1" >first.json
functions ./new 12000 "more new 32 12 400" "slow new 48 4000 1000" "same new 64 3001 1000" "near new 80 1110 10" "- libx.so 64 900 50" \
	"- libx.so 128 22 50" "new new 96 350 100" "twice new 112 702 5" "twice new 128 400 5" "little new 256 0 2" >second.json
call diff first.json second.json
says "functions, most seconds first, before all else" " in 1 point

functions, CPU time of a run (10 -> 12 s in all); too few runs for intervals of seconds (--runs=6):
  slow, old
      2 -> 4 s, 20 -> 33.3 % of all: +13.3 [12.2, 14.5] %; instructions: the same; flop: the same
  libx.so+0x40, libx.so
      0.3 -> 0.9 s, 3 -> 7.5 % of all: +4.5 ±0.6 %; instructions: the same; flop: the same
  gone, libx.so (only in the first)
      0.5 -> 0 s, 5 -> 0 % of all: -5.0 ±0.4 %; instructions: 100 -> 0; flop: 50 -> 0
  new, new (only in the second)
      0 -> 0.35 s, 0 -> 2.92 % of all: +2.92 [2.63, 3.23] %; instructions: 0 -> 100; flop: 0 -> 50
  twice, old
      0.1 -> 0.4 s, 1 -> 3.33 % of all: +2.3 ±0.4 %; instructions: the same; flop: the same
"
says "exact counts" "
  more, old
      0.01 -> 0.012 s, 0.1 -> 0.1 % of all: 0.00 ±0.09 %, no difference shown; instructions: 300 -> 400, +33.3 %; flop: 150 -> 200, +33.3 %

"
call diff --all first.json second.json
says "a share that is larger since others are smaller" "  same, old
      3 -> 3 s, 30 -> 25 % of all: -5.0 ±1.2 %, but as many seconds;"
says "without samples" "  little, old
      instructions: 1 -> 2, +100 %; flop: 0 -> 1
"
call diff first.json first.json
says "a program that does the same" "--runs=6):
  no difference shown
"
i=0
set --
while [ $((i += 1)) -le 12 ]; do
	set -- "$@" "f$i old $((16 * i)) 500 $((100 + i))"
done
functions ./old 10000 "$@" >many.json
sed 's/"samples": 500/"samples": 100/g; s/"share": 0.05[0-9]*/"share": 0.01/g' many.json >fewer.json
call diff many.json fewer.json
says "no more than ten" "
  2 more: --all
"
# Results of before have no number of runs.
sed 's/"sampledRuns": 1, //' first.json >untimed.json
call diff untimed.json second.json
says "without seconds" "
functions; too few runs for intervals of seconds (--runs=6):
  slow, old
      20 -> 33.3 % of all: +13.3 [12.2, 14.5] %; instructions: the same; flop: the same
"

# With enough runs seconds have intervals, which hold the scatter of runs.
with_runs()
{
	times=$1
	set -- "a old 64 10 0" "b old 80 10 0" "c old 96 10 0" "d old 112 10 0" "e old 128 10 0" "f old 144 10 0"
	functions ./old 10000 "slow old 16 2000 1000" "same old 32 7000 1000" "near old 48 1000 10" "$@" >first.json
	functions ./old 12000 "slow old 16 4000 1000" "same old 32 6890 1000" "near old 48 1110 10" "$@" >second.json
}
with_runs "$steady"
call diff first.json second.json
says "seconds of steady runs" "
functions, CPU time of a run (10 -> 12 s in all):
  slow, old
      2 -> 4 s: +2.00 ±0.14 s; instructions: the same; flop: the same

"
call diff --all first.json second.json
says "what many comparisons show by chance" "
      1 -> 1.11 s: +0.11 ±0.09 s, or chance;"
with_runs "$wide"
call diff first.json second.json
says "of runs that scatter" "
functions, CPU time of a run (10 -> 12 s in all):
  no difference shown
"

# Values are made of undisturbed runs, and so is the verdict.
disturbed=$(quantity time microSeconds s measured 10 90 90 90 90 90 90 90 90 9 10 10 10 10 11 11)
result 2 "1|${disturbed%\}}, \"taintedSamples\": [1, 2, 3, 4, 5, 6, 7, 8]}" >disturbed.json
result 2 "1|$(quantity time microSeconds s measured 10 10 10 10 10 10 11 11 11 11)" >clean.json
call diff disturbed.json clean.json
says "disturbed runs do not count" "no difference shown ["
case $out in *"factor"*) result=1 ;; *) result=0 ;; esac
check "disturbed runs widen no interval"
sed 's/-O2/-ffile-prefix-map=a=b -O2/' clean.json >elsewhere.json
call diff clean.json elsewhere.json
says "folders of the build are no difference" "the same machine, kernel, compiler, flags and libraries"

result 2 "1|$(quantity time microSeconds s measured $steady), $(quantity operationCount flop flop measured 1010 1010 1010)" >counted.json
result 2 "1|$(quantity time microSeconds s measured $faster), $(quantity operationCount flop flop expected 1000)" >by-definition.json
call diff counted.json by-definition.json
says "of which kinds the numbers are" "(measured -> expected)"
says "which is no difference between measurements" "
1 faster in 1 point"
call diff by-definition.json counted.json
says "nor the other way round" "
1 slower in 1 point"

call diff --all before.json before.json
says "with --all it is" "    bytes (LLC-RAM)"
says "the same environment" "the same machine, kernel, compiler, flags and libraries"

# Disturbed runs are left out of the comparison, as they are of the summary: here all that are slow.
disturbed="$faster 200 200 200 200 200 200 200 200 200 200 200 200"
result 2 "1|$(quantity time microSeconds s measured $disturbed)" |
	sed 's/"samples"/"taintedSamples": [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21], "samples"/' >disturbed.json
result 2 "1|$(quantity time microSeconds s measured $steady)" >steady.json
call diff steady.json disturbed.json
says "disturbed runs do not count" "faster by 25 % ["

# Twenty comparisons: what one of them would show by chance is marked, what is beyond chance is not.
above="101.2 99.8 101.6 100.3 101.4 101.1 100.4 101.5 101.3 101.7"
points="1|$(quantity time microSeconds s measured $steady)" others="1|$(quantity time microSeconds s measured $above)"
result 2 "$points" >one.json
result 2 "$others" >other.json
call diff one.json other.json
says "alone it is a difference" "slower by 1.2 % ["
case $out in *chance*) result=1 ;; *) result=0 ;; esac
check "and not marked"
set -- "$points"
for i in $(seq 2 20); do set -- "$@" "$i|$(quantity time microSeconds s measured $steady)"; done
result 2 "$@" >many.json
shift 2
result 2 "$others" "2|$(quantity time microSeconds s measured $faster)" "$@" >many-others.json
call diff many.json many-others.json
says "among many it may be chance" ", or chance"
says "a clear one is none" "faster by 25 % [24, 26]
"
says "how many, of how many" "or chance: 1 of the 2 differences, since 20 comparisons were made (Holm's correction)"

# fits WHAT: no line that was printed is longer than a terminal is wide.
fits()
{
	[ "$status" = 0 ] && ! printf '%s\n' "$out" | sed 's/±/+/g' | grep -E '^.{81}'
	check "$1"
}
COLUMNS=80
call diff many.json many-others.json
fits "what may be chance is said in lines of a terminal"
call diff before.json after.json
says "a summary of all kinds of verdicts" "in 3 points"
fits "which is folded as well"
rate()
{
	quantity throughput llcRam.read byte/s modelled "$@"
}
result 2 "1|$(rate $(echo "$steady" | sed 's/[0-9]* */12345&/g'))" >one.json
result 2 "1|$(rate $(echo "$faster" | sed 's/[0-9]* */12345&/g'))" >other.json
call diff one.json other.json
says "names are those of tables, and long values have a line of their own" "    throughput (LLC-RAM read):
        "
fits "which is no longer than that"
borders=
for border in cpuL1 l1l2 l2l3 llcRam; do
	borders="$borders,$(quantity throughput $border byte/s modelled $steady)"
done
result 2 "1|$(rate $steady)$borders" >more.json
result 2 "1|$(rate $steady)" >less.json
call diff more.json less.json
says "quantities of one file alone are in several lines" "
quantities only in more.json: "
fits "of a terminal"
COLUMNS=1000

# The same runs in an order in which both results go up: what happened in between may have done it.
risen="99 99 99.5 100 100 100 100.5 101 101 101" higher="99.8 100.3 100.4 101.1 101.2 101.3 101.4 101.5 101.6 101.7"
result 2 "1|$(quantity time microSeconds s measured $risen)" >one.json
result 2 "1|$(quantity time microSeconds s measured $higher)" >other.json
call diff one.json other.json
says "what drifts is no difference" "1 no difference shown in 1 point"

# A limit of what may change, for counts: by blocks one run is enough, by events it is no more than its value.
counted()
{
	quantity instructions "" instruction measured "$1" | sed 's/"n": 1/"n": 1, "source": "blocks"/'
}
result 2 "1|$(counted 1000000), $(quantity time microSeconds s measured 1)" >one.json
result 2 "1|$(counted 1000900), $(quantity time microSeconds s measured 2)" >near.json
result 2 "1|$(counted 998000), $(quantity time microSeconds s measured 1)" >far.json
result 2 "1|$(counted null), $(quantity time microSeconds s measured 1)" >uncounted.json
call diff --limit=0.1% one.json near.json
result=$status
check "within the limit, whatever a time does that has no interval"
says "a count is exact" "more by 0.09 %
"
call diff --limit=0.0005 one.json near.json
case $status:$err in 1:*"'near.json': 1 of 1 values differ by more than 0.05 %"*) result=0 ;; *) result=1 ;; esac
check "beyond a limit that is a share"
call diff -limit 0.1% one.json far.json
case $status:$out in 1:*"less by 0.2 %, beyond the limit"*) result=0 ;; *) result=1 ;; esac
check "less is a change as well"
call diff --limit=0.1% one.json uncounted.json
case $status:$out:$err in 1:*"quantities only in one.json: instructions"*"in one of the files alone"*) result=0 ;; *) result=1 ;; esac
check "so is a count that is missing"
call diff one.json far.json
result=$status
check "without a limit it is told alone"
call diff one.json one.json
case $status:$out in 0:*operations*) result=1 ;; 0:*) result=0 ;; *) result=1 ;; esac
check "what is the same is not shown"
call diff --limit=30% before.json after.json
case $status:$err in 1:*"in one of the files alone"*) result=0 ;; *) result=1 ;; esac
check "what one file has alone cannot be held to a limit"
result 2 "1|$(quantity time microSeconds s measured $steady)" >slow.json
result 2 "1|$(quantity time microSeconds s measured $faster)" >fast.json
call diff --limit=22% slow.json fast.json
result=$status
check "a time may be 20 % less"
call diff --limit=10% slow.json fast.json
case $status:$err in 1:*"differ by more than 10 %"*) result=0 ;; *) result=1 ;; esac
check "with its whole interval"
result 2 "1|$(quantity time microSeconds s measured 1)" >short.json
call diff --limit=1% short.json short.json
case $status:$err in 1:*"no value can be held to the limit"*) result=0 ;; *) result=1 ;; esac
check "a time alone without an interval is no proof"
sed 's/"low": 1, "high": 1/"low": null, "high": null/' short.json >once.json
sed 's/"value": 1/"value": 1.2/; s/"samples": \[1\]/"samples": [1.2]/' once.json >longer.json
call diff once.json longer.json
case $status:$out in 0:*faster* | 0:*slower*) result=1 ;; 0:*) result=0 ;; *) result=1 ;; esac
check "of one run each nothing is faster or slower"
says "they differ" "differs by 20 % (one run each: it may be noise)
"
says "more runs would tell" "
1 not known (-runs=6 or more tells) in 1 point"
for limit in much -1% % 1%%; do
	call diff --limit=$limit one.json near.json
	[ "$status" = 2 ]
	check "no limit: $limit"
done

# On another machine an axis may have other values; several points of one name are told apart by it, or by their order.
one="$(quantity time microSeconds s measured $steady)" two="$(quantity time microSeconds s measured $faster)"
result 2 "1|$one" | sed 's/"coordinates": {}/"coordinates": {"core": "Haswell", "n": 5}/' >here.json
result 2 "1|$two" | sed 's/"coordinates": {}/"coordinates": {"core": "SkylakeX", "n": 5}/' >there.json
call diff here.json there.json
says "another value of an axis" 'S 1 (core: "Haswell" -> "SkylakeX")'
says "is compared all the same" "faster by 25 % ["
result 2 "1|$one" "1|$two" | sed '0,/"coordinates": {}/s//"coordinates": {"n": 1}/; s/"coordinates": {}/"coordinates": {"n": 2}/' >several.json
result 2 "1|$two" "1|$one" | sed '0,/"coordinates": {}/s//"coordinates": {"n": 2}/; s/"coordinates": {}/"coordinates": {"n": 3}/' >others.json
call diff several.json others.json
says "which of several decide coordinates" "1 no difference shown in 1 point"
says "what has no counterpart in the first" "only in several.json: S 1"
says "what has no counterpart in the second" "only in others.json: S 1"
result 2 "1|$one" "1|$two" >twice.json
call diff twice.json twice.json
says "which of several decides their order" "2 no difference shown in 2 points"
sed 's/"of": "microSeconds"/"of": "coreCycles"/' before.json >cycles.json
call diff before.json cycles.json
says "another clock in the first" "quantities only in before.json: time [s]"
says "another clock in the second" "quantities only in cycles.json: core cycles [s]"

result 2 "9|$(quantity time microSeconds s measured 1)" >other.json
call diff before.json other.json
case $status:$out:$err in 1::*"have no point in common"*) result=0 ;; *) result=1 ;; esac
check "nothing to compare, and nothing that looks like a comparison"
for damage in '' '{"schema": ' '{"schema": "rot.result/2", "points": []}' '{"schema": "rot.result/1", "points": {}}' '[]'; do
	printf '%s' "$damage" >damaged.json
	call diff before.json damaged.json
	case $status:$err in 1:*damaged.json*) result=0 ;; *) result=1 ;; esac
	check "no result: $damage"
done
call diff before.json
[ "$status" = 2 ]
check "one file"
call diff before.json nowhere.json
case $status:$err in 1:*"cannot read 'nowhere.json'"*) result=0 ;; *) result=1 ;; esac
check "no file"
exit $((nr_failed != 0))
