#!/bin/sh
# SPDX-License-Identifier: MIT
# Where nothing can be counted by events, kernels are counted by blocks of their code without being asked for, whatever their length; those
# that would take too long are expected, as each value says. On any machine: perf_event_open (298) is refused.
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
	measure_file small "$@"
}

# measure_file CONTROLLER NAME OPTION...
measure_file()
{
	controller=$1
	shift
	"$top_builddir/tests/without_syscall" 298 2 "$rot" measure "./$controller.xml" "$@" -findPeaks=false >"$work/out" 2>"$work/err" </dev/null
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
}

# values FILE KEY: of the operations at both points, and of the bytes
values()
{
	quantities "$1" | awk -F '\t' -v key="$2" '
		$4 == "of" && $3 ~ /^(operationCount|transferredBytes):/ {at[++nr] = $2 $3}
		$4 == key {values[$2 $3] = $5}
		END {for (i = 1; i <= nr; i++) printf "%s%s", (i > 1 ? ";" : ""), values[at[i]]}'
}

# finds WHAT FOUND WANTED
finds()
{
	out="found '$2', wanted '$3'"
	[ "$2" = "$3" ]
	check "$1"
}

cd "$work" || exit 99
measure auto -counting=auto
case $err in
*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
esac
case $status:$err in 0:*warning*) result=1 ;; 0:*'counted block by block'*) result=0 ;; *) result=1 ;; esac
check "without counters blocks are counted, and told of once"
finds "operations are measured, bytes modelled" "$(values auto.json kind)" 'measured;modelled;measured;modelled'
case $(values auto.json value) in '2000.0;24'*';12000.0;144'*) result=0 ;; *) result=1 ;; esac
check "operations are exact"
case $(cat auto.gnuplot) in *'some points counted'*) result=1 ;; *'counted by blocks of the code'*) result=0 ;; *) result=1 ;; esac
check "the plot says so"

measure asked -counting=steps
finds "who asks for it gets the same results" \
	"$("$top_builddir/tests/json_lines" asked.json | grep descriptionHashes | sort)" \
	"$("$top_builddir/tests/json_lines" auto.json | grep descriptionHashes | sort)"

measure again -counting=auto
case $status:$err in 0:*'no hardware counters'*) result=1 ;; 0:*) result=0 ;; *) result=1 ;; esac
check "the next start on this machine does not say again that there are no counters"
"$top_builddir/tests/without_syscall" 298 2 "$rot" doctor >"$work/out" 2>"$work/err"
grep -q '^! hardware counters *cannot count' "$work/out"
check "rot doctor says it each time"

measure longer -counting=auto -stepLimit=20000
case $status:$err in 0:*warning*) result=1 ;; 0:*) result=0 ;; *) result=1 ;; esac
check "a limit is no warning"
finds "what is expected to be longer is expected, at the large point" "$(values longer.json kind)" 'measured;modelled;expected;expected'
words='more instructions are expected'
case $(values longer.json whyExpected) in ';;'*"$words"*';'*"$words"*) result=0 ;; *) result=1 ;; esac
check "and says why"
grep -q "^[A-Za-z].*: not all is counted by blocks: .*$words" "$work/out"
check "below the table as well, with the point's name"
grep -q "operations of some points counted by blocks.*operations of some points as the kernel's definition expects, not counted" longer.gnuplot
check "and in the plot"

# A kernel whose definition says nothing, or wrong things, is counted as a whole; one that does not end in time is expected, if anything is.
folder=$XDG_DATA_HOME/rot/kernels/Turns
mkdir -p "$folder"
cat >"$folder/Turns.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<derivedClass name="Turns" baseType="KernelBase" cSuffix="Data" comment="two operations a turn; none: without end">
	<field name="turns" type="long" default="0" comment=""/>
	<operations of="doublePrecisionFlop" count="1000" if="$turns = 0"/>
</derivedClass>
END
cat >"$folder/Turns.c" <<'END'
#include <unistd.h>

#include "kernel.h"
#include "TurnsData.h"

struct turns {
	struct turns_data data;
	volatile double result;
};

static void
run(void *kernel)
{
	struct turns *turns = kernel;
	double x = 0;

	while (turns->data.turns == 0)
		pause();
	for (long i = 0; i < turns->data.turns; i++)
		x = x * 0.5 + 1;
	turns->result = x;
}

KERNEL(turns, "Turns", .run = run);
END
# turns NAME NUMBER
turns()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="" runs="2">
	<point series="Turns"><workload><kernel type="Turns" turns="$2" optimization="-O2 -ffp-contract=off"/></workload></point>
	<quantity is="operationCount:doublePrecisionFlop"/>
</controller>
END
}

turns many 10000000
measure_file many many -counting=auto
finds "a kernel of unknown length" "$status:$(values many.json kind):$(values many.json value)" '0:measured:20000000.0'
turns endless 0
measure_file endless endless -counting=auto -timeLimit=2
finds "what takes too long is expected" "$status:$(values endless.json kind):$(values endless.json value)" '0:expected:1000.0'
case $(values endless.json whyExpected) in *timeLimit*) result=0 ;; *) result=1 ;; esac
check "and says why"

for counting in events expected; do
	measure $counting -counting=$counting
	finds "nothing is counted with counting=$counting" "$(values $counting.json kind)" 'expected;expected;expected;expected'
done
[ $nr_failed -eq 0 ]
