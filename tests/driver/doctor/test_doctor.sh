#!/bin/sh
# SPDX-License-Identifier: MIT
# rot doctor through the program: what is refused is named, and its exit status says whether the main job works.
. "$top_srcdir/tests/support/program.sh"
without=$top_builddir/tests/without_syscall

# says WHAT STATUS WORD...: the output holds each word.
says()
{
	what=$1
	result=0
	[ "$status" = "$2" ] || result=1
	shift 2
	for word; do
		case $out in
		*"$word"*) ;;
		*) result=1 ;;
		esac
	done
	check "$what"
}

call doctor
says 'all sections' 0 Machine Surroundings Steadiness Rights 'Programs and folders' Quantities 'rot measure triad'

# Where processes may be traced: how regions can be observed, each tried.
case $out in
*'own children can be traced'*) says 'backends of regions' 0 'regions by uprobe' 'regions by breakpoint' 'regions by int3' ;;
esac

call doctor --json
says 'JSON' 0 '"schema": "rot.doctor/1"' '"works": true' '"section": "Rights"' '"name": "operationCount"'

call doctor nonsense
result=0
[ "$status" = 2 ] || result=1
check 'a wrong argument is refused'

# perf_event_open (298) and ptrace (101) refused.
rot_program=$rot
for number in 298 101; do
	"$without" $number 1 "$rot_program" doctor >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
	case $number in
	298) says 'no perf events' 0 'cannot count hardware events' '->' 'expected' ;;
	101) says 'no ptrace' 0 'no regions' 'SYS_PTRACE' ;;
	esac
done

call doctor -compiler=no-such-compiler
says 'no compiler' 1 'kernels cannot be built' 'does not work here'
call doctor --json -compiler=no-such-compiler
says 'no compiler, JSON' 1 '"works": false' '"state": "broken"'

PATH=$work/nowhere "$rot" doctor >"$work/out" 2>"$work/err" </dev/null
status=$?
out=$(/bin/cat "$work/out")
err=$(/bin/cat "$work/err")
says 'no programs at all' 1 'apt-get install gnuplot-nox' 'apt-get install make'

call doctor -cacheFolder=/proc/nowhere
says 'no cache folder' 0 'not writable' '-cacheFolder=FOLDER'

mkdir "$work/gone" && cd "$work/gone" && rmdir "$work/gone"
call doctor
says 'no folder for results' 1 'does not work here'

[ $nr_failed = 0 ]
