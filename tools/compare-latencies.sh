#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares two latencies of 'rot machine' with those of own-latencies.c, which has nothing of rot: in turns, as both move with the host.
#
# compare-latencies.sh [ROUNDS]    5 rounds without a number, half a minute each
#
# Prints both of each round, and the medians with their ratio. Ends with 1 if they differ by more than a tenth.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$work/cache"

${CC:-cc} -O2 -pthread -o "$work/own" "$top/tools/own-latencies.c" || exit 1
echo 'round  line: rot    own   memory: rot    own   (ns)'
for round in $(seq "${1-5}"); do
	own=$("$work/own") &&
		sheet=$("$rot" machine -quiet --only=caches,cores --json -useCachedResults=false 2>"$work/messages") || {
		cat "$work/messages" >&2
		exit 1
	}
	line=$(printf '%s\n' "$sheet" | sed -n 's/.*"lineNs": *\([0-9.]*\).*/\1/p' | head -n 1)
	memory=$(printf '%s\n' "$sheet" | awk '/"levels": \[/ { inside = 1 } inside && /"ns":/ { last = $2 } /"curve"/ { inside = 0 } END { print last + 0 }')
	case $line:$memory in
	:* | *:0)
		echo 'rot machine tells no latency of a cache line, or none of memory: see rot machine --only=caches,cores' >&2
		exit 1
		;;
	esac
	echo "$line ${own% *} $memory ${own#* }" >>"$work/rounds"
	printf '%5s %10.1f %6.1f %13.1f %6.1f\n' "$round" "$line" "${own% *}" "$memory" "${own#* }"
done
# median COLUMN
median()
{
	cut -d ' ' -f "$1" "$work/rounds" | sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}
printf '%s %s %s %s\n' "$(median 1)" "$(median 2)" "$(median 3)" "$(median 4)" | awk '{
	printf "ratio of the medians: line %.2f, memory %.2f\n", $1 / $2, $3 / $4
	exit $1 / $2 > 1.1 || $1 / $2 < 0.9 || $3 / $4 > 1.1 || $3 / $4 < 0.9
}'
