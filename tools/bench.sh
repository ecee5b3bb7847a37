# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Shared by the benchmarks: times of commands. Sourced, after "top" is set to the source tree.

rot=$top/rot
build=${build:-$top/build}
[ -x "$build/driver/rot" ] || {
	echo "the driver is not built: call $rot help first" >&2
	exit 1
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data
cd "$work" || exit 1

# milliseconds NUMBER COMMAND...: median time of so many calls, in ms with one decimal. A failing command ends the benchmark.
milliseconds()
{
	local nr=$1 i start end
	shift
	for ((i = 0; i < nr; i++)); do
		start=${EPOCHREALTIME/[.,]/}
		"$@" >"$work/output" 2>&1 || {
			echo "failed: $*" >&2
			cat "$work/output" >&2
			exit 1
		}
		end=${EPOCHREALTIME/[.,]/}
		echo $((end - start))
	done | sort -n | awk '{ t[NR] = $1 } END { if (!NR) exit 1; printf "%.1f\n", t[int((NR + 1) / 2)] / 1000 }'
}

# report WHAT MILLISECONDS
report()
{
	printf '%-58s %9s ms\n' "$1" "$2"
}
