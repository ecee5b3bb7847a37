#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the time goes by loop and by line: turns and counts are exact, all parts of a function together are the function.
. "$top_srcdir/tests/support/program.sh"
here=$top_builddir/tests/driver/programs
known=$here/known_loops
echo counting=blocks >>config/rot/config

needs_tracing

# loops KEY VALUE: of the loops of such a function, by header: depth, turns and entries, instructions and operations
loops()
{
	"$top_builddir/tests/json_lines" loops.json | awk -v key="$1" -v value="$2" '
		match($0, /^functions\.loops\[[0-9]*\]\./) {
			loop = substr($0, 1, RLENGTH)
			line = substr($0, RLENGTH + 1)
			at = index(line, " = ")
			values[loop substr(line, 1, at - 1)] = substr(line, at + 3)
			loops[loop]
		}
		END {
			for (l in loops)
				if (values[l key] == value && values[l "object"] ~ /known_/)
					printf "%s %.0f: %.0f/%.0f %.0f %.0f,\n", values[l "header"], values[l "depth"], values[l "turns"],
						values[l "entries"], values[l "counts.instructions"], values[l "counts.scalarDouble"]
		}' | sort -n | sed 's/[^ ]* //' | tr '\n' ' '
}

# are_exact WHAT TIMES KEY PRODUCT TWO_LOOPS
are_exact()
{
	n=$2
	out=$(loops "$3" "$4")
	err="0: 0/0 $((2 * n)) 0, 1: $((4 * n))/$n $((12 * n)) 0, 2: $((16 * n))/$((4 * n)) $((48 * n)) 0, \
3: $((64 * n))/$((16 * n)) $((192 * n)) 0, 4: $((384 * n))/$((64 * n)) $((1152 * n)) 0, \
5: $((2304 * n))/$((384 * n)) $((6912 * n)) 0, 6: $((13824 * n))/$((2304 * n)) $((96768 * n)) $((27648 * n)), "
	[ "$out" = "$err" ]
	check "$1: six loops"
	out=$(loops "$3" "$5")
	err="0: 0/0 $((3 * n)) 0, 1: $((10 * n))/$n $((40 * n)) 0, 2: $((50 * n))/$((10 * n)) $((140 * n)) 0, 1: $((40 * n))/$n $((160 * n)) 0, "
	[ "$out" = "$err" ]
	check "$1: a loop that is entered in its middle, and one behind it"
}

# are_all WHAT loops|lines: parts of each function together have its samples and counts
are_all()
{
	out=$("$top_builddir/tests/json_lines" loops.json | awk -v parts="$2" '
		{ at = index($0, " = "); name = substr($0, 1, at - 1); value = substr($0, at + 3) }
		match(name, /^functions\.(functions|loops|lines)\[[0-9]*\]\./) {
			item = substr(name, 1, RLENGTH)
			values[item, substr(name, RLENGTH + 1)] = value
			items[item]
		}
		END {
			for (item in items) {
				is_part = index(item, parts) == 11
				at = values[item, is_part ? "functionAddress" : "address"]
				key = values[item, "object"] " " at " " values[item, "function"]
				nr = split("samples counts.instructions counts.loadedBytes counts.storedBytes counts.l1Fills counts.scalarDouble", of)
				for (i = 1; i <= nr; i++)
					if (is_part) {
						sums[key, of[i]] += values[item, of[i]]
						are_there[key]
					} else if (index(item, "functions.functions") == 1) {
						wholes[key, of[i]] = values[item, of[i]]
					}
			}
			for (key in are_there) {
				nr_found++
				for (i = 1; i <= nr; i++)
					if (sums[key, of[i]] != wholes[key, of[i]])
						print key, of[i], sums[key, of[i]], "of", wholes[key, of[i]]
			}
			if (nr_found < 10)
				print "few functions have parts"
		}')
	[ -z "$out" ]
	check "$1: the parts are the whole"
}

call run -q --all -j loops.json "$known" counts
are_exact "of one thread" 1 function product two_loops
are_all "of one thread" loops

product=$(of_functions loops.json function product address) two_loops=$(of_functions loops.json function two_loops address)

call run -q --all -j loops.json "$known" threads
are_exact "of 2 threads" 2 function product two_loops
are_all "of 2 threads" loops
call run -q --all -j loops.json "$here/known_loops_stripped" counts
are_exact "without symbols" 1 functionAddress "$product" "$two_loops"

# ---- turns of each entry, by powers of two ----
call run -q --all --by=loop -j loops.json "$known" threads
are_exact "with the turns of each entry" 2 function product two_loops
# trips_of FUNCTION TURNS: of its loop with so many turns
trips_of()
{
	"$top_builddir/tests/json_lines" loops.json | awk -v function_name="$1" -v turns="$2" '
		match($0, /^functions\.loops\[[0-9]*\]\./) { loop = substr($0, 1, RLENGTH); line = substr($0, RLENGTH + 1) }
		line == "function = " function_name { is_of[loop] }
		line == "turns = " turns { is_of_turns[loop] }
		line ~ /^trips\[/ { sub(/.* = /, "", line); trips[loop] = trips[loop] line " " }
		END { for (loop in is_of) if (loop in is_of_turns) print trips[loop] }'
}
out=$(trips_of rising 110) err="2 4 8 6 was expected"
[ "$out" = "2 4 8 6 " ]
check "an inner loop of 1 to 10 turns"
out=$(trips_of rising 20) err="0 0 0 2 was expected"
[ "$out" = "0 0 0 2 " ]
check "the loop around it"
out=$(trips_of product 27648) err="0 0 4608 was expected"
[ "$out" = "0 0 4608 " ]
check "a loop of 6 turns"
out=$(trips_of joining 40) err="an empty line was expected"
[ "$("$top_builddir/tests/json_lines" loops.json | grep -c ' = joining$')" -gt 0 ] && [ -z "$out" ]
check "a loop whose last block is counted with others, too"

# nr_divided: how many functions with loops have a sample or 0.1 % of the instructions, and how many have less
nr_divided()
{
	"$top_builddir/tests/json_lines" loops.json | awk '
		{ at = index($0, " = "); name = substr($0, 1, at - 1); value = substr($0, at + 3) }
		match(name, /^functions\.[a-z]*\[[0-9]*\]\./) {
			item = substr(name, 1, RLENGTH)
			values[item, substr(name, RLENGTH + 1)] = value
			items[item]
		}
		END {
			for (item in items)
				if (item !~ /loops/)
					all += values[item, "counts.instructions"]
			for (item in items)
				if (item ~ /functions\.functions/)
					is_large[values[item, "object"], values[item, "address"]] = \
						values[item, "samples"] + 0 > 0 || values[item, "counts.instructions"] + 0 >= 0.001 * all
			for (item in items) {
				key = values[item, "object"] SUBSEP values[item, "functionAddress"]
				if (item ~ /loops/ && !(key in found)) {
					found[key]
					is_large[key] ? nr_large++ : nr_small++
				}
			}
			print nr_large + 0, nr_small + 0
		}'
}

call run -q --all -j loops.json "$known" counts
all=$(nr_divided)
call run -q -j loops.json "$known" counts
out=$(nr_divided) err="all: $all"
[ "${out#* }" = 0 ] && [ "${all#* }" -gt 0 ] && [ "${out% *}" -gt 1 ]
check "functions with few instructions have no loops, unless all are asked for"

# Signals come in the middle of blocks: what was executed of them is counted in its part.
for by in function loop; do
	call run -q --all --by=$by -j loops.json "$here/known_functions" signals
	out=$(loops function poly | sed 's/.* 1: \([0-9]*\)\/\([0-9]*\) \([0-9]*\).*/\1 \2 \3/')
	err="100000 turns of 4 instructions in each entry were expected"
	echo "$out" | awk '{exit !($2 >= 20 && $1 == 100000 * $2 && $3 == 4 * $1)}'
	check "between signals, by $by"
	are_all "between signals, by $by" loops
done

# ---- source lines ----
call run -q --all -j loops.json --by=line "$known" shares 5
out=$(of_functions loops.json function triple entries) err="5 was expected"
[ "$out" = 5 ]
check "turns of a loop that begins with its function are no calls of it"
are_all "by line" lines
are_all "by loop, with lines" loops
lines=$(grep -n 'the loop of main' "$top_srcdir/tests/driver/programs/known_loops.c")
lines=${lines%%:*}
"$top_builddir/tests/json_lines" loops.json | awk -v line="$lines" '
	match($0, /^functions\.(loops|lines)\[[0-9]*\]\./) { item = substr($0, 1, RLENGTH); key = substr($0, RLENGTH + 1) }
	key == "function = main" { are_main[item] }
	key == "source = known_loops.c" { are_there[item] }
	sub(/^line = /, "", key) { first[item] = key }
	sub(/^lastLine = /, "", key) { last[item] = key }
	END {
		for (item in are_there)
			if (item in are_main && first[item] == line && last[item] == line + 1 && item ~ /loops/)
				nr_loops++
			else if (item in are_main && first[item] == line + 1 && last[item] == line + 1 && item ~ /lines/)
				nr_lines++
		exit !(nr_loops == 1 && nr_lines == 1)
	}'
result=$?
out=$(grep -c . loops.json) err="the loop of main is on lines $lines and $((lines + 1))"
check "where a loop is in the source"

# ---- time ----
# A busy machine takes samples away, of both alike; few of them vary, so runs are added up until they do.
call run -q -counting=expected -j loops.json --functions=1 true
"$top_builddir/tests/json_lines" loops.json >lines
if grep -q 'functions\.refusal = .' lines; then
	echo "skipped: $(grep 'functions\.refusal' lines)"
else
	result=1
	for runs in 1 2 4 8 16 32; do
		call run -q -counting=expected -j loops.json --runs=$runs "$known" shares
		out=$("$top_builddir/tests/json_lines" loops.json | awk '
			match($0, /^functions\.loops\[[0-9]*\]\./) { item = substr($0, 1, RLENGTH); key = substr($0, RLENGTH + 1) }
			key == "function = triple" { are_triple[item] }
			sub(/^header = /, "", key) { headers[item] = key }
			sub(/^samples = /, "", key) { samples[item] = key }
			END {
				for (item in are_triple)
					if (headers[item] > 0)
						print headers[item], samples[item]
			}' | sort -n | awk '{printf "%s ", $2}')
		echo "$out" | awk '{exit !($2 > 10 && $1 > 2 * $2 && $1 < 4.5 * $2)}' && result=0 && break
	done
	check "two loops of a function take 3 : 1"
fi

exit $((nr_failed != 0))
