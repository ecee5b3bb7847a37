#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels with threads of their own, counted by steps: all are stepped, whether they are there before or made by the kernel, although each waits
# for the others.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# controller NAME KERNEL
controller()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="threads that wait for each other" runs="2">
	<axis name="threads"><list values="1 2 4"/></axis>
	<point series="$1" label="{\$threads}">
		<workload>$2</workload>
	</point>
	<quantity is="time"/>
	<quantity is="operationCount:doublePrecisionFlop"/>
</controller>
END
}

# values FILE KEY: of the operations of all points
values()
{
	quantities "$1" | awk -F '\t' -v key="$2" '$3 ~ /^operationCount:/ && $4 == key {printf "%s%s", separator, $5; separator = " "}'
}

# counts NAME KERNEL OPERATIONS
counts()
{
	controller "$1" "$2"
	call measure "./$1.xml" -counting=steps -findPeaks=false
	case $err in
	*"not trace"* | *ptrace_scope*) echo "SKIP: $err" >&2; exit 77 ;;
	esac
	result=$status
	check "$1: rot measure"
	out=$(values "$1.json" value)
	[ "$out" = "$3" ]
	check "$1: operations of all threads"
	out=$(values "$1.json" kind)
	[ "$out" = "measured measured measured" ]
	check "$1: counted, and not expected"
}

mkdir -p "$work/data/rot"
cp -r "$top_srcdir/tests/kernels/threads" "$work/data/rot/kernels"
chmod -R u+w "$work/data"
counts made '<kernel type="Meeting" numThreads="{$threads}"/>' "5000.0 10000.0 20000.0"
counts pool '<kernel type="Meeting" numThreads="{$threads}" pool="true"/>' "5000.0 10000.0 20000.0"
exit $((nr_failed != 0))
