#!/bin/sh
# SPDX-License-Identifier: MIT
# Ends that come when nobody expects them: Ctrl-C while rot and its core are only beginning, and a driver that is killed
# while a running process is visited.
. "$top_srcdir/tests/support/program.sh"

# wait_for COMMAND...: for a minute at most
wait_for()
{
	waited=0
	until "$@" || [ $waited = 600 ]; do
		sleep 0.1
		waited=$((waited + 1))
	done
}

# ---- Ctrl-C ----

# interrupted WHO OPTION...: Ctrl-C comes right before WHO makes its first process
interrupted()
{
	who=$1
	shift
	LD_PRELOAD=$top_builddir/tests/early_interrupt.so EARLY_INTERRUPT=$who \
		"$top_builddir/tests/at_terminal" "$rot" run -q "$@" sh -c 'sleep 5; echo went on' >out 2>&1
	status=$? out=$(cat out) err=
	case $status:$out in 130:*'went on'*) result=1 ;; 130:*) result=0 ;; *) result=1 ;; esac
	check "Ctrl-C before $who made a process ($*)"
}

if is_sanitized; then
	echo "skipped: nothing can be preloaded into a program with sanitizers"
elif has_terminals; then
	call run -q true # what is found out once makes processes as well
	for option in -q -t; do
		interrupted rot $option
		interrupted rot-core $option
	done
fi

# ---- a driver that is killed ----

# Pages of slots are anonymous and executable: breakpoints are planted.
has_slots()
{
	grep -q 'r-xp 00000000 00:00 0 *$' "/proc/$victim/maps" || ! kill -0 $driver
}
is_left()
{
	grep -q 'TracerPid:[[:space:]]*0$' "/proc/$victim/status" || ! kill -0 $victim
}

# visit KIND: $victim is visited by $driver
visit()
{
	"$top_builddir/tests/driver/programs/storm_victims" "$1" >victim.out 2>&1 &
	victim=$!
	wait_for grep -q ready victim.out
	"$rot" run -q -p $victim -d 600 -R storm_region --region-backend=int3 2>err &
	driver=$!
	wait_for has_slots
}
visit threads
kill -9 $driver 2>/dev/null
wait $driver
status=$? out= err=$(cat err)
if [ $status != 137 ]; then
	echo "skipped: int3 cannot observe a running process here: $err"
else
	wait_for is_left
	kill -USR1 $victim
	wait $victim
	status=$? out=$(cat victim.out)
	result=$status
	check "a visited process runs on when the driver is killed"
fi
kill -9 $victim 2>/dev/null

# A core that is killed can clear nothing up; where no thread has come to a breakpoint yet, the driver can.
for pause in 0 1 4 16; do
	visit quiet
	sleep $pause # until they are planted
	core=$(sed -n "s/^\([0-9]*\) (rot-core) . $driver .*/\1/p" /proc/[0-9]*/stat 2>/dev/null | head -n 1)
	kill -9 ${core:-$driver}
	wait $driver
	status=$? out= err=$(cat err)
	kill -USR1 $victim
	wait $victim
	status=$? out=$(cat victim.out)
	case $err in *"taken out"* | *"not observed"*) break ;; esac
done
case $err in
*"not observed"*) echo "skipped: int3 cannot observe a running process here: $err" ;;
*)
	case $status:$err in 0:*"taken out"*) result=0 ;; *) result=1 ;; esac
	check "the driver takes the breakpoints of a killed core out"
	;;
esac
exit "$((nr_failed > 0))"
