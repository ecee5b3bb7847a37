#!/bin/sh
# SPDX-License-Identifier: MIT
# Counting by blocks (counting=steps), from the command to the JSON: what the triad executes is known to the operation and the byte, and what crosses the borders of
# modelled caches to some lines.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

known='<quantity is="time"/><quantity is="operationCount:doublePrecisionFlop"/>' # by the definition, if it must be
all="$known"'
	<quantity is="instructions"/>
	<quantity is="operationCount:singlePrecisionFlop"/>
	<quantity is="transferredBytes:cpuL1.read"/>
	<quantity is="transferredBytes:cpuL1.write"/>
	<quantity is="transferredBytes:llcRam.read"/>
	<quantity is="performance:doublePrecisionFlop"/>
	<quantity is="contextSwitches"/>'

# controller NAME ATTRIBUTES QUANTITIES: triads of two sizes
controller()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="small triads" runs="4">
	<axis name="size"><list values="1000 4000"/></axis>
	<point series="Triad" label="{\$size}">
		<workload><kernel type="Triad" bufferSize="{\$size}" optimization="-O2 -fno-tree-vectorize" $2/></workload>
	</point>
	$3
</controller>
END
}

# value FILE LABEL NAME:OF KEY: of that quantity of the point
value()
{
	quantities "$1" | awk -F '\t' -v label="$2" -v of="$3" -v key="$4" '$2 == label && $3 == of && $4 == key {print $5}'
}

# equals WHAT FOUND WANTED [MORE]: the number, or up to MORE above it
equals()
{
	out="found $2, wanted $3${4:+ and at most $4 more}"
	awk -v found="$2" -v wanted="$3" -v more="${4:-0}" 'BEGIN {exit !(found != "" && found + 0 >= wanted && found + 0 <= wanted + more)}'
	check "$1"
}

controller cold '' "$all"
call measure ./cold.xml -counting=steps
case $err in
*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
esac
result=$status
check "rot measure -counting=steps"

for n in 1000 4000; do
	of() { value cold.json $n "$1" "${2:-value}"; }
	equals "$n: operations are exact" "$(of operationCount:doublePrecisionFlop)" $((2 * n))
	equals "$n: none of single precision" "$(of operationCount:singlePrecisionFlop)" 0
	equals "$n: loaded bytes, and a few of the call" "$(of transferredBytes:cpuL1.read)" $((16 * n)) 256
	equals "$n: stored bytes" "$(of transferredBytes:cpuL1.write)" $((8 * n)) 256
	equals "$n: lines of three buffers, and of the stack" "$(of transferredBytes:llcRam.read)" $((24 * n)) 1024
	equals "$n: instructions" "$(of instructions:)" $((4 * n)) $((4 * n))
	equals "$n: counts of two runs" "$(of operationCount:doublePrecisionFlop n)" 2
	equals "$n: times of as many as ever" "$(of time:microSeconds n)" 3 20
	equals "$n: and so rates" "$(of performance:doublePrecisionFlop n)" 3 20
	out=$(of operationCount:doublePrecisionFlop kind)/$(of transferredBytes:llcRam.read kind)/$(of operationCount:doublePrecisionFlop source)
	[ "$out" = 'measured/modelled/blocks' ]
	check "$n: labels"
	[ -z "$("$top_builddir/tests/json_lines" cold.json | grep stepsAgree)" ]
	check "$n: both runs execute the same"
done

# Nothing is measured again, whatever of it is asked for.
sed -e 's/name="cold"/name="again"/' -e 's/llcRam.read/l1l2/' "$work/cold.xml" >"$work/again.xml"
call measure --dry-run ./again.xml -counting=steps
case $status:$out in 0:*cached* | 0:*known* | 0:*nothing*) result=0 ;; *) result=1 ;; esac
check "another quantity of the same points is known"

# Warming is counted as well, and what it leaves in the modelled caches is there.
controller warm 'warmData="true" warmCode="true"' "$all"
call measure ./warm.xml -counting=steps
result=$status
check "warm data"
equals "operations of warm data" "$(value warm.json 1000 operationCount:doublePrecisionFlop value)" 2000
equals "lines of warm data" "$(value warm.json 1000 transferredBytes:llcRam.read value)" 0
equals "loaded bytes of warm data" "$(value warm.json 1000 transferredBytes:cpuL1.read value)" 16000 256
out=$(value warm.json 1000 transferredBytes:llcRam.read kind)
[ "$out" = modelled ]
check "bytes of warm data are modelled"

# What is expected to take too long is not counted.
controller few '' "$known"'
	<plot type="distribution" title="Triad" x="size" y="performance:doublePrecisionFlop"/>'

words='more instructions are expected than stepLimit allows'
call measure ./few.xml limited -counting=steps -stepLimit=7500
case $status:$err in 0:*"$words"*'labelled "expected"'*) result=0 ;; *) result=1 ;; esac
check "$words"
out=$(value limited.json 1000 operationCount:doublePrecisionFlop kind)/$(value limited.json 4000 operationCount:doublePrecisionFlop kind)
[ "$out" = measured/expected ]
check "the limit holds for the large point alone"
grep -q "operations of some points as the kernel's definition expects, not counted" limited.gnuplot
check "and the plot says so"
sed -e 's/name="few"/name="unknown"/' -e 's/<quantity is="time"/<quantity is="instructions"/' few.xml >unknown.xml
call measure ./unknown.xml -counting=steps -stepLimit=7500
case $status:$err in 1:*'size=4000: instructions cannot be counted'*"$words"*'nothing says what to expect'*) result=0 ;; *) result=1 ;; esac
check "what nobody expects is an error"

# Nothing is counted when nothing shall be.
call measure ./few.xml uncounted -counting=expected
out=$(value uncounted.json 1000 operationCount:doublePrecisionFlop kind)
[ "$status:$out" = 0:expected ]
check "counting=expected"
[ $nr_failed -eq 0 ]
