#!/bin/sh
# SPDX-License-Identifier: MIT
# What machine_can_count says where perf_event_open (298) is refused, each way in turn.
set -eu

program=$top_builddir/tests/driver/machine/can_count
without=$top_builddir/tests/without_syscall
status=0

# expect ERRNO WORD: the answer is "no" and holds the word.
expect()
{
	answer=$("$without" 298 "$1" "$program")
	case $answer in
	no*"$2"*) ;;
	*)
		printf 'errno %s: expected "%s" in:\n%s\n' "$1" "$2" "$answer" >&2
		status=1
		;;
	esac
}

expect 13 'Permission denied'
expect 13 perf_event
expect 1 perf_event
expect 2 'virtual PMU'
expect 95 'virtual PMU'
expect 38 CONFIG_PERF_EVENTS
exit $status
