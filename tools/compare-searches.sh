#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares the variants that a quick search of the roof takes with those that a full search finds: in turns, per core cycle.
#
# compare-searches.sh [ROUNDS]     3 rounds without a number; ten minutes for the full search, 1.5 for a round
#
# Two searches one after the other differ by what else goes on in the machine (bandwidth of memory by 20 to 40 %), which says
# nothing about their variants. So those of the full search are made the seeds of a second roof, and both are measured in turns.
# compare-searches.awk says what is judged then, and what is not comparable. Ends with 1 if a quick search is clearly below.
set -u

say()
{
	printf '%s\n' "$*" >&2
}

top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
rounds=${1-3}
roof=$top/driver/controllers/default-peaks.xml
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$work/cache"

# search DATA OPTION...: what rot peaks finds, as comma separated values; its profile and its own roof are in DATA
search()
{
	data=$1
	shift
	XDG_DATA_HOME=$data "$rot" peaks --csv -quiet "$@" 2>"$work/messages" || {
		say "rot peaks $* failed:"
		cat "$work/messages" >&2
		exit 1
	}
}

# Each variant of a peak on one thread as a seed: the kind of its ceiling, a tab, the element.
to_seeds()
{
	awk -F, '
		$7 == 1 && $9 != "" {
			seed = "<seed"
			nr = split($9, coordinates, " ")
			for (i = 1; i <= nr; i++) {
				split(coordinates[i], pair, "=")
				seed = seed " " pair[1] "=\"" pair[2] "\""
			}
			level = $2
			sub(/ .*/, "", level)
			if ($3 == "compInstr")
				what = "x87\t" seed " if=\"$operation = \047" $5 "\047"
			else if ($3 == "integerOperation") {
				split($5, word, "_")
				what = "integer\t" seed " if=\"$operation = \047" word[1] "\047 and $precision = \047" word[2] "\047 and $set = \047" $6 "\047"
			} else if ($1 == "performance")
				what = "float\t" seed " if=\"$operation = \047" $5 "\047 and $precision = \047" \
					($3 == "singlePrecisionFlop" ? "FLOAT" : "DOUBLE") "\047 and $set = \047" $6 "\047"
			else if ($1 == "bandwidth")
				what = "memory\t" seed " if=\"$level = \047" level "\047 and $access = \047" $5 "\047 and $set = \047" $6 "\047"
			else if ($5 == "random")
				what = "chase\t" seed " if=\"$level = \047" level "\047"
			else
				next
			print what "\"/>"
		}'
}

# The roof with these seeds instead of its own.
replace_seeds()
{
	awk -F '\t' '
		FNR == NR { seeds[$1] = seeds[$1] $2 "\n"; next }
		/<ceiling / { kind = /throughput=/ ? "memory" : /latency=/ ? "chase" : /x87/ ? "x87" : /integer/ ? "integer" : "float" }
		/<seed / { next }
		/<workload>/ { printf "%s", seeds[kind] }
		{ print }' "$1" "$roof"
}

say 'the full search'
search "$work/full" >"$work/full.csv"
to_seeds <"$work/full.csv" >"$work/seeds"
mkdir -p "$work/found/rot/controllers" "$work/seeded"
replace_seeds "$work/seeds" >"$work/found/rot/controllers/default-peaks.xml"
: >"$work/quick.csv"
: >"$work/found.csv"
round=1
while [ "$round" -le "$rounds" ]; do
	say "round $round of $rounds"
	for which in $([ $((round % 2)) = 1 ] && echo quick found || echo found quick); do
		search "$work/$([ $which = quick ] && echo seeded || echo found)" --quick -useCachedResults=false >>"$work/$which.csv"
	done
	round=$((round + 1))
done

awk -f "$top/tools/compare-searches.awk" "$work/quick.csv" "$work/found.csv"
