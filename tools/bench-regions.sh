#!/bin/bash
# SPDX-License-Identifier: MIT
# What a region costs at each of its hits, by each way to observe it: a function that does little is called often, by rot run with a region
# around it and without, in turns.
#
# bench-regions.sh [HITS [ROUNDS]]     20000 and 5 unless told otherwise; the smallest time of each counts
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
rot=${ROT:-$top/rot}
hits=${1:-20000}
rounds=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -o "$work/load" -x c - <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void
work(volatile int *sum)
{
	for (int i = 0; i < 100; i++)
		*sum += i;
}

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* load HITS: says how long each call took, on average */
int
main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1;
	volatile int sum = 0;
	double start = now_ns();

	for (int i = 0; i < nr; i++)
		work(&sum);
	printf("%.0f\n", (now_ns() - start) / nr);
	return 0;
}
C

# per_call OPTION...: nanoseconds of a call under rot run with these options
per_call()
{
	"$rot" run "$@" "$work/load" "$hits" 2> "$work/report"
}

ways="uprobe breakpoint int3"
declare -A best
for ((round = 0; round < rounds; round++)); do
	for way in alone $ways; do
		if [ "$way" = alone ]; then
			ns=$("$work/load" "$hits")
		else
			ns=$(per_call --region=work "--region-backend=$way")
			grep -q "observed by $way" "$work/report" || ns=
		fi
		[ -n "$ns" ] || continue
		[ -n "${best[$way]:-}" ] && [ "${best[$way]}" -le "$ns" ] || best[$way]=$ns
	done
done
echo "a call alone: ${best[alone]} ns"
for way in $ways; do
	if [ -n "${best[$way]:-}" ]; then
		echo "$way: $((best[$way] - best[alone])) ns a hit (begin and end)"
	else
		echo "$way: not on this machine; rot run --region=... --region-backend=$way says why"
	fi
done
