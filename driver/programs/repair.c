/* SPDX-License-Identifier: MIT */
/* See repair.h. */
#include "programs/repair.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

#define INT3 0xcc

/* Of code; file: "" where it is in none. */
struct mapping {
	uint64_t begin, end, offset;
	unsigned long inode;
	char file[PATH_MAX];
};

static bool
read_mapping(const char *line, struct mapping *mapping)
{
	unsigned long begin, end, offset;
	char rights[8];
	int length = 0;

	*mapping->file = '\0';
	if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %n", &begin, &end, rights, &offset, &mapping->inode, &length) < 5 ||
	    rights[2] != 'x' || line[length] != '/')
		return false;
	mapping->begin = begin;
	mapping->end = end;
	mapping->offset = offset;
	snprintf(mapping->file, sizeof(mapping->file), "%.*s", (int)strcspn(line + length, "\n"), line + length);
	return true;
}

static size_t
repair_bytes(int memory, uint64_t address, const uint8_t *is, const uint8_t *should, size_t nr)
{
	size_t nr_int3 = 0;

	for (size_t i = 0; memcmp(is, should, nr) != 0 && i < nr; i++) {
		if (is[i] == INT3 && should[i] != INT3)
			nr_int3 += pwrite(memory, &should[i], 1, (off_t)(address + i)) == 1;
	}
	return nr_int3;
}

static size_t
repair_mapping(pid_t pid, int memory, const struct mapping *mapping)
{
	static uint8_t is[1 << 16], should[1 << 16];
	autofree char *path = rot_format("/proc/%d/root%s", (int)pid, mapping->file);
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t nr_int3 = 0;
	const bool is_it = file >= 0 && fstat(file, &status) == 0 && status.st_ino == mapping->inode;

	for (uint64_t at = mapping->begin; is_it && at < mapping->end; at += sizeof(is)) {
		const size_t rest = mapping->end - at < sizeof(is) ? mapping->end - at : sizeof(is);
		const ssize_t nr = pread(memory, is, rest, (off_t)at);
		const ssize_t nr_file = pread(file, should, rest, (off_t)(mapping->offset + at - mapping->begin));

		if (nr > 0 && nr_file > 0)
			nr_int3 += repair_bytes(memory, at, is, should, (size_t)(nr < nr_file ? nr : nr_file));
	}
	if (file >= 0)
		close(file);
	return nr_int3;
}

size_t
process_repair(pid_t pid)
{
	autofree char *maps_path = rot_format("/proc/%d/maps", (int)pid);
	autofree char *memory_path = rot_format("/proc/%d/mem", (int)pid);
	FILE *maps = fopen(maps_path, "re");
	int memory = open(memory_path, O_RDWR | O_CLOEXEC);
	struct mapping mapping;
	autofree char *line = NULL;
	size_t size = 0, nr_int3 = 0;

	while (maps && memory >= 0 && getline(&line, &size, maps) > 0) {
		if (read_mapping(line, &mapping))
			nr_int3 += repair_mapping(pid, memory, &mapping);
	}
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	return nr_int3;
}
