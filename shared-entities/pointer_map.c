/* SPDX-License-Identifier: MIT */
/* Numbers by pointer: open addressing, at most half full. */
#include "pointer_map.h"

#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

/* The slot of key, or the free one where it belongs. */
static struct pointer_map_slot *
slot_of(const struct pointer_map *map, const void *key)
{
	size_t mask = map->nr_slots - 1;
	size_t i = (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

	while (map->slots[i].key && map->slots[i].key != key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

bool
pointer_map_add(struct pointer_map *map, const void *key, size_t value)
{
	struct pointer_map_slot *slot;

	if (2 * (map->nr + 1) > map->nr_slots) {
		struct pointer_map bigger = {.nr_slots = map->nr_slots ? 2 * map->nr_slots : 16, .nr = map->nr};

		bigger.slots = rot_calloc(bigger.nr_slots, sizeof(*bigger.slots));
		for (size_t i = 0; i < map->nr_slots; i++)
			if (map->slots[i].key)
				*slot_of(&bigger, map->slots[i].key) = map->slots[i];
		free(map->slots);
		*map = bigger;
	}
	slot = slot_of(map, key);
	if (slot->key)
		return false;
	*slot = (struct pointer_map_slot){.key = key, .value = value};
	map->nr++;
	return true;
}

bool
pointer_map_find(const struct pointer_map *map, const void *key, size_t *value)
{
	const struct pointer_map_slot *slot;

	if (!key || map->nr == 0)
		return false;
	slot = slot_of(map, key);
	if (!slot->key)
		return false;
	*value = slot->value;
	return true;
}

void
pointer_map_clear(struct pointer_map *map)
{
	free(map->slots);
	*map = (struct pointer_map){0};
}
