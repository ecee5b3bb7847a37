#!/bin/bash
# shellcheck disable=SC2154,SC1091
# SPDX-License-Identifier: MIT
# How long rot takes to draw the result of a program with 10,000 functions and as many loops: as text, as a picture and as a page.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/bench.sh
. "$top/tools/bench.sh"

# The first function and the first loop of the tests' example, again and again; those with 1 % of the time have code.
awk 'BEGIN {
		for (k = 0; k < 50; k++)
			lines = lines (k ? ", " : "") "\"" 4 * k " 3 1000 8000\""
		code = "\"code\": {\"hash\": \"0\", \"events\": [\"loadedBytes\"], \"instructions\": [" lines "]}, "
	}
	is_within && /^   / { item = item $0 }
	is_within && /^   \}/ {
		is_within = 0
		sub(/,$/, "", item)
		for (i = 1; i < 10000; i++) {
			text = item
			sub(/"function": "/, (i <= 50 && text !~ /"header"/ ? code : "") "&f" i "_", text)
			gsub(/"(address|functionAddress|header)": 4/, "&" i, text)
			sub(/"samples": [0-9]*/, "\"samples\": " 10000 - i, text)
			sub(/"share": [0-9.]*/, "\"share\": " 0.5 / i, text)
			print text ","
		}
		$0 = item ($0 ~ /,$/ ? "," : "")
	}
	!is_within { print }
	/^  "(functions|loops)"/ { is_within = 1; item = "" }' "$top/tests/driver/experiments/program.json" >large.json

report "10000 functions and loops: as text" "$(milliseconds 5 "$build/driver/rot" plot large.json -plots=terminal)"
report "10000 functions and loops: a picture" "$(milliseconds 5 "$build/driver/rot" plot large.json -o picture)"
report "10000 functions and loops: a page" "$(milliseconds 5 "$build/driver/rot" plot large.json -plots=html -o page)"
