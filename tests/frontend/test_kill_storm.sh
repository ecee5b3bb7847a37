#!/bin/sh
# SPDX-License-Identifier: MIT
# A short storm of kills on a small experiment; tools/kill-storm.sh by itself does 200 on triad.
set -u
command -v bash >/dev/null || {
	echo 'SKIP: needs bash'
	exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/rot" && "$top_builddir/tests/known_caches" "$work/rot" || exit 99
nr_kills=5
[ -z "${ROT_SLOW_TESTS-}" ] || nr_kills=20
STORM_CACHE=$work bash "$top_srcdir/tools/kill-storm.sh" $nr_kills "$top_srcdir/tests/frontend/storm.xml"
