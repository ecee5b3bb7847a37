#!/bin/sh
# SPDX-License-Identifier: MIT
# The findings, functions and regions of a program in its page and its picture: all forms say what the result says.
. "$top_srcdir/tests/support/program.sh"

source=$top_srcdir/tests/driver/experiments

# rows FILE NAME: the table of that name, a row a line, with | between cells
rows()
{
	sed 's/></>\
</g' "$1" | awk -v name="aria-label=\"$2\"" '
		index($0, name) { is_there = 1 }
		is_there && /^<\/div>/ { exit }
		is_there && /^<tr/ { row = "" }
		is_there && /^<td/ { gsub(/<[^>]*>/, ""); row = row $0 "|" }
		is_there && /^<\/tr/ && row { print row }'
}

call plot "$source/program.json" -plots=html -o page
is "a page" 0 "page.html: points: 2, files: 1" ""

# ---- findings ----
rows page.html findings >findings
holds "a finding" findings "ns::Matrix&lt;double&gt;::product_of_rows|16|100 % of its operations are scalar|at most 8 times as fast|restrict|scalar operations: more than 50 %|"

# ---- the table of functions ----
rows page.html functions >functions
holds "a function" functions "triad|64.0 ±3.2|70 ±5|5.00 ±0.25|0.625|80|memory load|8000000|75|80000007|128000000|64000000|3|640|solver, solve.c:17|"
holds "one without bytes" functions "ns::Matrix&lt;double&gt;::product_of_rows|16.0 ±0.8|-|4.00 ±0.20|no bytes|20|FMA|2000000|"
holds "one that computes nothing" functions "chase|10.0 ±0.5|-|0|-|-|-|0|-|7|"
holds "one that was not counted" functions "libx.so.1+0xabc0|4.00 ±0.20|-|-|-|-|-|-|-|-|-|-|-|40|libx.so.1|"
lacks "but none that was not sampled" functions never
holds "the kernel" functions "the kernel|3.00 ±0.15|"
holds "what has no sample" functions "without a sample|2.5 ±0.5|"
out=$(awk -F '|' '{ split($2, share, " "); sum += share[1] } END { printf "%.0f\n", sum }' functions)
[ "$out" = 100 ]
check "the parts are the whole"

rows page.html loops >loops
holds "a loop, with its turns of each entry" loops "triad, line 18|60.0 ±3.0|1000000|-|-|-|-|-|-|-|-|-|-|-|-|600|solver, solve.c:18-20, inlined axpy&lt;double&gt;|"
holds "how many turns its entries make" loops "triad, line 25|4.0 ±1.0|24|16-31|8-31|"
holds "a narrow page says what a cell is" page.html 'data-label="CPU time %"'

# ---- regions, and how all that is known ----
rows page.html regions >regions
holds "a region with its verdict" regions "solve|12|2|1.5|75|80|memory-bound: 80 % of the memory bandwidth|"
holds "whose words have room on a narrow screen" page.html '<td class="words" data-label="verdict">memory-bound'
holds "by the style" page.html 'td.words { min-width: '
holds "one that was not measured" regions "idle|0|0|-|-|-|was not measured|"
holds "the verdict of the program" page.html '<p class="verdict">memory-bound: 80 % of the memory bandwidth at this intensity; 20 % of the peak</p>'
holds "how operations are counted" page.html 'counted by blocks of the code, in a run of its own'
holds "how time is attributed" page.html '975 samples of the CPU clock in 3.4 s of CPU time (2 s of wall time)'
holds "what was lost" page.html ' Records that were lost: 2.'
holds "how a region is observed" page.html 'Region solve: observed by int3 at /opt/bin/solver+0x1000. A hit costs the program 4.2 us. The 2.1 us of an empty region are subtracted for each hit.'
holds "what was refused" page.html 'uprobe: Permission denied'

# ---- dots: as large as their share, where the result says ----
sed 's/></>\
</g' page.html >lines
out=$(sed -n 's/.*class="mark dot" transform="translate([^)]*) scale(\([^)]*\))".*/\1/p' lines | head -n 2 | awk 'NR == 1 { large = $1 } END { printf "%.1f\n", large / $1 }')
[ "$out" = 2.0 ]
check "four times the share is four times the area"
for line in 'functions, triad 64 %' 'function: ns::Matrix&lt;double&gt;::product_of_rows' '64.0 ±3.2 % of the CPU time' \
	'80 % of the roof of 2 threads at this intensity (memory load): bound by bandwidth' \
	'20 % of the roof of 2 threads at this intensity (FMA): far below, on the computing side of the ridge'; do
	holds "who points at a dot reads: $line" lines "$line"
done

# ---- views: the same at other borders, of other precisions, and of loops ----
figures=$(sed -n 's/.*<figure class="broad[^"]*" data-border="\([^"]*\)" data-precision="\([^"]*\)" data-dots="\([^"]*\)".*/\1|\2|\3/p' lines)
[ "$(echo "$figures" | wc -l)" = 18 ] && [ "$(echo "$figures" | sort -u | wc -l)" = 18 ]
check "each choice has one picture"
[ "$(grep -c '<figure class="broad"' lines)" = 1 ]
check "of which one is shown at first"
# in_view BORDER PRECISION DOTS: what is drawn there
in_view()
{
	awk -v name="class=\"broad[a-z ]*\" data-border=\"$1\" data-precision=\"$2\" data-dots=\"$3\"" '
		/^<figure/ { is_there = $0 ~ name }
		is_there' lines
}
in_view CPU-L1 all functions >view
holds "bytes of another border" view 'operational intensity (CPU-L1): 0.04167 (m) flop/byte'
in_view LLC-RAM all loops >view
holds "a loop has a dot" view 'data-place="loop-0-1"'
holds "with its share" view 'triad, line 25: 4.0 %'
holds "which has its row" lines 'id="loop-0-1"'
lacks "where functions have none" view 'place-0-0'
in_view CPU-L1 'single precision' functions >view
holds "the rate of that precision alone" view 'performance (single precision): 1.250 Gflop/s'
holds "and its intensity" view 'operational intensity (single precision, CPU-L1): 0.01042 (m) flop/byte'
lacks "without what has other operations" view 'product_of_rows'
in_view all all functions >view
holds "all borders of a function are joined" view 'class="join"'
holds "one of them" view 'operational intensity (CPU-L1): 0.04167 (m) flop/byte'
holds "and the other" view 'operational intensity (LLC-RAM): 0.6250 (m) flop/byte'

call plot "$source/program.json" -plots=terminal
holds "a caption" out "functions: 2, area by share of the CPU time, together 80"
holds "that tells what has no dot" out "chase"
lacks "and not what nobody knows" out libx
holds "a dot in text" out "product_of_rows 16 %"
if command -v gnuplot >/dev/null; then
	call plot "$source/program.json" -o picture
	sed -n '/^# functions/,$p' picture.data >dots
	out=$(awk '/^[0-9]/ { print $2, $NF }' dots | tr '\n' ' ')
	[ "$out" = "5 0.64 4 0.16 " ]
	check "the data of dots"
	holds "the size of a dot" picture.gnuplot 'pointsize variable'
fi

# ---- other results ----
sed -E -e 's/"name": "performance"/"name": "progress"/' -e 's/"performance": [^,]*/"performance": 0/' \
	-e 's/"(scalar|packed)(Double|Single)": [0-9]*/"\1\2": 0/' "$source/program.json" >whole_numbers.json
call plot whole_numbers.json -plots=html -o whole_numbers
[ "$status" = 0 ] && [ "$out" = "whole_numbers.html: points: 0, files: 1" ]
check "a page of what has no roofline"
holds "says why" err "the page has no roofline: 'whole_numbers.json' has no point with"
rows whole_numbers.html functions >functions
holds "it has no columns for floating-point operations" functions "triad|64.0 ±3.2|70 ±5|80000007|128000000|64000000|3|640|solver, solve.c:17|"
call plot whole_numbers.json -x operationalIntensity -plots=html -o whole_numbers
[ "$status" = 1 ]
check "unless a certain roofline is asked for"

sed '/"boundBy"/d' "$source/program.json" >old.json
call plot old.json -plots=html -o old
sed 's/></>\
</g' old.html >lines
holds "a result that says no bound is under the roof that is drawn" lines '80 % of the roof at this intensity (memory load): bound by bandwidth'
call plot "$source/program.json" "$source/result.json" -plots=terminal
holds "of several files" out "program: functions: 2, area"
call plot "$source/result.json" -plots=html -o none
lacks "kernels have no functions" none.html '<h3>Functions'

exit $((nr_failed != 0))
