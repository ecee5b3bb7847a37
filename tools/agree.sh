#!/bin/sh
# SPDX-License-Identifier: MIT
# Do results agree? Measures a controller several times, each time anew, and compares every pair of results. Of the measured quantities:
#	overlap		their intervals do; of sound ones nearly all should
#	consistent	they differ by no more than the halves of both intervals that face each other allow, in quadrature: 95 % should. Less
#			means that something differs from one start to the next that no interval knows of.
# Wide intervals agree easily, so their width is told as well. Exit 1 if less than 90 % overlap.
#	tools/agree.sh [-n TIMES] [CONTROLLER [KEY ...]]		default: 5 times triad
set -eu

times=5
[ "${1-}" = -n ] && times=$2 && shift 2
[ $# -gt 0 ] || set -- triad
top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
build=${build:-$top/build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
controller=$1
[ ! -e "$controller" ] || controller=$(realpath "$controller")
shift
cd "$folder"

"$rot" version >/dev/null # brings the build up to date
make -s -C "$build" tests/json_lines
for i in $(seq "$times"); do
	"$rot" measure "$controller" "$i" -useCachedResults=false -quiet=true -timeReport=false "$@" >/dev/null
done
for i in $(seq "$times"); do
	"$build/tests/json_lines" "$i.json" >"$i"
done

# points[3].quantities[0].low = 2.5
# shellcheck disable=SC2046 # numbers
awk '
function hypotenuse(x, y) { return sqrt(x * x + y * y) }
function magnitude(x) { return x < 0 ? -x : x }

# Of the nr widths of a quantity; sorts them.
function median(name, nr,    i, k, x)
{
	for (i = 2; i <= nr; i++) {
		x = width[name, i]
		for (k = i - 1; k >= 1 && width[name, k] > x; k--)
			width[name, k + 1] = width[name, k]
		width[name, k + 1] = x
	}
	return nr ? width[name, int(nr / 2) + 1] : 0
}

# One value of two results: counts the pair, and whether it overlaps and is consistent.
function judge(a, b, key, name,    low, high)
{
	if (at[a, key, "low"] == "null" || at[b, key, "low"] == "null") {
		nr_without++
		return
	}
	low = at[a, key, "value"] + 0 <= at[b, key, "value"] + 0 ? a : b
	high = a + b - low
	nr[name]++
	if (at[high, key, "low"] + 0 <= at[low, key, "high"] + 0)
		overlap[name]++
	if (at[high, key, "value"] - at[low, key, "value"] <= hypotenuse(at[low, key, "high"] - at[low, key, "value"],
	                                                                at[high, key, "value"] - at[high, key, "low"]))
		consistent[name]++
	else
		apart[key]++
	if (at[a, key, "value"] + 0 != 0)
		width[name, ++nr_widths[name]] = magnitude((at[a, key, "high"] - at[a, key, "low"]) / 2 / at[a, key, "value"])
}

FNR == 1 { result++ }

/^points\[[0-9]+\]\./ {
	path = substr($0, 1, index($0, " = ") - 1)
	is = substr($0, index($0, " = ") + 3)
	point = path
	sub(/\..*/, "", point)
	sub(/^[^.]*\./, "", path)
	if (path == "series" || path == "label")
		said[point, path] = is
	if (path !~ /^quantities\[[0-9]+\]\./)
		next
	field = path
	sub(/^[^.]*\./, "", field)
	if (field == "name")
		name = is
	if (field == "of") {
		quantity = name ":" is
		key = said[point, "series"] " " said[point, "label"] " " quantity
	}
	if (field == "value" || field == "low" || field == "high")
		at[result, key, field] = is
	if (field == "samples[0]") { # what has none is not measured
		quantity_of[key] = quantity
		has[result, key] = 1
	}
}

END {
	for (key in quantity_of)
		for (a = 1; a <= result; a++)
			for (b = a + 1; b <= result; b++)
				if (has[a, key] && has[b, key])
					judge(a, b, key, quantity_of[key])
	for (name in nr) {
		printf "%-55s %5d pairs, overlap %5.1f %%, consistent %5.1f %%, median interval ±%.2g %%\n", name, nr[name],
			100 * overlap[name] / nr[name], 100 * consistent[name] / nr[name], 100 * median(name, nr_widths[name]) | "sort"
		nr_all += nr[name]
		overlap_all += overlap[name]
		consistent_all += consistent[name]
	}
	close("sort")
	for (i = 0; i < 5; i++) {
		most = ""
		for (key in apart)
			if (most == "" || apart[key] > apart[most])
				most = key
		if (most == "")
			break
		printf "  most apart: %s, %d pairs,", most, apart[most]
		for (a = 1; a <= result; a++)
			if (has[a, most])
				printf " %.4g", at[a, most, "value"]
		print ""
		delete apart[most]
	}
	if (nr_without)
		print nr_without " pairs without an interval"
	if (nr_all)
		printf "all: %d pairs, overlap %.1f %%, consistent %.1f %%\n", nr_all, 100 * overlap_all / nr_all, 100 * consistent_all / nr_all
	exit nr_all == 0 || overlap_all < 0.9 * nr_all
}' $(seq "$times")
