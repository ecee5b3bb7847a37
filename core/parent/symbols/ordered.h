/* SPDX-License-Identifier: MIT */
/* Binary search in arrays of structs that are ordered by one of their members, a uint64_t. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many of the nr items have a member of at most limit: the index of the first one that has more. */
#define ORDERED_UP_TO(items, nr, member, limit)                                                                        \
	_Generic((items)->member, uint64_t                                                                             \
		 : ordered_up_to)(items, nr, sizeof(*(items)), offsetof(__typeof__(*(items)), member), limit)

/* item_bytes: of each item; offset: of the member in it. */
static inline size_t
ordered_up_to(const void *items, size_t nr, size_t item_bytes, size_t offset, uint64_t limit)
{
	size_t low = 0, high = nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *item = (const char *)items + middle * item_bytes;

		if (*(const uint64_t *)(const void *)(item + offset) <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
