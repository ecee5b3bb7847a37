#!/bin/sh
# SPDX-License-Identifier: MIT
# The first screen of each command: at most 40 lines of at most 80 columns, and nothing but text where nobody can see colours.
. "$top_srcdir/tests/support/program.sh"
unset COLUMNS
export TERM=dumb NO_COLOR=1

# screen LINES ARGUMENT...: no more lines on both streams, each of 80 columns. Longer are lines with a path of this machine
# in them, and messages, which are wrapped at a terminal alone.
screen()
{
	most=$1
	shift
	"$rot" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	cat "$work/out" "$work/err" >"$work/screen"
	lines=$(wc -l <"$work/screen")
	out=$(sed 's/[^ -~]\{2,3\}/+/g' "$work/screen" | grep -v -F -e "$top_srcdir" -e "$top_builddir" -e "$work" | grep -v '^rot: ' |
		grep '^.\{81\}\|[[:cntrl:]]')
	err=
	[ -z "$out" ] && [ -s "$work/screen" ] && [ "$lines" -le "$most" ]
	check "rot $*: $lines lines"
}

screen 40 list controllers
cat >mine.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="mine" comment="ten points with a roofline" runs="2">
	<axis name="size"><range from="100" to="1000" step="100"/></axis>
	<point series="Triad" label="{$size}"><workload><kernel type="Triad" bufferSize="{$size}"/></workload></point>
	<plot type="roofline" x="operationalIntensity:doublePrecisionFlop:llcRam" y="performance:doublePrecisionFlop"/>
</controller>
END
known=$top_builddir/tests/driver/programs/known_work

screen 40 help
for command in $("$rot" complete 'rot '); do
	screen 40 help "$command"
done
screen 80 help run --all
screen 40 help triad
screen 40 doctor
screen 40 version
screen 40 list
screen 40 list quantities
screen 40 list kernels
screen 40 list controllers
mkdir -p data/rot/controllers
for number in $(seq 1 100); do
	echo '<controller name="own" comment="one of many"/>' >"data/rot/controllers/an-experiment-of-my-own-$number.xml"
done
screen 40 list controllers
rm -r data/rot/controllers
screen 40 list keys
screen 40 list events
screen 50 list findings
screen 40 list remarks
screen 40 measure report
screen 40 measure --dry-run ./mine.xml
screen 60 measure ./mine.xml -starts=1 -plots=terminal,gnuplot # with a picture of 24 lines
screen 40 measure ./mine.xml -starts=1
screen 40 remeasure ./mine.xml -starts=1 -quiet
screen 40 run -j before.json "$known" 1000
screen 40 run -j after.json "$known" 2000
screen 40 run -t "$known" 1000
for by in function loop line; do
	screen 44 run --by=$by "$top_builddir/tests/driver/programs/known_shares" many
done
screen 40 run --region=work "$known" 1000
screen 40 run --region=work --region=main "$known" 1000
screen 40 run --counts-only "$known" 1000
screen 40 run --miss-curve "$top_builddir/tests/driver/programs/triads"
screen 40 diff before.json after.json
screen 60 show before.json work # with the code
screen 40 plot before.json
screen 40 new kernel Own
screen 40 new controller own

# With counters other rows appear: those of a simulated Zen 5 (tests/simulated_pmu.c).
if ! is_sanitized; then
	export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$top_srcdir/tests/machines/zen5-turin-kvm"
	screen 40 doctor
	screen 40 list events
	screen 40 list quantities
	screen 40 list keys
	screen 40 measure ./mine.xml -starts=1 -validate=never -findPeaks=false
	screen 40 run -validate=never -findPeaks=false -j events.json "$known" 1000
	screen 40 run -validate=never -findPeaks=false -t "$known" 1000
	screen 40 run -validate=never -findPeaks=false --region=work "$known" 1000
	screen 40 diff before.json events.json
	unset LD_PRELOAD ROT_SIMULATED_MACHINE
fi

# Documents are read here, too: what is code stays as it is.
for document in "$top_srcdir"/README.md "$top_srcdir"/doc/*.md; do
	"$rot" help "${document##*/}" >"$work/out"
	status=$? err=
	# A word alone may be longer than a line.
	out=$(sed 's/[^ -~]\{2,3\}/+/g' "$work/out" | grep '^.\{81\}' | grep -v '^    ' | grep '[^ ] [^ ]')
	is "rot help ${document##*/}" 0 "" ""
done
call help readme
result=1
case $out in *'```'* | *']('* | *'| to |'*) ;; *"rot — a roofline profiler
========================"*"    ./rot measure triad "*) result=0 ;; esac
check "without the marks of Markdown"

# At a terminal the last line is the next step; elsewhere nobody reads it.
if has_terminals; then
	COLUMNS=200 "$top_builddir/tests/at_terminal" "$rot" measure ./mine.xml -starts=1 >"$work/out" 2>&1
	status=$? out=$(tail -n 1 "$work/out" | tr -d '\r')
	case $out in "rot: next: "*) result=0 ;; *) result=1 ;; esac
	check "a next step at a terminal"
	lacks "which draws nothing on a dumb one" "$work/out" "$(printf '\033')"
fi
call measure ./mine.xml -starts=1
case $err in *"next: "*) result=1 ;; *) result=0 ;; esac
check "and none in a file"

[ $nr_failed = 0 ]
