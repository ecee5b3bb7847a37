#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that rot looks at end as they end alone: some rounds of the storm, of what is hardest.
. "$top_srcdir/tests/support/program.sh"

VICTIMS=$top_builddir/tests/driver/programs/storm_victims
export VICTIMS

needs_tracing

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
storm 2 blocks "threads thread-forks thread-vforks execs signals" attach
storm 10 blocks "traps faults" attach
storm 4 blocks thread-forks kill

# Its threads are translated for the time of a visit, and nothing of that stays.
"$VICTIMS" threads >victim &
victim=$!
until grep -q ready victim; do sleep 0.01; done
call run -counting=expected -p $victim -d 0.1
case $status:$err in 0:*'-counting=blocks counts the process without'*) result=0 ;; *) result=1 ;; esac
check "a process that is not counted could be"
for seconds in 1 4 16 64; do
	call run -counting=blocks -p $victim -d $seconds -R storm_region
	case $err in *'  instructions  '*) break ;; esac
done
case $status:$err in 0:*'  hits  '*'  instructions  '*) result=0 ;; *) result=1 ;; esac
check "a region of a running process is counted without counters"
call run -p $victim -d $seconds --miss-curve --what-if=l1=64K:16
case $status:$err in 0:*'what other caches would move'*'what a cache would move'*) result=0 ;; *) result=1 ;; esac
check "so are its misses, if they are asked for"
! grep -q memfd /proc/$victim/maps
check "whose memory is as before"
kill -USR1 $victim
wait $victim
status=$?
result=$status
check "and which goes on"

# Translated code would harm these, so they are not counted.
cat >odd.c <<'END'
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char page[8192];
#ifdef HAS_SEQUENCES
__attribute__((section("__rseq_cs"), used)) static unsigned long descriptor[4];
#endif

int
main(int argc, char **argv)
{
	(void)argv;
	puts(argc > 1 && mlock(page, 4096) != 0 ? "refused" : "ready");
	fflush(stdout);
	for (;;)
		usleep(1000);
}
END
# leaves_alone WHY COMMAND...
leaves_alone()
{
	why=$1
	shift
	: >victim
	"$@" >victim &
	victim=$!
	until grep -q '[a-z]' victim; do sleep 0.01; done
	if grep -q ready victim; then
		call run -counting=blocks -p $victim -d 1
		case $status:$err in 0:*"not counted: $why"*) result=0 ;; *) result=1 ;; esac
		check "a process is left alone: $why"
	fi
	kill $victim
	wait $victim 2>/dev/null
}
${CC:-cc} -o odd odd.c && ${CC:-cc} -DHAS_SEQUENCES -o sequences odd.c || exit 99
leaves_alone "the process locks memory" ./odd lock
leaves_alone "the memory of the process is limited" sh -c "ulimit -v 12000000; exec ./odd"
leaves_alone "sequences has restartable sequences" ./sequences
leaves_alone "the process ignores SIGTRAP" sh -c "trap '' TRAP; exec ./odd"

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
