#!/bin/sh
# SPDX-License-Identifier: MIT
# Looks on at programs that do what is hard for somebody who looks on (storm-victims.c), in many ways and many times,
# and says how many were harmed: they must end as they end alone. Ends with 1 if one was.
#
# storm-harm.sh [TRIES [WAYS [KINDS [MODES]]]]   so many tries of each (100); lists of words: ways to observe the region
#                                                (uprobe breakpoint int3 steps blocks), kinds of victims, modes (attach run
#                                                kill interrupt)
#
# VICTIMS=FILE: the victims are built already.
#
# A mode is a function below, called with a way and a kind. It sets tries, blind (tries that saw nothing of the region)
# and harmed.
set -u
top=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd -P)}
rot=${top_builddir:-$top/build}/driver/rot
nr_tries=${1:-100} ways=${2:-uprobe breakpoint int3 steps}
kinds=${3:-threads leaderless forks thread-forks vforks thread-vforks execs daemons outlive signals traps faults} modes=${4:-attach run}
per_victim=${PER_VICTIM:-20} # attaches to one process
limit=60                     # seconds until a victim that should end is taken for one that hangs

test -x "$rot" || {
	echo "storm-harm.sh: the driver is not built: '$rot' is missing" >&2
	exit 2
}
work=$(mktemp -d) || exit 2
victim=
trap 'test -z "$victim" || kill -KILL "$victim" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
victims=${VICTIMS:-$work/storm-victims}
log=${STORM_LOG:-$work/log}
${CC:-cc} -O2 -D_GNU_SOURCE -o "$work/at_terminal" "$top/tests/at_terminal.c" || exit 2
XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data
export XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
test -x "$victims" || ${CC:-cc} -O2 -pthread -D_GNU_SOURCE -o "$victims" "$top/tools/storm-victims.c" || exit 2

# milliseconds FROM TO: at random between them, in seconds
milliseconds()
{
	awk -v from="$1" -v to="$2" -v seed="$(od -An -N4 -tu4 /dev/urandom)" \
		'BEGIN { srand(seed); printf "%.3f", (from + (to - from) * rand()) / 1000 }'
}

# observe WAY ARGUMENT...: rot run, what it says of the region goes to $work/said
observe()
{
	case $1 in
	steps | blocks) first=-counting=$1 ;;
	*) first=--region-backend=$1 ;;
	esac
	shift
	${through:-} "$rot" run "$first" -R storm_region "$@" 2>"$work/said"
}

# note_blind: after observe
note_blind()
{
	if ! grep -q '^ *hits' "$work/said"; then
		blind=$((blind + 1))
		cat "$work/said" >>"$work/blind"
	fi
}

# end_in_time PID: its exit status to $status; 124 if it hangs, and then it is killed
end_in_time()
{
	# It holds no stream of ours, whose reader would wait for it. What it leaves behind when it is killed lasts a second.
	(
		for second in $(seq "$limit"); do sleep 1; done
		kill -KILL "$1"
	) >/dev/null 2>&1 &
	guard=$!
	wait "$1" 2>/dev/null
	status=$?
	# A shell that was only just begun may lose other signals.
	kill -KILL "$guard" 2>/dev/null || status=124
	wait "$guard" 2>/dev/null
}

# judge WAY KIND WHAT: $status is that of a victim, what it said is in $work/victim
judge()
{
	test "$status" = 0 && return
	harmed=$((harmed + 1))
	{
		echo "== $2 observed by $1, $3: status $status"
		cat "$work/victim"
	} >>"$log"
}

look_attach()
{
	observe "$1" -p $victim -d "$(milliseconds 1 250)"
	note_blind
}

is_left()
{
	! kill -0 $victim 2>/dev/null || grep -q 'TracerPid:.*[^0-9]0$' /proc/$victim/status
}

# rot is killed at some moment, and its core has to leave in order.
look_kill()
{
	(
		through=exec
		observe "$1" -p $victim -d 60
	) &
	visitor=$!
	sleep "$(milliseconds 1 600)"
	kill -KILL $visitor
	wait $visitor 2>/dev/null
	until is_left; do sleep 0.01; done
}

# visit WAY KIND LOOK: a process that runs is looked at again and again, and told to end when nobody looks.
visit()
{
	while test $tries -lt "$nr_tries"; do
		: >"$work/victim" # the last one was ready, too
		nice "$victims" "$2" >"$work/victim" 2>&1 &
		victim=$!
		until grep -q ready "$work/victim"; do sleep 0.01; done
		for i in $(seq $per_victim); do
			test $tries -lt "$nr_tries" && kill -0 $victim 2>/dev/null || break
			$3 "$1"
			tries=$((tries + 1))
		done
		kill -USR1 $victim 2>/dev/null
		end_in_time $victim
		victim=
		judge "$1" "$2" "$i visits"
	done
}

try_attach()
{
	visit "$1" "$2" look_attach
}

try_kill()
{
	visit "$1" "$2" look_kill
}

# Ctrl-C while rot and a program begin that goes on for ever.
try_interrupt()
{
	while test $tries -lt "$nr_tries"; do
		(
			through="exec $work/at_terminal -c $(awk -v s="$(milliseconds 0 150)" 'BEGIN { print int(s * 1000000) }')"
			observe "$1" "$victims" "$2" >"$work/victim"
		) &
		end_in_time $!
		tries=$((tries + 1))
		test "$status" = 130 && status=0
		judge "$1" "$2" "Ctrl-C"
	done
}

# A program is run, and all that it leaves is waited for.
try_run()
{
	while test $tries -lt "$nr_tries"; do
		("$victims" reap "$rot" run $(case $1 in steps | blocks) echo -counting="$1" ;; *) echo --region-backend="$1" ;; esac) \
			-R storm_region -- "$victims" "$2" 20 >"$work/victim" 2>"$work/said") &
		end_in_time $!
		cat "$work/said" >>"$work/victim"
		tries=$((tries + 1))
		note_blind
		judge "$1" "$2" "run"
	done
}

all_harmed=0
: >"$log"
printf '%-9s %-14s %-11s %6s %6s %6s\n' mode victim 'observed by' tries blind harmed
for mode in $modes; do
	for way in $ways; do
		for kind in $kinds; do
			case $mode-$kind in attach-outlive | kill-outlive | interrupt-outlive) continue ;; esac # it ends by itself at once
			tries=0 blind=0 harmed=0
			try_$mode $way $kind
			printf '%-9s %-14s %-11s %6d %6d %6d\n' $mode $kind $way $tries $blind $harmed
			all_harmed=$((all_harmed + harmed))
		done
	done
done
test $all_harmed = 0 && exit 0
echo "storm-harm.sh: $all_harmed harmed:" >&2
head -n 100 "$log" >&2
exit 1
