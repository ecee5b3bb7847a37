#!/bin/sh
# SPDX-License-Identifier: MIT
# Stores that go past the caches cross the border to memory, and none that is nearer to the core: no rule is broken by that, on a simulated
# Zen 5 (tests/simulated_pmu.c) and by steps.
. "$top_srcdir/tests/support/program.sh"
mebibyte=1048576

cat >stores.xml <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="stores" comment="stores past the caches" runs="3">
	<point series="stores" label="stores">
		<workload><kernel type="Memory" operation="WRITE_NT" instructionSet="SSE" bufferSize="$mebibyte"/></workload>
	</point>
	<quantity is="transferredBytes:l1l2.write"/>
	<quantity is="transferredBytes:l2l3.write"/>
	<quantity is="transferredBytes:llcRam.write"/>
	<quantity is="transferredBytes:l1l2"/>
	<quantity is="transferredBytes:l2l3"/>
	<quantity is="transferredBytes:llcRam"/>
</controller>
END

# stores WHAT ARGUMENT...: all bytes are written to memory, hardly any cross the other borders, and no rule is broken.
stores()
{
	what=$1
	shift
	call measure ./stores.xml stores -validate=never -starts=1 "$@"
	result=$status
	check "$what"
	quantities stores.json | awk -F '\t' -v all="$mebibyte" '
		$4 ~ /^brokenRules\[/ {nr_broken++}
		$4 == "value" {bytes[$3] = $5}
		END {
			of = "transferredBytes:"
			exit nr_broken || bytes[of "llcRam.write"] < all || bytes[of "llcRam"] < all || bytes[of "l2l3.write"] > all / 2
		}'
	check "$what: what goes past caches breaks no rule"
}

stores 'by steps' -counting=steps
is_sanitized || {
	export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm"
	stores 'on a simulated Zen 5'
	unset LD_PRELOAD
}
[ $nr_failed -eq 0 ]
