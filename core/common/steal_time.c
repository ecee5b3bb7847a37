/* SPDX-License-Identifier: MIT */
/* See steal_time.h. */
#include "common/steal_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Field of the line "cpu " of /proc/stat that holds the stolen time, from 1 (proc_pid_stat(5)). */
#define STEAL_FIELD 8

int
steal_time_open(void)
{
	return open("/proc/stat", O_RDONLY | O_CLOEXEC);
}

int64_t
steal_time_read(int fd)
{
	char line[256];
	ssize_t bytes = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);
	char *at = line;

	if (bytes <= 0)
		return -1;
	line[bytes] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (int field = 0; field < STEAL_FIELD; field++) {
		at = strchr(at, ' ');
		if (!at)
			return -1;
		at += strspn(at, " ");
	}
	return strtoll(at, NULL, 10);
}

int64_t
steal_time_now(void)
{
	int fd = steal_time_open();
	int64_t ticks = steal_time_read(fd);

	if (fd >= 0)
		close(fd);
	return ticks;
}

int64_t
steal_time_between(int64_t from, int64_t to)
{
	return from < 0 || to < 0 ? -1 : to - from;
}
