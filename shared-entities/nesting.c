/* SPDX-License-Identifier: MIT */
/* Where the entities of a graph stand in a nested listing. */
#include "nesting.h"

#include <stdlib.h>

#include "memory.h"
#include "value.h"

static void
count_uses(struct nesting *nesting, const struct rot_entity *entity)
{
	size_t nr_fields = rot_class_nr_fields(entity->class);

	for (size_t j = 0; j < nr_fields; j++) {
		const struct rot_field *field = rot_class_field_at(entity->class, j);
		size_t nr;
		void *slots = value_slots(entity, field, &nr);

		for (size_t i = 0; i < nr && field->type == ROT_REFERENCE; i++) {
			size_t target = graph_index(&nesting->graph, value_reference(value_slot(field, slots, i)));

			if (target != GRAPH_NULL)
				nesting->places[target].nr_uses++;
		}
	}
}

static void
place(struct nesting *nesting, size_t index, bool needs_label)
{
	struct nesting_place *it = &nesting->places[index];

	it->is_placed = true;
	if (needs_label || it->nr_uses > 1)
		it->label = ++nesting->nr_labels;
}

static void
place_at_top(struct nesting *nesting, size_t index, bool needs_label)
{
	place(nesting, index, needs_label);
	nesting->roots[nesting->nr_roots++] = nesting->graph.entities[index];
}

void
nesting_init(struct nesting *nesting, const void *root)
{
	*nesting = (struct nesting){0};
	graph_init(&nesting->graph, root);
	nesting->places = rot_calloc(nesting->graph.nr, sizeof(*nesting->places));
	nesting->roots = rot_calloc(nesting->graph.nr, sizeof(*nesting->roots));
	for (size_t i = 0; i < nesting->graph.nr; i++)
		count_uses(nesting, nesting->graph.entities[i]);
	if (root) {
		nesting->places[0].nr_uses++;
		place_at_top(nesting, 0, false);
	}
}

void
nesting_clear(struct nesting *nesting)
{
	graph_clear(&nesting->graph);
	free(nesting->places);
	free(nesting->roots);
}

bool
nesting_is_here(struct nesting *nesting, const void *entity, size_t depth)
{
	size_t index = graph_index(&nesting->graph, entity);

	if (nesting->places[index].is_placed)
		return false;
	if (depth + 1 >= NESTING_MAX_DEPTH) {
		place_at_top(nesting, index, true);
		return false;
	}
	place(nesting, index, false);
	return true;
}

size_t
nesting_label(const struct nesting *nesting, const void *entity)
{
	return nesting->places[graph_index(&nesting->graph, entity)].label;
}
