#!/bin/sh
# SPDX-License-Identifier: MIT
# Where nothing can be counted by events, kernels that are soon done are stepped without being asked for, and others are expected, as
# each value says. On any machine: perf_event_open (298) is refused.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

cat >"$work/small.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="small" comment="small triads" runs="2">
	<axis name="size"><list values="1000 6000"/></axis>
	<point series="Triad" label="{$size}">
		<workload><kernel type="Triad" bufferSize="{$size}" optimization="-O2 -fno-tree-vectorize" warmCode="true"/></workload>
	</point>
	<quantity is="time"/>
	<quantity is="operationCount:doublePrecisionFlop"/>
	<quantity is="transferredBytes:llcRam.read"/>
	<plot type="distribution" title="Triad" x="size" y="performance:doublePrecisionFlop"/>
</controller>
END

# measure NAME OPTION...: into NAME.json
measure()
{
	"$top_builddir/tests/without_syscall" 298 2 "$rot" measure ./small.xml "$@" -findPeaks=false >"$work/out" 2>"$work/err" </dev/null
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
}

# values FILE KEY: of the operations at both points, and of the bytes
values()
{
	"$top_builddir/tests/json_lines" "$1" | awk -v key="$2" '
		{path = $1; text = substr($0, length(path) + 4); at = match(path, /\.[A-Za-z0-9]+$/)}
		at == 0 {next}
		{values[substr(path, 1, at - 1), substr(path, at + 1)] = text}
		path ~ /^points\[[0-9]+\]\.quantities\[[0-9]+\]\.name$/ {quantities[++nr] = substr(path, 1, at - 1)}
		END {
			for (i = 1; i <= nr; i++)
				if (values[quantities[i], "name"] ~ /^(operationCount|transferredBytes)$/)
					printf "%s%s", separator, values[quantities[i], key], separator = ";"
		}'
}

# finds WHAT FOUND WANTED
finds()
{
	out="found '$2', wanted '$3'"
	[ "$2" = "$3" ]
	result=$?
	check "$1"
}

cd "$work" || exit 99
measure auto -counting=auto
case $err in
*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
esac
case $status:$err in 0:*warning*) result=1 ;; 0:*'counted by steps'*'-counting=expected'*) result=0 ;; *) result=1 ;; esac
check "without counters steps are taken, and told of once"
finds "operations are measured, bytes modelled" "$(values auto.json kind)" 'measured;modelled;measured;modelled'
case $(values auto.json value) in '2000.0;24'*';12000.0;144'*) result=0 ;; *) result=1 ;; esac
check "operations are exact"
case $(cat auto.gnuplot) in *'some points counted'*) result=1 ;; *'counted by steps through the code'*) result=0 ;; *) result=1 ;; esac
check "the plot says so"

measure asked -counting=steps
finds "who asks for steps gets the same results" \
	"$("$top_builddir/tests/json_lines" asked.json | grep descriptionHashes | sort)" \
	"$("$top_builddir/tests/json_lines" auto.json | grep descriptionHashes | sort)"

# longer LIMIT: what is beyond it is expected, at the larger point alone, and each says so
longer()
{
	measure longer -counting=auto -autoStepLimit=$1
	[ $status -eq 0 ]
	result=$?
	check "limit $1: no error"
	finds "limit $1: the large point is expected" "$(values longer.json kind)" 'measured;modelled;expected;expected'
	case $(values longer.json whyExpected) in ';;'*"$2"*';'*"$2"*) result=0 ;; *) result=1 ;; esac
	check "limit $1: and says why"
	grep -q "^1 of 2 points: not all is counted by steps: .*$2" "$work/out"
	result=$?
	check "limit $1: below the table as well"
	grep -q "operations of some points counted by steps.*operations of some points as the kernel's definition expects, not counted" longer.gnuplot
	result=$?
	check "limit $1: and in the plot"
}

# What flushes caches has checks in its loop with sanitizers, so it stops more often than these limits allow.
limits()
{
	longer 20000 'more instructions are expected'
	case $err in *warning*) result=1 ;; *) result=0 ;; esac
	check "without a warning"
	longer 30000 'executes more'
	case $err in *'counting=auto: kernel'*'executes more than 30000 instructions'*'labelled "expected"'*) result=0 ;; *) result=1 ;; esac
	check "what turns out to be longer is told"
	"$top_builddir/tests/without_syscall" 298 2 "$rot" measure --dry-run ./small.xml -counting=auto -autoStepLimit=30000 -findPeaks=false >"$work/out" 2>&1
	grep -q '^all  *2  *2 ' "$work/out"
	result=$? out=$(cat "$work/out")
	check "and not tried again"
	measure asked -counting=steps -autoStepLimit=30000
	finds "who asks for steps gets them nevertheless" "$(values asked.json kind)" 'measured;modelled;measured;modelled'
}
is_sanitized || limits

for counting in events expected; do
	measure $counting -counting=$counting
	finds "nothing is stepped with counting=$counting" "$(values $counting.json kind)" 'expected;expected;expected;expected'
done
[ $nr_failed -eq 0 ]
