#!/bin/sh
# SPDX-License-Identifier: MIT
# A run that is counted takes long: how long is told before, and what was counted until somebody ends it is kept, as a part of the run.
. "$top_srcdir/tests/support/program.sh"
work_program=$top_builddir/tests/driver/programs/cut_work

needs_blocks

# cut_off N OPTION...: the end of the N-th run is asked for when it has said that it is ready
cut_off()
{
	nr=$1
	shift
	rm -f first first.ready
	"$rot" run -strict -j cut.json "$@" -- "$work_program" first "$nr" >out 2>err </dev/null &
	driver=$!
	waited=0
	until [ -e first.ready ] || ! kill -0 $driver 2>/dev/null || [ $waited = 600 ]; do
		sleep 0.1
		waited=$((waited + 1))
	done
	kill -TERM $driver
	wait $driver
	status=$? out=$(cat out) err=$(cat err)
}

# says WHAT PART...
says()
{
	what=$1
	shift
	result=0
	for part; do
		printf '%s\n' "$err" | grep -q -E -e "$part" || { echo "not there: $part"; result=1; }
	done
	check "$what"
}

cut_off 2 -counting=steps --region=work
says "of a region it is told of how many hits its counts are" 'this run was cut off' \
	'^  hits +10$' '^  operations +4000 flop$' '^  not counted: performance' \
	'cut off by signal 15 after .*, and there are no rates$' 'region work: its counts are of 4 of 10 hits \(40 %\)$'
says "which is a doubt" 'strict: '
grep -q 'its counts are of 4 of 10 hits' cut.json
check "also in the file"

# Whole runs were made before: nothing is mixed with them.
cut_off 4 -counting=steps --region=work --runs=2
says "a run for the counts that was cut off is left out" '^  hits +10$' '^  operations +10000 flop$' \
	'^  performance ' 'run 4 was cut off by signal 15 after .*: it is left out$'
result=0
printf '%s\n' "$err" | grep -q -e 'they are of that part' -e 'its counts are of' && result=1
check "and there is no doubt about the others"
cut_off 3 -counting=expected --runs=4
says "so is one that was timed" 'run 3 was cut off by signal 15 after .*: it is left out$'
[ "$("$top_builddir/tests/json_lines" cut.json | grep -c "^runs.*wallTime = ")" = 2 ]
check "and the time is of two runs"

cut_off 2 -counting=blocks
says "of a program it is told between which shares that may be" 'this run was cut off' '^  operations +4[0-9]{3} flop$' \
	'^  not counted: performance' 'cut off by signal 15 after .*they are of that part'
[ "$status" = 143 ]
check "and the status is that of the program"

cut_off 1 -counting=blocks
says "why nothing was counted is told, where the first run did not come to its end" \
	'the run for the counts is left out, since a signal ended the first$' '^  not counted: operations'

# There is no other run: what was counted of regions is shown, also of one that was not left.
cut_off 1 --counts-only --region=work --region=main
says "of the only run, regions have what was counted" '^  hits +4$' '^  operations +4000 flop$' '^  abandoned hits +1$' \
	'none of the hits was measured: the run was cut off before$'
result=0
printf '%s\n' "$err" | grep -q -e ' inf ' -e 'hits  *-$' && result=1
check "and nothing that is not there"

# As it is on a terminal, where somebody waits.
if has_terminals; then
	TERM=xterm "$top_builddir/tests/at_terminal" sh -c '"$0" run -counting=blocks sleep 4 >out' "$rot" >shown 2>&1
	err=$(tr '\r' '\n' <shown)
	says "how long it takes is told before, and what is left meanwhile" 'the program took [0-9.]+ s; counting it takes about ' \
		'rot: counting for [0-9]+ s.* \(Ctrl-C keeps what is counted\)'
fi

exit $((nr_failed != 0))
