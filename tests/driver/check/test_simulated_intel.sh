#!/bin/sh
# SPDX-License-Identifier: MIT
# Validation on a simulated Intel processor (tests/simulated_pmu.c) of which somebody else has a counter: groups are held to what is left,
# beside cycles and instructions, which have counters of their own; and all formulas count right in them.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}

export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/intel-skylake-server" ROT_SIMULATED_COUNTERS=3
call validate --quick --json
unset LD_PRELOAD
printf '%s\n' "$out" >validation.json
has 'groups of four are refused' validation.json 'shapes\.usableCounters = 3' 'shapes\.groups\[3\]\.plain = 4' 'shapes\.groups\[3\]\.verdict = refused'

# grades of formulas: those that nothing is known of have none, and a busy machine may disturb all runs of some
"$top_builddir/tests/json_lines" validation.json | awk '
	{ value = $0; sub(/^[^ ]* = /, "", value) }
	$1 ~ /^formulas\[[0-9]+\]\.of$/ { of = value }
	$1 ~ /^formulas\[[0-9]+\]\.value$/ { is_formula = value != "" }
	$1 ~ /^formulas\[[0-9]+\]\.grade$/ && is_formula && of != "referenceCycles" { print of, value }' >grades
! grep -q ' [BCF]$' grades && [ "$(grep -c ' A$' grades)" -gt 3 ]
result=$? out=$(cat grades)
check 'what is counted in the others is right'
[ $nr_failed -eq 0 ]
