#!/bin/sh
# SPDX-License-Identifier: MIT
# Processors that are not described, or whose cores do not all count, simulated (tests/simulated_pmu.c): rot says so, and counts nothing
# that is not counted.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}

# processor NAME VENDOR FAMILY MODEL: this machine with another processor
processor()
{
	mkdir -p "$1/proc"
	sed '/^$/q' /proc/cpuinfo | sed -e "s/^\(vendor_id.*: \).*/\1$2/" -e "s/^\(cpu family.*: \).*/\1$3/" -e "s/^\(model\t.*: \).*/\1$4/" \
		>"$1/proc/cpuinfo"
}

# on NAME COMMAND...: there
on()
{
	name=$1
	shift
	LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$work/$name" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
}

# says WHAT WORD...: the output or the messages have each
says()
{
	what=$1
	result=$status
	shift
	for word; do
		printf '%s\n%s\n' "$out" "$err" | tr -s ' \n' ' ' | grep -q -F -e "$word" || {
			echo "not said: $word"
			result=1
		}
	done
	check "$what"
}

cat >flops.xml <<'END'
<controller name="flops" comment="operations" runs="1">
	<point series="t"><workload><kernel type="Triad" bufferSize="1000"/></workload></point>
	<quantity is="operationCount:doublePrecisionFlop"/>
</controller>
END

# kind WHAT KIND: how the operations are known
kind()
{
	has "$1" flops.json "points\[0\]\.quantities\[0\]\.kind = $2" 'points\[0\]\.quantities\[0\]\.value = 2000(\.0)?'
}

processor unknown AuthenticAMD 26 80
on unknown "$top_builddir/tests/known_caches" "$XDG_CACHE_HOME/rot"
on unknown "$rot" doctor
says 'an unknown processor' '! hardware counters an unknown processor' 'driver/architectures' '-counting=steps counts kernels'
on unknown "$rot" measure ./flops.xml flops -validate=never -counting=events
says 'measured there' 'no file describes this processor' '-counting=steps counts kernels'
kind 'its operations are expected' expected
for counting in steps auto; do
	on unknown "$rot" measure ./flops.xml flops -counting=$counting -validate=never
	case $err in
	*"not trace"* | *ptrace*) echo "skipped: $counting: $err" ;;
	*) kind "they are counted by blocks ($counting)" measured ;;
	esac
done

cpus=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //')
first=${cpus%%[-,]*}
[ -n "$first" ] && [ "$first" != "$cpus" ] || { echo "skipped: there is one CPU"; exit $((nr_failed != 0)); }
processor intel-hybrid GenuineIntel 6 151
mkdir -p intel-hybrid/sys/devices/cpu_core intel-hybrid/sys/devices/cpu_atom
echo "$first" >intel-hybrid/sys/devices/cpu_core/cpus
on intel-hybrid "$top_builddir/tests/known_caches" "$XDG_CACHE_HOME/rot"
on intel-hybrid "$rot" doctor
says 'cores of two kinds' 'cores of several kinds' "taskset -c $first rot"
on intel-hybrid "$rot" measure ./flops.xml flops -validate=never -counting=events
says 'measured there' 'cores of several kinds' "taskset -c $first rot"
kind 'events are not counted' expected
on intel-hybrid taskset -c "$first" "$rot" doctor
says 'kept to the cores that count' '! hardware counters an unknown processor'
[ $nr_failed -eq 0 ]
