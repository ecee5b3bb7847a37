#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the peaks that rot finds with what likwid-bench reaches: side by side, in turns, per core cycle.
#
# compare-peers.sh [ROUNDS] [WORD...]     only lines that contain all the words; 3 rounds without a number
#
# The clock of a core changes from second to second, so it is probed before and after each run of the peer (a chain of
# dependent multiplications, three cycles each), and the run is left out if it changed by more than 1 %. rot does the same for its own runs.
# Ends with 77 if likwid-bench is missing, with 1 if a line of rot is below 99 % of the peer's (memory: 97 %).
set -u

say()
{
	printf '%s\n' "$*" >&2
}

top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
rounds=3
case ${1-} in
[0-9]*) rounds=$1; shift ;;
esac

command -v likwid-bench >/dev/null || {
	say 'likwid-bench is missing: apt-get install likwid'
	exit 77
}
command -v cc >/dev/null || {
	say 'a C compiler is missing, to probe the clock: apt-get install gcc'
	exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Prints GHz: the best of ten times that 66 670 dependent multiplications took, of three cycles each (AMD Zen, Intel since
# Nehalem). Additions lose up to 2.5 % of the cycles where another hardware thread of the core is busy.
cat >"$work/probe.c" <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int
main(void)
{
	double best = 0;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	for (int i = 0; i < 10; i++) {
		uint64_t turns = 6667, product = 1;
		double start = now_ns(), ghz;

		__asm__ volatile("1:\n"
				 "imul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\n"
				 "imul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\nimul %k1, %k1\n"
				 "dec %0\njnz 1b\n"
				 : "+r"(turns), "+r"(product));
		ghz = 3 * 66670 / (now_ns() - start);
		best = ghz > best ? ghz : best;
	}
	printf("%.4f\n", best);
	return 0;
}
END
cc -O1 -o "$work/probe" "$work/probe.c" || exit 1

# What is compared: a name; likwid's test, working set and iterations; rot's operation or border, access, instruction set; the
# share that is enough; the CPU flag that both need. Two milliseconds of iterations, less than a time slice: on a busy machine
# some runs are undisturbed, and long ones are not.
lines()
{
	cat <<'END'
FMA,AVX-512,double   peakflops_avx512_fma     24kB  2000    doublePrecisionFlop  FMA      AVX512  99  avx512f
FMA,AVX-512,single   peakflops_sp_avx512_fma  24kB  2000    singlePrecisionFlop  FMA      AVX512  99  avx512f
FMA,AVX2,double      peakflops_avx_fma        24kB  2000    doublePrecisionFlop  FMA      AVX2    99  fma
FMA,AVX2,single      peakflops_sp_avx_fma     24kB  2000    singlePrecisionFlop  FMA      AVX2    99  fma
MUL+ADD,AVX-512      peakflops_avx512         24kB  2000    doublePrecisionFlop  MUL_ADD  AVX512  99  avx512f
MUL+ADD,AVX2         peakflops_avx            24kB  2000    doublePrecisionFlop  MUL_ADD  AVX2    99  avx2
MUL+ADD,SSE          peakflops_sse            24kB  2000    doublePrecisionFlop  MUL_ADD  SSE     99  sse2
MUL+ADD,scalar       peakflops                24kB  200     doublePrecisionFlop  MUL_ADD  SCALAR  99  sse2
L1,load,AVX-512      load_avx512              24kB  30000   cpuL1                load     AVX512  99  avx512f
L1,load,AVX2         load_avx                 24kB  30000   cpuL1                load     AVX2    99  avx2
L1,store,AVX-512     store_avx512             24kB  30000   cpuL1                store    AVX512  99  avx512f
L1,copy,AVX-512      copy_avx512              24kB  30000   cpuL1                copy     AVX512  99  avx512f
L2,load,AVX-512      load_avx512              512kB 1000    l1l2                 load     AVX512  99  avx512f
L2,store,AVX-512     store_avx512             512kB 1000    l1l2                 store    AVX512  99  avx512f
L2,copy,AVX-512      copy_avx512              512kB 1000    l1l2                 copy     AVX512  99  avx512f
L3,load,AVX-512      load_avx512              8MB   40      l2l3                 load     AVX512  99  avx512f
L3,store,AVX-512     store_avx512             8MB   40      l2l3                 store    AVX512  99  avx512f
L3,copy,AVX-512      copy_avx512              8MB   40      l2l3                 copy     AVX512  99  avx512f
memory,load,AVX-512  load_avx512              1GB   1       llcRam               load     AVX512  97  avx512f
memory,store,AVX-512 store_avx512             1GB   1       llcRam               store    AVX512  97  avx512f
memory,copy,AVX-512  copy_avx512              1GB   1       llcRam               copy     AVX512  97  avx512f
memory,nt,AVX-512    store_mem_avx512         1GB   1       llcRam               ntStore  AVX512  97  avx512f
END
}

# peer TEST SIZE ITERATIONS: its flop or bytes per core cycle; nothing if it failed or the clock changed. One thread, on the first CPU.
peer()
{
	before=$("$work/probe")
	likwid-bench -t "$1" -w "S0:$2:1" -i "$3" >"$work/peer" 2>&1 || return
	after=$("$work/probe")
	case $1 in
	peakflops*) rate='^MFlops/s:' ;;
	*) rate='^MByte/s:' ;;
	esac
	awk -v before="$before" -v after="$after" -v rate="$rate" '
		$0 ~ rate { value = $2 }
		END {
			change = before / after
			if (value > 0 && change < 1.01 && change > 0.99)
				printf "%.4f\n", value / 1e3 / ((before + after) / 2)
		}' "$work/peer"
}

# ours OF ACCESS SET: the same of rot, measured now: the variants that are known to be good, and the best of them.
ours()
{
	XDG_DATA_HOME=$work/data "$rot" peaks --quick --threads=1 --json -quiet -useCachedResults=false "$1" "$2" "$3" >"$work/ours" 2>"$work/messages" ||
		return
	awk -v of="$1" -v access="$2" -v set="$3" '
		function text(line) { sub(/^[^:]*: *"/, "", line); sub(/".*/, "", line); return line }
		/^ *"operation": / { operation = text($0) }
		/^ *"border": / { border = text($0) }
		/^ *"access": / { found = text($0) }
		/^ *"instructionSet": / { its_set = text($0) }
		/^ *"perCycle": *[{]/ { in_rate = 1 }
		in_rate && /"value": / {
			value = $0
			sub(/.*"value": */, "", value)
			in_rate = 0
			if ((operation == of || border == of) && found == access && its_set == set && value + 0 > best + 0)
				best = value + 0
		}
		END { if (best > 0) printf "%.4f\n", best }' "$work/ours"
}

# The highest of the numbers on standard input.
highest()
{
	sort -g | tail -n 1
}

if [ ! -r /proc/cpuinfo ]; then
	say 'cannot read /proc/cpuinfo: which instructions there are is not known'
	exit 77
fi
printf '%-22s %12s %12s %8s   %s\n' 'per core cycle' rot likwid-bench share 'of at least'
status=0
lines >"$work/lines"
while read -r name test size iterations of access set enough flag; do
	wanted=true
	for word; do
		case $name in
		*"$word"*) ;;
		*) wanted=false ;;
		esac
	done
	$wanted || continue
	grep -q -m 1 -w "$flag" /proc/cpuinfo || continue
	: >"$work/a"
	: >"$work/b"
	round=0
	while [ $round -lt "$rounds" ]; do
		ours "$of" "$access" "$set" >>"$work/a" </dev/null
		for start in 1 2 3; do
			peer "$test" "$size" "$iterations" >>"$work/b" </dev/null
		done
		round=$((round + 1))
	done
	best=$(highest <"$work/a")
	theirs=$(highest <"$work/b")
	if [ -z "$best" ] || [ -z "$theirs" ]; then
		printf '%-22s %12s %12s %8s   %s\n' "$name" "${best:--}" "${theirs:--}" - \
			"$([ -n "$best" ] && echo 'the clock changed in every run of the peer' || echo 'rot does not measure this')"
		continue
	fi
	share=$(awk -v a="$best" -v b="$theirs" 'BEGIN { printf "%.1f", 100 * a / b }')
	printf '%-22s %12s %12s %7s%%   %s%%\n' "$name" "$best" "$theirs" "$share" "$enough"
	awk -v a="$share" -v b="$enough" 'BEGIN { exit !(a < b) }' && status=1
done <"$work/lines"
exit $status
