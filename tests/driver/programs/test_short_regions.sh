#!/bin/sh
# SPDX-License-Identifier: MIT
# Regions whose hits are too short to be timed: they are observed for a while only, and their time is known by samples.
. "$top_srcdir/tests/support/program.sh"
program=$top_builddir/tests/driver/programs/known_shares

call run -q -counting=expected --region=short_triple -j run.json "$program" short 10
backend=$(value_of run.json 'regions[0].backend')
if [ "$backend" = none ] || [ "$(value_of run.json functions.refusal)" ] || [ "$(value_of run.json functions.incompleteStacks)" = null ]; then
	echo "SKIP: regions are not observed here, or stacks not sampled" >&2
	exit 77
fi
out=$(value_of run.json 'regions[0].samples')
[ "$out" = null ]
result=$?
check "few hits are timed"

# is_share LEAST MOST: the samples of the first region are such a share of all in percent, and are some
is_share()
{
	samples=$(value_of run.json 'regions[0].samples') all=$(value_of run.json 'regions[0].allSamples')
	case $samples in '' | null) return 1 ;; esac
	[ "$samples" -gt 10 ] && [ $((100 * samples)) -ge $(($1 * all)) ] && [ $((100 * samples)) -le $(($2 * all)) ]
}

# More hits if they were seen to be short too late, on a busy machine.
result=1
for nr in 3000000 10000000 30000000; do
	call run -q -counting=blocks -caches=none --region=short_triple --region=repeat_short -j run.json "$program" short $nr
	out="$nr $(value_of run.json 'regions[0].samples') $(value_of run.json 'regions[0].allSamples')"
	is_share 50 95 && result=0 && break
done
check "a function of three quarters of the time"
out="$(value_of run.json 'regions[0].hits') $(value_of run.json 'regions[0].measuredHits') $(value_of run.json 'regions[0].isShort')"
[ "$out" = "$nr.0 $nr.0 false" ]
result=$?
check "all of its hits are counted"
out="$(value_of run.json 'regions[1].hits') $(value_of run.json 'regions[1].measuredHits') $(value_of run.json 'regions[1].samples')"
[ "$out" = "1.0 1.0 null" ]
result=$?
check "the one around it is timed as before"

result=1
for nr in 3000000 10000000 30000000; do
	call run -q -counting=expected --region=short_recursion -j run.json "$program" recursion $nr
	out="$nr $(value_of run.json 'regions[0].samples') $(value_of run.json 'regions[0].allSamples')"
	is_share 90 100 && result=0 && break
done
check "recursion, which is not left before it is given up"

call run -counting=expected --region=short_triple "$program" short 3000000
case $err in *"hits that were observed"*"so its time is CPU time"*) result=0 ;; *) result=1 ;; esac
check "which the table says"

for choice in "--region-backend=$backend --region=short_triple" "--region=short_triple#5-" "--functions=0 --region=short_triple"; do
	call run -q -counting=expected $choice -j run.json "$program" short 3000
	out="$(value_of run.json 'regions[0].hits') $(value_of run.json 'regions[0].samples')"
	[ "$out" = "3000.0 null" ]
	result=$?
	check "hits are timed to the end with $choice"
done

exit $((nr_failed != 0))
