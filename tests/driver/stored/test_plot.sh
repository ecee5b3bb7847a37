#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot plot": results of several machines in one picture, and what is said of files that are none.
. "$top_srcdir/tests/support/program.sh"

# has WHAT STATUS PART-OF-OUTPUT PART-OF-ERROR
has()
{
	result=1
	case $status:$out in "$2:"*"$3"*) case $err in *"$4"*) result=0 ;; esac ;; esac
	check "$1"
}

# quantity NAME OF UNIT VALUE CLOCK
quantity()
{
	clock=${5:+", \"clock\": \"$5\""}
	echo "{\"name\": \"$1\", \"of\": \"$2\", \"unit\": \"$3\", \"value\": $4, \"estimator\": \"median\", \"n\": 5, \"kind\": \"measured\"$clock}"
}

# result CPU BORDER CLOCK UNIT FACTOR: a result of two points and three ceilings on standard output
result()
{
	cat <<-END
		{"schema": "rot.result/1", "controller": "test", "complete": true,
		"machine": {"cpuName": "$1", "cpuFamily": 6, "cpuModel": 1, "memoryBytes": 1000},
		"points": [
		{"series": "Triad", "label": "small", "quantities": [$(quantity time microSeconds us 10 microSeconds),
		$(quantity operationalIntensity "flop/$2" flop/byte 0.1), $(quantity performance flop "flop/$4" "${5}e8" "$3")]},
		{"series": "Triad", "label": "large", "quantities": [
		$(quantity operationalIntensity "flop/$2" flop/byte 0.5), $(quantity performance flop "flop/$4" "${5}e9" "$3")]},
		{"series": "threads", "label": "worker 7", "quantities": [
		$(quantity operationalIntensity "flop/$2" flop/byte 0.5), $(quantity performance flop "flop/$4" "${5}e9" "$3")]}],
		"ceilings": [
		{"name": "FMA", "kind": "performance", "of": "doublePrecisionFlop", "unit": "flop/$4", "value": ${5}.5e9},
		{"name": "single", "kind": "performance", "of": "singlePrecisionFlop", "unit": "flop/$4", "value": ${5}e11},
		{"name": "memory", "kind": "bandwidth", "of": "llcRam", "unit": "byte/$4", "value": ${5}e9}]}
	END
}

result "First CPU" llcRam microSeconds s 1 >first.json
result "Second CPU" llcRam microSeconds s 3 >second.json
result "First CPU" llcRam microSeconds s 2 >again.json
result "First CPU" llcRam.read microSeconds s 1 >read.json
result "First CPU" llcRam coreCycles cycle 1 >cycles.json
result "First CPU" llcRam microSeconds s 1 | sed 's/"of": "flop/"of": "doublePrecisionFlop/g' >kernel.json
mkdir folder
cp second.json folder/first.json
echo '{"a": 1}' >other.json
echo '{"schema": ' >damaged.json
echo '{"schema": "rot.result/9", "points": []}' >newer.json
: >nothing.json
echo '{"schema": "rot.result/1", "points": []}' >empty.json
echo '{"schema": "rot.result/1", "points": [{"series": "a"}]}' >hollow.json
result "First CPU" llcRam microSeconds s 1 | sed 's/"name": "performance"/"name": "speed"/' >slow.json
result "First CPU" llcRam microSeconds s 1 | sed 's/"value": 1e[89]/"value": 0/' >zero.json

sed 's/"points":/"points": [{"quantities": [{"name": "performance", "of": "flop", "clock": "microSeconds", "value": null}]}], "others":/' \
	slow.json >none.json
transcript tests/driver/stored/golden/plot.txt

if ! command -v gnuplot >/dev/null; then
	call plot first.json
	has "no gnuplot" 1 "" "gnuplot"
	exit $((nr_failed != 0))
fi

# ---- pictures ----
# by SOURCE FILE: with that source of all values.
by()
{
	sed "s/\"kind\": \"measured\"/&, \"source\": \"$1\"/g" "$2"
}
by steps kernel.json >stepped.json
by blocks first.json >translated.json
call plot stepped.json translated.json -o by-blocks
holds "both are counted in one way" by-blocks.gnuplot '\noperations and bytes counted by blocks of the code"'
call plot kernel.json first.json -o mixed
is "a kernel beside a program, of other operations" 0 "mixed.pdf, mixed.svg: points: 4, files: 2" ""
holds "what each of them counts" mixed.gnuplot "operations of kernel: double precision; first: both precisions"
holds "an axis that both have" mixed.gnuplot '"Operational intensity (LLC-RAM) [flop/byte]"'
call plot kernel.json first.json -x operationalIntensity:flop:llcRam
has "but not where x is asked for" 1 "" "'kernel.json' has no point with operationalIntensity:flop:llcRam"
call plot first.json
is "one file" 0 "plot.pdf, plot.svg: points: 2, files: 1" ""
[ -s plot.pdf ] && [ -s plot.svg ]
check "pictures"
holds "its title" plot.gnuplot '"test"'
holds "its machine" plot.gnuplot "First CPU, family 6 model 1"
holds "its ceilings" plot.gnuplot '"FMA (1.5 Gflop/s)"'
holds "labels at the ends" plot.gnuplot '"large"'
result=1
grep -q 'single\|worker' plot.gnuplot plot.data || result=0
check "no threads, no ceilings of other operations"
holds "lines and letters for print" plot.gnuplot "fontscale 0.75 linewidth 1 "
call plot first.json -o slides -plotTheme=slides
holds "and larger ones for slides" slides.gnuplot "fontscale 1.05 linewidth 1.4 "
call plot first.json second.json -o both -t "Both of them" -keyPosition=none
is "two machines" 0 "both.pdf, both.svg: points: 4, files: 2" ""
holds "the title" both.gnuplot '"Both of them"'
holds "ceilings of the first" both.gnuplot '"FMA, first (1.5 Gflop/s)"'
holds "ceilings of the second" both.gnuplot '"memory, second (3 GB/s)"'
holds "which are dashed" both.gnuplot 'linecolor rgb "#000000" dashtype (14,5)'
holds "both machines" both.gnuplot 'first: First CPU, family 6 model 1\nsecond: Second CPU'
holds "series of the files" both.data 'second: Triad'
call plot -o same first.json again.json
is "the same machine" 0 "same.pdf, same.svg: points: 4, files: 2" ""
holds "its best ceiling" same.gnuplot '"FMA (2.5 Gflop/s)"'
sed 's/{"name": "FMA"/{"access": "FMA", "name": "FMA"/' first.json >disturbed.json
call plot disturbed.json -o disturbed
holds "a peak whose runs were all disturbed" disturbed.gnuplot '"FMA (at least 1.5 Gflop/s)"'
call plot first.json folder/first.json -o names
holds "the same name twice" names.data 'folder/first.json: Triad'
call plot first.json second.json first.json -o once
is "a file that is named twice" 0 "once.pdf, once.svg: points: 4, files: 2" "rot: warning: 'first.json' is named twice and drawn once"
call plot first.json --no-ceilings -l=all --x-range 0.01:10 -o points
has "points alone" 0 "points.pdf" ""
result=1
grep -q 'FMA\|memory' points.gnuplot || result=0
check "no ceilings"
holds "the range" points.gnuplot 'set xrange [0.01:10]'
sed 's/Gflop\/s/&/; s/"unit": "byte\/s"/"unit": "byte\/cycle"/' first.json >mixed.json
call plot mixed.json -o mixed
has "ceilings per cycle" 0 "mixed.pdf" "ceilings of 'mixed.json' in byte/cycle are left out: the performance is in flop/s"
LC_ALL=C call plot first.json -plots=terminal -o text
has "text" 0 "o Triad" ""
has "a ceiling in it" 0 " FMA 1.5 Gflop/s" ""
result=1
[ -e text.pdf ] || [ -e text.gnuplot ] || result=0
check "no files beside text"
call plot first.json -plots=both -o both
has "text beside files" 0 "both.pdf, both.svg" ""
has "and text" 0 "[flop/byte]" ""
mkdir -p "$work/cache/rot"
sed 's/"test"/"run"/' first.json >"$work/cache/rot/last-run.json"
call plot
is "the last run" 0 "plot.pdf, plot.svg: points: 2, files: 1" ""
holds "its title" plot.gnuplot '"small"'

exit $((nr_failed != 0))
