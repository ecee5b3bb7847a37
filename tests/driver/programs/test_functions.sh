#!/bin/sh
# SPDX-License-Identifier: MIT
# Where CPU time goes: a program of which two functions are known to take 3 : 1, and one whose calls are known, whatever
# the machine and its other work are.
. "$top_srcdir/tests/support/program.sh"
here=$top_builddir/tests/driver/programs
mkdir -p config/rot
echo counting=expected >config/rot/config

# are_known WHAT KEY TRIPLE SINGLE ARGUMENT...: both functions were found, and their samples are about 3 : 1. A busy machine
# takes samples away, of both alike; few of them vary, so runs are added up until they do.
are_known()
{
	what=$1 key=$2 triple=$3 single=$4
	shift 4
	result=1
	for runs in 1 2 4 8 16 32; do
		call run -q -j functions.json --runs=$runs "$@"
		out="$(of_functions functions.json "$key" "$triple" samples) $(of_functions functions.json "$key" "$single" samples)"
		grep '^/tmp/perf-[0-9]*\.map$' "$work/out" | xargs rm -f
		echo "$out" | awk '{exit !($2 > 10 && $1 > 2 * $2 && $1 < 4.5 * $2)}' && result=0 && break
	done
	check "$what"
}

# have_called WHAT HOW KEY INNERMOST CALLER...: each of the callers has the samples of the innermost one in its total, once.
# Some samples are of what the program does besides, before and after.
have_called()
{
	what=$1 how=$2 key=$3 innermost=$4 result=0
	shift 4
	call run -q -j stacks.json "$program" "$how"
	samples=$(of_functions stacks.json "$key" "$innermost" samples)
	out=$samples
	[ "$samples" -gt 10 ] || result=1
	for caller; do
		total=$(of_functions stacks.json "$key" "$caller" totalSamples)
		out="$out $total"
		[ "$total" -ge "$samples" ] && [ "$total" -le $((samples + samples / 4 + 2)) ] || result=1
	done
	check "$what"
}

# nr_incomplete: samples of the last run of which not all calls are known
nr_incomplete()
{
	value_of stacks.json functions.incompleteStacks
}

# is_complete WHAT CALLER: in the last run it has a total, and most stacks are known up to their beginning
is_complete()
{
	total=$(of_functions stacks.json function "$2" totalSamples)
	out="$total $(nr_incomplete)"
	[ "$total" -gt 10 ] && [ "$(nr_incomplete)" -lt $((total / 4 + 2)) ]
	result=$?
	check "$1"
}

call run -q -j refused.json "$here/known_shares" here
"$top_builddir/tests/json_lines" refused.json >lines
if grep -q 'functions\.refusal = .' lines; then
	echo "skipped: $(grep 'functions\.refusal' lines)"
else
	are_known "two functions" function own_triple own_single "$here/known_shares" here
	are_known "of two threads" function own_triple own_single "$here/known_shares" threads
	are_known "of threads that are told apart by a tracer" function own_triple own_single -t "$here/known_shares" threads
	are_known "of a program that it starts" function own_triple own_single "$here/known_shares" child
	call run -q -j functions.json --no-children "$here/known_shares" child
	out=$(of_functions functions.json function own_triple samples)
	[ "$out" = 0 ]
	check "which is left out with --no-children"
	are_known "of a library that is loaded later" function library_triple library_single \
		"$here/known_shares" library "$here/known_shares_library.so"
	cp "$here/known_shares" gone
	# shellcheck disable=SC2016
	call run -q -j functions.json sh -c './gone here & while [ /proc/$!/exe -ef /proc/$$/exe ]; do sleep 0.01; done; rm gone; wait'
	out="$status $(of_functions functions.json object "$PWD/gone" samples)"
	case $out in "0 "[1-9]*) result=0 ;; *) result=1 ;; esac
	check "of a file that is gone"
	are_known "of code that was made and named" function made::triple made::single "$here/known_shares" named

	# Beside counters, of threads: the CPU clock needs none of them.
	if ! is_sanitized; then
		export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm"
		are_known "beside counted events" function own_triple own_single -counting=events -validate=never -findPeaks=false -t \
			"$here/known_shares" threads
		unset LD_PRELOAD ROT_SIMULATED_MACHINE
		has "which are counted" functions.json 'runs\[0\]\.threads\[1\]\.counts\.allFlops = .*'
	fi

	program=$here/known_stacks
	have_called "calls" calls function work work inner outer main
	named=$(for name in work inner outer; do of_functions stacks.json function $name address; done)
	have_called "recursion, once" recursion function work recurse main
	have_called "the begin of a thread" thread function work outer in_thread
	have_called "a signal" signal function work handle interrupted main
	is_complete "to the first function" main
	call run -q -j stacks.json "$program" made
	is_complete "code that was made and has a frame pointer" call_made
	call run -q -j stacks.json "$program" vdso
	is_complete "code of the kernel that runs in user mode" ask_time
	have_called "deep recursion, as far as it is sampled" deep function work recurse
	out=$(nr_incomplete)
	[ "$out" -ge "$samples" ]
	result=$?
	check "which is told"
	program=$here/known_stacks_stripped
	have_called "calls of a stripped program" calls address $named

	# A stripped copy has the same code at the same addresses.
	call run -q -j named.json "$here/known_shares" here
	are_known "without symbols, by their addresses" address "$(of_functions named.json function own_triple address)" \
		"$(of_functions named.json function own_single address)" \
		"$here/known_shares_stripped" here
fi

# ---- where it is refused ----
"$top_builddir/tests/without_syscall" 298 13 "$rot" run -j - "$here/known_shares" here >refused.json 2>"$work/err"
status=$? out='' err=$(cat "$work/err")
case $status:$err in 0:*"functions: cannot sample the CPU time: Permission denied"*) result=0 ;; *) result=1 ;; esac
check "a remark, and no failure, where the system refuses it"
"$top_builddir/tests/json_lines" refused.json | grep -q 'functions\.cpuTime = null'
check "of which nothing is said to be measured"

exit $((nr_failed != 0))
