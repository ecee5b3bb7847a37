#!/bin/sh
# SPDX-License-Identifier: MIT
# A page in a browser, wide and narrow, light and dark: page_checks.js looks at it there. rot itself needs no browser.
. "$top_srcdir/tests/support/program.sh"

source=$top_srcdir/tests/driver/stored

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

call plot "$source/result.json" -plots=html -o page -l all
is "a page" 0 "page.html: points: 3, files: 1" ""
{
	sed 's/<\/body>.*//' page.html
	echo '<script>'
	cat "$source/page_checks.js"
	echo '</script></body></html>'
} >checked.html

# looks WHAT WIDTH THEME: the theme is 0 for dark and 1 for light.
looks()
{
	document --window-size="$2,900" --blink-settings=preferredColorScheme="$3" "file://$work/checked.html#$1" >dom
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

looks wide,light 1280 1
looks wide,dark 1280 0
looks wide,tablet 800 1
looks narrow,light 400 1
looks narrow,dark 400 0

exit $((nr_failed != 0))
