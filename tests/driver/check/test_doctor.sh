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
	# Lines are wrapped, where depends on how long paths are.
	words=$(printf '%s' "$out" | tr -s ' \n' ' ')
	for word; do
		case $words in
		*"$word"*) ;;
		*) result=1 ;;
		esac
	done
	check "$what"
}

call doctor --all
says 'all sections' 0 Machine Surroundings Steadiness Rights 'Programs and folders' Quantities Versions 'rot measure triad'

# Where processes may be traced: how regions can be observed, each tried.
case $out in
*'own children can be traced'*) says 'backends of regions' 0 'regions by uprobe' 'regions by breakpoint' 'regions by int3' ;;
esac

says 'what is good, in words' 0 'rot measure triad' ' make GNU Make' ' time microSeconds measured: ' ' Zydis '
call doctor
says 'in short' 0 'rot measure triad' ' processor ' ' good ' 'rot doctor --all'
case $out in *' make GNU Make'* | *Zydis*) result=1 ;; *) result=0 ;; esac
check 'which leaves out what is good'

call doctor --json
says 'JSON' 0 '"schema": "rot.doctor/1"' '"works": true' '"section": "Rights"' '"name": "operationCount"' '"grade": "' '"reason": "'
for name in processor CPUs caches PMUs memory kernel hypervisor container 'time stamp counter' frequency turbo 'huge pages' load \
	'this process' 'system calls' 'hardware counters' ptrace compiler make ccache gnuplot cache; do
	says "JSON: $name" 0 "\"name\": \"$name\""
done
says 'JSON: the machine, its caches, its events and versions' 0 '"cpuVendor": "' '"schema": "rot.levels/1"' \
	'"events": [' '"PAGE-FAULTS"' '"name": "libxml2"'

call doctor nonsense
result=0
[ "$status" = 2 ] || result=1
check 'a wrong argument is refused'

# doctor_where COMMAND...: what rot doctor says there.
doctor_where()
{
	"$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

# perf_event_open (298) refused, as perf_event_paranoid=3 (13, EACCES) and a container's filter (1, EPERM) do, or not
# there at all (2: no PMU; 38: no perf events in this kernel).
for reason in 13 1; do
	doctor_where "$without" 298 $reason "$rot" doctor --all
	says "perf events refused ($reason)" 0 'cannot count hardware events' '-> ' 'perf_event_paranoid' 'filtered (seccomp)' \
		'expected: ' 'see Rights' 'rot measure triad works'
done
doctor_where "$without" 298 13 "$rot" doctor
printf '%s\n' "$out" | grep 'cannot count hardware events' >"$work/line" && ! grep '([^)]*$' "$work/line"
check 'a line is cut outside of parentheses'
doctor_where "$without" 298 2 "$rot" doctor --all
says 'no PMU' 0 'No such file or directory' 'pmu=on' 'expected: ' 'rot measure triad works'
doctor_where "$without" 298 38 "$rot" doctor
says 'no perf events in the kernel' 0 'CONFIG_PERF_EVENTS' 'rot measure triad works'
doctor_where "$without" 298 13 "$rot" doctor --json
says 'perf events refused, JSON' 0 '"works": true' '"kind": "expected"' '"reason": "cannot count hardware events' \
	'"advice": "' '"grade": ""'

# ptrace (101)
doctor_where "$without" 101 1 "$rot" doctor --all
says 'no ptrace' 0 'no regions' '--cap-add=SYS_PTRACE' 'rot measure triad works'

# A home that nobody can write to.
doctor_where env -u XDG_CACHE_HOME -u XDG_DATA_HOME -u XDG_CONFIG_HOME HOME=/proc/nowhere "$rot" doctor --all
says 'read-only home' 0 'not writable' '-cacheFolder=FOLDER' 'rot measure triad works'

# A chroot without /proc: nothing can be known of the processor.
if unshare --mount umount -l /proc 2>"$work/err"; then
	doctor_where unshare --mount sh -c 'umount -l /proc && exec "$0" doctor' "$rot"
	out=$err
	says 'no /proc' 1 "cannot read the processor's description '/proc/cpuinfo'" 'mount -t proc proc /proc'
fi

# As in a container that hides the machine: no /sys, nor the kernel's settings.
hide='mount -t tmpfs none /sys && mount -t tmpfs none /proc/sys && exec "$0" doctor "$@"'
if unshare --mount sh -c "${hide% && exec*}" 2>"$work/err"; then
	doctor_where unshare --mount sh -c "$hide" "$rot" --all
	says 'a container that hides the machine' 0 'none are shown' 'Machine' 'not under control' 'perf_event_paranoid is not there' \
		'rot measure triad works'
fi

# Full disks: what rot builds, and what it writes, has no room.
mkdir "$work/full"
full='mount -t tmpfs -o size=256k none "$1" && { dd if=/dev/zero of="$1/x" bs=1k count=1000 2>/dev/null || :; } && '
if unshare --mount sh -c "$full :" sh "$work/full" 2>"$work/err"; then
	doctor_where unshare --mount sh -c "$full"'exec "$0" doctor -cacheFolder="$1"' "$rot" "$work/full"
	says 'a full disk for the cache' 0 'not writable: results are forgotten'
	doctor_where unshare --mount sh -c "$full"'cd "$1" && exec "$0" doctor' "$rot" "$work/full"
	says 'a full disk for results' 1 'only 0 KiB are free' 'go to another folder' 'does not work here'
fi

call doctor -compiler=no-such-compiler
says 'no compiler' 1 'kernels cannot be built' 'does not work here'
call doctor --json -compiler=no-such-compiler
says 'no compiler, JSON' 1 '"works": false' '"state": "broken"'

PATH=$work/nowhere "$rot" doctor --all >"$work/out" 2>"$work/err" </dev/null
status=$?
out=$(/bin/cat "$work/out")
err=$(/bin/cat "$work/err")
says 'no programs at all' 1 'apt-get install gnuplot-nox' 'apt-get install make'

call doctor --all -cacheFolder=/proc/nowhere
says 'no cache folder' 0 'not writable' '-cacheFolder=FOLDER'

mkdir "$work/gone" && cd "$work/gone" && rmdir "$work/gone"
call doctor
says 'no folder for results' 1 'does not work here'

[ $nr_failed = 0 ]
