#!/bin/sh
# SPDX-License-Identifier: MIT
# Folders use each other in one direction: in the table of doc/INTERNALS.md each stands below all whose headers it includes.
set -u
cd "${top_srcdir:?}" || exit 99

folders=$(sed -n 's/^| `\([a-z/-]*\)\/` |.*/\1/p' doc/INTERNALS.md)
find shared-entities codegen core driver/*/ -name '*.[ch]' -exec awk -v folders="$folders" '
	function folder_of(path)
	{
		sub(/\/[^\/]*$/, "", path)
		return path
	}
	function fail(message)
	{
		print FILENAME ": " message
		status = 1
	}
	BEGIN {
		nr = split(folders, names, "\n")
		for (i = 1; i <= nr; i++)
			row[names[i]] = i
	}
	FNR == 1 && !(folder_of(FILENAME) in row) { fail("its folder is not in the table") }
	/^#include "[^"]*\// {
		program = FILENAME
		sub(/\/.*/, "", program)
		split($0, parts, "\"")
		used = program "/" folder_of(parts[2])
		if (!(used in row))
			fail("uses " used "/, which is not in the table")
		else if (row[used] > row[folder_of(FILENAME)])
			fail("uses " used "/, which stands below its folder")
	}
	END { exit status }
' {} +
