/* SPDX-License-Identifier: MIT */
/*
 * Lines that threads share: by true sharing they use the same bytes, by false sharing different bytes of which some are
 * written. Accesses come in batches, each of one thread, with the time in which they were made; what two threads do in
 * batches whose times overlap counts as done at the same time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sharing;

/* Lines of 1 << line_shift bytes, at most 64. Takes 16 MB. */
struct sharing *sharing_new(unsigned line_shift);
void sharing_delete(struct sharing *sharing);

/* All accesses from here on are of that thread (numbers from 1 on), between these times. */
void sharing_begin(struct sharing *sharing, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
void sharing_access(struct sharing *sharing, uint64_t address, uint64_t bytes, bool is_store);

/*
 * Two threads in a line. bytes: a bit for each that they used at most; nr: accesses of the one that has fewer while
 * their bytes differed; nr_true: while they did not. nr_all: accesses of the thread with fewer, to all lines
 */
struct shared_line {
	uint64_t line, bytes[2], nr, nr_true, nr_all;
	uint32_t threads[2];
};

/* All lines that two threads share falsely, most accesses first; to be freed. No access may follow. */
struct shared_line *sharing_find(struct sharing *sharing, size_t *nr);
