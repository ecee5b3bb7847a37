#!/bin/sh
# SPDX-License-Identifier: MIT
# The controllers about the system itself, with the real measuring core: exptime1, diskio and cpuMigration. No time is asserted.
. "$top_srcdir/tests/support/program.sh"

command -v gnuplot >/dev/null || { echo "SKIP: there is no gnuplot" >&2; exit 77; }

# result_of CONTROLLER AWK: the program ends with 0 on all its quantities
result_of()
{
	quantities "$1.json" >lines
	awk -F '\t' "$2" lines
	result=$?
}

call measure exptime1 -runs=2 -starts=1 -sizes=small
result=$status
check "rot measure exptime1"
result_of exptime1 '
	{ loads[$1] = 1 }
	$3 ~ /^time:(tsc|microSeconds|coreCycles)$/ && $4 == "n" { nr++; wrong += $5 != 2 }	# disturbed or not
	$4 ~ /^threadSamples/ { wrong++ }
	END { exit wrong || nr != 3 * 5 * length(loads) || !("Idle" in loads && "AddSame" in loads && "DiskSame" in loads) }'
check "times by each clock, of the measured thread alone"
has_other=$(cut -f 1 lines | grep -q Other && echo 1 || echo 0)
[ "$has_other" = "$(getconf _NPROCESSORS_ONLN | awk '{ print ($1 > 1) }')" ]
check "loads on another CPU, where there is one"
# Twice 16 ms beside another thread on the same CPU are not done at once.
result_of exptime1 '$1 == "AddSame" && $2 == 4096000 && $3 == "contextSwitches:" && $4 == "value" { nr = $5 } END { exit !(nr > 0) }'
check "the context switches"
case $out in *"are in the values, which are about that"*) result=0 ;; *) result=1 ;; esac
check "that disturbed runs are in the values is told"
result=0
[ -e exptime1.gnuplot ] || result=1
if ! grep -q referenceCycles lines && [ -e exptime1-reference.gnuplot ]; then result=1; fi
check "pictures, and none of what nobody can measure"

call measure diskio -runs=2 -starts=1 -sizes=small
case $err in
*"past the page cache"*)
	echo "skipped: $err"
	;;
*)
	result=$status
	check "rot measure diskio"
	result_of diskio '
		$3 == "time:microSeconds" && $4 == "value" { time[$1, $2] = $5 }
		$3 == "time:microSeconds" && $4 == "tainted" { tainted[$1, $2] = $5 }
		$3 == "throughput:disk" && $4 == "unit" { wrong += $5 != "byte/s" }
		$3 == "throughput:disk" && $4 == "kind" { wrong += $5 != "expected" }
		$3 == "throughput:disk" && $4 == "value" { rate[$1, $2] = $5; bytes[$1, $2] = $2 * 1048576 }
		END {
			for (i in rate) {
				nr++
				share = rate[i] * time[i] * 1e-6 / bytes[i]
				wrong += !tainted[i] && (share < 0.999999 || share > 1.000001)
			}
			exit wrong || nr != 6
		}'
	check "bytes of the file per time, written and read"
	;;
esac

if [ "$(nproc)" -lt 2 ]; then
	echo "skipped: there is one CPU, so nothing migrates"
else
	call measure cpuMigration -runs=2 -starts=1 -sizes=small
	result=$status
	check "rot measure cpuMigration"
	result_of cpuMigration '
		$3 == "migrations:" && $4 ~ /^samples\[/ { nr++; wrong += $5 != ($1 != "stays") }
		$3 == "time:microSeconds" && $4 == "taints.migration" { told[$1, $2] = $5; wrong += $5 != 2 || $1 == "stays" }
		$3 == "time:microSeconds" && $4 == "estimator" && $1 != "stays" { moves[$1, $2]; wrong += $5 !~ /OfTainted$/ }
		END { exit wrong || nr == 0 || length(told) != length(moves) }'
	check "each run that moves is counted and tainted, none that stays"
	case $out in *"(d): every run was disturbed"*"had no run that was not disturbed ("*migration*")"*) result=0 ;; *) result=1 ;; esac
	check "the table says so"
fi
[ $nr_failed -eq 0 ]
