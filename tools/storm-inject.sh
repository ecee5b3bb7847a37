#!/bin/sh
# SPDX-License-Identifier: MIT
# storm-inject.sh [COUNT]: interrupts threads that compute or wait COUNT times each (100000), has a function destroy
# every register in them, and says whether any of them noticed. In the build folder, after "make check TESTS=".
set -u
count=${1:-100000}
storm=tests/core/parent/storm_inject
top_builddir=. top_srcdir=.
export top_builddir top_srcdir
if ! test -x $storm; then
	echo "storm-inject.sh: there is no '$storm': run 'make check TESTS=' first, and this script in the build folder" >&2
	exit 2
fi
status=0
storm() {
	echo "== $*"
	$storm "$@" || status=1
}
for situation in integers red_zone sse avx avx512 x87 rounding backwards rseq; do
	storm "$count" $situation
done
storm "$count" futex futex_timed futex_timeout nanosleep clock_nanosleep poll_timeout timerfd eventfd
storm "$count" poll ppoll select epoll_wait epoll_pwait pipe_read pipe_write
storm "$count" recv accept semop semtimedop sigtimedwait masked
echo "== the same, without a trigger: threads are interrupted wherever they are"
storm no-trigger "$count" integers futex nanosleep poll_timeout
# One that waits in a call which an interruption would harm is looked for every 5 ms, and found elsewhere one time in
# ten or twenty: some 50 ms each, where nothing else runs.
storm no-trigger $(((count + 99) / 100)) epoll_wait epoll_pwait semop sigtimedwait recv accept
exit $status
