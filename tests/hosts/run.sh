#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs tests as on other hosts: this machine is made like each of them, for the tests alone. "rot check --hosts" calls it.
#
# run.sh SOURCE BUILD [HOST...]     all hosts, or these: a table, and what failing tests said
#
# Logs are in BUILD/test-hosts/HOST. What this machine does not permit is skipped with the reason.
set -u
unset CDPATH

# NAME | tests that may differ there: sets (below), names, or folders | how "$@" is run there | what is true there alone
hosts()
{
	cat <<-'END'
	no-events | measuring tracing counting test_auto_counting | $refuse 298 1 "$@" | is_filtered
	no-pmu | test_auto_counting doctor | $refuse 298 2 "$@" | is_filtered
	no-ptrace | measuring tracing doctor | $refuse 101 1 "$@" | is_filtered
	no-uprobes | test_regions_hw test_rot_run | privately 'hide /sys/kernel/tracing; hide /sys/kernel/debug' $refuse 430 1 "$@" | is_filtered
	old-container | measuring tracing | $refuse 135 1 $refuse 310 38 $refuse 434 38 $refuse 435 38 "$@" | is_filtered
	dead-breakpoints | test_regions_hw test_simulated_run | env LD_PRELOAD="$build/tests/dead_breakpoints.so" "$@" | true
	no-fsgsbase | test_stepped_regions | env LD_PRELOAD="$build/tests/hosts/no_fsgsbase.so" "$@" | true
	slow-stops | tracing test_failing_points | env LD_PRELOAD="$build/tests/hosts/slow_stops.so" "$@" | true
	no-cache-sizes | measuring test_auto_counting doctor | privately 'for cpu in /sys/devices/system/cpu/cpu[0-9]*; do hide "$cpu/cache"; done' "$@" | ! [ -e /sys/devices/system/cpu/cpu0/cache/index0 ]
	no-sysfs | measuring doctor | privately 'hide /sys' "$@" | ! [ -e /sys/devices ]
	one-cpu | measuring tracing test_thread_rules | taskset -c "$first_cpu" "$@" | [ "$(nproc)" = 1 ]
	busy | measuring tracing | beside 1 "$@" | true
	idle | waiting | is_calm && beside 2 chrt -i 0 "$@" | chrt -p $$ | grep -q SCHED_IDLE
	nobody | measuring tracing texts | setpriv --reuid=65534 --regid=65534 --clear-groups "$@" | [ "$(id -u)" = 65534 ]
	no-network | test_failing_points test_rot_run | unshare $as_root -n "$@" | [ "$(grep -c : /proc/net/dev)" -le 1 ]
	no-home | texts | env -u HOME "$@" | [ -z "${HOME-}" ]
	C | texts | env LC_ALL=C "$@" | [ "$LC_ALL" = C ]
	de_DE | texts | speaking de_DE "$@" | [ "$(env printf %.1f 1,5)" = 1,5 ]
	tr_TR | texts | speaking tr_TR "$@" | [ "$(env printf %.1f 1,5)" = 1,5 ]
	time-zone | texts | env TZ='<-0930>9:30' "$@" | [ "$(date +%z)" = -0930 ]
	bad-tmp | measuring tracing texts | privately 'cover /tmp size=64k,noexec,nosuid' "$@" | ! cp "$build/driver/rot" /tmp 2>/dev/null
	odd-home | measuring test_rot_run results | env home="$folder/it's \"mine\" & \$yours;  #1" "$@" | case $home in *mine*) ;; *) false ;; esac
	read-only-sources | measuring test_core_mk texts | privately keep_sources "$@" | ! [ -w "$source/rot" ] && [ -w "$build" ]
	no-shm | measuring test_rot_run | privately 'hide /dev/shm' "$@" | ! [ -w /dev/shm ]
	no-aslr | tracing | setarch -R "$@" | grep -q '^..04' /proc/self/personality
	few-files | tracing texts | sh -c 'ulimit -n 64 && ulimit -l 0 && umask 077 && exec "$@"' sh "$@" | [ "$(ulimit -n)" = 64 ]
	END
}

# measuring: kernels are built and measured; tracing: processes are traced; counting: by perf; doctor: the machine is looked at; texts
# are read and written, among them results; waiting: there are limits or waits.
set_of()
{
	case $1 in
	measuring) echo test_failing_points test_kernel_rules test_scrubbed_threads driver/machine/test_machine test_caches test_cpus ;;
	tracing)
		echo core/parent/test_program child/test_steps_hw child/test_rules test_refusals test_rot_run test_simulated_run \
			test_stepped_regions programs/test_measure
		;;
	counting) echo test_perf_event test_perf_group_hw test_software_events_hw test_measurers ;;
	doctor) echo test_doctor ;;
	texts) echo test_page test_value_text test_entity "$(set_of results)" ;;
	results)
		echo test_diff test_csv test_result_keys test_forms_agree test_experiment test_experiment_ceilings \
			test_experiment_derived test_experiment_trust driver/plots driver/base
		;;
	waiting) echo test_core_launch test_result_cache test_file_hashes test_process ;;
	*) echo "$1" ;;
	esac
}

# ---- how hosts are made: COMMAND... is run there ----

# Functions of a private mount namespace. "cover": the trees still show through what is mounted there.
private='
hide() { [ ! -d "$1" ] || mount -t tmpfs -o ro none "$1"; }
cover()
{
	cd "$source" && mount -t tmpfs -o "$2" none "$1" && mkdir -p "$source" && mount -c --bind . "$source" && cd /
}
keep_sources()
{
	mount --bind "$build" "$build" && mount --rbind "$source" "$source" && mount -o remount,bind,ro "$source"
}
'

# privately CODE COMMAND...: after CODE was run in a private mount namespace.
privately()
{
	code=$1
	shift
	# shellcheck disable=SC2086 # no word or one
	unshare $as_root -m sh -ec "$private$code"'
		exec "$@"' sh "$@"
}

# beside NUMBER COMMAND...: while so many other processes compute nine tenths of the time.
beside()
{
	nr=$1
	shift
	while [ "$nr" -gt 0 ]; do
		timeout 3600 sh -c 'while :; do timeout 0.18 sh -c "while :; do :; done"; sleep 0.02; done' &
		others="$others $!"
		nr=$((nr - 1))
	done
	"$@"
	set -- $?
	end_others
	return "$1"
}
others=
end_others()
{
	# shellcheck disable=SC2086 # words on purpose
	[ -z "$others" ] || kill $others
	others=
}

# speaking LOCALE COMMAND...: one that is made for this.
speaking()
{
	mkdir -p "$folder/locales"
	localedef -i "$1" -f UTF-8 "$folder/locales/$1.UTF-8" || return
	locale=$1
	shift
	env LOCPATH="$folder/locales" LC_ALL="$locale.UTF-8" "$@"
}

# Beside more than that nothing idle comes to an end.
is_calm()
{
	running=$(sed 's/.* \([0-9]*\)\/.*/\1/' /proc/loadavg)
	[ "$running" -le "$(nproc)" ] || {
		echo "$running processes compute already"
		return 1
	}
}

is_filtered()
{
	grep -q '^Seccomp:.*2' /proc/self/status
}

# ---- inside of a host ----

# one_test NAME: as make would run it.
one_test()
{
	top_srcdir=$source top_builddir=$build TMPDIR=$home/tmp TEMP=$home/tmp CCACHE_DIR=$folder/ccache
	[ -z "${HOME+set}" ] || HOME=$home/user
	XDG_CACHE_HOME=$home/cache XDG_CONFIG_HOME=$home/config XDG_DATA_HOME=$home/data
	export top_srcdir top_builddir TMPDIR TEMP CCACHE_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
	case $1 in
	*.c) runner="sh $source/tests/support/run-unit-tests.sh" ;;
	*) runner= ;;
	esac
	# shellcheck disable=SC2086 # words on purpose
	timeout --foreground --verbose 1200 $runner "$source/$1" >"$folder/${1##*/}.log" 2>&1 </dev/null
	case $? in
	0) result=passed ;;
	77) result=skipped ;;
	*) result=failed ;;
	esac
	echo "$result $1" >>"$folder/results"
}

inside()
{
	: >"$folder/entered"
	eval "$truth" || {
		echo "this host is not what it should be: there is not '$truth'" >&2
		return 1
	}
	mkdir -p "$home/tmp" "$home/user" && cd "$build" && xargs -n 1 -P "$(nproc)" sh "$0" --test <"$folder/tests"
}

# ---- all of them ----

# The tests of these names, and of these folders.
choose()
{
	printf '%s\n' "$all_tests" | while read -r test; do
		for part; do
			case $test in
			*/"$part" | */"$part".[cs]* | */"$part"/*)
				echo "$test"
				break
				;;
			esac
		done
	done
}

number_of()
{
	grep -c "^$1 " "$folder/results"
}

# visit NAME TESTS HOW TRUTH: a line of the table, and what failed.
visit()
{
	folder=$build/test-hosts/$1 how=$3 truth=$4 home=$folder/home
	rm -rf "$folder"
	mkdir -p "$folder" && : >"$folder/results" || return
	parts=
	for set in $2; do
		parts="$parts $(set_of "$set")"
	done
	# shellcheck disable=SC2086 # words on purpose
	choose $parts >"$folder/tests"
	[ "$1" != nobody ] || chown -R 65534 "$folder" 2>/dev/null
	begin=$(date +%s)
	export folder truth home
	set -- "$1" sh "$0" --inside
	host=$1
	shift
	eval "$how" >"$folder/said" 2>&1 </dev/null
	status=$?
	if [ ! -e "$folder/entered" ]; then
		printf '%-18s %-8s %s\n' "$host" skipped "$(tail -n 1 "$folder/said")"
		return
	fi
	result=passed
	[ "$status" = 0 ] && [ "$(number_of failed)" = 0 ] && [ "$(number_of passed)" -gt 0 ] || result=FAILED
	printf '%-18s %-8s %3s passed, %s failed, %s skipped, %s s\n' "$host" "$result" "$(number_of passed)" "$(number_of failed)" \
		"$(number_of skipped)" $(($(date +%s) - begin))
	[ "$result" = FAILED ] || return 0
	tail -n 3 "$folder/said"
	sed -n 's/^failed //p' "$folder/results" | while read -r test; do
		printf '\n---- %s: %s ----\n' "$host" "$test"
		tail -n 20 "$folder/${test##*/}.log"
		printf 'alone: %s/rot check --hosts %s; all it said: %s\n\n' "$source" "$host" "$folder/${test##*/}.log"
	done
	return 1
}

case $1 in
--test)
	one_test "$2"
	exit 0
	;;
--inside)
	inside
	exit
	;;
esac
source=$1 build=$2
shift 2
export source build
refuse=$build/tests/without_syscall
first_cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
as_root=
[ "$(id -u)" = 0 ] || as_root=-r
all_tests=$(make -s -C "$build" list-tests) || exit
trap end_others EXIT
trap 'exit 130' INT TERM

nr_failed=0 nr_visited=0
mkdir -p "$build/test-hosts" && hosts >"$build/test-hosts/table" || exit
while IFS='|' read -r name tests how truth <&3; do
	name=${name% }
	case " $* " in
	'  ' | *" $name "*) ;;
	*) continue ;;
	esac
	nr_visited=$((nr_visited + 1))
	visit "$name" "$tests" "$how" "$truth" || nr_failed=$((nr_failed + 1))
done 3<"$build/test-hosts/table"
[ "$nr_visited" -gt 0 ] || {
	echo "rot: no host of these names; all names are in the table of $0" >&2
	exit 2
}
printf '%s hosts, %s failed\n' "$nr_visited" "$nr_failed"
[ "$nr_failed" = 0 ]
