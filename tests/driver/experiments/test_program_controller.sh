#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs in controllers as people measure them, with the real measuring core: what is shown, what runs again.
. "$top_srcdir/tests/support/program.sh"

# has WHAT STATUS PART-OF-OUTPUT PART-OF-ERROR
has()
{
	result=1
	case $status:$out in "$2:"*"$3"*) case $err in *"$4"*) result=0 ;; esac ;; esac
	check "$1"
}

# ran WHAT TIMES: how often the program was started until now
ran()
{
	err=$(wc -l <runs)
	[ "$err" -eq "$2" ]
	check "$1"
}

# controller ATTRIBUTES-OF-PROGRAM CHILDREN REST
controller()
{
	cat >mine.xml <<-END
		<controller name="mine" comment="a test" runs="2">
		<axis name="n"><list values="1 2"/></axis>
		<point series="s" label="{\$n}"><program executable="./program" $1>$2</program></point>
		<quantity is="time"/>
		${3-}
		</controller>
	END
}

: >runs
cat >program <<'END'
#!/bin/sh
echo "$1" >>runs
echo "$1 $VALUE $(cat)"
echo "complaint $1" >&2
exit "${2:-0}"
END
chmod +x program
echo first >input
key=-timeReport=false
children='<argument value="a{$n}"/><environment value="VALUE={10 * $n}"/>'

# ---- a table, and nothing of the program's output ----
controller 'standardInput="input" standardOutput="written"' "$children"
call measure "$key" ./mine.xml
has "a table" 0 "median n=2" ""
has "that says when it was measured" 0 " UTC" ""
case $out$err in *complaint* | *"a1"*) result=1 ;; *) result=0 ;; esac
check "the program's own output is not shown"
ran "two points of two runs" 4
for lines in 1,2 3,4; do
	err=$(sed -n ${lines}p runs)
	[ "$(sort -u runs | tr '\n' ' ')" = "a1 a2 " ] && [ "$(sed -n ${lines}p runs | sort -u | wc -l)" = 2 ]
	check "each block has both points: lines $lines"
done
out=$(cat written)
[ "$out" = "a1 10 first" ] || [ "$out" = "a2 20 first" ]
check "arguments, environment, input and output"
grep -q '"schema": "rot.result/1"' mine.json && grep -q '"/.*libc.so.6": "[0-9a-f]\{64\}"' mine.json &&
	grep -q '"VALUE=20"' mine.json && grep -q '"last": "20[0-9-]*T[0-9:]*Z"' mine.json
check "the JSON says what ran"

# ---- what runs again ----
call measure "$key" ./mine.xml
ran "nothing runs again" 4
call measure "$key" ./mine.xml -runs=3
ran "missing runs are added" 6
controller 'standardInput="input" standardOutput="written"' "$children" '<table><column of="n"/><column of="time"/></table>'
call measure "$key" ./mine.xml
ran "a table runs nothing" 6
call remeasure "$key" ./mine.xml
ran "remeasure" 10
echo second >input
call measure "$key" ./mine.xml
ran "another input" 14
OMP_NUM_THREADS=7 "$rot" measure "$key" ./mine.xml >"$work/out" 2>&1
ran "another environment" 18
call measure "$key" ./mine.xml
ran "the former environment" 18

# ---- bad ends ----
controller '' "$children<argument value='{3 * (\$n = 2)}'/>"
call measure "$key" ./mine.xml
has "a bad end names its point" 1 "" "mine.xml:3: at n=2: the program './program' ended with exit status 3"
has "and what it printed" 1 "" "complaint a2"
ran "the other point has its runs" 21
call measure "$key" ./mine.xml -stopOnError=true
has "with stopOnError it is the error" 1 "" "rot: ./mine.xml:3: at n=2: the program './program' ended with exit status 3"
ran "nothing runs after it" 23
controller 'exitStatus="0 3"' "$children<argument value='{3 * (\$n = 2)}'/>"
call measure "$key" ./mine.xml
has "a bad end that is allowed" 0 "" ""
controller 'exitstatus="3"' ''
call measure "$key" ./mine.xml
has "a wrong word" 1 "" "did you mean 'exitStatus'?"
controller '' '' '<quantity is="throughput:l1l2:tsc"/>'
call measure "$key" ./mine.xml
result=1
[ "$status" = 1 ] && [ -n "$err" ] && result=0
check "what nobody measures"

# ---- an interruption keeps what is finished ----
cat >program <<'END'
#!/bin/sh
[ "$1" = a1 ] && : >first
[ "$1" = a1 ] || [ ! -e first ] && exit
kill -TERM "$(cat rot.pid)"
exec sleep 60
END
controller '' "$children"
sh -c 'echo $$ >rot.pid; exec "$@"' sh "$rot" measure "$key" ./mine.xml >"$work/out" 2>"$work/err"
status=$? out=$(cat "$work/out") err=$(cat "$work/err")
has "an interruption" 130 "Not complete: stopped after " "interrupted" "runs that have ended are kept"
has "it says that runs are missing" 130 " points, some of them of fewer runs than were asked for." ""

# ---- regions ----
target=$top_builddir/tests/core/parent/region_target
cat >regions.xml <<END
<controller name="regions" comment="a test" runs="1">
<axis name="hits"><list values="2 40"/></axis>
<point series="s" label="{\$hits}">
<program executable="$target" regionBackend="breakpoint"><argument value="main"/><argument value="{\$hits}"/><region name="part" begin="region_one"/></program>
</point>
<quantity is="time"/>
<table><column of="hits"/><column of="region"/><column of="time"/></table>
</controller>
END
call measure "$key" regions.xml
case $status:$err in
1:*"was not observed"*) echo "SKIP: regions: $err" ;;
*)
	has "a point for the region" 0 " 2  part" ""
	has "and for the program" 0 "40  program" ""
	grep -q '"series": "s part"' regions.json
	check "the series of the region"
	sed 's/region_one/no_such_function/' regions.xml >wrong.xml
	call measure "$key" wrong.xml
	has "a region that is not there" 1 "" "the region 'part' of '$target' was not observed"
	;;
esac

# ---- the example ----
if command -v awk >/dev/null && command -v gnuplot >/dev/null; then
	call measure "$key" awk -runs=1
	has "the example" 0 "variable" ""
	[ -s awk.pdf ] && [ -s awk-performance.pdf ]
	check "its plots"
fi

exit $((nr_failed != 0))
