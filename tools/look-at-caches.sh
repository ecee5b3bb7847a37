#!/bin/sh
# SPDX-License-Identifier: MIT
# Do the states of the caches hold? Latency of a pointer chase over a buffer of each size, in each state. In both cold states it must be near that
# of memory, in the warm one that of the level. "hidden": the buffer is flushed by nobody, so it is cold only if clearing clears.
#	tools/look-at-caches.sh [KIBIBYTES...]
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
rot=${ROT:-$top/rot}
build=${build:-$top/build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ $# -gt 0 ] || set -- 32 512 4096 8192 65536

# point STATE FIELDS: each line of the buffer is visited once.
point()
{
	cat <<-EOF
		<point series="$1" label="{\$kib}"><workload cpu="0"><kernel type="Chase" bufferSize="{\$kib * 1024}" accesses="{\$kib * 16}" warmCode="true" $2/></workload></point>
	EOF
}

{
	echo '<controller name="caches" comment="states of the caches" runs="7">'
	echo "<axis name=\"kib\"><list values=\"$*\"/></axis>"
	point warm 'warmData="true"'
	point cold ''
	point hidden 'isHidden="true"'
	echo '<quantity is="time:microSeconds"/></controller>'
} >"$folder/caches.xml"
cd "$folder"
make -s -C "$build" tests/json_lines
"$rot" -quiet -estimator=min measure caches.xml >/dev/null
"$build/tests/json_lines" caches.json | awk '
/^points\[[0-9]+\]\./ {
	path = substr($0, 1, index($0, " = ") - 1)
	is = substr($0, index($0, " = ") + 3)
	sub(/^[^.]*\./, "", path)
	if (path == "series")
		state = is
	if (path == "label") {
		kib = is + 0
		if (!(kib in known))
			order[++nr] = kib
		known[kib] = 1
	}
	if (path ~ /^quantities\[0\]\.samples\[/ && (!((kib, state) in least) || is + 0 < least[kib, state]))
		least[kib, state] = is + 0
}
END {
	printf "%8s%10s%10s%10s   ns for an access, the shortest of 7 runs\n", "KiB", "warm", "cold", "hidden"
	for (i = 1; i <= nr; i++) {
		printf "%8d", order[i]
		nr_states = split("warm cold hidden", states, " ")
		for (k = 1; k <= nr_states; k++)
			printf "%10.1f", 1e3 * least[order[i], states[k]] / (16 * order[i])
		print ""
	}
}'
