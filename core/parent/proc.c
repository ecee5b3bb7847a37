/* SPDX-License-Identifier: MIT */
/* See proc.h. */
#include "parent/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
proc_status_in(const char *folder, const char *key, int base, uint64_t *number)
{
	const size_t length = strlen(key);
	char path[PATH_MAX], line[256];
	bool is_found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/status", folder);
	file = fopen(path, "re");
	while (file && !is_found && fgets(line, sizeof(line), file)) {
		is_found = strncmp(line, key, length) == 0 && line[length] == ':';
		if (is_found)
			*number = strtoull(line + length + 1, NULL, base);
	}
	if (file)
		fclose(file);
	return is_found;
}

bool
proc_status(pid_t id, const char *key, int base, uint64_t *number)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%d", (int)id);
	return proc_status_in(folder, key, base, number);
}

static bool
read_stat(const char *path, char fields[PROC_STAT_BYTES])
{
	FILE *file = fopen(path, "re");
	const char *name_end = file && fgets(fields, PROC_STAT_BYTES, file) ? strrchr(fields, ')') : NULL;

	if (file)
		fclose(file);
	if (name_end)
		memmove(fields, name_end + 1, strlen(name_end));
	return name_end != NULL;
}

bool
proc_stat(pid_t pid, char fields[PROC_STAT_BYTES])
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_stat(path, fields);
}

bool
proc_stat_of_thread(pid_t tid, char fields[PROC_STAT_BYTES])
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)tid, (int)tid);
	return read_stat(path, fields);
}
