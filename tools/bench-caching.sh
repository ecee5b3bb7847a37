#!/bin/bash
# shellcheck disable=SC2154,SC1091
# SPDX-License-Identifier: MIT
# What measuring again costs: everything cached, other flags with and without a hit in ccache, the check of an unchanged core.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tools/bench.sh
. "$top/tools/bench.sh"
export CCACHE_DIR=$work/ccache
driver=$build/driver/rot
cores=$XDG_CACHE_HOME/rot/cores

# One kernel at one point, without ceilings and plots: what a change of flags costs by itself.
cat >one.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="one" comment="one short point" runs="1">
	<point series="Triad" label="100"><workload><kernel type="Triad" bufferSize="100"/></workload></point>
	<quantity is="time"/>
</controller>
END

# Plots of triad by themselves.
gnuplot_alone()
{
	gnuplot triad.gnuplot
}

# ms that the last call spent building, from its time report.
of_which_building()
{
	awk '/^ *build the core / { for (i = 2; i < NF; i++) if ($(i + 1) == "s" && $(i + 2) == "total") printf "%.1f", $i * 1000; }' \
		"$work/output"
}

flags()
{
	"$driver" measure ./one.xml "-optimization=$1"
}

report "measure triad, nothing cached" "$(milliseconds 1 "$driver" measure triad -findPeaks=false)"
report "measure triad again, everything cached" "$(milliseconds 11 "$driver" measure triad -findPeaks=false)"
report "  of which gnuplot" "$(milliseconds 11 gnuplot_alone)"
report "  without the check of the core" "$(milliseconds 11 "$driver" measure triad -findPeaks=false -shouldCheckCoreHash=false)"
report "one point, measured, with the core of triad" "$(milliseconds 1 flags -O3)"
report "  again: the check of an unchanged core, no build" "$(milliseconds 11 flags -O3)"
report "  without the check of the core" "$(milliseconds 11 "$driver" measure ./one.xml -optimization=-O3 -shouldCheckCoreHash=false)"
report "other flags (-O1), compiled" "$(milliseconds 1 flags -O1)"
report "  of which building the core" "$(of_which_building)"
rm -rf "$cores"
report "the same flags, build folders gone: from ccache, measured" \
	"$(milliseconds 1 "$driver" measure ./one.xml -optimization=-O1 -useCachedResults=false)"
report "  of which building the core" "$(of_which_building)"
report "back to -O3: results there" "$(milliseconds 5 flags -O3)"
