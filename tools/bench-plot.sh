#!/bin/bash
# shellcheck disable=SC2154,SC1091
# SPDX-License-Identifier: MIT
# How long rot takes to draw the result of a program with 10,000 functions: as text, as a picture and as a page.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/bench.sh
. "$top/tools/bench.sh"

# The first function of the tests' example, again and again.
awk '/^ "functions"/ { is_within = 1 }
	{ print }
	is_within && /^   / { function_text = function_text $0 "\n" }
	is_within && /^   \}/ {
		is_within = 0
		for (i = 1; i < 10000; i++) {
			text = function_text
			sub(/"function": "/, "&f" i "_", text)
			sub(/"samples": [0-9]*/, "\"samples\": " 10000 - i, text)
			sub(/"share": [0-9.]*/, "\"share\": " 0.5 / i, text)
			printf "%s", text
		}
	}' "$top/tests/driver/stored/program.json" >large.json

report "10000 functions: as text" "$(milliseconds 5 "$build/driver/rot" plot large.json -plots=terminal)"
report "10000 functions: a picture" "$(milliseconds 5 "$build/driver/rot" plot large.json -o picture)"
report "10000 functions: a page" "$(milliseconds 5 "$build/driver/rot" plot large.json -plots=html -o page)"
