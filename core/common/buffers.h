/* SPDX-License-Identifier: MIT */
/* Buffers that kernels have allocated: a table in the memory of the child, in which the parent looks when it crashes.
 */
#pragma once

#include <stdint.h>

enum { BUFFER_TABLE_ROOM = 8 };

/* The first that are there at once. start 0: none; caller: where in the code it was allocated. */
struct buffer_table {
	struct buffer_entry {
		uint64_t start, nr_elements, element_bytes, caller;
	} entries[BUFFER_TABLE_ROOM];
};
