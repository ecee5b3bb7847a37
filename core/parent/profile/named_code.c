/* SPDX-License-Identifier: MIT */
/* See named_code.h. Format: linux/tools/perf/Documentation/jit-interface.txt: lines "START SIZE NAME", numbers in hex.
 */
#include "parent/profile/named_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "parent/symbols/ordered.h"

/* number: in the order of the file. */
struct named {
	uint64_t start, size;
	size_t number;
	char *name;
};

/* Ordered by start; of two that start at the same address, the later one is behind. */
struct named_process {
	pid_t pid;
	struct named *items;
	size_t nr;
};

/* Anybody may write to the folder: only a plain file of this user, or of root, is believed. */
static FILE *
open_map(pid_t pid)
{
	char *path = rot_format("/tmp/perf-%d.map", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	free(path);
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0))
		return fdopen(fd, "re");
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int
compare_named(const void *a, const void *b)
{
	const struct named *left = a, *right = b;
	const int order = (left->start > right->start) - (left->start < right->start);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static void
read_map(struct named_process *process)
{
	FILE *file = open_map(process->pid);
	char *line = NULL;
	size_t line_bytes = 0;

	while (file && getline(&line, &line_bytes, file) >= 0) {
		struct named named = {.number = process->nr};
		int name_at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &named.start, &named.size, &name_at) < 2 || !name_at)
			continue;
		named.name = rot_strdup(line + name_at);
		process->items = rot_grow(process->items, process->nr, sizeof(*process->items));
		process->items[process->nr++] = named;
	}
	if (process->nr > 0)
		qsort(process->items, process->nr, sizeof(*process->items), compare_named);
	free(line);
	if (file)
		fclose(file);
}

static const struct named_process *
find_process(struct named_code *named, pid_t pid)
{
	struct named_process *process;

	for (size_t i = 0; i < named->nr_processes; i++)
		if (named->processes[i].pid == pid)
			return &named->processes[i];
	named->processes = rot_grow(named->processes, named->nr_processes, sizeof(*named->processes));
	process = &named->processes[named->nr_processes++];
	*process = (struct named_process){.pid = pid};
	read_map(process);
	return process;
}

const char *
named_code_find(struct named_code *named, pid_t pid, uint64_t address)
{
	const struct named_process *process = find_process(named, pid);
	const size_t behind = ORDERED_UP_TO(process->items, process->nr, start, address);
	const struct named *item = behind > 0 ? &process->items[behind - 1] : NULL;

	return item && address - item->start < item->size ? item->name : NULL;
}

void
named_code_clear(struct named_code *named)
{
	for (size_t i = 0; i < named->nr_processes; i++) {
		for (size_t k = 0; k < named->processes[i].nr; k++)
			free(named->processes[i].items[k].name);
		free(named->processes[i].items);
	}
	free(named->processes);
	*named = (struct named_code){0};
}
