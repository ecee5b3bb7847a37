#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that rot looks at end as they end alone: some rounds of the storm, of what is hardest.
. "$top_srcdir/tests/support/program.sh"

VICTIMS=$top_builddir/tests/driver/programs/storm_victims
export VICTIMS

call run -t true
case $err in *"not told apart"*)
	echo "SKIP: nothing may be traced here" >&2
	exit 77
	;;
esac

# storm TRIES WAYS KINDS MODES
storm()
{
	out=$("$top_srcdir/tools/storm-harm.sh" "$@" 2>"$work/err")
	status=$?
	err=$(cat "$work/err")
	result=$status
	check "$*"
}

storm 4 "int3 steps" "thread-forks thread-vforks" attach
storm 1 "int3 steps" "leaderless daemons signals traps" attach
storm 2 "int3 steps" "outlive traps" run

# A process whose first thread has ended is looked at like others, for as long as it takes until there is something to see.
"$VICTIMS" leaderless >victim &
victim=$!
for seconds in 1 4 16 64; do
	call run -p $victim -d $seconds --region-backend=int3 -R storm_region
	case $status:$err in 0:*'  hits  '*) break ;; esac
done
case $status:$err in 0:*'  hits  '*) result=0 ;; *) result=1 ;; esac
check "a region of a process whose first thread has ended"
kill -USR1 $victim
wait $victim
status=$? out=$(cat victim)
result=$status
check "which goes on"

# The system would not ignore it any more after the first breakpoint.
(trap '' TRAP && exec "$VICTIMS" threads >victim) &
victim=$!
until grep -q ready victim; do sleep 0.01; done
call run -p $victim -d 1 --region-backend=int3 -R storm_region
case $status:$err in 1:*'ignores SIGTRAP'*) result=0 ;; *) result=1 ;; esac
check "a program that ignores SIGTRAP is told to have no breakpoints"
kill -USR1 $victim
wait $victim

exit $((nr_failed > 0))
