#!/bin/sh
# SPDX-License-Identifier: MIT
# Controllers that tell what there is: listEvents, performanceEventScreening and report, with the real measuring core and on a simulated processor.
. "$top_srcdir/tests/support/program.sh"

command -v gnuplot >/dev/null || { echo "SKIP: there is no gnuplot" >&2; exit 77; }

call measure listEvents
case $err in
*libpfm*)
	echo "SKIP: $err" >&2
	exit 77
	;;
esac
result=$status
check "rot measure listEvents"
case $out in *"perf "*"perf_events generic PMU"*"listEvents-perf.txt"*) result=0 ;; *) result=1 ;; esac
check "its table"
has "its JSON" listEvents.json 'schema = rot\.events/1' 'units\[[0-9]\]\.pmuName = perf' \
	'units\[[0-9]\]\.events\[[0-9]+\]\.name = PERF_COUNT_SW_PAGE_FAULTS' \
	'units\[[0-9]\]\.events\[[0-9]+\]\.attributes\[[0-9]+\]\.attributeType = umask'
call list events --all
sort "$work/out" >listed
cat listEvents-*.txt | sort | cmp -s - listed
check "its texts are those of rot list events"

# counts FILE AWK: lines of EVENT KERNEL KEY VALUE, separated by tabs, on which the program ends with 0
counts()
{
	"$top_builddir/tests/json_lines" "$1" | awk '
		{ value = $0; sub(/^[^ ]* = /, "", value); key = $1 }
		key == "runs" { print "-\t-\truns\t" value }
		key ~ /^events\[[0-9]+\]\.name$/ { event = value }
		key ~ /^events\[[0-9]+\]\.refused$/ { print event "\t-\trefused\t" value }
		sub(/^events\[[0-9]+\]\.counts\[[0-9]+\]\./, "", key) {
			if (key == "kernel") kernel = value
			print event "\t" kernel "\t" key "\t" value
		}' >lines
	awk -F '\t' "$2" lines
	result=$?
}

call measure performanceEventScreening -sizes=small -runs=4 -starts=2
case $status:$err in
1:*"no event can be counted here"*)
	echo "skipped: $err"
	;;
*)
	result=$status
	check "rot measure performanceEventScreening"
	counts performanceEventScreening.json '
		$3 == "runs" { runs = $4 }
		$1 == "perf::PERF_COUNT_SW_TASK_CLOCK" { value[$2, $3] = $4; nr += $3 == "n" && $4 == runs; samples += $3 ~ /^samples/ }
		END {
			exit runs != 4 || nr != 3 || samples != nr * runs || value["add", "minimum"] <= value["nothing", "minimum"] ||
				value["add", "minimum"] > value["add", "median"] || value["add", "median"] > value["add", "maximum"]
		}'
	check "a software event is counted of each kernel, in each run"
	case $out in *"perf::PERF_COUNT_SW_TASK_CLOCK"*"median of "*) result=0 ;; *) result=1 ;; esac
	check "its table"
	printf '%s\n' "$out" | cmp -s - performanceEventScreening.txt && [ -s performanceEventScreening.svg ]
	check "the text and the picture"
	grep -q 'with candlesticks' performanceEventScreening.gnuplot && ! grep -q linespoints performanceEventScreening.gnuplot
	check "which joins no events"
	;;
esac

# On a Zen 5 that is not there: in groups, scrubbed, and without what its counters add to some reads.
if ! is_sanitized; then
	LD_PRELOAD=$top_builddir/tests/simulated_pmu.so ROT_SIMULATED_MACHINE=$top_srcdir/tests/machines/zen5-turin-kvm ROT_SIMULATED_SCRUB=1 \
		"$rot" measure performanceEventScreening simulated -sizes=small -starts=2 -validate=never >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	result=$status
	check "on a simulated processor"
	counts simulated.json '
		$1 == "coreCycles" && $2 == "add" { value[$3] = $4 }
		$1 == "allFlops" && $2 == "add" && $3 == "maximum" { flops = $4 }
		$1 == "allFlops" && $2 == "add" && $3 == "minimum" { least = $4 }
		$1 == "storeLines" && $3 == "maximum" { nr++; wrong += $4 != 0 }
		$3 == "refused" { refused[$1] = $4 }
		END { exit wrong || !nr || value["minimum"] <= 0 || value["minimum"] != value["maximum"] || flops != 6400000 || least != flops ||
			"coreCycles" in refused || refused["perf::LLC-LOADS"] !~ /cannot count .*PERF_COUNT_HW_CACHE_LL/ }'
	check "its events count what it says, and what it does not have is refused with a reason"
	case $out in *"not counted here: "*" events; perf::"*": cannot count"*) result=0 ;; *) result=1 ;; esac
	check "the reason is told once"
fi

# Two peaks of the same, a result, and another file of JSON.
mkdir folder && cd folder || exit 99
cat >default-peaks.xml <<'END'
<controller name="default-peaks" comment="two peaks">
	<axis name="set"><list values="SCALAR SSE"/></axis>
	<ceiling name="{$set} ADD" performance="doublePrecisionFlop" access="ADD" instructionSet="{$set}">
		<workload><kernel type="Arithmetic" operation="ADD" instructionSet="{$set}" iterations="20000"/></workload>
	</ceiling>
</controller>
END
cat >tiny.xml <<'END'
<controller name="tiny" comment="a result" runs="2">
	<axis name="size"><list values="100 200"/></axis>
	<point series="t" label="{$size}"><workload><kernel type="Triad" bufferSize="{$size}"/></workload></point>
	<quantity is="performance:doublePrecisionFlop:microSeconds"/>
	<quantity is="operationalIntensity:doublePrecisionFlop:llcRam"/>
</controller>
END
call measure report
result=$status
check "rot measure report where nothing is known"
has "its JSON" report.json 'schema = rot\.report/1' 'results = \[\]' 'doctor\.schema = rot\.doctor/1'
case $out in *"No peaks of this machine are kept: 'rot peaks'"*"There are none: 'rot measure triad'"*) result=0 ;; *) result=1 ;; esac
check "what is not known, and how to know it"

echo '{"schema": "rot.other/1"}' >other.json
call peaks --threads=1 -quiet
call measure ./tiny.xml
result=$status
check "a result"
highest=$("$top_builddir/tests/json_lines" tiny.json | awk '
	/quantities\[[0-9]+\]\.name/ { is_rate = $3 == "performance" }
	is_rate && /quantities\[[0-9]+\]\.value/ && $3 + 0 > highest + 0 { highest = $3 }
	END { print highest }')
call measure report
result=$status
check "rot measure report"
has "the result, with the higher rate of its points" report.json 'results\[0\]\.file = tiny\.json' 'results\[0\]\.controller = tiny' \
	'results\[0\]\.points = 2' 'results\[0\]\.isOfThisMachine = true' "results\[0\]\.highest\[0\]\.value = $highest"
grep -q '^results\[1\]' "$work/lines"
[ $? -eq 1 ] && grep -q '^peaks\.peaks\[1\]' "$work/lines"
check "no other file, and both peaks"
case $out in *"What works here"*) result=1 ;; *"The roof"*"Results in this folder"*"tiny "*"this one"*) result=0 ;; *) result=1 ;; esac
check "the first screen has the roof and the results"
cp report.txt shown
out=$(cat shown)
case $out in *"What works here"*"Events and their grades"*"The roof"*"Results in this folder"*"tiny "*"this one"*) result=0 ;; *) result=1 ;; esac
[ "$(grep -c '^ADD  *S' shown)" = 1 ] || result=1
check "the table of results, and of the peaks the higher one"
(unset COLUMNS && "$rot" measure report --all) >narrow 2>"$work/err" && ! grep -v -F "$work" narrow | sed "s/±/+/g" | grep -E "^.{81}"
check "it fits a terminal"
! grep '^([a-z]): ' shown | cut -d : -f 1 | while read -r mark; do grep -F " $mark" shown || echo "no $mark"; done | grep '^no '
check "and explains no mark that it does not have"
[ -s report.svg ] && [ -s report-results.svg ] && grep -q 'Results in this folder' report.txt
check "pictures of the roof and of the result, and the text"

# As a page it is one file, with the pictures that are files otherwise, and with the words of the text.
call measure report one -plots=html
is_one=$(printf '%s ' one*)
[ "$status" = 0 ] && [ "$is_one" = 'one.html ' ] && ! grep -q -E '(src|href)=|https?://[^w]' one.html
check "the report as a page is one file, which loads nothing"
result=0
for part in '<h2>The roof of this machine: double precision flop, 1 thread</h2>' '<h2>Results of this machine</h2>' '<h2>The roof</h2>' \
	'<h2>Results in this folder</h2>' '<h2>What works here</h2>' '<h2>Events and their grades</h2>' '<h2>tiny</h2>' '>SSE ADD (' \
	'class="rot-result"'; do
	grep -Fq -e "$part" one.html || { echo "no $part"; result=1; }
done
check "it has machine, roof and results"
line=$(grep '^ADD  *S' shown)
grep -Fxq -e "$line" one.html
check "with the peak of the text"
[ $nr_failed -eq 0 ]
