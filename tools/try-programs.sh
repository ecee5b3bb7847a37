#!/bin/bash
# SPDX-License-Identifier: MIT
# Everyday programs under "rot run": in total, by thread, and with a region in a library. Output, files and exit status must be
# those without rot, the table must follow, and the region must have hits. What is not installed is named and skipped.
#
# try-programs.sh [-v] [-b BACKEND] [NAME...]
#	-v: show the tables; -b: observe regions in this way (uprobe, breakpoint, int3); NAME: only these of
# gzip python3 python3-dlopen xz openssl openblas openmp false killed
set -uo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
rot=$(cd "${top_builddir:-$top/build}" && pwd -P)/driver/rot
[ -x "$rot" ] || {
	echo "rot is not built: '$rot' is missing" >&2
	exit 1
}
is_verbose=false
backend=auto
while getopts vb: option; do
	case $option in
	v) is_verbose=true ;;
	b) backend=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
chosen=" $* "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data LC_ALL=C
export PATH=/usr/bin:/bin:$work/bin:$PATH
nr_failed=0
mkdir "$work/bin" "$work/input"

# ---- programs of our own that use the libraries of others ----

# build NAME FLAG...: a program of that name from standard input; failing is a reason to skip
build()
{
	local name=$1
	shift
	${CC:-cc} -g -O2 -o "$work/bin/$name" -x c - -x none "$@" 2>"$work/build.log"
}

# As cblas.h has it, which is not there without the package for developers.
build openblas -l:libopenblas.so.0 <<'C'
#include <stdio.h>
#include <stdlib.h>

enum { CblasRowMajor = 101, CblasNoTrans = 111 };
void cblas_dgemm(int order, int how_a, int how_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
		 int ldb, double beta, double *c, int ldc);

int
main(void)
{
	enum { N = 500, TIMES = 10 };
	double *a = malloc(N * N * sizeof(*a)), *b = malloc(N * N * sizeof(*b)), *c = calloc(N * N, sizeof(*c)), sum = 0;

	for (int i = 0; i < N * N; i++)
		a[i] = i % 7, b[i] = i % 5;
	for (int i = 0; i < TIMES; i++)
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 1, c, N);
	for (int i = 0; i < N * N; i++)
		sum += c[i];
	printf("%.17g\n", sum);
	return 0;
}
C
build openmp -fopenmp <<'C'
#include <stdio.h>

enum { N = 1 << 20 };
static double a[N], b[N];

static void __attribute__((noinline))
triad(double x)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < N; i++)
		a[i] = b[i] + x * a[i];
}

int
main(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		a[i] = i % 7, b[i] = i % 5;
	for (int i = 0; i < 20; i++)
		triad(0.5);
	for (int i = 0; i < N; i++)
		sum += a[i];
	printf("%.17g\n", sum);
	return 0;
}
C

# ---- what to try: a row each of name, region, command ----

# Text that compresses well enough to be typical, always the same.
awk 'BEGIN { for (i = 0; i < 150000; i++) print i * 7919 % 100003, "line", i % 17 }' >"$work/input/data"
compress='import sys, zlib
data = open("data", "rb").read()
print(len(zlib.compress(data)), sum(i * i for i in range(10 ** 6)))
print("done", file=sys.stderr)'
rows=(
	"gzip|libc.so.6:write|gzip -k data"
	"python3|libz.so.1:deflate|python3 -c COMPRESS"
	"python3-dlopen|liblzma.so.5:lzma_code|python3 -c LOADLATER"
	"xz|liblzma.so.5:lzma_code|xz -k -T2 --block-size=1MiB data"
	"openssl|libcrypto.so.3:EVP_DigestUpdate|openssl speed -seconds 1 -bytes 16384 sha256"
	"openblas|libopenblas.so.0:cblas_dgemm|openblas"
	"openmp|triad|openmp"
	"false||false"
	"killed||sh -c KILL"
)
load_later='import lzma
print(len(lzma.compress(open("data", "rb").read()[:1000000])))'

# ---- trying ----

# execute FOLDER COMMAND...: in a copy of the input; out, err and status lie beside the folder
execute()
{
	local folder=$1
	shift
	rm -rf "$folder"
	cp -rp "$work/input" "$folder"
	(cd "$folder" && exec "$@") >"$folder.out" 2>"$folder.err" </dev/null
	echo $? >"$folder.status"
}

# Times and rates that the program itself measured differ from run to run.
without_numbers()
{
	sed 's/[0-9][0-9.]*/N/g; s/  */ /g' "$1"
}

# same A B: equal, but for numbers in what openssl speed prints
same()
{
	if [ "$name" = openssl ]; then
		[ "$(without_numbers "$1")" = "$(without_numbers "$2")" ]
	else
		cmp -s "$1" "$2"
	fi
}

# try WHAT OPTION...: the command under rot with these options, compared to what it did alone
try()
{
	local what=$1 nr_lines problem= hits
	shift
	execute "$work/rot" "$rot" run "$@" -- "${command[@]}"
	nr_lines=$(wc -l <"$work/alone.err")
	head -n "$nr_lines" "$work/rot.err" >"$work/rot.own"
	tail -n +$((nr_lines + 1)) "$work/rot.err" >"$work/table"
	same "$work/alone.out" "$work/rot.out" || problem+=" standard-output"
	same "$work/alone.err" "$work/rot.own" || problem+=" standard-error"
	cmp -s "$work/alone.status" "$work/rot.status" || problem+=" exit-status"
	diff -r "$work/alone" "$work/rot" >/dev/null || problem+=" files"
	grep -q '^  time  ' "$work/table" || problem+=" no-table"
	hits=$(sed -n 's/^  hits  *\([0-9]*\)$/\1/p' "$work/table")
	if [ "$what" = region ] && [ "${hits:-0}" = 0 ]; then
		problem+=" region-without-hits"
	fi
	if [ "$problem" ]; then
		nr_failed=$((nr_failed + 1))
		printf 'FAILED  %-15s %-7s%s\n' "$name" "$what" ":$problem"
	else
		printf 'ok      %-15s %-7s%s\n' "$name" "$what" "${hits:+ $hits hits of $region}"
	fi
	if $is_verbose || [ "$problem" ]; then
		cat "$work/table"
	fi
}

for row in "${rows[@]}"; do
	IFS='|' read -r name region line <<<"$row"
	read -ra command <<<"$line"
	for i in "${!command[@]}"; do
		[ "${command[i]}" = COMPRESS ] && command[i]=$compress
		[ "${command[i]}" = LOADLATER ] && command[i]=$load_later
		[ "${command[i]}" = KILL ] && command[i]='kill -9 $$'
	done
	[ "$chosen" = "  " ] || [[ $chosen == *" $name "* ]] || continue
	if ! command -v "${command[0]}" >/dev/null; then
		printf 'skipped %-15s %s is not installed, or could not be built\n' "$name" "${command[0]}"
		continue
	fi
	execute "$work/alone" "${command[@]}"
	try total
	try threads -t
	[ -z "$region" ] || try region --region="$region" --region-backend="$backend"
done
exit $((nr_failed != 0))
