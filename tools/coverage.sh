#!/bin/sh
# SPDX-License-Identifier: MIT
# Which lines the tests executed, after they ran in a build folder that was configured with --enable-coverage: all files, the
# worst first, then the folders.
#
# coverage.sh BUILD [FOLDER...]     of the source tree; driver, codegen, shared-entities and core unless told otherwise
set -u
build=${1?the build folder is missing}
shift
[ $# -gt 0 ] || set -- driver codegen shared-entities core
command -v gcov >/dev/null || {
	echo "there is no gcov: it comes with gcc" >&2
	exit 1
}
# Each line as COUNT:LINE:TEXT; an object of a library and one of a test may both have it, so lines are united.
(cd "$build" && find . -name '*.gcda' -exec gcov -t {} + 2>/dev/null) | awk -v folders="$*" '
	BEGIN { FS = ":"; nr_folders = split(folders, folder, " ") }
	$2 + 0 == 0 && $3 == "Source" {
		file = ""
		path = "/" $4
		if (path ~ /\/tests\/|\/generated\//)
			next
		for (i = 1; i <= nr_folders; i++)
			if (at = index(path, "/" folder[i] "/")) {
				file = substr(path, at + 1)
				folder_of[file] = folder[i]
			}
		next
	}
	file == "" || $2 + 0 == 0 || $1 ~ /-$/ { next }
	{
		key = file ":" ($2 + 0)
		if (!(key in is_executed)) {
			is_executed[key] = 0
			nr[file]++
		}
		if ($1 !~ /[#=]$/ && !is_executed[key]) {
			is_executed[key] = 1
			nr_executed[file]++
		}
	}
	END {
		for (file in nr) {
			printf "%5.1f %% of %5d lines  %s\n", 100 * nr_executed[file] / nr[file], nr[file], file | "sort -n"
			sum[folder_of[file]] += nr[file]
			sum_executed[folder_of[file]] += nr_executed[file]
		}
		close("sort -n")
		for (i = 1; i <= nr_folders; i++)
			if (sum[folder[i]])
				printf "%5.1f %% of %5d lines  %s/\n", 100 * sum_executed[folder[i]] / sum[folder[i]], sum[folder[i]], folder[i]
			else
				printf "no lines of %s: were the tests run in this build folder?\n", folder[i]
	}'
