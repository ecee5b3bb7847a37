/* SPDX-License-Identifier: MIT */
/* Graphs of entities. All walks are loops over the collected entities, so that depth does not matter. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "value.h"

static void
collect_one(struct graph *graph, struct rot_entity *entity)
{
	if (!entity || !pointer_map_add(&graph->index, entity, graph->nr))
		return;
	graph->entities = rot_grow(graph->entities, graph->nr, sizeof(struct rot_entity *));
	graph->entities[graph->nr++] = entity;
}

void
graph_init(struct graph *graph, const void *root)
{
	*graph = (struct graph){0};
	collect_one(graph, (struct rot_entity *)root);
	for (size_t i = 0; i < graph->nr; i++) {
		const struct rot_class *class = graph->entities[i]->class;
		size_t nr_fields = rot_class_nr_fields(class);

		for (size_t j = 0; j < nr_fields; j++) {
			const struct rot_field *field = rot_class_field_at(class, j);
			size_t nr;
			void *slots = value_slots(graph->entities[i], field, &nr);

			for (size_t k = 0; k < nr && field->type == ROT_REFERENCE; k++)
				collect_one(graph, value_reference(value_slot(field, slots, k)));
		}
	}
}

void
graph_clear(struct graph *graph)
{
	free(graph->entities);
	pointer_map_clear(&graph->index);
	*graph = (struct graph){0};
}

size_t
graph_index(const struct graph *graph, const void *entity)
{
	size_t index = GRAPH_NULL;

	pointer_map_find(&graph->index, entity, &index);
	return index;
}

struct rot_entity **
rot_graph_collect(const void *root, size_t *nr)
{
	struct graph graph;

	graph_init(&graph, root);
	*nr = graph.nr;
	pointer_map_clear(&graph.index);
	return graph.entities;
}

void
rot_graph_delete(void *root)
{
	size_t nr;
	autofree struct rot_entity **entities = rot_graph_collect(root, &nr);

	for (size_t i = 0; i < nr; i++)
		rot_entity_delete(entities[i]);
}

void
rot_graph_delete_local(void *variable)
{
	rot_graph_delete(rot_keep(variable));
}

/* ---- clone ---- */

struct rot_clone_map {
	struct graph old;
	struct rot_entity **new; /* in the order of old */
};

void *
rot_clone_map_get(const struct rot_clone_map *map, const void *old)
{
	size_t index = graph_index(&map->old, old);

	return index == GRAPH_NULL ? NULL : map->new[index];
}

void
rot_clone_map_delete(struct rot_clone_map *map)
{
	if (!map)
		return;
	graph_clear(&map->old);
	free(map->new);
	free(map);
}

static void
clone_slot(const struct rot_clone_map *map, const struct rot_field *field, const void *from, void *to)
{
	if (field->type == ROT_REFERENCE)
		*(void **)to = rot_clone_map_get(map, value_reference(from));
	else if (field->type == ROT_STRING)
		rot_string_set(to, value_string(from));
	else
		memcpy(to, from, value_types[field->type].size);
}

static void
clone_field(const struct rot_clone_map *map, const struct rot_field *field, const void *from, void *to)
{
	struct rot_list *list = rot_field_of(to, field);
	const void *slots = rot_field_of(from, field);
	size_t nr;

	if (!field->is_list) {
		clone_slot(map, field, slots, list);
		return;
	}
	slots = value_slots(from, field, &nr);
	for (size_t i = 0; i < nr; i++) {
		static const char zero[sizeof(uint64_t)];

		rot_list_add(list, field->type, field->type == ROT_STRING ? (const void *)&(char *){NULL} : zero);
		clone_slot(map, field, value_slot(field, (void *)slots, i), value_slot(field, list->items, i));
	}
}

void *
rot_graph_clone(const void *root, struct rot_clone_map **result)
{
	struct rot_clone_map *map = rot_calloc(1, sizeof(*map));
	void *new_root;

	graph_init(&map->old, root);
	map->new = rot_calloc(map->old.nr, sizeof(struct rot_entity *));
	for (size_t i = 0; i < map->old.nr; i++)
		map->new[i] = rot_entity_new(map->old.entities[i]->class);
	for (size_t i = 0; i < map->old.nr; i++) {
		const struct rot_class *class = map->new[i]->class;
		size_t nr_fields = rot_class_nr_fields(class);

		for (size_t j = 0; j < nr_fields; j++)
			clone_field(map, rot_class_field_at(class, j), map->old.entities[i], map->new[i]);
	}
	new_root = rot_clone_map_get(map, root);
	if (result)
		*result = map;
	else
		rot_clone_map_delete(map);
	return new_root;
}

/* ---- equality and hash ---- */

/* Two entities are equal within their graphs when their references lead to entities of the same number. */
static bool
field_equal(const struct graph *graph_a, const void *a, const struct graph *graph_b, const void *b,
	    const struct rot_field *field)
{
	size_t nr_a, nr_b;
	void *slots_a = value_slots(a, field, &nr_a), *slots_b = value_slots(b, field, &nr_b);
	bool equal = nr_a == nr_b;

	for (size_t i = 0; i < nr_a && equal; i++) {
		const void *slot_a = value_slot(field, slots_a, i), *slot_b = value_slot(field, slots_b, i);

		if (field->type == ROT_REFERENCE)
			equal = graph_index(graph_a, value_reference(slot_a)) ==
				graph_index(graph_b, value_reference(slot_b));
		else
			equal = value_equal(field->type, slot_a, slot_b);
	}
	return equal;
}

bool
rot_graph_equal(const void *root_a, const void *root_b)
{
	struct graph a, b;
	bool equal;

	graph_init(&a, root_a);
	graph_init(&b, root_b);
	equal = a.nr == b.nr;
	for (size_t i = 0; i < a.nr && equal; i++) {
		const struct rot_class *class = a.entities[i]->class;
		size_t nr_fields = rot_class_nr_fields(class);

		equal = class == b.entities[i]->class;
		for (size_t j = 0; j < nr_fields && equal; j++)
			equal = field_equal(&a, a.entities[i], &b, b.entities[i], rot_class_field_at(class, j));
	}
	graph_clear(&a);
	graph_clear(&b);
	return equal;
}
