#!/bin/sh
# SPDX-License-Identifier: MIT
# Accuracy experiments from the command to their JSON on a simulated Zen 5 (tests/simulated_pmu.c), which counts the known work of
# Arithmetic and Memory right, for every thread that runs them: so nothing is off. Not that the real processor does that.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}

# on_zen5 ARGUMENT...
on_zen5()
{
	export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm"
	call "$@" -starts=2 -findPeaks=false -validate=never
	unset LD_PRELOAD
}

# rows FILE: lines of "TITLE: SERIES, CLASS: runs OFF SPREAD minima OFF SPREAD", or "TITLE: why there are none"
# (a busy machine may leave so few undisturbed runs that there is one minimum, which is not apart from others)
rows()
{
	"$top_builddir/tests/json_lines" "$1" | awk '
		{ value = $0; sub(/^[^ ]* = /, "", value) }
		$1 !~ /^accuracy/ { next }
		$1 ~ /\.title$/ { title = value }
		$1 ~ /\.series$/ { series = value }
		$1 ~ /\.class$/ { class = value }
		$1 ~ /\.runs\.(off|spread)$/ { runs = runs " " value }
		$1 ~ /\.minima\.off$/ { off = value }
		$1 ~ /\.minima\.spread$/ && value == "null" && off != "null" { value = "0" }
		$1 ~ /\.minima\.spread$/ { print title ": " series ", " class ": runs" runs " minima " off " " value; runs = "" }
		$1 ~ /\.notMeasured$/ { print title ": " value }'
}

cat >bytes.xml <<'END'
<controller name="bytes" comment="a test" runs="12">
	<axis name="kernel"><list values="READ WRITE"/></axis>
	<axis name="threads"><list values="1 all"/></axis>
	<axis name="size"><list values="65536 4194304"/></axis>
	<axis name="class"><value is="small" if="$size = 65536"/><value is="large" if="$size > 65536"/></axis>
	<point series="{$kernel} {$threads}" label="{$size}" threads="{$threads}">
		<workload><kernel type="Memory" operation="{$kernel}" bufferSize="{$size}"/></workload>
	</point>
	<point series="flush" label="{$size}" if="$kernel = 'WRITE' and $threads = 1">
		<workload><kernel type="Memory" id="kernel" operation="WRITE" bufferSize="{$size}"/></workload>
		<rule>
			<predicate type="WorkloadEventPredicate" event="kernelStop"/>
			<action type="MeasureActionExecution"><action type="FlushKernelBuffersAction"><kernel ref="kernel"/></action></action>
		</rule>
	</point>
	<accuracy title="bytes" of="transferredBytes:l2l3" by="class" relativeTo="expected" minimumOf="4" if="$series != 'flush'"/>
	<accuracy title="flushed" of="transferredBytes:l2l3" by="class" minimumOf="4" if="$series = 'flush'"/>
</controller>
END

on_zen5 measure ./bytes.xml
result=$status
check "transferred bytes on a simulated processor"
rows bytes.json >seen
cat >expected <<'END'
bytes: READ 1, small: runs 0 0 minima 0 0
bytes: READ 1, large: runs 0 0 minima 0 0
bytes: READ all, small: runs 0 0 minima 0 0
bytes: READ all, large: runs 0 0 minima 0 0
bytes: WRITE 1, small: runs 0 0 minima 0 0
bytes: WRITE 1, large: runs 0 0 minima 0 0
bytes: WRITE all, small: runs 0 0 minima 0 0
bytes: WRITE all, large: runs 0 0 minima 0 0
flushed: flush, small: runs null 0 minima null 0
flushed: flush, large: runs null 0 minima null 0
END
out=$(diff seen expected)
check "nothing is off: on one CPU, on all, and of an action"

on_zen5 measure valOp -sizes=small
result=$status
check "valOp on a simulated processor"
rows valOp.json | sort >seen
for series in "Add SSE" "Add SSE, all CPUs" "Mul SSE"; do
	for class in "10^6 operations and more" "below 10^6 operations"; do
		if [ "$series" != "Add SSE, all CPUs" ] || [ "$(nproc)" -gt 1 ]; then
			echo "Double precision operations: $series, $class: runs 0 0 minima 0 0"
		fi
	done
done | sort >expected
out=$(diff seen expected)
check "operations are counted exactly"

# Where perf_event_open (298) is refused there is a reason, and no number.
mkdir uncounted && cd uncounted || exit 99
"$top_builddir/tests/without_syscall" 298 2 "$rot" measure ../bytes.xml -runs=4 -starts=1 -counting=events -findPeaks=false >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
case $status:$(rows bytes.json) in 0:"bytes: is not measured here: "*"flushed: is not measured here: "*) result=0 ;; *) result=1 ;; esac
check "what is not measured says why"
[ $nr_failed -eq 0 ]
