#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of kernels in controllers, with the real measuring core: a measurer set is started and stopped by breakpoints in the
# kernel, and what it measured is in the JSON, from the cache as well.
. "$top_srcdir/tests/support/program.sh"

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

# measured WHAT: both runs of mine.json have the set, which has counted no fault
measured()
{
	for run in 0 1; do
		set="points\[0\]\.rules\[$run\]\.measurerSets\[0\]"
		has "$1, run $run" mine.json "points\[0\]\.rules\[$run\]\.pass = 0" "$set\.measurerSet = 1" "$set\.tid = [1-9].*" \
			"$set\.measurers\[0\]\.counts\.faults = 0" "$set\.measurers\[0\]\.countedAllTheTime = true" \
			"$set\.measurers\[1\]\.seconds = .*[1-9].*"
	done
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
