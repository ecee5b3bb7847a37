#!/bin/sh
# SPDX-License-Identifier: MIT
# Findings of programs by construction: each has the one that it is made for, and none that it is not.
. "$top_srcdir/tests/support/program.sh"
known=$top_builddir/tests/driver/programs/known_findings
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
echo counting=blocks >>config/rot/config

needs_tracing
call run -q -counting=expected -j one.json true
"$top_builddir/tests/json_lines" one.json | grep 'functions\.refusal = .' && {
	echo "SKIP: nothing is sampled here" >&2
	exit 77
}

# codes FUNCTION: what is found in a function of that name, or in any ('.*'), or ('') in none
codes()
{
	"$top_builddir/tests/json_lines" found.json | awk -v function_="^$1\$" '
		match($0, /^findings\[[0-9]*\]\./) { item = substr($0, 1, RLENGTH); line = substr($0, RLENGTH + 1) }
		{ at = index(line, " = "); values[item, substr(line, 1, at - 1)] = substr(line, at + 3); items[item] }
		END {
			for (item in items)
				if (values[item, "about"] != "measurement" && values[item, "function"] ~ function_)
					printf " %s", values[item, "code"]
		}'
}

# finds WHERE HAS HAS_NOT HOW [LIBRARY]: findings in the function are one that matches, and none that matches the other
finds()
{
	where=$1 one=$2 other=$3
	shift 3
	call run -q -j found.json "$known" "$@"
	out=$(codes "$where")
	err="$one and no $other were expected"
	echo "$out " | grep -q -E " ($one) " && ! echo "$out " | grep -q -E " ($other) "
	result=$?
	check "$*: $one"
}

# chained CHAIN HOW [LEAF]: a loop of the function HOW has that chain ('': none), through LEAF if it is given. A finding
# says so of each of both just if the chain takes most of the time that they had, which is longer on a busy host.
chained()
{
	chain=$1 how=$2 leaf=${3-none}
	call run -q -j found.json "$known" "$how"
	out=$("$top_builddir/tests/json_lines" found.json | awk -v how="$how" -v leaf="$leaf" '
		match($0, /^functions\.(loops|functions)\[[0-9]*\]\./) {
			item = substr($0, 1, RLENGTH); line = substr($0, RLENGTH + 1)
			at = index(line, " = "); values[item, substr(line, 1, at - 1)] = substr(line, at + 3); items[item]
		}
		/^functions\.(cpuTime|sampledRuns) = / { whole[$1] = $3 }
		END {
			for (item in items) {
				if (item ~ /loops/ && values[item, "function"] == how && values[item, "header"] != 0) {
					ns += values[item, "chainTime"] * values[item, "turns"]
					text = values[item, "chain"]; called = values[item, "leaf"]
				}
				if (item ~ /functions\[/ && values[item, "function"] == leaf)
					address = values[item, "address"]
				if (item ~ /functions\[/ && values[item, "function"] ~ "^(" how "|" leaf ")$")
					all += values[item, "share"]
			}
			share = ns * 1e-9 * whole["functions.sampledRuns"] / (all * whole["functions.cpuTime"])
			printf "%s|%d|", text, called == address + 0
			for (item in items)
				if (item ~ /functions\[/ && values[item, "function"] ~ "^(" how "|" leaf ")$") {
					least = share * values[item, "share"] / (values[item, "high"] + 1e-9)
					is_long = least > 0.6 && share <= 1.25 && values[item, "low"] >= 0.05
					printf "%s=%d ", values[item, "function"], is_long
				}
		}')
	result=0
	[ "${out#"$chain|1|"}" != "$out" ] || result=1
	for one in ${out##*|}; do
		found="$(codes "${one%=*}") "
		case $one$found in *=1*" scalar "* | *=0*" chain "*) result=1 ;; *=1*" chain "* | *=0*) ;; *) result=1 ;; esac
	done
	err="a chain of '$chain' and a finding just if it is long were expected, not $found"
	check "$how: chain of '$chain'"
}

# Time on a busy host is longer, by which memoryLatency may come and go. So it is told only where longer times make no
# difference.
vectors='scalar|narrowVectors|maskedLanes|x87'
lines='sparseLines|memoryLatency|bandwidth'
finds poly scalar "narrowVectors|maskedLanes|x87|divisions|$lines" poly
chained '1 addition and 1 multiplication' chain
chained '1 addition and 1 multiplication' through leaf
chained '' poly
chained '1 load' chase
finds divide divisions "$vectors|$lines" divide
finds modulo integerDivisions "$vectors|divisions|chain|$lines" modulo
finds convert conversions "narrowVectors|maskedLanes|x87|divisions|chain|$lines" convert
finds extended x87 "scalar|narrowVectors|maskedLanes|divisions|$lines" extended
finds stride sparseLines "$vectors|divisions" stride
finds chase sparseLines "$vectors|divisions|chain" chase
finds split splitLines 'x87|divisions|chain|sparseLines' split
out=$(of_functions found.json function split counts.splitAccesses)
[ "$out" = 100000000 ]
result=$?
check "each of its loads and stores is in two lines: $out"
if grep -q -w avx2 /proc/cpuinfo; then
	finds gather gathers "$vectors|divisions|$lines" gather
fi
if grep -q -w avx /proc/cpuinfo; then
	finds packed narrowVectors "scalar|maskedLanes|x87|divisions|$lines" packed
fi
finds spin spinning "$vectors|divisions|chain|loadChain|$lines" spin

finds '' imbalance 'scalar|kernelTime' threads
call run -q -j found.json "$known" serial
out=$(codes '')
[ "$status" = 0 ] && ! echo "$out " | grep -q ' imbalance '
check "serial: work before the other threads begin is no imbalance"
finds '' kernelTime 'scalar|imbalance' kernel
finds '' waiting 'scalar|imbalance' sleep

# Vectors do not make memory faster, and a library has some already.
for how in "triad" "dgemm libopenblas.so.0"; do
	rm found.json
	# shellcheck disable=SC2086
	call run -q -j found.json "$known" $how
	out=$(codes '.+')
	[ "$status" = 0 ] && [ "$(value_of found.json counting)" = blocks ] &&
		! echo "$out " | grep -q -E ' (scalar|sparseLines|x87|divisions|maskedLanes) '
	result=$?
	check "$how: no scalar code"
done

# ---- threads ----
call run -q -j serial.json "$known" serial
cpus=$(nproc)
out="poly $(of_functions serial.json function poly threadsAtOnce), packed $(of_functions serial.json function packed threadsAtOnce)"
[ "$out" = "poly 1, packed $((cpus > 1 ? 2 : 1))" ]
result=$?
check "a function that one thread executes, and one that two do: $out"

line=$(grep -n '^twice(' "$top_srcdir/tests/driver/programs/known_findings.c")
out=$(of_functions serial.json function twice line)
[ "$out" = "${line%%:*}" ]
result=$?
check "a function is where it is declared, whatever its first instruction is of"

if [ -r /proc/self/schedstat ] && [ "$(cat /proc/self/schedstat)" != "0 0 0" ]; then
	call run -j found.json "$known" crowd
	case $(echo "$err" | tr -s ' \n' ' ') in
	*"measurement: the host was busy: threads spent "*" waiting for a CPU: "*"; try no more threads than CPUs"*) result=0 ;;
	*) result=1 ;;
	esac
	check "more threads than CPUs wait for each other"
	call plot -plots=html found.json
	case $(cat ./*.html) in *"No sample was disturbed"*) result=1 ;; *"The runs were disturbed (the host was busy: "*) result=0 ;; *) result=1 ;; esac
	check "their page says so, too"
fi

# ---- told ----
call run "$known" divide
echo "$err" | tr -s ' \n' ' ' |
	grep -q -E ' findings \((all 7 checks of the measurement passed|[1-7] of 7 checks of the measurement fail: [a-zA-Z, ]*)\)' &&
	echo "$err" | grep -q '^  divide: 100 % of its operations divide or take roots' &&
	! echo "$err" | grep -q -F '[operations that'
result=$?
check "findings below the table"
call run --all "$known" divide
echo "$err" | tr -s ' \n' ' ' | grep -q -F '[operations that are divisions or square roots, one in 10 ns or more: more than 10 %]'
result=$?
check "thresholds with --all"
call list findings div
[ "$status" = 0 ] && echo "$out" | tr -s ' \n' ' ' | grep -q 'divisions .*more than 10 % Try reciprocals'
result=$?
check "rot list findings"

exit $((nr_failed != 0))
