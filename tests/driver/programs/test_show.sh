#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot show": what is beside each instruction is exact, all of them together are the function, and no other code is shown for it.
. "$top_srcdir/tests/support/program.sh"
here=$top_builddir/tests/driver/programs
known=$here/known_loops
echo counting=blocks >>config/rot/config
# A page measures the roof first, which costs more than all runs here.
[ -n "${ROT_SLOW_TESTS-}" ] || echo findPeaks=false >>config/rot/config

needs_tracing

# shows WHAT LINE...: each extended regular expression is a whole line of the output.
shows()
{
	what=$1
	shift
	result=0
	for line; do
		echo "$out" | grep -q -x -E -e "$line" || {
			echo "no line '$line'"
			result=1
		}
	done
	check "$what"
}

# ---- counts ----
call run -q -j loops.json "$known" counts
call show loops.json product
shows "the innermost loop" 'loop at \+0x22: .*13824 turns, entered 2304 times' \
	' *[0-9.<]* *13824 +8 .* \+0x22 movsd .*' ' *[0-9.<]* *13824 +1 +8 +\+0x26 mulsd .*' ' *[0-9.<]* *13824 +1 +8 +\+0x2a addsd .*' \
	' *[0-9.<]* *13824 +8 +\+0x2e movsd .*' ' *[0-9.<]* *13824 +\+0x36 jnz \+0x22'
shows "loops around it" ' *[0-9.<]* *2304 +\+0x38 dec r10d' ' *[0-9.<]* *384 +\+0x3d dec r9d' ' *[0-9.<]* *64 +\+0x42 dec r8d' \
	' *[0-9.<]* *16 +\+0x47 dec ecx' ' *[0-9.<]* *4 +\+0x4b dec eax' ' *[0-9.<]* *1 +\+0x0 mov eax, 0x4'
err=$out
out=$(echo "$err" | grep '^loop at' | sed 's/:.*//' | head -1)
[ "$out" = "loop at +0x22" ]
result=$?
check "the loop with most of it comes first"

# are_whole WHAT: instructions of each function together have its samples, and its counts where it has enough of all to be divided
are_whole()
{
	out=$("$top_builddir/tests/json_lines" loops.json | awk '
		{ at = index($0, " = "); name = substr($0, 1, at - 1); value = substr($0, at + 3) }
		match(name, /^functions\.functions\[[0-9]*\]\./) {
			item = substr(name, 1, RLENGTH)
			key = substr(name, RLENGTH + 1)
			values[item, key] = value
		}
		key ~ /^code\.events/ { events[item, nr_events[item]++] = value }
		key ~ /^code\.instructions/ {
			nr = split(value, numbers, " ")
			nr_rows[item]++
			samples[item] += numbers[2]
			for (i = 4; i <= nr; i++)
				sums[item, events[item, i - 4]] += numbers[i]
		}
		key ~ /^counts\./ { counts[item, substr(key, 8)] = value }
		END {
			for (pair in counts) {
				split(pair, of, SUBSEP)
				if (nr_events[of[1]] > 0 && sums[pair] + 0 != counts[pair] + 0)
					print of[1], of[2], sums[pair], "of", counts[pair]
			}
			for (item in nr_rows) {
				nr_found++
				if (samples[item] != values[item, "samples"])
					print item, samples[item], "samples of", values[item, "samples"]
			}
			if (nr_found == 0)
				print "no function has instructions"
		}')
	[ -z "$out" ]
	result=$?
	check "$1: the instructions are the function"
}
are_whole "of one thread"
mv loops.json counts.json
call run -q -j loops.json "$known" threads
call diff --all counts.json loops.json
echo "$out" | grep -A1 '^  product, known_loops' | grep -q 'flop: 27648 -> 55296, +100 %'
result=$?
check "what a function does is compared"
are_whole "of 2 threads"
call show loops.json product
shows "both together" ' *[0-9.<]* *27648 +1 +8 +\+0x2a addsd .*' ' *[0-9.<]* *8 +\+0x4b dec eax'
# Signals come in the middle of blocks.
call run -q -j loops.json "$here/known_functions" signals
are_whole "between signals"

# Long enough for samples.
call run -q -j loops.json "$known" shares 100
are_whole "with samples"
call show loops.json triple
shows "two loops one after the other" ' *[0-9.<]* *300000000 .* dec rdi' ' *[0-9.<]* *300000000 .* jnz .*' ' *[0-9.<]* *100000000 .* jnz .*'

# ---- source ----
call run -q -j loops.json "$known" lines
call show loops.json spin
shows "source lines" ' *[0-9]+ +left = left - 1;' ' *[0-9]+ +while \(left > 0\);' ' *[0-9.<]* *1000000 .* 8 .* mov .*'
call show --no-source loops.json spin
shows "the same instructions" ' *[0-9.<]* *1000000 .* 8 .* mov .*'
case $out in *"left = "*) result=1 ;; *) result=0 ;; esac
check "without source"
shows "what was not executed is left out" ' *\([0-9]+ instructions that were not executed\)'
nr_lines=$(echo "$out" | wc -l)
call show --all --no-source loops.json spin
[ "$(echo "$out" | wc -l)" -gt "$nr_lines" ] && echo "$out" | grep -q ' div ' && ! echo "$out" | grep -q 'not executed'
result=$?
check "unless all is asked for"

# ---- pages ----
# code_lines: source lines and instructions, with one blank between their cells
code_lines()
{
	sed 's/  */ /g; s/^ //; s/ $//' | grep -E '^[0-9.<].* \+0x|^[0-9]+ [^ +]'
}
call run -q -o paged -plots=html "$known" lines
call show paged.json spin
code_lines <out >shown
awk -v 'RS=<details' '/^[^>]*><summary>spin,/ { gsub(/<\/tr>/, "\n"); gsub(/<\/td>/, " "); gsub(/<[^>]*>/, ""); print }' paged.html |
	sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' | code_lines >paged
[ "$(wc -l <shown)" -gt 5 ] && diff shown paged
result=$?
check "a page has the same lines"

# Somebody may have edited a result: each instruction has 5 samples, and the function none.
sed -e 's|^\( *"samples": \)[0-9][0-9]*|\10|' -e 's|^\( *"[0-9][0-9]* \)[0-9][0-9]* |\15 |' loops.json >edited.json
call show edited.json spin
shows "a share that is not known" 'spin, known_loops.*: - of the CPU time, [0-9]+ samples' 'loop at .*: - of the time,.*' ' *- +1000000 .* 8 .* mov .*'
echo "$out" | grep -q -i -w -e nan -e inf && result=1 || result=0
check "no number that is none"

# ---- names ----
call show loops.json spni
is "another name" 1 "" "rot: 'loops.json' has no function 'spni'
     did you mean 'spin'? All of them: --functions=1000 of rot run"
awk '/^ "/ { is_within = /^ "functions"/ }
	!is_within || !/^   / { print; next }
	/^   \{/ { place = "" }
	{ place = place $0 "\n" }
	/^   \}/ {
		if (place ~ /"function": "spin"/)
			sub(/"inlined": ""/, "\"inlined\": \"halve\"", place)
		printf "%s", place
	}' loops.json >inlined.json
call show inlined.json halve
is "a function that is inlined" 1 "" "rot: 'inlined.json' has no function 'halve'
     it is inlined: rot show inlined.json spin"
call show inlined.json spin
shows "what is inlined in a loop" 'loop at .*, inlined halve: .*1000000 turns.*'
sed "s|\"object\": \".*known_loops\"|\"object\": \"[jit]\"|" loops.json >jit.json
call show jit.json spin
is "code that was made at run time" 1 "" "rot: 'spin' was made at run time: its code is in no file"
call show "$top_srcdir/tests/driver/experiments/result.json"
[ "$status" = 1 ] && [ -z "$out" ]
result=$?
check "a result without functions"

# ---- files ----
cp "$known" mine
call run -q -j mine.json ./mine counts
call show mine.json product
shows "a copy" ' *[0-9.<]* *4 +\+0x4b dec eax'
path=$(pwd -P)/mine
rm mine
call show mine.json product
is "a file that is gone" 1 "" "rot: cannot read the code of '$path': No such file or directory"
cp "$here/known_functions" mine
call show mine.json product
is "a file with other code" 1 "" "rot: '$path' has other code by now than when it was measured
     measure it again: rot run -o NAME PROGRAM"

# ---- pager ----
status=0
if has_terminals; then
	out=$(PAGER="sed s/^/paged:/" "$top_builddir/tests/at_terminal" "$rot" show loops.json spin 2>&1 | tr -d '\r')
	shows "at a terminal" 'paged:spin, known_loops.*'
	out=$(PAGER=cat "$top_builddir/tests/at_terminal" "$rot" show loops.json spin 2>&1 | tr -d '\r')
	shows "without a pager" 'spin, known_loops.*'
	out=$(PAGER="no such pager" "$top_builddir/tests/at_terminal" "$rot" show loops.json spin 2>&1 | tr -d '\r')
	shows "with one that is not there" 'spin, known_loops.*'
fi
out=$(PAGER="sed s/^/paged:/" "$rot" show loops.json spin)
shows "elsewhere" 'spin, known_loops.*'

exit $((nr_failed != 0))
