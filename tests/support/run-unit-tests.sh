#!/bin/sh
# SPDX-License-Identifier: MIT
# run-unit-tests.sh FILE: runs the tests of this source file, in the program that holds them.
for program in "$top_builddir"/tests/*/unit-tests* "$top_builddir"/tests/*/*/unit-tests*; do
	! { [ -x "$program" ] && "$program" --has "$1"; } || exec "$program" "$1"
done
echo "no program has the tests of $1" >&2
exit 99
