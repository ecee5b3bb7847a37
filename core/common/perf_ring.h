/* SPDX-License-Identifier: MIT */
/* The memory that the kernel writes records of perf events into. Layout: linux/perf_event.h. */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>

/* page NULL: it is not mapped. bytes: of records, a power of two; a page of control data stands before them. */
struct perf_ring {
	struct perf_event_mmap_page *page;
	size_t bytes;
};

/* Maps the ring of an open event. 0, or -1 with errno, and nothing is mapped. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t bytes);
void perf_ring_unmap(struct perf_ring *ring);

/* Calls handle with each record that is there, in one piece, and gives its room back. Not mapped: nothing is done. */
void perf_ring_read(struct perf_ring *ring, void (*handle)(void *context, const struct perf_event_header *record),
		    void *context);
