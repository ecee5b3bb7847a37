#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot run" as people type it, with the real measuring core: nothing of the program changes, and mistakes are told apart.
. "$top_srcdir/tests/support/program.sh"

# has WHAT STATUS OUTPUT PART-OF-ERROR
has()
{
	result=1
	[ "$status" = "$2" ] && [ "$out" = "$3" ] && case $err in *"$4"*) result=0 ;; esac
	check "$1"
}

# Programs run once, also where there are no counters.
mkdir -p config/rot
echo counting=events >config/rot/config

# ---- the program's own ----
call run -q sh -c 'echo out; echo err >&2; exit 3'
is "streams and status" 3 out err
call run sh -c 'echo out'
has "a table on standard error" 0 out "time  "
call run -q -j - echo out
case $status:$out in 0:out*'"schema": "rot.result/1"'*) result=0 ;; *) result=1 ;; esac
check "JSON behind the program's output"
"$rot" run -q -j - true >/dev/full 2>"$work/err"
status=$? out= err=$(cat "$work/err")
has "what cannot be written is a failure, though the program ended well" 1 "" "cannot write to standard output"
"$rot" run -q -j - sh -c 'exit 3' >/dev/full 2>"$work/err"
status=$? err=$(cat "$work/err")
has "of a program that failed the status stays" 3 "" "cannot write to standard output"
mkdir nowhere
call run -q -j nowhere echo out
has "a folder is no file for JSON, which is seen before" 1 "" "cannot write 'nowhere': Is a directory"
call run -q -j missing/x.json echo out
has "nor is one in a folder that is not there" 1 "" "cannot write 'missing/x.json': No such file"
mkfifo pipe
cat pipe >from-pipe &
call run -q -j pipe echo out
[ "$status" = 0 ] || kill $!
wait $!
has "JSON into a pipe" 0 out ""
[ -p pipe ] && grep -q '"schema": "rot.result/1"' from-pipe
check "which stays one"
mkdir closed
chmod a-w closed
out=$(cd closed && "$rot" run -q -j - true 2>"$work/err")
status=$? err=$(cat "$work/err")
case $status:$out in 0:*'"schema": "rot.result/1"'*) result=0 ;; *) result=1 ;; esac
check "JSON to standard output where nothing can be written"
long=$(printf 'x%89s' | tr ' ' x)
call run -j long.json true "${long}ü€ü€"
has "a long command ends between two characters" 0 "" "  true ${long} ...
"
grep -q "\"label\": \"true $long ...\"" long.json
check "in JSON as well"
call run -q -strict echo out
has "one run alone gives no sound numbers" 1 out "rot: strict: "
call run -q sh -c 'kill -9 $$'
is "ended by a signal" 137 "" ""
call run -counting=expected sh -c 'kill -SEGV $$'
has "by which it ended" 139 "" "ended by signal 11 (SIGSEGV)"
call run -counting=expected sh -c 'exit 3'
has "with which status it ended" 3 "" "ended with exit status 3"
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)
call run -q sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status
is "signals are ignored that were ignored before, no others" 0 "$ignored" ""
call run -q printf '%s ' --help -o --passes=3 -quiet -- -x
is "arguments are not touched" 0 "--help -o --passes=3 -quiet -- -x " ""
call -quiet run -timeReport=false -- printf '%s' -quiet
is "keys before the program" 0 "-quiet" ""
call run -q "$rot" run -q sh -c 'exit 5'
is "rot within rot" 5 "" ""
echo input >input
"$rot" run -q --runs=2 cat <input >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
is "each run reads the file on standard input" 0 "input
input" ""

# bytes_of FILE BORDER
bytes_of()
{
	"$top_builddir/tests/json_lines" "$1" | awk -v border="$2" '
		{at = index($0, " = "); values[substr($0, 1, at - 1)] = substr($0, at + 3)}
		END {
			for (path in values)
				if (path ~ /\.of$/ && values[path] == border) {
					sub(/\.of$/, "", path)
					if (values[path ".name"] == "transferredBytes") print values[path ".value"]
				}
		}' | head -n 1
}

# near FOUND WANTED: within 5 %
near()
{
	awk -v found="$1" -v wanted="$2" 'BEGIN {exit !(found > 0.95 * wanted && found < 1.05 * wanted)}'
}

# ---- once to be timed, and once to be counted ----
of_blocks()
{
	echo ran >wanted
	call run -counting=blocks -j blocks.json sh -c 'echo ran >>runs; echo out; [ "$(wc -l <runs)" = 1 ] || exit 3'
	case $status:$out:$err in 3:out:*"will run twice"*"ended differently"*) result=0 ;; *) result=1 ;; esac
	check "what is printed in the second run is dropped, its status is not"
	rm -f runs
	call run --counts-only -j - sh -c 'echo ran >>runs; cat' <wanted
	[ "$(cat runs)" = ran ]
	check "counts alone take one run"
	printf 'piped\n' | "$rot" run -counting=auto cat >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	case $out:$err in piped:*"will run twice"*) result=1 ;; piped:*) result=0 ;; *) result=1 ;; esac
	check "of a pipe there is one run, unless two were asked for"
	rm -f runs

	# A signal that ends the program, as one for rot does, also ends the runs that were to come.
	call run -q -counting=blocks sh -c 'echo ran >>runs; kill -TERM "$(sed "s/.*) . \([0-9]*\) .*/\1/" /proc/$PPID/stat)"; exec sleep 60'
	[ "$status" = 143 ] && [ "$(wc -l <runs)" = 1 ]
	check "a program that was ended is not run again to be counted"

	# Triads over 3 arrays of 512 KiB, of which the second level holds none and the last one all, or half of one.
	for last in 16M 256K; do
		call run --counts-only -caches=32K:8,128K:8,$last:16 -j $last.json "$top_builddir/tests/driver/programs/triads"
	done
	llc=$(bytes_of 16M.json llcRam) l2=$(bytes_of 16M.json l2l3) small=$(bytes_of 256K.json llcRam)
	near "$l2" 20971520 && near "$small" 20971520 && [ "${llc%.*}" -lt 3000000 ]
	result=$? out="$l2 at the second level, $llc and $small at the memory"
	check "bytes at each border of caches that are asked for"
	# Where addresses are not random, counts are the same whatever is foreseen: nothing, what is executed, anything.
	# One process: in which order a shell's children end changes what it executes.
	if setarch -R true 2>/dev/null; then
		for run in none right wrong; do
			[ $run != right ] || before=$(stat -c '%n %i' foreseen/blocks/*)
			[ $run != wrong ] || after=$(stat -c '%n %i' foreseen/blocks/*)
			# Blocks are moved a little, many of them into instructions.
			[ $run != wrong ] || for file in foreseen/blocks/*; do
				LC_ALL=C tr '\200-\376' '\201-\377' <"$file" >moved && mv moved "$file"
			done
			setarch -R "$rot" run -q --counts-only -cacheFolder=foreseen -caches=none -j $run.json \
				sed s/bin/sbin/ /etc/passwd >out 2>err
		done
		cmp none.json right.json && cmp right.json wrong.json && [ -n "$before" ] && [ "$before" = "$after" ]
		check "what is foreseen changes no counts"
	fi
	for sampling in 1 8; do
		call run --counts-only -caches=32K:8,128K:8,16M:16 -cacheSampling=$sampling -j $sampling.json \
			"$top_builddir/tests/driver/programs/triads" 1200
	done
	near "$(bytes_of 8.json l2l3)" "$(bytes_of 1.json l2l3)"
	check "one line of 8 stands for all"
	has "how far off that may be is told" 0 "$out" "one line of 8 was modelled; errors seen before, and expected since: L1-L2 0.0"
	call run -caches=1M,32K true
	has "caches that are none" 1 "" "describes no caches"
}
call run --counts-only -j - true
case $err in
*'counted by a tracer'*) echo "skipped: blocks: $err" ;;
*) of_blocks ;;
esac
call run --counts-only -o picture true
has "counts alone have no roofline" 2 "" "no -o, -t, --runs"

# threads ARGUMENT...: how many threads of the program and of those it starts were measured
threads()
{
	call run -q -t -j threads.json "$@"
	grep -c '"label": "[^"]* [0-9]*"' threads.json
}

of_threads()
{
	[ "$(threads sh -c 'sh -c "exit 0"; exit 0')" = 2 ]
	check "processes that the program starts"
	[ "$(threads --no-children sh -c 'sh -c "exit 0"; exit 0')" = 1 ]
	check "without them"

	# The lowest CPU that the tracer may use while the program has the lowest of all for itself
	first=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[,-].*//')
	if [ -n "$first" ] && [ "$(nproc)" -gt 1 ]; then
		call run -q -t taskset -c "$first" sh -c 'taskset -cp $PPID | sed "s/.*: *//; s/[,-].*//"'
		[ "$status" = 0 ] && [ -n "$out" ] && [ "$out" != "$first" ]
		check "the tracer leaves the program its CPU"
	fi
}
call run -t true
case $err in
*'threads are not told apart'*) echo "skipped: threads: $err" ;;
*) of_threads ;;
esac

# ---- jobs: a shell that waits for rot sees the program stop, and lets it go on ----

# state PID: its letter in /proc
state()
{
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null
}

# wait_for COMMAND...: for ten minutes at most
wait_for()
{
	waited=0
	until "$@" || [ $waited = 6000 ]; do
		sleep 0.1
		waited=$((waited + 1))
	done
}

# has_stopped PID...
has_stopped()
{
	for one; do
		case $(state "$one") in [Tt]) ;; *) return 1 ;; esac
	done
}

is_over()
{
	case $(state "$1") in "" | Z) ;; *) return 1 ;; esac
}

# parent_of PID
parent_of()
{
	sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat"
}

# start OPTION SCRIPT: as a job of a shell, which is $shell; rot is $job
start()
{
	rm -f job
	# wait -f of bash 5.2 may never return, and prints meanwhile.
	bash -c 'set -m; "$0" "$@" & echo $! >job.new; mv job.new job; while kill -0 $!; do wait $!; sleep 0.05; done 2>/dev/null; wait $!' \
		"$rot" run -q "$1" sh -c "$2" </dev/null &
	shell=$!
	wait_for [ -e job ]
	job=$(cat job)
}

# ends_with WHAT STATUS: the job; it is killed if it does not end
ends_with()
{
	wait_for is_over "$job"
	is_over "$job" || kill -9 "$job"
	wait $shell
	status=$? out= err=
	[ "$status" = "$2" ]
	check "$1"
}

for option in $(! command -v bash >/dev/null || echo -q -t); do
	start $option 'kill -STOP $$; exit 3'
	wait_for has_stopped "$job"
	has_stopped "$job"
	check "rot stops with the program ($option)"
	kill -CONT "$job"
	ends_with "the program goes on with rot ($option)" 3

	# What the terminal sends at Ctrl-Z, to a program that has something to do before it stops
	start $option 'trap "kill -STOP $$; exit 4" TSTP; echo $$ >new; mv new handles; while :; do sleep 0.01; done'
	wait_for [ -e handles ]
	program=$(cat handles)
	core=$(parent_of "$program")
	rm -f handles
	kill -TSTP "$core" "$job" "$program"
	wait_for has_stopped "$job" "$program"
	kill -CONT "$core" "$job" "$program"
	ends_with "rot and a program that handles the signal stop and go on ($option)" 4
done

# ---- mistakes ----
call run
has "no program" 2 "" "no program given"
call run --passes=none true
has "no number" 2 "" "'none' is no whole number"
call run -rnus=3 true
has "an unknown key" 2 "" "'-rnus=3' is neither an option of 'rot run' nor a configuration key"
call run --region=solve.. true
is "half a region" 2 "" "rot: region 'solve..': the place where it ends is missing
     a region is [NAME=]PLACE[..PLACE][#FIRST[-[LAST]]]; a place is FUNCTION, 0xADDRESS, FILE:LINE, a marker's name,
     ssc:NUMBER or itt:TASK, with LIBRARY: before it if need be; for example: solve, inner=mesh.c:40..mesh.c:52, libz.so.1:deflate#2-10"
call run -R solve -R solve#2 true
is "two regions of one name" 2 "" "rot: region 'solve#2': a second one with the name 'solve'
     give each a name of its own: --region=NAME=solve#2"
known=$top_builddir/tests/driver/programs/known_work
call run -counting=expected -R main -R wrok -j unfound.json "$known" 1000
case $err in *"not told apart"*) ;; *)
	if ldd "$known" >ldd 2>&1; then
		case $status:$err in 1:"rot: region wrok: "*"did you mean 'work'?"*"the program was not run"*) result=0 ;; *) result=1 ;; esac
		[ ! -e unfound.json ] || result=1
		check "where a misspelled region is nowhere the program does not run, and what is like it is told"
	fi
	call run -counting=expected -R none-such:wrok "$known" 1000
	has "a library may come later" 1 "" "region none-such:wrok was not measured"
	call run -counting=expected -R wrok sh -c "$known 1000"
	case $status:$err in 1:"rot: region wrok: "*"looked at later"*"region wrok was not measured"*) result=0 ;; *) result=1 ;; esac
	check "a program that starts others runs, and they are looked at"
	;;
esac
call run -R solve --region-backend=gdb true
has "no backend" 2 "" "'gdb' is no value of 'region-backend', which takes auto, uprobe, breakpoint or int3"
call run no-such-program-at-all
is "not found" 127 "" "rot: cannot run 'no-such-program-at-all': no such program in PATH"
call run "$work"
has "a folder" 126 "" "Is a directory"
echo text >text
call run ./text
has "not executable" 126 "" "chmod +x './text'"
chmod +x text
call run ./text
has "neither program nor script" 126 "" "neither an ELF program nor a script"
printf '\177ELF of another kind' >text
call run ./text
has "a program for another processor" 126 "" "for another processor, or damaged: file './text'"
if ! is_sanitized; then
	export LD_PRELOAD="$top_builddir/tests/late_poll.so"
	call run ./text
	unset LD_PRELOAD
	has "a program for another processor, whose end is seen before the reason" 126 "" "for another processor, or damaged"
fi
call run -j no/such/folder/x.json true
has "a file that cannot be written" 1 "" "cannot write 'no/such/folder/x.json"

# ---- regions ----
target=$top_builddir/tests/core/parent/region_target
call run -R region_one --region-backend=int3 -j regions.json "$target" threads 2 10
if grep -q '"backend": "int3"' regions.json; then
	has "a region of two threads" 0 "" "observed by int3 at region_one+0x0"
	grep -q '"hits": 20.0' regions.json && grep -q '"measuredHits": 20.0' regions.json && grep -q '"nrThreads": 2' regions.json
	check "its hits"
	call run -R none_such --region-backend=int3 "$target" threads 2 10
	has "a region that is nowhere" 1 "" "no function or marker is called 'none_such'"
	call run -R strlenn --region-backend=int3 "${target}_stripped" threads 2 10
	has "a name that only a library has nearly, in a program without names" 1 "" "it is stripped): name an address"
else
	echo "skipped: int3 cannot observe regions here: $err"
fi

# ---- help and files ----
call run --help
out=$(echo "$out" | head -n 1)
is "help" 0 "Usage: rot run [OPTION...] [--] PROGRAM [ARGUMENT...]" ""
call run -q -j x.json true
is "JSON alone" 0 "" ""
grep -q '"schema": "rot.result/1"' x.json && grep -q '"sha256": "[0-9a-f]\{64\}"' x.json
check "the JSON"

exit $((nr_failed != 0))
