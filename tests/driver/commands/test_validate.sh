#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot validate aa" through the program: equal work measured twice, with and without hardware counters.
. "$top_srcdir/tests/support/program.sh"

# says WHAT STATUS PART-OF-OUTPUT PART-OF-ERROR
says()
{
	result=1
	case " $2 " in *" $status "*) case $out in *"$3"*) case $err in *"$4"*) result=0 ;; esac ;; esac ;; esac
	check "$1"
}

cat >twice.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="twice" comment="a point for a test" runs="10">
	<point series="add" label="chain">
		<workload>
			<kernel type="Arithmetic" operation="ADD" instructionSet="SCALAR" precision="INT64" dlp="1" unroll="32" iterations="1000" warmCode="true"/>
		</workload>
	</point>
	<quantity is="time:tsc"/>
</controller>
END

# Whether the machine is quiet is not ours to say: both answers are allowed.
call validate aa twice --rounds=2
says 'two rounds' '0 1' "1 point of 'twice', each measured twice with 10 runs and compared as rot diff does: 2 rounds" ''
says 'the clocks are compared' '0 1' 'time:microSeconds         2' ''
call validate aa ./twice.xml --rounds=1 --json -runs=6
says 'JSON, and the path of a controller' '0 1' '"schema": "rot.aa/1"' ''
says 'runs of the command line' '0 1' '"runs": 6' ''
call validate aa twice --rounds=1 -runs=5
says 'too few runs' 0 'too few runs' ''

# As Ctrl-C, which sh has what runs in the background ignore; when rot catches it (bit 14).
"$rot" validate aa twice --budget=1000 >"$work/out" 2>"$work/err" &
pid=$!
turns=0
until grep -q -i '^SigCgt:.*[4-7c-f]...$' /proc/$pid/status || [ $((turns += 1)) -gt 3000 ]; do
	sleep 0.1
done
sleep 1
kill -TERM $pid
wait $pid
status=$?
out=$(cat "$work/out" "$work/err")
err=
says 'Ctrl-C, in the first round or in a later one' 130 'interrupted' ''

# Without a PMU: what was tried, why it failed and what helps; and the clocks, of which only the grade depends on who else runs.
without=$top_builddir/tests/without_syscall
"$without" 298 2 "$rot" validate --quick >"$work/out" 2>"$work/err" </dev/null
status=$?
out=$(cat "$work/out")
err=$(cat "$work/err")
says 'no PMU' '0 1 3' 'No event is validated: cannot count hardware events' ''
says 'no PMU: what helps' '0 1 3' 'pmu=on' ''
says 'no PMU: what is not proved' '0 1 3' 'counted by blocks, or expected' ''
says 'no PMU: the core clock' '0 1 3' 'time:coreCycles  chain ' ''
says 'no PMU: the time stamp counter' '0 1 3' 'time:tsc         chain ' ''
"$without" 298 13 "$rot" validate --quick --json >"$work/out" 2>"$work/err" </dev/null
status=$?
out=$(cat "$work/out")
says 'no permission, JSON' '0 1 3' '"canCount": false' ''
says 'no permission, JSON: why' '0 1 3' '"whyNot": "cannot count hardware events' ''
says 'no permission, JSON: chains' '0 1 3' '"kernel": "chain ADD 1.92 M"' ''
call doctor --all
says 'doctor: the grade of the core clock' 0 'coreCycles modelled, grade ' ''
exit $((nr_failed != 0))
