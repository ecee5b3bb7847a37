#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of programs in controllers, with the real measuring core: what they measure is in the JSON, from the cache as well.
. "$top_srcdir/tests/support/program.sh"


# rules: those of mine.xml, for the target ($1: what it does)
controller()
{
	cat >mine.xml <<-END
		<controller name="mine" comment="a test" runs="2">
		<point series="s" label="l">
			<program executable="$top_builddir/tests/core/parent/region_target">
				$1
				<rule>
					<predicate type="MeasurementRunEventPredicate" event="start"/>
					<action type="CreateMeasurerOnThreadAction">
						<measurerSet>
							<mainMeasurer type="PerfEventMeasurer">
								<event name="faults" definition="perf::PERF_COUNT_SW_PAGE_FAULTS:u"/>
							</mainMeasurer>
							<additionalMeasurer type="ExecutionTimeMeasurer"/>
							<additionalMeasurer type="TscMeasurer"/>
						</measurerSet>
						<startPredicate type="BreakpointEventPredicate" place="region_three" event="entered"/>
						<stopPredicate type="BreakpointEventPredicate" place="region_three" event="left"/>
					</action>
				</rule>
			</program>
		</point>
		<quantity is="time"/>
		</controller>
	END
}

# measured WHAT: mine.json must have two runs of one thread with 12 faults
measured()
{
	for run in 0 1; do
		set="points\[0\]\.rules\[$run\]\.measurerSets\[0\]"
		has "$1, run $run" mine.json "points\[0\]\.rules\[$run\]\.pass = 0" "$set\.measurerSet = 1" "$set\.tid = [1-9].*" \
			"$set\.measurers\[0\]\.counts\.faults = 12" "$set\.measurers\[0\]\.countedAllTheTime = true" \
			"$set\.measurers\[1\]\.seconds = .*[1-9].*" "$set\.measurers\[2\]\.tscTicks = [1-9].*" \
			"$set\.measurers\[0\]\.measurer = 1" "$set\.measurers\[1\]\.measurer = 2" "$set\.measurers\[2\]\.measurer = 3"
	done
	result=0
	grep -q -E '^points\[0\]\.(notes|rules\[2\])' "$work/lines" && result=1
	check "$1: no third run, no notes"
}

controller '<argument value="nested"/><argument value="4"/>'
call measure ./mine.xml
case $err in
*perf_event_paranoid* | *ptrace_scope*)
	echo "SKIP: $err" >&2
	exit 77
	;;
esac
result=$status
check "rot measure"
measured "what the rules have measured"
rm mine.json
call measure ./mine.xml
measured "what they had measured, from the cache"
[ $nr_failed -eq 0 ]
