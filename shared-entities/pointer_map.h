/* SPDX-License-Identifier: MIT */
/* Numbers by pointer: which entity of a graph is the how-many-th. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty map. */
struct pointer_map {
	struct pointer_map_slot {
		const void *key; /* NULL: free */
		size_t value;
	} * slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr;
};

/* Adds key (not NULL) unless it is there. True if it was added. */
bool pointer_map_add(struct pointer_map *map, const void *key, size_t value);

/* True and the value if key is there; key may be NULL, which never is. */
bool pointer_map_find(const struct pointer_map *map, const void *key, size_t *value);

void pointer_map_clear(struct pointer_map *map);
