#!/bin/sh
# SPDX-License-Identifier: MIT
# Misses by function, loop, object and thread, conflicts with the padding that cures them, and false sharing, of a program
# that has them by construction; and without symbols.
. "$top_srcdir/tests/support/program.sh"
data=$top_builddir/tests/driver/programs/data_objects
# A page measures the roof first, which costs more than all runs here.
echo findPeaks=false >>config/rot/config

needs_blocks

# misses_of FILE LIST NAME KEY: of the first level, of what has a name that matches
misses_of()
{
	"$top_builddir/tests/json_lines" "$1" | awk -v list="$2" -v name="$3" -v key="levels[0].$4" '
		index($0, "missesBy." list "[") == 1 {
			sub(/^[^\[]*/, "")
			item = substr($0, 1, index($0, "]"))
			rest = substr($0, index($0, "]") + 2)
			at = index(rest, " = ")
			if (substr(rest, 1, at - 1) == "name" && substr(rest, at + 3) ~ name)
				found[item]
			if (substr(rest, 1, at - 1) == key)
				values[item] = substr(rest, at + 3)
		}
		END { for (item in found) { print values[item]; exit } }'
}

# codes FILE: of the findings about data
codes()
{
	"$top_builddir/tests/json_lines" "$1" | awk '
		/^findings\[[0-9]*\]\.about = data/ { is_of_data = 1 }
		/^findings\[[0-9]*\]\.code = / { if (is_of_data) printf "%s ", $3; is_of_data = 0 }'
}

run_data()
{
	file=$1
	shift
	call run --counts-only -caches=32K:8,512K:8,4M:16 --by=object -j "$file" "$@"
}

# 64 rows of 4096 bytes are in one set of 8 lines: each of 51200 uses of a table is a miss, the first of each row compulsory.
run_data rows.json "$data" columns 4096
[ "$(misses_of rows.json objects '^table$' conflict)" -gt 51000 ] && [ "$(misses_of rows.json objects '^table$' compulsory)" = 64 ] &&
	[ "$(misses_of rows.json objects '^aligned_alloc in make_rows [(]data_objects.c:[0-9]*[)]$' conflict)" -gt 51000 ] &&
	[ "$(misses_of rows.json functions '^columns$' conflict)" -gt 102000 ]
result=$?
check "misses of a variable, an allocation, and a function"

# Of its three loops the innermost one has all misses but some; what sets them up is in none.
"$top_builddir/tests/json_lines" rows.json >lines.txt
loop=$(sed -n 's/^missesBy[.]loops\[\([0-9]*\)\][.]name = columns:[0-9]*-*[0-9]*$/\1/p' lines.txt | head -1)
[ "$loop" = 0 ] && [ "$(value_of rows.json 'missesBy.loops[0].levels[0].conflict')" -gt 102000 ]
result=$?
check "misses of a loop"
# What the loops of each function have together is what the function has.
awk -F ' = ' '
	match($1, /^missesBy[.](functions|loops)\[/) {
		list = substr($1, 10, RLENGTH - 10)
		if ($1 ~ /[.]levels\[[0-9]*\][.](compulsory|capacity|conflict|writeBacks)$/) sums[list, substr($1, index($1, ".levels"))] += $2
	}
	END {
		for (key in sums) {
			split(key, parts, SUBSEP)
			if (sums["functions", parts[2]] != sums["loops", parts[2]]) { print key; exit 1 }
			nr++
		}
		exit nr < 24
	}' lines.txt
result=$?
check "loops have what functions have"

[ "$(codes rows.json)" = 'conflicts ' ] && [ "$(value_of rows.json 'missConflicts[0].function')" = columns ] &&
	[ "$(value_of rows.json 'missConflicts[0].stride')" = 4096 ] && [ "$(value_of rows.json 'missConflicts[0].sets')" = 1 ] &&
	[ "$(value_of rows.json 'missConflicts[0].padded')" = 4160 ] && [ "$(value_of rows.json 'missConflicts[0].paddedSets')" -ge 60 ]
result=$?
check "rows that meet in a set, and a padding"
case $(echo "$err" | tr -s ' \n' ' ') in *'columns: steps of 4096 bytes through '*'fall into 1 of 64 sets'*'with steps of 4160 bytes the modelled L1 reads each line once'*) result=0 ;; *) result=1 ;; esac
check "the finding of the conflict"

call run -q --miss-kinds -caches=32K:8,512K:8,4M:16 -o paged -plots=html "$data" columns 4096
sed 's/<[^>]*>/|/g' paged.html | tr -s '|\n' '|' >page.txt
case $(cat page.txt) in *'|Why lines were missing in the modelled caches|cache|misses|'*'|function|misses of the L1|'*'|columns|'*'|loop|'*'|columns:'*'|object|'*'|table|'*'|thread|'*'|thread 1|'*) result=0 ;; *) result=1 ;; esac
check "the page has misses by function, loop, object and thread"

run_data padded.json "$data" columns "$(value_of rows.json 'missConflicts[0].padded')"
[ -z "$(codes padded.json)" ] && [ "$(misses_of padded.json objects '^table$' conflict)" -lt 640 ]
result=$?
check "rows with that padding have none"

run_data shared.json "$data" threads 8
[ "$(codes shared.json)" = 'falseSharing ' ] && [ "$(value_of shared.json 'falseSharing[0].accesses')" -gt 100000 ] &&
	[ "$(value_of shared.json 'falseSharing[0].thread')$(value_of shared.json 'falseSharing[0].otherThread')" = 23 ]
result=$?
check "false sharing"
# Of two threads that are created, the second may begin first.
offsets="$(value_of shared.json 'falseSharing[0].offset') $(value_of shared.json 'falseSharing[0].otherOffset')"
case "$(value_of shared.json 'falseSharing[0].data'), $offsets" in 'aligned_alloc in make_rows '*', 0 8' | 'aligned_alloc in make_rows '*', 8 0') result=0 ;; *) result=1 ;; esac
check "its object, and where in it"

run_data far.json "$data" threads 64
[ -z "$(codes far.json)" ] && [ -z "$(value_of far.json 'falseSharing[0].data')" ]
result=$?
check "other lines are not shared"
run_data true.json "$data" threads 0
[ -z "$(codes true.json)" ] && [ -z "$(value_of true.json 'falseSharing[0].data')" ]
result=$?
check "the same bytes are not shared falsely"

call run --counts-only --miss-kinds -caches=32K:8,512K:8,4M:16 --by=loop "$data" columns 4096
case $(echo "$err" | tr -s ' \n' ' ') in *' loop L1 misses capacity conflict MB of memory columns:'*) result=0 ;; *) result=1 ;; esac
check "the table of loops"
call run --counts-only -caches=32K:8,512K:8,4M:16 --by=thread -j threads.json "$data" threads 8
case $err in *'  thread 1 '*'  thread 3 '*) result=0 ;; *) result=1 ;; esac
check "misses by thread"

# The return addresses of two callers end in the same 16 bits.
run_data callers.json "$data" callers 1048576
for name in first_caller second_caller 'deep_caller [(]data_objects.c:[0-9]*[)]'; do
	[ "$(misses_of callers.json objects "^malloc in $name\$" compulsory)" -gt 16000 ]
	result=$?
	check "memory of $name"
done

# The thread that writes ends first.
run_data late.json "$data" late 1048576
[ "$(misses_of late.json objects '^malloc in allocate_late ' compulsory)" -gt 64000 ]
result=$?
check "memory that a thread got from another one"

# Another program has the same code at the same addresses, with another name.
LC_ALL=C sed 's/make_rows/made_rows/g' "$data" >renamed && chmod +x renamed
run_data execed.json "$data" columns 4096 ./renamed columns 4096
for name in make_rows made_rows; do
	[ "$(misses_of execed.json objects "^aligned_alloc in $name " conflict)" -gt 51000 ]
	result=$?
	check "memory of $name"
done

if strip -o stripped "$data" 2>"$work/err"; then
	run_data stripped.json ./stripped columns 4096
	[ "$(misses_of stripped.json objects '^[.]bss of stripped$' conflict)" -gt 51000 ] &&
		[ "$(misses_of stripped.json objects '^aligned_alloc in stripped[+]0x' conflict)" -gt 51000 ] &&
		[ "$(value_of stripped.json 'missConflicts[0].padded')" = 4160 ]
	result=$?
	check "objects of a stripped program"
	case $(value_of stripped.json 'missesBy.loops[0].name') in 'stripped+0x'*'+0x'*'..0x'*) result=0 ;; *) result=1 ;; esac
	check "loops of a stripped program"
	run_data stripped.json ./stripped threads 8
	[ "$(codes stripped.json)" = 'falseSharing ' ]
	result=$?
	check "false sharing of a stripped program"
fi

call run --by=object -caches=none true
[ "$status" = 2 ]
result=$?
check "no objects without caches"
exit $((nr_failed != 0))
