#!/bin/sh
# SPDX-License-Identifier: MIT
# Follows doc/ADD-A-KERNEL.md: the commands that it begins with write a kernel, list it and measure it.
set -eu

page=$top_srcdir/doc/ADD-A-KERNEL.md
for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
HOME=$folder/home XDG_DATA_HOME=$folder/home/.local/share XDG_CACHE_HOME=$folder/cache XDG_CONFIG_HOME=$folder/config
export HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME
mkdir -p "$HOME" "$folder/work" "$XDG_CACHE_HOME/rot"
"$top_builddir/tests/known_caches" "$XDG_CACHE_HOME/rot"
cd "$folder/work"
rot() { "$top_builddir/driver/rot" "$@"; }
fail() { echo "$*" >&2; exit 1; }

mkdir -p "$XDG_CONFIG_HOME/rot"
printf '%s\n' runs=6 findPeaks=false >"$XDG_CONFIG_HOME/rot/config"
eval "$(awk '/^```$/ && !n++ {on = 1; next} /^```$/ {exit} on' "$page")" >table.txt 2>messages.txt || fail "the first listing failed: $(cat messages.txt)"
grep -q 'factor=3' table.txt || fail "rot list kernels does not show Scale: $(cat table.txt)"
for size in 1000 4000 16000 64000 256000 1024000; do
	grep -q "^Scale  *$size " table.txt || fail "the table has no point $size: $(cat table.txt)"
done
test -s Scale.json || fail "there is no Scale.json"

# as_many KEY KIND: of each point as many operations as elements, by that key, and of that kind if any of them is.
as_many()
{
	"$top_builddir/tests/json_lines" Scale.json | awk -v key="$1" -v kind="$2" '
		{ point = $1; sub(/\..*/, "", point) }
		$1 ~ /\.coordinates\.size$/ { size[point] = $3 }
		$1 ~ /\.quantities\[[0-9]+\]\.name$/ { is_count = $3 == "operationCount" }
		is_count && $1 ~ "\\]\\." key "$" { nr_operations[point] = $3 }
		is_count && $1 ~ /\]\.kind$/ && kind && $3 != kind { is_other = 1 }
		END {
			for (point in size) {
				nr++
				if (nr_operations[point] + 0 != size[point] + 0)
					exit 1
			}
			exit is_other || nr != 6
		}'
}
as_many expected '' || fail "Scale.json does not expect as many operations as elements: $(cat Scale.json)"

# What the definition expects is what is executed.
rot measure Scale -counting=steps -runs=3 >table.txt 2>messages.txt || {
	grep -q ptrace messages.txt && exit 0
	fail "rot measure Scale -counting=steps failed: $(cat messages.txt)"
}
as_many value measured || fail "Scale.json does not count as many operations as elements: $(cat Scale.json)"
