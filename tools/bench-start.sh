#!/bin/bash
# shellcheck disable=SC2154,SC1091
# SPDX-License-Identifier: MIT
# What a start through the frontend costs over calling the driver directly, when nothing changed.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/bench.sh
. "$top/tools/bench.sh"

"$rot" list keys >/dev/null || exit 1 # brings the build up to date
direct=$(milliseconds 41 "$build/driver/rot" list keys) || exit 1
through=$(milliseconds 41 "$rot" list keys) || exit 1
report "driver directly (list keys)" "$direct"
report "through the frontend" "$through"
awk -v d="$direct" -v t="$through" 'BEGIN { printf "%-58s %9.1f ms, ratio %.1f\n", "difference", t - d, t / d }'
