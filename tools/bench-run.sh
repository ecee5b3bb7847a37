#!/bin/bash
# SPDX-License-Identifier: MIT
# What measuring a program costs: its time under rot-core, as totals and for each thread, and under perf stat and strace where they are
# installed, relative to running it alone. All take turns, so that a machine that changes its speed changes it for all.
#
# bench-run.sh [ROUNDS]     5 unless told otherwise; the smallest time of each counts
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
core=${top_builddir:-$top/build}/core/rot-core
rounds=${1:-5} event=perf::PERF_COUNT_SW_PAGE_FAULTS
[ -x "$core" ] || {
	echo "rot-core is not built: '$core' is missing" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -pthread -o "$work/load" -x c - <<'C'
#include <pthread.h>
#include <stdlib.h>

static void *
compute(void *turns)
{
	volatile double sum = 0;

	for (long i = 0; i < (long)turns; i++)
		sum = sum * 0.5 + (double)i;
	return NULL;
}

/* load THREADS AT_ONCE TURNS */
int
main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[1]) : 0, at_once = argc > 3 ? atoi(argv[2]) : 1;
	pthread_t *threads = calloc((size_t)at_once, sizeof(*threads));

	for (int i = 0; i < nr + at_once; i++) {
		if (i >= at_once && i - at_once < nr)
			pthread_join(threads[i % at_once], NULL);
		if (i < nr && pthread_create(&threads[i % at_once], NULL, compute, (void *)atol(argv[3])) != 0)
			return 1;
	}
	return 0;
}
C

# describe FILE PER_THREAD ARGUMENT...: what rot-core is to do, in the text form of entities
describe()
{
	local file=$1 per_thread=$2
	shift 2
	printf '%s\n' ProgramCommand program '=> 1' processId 0 passes 1 '=> 2' runCount 1 perThread "$per_thread" followForks true \
		Program executable "$work/load" arguments $# "$@" environment 0 folder '' standardInput '' \
		PerfEventMeasurer id 0 events 1 '=> 3' countUser true countKernel false scrubEvent '' scrubCount 0 \
		PerfEventDefinition name faults definition $event '<end>' >"$file"
}

# time_of NAME ARGUMENT...: runs the program once in the way of that name, in microseconds of the whole command
time_of()
{
	local way=$1 start
	shift
	start=${EPOCHREALTIME/[.,]/}
	case $way in
	alone) "$work/load" "$@" ;;
	totals | threads) "$core" --command "$work/$way" --output "$work/output" ;;
	perf) perf stat -e page-faults:u -o "$work/output" "$work/load" "$@" ;;
	strace) strace -f -e trace=none -o "$work/output" "$work/load" "$@" ;;
	esac >/dev/null 2>&1 || return 1
	echo $((${EPOCHREALTIME/[.,]/} - start))
}

# bench TITLE ARGUMENT...
bench()
{
	local title=$1 way us ways=(alone totals threads)
	local -A best=()
	shift
	describe "$work/totals" false "$@"
	describe "$work/threads" true "$@"
	for way in perf strace; do
		! command -v "$way" >/dev/null || ways+=("$way")
	done
	for ((round = 0; round < rounds; round++)); do
		for way in "${ways[@]}"; do
			us=$(time_of "$way" "$@") || continue
			[ -n "${best[$way]:-}" ] && [ "${best[$way]}" -le "$us" ] || best[$way]=$us
		done
	done
	printf '%s: alone %d.%03d ms' "$title" $((best[alone] / 1000)) $((best[alone] % 1000))
	for way in "${ways[@]:1}"; do
		[ -n "${best[$way]:-}" ] || continue
		us=$((best[$way] * 1000 / best[alone]))
		printf ', %s %d.%03d' "$way" $((us / 1000)) $((us % 1000))
	done
	echo
}

bench "2 threads that compute" 2 2 200000000
bench "10000 short threads, 100 at once" 10000 100 10
