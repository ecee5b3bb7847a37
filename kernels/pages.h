/* SPDX-License-Identifier: MIT */
/* Tells in which pages a buffer really lies: the system need not give the huge ones that were asked for. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernel.h"

/* AnonHugePages of all mappings that overlap the bytes from start on (proc(5), smaps), in KiB; -1: it cannot be read.
 */
static long
huge_kib_of(const char *start, size_t bytes)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long from, to, begin = (unsigned long)start;
	bool overlaps = false;
	long kib, sum = 0;
	char line[512];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			overlaps = from < begin + bytes && to > begin;
		else if (overlaps && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
			sum += kib;
	}
	fclose(file);
	return sum;
}

/* To be called when all pages have been touched; kept with the result. */
static void
tell_pages(const char *start, size_t bytes)
{
	long huge = huge_kib_of(start, bytes), all = (long)(bytes >> 10);

	if (huge < 0)
		return;
	if (huge >= all)
		kernel_tell("buffer in pages of 2 MiB");
	else if (huge == 0)
		kernel_tell("buffer in pages of 4 KiB");
	else
		kernel_tell("buffer partly in pages of 2 MiB: %ld of %ld KiB", huge, all);
}
