#!/bin/sh
# SPDX-License-Identifier: MIT
# The example of doc/RESULTS.md reads OUTPUT.csv.
. "$top_srcdir/tests/support/program.sh"
document=$top_srcdir/doc/RESULTS.md

cat >triad.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="triad" comment="" runs="2">
	<axis name="size"><list values="1000 2000"/></axis>
	<point series="Triad" label="{$size}"><workload><kernel type="Triad" bufferSize="{$size}"/></workload></point>
	<quantity is="time:microSeconds"/>
	<quantity is="performance:doublePrecisionFlop:microSeconds"/>
</controller>
END
call measure ./triad.xml -writeCsv -starts=1 -findPeaks=false
[ "$status" = 0 ] && [ "$(wc -l <triad.csv)" = 3 ]
check "a row a point, and one of names"

if command -v python3 >/dev/null; then
	sed -n '/^import csv$/,/^```/p' "$document" | sed '/^```/d' >example
	out=$(python3 example 2>err)
	status=$? err=$(cat err)
	[ "$status" = 0 ] && printf '%s\n' "$out" | grep -q '\<1000\>' && printf '%s\n' "$out" | grep -q '\<2000\>'
	check "read by Python"
else
	echo "not tried: there is no python3"
fi

# The CSV file of a program is named like the other results.
call run -q -writeCsv -j there.json true
[ "$status" = 0 ] && [ -s there.csv ]
check "beside -j FILE.json"
call run -q -writeCsv -j - true
case $err in *"no CSV is written"*) result=0 ;; *) result=1 ;; esac
check "on standard output there is room for one alone, which is told"

[ $nr_failed = 0 ]
