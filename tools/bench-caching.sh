#!/bin/bash
# SPDX-License-Identifier: MIT
# What measuring again costs: everything cached, other flags with and without a hit in ccache, the check of an unchanged core.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/bench.sh
. "$top/tools/bench.sh"
export CCACHE_DIR=$work/ccache
driver=$build/driver/rot

# Time that gnuplot takes for the plots of triad, to be told apart.
gnuplot_time()
{
	for script in "$work"/triad*.gnuplot; do
		(cd "$work" && gnuplot "$script")
	done
}

report "first: measure triad, nothing cached" "$(milliseconds 1 "$driver" measure triad)" || exit 1
report "cached re-run of triad" "$(milliseconds 9 "$driver" measure triad)"
report "  of which gnuplot" "$(milliseconds 9 gnuplot_time)"
report "cached re-run without the check of the core" "$(milliseconds 9 "$driver" measure triad -shouldCheckCoreHash=false)"
report "one run per point more flags: -O1, compiled" "$(milliseconds 1 "$driver" measure triad -optimization=-O1 -runs=1)"
rm -rf "$XDG_CACHE_HOME/rot"
report "the same, built folders gone, compiled from ccache" "$(milliseconds 1 "$driver" measure triad -optimization=-O1 -runs=1)"
report "the same again: build folder and results there" "$(milliseconds 5 "$driver" measure triad -optimization=-O1 -runs=1)"
