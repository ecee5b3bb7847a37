#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads that OpenMP and OpenBLAS make, measured by a rule of an XML controller: every thread in every run has counted the
# page faults of its own work, and so has their sum.
. "$top_srcdir/tests/support/program.sh"
runs=10

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# links LIBRARY...: whether a program can be linked so
links()
{
	echo 'int main(void) { return 0; }' >"$work/links.c"
	gcc -o "$work/links" "$work/links.c" "$@" 2>/dev/null
}

# controller KERNEL ATTRIBUTES: counts the page faults of the kernel's threads, from kernelStart to kernelStop
controller()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="page faults of the threads that a library makes" runs="$runs">
	<point series="$1" label="$1">
		<workload><kernel type="$1" warmCode="true" warmData="true" $2/></workload>
		<rule>
			<predicate type="MeasurementRunEventPredicate" event="start"/>
			<action type="CreateMeasurerOnThreadAction">
				<measurerSet>
					<mainMeasurer type="PerfEventMeasurer">
						<event name="faultsOfThread" definition="perf::PERF_COUNT_SW_PAGE_FAULTS:u"/>
					</mainMeasurer>
				</measurerSet>
				<startPredicate type="WorkloadEventPredicate" event="kernelStart"/>
				<stopPredicate type="WorkloadEventPredicate" event="kernelStop"/>
				<readPredicate type="WorkloadEventPredicate" event="kernelStop"/>
			</action>
		</rule>
	</point>
	<quantity is="time"/>
</controller>
END
}

# counts KERNEL: a line for each run that was kept: what its threads counted, in order; those that had nothing to do left out
counts()
{
	cat "$work"/cache/rot/results/*/*.xml | awk -v kernel="$1Data" '
		/<Measurement[ >]/ {is_there = 0}
		index($0, "<" kernel " ") {is_there = 1}
		/<MeasurementRunOutput / {if (n++) print line; line = ""}
		/<PerfEventCount / && /name="faultsOfThread"/ {
			match($0, /rawCount="[0-9]+"/)
			count = substr($0, RSTART + 10, RLENGTH - 11)
			if (count > 0) line = line " " count
		}
		END {print line}' |
	while read -r line; do
		echo $(for count in $line; do echo $count; done | sort -n)
	done
}

# measured KERNEL ATTRIBUTES EXPECTED WHAT: every run must give the counts EXPECTED. One fault too many in one run is forgiven:
# the kernel may move a page.
measured()
{
	controller "$1" "$2"
	rm -rf "$work/cache/rot/results"
	call measure "./$1.xml"
	case $err in
	*perf_event_paranoid* | *ptrace_scope*)
		echo "skipped: $4: $err"
		return
		;;
	esac
	result=$status
	check "$4: rot measure"
	[ "$status" = 0 ] || return
	counts "$1" >"$work/counts"
	exact=$(grep -cx "$3" "$work/counts")
	[ "$(wc -l <"$work/counts")" -ge $runs ] && [ "$exact" -ge $((runs - 1)) ]
	result=$?
	out=$(cat "$work/counts")
	check "$4: $exact of $runs runs exact"
	[ "$exact" = "$runs" ] || grep -vx "$3" "$work/counts"
}

# faults_of_a_page: how many a fresh page takes that is read first and written then. Most kernels map the page of zeros first (2), some a page
# of its own at once (1).
faults_of_a_page()
{
	cat >"$work/faults.c" <<-'END'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/resource.h>

	int main(void)
	{
		struct rusage before, after;
		volatile char *pages = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise((void *)pages, 100 * 4096, MADV_NOHUGEPAGE);
		getrusage(RUSAGE_SELF, &before);
		for (int i = 0; i < 100; i++)
			pages[i * 4096] = (char)(pages[i * 4096] + 1);
		getrusage(RUSAGE_SELF, &after);
		printf("%ld\n", (after.ru_minflt - before.ru_minflt + 50) / 100);
		return 0;
	}
	END
	gcc -o "$work/faults" "$work/faults.c" && "$work/faults"
}

mkdir -p "$work/data/rot"
cp -r "$top_srcdir/tests/kernels/threads" "$work/data/rot/kernels"
chmod -R u+w "$work/data"
if links -fopenmp; then
	measured OpenMpFaults 'threads="4" pages="5"' '10 15 20' 'three threads of OpenMP besides the one that runs the kernel'
	measured OpenMpFaults 'threads="9" pages="1"' '2 3 4 5 6 7 8 9' 'eight threads of OpenMP'
else
	echo 'skipped: programs cannot be linked with OpenMP'
fi
if links -lopenblas; then
	faults=$(faults_of_a_page)
	measured BlasFaults 'threads="2" pages="64"' "$((64 * faults))" 'a thread of OpenBLAS'
	measured BlasFaults 'threads="4" pages="50"' "$((50 * faults)) $((50 * faults)) $((50 * faults))" 'three threads of OpenBLAS'
else
	echo 'skipped: programs cannot be linked with OpenBLAS'
fi
[ $nr_failed -eq 0 ]
