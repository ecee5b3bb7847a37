#!/bin/sh
# SPDX-License-Identifier: MIT
# How many times as fast as OpenBLAS, and as plain loops compiled with -O3, is the kernel Tuned with the blocks that 'rot measure tuned' chooses? In turns
# within one process, in CPU time of the thread (bench-tuned.c), so that it can be asked on a machine that others use.
#	tools/compare-tuned.sh [SIZE ...]		default: 200 400 1000 1500 2000 2048
# The variables CORES (of OpenBLAS: those of 'rot measure blasCores' that are candidates for the best), SECONDS_EACH (3), and CHOICE: "mr=6 nr=16 ..." instead.
set -eu

[ $# -gt 0 ] || set -- 200 400 1000 1500 2000 2048
top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
if grep -q '^flags.* avx512dq ' /proc/cpuinfo; then cores=${CORES:-SkylakeX Cooperlake Haswell Zen}; else cores=${CORES:-Haswell Zen Nehalem}; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# choice NAME: what is asked for, or what the controller chooses
"$rot" -quiet measure --dry-run tuned >"$work/choices"
choice()
{
	value=$(echo "${CHOICE-}" | tr ' ' '\n' | sed -n "s/^$1=//p")
	[ -n "$value" ] || value=$(sed -n "s/^$1 \([A-Z0-9]*\): .*/\1/p" "$work/choices")
	echo "$value"
}

mkdir "$work/macros"
set_=$(choice set)
# What the environment says of OpenBLAS does not count, as in rot.
for name in $(env | sed -n 's/^\(OPENBLAS_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done
echo "#define ROT_TUNED_INSTRUCTION_SET__$set_ 1" >"$work/macros/ROT_TUNED_INSTRUCTION_SET.h"
for name in KU MR NR; do
	echo "#define ROT_TUNED_$name $(choice "$(echo $name | tr '[:upper:]' '[:lower:]')")" >"$work/macros/ROT_TUNED_$name.h"
done
echo 'struct tuned_data { long matrix_size, kc, nc, mc; bool no_check; };' >"$work/TunedData.h"
case $set_ in
AVX512) flags=-mavx512f ;;
AVX2) flags='-mavx2 -mfma' ;;
*) flags= ;;
esac
# shellcheck disable=SC2086 # several flags
${CC:-cc} -O3 $flags -I"$work" -I"$top/kernels" -DKC="$(choice kc)" -DNC="$(choice nc)" -DMC="$(choice mc)" -o "$work/bench-tuned" "$top/tools/bench-tuned.c" -ldl
echo "set=$set_ mr=$(choice mr) nr=$(choice nr) ku=$(choice ku) kc=$(choice kc) nc=$(choice nc) mc=$(choice mc)"
for core in $cores; do
	OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=$core "$work/bench-tuned" libopenblas.so.0 "${SECONDS_EACH:-3}" "$@"
done
