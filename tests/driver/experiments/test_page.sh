#!/bin/sh
# SPDX-License-Identifier: MIT
# A result as a page to pass on: what is in it, that any names may be, that it can be drawn again, and that it needs nothing.
. "$top_srcdir/tests/support/program.sh"

source=$top_srcdir/tests/driver/experiments
rot_program=$rot

# Nothing but rot can be started: no gnuplot.
cat >"$work/alone" <<END
#!/bin/sh
PATH=/nonexistent exec "$rot_program" "\$@"
END
chmod +x "$work/alone"

# body FILE: what depends on the result, an element a line; without the page's own style and script.
body()
{
	sed -e 's/></>\
</g' "$1" | sed -e '/^<style>/,/^<\/style>/d' -e '/^<script>"use strict"/,$d'
}

cp "$source/result.json" result.json
rot=$work/alone
call plot result.json -plots=html -o page -l all
is "a page without gnuplot" 0 "page.html: points: 3, files: 1" ""
[ ! -e page.svg ] && [ ! -e page.gnuplot ] && [ ! -e page.data ]
check "and no other file"

# The column of grades is left out where no value has one.
sed 's/"grade": "[A-F]"/"grade": ""/' result.json >ungraded.json
call plot ungraded.json -plots=html -o ungraded
lacks "no column without a grade" ungraded.html "grade on known work"
holds "but the others" ungraded.html "<th>disturbed</th>"
holds "and where there are grades" page.html "grade on known work"

body page.html >page.txt
if [ "${GOLDEN-}" = write ]; then
	cp page.txt "$source/golden/page.txt"
fi
diff "$source/golden/page.txt" page.txt
check "is golden"

# ---- it is one file ----
result=1
grep -q -i -E '(src|href)=|@import|url\((http|/|"|data)|https?:' page.txt && grep -v 'xmlns="http://www.w3.org/2000/svg"' page.txt |
	grep -q -i -E '(src|href)=|@import|url\((http|/|"|data)|https?:' || result=0
check "nothing is loaded"
for file in page.css page.js; do
	result=1
	grep -q -E '[<&]|@import|https?://[^w]' "$top_srcdir/driver/plots/$file" || result=0
	check "$file is the same as HTML and as XML, and loads nothing"
done

# ---- the table of values ----
out=$(awk '
	/<h3>Values/ { is_values = 1 }
	/<\/thead>/ { exit }
	is_values && /^<th[ >]/ { is_named = 0 }
	is_values && !is_named && /^<(th|span)[^>]*>[^<]/ {
		gsub(/<[^>]*>/, "")
		printf "%s|", $0
		is_named = 1
	}' page.txt)
case $out in 'series|point|performance|operational intensity|of its roof|its roof|size|kind|time|'*) true ;; *) false ;; esac
check "its first columns are what a roofline shows, and the roof"
result=0
[ "$(grep -c '<t[hd] class="stays">' page.txt)" = 4 ] || result=1
check "the series stays"
holds "a share of the roof" page.txt '<td class="number">32.1</td>'
holds "and its line" page.txt '<td class="line">memory &amp; load, 2 threads</td>'

# ---- what the script hides and the reader is told ----
for name in data-series data-of aria-describedby; do
	targets=$(sed -n "s/.* $name=\"\([^\"]*\)\".*/\1/p" page.txt)
	result=1
	[ -n "$targets" ] && result=0
	for target in $targets; do
		grep -Fq " id=\"$target\"" page.txt || result=1
	done
	check "what $name names is there"
done
holds "what the axes are" page.txt '</desc>'
result=$(grep 'class="point"' page.txt | grep -cv 'role="img"')
check "what a point tells is told as a whole"

# ---- the command line ----
sed '1s/{/{"commandLine": ["rot", "measure", ".\/triad.xml", "it'"'"'s", "", "a b", "-runs=10"],/' result.json >typed.json
call plot typed.json -plots=html -o typed
holds "the command line, as a shell takes it" typed.html ">rot measure ./triad.xml 'it'\\''s' '' 'a b' -runs=10<"
lacks "but not of results that do not know it" page.txt 'command line'

# ---- the home folder ----
mkdir -p "$work/jörg" "$work/other"
ln -s "$work/jörg" "$work/home"
for home in "$work/jörg" "$work/home"; do
	sed -e "1s|{|{\"commandLine\": [\"rot\", \"run\", \"$home/x\"],|" \
		-e "s|gcc -O3|gcc -I$work/jörg/a -o $home/b /usr/c|" result.json >home.json
	HOME=$home call plot home.json -plots=html -o home -t "$home/title"
	is "a page with paths of $home" 0 "home.html: points: 3, files: 1" ""
	for part in jörg "$home" '&#xF6;'; do
		lacks "it has no $part" home.html "$part"
	done
	holds "but a tilde" home.html 'gcc -I~/a -o ~/b /usr/c'
	holds "in its data" home.html '"commandLine":["rot","run","~/x"]'
	holds "and says so" home.html 'begin with ~'
	HOME=$home call diff home.json home.html
	printf '%s\n' "$out" | grep -q compileLines && result=1 || result=0
	check "which is no other compile line"
done
HOME=$work/other call plot home.json -plots=html -o foreign
holds "who is not at home there keeps them" foreign.html "$work/home/x"

# ---- names ----
lacks "no element of a name" page.txt '<b>'
holds "a series" page.txt '&lt;b&gt;&amp;&quot;'
lacks "a script cannot be ended by data" page.txt '"</script>'
holds "data keep it" page.html '\u003c/script\u003e'
holds "what is counted by steps" page.txt 'counted by blocks: blocks: flop per CLOCK_MONOTONIC_RAW, grade A'
holds "what bounds a point, as its file says" page.txt '32.1 % of the roof of 2 threads at this intensity (memory &amp; load): far below, on the bandwidth side'
holds "what bounds another one, by the ceilings of the file" page.txt '45 % of the roof at this intensity (FMA &lt;wide&gt;): bound by computing'
holds "disturbed runs" page.txt 'Of 8 samples, 2 were disturbed'
holds "their causes" page.txt 'context switch (2), steal time (1)'
holds "failures" page.txt 'the kernel &lt;crashed&gt; &amp; ended'

# ---- again: the page is well-formed, and has all it was made of ----
call plot page.html -plots=html -o again -l all
is "a page is drawn again" 0 "again.html: points: 3, files: 1" ""
cmp page.html again.html
check "it is the same"
LC_ALL=de_DE.UTF-8 call plot result.json -plots=html -o comma -l all
cmp page.html comma.html
check "the same in a locale with decimal commas"
head -c 3000 page.html >half.html
call plot half.html -plots=html
is "half a page" 1 "" "rot: 'half.html' is no page of rot, or damaged"
sed 's/rot-result/other/' page.html >other.html
call plot other.html -plots=html
is "another page" 1 "" "rot: 'other.html' is no page of rot"
sed 's/Test <CPU>/Other/' result.json >second.json
call plot result.json second.json -plots=html -o two
is "a page of two results" 0 "two.html: points: 6, files: 2" ""
call plot two.html -plots=html
is "is not drawn again" 1 "" "rot: 'two.html' is a page of 2 results
     draw the .json files that it was made of, or pages of one result each"

# ---- places ----
call plot result.json -plots=terminal,html -o both
[ "$status" = 0 ] && [ -s both.html ]
check "with text"
holds "which is there" out '[flop/byte]'
call plot result.json -plots=html,paper
is "no such place" 2 "" "rot: 'paper' is no value of plots
     plots takes one or several, with commas between: gnuplot png terminal html files both (rot help plots)"
call plot result.json -plots=html,
[ "$status" = 2 ]
check "a place without name"
call complete 'rot plot -plots=html,t'
is "places are completed" 0 "-plots=html,terminal" ""

exit $((nr_failed != 0))
