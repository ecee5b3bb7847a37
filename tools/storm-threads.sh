#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces a program of many short threads, 64 at a time, while signals fly, again and again: no thread may be lost, nothing may hang or be
# left behind. Then kills, at random moments, the program (always a clear report), rot-core (the program dies with it), and rot-core that
# came to a running process (which runs on).
#
# storm-threads.sh [THREADS [KILLS]]     20000 threads and 500 kills unless told otherwise; SEED=n repeats the choices
set -uo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
core=${top_builddir:-$top/build}/core/rot-core
nr_threads=${1:-20000} nr_kills=${2:-500}
RANDOM=${SEED:=$$}
[ -x "$core" ] || {
	echo "rot-core is not built: '$core' is missing" >&2
	exit 1
}
. "$top/tools/describe-program.sh"
. "$top/tools/storm-processes.sh"
work=$(mktemp -d) || exit 1
mark=$work/mark

trap end_all EXIT

fail()
{
	echo "storm-threads: $1 (SEED=$SEED)" >&2
	[ ! -f "$work/output" ] || head -n 20 "$work/output" >&2
	exit 1
}

# nothing_runs WHAT
nothing_runs()
{
	await_none || fail "$1: still running: ${pids[*]}"
}

${CC:-cc} -O2 -pthread -D_GNU_SOURCE -o "$work/target" "$top/tests/core/parent/target.c" || fail "the program cannot be built"

# measure FILE: exec, so that what is put into the background is rot-core itself
measure()
{
	rm -f "$work/output"
	ROT_STORM=$mark exec "$core" --command "$1" --output "$work/output" >"$work/said"
}

# value FIELD: what the output says after the first line FIELD
value()
{
	awk -v field="$1" 'found { print; exit } $0 == field { found = 1 }' "$work/output"
}

wait_ready()
{
	until grep -q ready "$1" 2>/dev/null; do sleep 0.01; done
}

# random_sleep MILLISECONDS: less than that
random_sleep()
{
	sleep "$(printf '0.%06d' $((RANDOM * 32768 % ($1 * 1000) + RANDOM % 1000)))"
}

# ---- threads and signals ----
SECONDS=0
describe_program "$work/storm" true "$work/target" storm "$nr_threads"
(measure "$work/storm") || fail "the storm of threads failed"
# The first thread, the sender of signals, and one that warms up.
expected=$((nr_threads + 3))
[ "$(value nrThreads)" = $expected ] || fail "$(value nrThreads) threads instead of $expected"
[ "$(grep -c '^ProgramThreadOutput$' "$work/output")" = $expected ] || fail "some threads are not described"
[ "$(value exitStatus) $(value signal)" = "0 0" ] || fail "the program was disturbed: status $(value exitStatus), signal $(value signal)"
nothing_runs "after the storm"
echo "$nr_threads threads, 64 at a time, while signals flew: all $expected seen, nothing left running ($SECONDS s)"

# ---- the program is killed ----
SECONDS=0 nr_killed=0 nr_early=0
describe_program "$work/kills" true "$work/target" storm 100000
for ((round = 0; round < nr_kills; round++)); do
	measure "$work/kills" &
	rot=$!
	random_sleep 60
	running
	for pid in "${pids[@]}"; do
		[ "$pid" = $rot ] || kill -9 "$pid" 2>/dev/null
	done
	[ ${#pids[@]} -gt 1 ] || { nr_early=$((nr_early + 1)) && kill -9 $rot; }
	nr_found=${#pids[@]}
	{ wait $rot; } 2>/dev/null
	status=$?
	nothing_runs "round $round, a process was killed"
	[ $nr_found -gt 1 ] || continue
	[ $status = 0 ] || fail "round $round: rot-core ended with $status when the program was killed"
	[ "$(value signal)" = 9 ] || fail "round $round: the report of a killed program says signal $(value signal)"
	[ "$(grep -c '^ProgramThreadOutput$' "$work/output")" = "$(value nrThreads)" ] || fail "round $round: threads are missing"
	nr_killed=$((nr_killed + 1))
done
nothing_runs "after the kills"
echo "program killed $nr_killed times: reported each time; $nr_early times rot-core was killed before it had begun ($SECONDS s)"

# ---- rot-core is killed ----
SECONDS=0
for ((round = 0; round < nr_kills / 10; round++)); do
	measure "$work/kills" &
	rot=$!
	random_sleep 100
	kill -9 $rot
	{ wait $rot; } 2>/dev/null
	nothing_runs "round $round, rot-core was killed"
done
echo "rot-core killed $round times: the program died with it each time ($SECONDS s)"

# ---- rot-core that came to a running process is killed ----
SECONDS=0
ROT_STORM=$mark "$work/target" run_for_ever 8 >"$work/running" &
target=$!
disown $target
wait_ready "$work/running"
describe_visit "$work/visit" $target
for ((round = 0; round < nr_kills / 10; round++)); do
	measure "$work/visit" &
	rot=$!
	random_sleep 50
	kill -9 $rot || fail "round $round: a visit ended by itself"
	{ wait $rot; } 2>/dev/null
done
sleep 0.1
grep -q '^TracerPid:	0$' /proc/$target/status || fail "the visited process is still traced"
grep -h -E '^State:	[tT]' /proc/$target/task/*/status && fail "a thread of the visited process stands still"
kill -9 $target
nothing_runs "after the visits"
echo "rot-core killed $round times during a visit: the process ran on ($SECONDS s)"
