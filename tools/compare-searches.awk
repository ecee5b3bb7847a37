# SPDX-License-Identifier: MIT
# Judges the variants that two searches of the roof took, by what was measured of them.
#
#	awk -f compare-searches.awk OF_QUICK.csv OF_FULL.csv
#
# Each file is what "rot peaks --csv" printed, once or in several rounds. Of each peak the highest of its values counts, of
# latencies the lowest. Ends with 1 if a judged value of a quick search is below 97 % of the other one's (memory: 95 %).
#
# Judged is only what was measured of two variants under the same conditions, as far as these are known:
#
# - The same variant in both says how far apart the method puts the same code: noise.
# - Memory on several threads follows where the host has put the CPUs. Where any such row has that as its mode (near, far),
#   one without a mode is of either, and nobody tells which.
# - L3 on several threads does so too, and nobody looks (modes_of in driver/roof/modes.c).
# - L2 on several threads: runs on a shared core are left out, but whether another guest uses the L2 of one of them shows in
#   nothing but the rate. Variants are chosen on one thread, and judged there.
# - Performance and L1 on several threads are of cores of their own where they have no mode, and so comparable.
BEGIN {
	FS = ","
	SORT = "LC_ALL=C sort -n"
	JUDGED = 1
	SAME = 2
	OTHERS = 3
	titles[JUDGED] = "other variants:"
	titles[SAME] = "the same variant in both: not judged, but noise of the same code"
	titles[OTHERS] = "not comparable: not judged"
	columns[JUDGED] = "of at least"
	columns[OTHERS] = "why"
	NO_MODE = "near or far: without a mode it is of whichever was met"
	THREADS_OF_L2 = "only the rate tells whether others used one of the two; judged on one thread"
	THREADS_OF_L3 = "nobody tells whether they have one in common; judged on one thread"
	ONE_ONLY = "one search only met it"
}

function better(kind, a, b)
{
	return kind == "latency" ? a < b : a > b
}

function precision_of(operation)
{
	return operation == "singlePrecisionFlop" ? "single" : operation == "doublePrecisionFlop" ? "double" : ""
}

# Why a row of a peak says nothing about its variants; "": nothing is known that speaks against it.
function obstacle(key)
{
	if (!((1, key) in best) || !((2, key) in best))
		return ONE_ONLY
	if (threads[key] < 2)
		return ""
	if (border[key] == "l2l3")
		return THREADS_OF_L3
	if (border[key] == "l1l2")
		return THREADS_OF_L2
	if (border[key] == "llcRam" && mode[key] == "" && threads[key] in is_placed)
		return NO_MODE
	return ""
}

function share_of(key)
{
	return 100 * (kind[key] == "latency" ? best[2, key] / best[1, key] : best[1, key] / best[2, key])
}

# The value with a width, or a dash where there is none.
function number(which, key)
{
	return (which, key) in best ? sprintf("%10.4g", best[which, key]) : sprintf("%10s", "-")
}

function without_end(line)
{
	sub(/ +$/, "", line)
	return line
}

function line_of(key,  share)
{
	share = (1, key) in best && (2, key) in best ? sprintf("%.1f", share_of(key)) : "-"
	return without_end(sprintf("%8s  %s %s %s  %s", share, words[key], number(1, key), number(2, key), remark[key]))
}

# Sets the group of a peak, and what is said beside it.
function judge(key,  enough)
{
	remark[key] = obstacle(key)
	group[key] = remark[key] != "" ? OTHERS : variant[1, key] == variant[2, key] ? SAME : JUDGED
	nr[group[key]]++
	if (group[key] != JUDGED)
		return
	enough = border[key] == "llcRam" ? 95 : 97
	remark[key] = enough
	if (share_of(key) < enough) {
		remark[key] = enough " BELOW"
		nr_below++
	}
}

# The worst first, below a title.
function print_group(wanted,  key)
{
	if (!nr[wanted])
		return
	print titles[wanted]
	print without_end(sprintf("%8s  %-25s %-9s %-8s %7s %-6s %10s %10s  %s", "quick %", "peak", "precision", "set", "threads",
		"mode", "of quick", "of full", columns[wanted]))
	fflush()
	for (key in group)
		if (group[key] == wanted)
			print line_of(key) | SORT
	close(SORT)
}

FNR == 1 { which++ }
$1 == "kind" || $12 == "" { next }

{
	key = $1 FS $2 FS $3 FS $6 FS $7 FS $8
	words[key] = sprintf("%-25s %-9s %-8s %7s %-6s", $2, precision_of($3), $6, $7, $8)
	kind[key] = $1
	border[key] = $4
	threads[key] = $7
	mode[key] = $8
	if ($8 == "near" || $8 == "far")
		is_placed[$7]
	if (!((which, key) in best) || better($1, $12 + 0, best[which, key])) {
		best[which, key] = $12 + 0
		variant[which, key] = $9 FS $10
	}
}

END {
	for (key in kind)
		judge(key)
	for (i = JUDGED; i <= OTHERS; i++)
		print_group(i)
	exit nr_below > 0
}
