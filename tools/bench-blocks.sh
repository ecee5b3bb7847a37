#!/bin/bash
# SPDX-License-Identifier: MIT
# What counting by blocks costs: programs alone, translated, and translated with modelled caches, all lines or one of 16, in turns; beside valgrind without a
# tool, callgrind, and cachegrind with caches, where they are installed and able. Wall-clock times of whole commands, the best of each, and what they are relative to the program alone; at the end
# the geometric mean over the first nine. Rows NAME-1 and NAME-2 are programs with one thread and with two; of them it is told at the end how much larger the
# slowdown of two is. Beside callgrind, instructions of both are compared, with functions of the C library that every processor has.
#
# bench-blocks.sh [-n ROUNDS] [-w] [-c] [-u] [NAME...]     3 rounds; those of valgrind one. -w: without valgrind; NAME: only these
# -c: curves of misses instead, of all lines and of one of 32 and of 16; at the end also for how many programs and capacities (of 73) a sampled
#     curve is off by at most 0.01 misses for 8 bytes that are loaded or stored
# -u: CPU times of all threads, for busy machines
set -euo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
rounds=3
ways=(native rot caches sampled)
! command -v valgrind >/dev/null || ways+=(none callgrind cachegrind)
is_cpu=0
while getopts n:wcu option; do
	case $option in
	n) rounds=$OPTARG ;;
	w) ways=(native rot caches sampled) ;;
	c) ways=(native curve curve32 curve16) ;;
	u) is_cpu=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
chosen=" $* "
. "$top/tools/bench.sh" # makes $work, which is the current folder then
limit_s=300
TIMEFORMAT='%3R %3U %3S'
make -s -C "$build" tests/json_lines
plain=glibc.cpu.hwcaps=$(printf -- '-%s,' AVX512F AVX512VL AVX512BW AVX512CD AVX2 AVX ERMS FSRM BMI2 RTM MOVBE LZCNT SSSE3 SSE4_1)-SSE4_2

# ---- programs ----

build()
{
	local name=$1
	shift
	${CC:-cc} -O2 -o "$name" -x c - -x none "$@" 2>/dev/null
}

build qsort <<'C' || true
#include <stdio.h>
#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

int
main(void)
{
	enum { N = 2000000 };
	int *numbers = malloc(N * sizeof(*numbers));
	unsigned int seed = 1;

	for (int i = 0; i < N; i++)
		numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 1);
	qsort(numbers, N, sizeof(*numbers), compare);
	printf("%d\n", numbers[N / 2]);
	return 0;
}
C
build matmul <<'C' || true
#include <stdio.h>

enum { N = 400 };
static double a[N][N], b[N][N], c[N][N];

int
main(void)
{
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			a[i][k] = i + k, b[i][k] = i - k;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
	printf("%g\n", c[7][9]);
	return 0;
}
C
build calls <<'C' || true
static int __attribute__((noinline))
empty(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 100000000; i++)
		sum += empty(i);
	return sum == 1;
}
C
# Each thread does the same, so that it takes as long with two of them where two processors are free.
build threads -lpthread <<'C' || true
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NR_NUMBERS = 1000000, N = 400, NR_CALLS = 50000000 };

static int
compare(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void *
sort(void *argument)
{
	int *numbers = malloc(NR_NUMBERS * sizeof(*numbers));
	unsigned int seed = 1;

	for (int i = 0; i < NR_NUMBERS; i++)
		numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 1);
	qsort(numbers, NR_NUMBERS, sizeof(*numbers), compare);
	free(numbers);
	return argument;
}

static void *
multiply(void *argument)
{
	double(*a)[N] = calloc(3 * N, sizeof(*a)), (*b)[N] = a + N, (*c)[N] = b + N;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
	__asm__ volatile("" : : "r"(a) : "memory");
	free(a);
	return argument;
}

static int __attribute__((noinline))
empty(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static void *
call(void *argument)
{
	for (int i = 0; i < NR_CALLS; i++)
		empty(i);
	return argument;
}

int
main(int argc, char **argv)
{
	void *(*const work)(void *) = strcmp(argv[1], "sort") == 0 ? sort : strcmp(argv[1], "calls") == 0 ? call : multiply;
	const int nr = atoi(argv[argc - 1]);
	pthread_t threads[2];

	for (int i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
C
build dgemm -l:libopenblas.so.0 <<'C' || true
#include <stdio.h>
#include <stdlib.h>

void cblas_dgemm(int order, int how_a, int how_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
		 int ldb, double beta, double *c, int ldc);

int
main(void)
{
	enum { N = 1500 };
	double *a = malloc(N * N * sizeof(*a)), *b = malloc(N * N * sizeof(*b)), *c = calloc(N * N, sizeof(*c));

	for (int i = 0; i < N * N; i++)
		a[i] = i % 7, b[i] = i % 5;
	for (int i = 0; i < 5; i++)
		cblas_dgemm(101, 111, 111, N, N, N, 1, a, N, b, N, 1, c, N);
	printf("%.17g\n", c[77]);
	return 0;
}
C
build fftw -l:libfftw3.so.3 <<'C' || true
#include <stdio.h>
#include <stdlib.h>

typedef double complex_number[2];
void *fftw_plan_dft_1d(int n, complex_number *in, complex_number *out, int sign, unsigned int flags);
void fftw_execute(void *plan);

int
main(void)
{
	enum { N = 1 << 18 };
	complex_number *in = calloc(N, sizeof(*in)), *out = malloc(N * sizeof(*out));
	void *plan = fftw_plan_dft_1d(N, in, out, -1, 1U << 6);

	for (int i = 0; i < N; i++)
		in[i][0] = i % 7;
	for (int i = 0; i < 60; i++)
		fftw_execute(plan);
	printf("%.17g\n", out[77][0]);
	return 0;
}
C
awk 'BEGIN { for (i = 0; i < 500000; i++) print i * 7919 % 100003, "line", i % 17 }' >data
cat >loop.py <<'PYTHON'
class Point:
    def __init__(self, x): self.x = x
    def moved(self, n): return Point(self.x + n)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
names = {}
p = Point(0)
for i in range(300000):
    p = p.moved(i)
    names[str(i % 1000)] = names.get(str(i % 1000), 0) + p.x % 7
print(fib(23), sum(names.values()), sorted(names)[:3])
PYTHON
cat >tables.sql <<'SQL'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) insert into t select i, printf('%d-%d', i * 7919 % 1009, i) from n;
create index x on t(b);
select count(*), sum(length(b)), min(b), max(b) from t;
select count(*) from t a join t b on a.a = b.a * 2 where a.b > b.b;
SQL
rows=(
	"qsort|./qsort"
	"matmul|./matmul"
	"gzip|gzip -c data"
	"xz|xz -1 -c data"
	"python3|/usr/bin/python3 loop.py"
	"sqlite3|sqlite3 -init tables.sql :memory: .quit"
	"gcc|$(${CC:-cc} -print-prog-name=cc1) -quiet -imultiarch $(${CC:-cc} -print-multiarch) -O2 -D_GNU_SOURCE -I $top/tests/core/parent/translated $top/tests/core/parent/translated/signal_cases.c -o out.s"
	"dgemm|./dgemm"
	"fftw|./fftw"
	"calls|./calls"
	"true|/bin/true"
)
for nr in 1 2; do
	rows+=("sort-$nr|./threads sort $nr" "multiply-$nr|./threads multiply $nr" "calls-$nr|./threads calls $nr" "xz-$nr|xz -1 -T$nr -c data"
		"dgemm-$nr|./dgemm")
done
export OPENBLAS_NUM_THREADS PYTHONHASHSEED=0

# ---- timing ----

# once WAY COMMAND...: microseconds; nothing where it does not end well
once()
{
	local way=$1
	shift
	{ time case $way in
	native) timeout $limit_s "$@" ;;
	rot) timeout $limit_s "$build/driver/rot" run -q -counting=blocks --counts-only -j counts.json -- "$@" ;;
	plain) GLIBC_TUNABLES=$plain timeout $limit_s "$build/driver/rot" run -q -counting=blocks --counts-only -j plain.json -- "$@" ;;
	caches) timeout $limit_s "$build/driver/rot" run -q -counting=blocks --counts-only -caches=32K:8,1M:16,32M:16 -j counts.json -- "$@" ;;
	sampled) timeout $limit_s "$build/driver/rot" run -q -counting=blocks --counts-only -caches=32K:8,1M:16,32M:16 -cacheSampling=16 -j counts.json -- "$@" ;;
	curve) timeout $limit_s "$build/driver/rot" run -q --counts-only --miss-curve -caches=none -j curve.json -- "$@" ;;
	curve*) timeout $limit_s "$build/driver/rot" run -q --counts-only --miss-curve -caches=none -cacheSampling="${way#curve}" -j "$way.json" -- "$@" ;;
	none) timeout $limit_s valgrind -q --tool=none "$@" ;;
	cachegrind) timeout $limit_s valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null "$@" ;;
	callgrind) GLIBC_TUNABLES=$plain timeout $limit_s valgrind -q --tool=callgrind --callgrind-out-file=callgrind.out "$@" ;;
	esac >said 2>errors </dev/null; } 2>took || return 0
	LC_ALL=C awk -v is_cpu=$is_cpu '{printf "%d\n", 1e6 * (is_cpu ? $2 + $3 : $1)}' took
}

# compare WAY NAME: adds how far off that sampled curve is to those of NAME, at each capacity
compare()
{
	"$build/tests/json_lines" curve.json >exact
	"$build/tests/json_lines" "$1.json" >other
	awk -v name="$1 $2" '
		FILENAME == "exact" && /^counts\.(loaded|stored)Bytes = / {uses += $3 / 8}
		/^missCurve\.capacities\[[0-9]+\]\.misses = / {if (FILENAME == "exact") misses[$1] = $3; else error[$1] = $3 - misses[$1]}
		END {for (i in error) print name, (error[i] < 0 ? -error[i] : error[i]) / uses}' exact other >>off
}

printf '%-10s %10s' program native
for way in "${ways[@]:1}"; do
	printf ' %20s' "$way"
done
echo
for row in "${rows[@]}"; do
	name=${row%%|*}
	read -ra command <<<"${row#*|}"
	[ "$chosen" = "  " ] || [[ $chosen == *" $name "* ]] || continue
	if ! command -v "${command[0]}" >/dev/null; then
		printf '%-10s is not installed, or could not be built\n' "$name"
		continue
	fi
	OPENBLAS_NUM_THREADS=1 row_ways=("${ways[@]}")
	case $name in *-[12]) OPENBLAS_NUM_THREADS=${name#*-} row_ways=(native rot) ;; esac
	declare -A best=()
	for ((round = 0; round < rounds; round++)); do
		for way in "${row_ways[@]}"; do
			case $round$way in 0* | *native | *rot | *caches | *sampled | *curve*) ;; *) continue ;; esac
			us=$(once "$way" "${command[@]}")
			[ -n "$us" ] || continue
			[ -n "${best[$way]:-}" ] && [ "${best[$way]}" -le "$us" ] || best[$way]=$us
		done
	done
	for way in "${row_ways[@]}"; do
		echo "$name $way ${best[$way]:--} ${best[native]:--}"
	done | tee -a times | awk '
		{text = $3 == "-" ? "does not end well" : sprintf("%.3f s", $3 / 1e6)}
		NR == 1 {printf "%-10s %10s", $1, text}
		NR > 1 {printf " %20s", text ($3 == "-" || $4 == "-" ? "" : sprintf(" %6.2f x", $3 / $4))}
		END {print ""}'
	for way in curve32 curve16; do
		[ -z "${best[curve]:-}" ] || [ -z "${best[$way]:-}" ] || compare "$way" "$name"
	done
	if [ -n "${best[callgrind]:-}" ] && [ -n "$(once plain "${command[@]}")" ]; then
		awk -v FS='[ ,:]+' '
			FILENAME == "plain.json" && $2 == "\"instructions\"" && $3 ~ /^[0-9]+$/ {rot = $3}
			FILENAME == "callgrind.out" && $1 ~ /^(summary|totals)$/ {theirs = $2}
			END {printf "%-10s %.0f instructions, callgrind %.0f: %+.4f %%\n", "", rot, theirs, (rot / theirs - 1) * 100}' plain.json callgrind.out
	fi
done
awk -v names="$(printf '%s\n' "${rows[@]:0:9}" | cut -d'|' -f1 | tr '\n' ' ')" '
	BEGIN {nr = split(names, list, " "); for (i = 1; i <= nr; i++) is_first[list[i]] = 1}
	$3 == "-" || $4 == "-" || $2 == "native" {next}
	$1 in is_first {sum[$2] += log($3 / $4); n[$2]++}
	split($1, part, "-") == 2 {slowdown[part[1], part[2]] = $3 / $4}
	END {
		for (way in sum) printf "%s: geometric mean of %d programs: %.2f x\n", way, n[way], exp(sum[way] / n[way])
		for (row in slowdown) {
			split(row, part, SUBSEP)
			if (part[2] != 2 || !((part[1], 1) in slowdown)) continue
			ratio = slowdown[row] / slowdown[part[1], 1]
			logs += log(ratio); nr_rows++
			if (ratio > worst) {worst = ratio; which = part[1]}
		}
		if (nr_rows) printf "two threads: %.2f x of the slowdown of one (geometric mean of %d programs; the worst, %s: %.2f x)\n", exp(logs / nr_rows), nr_rows, which, worst
	}' times
[ ! -s off ] || awk '
	{nr[$1]++; good[$1] += $3 <= 0.01; if ($3 > worst[$1, $2]) worst[$1, $2] = $3; names[$2]}
	END {
		for (way in nr) {
			printf "%s: off by at most 0.01 in %d of %d (%.1f %%); at most", way, good[way], nr[way], 100 * good[way] / nr[way]
			for (name in names) printf " %s %.3f", name, worst[way, name]
			print ""
		}
	}' off
