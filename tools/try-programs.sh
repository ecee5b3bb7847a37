#!/bin/bash
# SPDX-License-Identifier: MIT
# Everyday programs under "rot run": in total, by thread, and with a region in a library. Output, files and exit status must be
# those without rot, the table must follow, and the region must have hits. What is not installed is named and skipped.
#
# try-programs.sh [-v] [-b BACKEND] [NAME...]
# try-programs.sh -c [-n TIMES] [NAME...]
#	-v: show the tables; -b: observe regions in this way (uprobe, breakpoint, int3); NAME: only these rows
#	-c: translated, for their counts alone, so many times (1): more programs, those that generate code or start many others among
#	them, and the hard cases of tests/core/parent/translated; a table at the end
set -uo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
build=$(cd "${top_builddir:-$top/build}" && pwd -P)
rot=$build/driver/rot
[ -x "$rot" ] || {
	echo "rot is not built: '$rot' is missing" >&2
	exit 1
}
is_verbose=false
backend=auto
is_translated=false
nr_times=1
while getopts vb:cn: option; do
	case $option in
	v) is_verbose=true ;;
	b) backend=$OPTARG ;;
	c) is_translated=true ;;
	n) nr_times=$OPTARG ;;
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
build fftw -l:libfftw3.so.3 -l:libfftw3_threads.so.3 <<'C'
#include <stdio.h>
#include <stdlib.h>

/* As fftw3.h has it. */
typedef double complex_number[2];
int fftw_init_threads(void);
void fftw_plan_with_nthreads(int nr);
void *fftw_plan_dft_1d(int n, complex_number *in, complex_number *out, int sign, unsigned int flags);
void fftw_execute(void *plan);

int
main(void)
{
	enum { N = 1 << 16 };
	complex_number *in = malloc(N * sizeof(*in)), *out = malloc(N * sizeof(*out));
	double sum = 0;
	void *plan;

	fftw_init_threads();
	fftw_plan_with_nthreads(2);
	plan = fftw_plan_dft_1d(N, in, out, -1, 1U << 6);
	for (int i = 0; i < N; i++)
		in[i][0] = i % 7, in[i][1] = i % 5;
	for (int i = 0; i < 10; i++)
		fftw_execute(plan);
	for (int i = 0; i < N; i++)
		sum += out[i][0] * out[i][0] + out[i][1] * out[i][1];
	printf("%.17g\n", sum);
	return 0;
}
C
if command -v rustc >/dev/null; then
	printf 'use std::thread; fn main() { let t: Vec<_> = (0..4u64).map(|i| thread::spawn(move || (0..500000u64).fold(i, |a, x| a.wrapping_mul(31).wrapping_add(x)))).collect(); for h in t { println!("{}", h.join().unwrap()); } let r = std::panic::catch_unwind(|| { let v: Vec<i32> = vec![]; v[std::process::id() as usize] }); println!("{}", r.is_err()); }' |
		(cd "$work" && rustc -O -o "$work/bin/rust-program" - >/dev/null 2>&1)
fi
if command -v go >/dev/null; then
	printf 'package main\nimport "fmt"\nfunc main() { c := make(chan int); for i := 0; i < 100; i++ { go func(n int) { s := 0; for k := 0; k < 10000; k++ { s += k * n %% 7 }; c <- s }(i) }; t := 0; for i := 0; i < 100; i++ { t += <-c }; fmt.Println(t) }\n' >"$work/program.go" &&
		GOCACHE="$work/go" go build -o "$work/bin/go-program" "$work/program.go" >/dev/null 2>&1
fi
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

# Translated only. In the folder of the input, where "source" is C of this project with what it includes, and "hello" something to start with.
if $is_translated; then
	rows+=(
		"gcc||SHELL cc -std=gnu11 -D_GNU_SOURCE -O2 -I $top/tests/core/parent/translated -c $top/tests/core/parent/translated/random_blocks.c -o object.o && cksum <object.o"
		"clang||SHELL clang -std=gnu11 -D_GNU_SOURCE -O1 -I $top/tests/core/parent/translated -c $top/tests/core/parent/translated/fault_cases.c -o object.o && cksum <object.o"
		"g++||SHELL printf '#include <iostream>\n#include <map>\nint main() { std::map<int, int> m; try { throw m.size(); } catch (size_t n) { std::cout << n; } }\n' | c++ -x c++ -O1 -o program - && ./program"
		"python3-tests||python3 -m unittest -q test.test_dict test.test_json test.test_struct test.test_generators test.test_exceptions"
		"python3-threads||python3 -c THREADS"
		"python3-processes||python3 -c PROCESSES"
		"node||node -e NODE"
		"java||SHELL printf 'import java.util.stream.*; public class Hello { public static void main(String[] a) { System.out.println(IntStream.range(0, 3000000).parallel().mapToLong(i -> i * 7919L %% 1009).sum()); } }' >Hello.java && javac Hello.java && java -cp . Hello"
		"sqlite3||sqlite3 :memory: SQL"
		"openssl-sha||openssl dgst -sha256 data"
		"openssl-rsa||SHELL openssl genrsa -out key 2048 2>/dev/null && openssl rsa -in key -check -noout 2>&1; rm -f key"
		"gzip-trip||SHELL gzip -k -9 data && gzip -dc data.gz | cmp - data"
		"xz-trip||SHELL xz -k -T2 --block-size=500KiB data && xz -dc -T2 data.xz | cmp - data"
		"zstd-trip||SHELL zstd -q -k -T2 -12 data && zstd -dc data.zst | cmp - data"
		"git||SHELL git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x --date=2020-01-01T00:00:00Z && cp ../data . && git add data && git ls-files -s && git fsck && cd .. && rm -rf r"
		"perl||perl -e PERL"
		"tls||SHELL TLS"
		"fftw||fftw"
		"forks||SHELL for i in {1..300}; do x=\$(/bin/echo \$i | cat); done; echo \$x"
		"pipeline||SHELL seq 200000 | sort -R --random-source=data | sort -n --parallel=2 | md5sum"
		"awk||awk AWK data"
		"rust||rust-program"
		"go||go-program"
	)
	for case in $("$build/tests/core/parent/translated/hard_cases"); do
		rows+=("hard:$case||$build/tests/core/parent/translated/hard_cases $case")
	done
fi
declare -A texts=(
	[COMPRESS]=$compress
	[LOADLATER]=$load_later
	[KILL]='kill -9 $$'
	[THREADS]='import threading, zlib, hashlib
results = {}
def work(n):
    data = bytes(range(256)) * 2000
    results[n] = hashlib.sha256(zlib.compress(data + bytes([n]))).hexdigest()
threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
print([results[i][:8] for i in range(16)])'
	[PROCESSES]='import multiprocessing, subprocess
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool: print(sum(pool.map(square, range(1000))))
    print(subprocess.run(["sh", "-c", "echo $((6 * 7))"], capture_output=True).stdout)'
	[NODE]='let map = new Map(); for (let i = 0; i < 2e6; i++) { map.set(i % 1009, (map.get(i % 1009) || 0) + i); }
const f = n => n < 2 ? n : f(n - 1) + f(n - 2); console.log(map.get(17), f(27), JSON.stringify([..."abc"].map(x => x + x)));
const crypto = require("crypto"); console.log(crypto.createHash("sha1").update("x".repeat(1e6)).digest("hex"));'
	[SQL]='create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, printf("%d-%d", i * 7919 % 1009, i) from n; create index x on t(b); select count(*), sum(length(b)), min(b), max(b) from t;
select count(*) from t a join t b on a.a = b.a * 2 where a.b > b.b; pragma integrity_check;'
	[PERL]='my %h; for my $i (1 .. 400000) { $h{$i % 5003} .= chr(65 + $i % 26) if $i =~ /[13579]$/ } print join(",", map { length $h{$_} // 0 } sort { $a <=> $b } keys %h), "\n"; eval { die { code => 7 } }; print $@->{code}, "\n"'
	[AWK]='{ n[$3] += $1; s = s substr($2, 1, 1) } END { for (i = 0; i < 17; i++) printf "%d ", n[i]; print length(s) }'
	[TLS]='openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost -days 2 2>/dev/null
port=$((20000 + $$ % 20000)); openssl s_server -accept $port -key key.pem -cert cert.pem -WWW -quiet 2>/dev/null >/dev/null & server=$!
for i in {1..100}; do curl -s --cacert cert.pem https://localhost:$port/data -o got && break; sleep 0.1; done
kill $server; wait $server 2>/dev/null; cmp got data && echo same; rm -f key.pem cert.pem got'
)

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

# try_translated: so many times; what was seen of each is one line of the table
try_translated()
{
	local i nr_good=0 problems= start=${EPOCHREALTIME/[.,]/} mean
	for ((i = 0; i < nr_times; i++)); do
		local problem=
		execute "$work/rot" "$rot" run -q -counting=blocks --counts-only -j "$work/counts.json" -- "${command[@]}"
		same "$work/alone.out" "$work/rot.out" || problem+=" standard-output"
		cmp -s "$work/alone.status" "$work/rot.status" || problem+=" status-$(cat "$work/rot.status")"
		diff -r "$work/alone" "$work/rot" >/dev/null || problem+=" files"
		if [ "$problem" ]; then
			problems+=$problem
			mkdir -p "$work/failed" && cp "$work/rot.out" "$work/failed/$name.out" && cp "$work/rot.err" "$work/failed/$name.err"
			! $is_verbose || tail -n 5 "$work/rot.out" "$work/rot.err"
		else
			nr_good=$((nr_good + 1))
		fi
	done
	mean=$(((${EPOCHREALTIME/[.,]/} - start) / 1000 / nr_times))
	[ $nr_good = "$nr_times" ] || nr_failed=$((nr_failed + 1))
	printf '%-32s %4d of %4d equal, status %3d, %8d ms, native %6d ms%s\n' "$name" $nr_good "$nr_times" "$(cat "$work/alone.status")" $mean \
		$native_ms "${problems:+ :$problems}" | tee -a "$work/summary"
}

for row in "${rows[@]}"; do
	name=${row%%|*}
	region=${row#*|}
	line=${region#*|}
	region=${region%%|*}
	[ "$chosen" = "  " ] || [[ $chosen == *" $name "* ]] || continue
	if [[ $line == SHELL\ * ]]; then
		line=${line#SHELL }
		needed=${line%% *}
		[[ $needed == [a-z]* ]] || needed=bash
		[ "$line" != TLS ] || needed=curl
		command=(bash -c "${texts[$line]:-${line//\\\$/$}}")
	else
		read -ra command <<<"$line"
		for i in "${!command[@]}"; do
			command[i]=${texts[${command[i]}]:-${command[i]}}
		done
		needed=${command[0]}
	fi
	if ! command -v "$needed" >/dev/null; then
		printf 'skipped %-15s %s is not installed, or could not be built\n' "$name" "$needed"
		continue
	fi
	native_ms=${EPOCHREALTIME/[.,]/}
	execute "$work/alone" "${command[@]}"
	native_ms=$(((${EPOCHREALTIME/[.,]/} - native_ms) / 1000))
	if $is_translated; then
		if [ "$(cat "$work/alone.status")" = 77 ]; then
			printf 'skipped %-15s %s\n' "$name" "$(head -n 1 "$work/alone.out")"
			continue
		fi
		try_translated
		continue
	fi
	try total
	try threads -t
	[ -z "$region" ] || try region --region="$region" --region-backend="$backend"
done
if $is_translated; then
	printf '\n%d programs translated, %d of them not as natively\n' "$(wc -l <"$work/summary")" $nr_failed
	grep ' : ' "$work/summary"
fi
exit $((nr_failed != 0))
