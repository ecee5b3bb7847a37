#!/bin/bash
# SPDX-License-Identifier: MIT
# Kills rot, rot-core or the child at random moments of "rot measure", many times: nothing may be left running, and the cache must
# stay readable.
#
# kill-storm.sh [TIMES [CONTROLLER]]     200 times unless told otherwise, a controller of its own that takes a second or two: with warm
#                                        caches, since clearing them takes longer than all else (one that draws a roof measures that
#                                        first); SEED=n repeats the choices of a storm; STORM_CACHE=FOLDER
#                                        is a cache that knows the machine already, and is left as it is
set -uo pipefail
top=${top_srcdir:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)}
driver=${top_builddir:-$top/build}/driver/rot
times=${1:-200} controller=${2:-} options=()
RANDOM=${SEED:=$$}
[ -x "$driver" ] || {
	echo "the driver is not built: '$driver' is missing" >&2
	exit 1
}
. "$top/tools/storm-processes.sh"
work=$(mktemp -d) || exit 1
mark=$work/mark
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data
cd "$work" || exit 1
[ -z "${STORM_CACHE-}" ] || cp -R "$STORM_CACHE/." "$XDG_CACHE_HOME" || exit 1
[ -n "$controller" ] || {
	controller=$work/storm.xml options=(-starts=2)
	cat >"$controller" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="storm" comment="to be killed" runs="300">
	<axis name="size"><range from="10000" to="50000" step="10000"/></axis>
	<point series="Triad" label="{$size}">
		<workload>
			<kernel type="Triad" bufferSize="{$size}" warmCode="true" warmData="true"/>
		</workload>
	</point>
	<quantity is="time"/>
</controller>
XML
}

trap end_all EXIT

fail()
{
	echo "kill-storm: round $round: $1 (SEED=$SEED)" >&2
	[ ! -f "$work/output" ] || tail -n 20 "$work/output" >&2
	exit 1
}

# exec: what is put into the background is rot itself.
run()
{
	ROT_STORM=$mark exec "$driver" measure "$controller" "${options[@]}" "$@" >"$work/output" 2>&1
}

round=0
(run) || fail "the first run, which nobody killed, failed"
start=${EPOCHREALTIME/[.,]/}
(run -useCachedResults=false) || fail "the second run, which nobody killed, failed"
whole=$((${EPOCHREALTIME/[.,]/} - start)) # us
SECONDS=0 nr_told=0
declare -A killed=()
for ((nr_killed = 0; nr_killed < times && round < 5 * times; )); do
	round=$((round + 1))
	run -useCachedResults=false &
	rot=$!
	delay=$(((RANDOM * 32768 + RANDOM) % whole))
	sleep "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
	running
	# A busy host may have become a quick one, or the other way round.
	whole=$((${#pids[@]} > 0 ? whole * 11 / 10 : whole * 9 / 10 + 10000))
	if [ ${#pids[@]} -gt 0 ]; then
		i=$((RANDOM % ${#pids[@]}))
		if kill -9 "${pids[i]}" 2>/dev/null; then
			nr_killed=$((nr_killed + 1))
			killed[${names[i]}]=$((${killed[${names[i]}]:-0} + 1))
		fi
	fi
	{ wait "$rot"; } 2>/dev/null
	await_none || fail "still running: ${names[*]} ${pids[*]}"
	if [ -t 2 ]; then
		printf '\r%d of %d kills, %d s ' "$nr_killed" "$times" "$SECONDS" >&2
	elif ((SECONDS >= 60 * (nr_told + 1))); then
		nr_told=$((SECONDS / 60))
		echo "$nr_killed of $times kills, $SECONDS s" >&2
	fi
done
[ ! -t 2 ] || printf '\r%40s\r' '' >&2
[ "$nr_killed" = "$times" ] || fail "only $nr_killed of $times kills hit a running process"
(run) || fail "the run after the storm failed"
grep -i -E 'damaged|corrupt|set aside' "$work/output" >&2 && fail "a file of the cache was damaged"
printf 'killed %d times:' "$nr_killed"
for name in "${!killed[@]}"; do printf ' %s %d' "$name" "${killed[$name]}"; done
printf '; nothing left running, the next run completes (%d s)\n' "$SECONDS"
