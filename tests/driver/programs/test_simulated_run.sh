#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot run" on a simulated Zen 5 (tests/simulated_pmu.c), whose counters count the ns of each thread: the kernel takes the groups as rot opens
# them, on threads, on what is inherited, and with the places of regions in them; nothing is lost, and no group is larger than the
# processor's. Not that the real processor counts what it is said to.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}
known=$top_builddir/tests/driver/programs/known_work

# on_zen5 ARGUMENT...: of "rot run"
on_zen5()
{
	LD_PRELOAD="$top_builddir/tests/simulated_pmu.so${LD_PRELOAD:+:$LD_PRELOAD}" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm" \
		$without "$rot" run -validate=never -findPeaks=false --runs=1 -j run.json "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
}

# operations: of each point of run.json, "SERIES: FLOP KIND"
operations()
{
	"$top_builddir/tests/json_lines" run.json | awk '
		{ value = $0; sub(/^[^ ]* = /, "", value) }
		$1 ~ /^points\[[0-9]+\]\.series$/ { series = value }
		$1 ~ /\.name$/ { name = value }
		$1 ~ /\.of$/ { of = value }
		$1 ~ /\.value$/ { number = value }
		$1 ~ /\.kind$/ && name == "operationCount" && of == "flop" { print series ": " number " " value }'
}

of_threads()
{
	result=$status
	check "a program, thread by thread, in all passes"
	operations | awk '/^program: / { all = $2 } !/^program: / { sum += $(NF - 1); nr++ } $NF != "measured" { exit nr = 1 }
		END { exit nr != 2 || sum < 1e6 || all != sum }'
	check "the threads make the total"
	case $("$top_builddir/tests/json_lines" run.json) in *.multiplexed*|*.overflow*) result=1 ;; *) result=0 ;; esac
	check "they counted all the time"

	# both ways in one call: the model's bytes, those of events, and their quotient, in three digits
	on_zen5 -counting=blocks -caches=32K:8,1M:16,32M:16 -plots=html -o page -- "$known" 2000000
	printf '%s\n' "$err" | sed -n "s/.*modelled caches beside the processor's events.* LLC-RAM: \([0-9.e+]*\) and \([0-9.e+]*\) bytes (\([0-9.e+-]*\) times.*/\1 \2 \3/p" |
		awk '{ nr++; off = $3 * $2 / $1 - 1 } END { exit !(nr == 1 && $1 > 0 && $2 > 0 && off < 0.02 && off > -0.02) }'
	check "modelled caches beside events"
	for border in LLC-RAM L2-L3 L1-L2 CPU-L1 all; do
		holds "the page has a picture of the border $border" page.html "data-border=\"$border\" data-precision=\"all\" data-dots=\"functions\""
	done

	# a thread is in the region for much of its life
	for backend in breakpoint int3; do
		on_zen5 --region=work --region-backend=$backend -- "$known" 2000000
		case $err in *ptrace* | *"hardware breakpoints"* | *"breakpoints are accepted but do not fire"*)
			echo "left out: a region by $backend, which this machine has not"
			continue
			;;
		esac
		operations | awk '/^program: / { all = $2 } /^region work: / { of_region = $3 }
			END { exit !(all > 0 && of_region > 0.3 * all && of_region <= all) }'
		check "a region by $backend"
	done
}

without=
on_zen5 -t --passes=5 -- "$known" 2000000
case $err in
*perf_event_paranoid*) echo "SKIP: $err" >&2; exit 77 ;;
esac
case $err in
*"threads are not told apart"*) echo "left out: threads and regions, which cannot be traced here" ;;
*) of_threads ;;
esac

# where ptrace (101) is refused counters are inherited
without="$top_builddir/tests/without_syscall 101 1"
on_zen5 -- "$known" 2000000
operations | awk '{ all = $2 } END { exit NR != 1 || all < 1e6 }'
check "what threads inherit"
[ $nr_failed -eq 0 ]
