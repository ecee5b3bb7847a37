#!/bin/bash
# SPDX-License-Identifier: MIT
# Kills rot, rot-core or the child at a random moment of "rot measure", many times: nothing may be left running, and the cache must
# stay readable.
#
# kill-storm.sh [TIMES [CONTROLLER]]     200 times triad unless told otherwise; SEED=n repeats a storm
set -uo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
driver=${top_builddir:-$top/build}/driver/rot
times=${1:-200} controller=${2:-triad}
RANDOM=${SEED:=$$}
[ -x "$driver" ] || {
	echo "the driver is not built: '$driver' is missing" >&2
	exit 1
}
work=$(mktemp -d) || exit 1
# Every process we start carries this in its environment; so strays are found whatever their parent is.
export ROT_KILL_STORM=$work
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data
cd "$work" || exit 1

# ours: our processes as "PID NAME" lines, those that ended but were not waited for left out.
ours()
{
	local folder pid state
	for folder in /proc/[0-9]*; do
		pid=${folder#/proc/}
		[ "$pid" != $$ ] && [ "$pid" != "$BASHPID" ] || continue
		tr '\0' '\n' <"$folder/environ" 2>/dev/null | grep -q -x -F "ROT_KILL_STORM=$work" || continue
		state=$(sed -n 's/^State:[[:blank:]]*\(.\).*/\1/p' "$folder/status" 2>/dev/null)
		[ -n "$state" ] && [ "$state" != Z ] && [ "$pid" -ne "$BASHPID" ] || continue
		printf '%s %s\n' "$pid" "$(cat "$folder/comm" 2>/dev/null)"
	done | grep -v -E ' (bash|kill-storm.sh|sleep|tr|grep|sed|cat)$'
}

end_ours()
{
	ours | while read -r pid _; do kill -9 "$pid" 2>/dev/null; done
}
trap 'end_ours; cd /; rm -rf "$work"' EXIT

fail()
{
	echo "kill-storm: round $round: $1 (SEED=$SEED)" >&2
	exit 1
}

run()
{
	"$driver" measure "$controller" -runs=2 "$@" >"$work/output" 2>&1
}

round=0
SECONDS=0
start=${EPOCHREALTIME/[.,]/}
run || {
	cat "$work/output" >&2
	fail "the first run, which nobody killed, failed"
}
whole=$((${EPOCHREALTIME/[.,]/} - start)) # us of a run with nothing cached
declare -A killed=()
for ((round = 1; round <= times; round++)); do
	run -useCachedResults=false &
	rot=$!
	delay=$((RANDOM * 32768 + RANDOM))
	delay=$((delay % (whole + 1)))
	sleep "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
	# One of what runs right now, by chance.
	mapfile -t running < <(ours)
	if [ ${#running[@]} -gt 0 ]; then
		read -r pid name <<<"${running[RANDOM % ${#running[@]}]}"
		kill -9 "$pid" 2>/dev/null && killed[$name]=$((${killed[$name]:-0} + 1))
	fi
	wait "$rot" 2>/dev/null
	# Death of a parent reaches its children within moments.
	for ((i = 0; i < 100; i++)); do
		left=$(ours)
		[ -n "$left" ] || break
		sleep 0.05
	done
	[ -z "$left" ] || fail "still running: $left"
done
run || {
	cat "$work/output" >&2
	fail "the run after the storm failed"
}
grep -i -E 'damaged|corrupt|set aside' "$work/output" >&2 && fail "the cache was damaged"
printf 'killed %d times:' "$times"
for name in "${!killed[@]}"; do printf ' %s %d' "$name" "${killed[$name]}"; done
printf '; nothing left running, the next run completes (%d s)\n' "$SECONDS"
