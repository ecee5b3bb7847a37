#!/bin/sh
# SPDX-License-Identifier: MIT
# What is linked into each core does not know where rot was built: elsewhere it would be another core, and all be measured again.
set -u
cd "${top_builddir:?}" || exit 99
if grep -q -e --coverage -e -fsanitize core/core-flags.mk; then
	echo 'SKIP: coverage of lines is kept in the build folder, and sanitizers tell where they found something'
	exit 77
fi
status=0
for library in core/librot-child.a shared-entities/libentities.a shared-entities/libshared-entities.a; do
	for folder in "$(pwd -P)" "$top_srcdir/" ../core/ ../shared-entities/; do
		if grep -qF -e "$folder" "$library"; then
			echo "$library knows the folder $folder"
			status=1
		fi
	done
done
exit $status
