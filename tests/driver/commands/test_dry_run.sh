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
result=$?
check "nothing was built, measured or written"
call measure ./plan.xml --dry-run -runs=7
case $status:$(echo "$out" | tr -s ' ') in 0:*"all 6 0 1 42 42"*) result=0 ;; *) result=1 ;; esac
check "the configured number of runs"
call measure --dry-run
[ "$status" = 2 ]
result=$?
check "no controller"
call measure --dry-run levels
case $status:$err in 1:*"is a program"*) result=0 ;; *) result=1 ;; esac
check "a controller in C"
call measure --dry-run report
case $status:$out in 0:"nothing: it reads what is kept"*) result=0 ;; *) result=1 ;; esac
[ ! -e report.txt ] || result=1
check "a controller in C that knows what it would do"

exit $((nr_failed != 0))
