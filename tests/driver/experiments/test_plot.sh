#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot plot": results of several machines in one picture, and what is said of files that are none.
. "$top_srcdir/tests/support/program.sh"

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
transcript tests/driver/experiments/golden/plot.txt

if ! command -v gnuplot >/dev/null; then
	call plot first.json
	[ "$status" = 1 ] && grep -q gnuplot "$work/err"
	check "no gnuplot"
	exit $((nr_failed != 0))
fi

# by SOURCE FILE: with that source of all values.
by()
{
	sed "s/\"kind\": \"measured\"/&, \"source\": \"$1\"/g" "$2"
}
by steps kernel.json >stepped.json
by blocks first.json >translated.json
sed 's/{"name": "FMA"/{"access": "FMA", "name": "FMA"/' first.json >disturbed.json
sed 's/"unit": "byte\/s"/"unit": "byte\/cycle"/' first.json >per-cycle.json
mkdir -p "$work/cache/rot"
sed 's/"test"/"run"/' first.json >"$work/cache/rot/last-run.json"
transcript tests/driver/experiments/golden/pictures.txt

exit $((nr_failed != 0))
