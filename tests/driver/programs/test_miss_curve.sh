#!/bin/sh
# SPDX-License-Identifier: MIT
# Misses at every capacity: beside modelled caches of the same program, from sampled lines, and as a plot. Misses by kind, of
# a TLB, and what another model of caches counts.
. "$top_srcdir/tests/support/program.sh"
triads=$top_builddir/tests/driver/programs/triads

needs_blocks

# between VALUE LEAST MOST
between()
{
	[ -n "$1" ] && [ "${1%.*}" -ge "$2" ] && [ "${1%.*}" -le "$3" ]
}

# Capacities 12, 32 and 40 are 32 KiB, 1 MiB and 4 MiB.
call run --counts-only --miss-curve -caches=32K:512,16M:16 -j curve.json "$triads"
[ "$(value_of curve.json 'missCurve.capacities[12].capacity')" = 32768 ] &&
	[ "$(value_of curve.json 'missCurve.capacities[12].misses')" = "$(value_of curve.json counts.l1Fills)" ] &&
	[ "$(value_of curve.json 'missCurve.capacities[12].writeBacks')" = "$(value_of curve.json counts.l1WriteBacks)" ]
result=$?
check "a capacity is a modelled cache of that size"

# Three arrays of 8192 lines, ten times.
between "$(value_of curve.json 'missCurve.capacities[32].misses')" 245760 255000 &&
	between "$(value_of curve.json 'missCurve.capacities[40].misses')" 24576 30000 &&
	between "$(value_of curve.json 'missCurve.workingSets[0]')" 1572864 1900000 &&
	[ -z "$(value_of curve.json 'missCurve.workingSets[1]')" ]
result=$?
check "arrays are read each time, or once"
case $err in *"working sets: 1.682 MiB"*) result=0 ;; *) result=1 ;; esac
check "the table names the working set"
case $err in *" half the last level"*) result=0 ;; *) result=1 ;; esac
check "and what is as large as caches of this machine"

call run --counts-only --miss-curve -caches=none -cacheSampling=8 -j sampled.json "$triads" 600
between "$(value_of sampled.json 'missCurve.capacities[32].misses')" 14600000 14900000 &&
	between "$(value_of sampled.json 'missCurve.capacities[40].misses')" 20000 32000 &&
	[ "$(value_of sampled.json missCurve.isSampled)" = true ]
result=$?
check "sampled lines stand for all"
case $err in *"in which all were followed say that they are off by at most "*" of the uses of lines"*) result=0 ;; *) result=1 ;; esac
check "how far off they are is told"

# Three arrays of 128 pages, ten times, and some pages of the start: each time if fewer fit, else once, and few huge pages.
for row in 64:3840:4300 512:384:800 64:full:2M:3:60 128:4:2M:3:60; do
	least=${row%:*} tlb=${row%:*:*}
	call run --counts-only -caches=none "-tlb=$tlb" -j tlb.json "$triads"
	between "$(value_of tlb.json counts.tlbMisses)" "${least##*:}" "${row##*:}"
	result=$?
	check "a TLB of $tlb"
done
call run --counts-only -caches=none -j tlb.json "$triads"
[ "$status" = 0 ] && [ -z "$(value_of tlb.json counts.tlbMisses)" ]
result=$?
check "no TLB unless it is named"

# Where there is one set, there are no conflicts.
call run --counts-only --miss-kinds -caches=32K:512,4M:4 -j kinds.json "$triads"
kinds=0
for kind in compulsory capacity conflict; do
	kinds=$((kinds + $(value_of kinds.json "missKinds[0].$kind")))
done
[ "$kinds" = "$(value_of kinds.json counts.l1Fills)" ] && [ "$(value_of kinds.json 'missKinds[0].conflict')" = 0 ] &&
	between "$(value_of kinds.json 'missKinds[1].compulsory')" 24576 30000
result=$?
check "misses by kind"
case $err in *"why lines were missing"*) result=0 ;; *) result=1 ;; esac
check "the table of kinds"

# Curves of objects, functions and threads are parts of the whole: an array is read each time, or once.
call run --counts-only --miss-curve --by=object -caches=32K:512,4M:4 -j parts.json "$triads"
for parts in objects functions loops threads; do
	for capacity in 12 32 40; do
		"$top_builddir/tests/json_lines" parts.json | awk -v parts="^missesBy[.]$parts.*[.]curve.$capacity. = " \
			-v whole="^missCurve.capacities.$capacity..misses = " '
			$0 ~ parts {sum += $3}
			$0 ~ whole {all = $3}
			END {print parts, sum, all; exit !(all > 0 && sum == all)}' >"$work/out"
		result=$? out=$(cat "$work/out")
		check "$parts at capacity $capacity are the whole"
	done
done
"$top_builddir/tests/json_lines" parts.json | awk '
	/^missesBy[.]objects.[0-9]+.[.]name = "?b"?$/ {split($1, path, "]"); b = path[1]}
	{value[$1] = $3}
	END {
		print b, value[b "].curve[32]"], value[b "].curve[40]"]
		exit !(value[b "].curve[32]"] == 81920 && value[b "].curve[40]"] == 8192)
	}' >"$work/out"
result=$? out=$(cat "$work/out")
check "an array by capacity"
case $err in *"fits into"*) result=0 ;; *) result=1 ;; esac
check "the table of capacities by object"
printf '%s\n' "$err" | awk '$1 == "b" && $2 == 81920 && $3 == 8192 && $4 == 8192 {found = 1} END {exit !found}'
result=$?
check "its columns are of the caches that are modelled"

# Regions of one of two threads that share a cache: what its functions read. Each walk reads all again where less fits, and
# all of it was written before.
call run --counts-only --miss-curve --miss-kinds --region=walk_all --region=walk_part --region=walk \
	-caches=32K:512,4M:4 -cacheSampling=8 -j regions.json "$top_builddir/tests/driver/programs/data_objects" walks 1048576
"$top_builddir/tests/json_lines" regions.json | awk '
	function near(a, b) {return a >= b && a <= b + 500}
	function of(name, i) {return value[region[name] i "]"]}
	/^missCurve[.]regions.[0-9]+.[.]region = / {split($1, path, "]"); region[$3] = path[1] "].misses["}
	/^missesBy[.]functions.[0-9]+.[.]name = / {split($1, path, "]"); code[$3] = path[1] "].curve["}
	{value[$1] = $3}
	END {
		for (i = 0; i < 73; i++) {
			all = of("walk_all", i)
			part = of("walk_part", i)
			if (!near(all, value[code["walk_all"] i "]"]) || !near(part, value[code["walk_part"] i "]"]) ||
			    all + part > of("walk", i) || of("walk", i) > value["missCurve.capacities[" i "].misses"])
				wrong = wrong " " i ":" all "," part
		}
		print wrong, of("walk_all", 12), of("walk_part", 12), of("walk_all", 72), of("walk_part", 72)
		exit wrong != "" || !near(of("walk_all", 12), 5 * 16384) || !near(of("walk_part", 12), 25 * 4096) ||
			of("walk_all", 72) > 50 || of("walk_part", 72) > 50
	}' >"$work/out"
result=$? out=$(cat "$work/out")
check "regions by capacity"
case $err in *"  region  "*"working sets"*) result=0 ;; *) result=1 ;; esac
check "the table of capacities by region"

call run --counts-only --miss-curve -caches=none -tlb=64 "$triads"
case $err in *"  TLB misses  "*"other values"*) result=0 ;; *) result=1 ;; esac
check "misses of a TLB that is named beside a curve"

call run --miss-kinds -caches=none true
[ "$status" = 2 ]
result=$?
check "no kinds without caches"

# Beside each other in one run: the same caches, half the lines of the second level (three arrays no longer fit), what holds
# all, and lines that are half as long behind none that are.
call run --counts-only --miss-curve -caches=32K:8,2M:16 --what-if=32K:8,2M:16 --what-if=l2=1M:16 --what-if=tlb=512 \
	--what-if=16K:8:32B,4M:16:32B -j what-ifs.json "$triads"
moved() # I BORDER
{
	value_of what-ifs.json "whatIfs[$1].borders[$2].readBytes"
}
[ "$(moved 0 0)" = "$(moved 1 0)" ] && [ "$(moved 0 1)" = "$(moved 1 1)" ] &&
	[ "$(moved 0 0)" = $((64 * $(value_of what-ifs.json counts.l1Fills))) ] &&
	[ "$(value_of what-ifs.json 'whatIfs[0].tlbMisses')" = "$(value_of what-ifs.json 'whatIfs[1].tlbMisses')" ]
result=$?
check "caches beside themselves"
between "$(moved 0 1)" 1572864 2000000 && between "$(moved 2 1)" 15728640 16500000 && [ "$(moved 0 0)" = "$(moved 2 0)" ]
result=$?
check "arrays that do not fit into what is smaller"
between "$(value_of what-ifs.json 'whatIfs[0].tlbMisses')" 3840 4300 && between "$(value_of what-ifs.json 'whatIfs[3].tlbMisses')" 384 800
result=$?
check "a TLB beside another"
between "$(moved 4 0)" 15728640 16500000 && between "$(value_of what-ifs.json 'whatIfs[4].borders[0].misses')" 491520 515000
result=$?
check "lines of 32 bytes"
between "$(value_of what-ifs.json 'missCurve.capacities[32].misses')" 245760 255000 &&
	[ "$(value_of what-ifs.json missCurve.lineBytes)" = 64 ]
result=$?
check "a curve is of the lines of -caches, whatever those of others are"

# Accesses are split by the lines of -caches, too.
splits_with() # OPTION...
{
	call run --counts-only -caches=32K:8,2M:16 "$@" -j splits.json "$top_builddir/tests/driver/programs/known_findings" \
		split 10000
	value_of splits.json counts.splitAccesses
}
least=$(splits_with)
between "$least" 10000 100000 && between "$(splits_with --what-if=16K:8:32B,4M:16:32B)" $((least - 1000)) $((least + 1000))
result=$?
check "split accesses are of the lines of -caches"

# Where little is written back twice. Code is in cachegrind's last level, too.
if valgrind --tool=none true 2>"$work/err"; then
	call run -q --counts-only -caches=32K:8,256K:8 -j counts.json "$triads" 100
	valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=grind --D1=32768,8,64 --LL=262144,8,64 "$triads" 100 \
		>"$work/out" 2>"$work/err"
	awk -v l1="$(value_of counts.json counts.l1Fills)" -v l2="$(value_of counts.json counts.l2Fills)" '
		/^events:/ {for (i = 2; i <= NF; i++) column[$i] = i}
		/^summary:/ {
			d1 = $column["D1mr"] + $column["D1mw"]
			last = $column["DLmr"] + $column["DLmw"]
		}
		END {
			printf "%d and %d of D1, %d and %d of LL\n", l1, d1, l2, last
			exit !(l1 > 0.995 * d1 && l1 < 1.005 * d1 && l2 > 0.995 * last && l2 < 1.005 * last)
		}' grind >"$work/out"
	result=$? out=$(cat "$work/out") err=$(cat "$work/err")
	check "what cachegrind counts"

	# Sorting on a heap shows that these rules differ. Each program finds by its own what the other counts.
	rules=$top_builddir/tests/driver/programs/cache_rules
	valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$rules" 9>&1 >/dev/null 2>&1 | "$rules" 8192 8 32768 8 >by-rules
	valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=grind --I1=8192,8,64 --D1=8192,8,64 \
		--LL=32768,8,64 "$rules" >"$work/out" 2>"$work/err"
	call run -q --counts-only -caches=8K:8,32K:8 -j counts.json "$rules"
	awk -v l1="$(value_of counts.json counts.l1Fills)" -v l2="$(value_of counts.json counts.l2Fills)" '
		function near(a, b, share) {return a > (1 - share) * b && a < (1 + share) * b}
		FILENAME == "by-rules" {d1 = $1; last = $2; rot1 = $3; rot2 = $4}
		/^events:/ {for (i = 2; i <= NF; i++) column[$i] = i}
		/^summary:/ {
			grind1 = $column["D1mr"] + $column["D1mw"]
			grind2 = $column["DLmr"] + $column["DLmw"]
		}
		END {
			printf "cachegrind: %d and %d, by its rules %d and %d; rot: %d and %d, by its rules %d and %d\n",
				grind1, grind2, d1, last, l1, l2, rot1, rot2
			exit !(near(d1, grind1, 0.001) && near(last, grind2, 0.001) && near(l1, rot1, 0.005) && near(l2, rot2, 0.005) &&
				!near(l2, grind2, 0.005))
		}' by-rules grind >"$work/out"
	result=$? out=$(cat "$work/out")
	check "what differs between cachegrind and rot are rules"
fi

if command -v gnuplot >/dev/null; then
	call run --miss-curve -findPeaks=false -o picture "$triads"
	[ -s picture-misses.svg ] && grep -q '^set label "last level"' picture-misses.gnuplot
	result=$?
	check "a plot with the sizes of the caches"
fi
exit $((nr_failed != 0))
