#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot measure --dry-run": the plan, and nothing is built, measured or written.
. "$top_srcdir/tests/support/program.sh"

cat >plan.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="plan" comment="two series" runs="5">
	<axis name="warm"><list values="false true"/></axis>
	<axis name="size"><list values="1000 2000 3000"/></axis>
	<point series="Triad-{$warm}" label="{$size}">
		<workload><kernel type="Triad" bufferSize="{$size}" warmData="{$warm}"/></workload>
	</point>
	<quantity is="time"/>
</controller>
END

call measure --dry-run ./plan.xml
plain=$(echo "$out" | tr -s ' ')
case $status:$plain in 0:*"Triad-false 3 0 1 15 15"*"Triad-true 3 0 1 15 15"*"all 6 0 1 30 30"*"cores to build: 1"*) result=0 ;; *) result=1 ;; esac
check "points, passes and runs of each series"
[ ! -e plan.json ] && [ -z "$(ls "$work/cache/rot/cores" "$work/cache/rot/results" 2>/dev/null)" ]
check "nothing was built, measured or written"
call measure ./plan.xml --dry-run -runs=7
case $status:$(echo "$out" | tr -s ' ') in 0:*"all 6 0 1 42 42"*) result=0 ;; *) result=1 ;; esac
check "the configured number of runs"
call measure --dry-run
[ "$status" = 2 ]
check "no controller"
call measure --dry-run levels
case $status:$err in 1:*"is a program"*) result=0 ;; *) result=1 ;; esac
check "a controller in C"
call measure --dry-run report
case $status:$out in 0:"nothing: it reads what is kept"*) result=0 ;; *) result=1 ;; esac
[ ! -e report.txt ] || result=1
check "a controller in C that knows what it would do"

# About how long it takes follows from what the definition says: by loops 2e9 operations a second, by a library 2e10 on each thread.
folder=$XDG_DATA_HOME/rot/kernels/Long
mkdir -p "$folder"
cat >"$folder/Long.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<derivedClass name="Long" baseType="KernelBase" cSuffix="Data" comment="so many operations">
	<field name="operations" type="double" default="0" comment=""/>
	<field name="isOfLibrary" type="bool" default="false" comment=""/>
	<needs library="libc.so.6" package="libc6" if="$isOfLibrary"/>
	<operations of="doublePrecisionFlop" count="$operations"/>
	<operations of="instructions" count="480000000"/>
</derivedClass>
END
printf '#include "kernel.h"\n' >"$folder/Long.c"
cat >long.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="long" comment="two series" runs="10">
	<point series="Loops"><workload><kernel type="Long" operations="1e9"/></workload></point>
	<point series="Library"><workload><kernel type="Long" operations="4e11" isOfLibrary="true" numThreads="2"/></workload></point>
	<quantity is="time"/>
	<quantity is="operationCount:doublePrecisionFlop"/>
</controller>
END

# about SECONDS KEY...: or one more, for what is around the runs; and cores to build
about()
{
	seconds=$1
	shift
	call measure --dry-run ./long.xml "$@"
	found=$(echo "$out" | sed -n 's/^about \([0-9]*\) s,.*/\1/p')
	nr_cores=$(echo "$out" | sed -n 's/^measuring cores to build: //p')
	[ "${found:-0}" -ge $((seconds + 3 * nr_cores)) ] && [ "$found" -le $((seconds + 3 * nr_cores + 1)) ]
	check "about $seconds s with $*"
}

about 21 -counting=expected -runs=2
# Each series has two runs more, of 480 million instructions: 8 s besides the kernel's own time; not where that is too much.
about 74 -counting=steps -runs=2
about 21 -counting=steps -stepLimit=479999999 -runs=2

exit $((nr_failed != 0))
