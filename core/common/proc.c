/* SPDX-License-Identifier: MIT */
#include "common/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER_BYTES 32

static const char *
folder_of(pid_t id, char folder[FOLDER_BYTES])
{
	snprintf(folder, FOLDER_BYTES, "/proc/%d", (int)id);
	return folder;
}

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
	char folder[FOLDER_BYTES];

	return proc_status_in(folder_of(id, folder), key, base, number);
}

bool
proc_stat_in(const char *folder, char fields[PROC_STAT_BYTES])
{
	const char *name_end;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", folder);
	file = fopen(path, "re");
	name_end = file && fgets(fields, PROC_STAT_BYTES, file) ? strrchr(fields, ')') : NULL;
	if (file)
		fclose(file);
	if (name_end)
		memmove(fields, name_end + 1, strlen(name_end));
	return name_end != NULL;
}

bool
proc_stat(pid_t id, char fields[PROC_STAT_BYTES])
{
	char folder[FOLDER_BYTES];

	return proc_stat_in(folder_of(id, folder), fields);
}

/* One of the flags in stat. Source: linux/sched.h. */
#define PF_EXITING 0x4

bool
proc_is_ending(pid_t id)
{
	char fields[PROC_STAT_BYTES];
	unsigned flags;

	return !proc_stat(id, fields) || sscanf(fields, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       (flags & PF_EXITING);
}

bool
proc_schedstat(pid_t tid, uint64_t *run_ns, uint64_t *wait_ns)
{
	char path[FOLDER_BYTES + sizeof("/schedstat")], folder[FOLDER_BYTES];
	FILE *file;
	bool is_known;

	snprintf(path, sizeof(path), "%s/schedstat", folder_of(tid, folder));
	file = fopen(path, "re");
	is_known = file && fscanf(file, "%" SCNu64 " %" SCNu64, run_ns, wait_ns) == 2;
	if (file)
		fclose(file);
	return is_known;
}

void
thread_read_name(pid_t tid, char name[THREAD_NAME_BYTES])
{
	char path[32];
	int fd;
	ssize_t bytes;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	bytes = read(fd, name, THREAD_NAME_BYTES);
	name[bytes > 0 ? bytes - 1 : 0] = '\0';
	close(fd);
}

/* close_range does so since Linux 5.9, and marks them since 5.11. */
void
proc_each_descriptor(int least, void (*visit)(int fd))
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd >= least && fd != dirfd(folder))
			visit(fd);
	}
	if (folder)
		closedir(folder);
}
