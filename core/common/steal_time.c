/* SPDX-License-Identifier: MIT */
#include "common/steal_time.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Field of a line "cpu ..." of /proc/stat that holds the stolen time, from 1. */
#define STEAL_FIELD 8

/* A line has a name and ten numbers. */
#define LINE_BYTES 160

/* Behind "cpu " or "cpu12 " at the begin of a line, or NULL. */
static const char *
find_line(const char *text, int cpu)
{
	char name[32];
	size_t length;

	if (cpu == STEAL_TIME_ALL)
		snprintf(name, sizeof(name), "cpu ");
	else
		snprintf(name, sizeof(name), "cpu%d ", cpu);
	length = strlen(name);
	while (text && strncmp(text, name, length) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + length - 1 : NULL;
}

int64_t
steal_time_of(const char *text, int cpu)
{
	const char *at = find_line(text, cpu);

	/* a number that ends with the text may be cut */
	if (!at || !strchr(at, '\n'))
		return -1;
	for (int field = 1; field < STEAL_FIELD; field++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	at += strspn(at, " ");
	return *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : -1;
}

int
steal_time_open(void)
{
	return open("/proc/stat", O_RDONLY | O_CLOEXEC);
}

size_t
steal_time_room(void)
{
	const long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	return ((nr_cpus > 0 ? (size_t)nr_cpus : 1) + 1) * LINE_BYTES;
}

void
steal_time_read(int fd, char *text, size_t room)
{
	ssize_t bytes = fd < 0 ? -1 : pread(fd, text, room - 1, 0);

	text[bytes > 0 ? bytes : 0] = '\0';
}

int64_t
steal_time_now(void)
{
	char text[2 * LINE_BYTES];
	int fd = steal_time_open();

	steal_time_read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return steal_time_of(text, STEAL_TIME_ALL);
}

int64_t
steal_time_between(int64_t from, int64_t to)
{
	return from < 0 || to < 0 ? -1 : to - from;
}
