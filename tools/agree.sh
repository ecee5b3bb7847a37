#!/bin/sh
# SPDX-License-Identifier: MIT
# Do results agree? Measures a controller several times, each time anew, and compares every pair of results. Of the measured quantities:
#	overlap		their intervals do; of sound ones nearly all should
#	consistent	they differ by no more than the halves of both intervals that face each other allow, in quadrature: 95 % should. Less
#			means that something differs from one start to the next that no interval knows of.
# Wide intervals agree easily, so their width is told as well. Exit 1 if less than 90 % overlap.
#	tools/agree.sh [-n TIMES] [CONTROLLER [KEY ...]]		default: 5 times triad
set -eu

times=5
[ "${1-}" = -n ] && times=$2 && shift 2
[ $# -gt 0 ] || set -- triad
rot=${ROT:-$(cd "$(dirname "$0")/.." && pwd)/rot}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
controller=$1
[ ! -e "$controller" ] || controller=$(realpath "$controller")
shift
cd "$folder"

for i in $(seq "$times"); do
	"$rot" measure "$controller" "$i" -useCachedResults=false -quiet=true -timeReport=false "$@" >/dev/null
done
python3 - "$times" <<'EOF'
import itertools, json, math, sys
from collections import Counter, defaultdict

def measured(number):
    for point in json.load(open(f"{number}.json"))["points"]:
        for quantity in point["quantities"]:
            if quantity["samples"]:
                yield (point["series"] + " " + point["label"], quantity["name"] + ":" + quantity["of"]), quantity

def judge(a, b):
    if a["low"] is None or b["low"] is None:
        return None
    low, high = sorted((a, b), key=lambda quantity: quantity["value"])
    return high["low"] <= low["high"], high["value"] - low["value"] <= math.hypot(low["high"] - low["value"], high["value"] - high["low"])

results = [dict(measured(i + 1)) for i in range(int(sys.argv[1]))]
counts, widths, apart, without = defaultdict(lambda: [0, 0, 0]), defaultdict(list), Counter(), 0
for a, b in itertools.combinations(results, 2):
    for key in a.keys() & b.keys():
        verdict = judge(a[key], b[key])
        if verdict is None:
            without += 1
            continue
        count = counts[key[1]]
        count[0] += 1
        count[1] += verdict[0]
        count[2] += verdict[1]
        apart[key] += not verdict[1]
        if a[key]["value"]:
            widths[key[1]].append((a[key]["high"] - a[key]["low"]) / 2 / abs(a[key]["value"]))
for name, (nr, overlap, consistent) in sorted(counts.items()):
    width = sorted(widths[name])[len(widths[name]) // 2] if widths[name] else 0
    print(f"{name:<55} {nr:>5} pairs, overlap {100 * overlap / nr:5.1f} %, consistent {100 * consistent / nr:5.1f} %, median interval ±{100 * width:.2g} %")
for key, nr in apart.most_common(5):
    if nr:
        print(f"  most apart: {' '.join(key)}, {nr} pairs, " + " ".join(f"{result[key]['value']:.4g}" for result in results))
if without:
    print(f"{without} pairs without an interval")
nr, overlap, consistent = (sum(count[i] for count in counts.values()) for i in range(3))
if nr:
    print(f"all: {nr} pairs, overlap {100 * overlap / nr:.1f} %, consistent {100 * consistent / nr:.1f} %")
sys.exit(nr == 0 or overlap < 0.9 * nr)
EOF
