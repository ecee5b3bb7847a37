#!/bin/sh
# SPDX-License-Identifier: MIT
# One kernel that crashes, hangs or has no memory at some sizes: the other points are measured and written, and those are named with their reasons.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done
if is_sanitized; then
	echo "SKIP: sanitizers report crashes themselves" >&2
	exit 77
fi

mkdir -p "$work/data/rot/kernels/Fragile"
cat >"$work/data/rot/kernels/Fragile/Fragile.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<derivedClass name="Fragile" baseType="KernelBase" cSuffix="Data" comment="fails at some sizes">
	<field name="size" type="long" default="1"/>
</derivedClass>
END
cat >"$work/data/rot/kernels/Fragile/Fragile.c" <<END
#include <unistd.h>

#include "kernel.h"
#include "FragileData.h"

struct fragile {
	struct fragile_data data;
	void *memory;
};

static int
initialize(void *kernel)
{
	struct fragile *self = kernel;

	self->memory = kernel_allocate(self->data.size == 4 ? (size_t)1 << 60 : 64, 1);
	return self->memory ? 0 : -1;
}

static void
run(void *kernel)
{
	struct fragile *self = kernel;

	if (self->data.size == 2 || self->data.size > 16)
		((volatile char *)self->memory)[-((long)1 << 38) - (self->data.size - 2)] = 1;
	while (self->data.size == 8)
		pause();
}

static void
dispose(void *kernel)
{
	struct fragile *self = kernel;

	kernel_free(self->memory);
}

KERNEL(fragile, "Fragile", .initialize = initialize, .run = run, .dispose = dispose);
END

# controller NAME SIZE...
controller()
{
	name=$1
	shift
	cat >"$name.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$name" comment="" runs="4">
	<axis name="size"><list values="$*"/></axis>
	<point series="Fragile" label="{\$size}"><workload><kernel type="Fragile" size="{\$size}"/></workload></point>
	<quantity is="time:tsc"/>
	<plot type="series" name="all" x="size" y="time:tsc"/>
	<plot type="series" name="large" x="size" y="time:tsc" if="\$size > 8"/>
</controller>
END
}

# says WHAT TEXT PART...
says()
{
	what=$1 text=$2
	shift 2
	result=0
	for part; do
		case $text in *"$part"*) ;; *) result=1; echo "not there: $part" ;; esac
	done
	check "$what"
}

controller fragile 1 2 4 16
call run -t true
case $err in *"not told apart"*) is_traced=false ;; *) is_traced=true ;; esac
call measure fragile
case $err in *perf_event_paranoid* | *ptrace_scope*) echo "SKIP: $err" >&2; exit 77 ;; esac
[ "$status" = 1 ]
check "points that fail end with exit status 1"
says "each failure is told where it is" "$err" "rot: warning: a point is left out: fragile.xml:4: at size=2: " \
	"Segmentation fault" "at size=4: " "cannot allocate 1152921504606846976 bytes" \
	"rot: 2 of 4 points could not be measured, the others are in 'fragile.json'; the first is Fragile "
line=$(grep -n '1 << 38' "$work/data/rot/kernels/Fragile/Fragile.c" | cut -d : -f 1)
"$is_traced" && says "a wild store is told with its line and its index" "$err" "at Fragile.c:$line, run+0x" "with the address 0x" \
	", which would be element -274877906944 of the 64 allocated at Fragile.c:$(grep -n kernel_allocate \
		"$work/data/rot/kernels/Fragile/Fragile.c" | cut -d : -f 1)
" "outside of its buffers"
says "how they were measured" "$out" " UTC with cold caches"
says "the table has the others, and names these" "$out" "Fragile      1 " "Fragile     16 " \
	"Not complete: 2 of 4 points could not be measured:" "  Fragile 2: the measuring core was killed by signal 11"
has "so does the file" fragile.json 'complete = false' 'points\[0\]\.label = 1' 'points\[1\]\.label = 16' \
	'failures\[[01]\]\.series = Fragile' 'failures\[[01]\]\.label = 2' 'failures\[[01]\]\.coordinates\.size = 4' \
	'failures\[[01]\]\.error = the measuring core was killed by signal 11 .*'
! grep -q 'points\[2\]' lines
check "and no more points"
grep -q 'could not be measured: Fragile [24], Fragile [24]' fragile-all.gnuplot
check "a plot that would show them says so"
[ -s fragile-large.gnuplot ] && ! grep -q 'could not be measured' fragile-large.gnuplot
check "another plot does not"

# Points that crash in the same way do so at other addresses, and that is told once.
controller crashing 1 32 64 128
call measure ./crashing.xml crashing
says "points that crash alike are told once" "$out" "Not complete: 3 of 4 points could not be measured:" "  Fragile "
[ "$(printf '%s\n' "$err" | grep -c 'a point is left out')" = 1 ] &&
	[ "$(printf '%s\n' "$out" | grep -c 'killed by signal 11')" = 1 ]
check "in one line for all of them"

# Points that end need not end within this limit, however busy the machine is: they are measured already.
sed 's/2 4/8/' fragile.xml >hanging.xml
call measure ./hanging.xml hanging -timeLimit=1
says "one that hangs is told as well" "$err" "at size=8: " "time limit of 1 s" "rot: 1 of 3 points could not be measured"
has "and where the time limit is set" hanging.json 'failures\[0\]\.label = 8' 'failures\[0\]\.hint = .*timeLimit.*'

# All points of a kernel that cannot be compiled have one reason.
mkdir "$work/data/rot/kernels/Broken"
sed 's/Fragile/Broken/' "$work/data/rot/kernels/Fragile/Fragile.xml" >"$work/data/rot/kernels/Broken/Broken.xml"
echo '#error not yet' >"$work/data/rot/kernels/Broken/Broken.c"
sed 's/2 4/8/; s/Fragile/Broken/g' fragile.xml >broken.xml
call measure ./broken.xml broken
[ "$(printf '%s\n' "$err" | grep -c 'error: #error not yet')" = 1 ]
check "a reason of several points is told once"
says "with all of them" "$err" "Not complete: 3 of 3 points could not be measured:
  Broken " ": cannot compile the measuring core with kernel Broken
rot: none of the 3 points could be measured"

# What is finished is in the cache.
rm "$work/data/rot/kernels/Fragile/Fragile.c"
sed 's/2 4 //' fragile.xml >some.xml
call measure ./some.xml some -shouldCheckCoreHash=false
result=$status
check "points that are finished are not measured again"
has "all of it" some.json 'complete = true' 'points\[1\]\.label = 16'

[ $nr_failed -eq 0 ]
