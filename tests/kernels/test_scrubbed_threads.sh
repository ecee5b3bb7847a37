#!/bin/sh
# SPDX-License-Identifier: MIT
# On a simulated Zen 5 (tests/simulated_pmu.c): before a pinned workload is counted its own CPU is cleared, and every CPU if its kernel has
# threads of its own, which may be on any.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}
cpus=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //')
first=${cpus%%[-,]*}
[ -n "$first" ] && [ "$first" != "$cpus" ] || { echo "SKIP: there is one CPU" >&2; exit 77; }
mkdir -p data/rot/kernels && cp -r "$top_srcdir/tests/kernels/threads/Meeting" data/rot/kernels/ && chmod -R u+w data || exit 99

# cleared THREADS: how many CPUs were cleared for a kernel with so many threads
cleared()
{
	cat >meeting.xml <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="meeting" comment="threads on a pinned workload" runs="1">
	<point series="meeting"><workload cpu="$first"><kernel type="Meeting" pool="true" numThreads="$1"/></workload></point>
	<quantity is="operationCount:doublePrecisionFlop"/>
</controller>
END
	rm -f log
	LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm" \
		ROT_SIMULATED_LOG="$work/log" "$rot" measure ./meeting.xml -validate=never -starts=1 >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	case $err in
	*perf_event_paranoid* | *ptrace_scope*) echo "SKIP: $err" >&2; exit 77 ;;
	esac
	result=$status
	check "$1 threads: rot measure"
	nr=$(grep '^scrub: ' log | sort -u | wc -l)
}

cleared 1
[ "$nr" = 1 ] && grep -q -x "scrub: CPU $first" log
check "one thread: its CPU alone is cleared"
cleared 2
[ "$nr" -gt 1 ]
check "two threads: all CPUs are cleared"
[ $nr_failed -eq 0 ]
