#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of kernels in controllers, with the real measuring core: a measurer set is started and stopped by breakpoints in the
# kernel, and what it measured is in the JSON, from the cache as well.
. "$top_srcdir/tests/support/program.sh"

command -v python3 >/dev/null || { echo "SKIP: there is no python3" >&2; exit 77; }

# set_rule PREDICATE ACTION [SET]
set_rule()
{
	echo "<rule><predicate $1/><action type='${2}MeasurerSetAction'>${3:-<measurerSet ref='set'/>}</action></rule>"
}

# controller PLACE
controller()
{
	cat >mine.xml <<-END
		<controller name="mine" comment="a test" runs="2">
		<point series="s" label="l">
			<workload><kernel type="Triad" bufferSize="100"/></workload>
			$(set_rule "type='ThreadEventPredicate'" Initialize "<measurerSet id='set'>
				<mainMeasurer type='PerfEventMeasurer'>
					<event name='faults' definition='perf::PERF_COUNT_SW_PAGE_FAULTS:u'/>
				</mainMeasurer>
				<additionalMeasurer type='ExecutionTimeMeasurer'/></measurerSet>")
			$(set_rule "type='BreakpointEventPredicate' place='$1' event='entered'" Start)
			$(set_rule "type='BreakpointEventPredicate' place='$1' event='left'" Stop)
			$(set_rule "type='WorkloadEventPredicate' event='stop'" Read)
		</point>
		<quantity is="time"/>
		</controller>
	END
}

# measured WHAT: each run of mine.json has the set, which has counted no fault
measured()
{
	python3 - <<-END
		import json
		point = json.load(open("mine.json"))["points"][0]
		assert len(point["rules"]) >= 2, point["rules"]
		for run in point["rules"]:
		    assert run["pass"] == 0
		    (of_set,) = run["measurerSets"]
		    faults, seconds = of_set["measurers"]
		    assert of_set["tid"] > 0 and of_set["measurerSet"] == 1, of_set
		    assert faults["counts"] == {"faults": 0} and faults["countedAllTheTime"], faults
		    assert seconds["seconds"] > 0, of_set
	END
	result=$?
	check "$1"
}

controller run
call measure ./mine.xml
case $err in
*perf_event_paranoid* | *ptrace*)
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

controller no_such_function
call measure ./mine.xml
case $err in
*"come to 'no_such_function', which is not observed"*) result=0 ;;
*) result=1 ;;
esac
check "a place that is not there is named"
[ $nr_failed -eq 0 ]
