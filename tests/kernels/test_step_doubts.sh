#!/bin/sh
# SPDX-License-Identifier: MIT
# What counting by blocks (counting=steps) cannot count is told, with its reason: instructions that are not known, kernels that are too long, memory
# that the system refuses, the time limit.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# Calls a function so often, and executes so many instructions that nobody knows: bytes that a mask in an MMX register selects.
folder=$XDG_DATA_HOME/rot/kernels/Odd
mkdir -p "$folder"
cat >"$folder/Odd.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<derivedClass name="Odd" baseType="KernelBase" cSuffix="Data" comment="what steps do not like">
	<field name="calls" type="long" default="0" comment=""/>
	<field name="odd" type="long" default="0" comment=""/>
	<operations of="doublePrecisionFlop" count="$calls"/>
</derivedClass>
END
cat >"$folder/Odd.c" <<'END'
#include "kernel.h"
#include "OddData.h"

struct odd {
	struct odd_data data;
	double sum;
	char bytes[8];
};

__attribute__((noinline)) static double
add(double x)
{
	__asm__ volatile("");
	return x + 1;
}

static void
run(void *kernel)
{
	struct odd *odd = kernel;

	for (long i = 0; i < odd->data.calls; i++)
		odd->sum = add(odd->sum);
	for (long i = 0; i < odd->data.odd; i++)
		__asm__ volatile("pxor %%mm0, %%mm0\n maskmovq %%mm0, %%mm0\n emms" : : "D"(odd->bytes) : "memory", "mm0");
}

KERNEL(odd, "Odd", .run = run);
END

# controller NAME ATTRIBUTES [QUANTITY]: the operations, and that
controller()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="" runs="2">
	<point series="Odd"><workload><kernel type="Odd" $2/></workload></point>
	<quantity is="operationCount:doublePrecisionFlop"/>${3-}
</controller>
END
}

time='<quantity is="time"/>'
controller odd 'calls="10" odd="3"' "$time"
call measure ./odd.xml -counting=steps
case $err in
*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
esac
case $status:$out in 0:*'doubtful: rot does not know what 3 executed instructions do (the first: maskmovq at 0x'*' (in '*child*) result=0 ;; *) result=1 ;; esac
check "instructions that are not known are told, with the first of them"
has "also in the JSON" odd.json '.*\.rule = stepsKnown' '.*\.found = 3(\.0)?' '.*\.kind = measured'

# uncounted NAME WORDS ARGUMENT...: counts are expected, and the reason has these words
uncounted()
{
	name=$1 words=$2
	shift 2
	call measure ./$name.xml -counting=steps "$@"
	case $status:$err in 0:*"Odd"*"$words"*'labelled "expected"'*) result=0 ;; *) result=1 ;; esac
	check "$words"
	has "the operations are expected" $name.json '.*\.kind = expected'
}

# One for each operation.
controller calls 'calls="20000"' "$time"
uncounted calls 'more instructions are expected than stepLimit allows' -stepLimit=19999

# Memory that the system refuses (pwrite64, 18) may be there the next time. The core is built already.
plain=$rot rot=$work/refused
printf '#!/bin/sh\nexec "%s/tests/without_syscall" 18 13 "%s" "$@"\n' "$top_builddir" "$plain" >"$rot"
chmod +x "$rot"
uncounted calls 'memory of the process cannot be accessed'
rot=$plain

# The kernel executes more, which nobody minds.
call measure ./calls.xml -counting=steps -stepLimit=20000
case $status:$err in 0:*'cannot be accessed'* | 0:*instructions*) result=1 ;; 0:*) result=0 ;; *) result=1 ;; esac
check "what was refused in passing is counted again, and up to the limit"
has "all of it" calls.json '.*\.kind = measured' '.*\.value = 20000(\.0)?'
touch "$work/before"
call measure ./calls.xml -counting=steps
[ "$status:$(find "$XDG_CACHE_HOME/rot" -name '*.xml' -newer "$work/before")" = 0: ]
check "another limit is no other question"

controller long 'calls="50000000000"'
# Until it is long enough to get to the region.
for seconds in 2 8 32; do
	call measure ./long.xml -counting=steps -timeLimit=$seconds
	case $status:$err in 1:*'time limit'*'counting a region without counters'*'-counting=expected'*) result=0 && break ;; *) result=1 ;; esac
done
check "the time limit says that counting took the time, and what to do"
[ $nr_failed -eq 0 ]
