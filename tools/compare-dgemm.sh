#!/bin/sh
# SPDX-License-Identifier: MIT
# Is what dgemm of OpenBLAS reaches under rot what it reaches without? In turns: rot, and a program that calls the library as the library's own
# benchmark does (bench-dgemm.c). Both as shares of what fused multiplications and additions reach on one thread: rot of the peak of this machine per core
# cycle (of the profile, else looked for quickly), the program of plain loops around each call, so that a clock that changes matters to neither.
#	tools/compare-dgemm.sh [-n ROUNDS] [SIZE ...]		default: 3 rounds of 400 1000 2000
# The variables CORE (what the library computes for: SkylakeX where the processor can, else Haswell) and SECONDS_EACH (of the program, for each size: 2).
# PAGES=huge: the program uses huge pages.
set -eu

rounds=3
[ "${1-}" = -n ] && rounds=$2 && shift 2
[ $# -gt 0 ] || set -- 400 1000 2000
top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
if grep -q '^flags.* avx512dq ' /proc/cpuinfo; then core=${CORE:-SkylakeX}; else core=${CORE:-Haswell}; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
${CC:-cc} -O2 -march=native -o "$work/bench-dgemm" "$top/tools/bench-dgemm.c" -ldl
cd "$work"

cat >dgemm.xml <<END
<controller name="dgemm" comment="dgemm on one thread" runs="20">
	<axis name="size"><list values="$*"/></axis>
	<point series="dgemm" label="{\$size}"><workload><kernel type="Dgemm" matrixSize="{\$size}" coreType="$core" warmData="true" warmCode="true"/></workload></point>
	<quantity name="rate" is="performance:doublePrecisionFlop:coreCycles"/>
	<derived name="fma" peak="FMA" operation="doublePrecisionFlop" unit="flop/cycle"/>
	<derived name="median" is="100 * \$rate div \$fma" unit="%"/>
	<derived name="quarter" is="100 * \$upperQuartile.rate div \$fma" unit="%"/>
	<derived name="best" is="100 * \$best.rate div \$fma" unit="%"/>
</controller>
END
printf '%-12s %6s %9s %9s %9s   share of fused operations, core %s\n' "" n 'median %' 'quarter %' 'best %' "$core"
for _ in $(seq "$rounds"); do
	"$rot" -quiet -useCachedResults=false -timeReport=false measure dgemm.xml >/dev/null
	awk '
		function text(line) { sub(/^[^:]*: *"?/, "", line); sub(/"?,?$/, "", line); return line }
		/^ *"points": / { in_points = 1 }
		!in_points { next }
		/^ *"label": / { label = text($0) }
		/^ *"derived": / { in_derived = 1; next }
		in_derived && /^ *"name": / { name = text($0) }
		in_derived && /^ *"value": / { share[name] = text($0) }
		in_derived && /^ *\]/ {
			printf "%-12s %6s %9.1f %9.1f %9.1f\n", "rot", label, share["median"], share["quarter"], share["best"]
			in_derived = 0
		}' dgemm.json
	OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=$core ./bench-dgemm libopenblas.so.0 "${SECONDS_EACH:-2}" "$@" |
		awk '$1 ~ /^[0-9]+$/ && NF == 6 { printf "%-12s %6s %9s %9s %9s\n", "without rot", $1, $3, $4, $5 }'
done
