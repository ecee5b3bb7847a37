#!/bin/sh
# SPDX-License-Identifier: MIT
# A page in a browser, wide and narrow, light and dark: page_checks.js looks at it there, and program_checks.js at one of a
# program. rot itself needs no browser.
. "$top_srcdir/tests/support/program.sh"

source=$top_srcdir/tests/driver/experiments

for browser in chromium chromium-browser google-chrome ''; do
	command -v "${browser:-/nonexistent}" >/dev/null && break
done
[ -n "$browser" ] || { echo "SKIP: there is no Chromium" >&2; exit 77; }

# document FLAG... ADDRESS: the page after its scripts have run. Root may use no sandbox. Each start has its own profile:
# the one before may still be about to end.
nr_starts=0
document()
{
	nr_starts=$((nr_starts + 1))
	[ "$(id -u)" = 0 ] && set -- --no-sandbox "$@"
	timeout 300 "$browser" --headless=new --disable-gpu --user-data-dir="$work/profile$nr_starts" --dump-dom "$@" 2>"$work/told" </dev/null
}

echo '<p>works</p>' >small.html
document "file://$work/small.html" >dom
grep -q works dom || { echo "SKIP: $browser does not start: $(tail -n 1 "$work/told")" >&2; exit 77; }

# with_checks PAGE CHECKS
with_checks()
{
	sed 's/<\/body>.*//' "$1"
	echo '<script>'
	cat "$source/$2"
	echo '</script></body></html>'
}

# looks WHAT WIDTH THEME: the theme is 0 for dark and 1 for light. A frame can be narrower than the windows of a browser.
looks()
{
	echo "<body><iframe src=\"checked.html#$1\" style=\"width: $2px; height: 900px; border: 0\"></iframe></body>" >frame.html
	document --window-size=1400,1000 --allow-file-access-from-files --blink-settings=preferredColorScheme="$3" \
		"file://$work/frame.html" >dom
	told=$(sed -n 's/.* data-told="\([^"]*\)".*/\1/p' dom)
	[ -n "$told" ]
	check "$1: it was looked at"
	printf '%s\n' "$told" | tr '|' '\n' >lines
	while read -r line; do
		result=0
		case $line in FAILED:*) result=1 ;; esac
		check "$1: $line"
	done <lines
}

call plot "$source/result.json" -plots=html -o page -l all
is "a page" 0 "page.html: points: 3, files: 1" ""
with_checks page.html page_checks.js >checked.html
looks wide,light 1280 1
looks wide,dark 1280 0
looks wide,tablet 800 1
looks narrow,light 400 1
looks narrow,dark 400 0

# ---- a program: one of its functions gets the samples and the rates that a dot needs ----
call run -t true
case $err in *"not told apart"*) exit $((nr_failed != 0)) ;; esac
echo counting=blocks >>config/rot/config
# A long path without a blank is to be broken in a narrow page.
folder=$work/a_folder_whose_name_is_as_long_as_a_line_of_a_page_that_is_400_pixels_wide
mkdir "$folder"
ln -s "$(cd "$top_builddir" && pwd)/tests/driver/programs/known_loops" "$folder/known_loops"
call run -q -j counted.json "$folder/known_loops" counts
awk '/^ "functions"/ { is_within = 1 }
	is_within && /^   \{/ { object = "" }
	is_within && /^   / {
		object = object $0 "\n"
		if (/^   \}/ && object ~ /"function": "product"/)
			hot = object
		else if (/^   \}/)
			others = others object
		next
	}
	is_within && /^  \]/ {
		sub(/"samples": [^,]*/, "\"samples\": 40", hot)
		sub(/"share": [^,]*/, "\"share\": 0.4", hot)
		sub(/"performance": [^,]*/, "\"performance\": 1e9", hot)
		sub(/"operationalIntensity": [^,]*/, "\"operationalIntensity\": 0.5", hot)
		sub(/\}\n$/, "},\n", hot)
		sub(/\},\n$/, "}\n", others)
		printf "%s%s", hot, others
		is_within = 0
		is_behind = 1
	}
	is_behind && /^    "samples": 0/ { sub(/0/, "40") }
	is_behind && /^  "samples": 0/ { sub(/0/, "40") }
	{ print }' counted.json >program.json
call plot program.json -plots=html -o page
is "a page of a program" 0 "page.html: points: 1, files: 1" ""
with_checks page.html program_checks.js >checked.html
looks program,wide 1280 1
looks program,narrow 400 0

exit $((nr_failed != 0))
