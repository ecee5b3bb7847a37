#!/bin/sh
# SPDX-License-Identifier: MIT
# Do the states of the caches hold? Latency of a pointer chase over a buffer of each size, in each state. In both cold states it must be near that
# of memory, in the warm one that of the level. "hidden": the buffer is flushed by nobody, so it is cold only if clearing clears.
#	tools/look-at-caches.sh [KIBIBYTES...]
set -eu

rot=${ROT:-$(cd "$(dirname "$0")/.." && pwd)/rot}
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
"$rot" -quiet -estimator=min measure caches.xml >/dev/null
python3 - <<'EOF'
import json
rows = {}
for point in json.load(open("caches.json"))["points"]:
    samples = point["quantities"][0]["samples"]
    rows.setdefault(int(point["label"]), {})[point["series"]] = 1e3 * min(samples) / (16 * int(point["label"]))
print(f'{"KiB":>8}{"warm":>10}{"cold":>10}{"hidden":>10}   ns for an access, the shortest of 7 runs')
for kib, row in sorted(rows.items()):
    print(f'{kib:>8}' + "".join(f'{row[state]:>10.1f}' for state in ("warm", "cold", "hidden")))
EOF
