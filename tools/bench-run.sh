#!/bin/bash
# SPDX-License-Identifier: MIT
# What measuring a program costs: its time under rot-core, as totals and for each thread, and under perf stat and strace where they are
# installed, relative to running it alone, and to perf stat. All take turns, so that a machine that changes its speed changes it for all.
# Then how often rot-core calls the system for each thread, and what a short thread costs while thousands of others sleep.
#
# bench-run.sh [ROUNDS]     5 unless told otherwise; the smallest time of each counts
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
core=${top_builddir:-$top/build}/core/rot-core
rounds=${1:-5}
[ -x "$core" ] || {
	echo "rot-core is not built: '$core' is missing" >&2
	exit 1
}
. "$top/tools/describe-program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -pthread -o "$work/load" -x c - <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *
compute(void *turns)
{
	volatile double sum = 0;

	for (long i = 0; i < (long)turns; i++)
		sum = sum * 0.5 + (double)i;
	return NULL;
}

static void *
idle(void *unused)
{
	while (1)
		pause();
	return unused;
}

static double
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* load THREADS AT_ONCE TURNS [SLEEPING]: says how long a thread took from its creation to its end, on average */
int
main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[1]) : 0, at_once = argc > 3 ? atoi(argv[2]) : 1, nr_idle = argc > 4 ? atoi(argv[4]) : 0;
	pthread_t *threads = calloc((size_t)at_once, sizeof(*threads)), other;
	pthread_attr_t small;
	double start;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (int i = 0; i < nr_idle; i++) {
		if (pthread_create(&other, &small, idle, NULL) != 0)
			return 1;
	}
	start = now_us();
	for (int i = 0; i < nr + at_once; i++) {
		if (i >= at_once && i - at_once < nr)
			pthread_join(threads[i % at_once], NULL);
		if (i < nr && pthread_create(&threads[i % at_once], NULL, compute, (void *)atol(argv[3])) != 0)
			return 1;
	}
	printf("%.0f\n", nr ? (now_us() - start) / nr : 0);
	return 0;
}
C

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
	esac >"$work/said" 2>"$work/errors" || return 1
	echo $((${EPOCHREALTIME/[.,]/} - start))
}

# bench TITLE ARGUMENT...
bench()
{
	local title=$1 way us ways=(alone totals threads)
	local -A best=()
	shift
	describe_program "$work/totals" false "$work/load" "$@"
	describe_program "$work/threads" true "$work/load" "$@"
	for way in perf strace; do
		! command -v "$way" >/dev/null || ways+=("$way")
	done
	for ((round = 0; round < rounds; round++)); do
		for way in "${ways[@]}"; do
			us=$(time_of "$way" "$@") || continue
			[ -n "${best[$way]:-}" ] && [ "${best[$way]}" -le "$us" ] || best[$way]=$us
		done
	done
	printf '%s: alone %s ms' "$title" "$(thousandth ${best[alone]})"
	for way in "${ways[@]:1}"; do
		[ -n "${best[$way]:-}" ] || continue
		printf ', %s %s' "$way" "$(thousandth $((best[$way] * 1000 / best[alone])))"
		[ -z "${best[perf]:-}" ] || [ "$way" = perf ] ||
			printf ' (of perf %s)' "$(thousandth $((best[$way] * 1000 / best[perf])))"
	done
	echo
}

# thousandth N: N/1000
thousandth()
{
	printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
}

# beside SLEEPING: what a thread costs from its creation to its end while so many others sleep, two at once
beside()
{
	local way best us
	describe_program "$work/threads" true "$work/load" 1000 2 10 "$1"
	printf '%d threads sleep, two others are created and end: us for each' "$1"
	for way in alone threads; do
		best=
		for ((round = 0; round < (rounds + 1) / 2; round++)); do
			time_of $way 1000 2 10 "$1" >"$work/time" || continue
			us=$(cat "$work/said")
			[ -n "$best" ] && [ "$best" -le "$us" ] || best=$us
		done
		printf ', %s %s' $way "${best:-failed}"
	done
	echo
}

# calls ARGUMENT...: how many system calls rot-core makes while it follows each thread
calls()
{
	describe_program "$work/threads" true "$work/load" "$@"
	strace -c -o "$work/calls" "$core" --command "$work/threads" --output "$work/output" >"$work/said" 2>"$work/errors"
	awk '$NF == "total" {print $4}' "$work/calls"
}

# calls_per_thread THREADS AT_ONCE TURNS
calls_per_thread()
{
	command -v strace >/dev/null || return 0
	printf '%d short threads, %d at once: system calls of rot-core for each: %s\n' "$1" "$2" \
		"$(thousandth $((($(calls "$@") - $(calls 0 "$2" "$3")) * 1000 / $1)))"
}

bench "a program that does nothing" 0 1 0
bench "2 threads that compute" 2 2 200000000
bench "10000 short threads, 100 at once" 10000 100 10
calls_per_thread 10000 100 10
for sleeping in 0 5000 20000; do
	beside $sleeping
done
