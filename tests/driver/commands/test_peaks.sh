#!/bin/sh
# SPDX-License-Identifier: MIT
# rot peaks through the program itself: a peak is found, kept, and not looked for again.
. "$top_srcdir/tests/support/program.sh"

# Scalar additions: every processor has them, and three variants take no time.
cat >default-peaks.xml <<'END'
<controller name="default-peaks" comment="one peak">
	<ceiling name="scalar ADD" performance="doublePrecisionFlop" access="ADD" instructionSet="SCALAR">
		<axis name="dlp"><list values="6 8 15"/></axis>
		<seed dlp="8"/>
		<workload><kernel type="Arithmetic" operation="ADD" instructionSet="SCALAR" dlp="{$dlp}" iterations="20000"/></workload>
	</ceiling>
	<ceiling name="other" performance="singlePrecisionFlop" access="ADD" instructionSet="SCALAR">
		<workload><kernel type="Arithmetic" operation="ADD" instructionSet="SCALAR" precision="FLOAT" iterations="20000"/></workload>
	</ceiling>
</controller>
END

call peaks --grid --threads=1 double --json -quiet
# 15 chains do not fit into 16 registers: two variants are tried, and neither rate is 0 or without a number.
has "all valid variants are measured" "$work/out" 'peaks\[0\]\.name = scalar ADD' 'peaks\[0\]\.threads = 1' \
	'peaks\[0\]\.perCycle\.value = .*[1-9].*' 'peaks\[0\]\.perSecond\.value = .*[1-9].*' \
	'peaks\[0\]\.landscape\.points\[[01]\]\[0\] = 6' 'peaks\[0\]\.landscape\.points\[[01]\]\[0\] = 8'
result=$status
grep -q -e '^peaks\[1\]' -e '^peaks\[0\]\.landscape\.points\[2\]' "$work/lines" && result=1
check "and no other"
result=1
[ -n "$(ls data/rot/profiles/*.json 2>/dev/null)" ] && result=0
check "the peak is kept in the profile"
call peaks --grid --threads=1 double -timeReport=true
result=1
case $status:$out in 0:*ADD*) case $err in *"  measure "* | *"build the core"*) ;; *) result=0 ;; esac ;; esac
check "again measures and builds nothing"
exit $((nr_failed > 0))
