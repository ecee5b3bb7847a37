#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of programs in controllers, with the real measuring core: what they measure is in the JSON, from the cache as well.
. "$top_srcdir/tests/support/program.sh"

command -v python3 >/dev/null || { echo "SKIP: there is no python3" >&2; exit 77; }

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
	python3 - <<-END
		import json
		point = json.load(open("mine.json"))["points"][0]
		assert not point.get("notes"), point["notes"]
		assert len(point["rules"]) == 2, point["rules"]
		for run in point["rules"]:
		    assert run["pass"] == 0
		    (of_set,) = run["measurerSets"]
		    faults, seconds, ticks = of_set["measurers"]
		    assert of_set["tid"] > 0 and of_set["measurerSet"] == 1, of_set
		    assert faults["counts"] == {"faults": 12} and faults["countedAllTheTime"], faults
		    assert seconds["seconds"] > 0 and ticks["tscTicks"] > 0, of_set
		    assert [m["measurer"] for m in of_set["measurers"]] == [1, 2, 3], of_set
	END
	result=$?
	check "$1"
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
