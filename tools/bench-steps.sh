#!/bin/bash
# SPDX-License-Identifier: MIT
# How fast rot steps through a region (-counting=steps): a loop that is one block, nested loops, and calls that call each other; in
# nanoseconds for each instruction, beside what a single step of the processor costs a tracer, in turns.
#
# bench-steps.sh [ROUNDS]     3 unless told otherwise; the smallest time of each counts
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
build=${top_builddir:-$top/build}
rot=$build/driver/rot
rounds=${1:-3}
[ -x "$rot" ] || {
	echo "rot is not built: '$rot' is missing" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data
make -s -C "$build" tests/json_lines
${CC:-cc} -O2 -fno-tree-vectorize -o "$work/load" -x c - <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS 20000

__attribute__((noinline)) double
loop(long n)
{
	volatile double sum = 0;

	for (long i = 0; i < n; i++)
		sum += 1;
	return sum;
}

__attribute__((noinline)) double
nested(long n)
{
	volatile double sum = 0;

	for (long i = 0; i < n; i++)
		for (long k = 0; k < 100; k++)
			sum += 1;
	return sum;
}

__attribute__((noinline)) long
calls(long n)
{
	return n < 2 ? n : calls(n - 1) + calls(n - 2);
}

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Of one instruction by the processor's single step. */
static void
single(void)
{
	pid_t pid = fork();
	int status;
	double start;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;)
			loop(1000);
	}
	waitpid(pid, &status, 0);
	start = now_ns();
	for (int i = 0; i < STEPS; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
	}
	printf("%.0f\n", (now_ns() - start) / STEPS);
	kill(pid, SIGKILL);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "single") == 0)
		single();
	else
		fprintf(stderr, "%g %g %ld\n", strcmp(what, "loop") ? 0 : loop(1000000),
			strcmp(what, "nested") ? 0 : nested(500), strcmp(what, "calls") ? 0 : calls(17));
	return 0;
}
C

# stepped FUNCTION: nanoseconds of each instruction: what the stepped run took longer than the other one
stepped()
{
	"$rot" run -q -counting=steps --region="$1" -j "$work/run.json" -- "$work/load" "$1" 2>/dev/null
	"$build/tests/json_lines" "$work/run.json" | awk -v series="region $1" '
		{at = index($0, " = "); path = substr($0, 1, at - 1); text = substr($0, at + 3)}
		path ~ /^runs\[[0-9]+\]\.wallTime$/ {wall[nr++] = text}
		path ~ /^points\[[0-9]+\]\.series$/ {of = text}
		path ~ /\.name$/ {name = text}
		path ~ /\.value$/ && of == series && name == "instructions" {instructions = text}
		END {printf "%.1f\n", (wall[1] - wall[0]) / instructions}'
}

least()
{
	sort -g "$1" | head -n 1
}

for ((round = 0; round < rounds; round++)); do
	"$work/load" single >>"$work/single"
	for what in loop nested calls; do
		stepped $what >>"$work/$what"
	done
done
single=$(least "$work/single")
echo "a single step: $single ns"
for what in loop nested calls; do
	ns=$(least "$work/$what")
	awk -v what=$what -v ns="$ns" -v single="$single" \
		'BEGIN {printf "%s: %s ns an instruction, %.1f million a second, 1/%.0f of a single step\n", what, ns, 1e3 / ns, single / ns}'
done
