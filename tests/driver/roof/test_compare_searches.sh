#!/bin/sh
# SPDX-License-Identifier: MIT
# What tools/compare-searches.sh makes of what two searches found: values of an EPYC 9005 whose CPUs were near at times and far at
# others, in two rounds. Which variants the full search took is made up.
. "$top_srcdir/tests/support/program.sh"

golden=$top_srcdir/tests/driver/roof/golden
judge=$top_srcdir/tools/compare-searches.awk

# compare PATTERN: what is judged of the lines that match it
compare()
{
	for which in quick full; do
		grep -E "^kind|$1" "$golden/searches-$which.csv" >$which.csv
	done
	awk -f "$judge" quick.csv full.csv >out 2>err
	status=$?
	out=$(cat out)
	err=$(cat err)
}

# is_judged WHAT PATTERN STATUS GROUP: the only group must begin so
is_judged()
{
	compare "$2"
	[ "$status" = "$3" ] && [ "$(grep -c '^[a-z]' out)" = 1 ] && grep -q "^$4" out
	check "$1"
}

compare .
if [ "${GOLDEN-}" = write ]; then
	cp out "$golden/searches.txt"
fi
[ "$status" = 1 ] && diff "$golden/searches.txt" out
check "all peaks"
is_judged "below, on one thread" '^bandwidth,memory store,.*,1,,' 1 'other variants'
is_judged "high enough" '^performance,AVX-512 FMA.ADD,' 0 'other variants'
is_judged "near, which both met" '^bandwidth,memory load,.*,2,near,' 1 'other variants'
is_judged "without a mode, where nothing has one" '^bandwidth,memory load,.*,2,,' 0 'other variants'
is_judged "of another placement" '^bandwidth,memory store,.*,2,far,' 0 'not comparable'
is_judged "the same code" '^latency,L3 ' 0 'the same variant'
is_judged "whether an L3 is shared" '^bandwidth,L3 .*,2,,' 0 'not comparable'
is_judged "whether others use an L2" '^bandwidth,L2 update,.*,2,,' 0 'not comparable'

# Rows of one peak make those of another one incomparable.
compare '^bandwidth,memory (load2Store,|load,.*,2,near)'
[ "$status" = 1 ] && grep -q 'memory load2Store .*near or far' out
check "without a mode, where others have one"
[ $nr_failed -eq 0 ]
