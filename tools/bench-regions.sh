#!/bin/bash
# SPDX-License-Identifier: MIT
# What a region costs at each of its hits (a begin or an end), with two counters, by each way to observe it: a small function is called
# often, under rot-core and alone, in turns, all on one CPU. Beside it the least that the system asks for such a thing: a stop of a
# traced thread (int3, waitpid, PTRACE_CONT) and a probe in the kernel that only counts.
#
# bench-regions.sh [CALLS [ROUNDS]]     20000 and 5 unless told otherwise; the smallest time of each counts
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
core=${top_builddir:-$top/build}/core/rot-core
calls=${1:-20000}
rounds=${2:-5}
[ -x "$core" ] || {
	echo "rot-core is not built: '$core' is missing" >&2
	exit 1
}
. "$top/tools/describe-program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -o "$work/load" -x c - <<'C'
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__asm__(".globl work\n.type work, @function\n"
	"work:\n\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n"
	"work_end:\n\tret\n"
	".size work, . - work");
void work(void);
extern const char work_end[];

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void
call(long nr)
{
	double start = now_ns();

	for (long i = 0; i < nr; i++)
		work();
	printf("%.0f\n", (now_ns() - start) / (double)nr);
}

static uint64_t
file_offset_of(uint64_t address)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4096];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && address >= start && address < end)
			return address - start + offset;
	}
	return 0;
}

/* Whether somebody counts how often this process comes there. */
static int
probe(const void *address)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .exclude_kernel = 1};
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");

	if (!file || fscanf(file, "%u", &attr.type) != 1)
		return 0;
	attr.config1 = (uint64_t)"/proc/self/exe";
	attr.config2 = file_offset_of((uint64_t)address);
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0;
}

static void
stop(long nr)
{
	double start = now_ns();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		for (long i = 0; i < nr; i++)
			__asm__ volatile("int3");
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	printf("%.0f\n", (now_ns() - start) / (double)nr);
}

/* load CALLS [probes | stops]: says how long a call took, on average; or a stop */
int
main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1;
	const char *way = argc > 2 ? argv[2] : "";

	if (strcmp(way, "stops") == 0)
		stop(nr);
	else if (strcmp(way, "probes") != 0 || (probe((void *)work) && probe(work_end)))
		call(nr);
	return 0;
}
C

# observed BACKEND EVENT...: nanoseconds of a call with these counters; fails if the region was not observed
observed()
{
	local backend=$1
	shift
	describe_region "$work/command" "$backend" work "$*" "$work/load" "$calls"
	rm -f "$work/output"
	"$core" --command "$work/command" --output "$work/output" 2>"$work/errors" && grep -qx "$backend" "$work/output"
}

# The counters of the processor where there are any
events="perf::PERF_COUNT_HW_INSTRUCTIONS perf::PERF_COUNT_HW_CPU_CYCLES"
observed int3 $events >/dev/null || events="perf::PERF_COUNT_SW_PAGE_FAULTS perf::PERF_COUNT_SW_CONTEXT_SWITCHES"

# Everything from here on runs where this shell does.
cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
taskset -cp "$cpu" $$ >/dev/null

ways="alone stops probes uprobe breakpoint int3"
declare -A best
for ((round = 0; round < rounds; round++)); do
	for way in $ways; do
		case $way in
		alone) ns=$("$work/load" "$calls") ;;
		stops | probes) ns=$("$work/load" "$calls" $way) ;;
		*) ns=$(observed $way $events) || ns= ;;
		esac
		[ -n "$ns" ] || continue
		[ -n "${best[$way]:-}" ] && [ "${best[$way]}" -le "$ns" ] || best[$way]=$ns
	done
done

# us NANOSECONDS
us()
{
	printf '%d.%02d us' $(($1 / 1000)) $(($1 % 1000 / 10))
}

# hit WAY: nanoseconds of one of the two hits of a call
hit()
{
	echo $(((best[$1] - best[alone]) / 2))
}

# times NANOSECONDS OF
times()
{
	printf '%d.%d times' $(($1 / $2)) $(($1 * 10 / $2 % 10))
}

# beside WAY LEAST NANOSECONDS: what a hit costs, and how often that is of the least (empty: not known)
beside()
{
	if [ -z "${best[$1]:-}" ]; then
		echo "$1: not on this machine; rot run --region=... --region-backend=$1 says why"
	else
		echo "$1: $(us "$(hit "$1")") a hit${3:+, $(times "$(hit "$1")" "$3") $2}"
	fi
}

bare_probe=${best[probes]:+$(hit probes)}
echo "on CPU $cpu, with ${events//perf::PERF_COUNT_/}"
echo "a bare stop: $(us "${best[stops]}")"
[ -z "$bare_probe" ] || echo "a bare probe: $(us "$bare_probe")"
beside uprobe "a bare probe" "$bare_probe"
beside breakpoint "" ""
beside int3 "a bare stop" "${best[stops]}"
