#!/bin/sh
# SPDX-License-Identifier: MIT
# What functions do, counted in translated code: exact for each, and all of them together are the whole.
. "$top_srcdir/tests/support/program.sh"
here=$top_builddir/tests/driver/programs
known=$here/known_functions
echo counting=blocks >>config/rot/config

needs_tracing

# counted ARGUMENT...: lines gets what is known of the program
counted()
{
	call run -q -j counts.json "$@"
	"$top_builddir/tests/json_lines" counts.json >lines
}

work_of="entries counts.instructions counts.scalarDouble counts.packedDouble counts.scalarInteger counts.loadedBytes counts.storedBytes"

# of KEY VALUE: what functions with that value did, added up: how often they were entered, instructions, operations (scalar,
# packed, integer), bytes loaded and stored
of()
{
	# shellcheck disable=SC2086
	of_functions counts.json "$1" "$2" $work_of
}

# is_exact WHAT KEY VALUE COUNTS
is_exact()
{
	out=$(of "$2" "$3")
	[ "$out" = "$4" ]
	result=$?
	err="of $3 $4 was expected"
	check "$1: $3"
}

# are_exact WHAT TIMES [KEY TRIAD POLY VECTORS CHASE COUNT_DOWN]: all functions were called so often
are_exact()
{
	what=$1 times=$2 key=${3:-function}
	if [ $# -gt 2 ]; then shift 3; else set -- triad poly vectors chase count_down; fi
	is_exact "$what" "$key" "$1" "$times $((times * 700002)) $((times * 200000)) 0 $((times * 100000)) $((times * 1600008)) $((times * 800000))"
	is_exact "$what" "$key" "$2" "$times $((times * 400002)) $((times * 200000)) 0 $((times * 100000)) $((times * 8)) 0"
	is_exact "$what" "$key" "$3" "$times $((times * 400002)) 0 $((times * 400000)) $((times * 100000)) $((times * 8)) 0"
	is_exact "$what" "$key" "$4" "$times $((times * 300002)) 0 0 $((times * 100000)) $((times * 800008)) 0"
	is_exact "$what" "$key" "$5" "$times $((times * 200002)) 0 0 $((times * 100000)) $((times * 8)) 0"
}

# are_all WHAT: functions and what is none of them are what the threads did
are_all()
{
	out=$(awk '
		{ at = index($0, " = "); name = substr($0, 1, at - 1); value = substr($0, at + 3) }
		match(name, /\.counts\./) { of = substr(name, RSTART + RLENGTH) }
		name ~ /^functions\.(functions|others)\[[0-9]*\]\.counts\./ { parts[of] += value }
		name ~ /^runs\[[0-9]*\]\.threads\[[0-9]*\]\.counts\./ { whole[of] += value; nr++ }
		END {
			for (of in whole)
				if (whole[of] != parts[of])
					print of ": " parts[of] " of " whole[of]
			if (!nr || whole["instructions"] == 0)
				print "nothing was counted"
		}' lines)
	[ -z "$out" ]
	check "$1: the parts are the whole"
}

counted "$known" once
are_exact "of one thread" 1
are_all "of one thread"

# All lines that it stores to come from memory once, and one or two of other data. What computes in registers reads none.
# Few lines are of no known code: those of instructions that are not translated.
out="$(of_functions counts.json function triad counts.l1Fills counts.memoryReads) $(of_functions counts.json function poly counts.memoryReads) \
$(of_functions counts.json object '[unknown]' counts.l1Fills)"
echo "$out" | awk '{exit !($1 >= 12500 && $1 <= 12503 && $2 >= 12500 && $2 <= 12503 && $3 == 0 && $4 < 500)}'
check "lines of caches"

addresses=$(for name in triad poly vectors chase count_down; do of_functions counts.json function $name address; done)

counted "$known" threads
are_exact "of 4 threads" 4
are_all "of 4 threads"

counted "$known" child
are_exact "of a process, its fork and a program that this executes" 3
are_all "of processes"

# How often a signal has come is not known; it calls no other function.
counted "$known" signals
rounds=$(of function poly | awk '{print $1}')
is_exact "between signals" function poly "$rounds $((rounds * 400002)) $((rounds * 200000)) 0 $((rounds * 100000)) $((rounds * 8)) 0"
is_exact "between signals" function chase "$rounds $((rounds * 300002)) 0 0 $((rounds * 100000)) $((rounds * 800008)) 0"
are_all "between signals"

# What stood at an address before it was used for other code.
counted "$known" reused
is_exact "of code that was made, and replaced" object '[anonymous]' "0 600004 0 400000 200000 16 0"
are_all "of code that was made"
counted "$known" unloaded "$here/known_shares_library.so"
out="$(of function library_single | awk '{print $1, $5}') $(of object '[anonymous]' | awk '{print $2, $5}')"
[ "$out" = "1 1000000 200002 100000" ]
check "of a library that was unloaded, and of code that was made where it was"
are_all "of a library that was unloaded"

# A stripped copy has the same code at the same addresses.
counted "$here/known_functions_stripped" once
# shellcheck disable=SC2086
are_exact "without symbols" 1 address $addresses
are_all "without symbols"

# All operations of a library are its own: 2 n^3 of a product of matrices, and some for each element.
counted "$known" dgemm libopenblas.so.0
object=$(sed -n 's/^functions\.functions\[[0-9]*\]\.object = \(.*openblas.*\)/\1/p' lines | head -n 1)
if [ -n "$object" ]; then
	out=$(of_functions counts.json object "$object" counts.scalarDouble counts.packedDouble)
	echo "$out" | awk '{n = 64; exit !($1 + $2 >= 2 * n ^ 3 && $1 + $2 <= 2 * n ^ 3 + 20 * n ^ 2)}'
	check "operations of $object"
	are_all "of a library that computes"
fi

exit $((nr_failed != 0))
