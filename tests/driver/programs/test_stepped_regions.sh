#!/bin/sh
# SPDX-License-Identifier: MIT
# Regions of programs that are counted by blocks: operations are exact, and programs do what they do alone.
. "$top_srcdir/tests/support/program.sh"

known=$top_builddir/tests/driver/programs/known_work
stepped=$top_builddir/tests/driver/programs/stepped_work
without=$top_builddir/tests/without_syscall

needs_tracing

# flops FILE REGION: operations of double precision in the region
flops()
{
	"$top_builddir/tests/json_lines" "$1" | awk -v series="region $2" '
		{at = index($0, " = "); path = substr($0, 1, at - 1); text = substr($0, at + 3)}
		path ~ /^points\[[0-9]+\]\.series$/ {name[substr(path, 1, index(path, "]"))] = text}
		{values[path] = text}
		END {
			for (path in values)
				if (path ~ /\.of$/ && values[path] == "doublePrecisionFlop" && name[substr(path, 1, index(path, "]"))] == series) {
					sub(/\.of$/, "", path)
					if (values[path ".name"] == "operationCount") print values[path ".value"]
				}
		}'
}

# counts REGION FLOPS
counts()
{
	found=$(flops run.json "$1")
	[ "$found" = "$2" ]
	result=$?
	err="$err
$1: '$found' operations instead of '$2'"
	check "operations of $1"
}

call run -q -counting=steps --runs=2 --region=work -j run.json -- "$known" 5000
is "a program with two threads" 0 "" ""
counts work 10000.0

# Behind four digits, too.
call run -counting=steps --region=work -- "$known" 12346
case $err in *"operations "*" 24692 flop"*) result=0 ;; *) result=1 ;; esac
check "counts are shown in full"

# Every thread of the program does the work once.
call run -q -counting=blocks --region=work -j run.json -- "$known" 5000
is "a region and its program" 0 "" ""
counts work 10000.0
has "both are counted" run.json 'counting = blocks' 'points\[0\]\.series = program' 'regions\[0\]\.name = work'

# Counts alone have regions as well, and no time of anything.
call run --counts-only -caches=none --region=work -j run.json -- "$known" 5000
counts work 10000.0
case $status:$err in *"time of a hit"*|*"  time "*) result=1 ;; 0:*"nothing is timed"*"region work"*) result=0 ;; *) result=1 ;; esac
check "a region of a run that is not timed has no time"
has "nor has it in the file" run.json 'regions\[0\]\.hits = 2\.0' 'regions\[0\]\.timeShare = null'

# What a process does that is not followed, it does in its own code.
call run -q --no-children --counts-only -- "$stepped"
is "a process that is not followed computes what it computes" 0 "$("$stepped")" ""

# What the compiler made of a function beside it has another name, so each region is one of all that are called so.
alone=$("$stepped")
call run -q -counting=steps -j run.json --region=tree --region=parent --region=jumper --region=shared --region=queued --region=met --region=moved --region=interrupted \
	-- "$stepped"
is "it computes what it computes alone" 0 "$alone
$alone" ""
counts tree 190.0
counts parent 1001.0
counts jumper 1000.0
counts shared 1001.0
counts queued 60060.0
counts met 20000.0
counts moved 0.0

# A handler of a signal that comes in between is not counted, or some of it where it shares code with the region.
found=$(flops run.json interrupted)
case $found in 2[0-9][0-9][0-9][0-9].0) result=0 ;; *) result=1 ;; esac
check "operations among signals: $found"

call run -counting=steps --region=odd -j run.json -- "$stepped"
case $status:$err in 0:*'rot does not know what 3 executed instructions do (the first: maskmovq at 0x'*' of '*stepped_work*) result=0 ;; *) result=1 ;; esac
check "instructions that are not known are told, with the first of them"
grep -q 'rot does not know what 3 executed instructions do' run.json
check "also in the JSON"

call run -counting=steps "$known" 10
case $status:$err in 0:*"regions"*) result=0 ;; *) result=1 ;; esac
check "a whole program is timed alone, and that is said"

call run -counting=blocks -t --all -- "$known" 10
lines=$(printf '%s\n' "$err" | awk '/^ +thread name /{getline; print}')
case $lines in *"LLC-RAM"*"double precision"*"single precision"*"integers"*) result=0 ;; *) result=1 ;; esac
check "columns of threads say of which operations and borders they are"

"$without" 101 1 "$rot" run -counting=steps --region=work -- "$known" 10 >"$work/out" 2>"$work/err" </dev/null
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
case $status:$err in 1:*"not told apart"*) result=0 ;; *) result=1 ;; esac
check "without ptrace the program runs all the same, and its region is told to be missing"

# What OpenMP shares among threads is work of the function: one of 64000 operations, or five.
# Compilers give what threads execute names of their own, and gcc leaves some functions by a jump to the team.
for compiler in gcc clang; do
	"$compiler" -O1 -fopenmp -o "team_$compiler" "$top_srcdir/tests/driver/programs/team_work.c" 2>/dev/null || {
		echo "skipped: $compiler cannot link programs with OpenMP here"
		continue
	}
	call run -q -counting=steps -caches=none -j run.json --region=loop --region=nested --region=tasks --region=ssc \
		--region=half=loop#1-5 -- "./team_$compiler"
	counts loop 320000.0
	counts nested 64000.0
	counts tasks 64000.0
	counts ssc 64000.0
	counts half 160000.0
	has "$compiler: hits are those of the function, and of its team besides" run.json \
		'regions\[0\]\.hits = 5\.0' 'regions\[0\]\.measuredHits = 5\.0' 'regions\[0\]\.innerHits = 5\.0' \
		'regions\[0\]\.teamHits = 5\.0' 'regions\[0\]\.nrThreads = 2' 'regions\[0\]\.hitsAgree = true' \
		'regions\[3\]\.hits = 1\.0' 'regions\[4\]\.teamHits = 0\.0' \
		'notes\[[0-9]+\] = region half: other threads of its OpenMP team are not in it.*'
	call run -counting=expected --region=loop --region=ssc:0xFACE..ssc:57005 --region=main -- "./team_$compiler"
	case $status:$err in 0:*"region loop"*"hits of its OpenMP team "*" 5"*"region ssc:0xFACE..ssc:57005"*"region main: where loop opens a team"*) result=0 ;; *) result=1 ;; esac
	check "$compiler: regions of a team and of marks are timed, and a region with others' teams is told"
	call run -counting=expected --region=loop --region=lop -- "./team_$compiler"
	case $status:$err in 1:*"region lop: "*"did you mean 'loop'?"*"the program was not run"*) result=0 ;; *) result=1 ;; esac
	check "$compiler: the plugins of OpenMP bring no region"
done
if [ -x team_gcc ]; then
	call run -q -counting=steps -caches=none -j run.json --region=loop._omp_fn.0 -- ./team_gcc
	counts loop._omp_fn.0 320000.0
	has "a part by its own name has hits" run.json 'regions\[0\]\.hits = 10\.0' 'regions\[0\]\.teamHits = 0\.0'
fi

# Tasks of ITT, one within the other; what has no name, or another one, is no region.
itt=$top_builddir/tests/driver/programs/itt_work
call run -q -counting=steps -caches=none -j run.json "--region=itt:outer task" --region=itt:inner --region=again=itt:inner#2 --region=itt:inne -- "$itt"
counts 'itt:outer task' 4800.0
counts itt:inner 1500.0
counts again 500.0
has "tasks have hits" run.json 'regions\[0\]\.hits = 3\.0' 'regions\[0\]\.begin = itt:outer task' 'regions\[1\]\.hits = 3\.0' \
	'regions\[3\]\.hits = 0\.0'
call run --region=itt:inner..itt:outer -- "$itt"
case $status:$err in 1:*"an ITT task ends where the program says"*) result=0 ;; *) result=1 ;; esac
check "tasks have ends of their own"

exit $((nr_failed != 0))
