/* SPDX-License-Identifier: MIT */
/* A graph that is being read. */
#include "building.h"

#include <stdlib.h>

#include "graph.h"
#include "memory.h"
#include "nearest.h"
#include "value.h"

struct rot_entity *
building_add(struct building *building, const char *class_name, long line, struct rot_error *err)
{
	const struct rot_class *class = rot_registry_find(building->registry, class_name);

	if (!class) {
		size_t nr = rot_registry_size(building->registry);
		autofree const char **names = rot_calloc(nr, sizeof(*names));

		for (size_t i = 0; i < nr; i++)
			names[i] = rot_registry_at(building->registry, i)->name;
		rot_error_set(err, 0, "there is no class '%s'", class_name);
		rot_nearest_hint(err, class_name, names, nr, "");
		return NULL;
	}
	if (class->is_abstract) {
		rot_error_set(err, 0, "class %s is abstract: only classes derived from it have entities", class_name);
		return NULL;
	}
	building->entities = rot_grow(building->entities, building->nr, sizeof(*building->entities));
	building->lines = rot_grow(building->lines, building->nr, sizeof(*building->lines));
	building->entities[building->nr] = rot_entity_new(class);
	building->lines[building->nr] = line;
	return building->entities[building->nr++];
}

void
building_add_item(struct rot_entity *entity, const struct rot_field *field)
{
	static const union {
		char *string;
		uint64_t bits;
	} zero = {.bits = 0};

	rot_list_add(rot_field_of(entity, field), field->type, &zero);
}

void
building_refer(struct building *building, struct rot_entity *holder, const struct rot_field *field, size_t item,
	       size_t target, long line)
{
	building->references = rot_grow(building->references, building->nr_references, sizeof(*building->references));
	building->references[building->nr_references++] = (struct building_reference){
		.holder = holder, .field = field, .item = item, .target = target, .line = line};
}

static int
set_reference(struct building *building, const struct building_reference *reference, struct rot_error *err)
{
	struct rot_entity *holder = reference->holder, *target;
	const struct rot_field *field = reference->field;
	size_t nr;
	void *slots = value_slots(holder, field, &nr);

	if (reference->target >= building->nr)
		return rot_error_set(err, 0, "class %s, field %s: there is no entity %zu (there are %zu)",
				     holder->class->name, field->name, reference->target, building->nr);
	target = building->entities[reference->target];
	if (!rot_is_a(target, field->target))
		return rot_error_set(err, 0, "class %s, field %s: refers to a %s, but holds a %s", holder->class->name,
				     field->name, target->class->name, field->target->name);
	*(struct rot_entity **)value_slot(field, slots, reference->item) = target;
	return 0;
}

/* An entity that the root does not reach would be owned by nobody. The message names the first one. */
static int
check_reach(const struct building *building, const char *name, struct rot_error *err)
{
	struct graph graph;
	int rc = 0;

	graph_init(&graph, building->entities[0]);
	for (size_t i = 0; i < building->nr && rc == 0; i++)
		if (graph_index(&graph, building->entities[i]) == GRAPH_NULL)
			rc = rot_error_set(err, 0, "%s:%ld: class %s: nothing refers to this entity", name,
					   building->lines[i], building->entities[i]->class->name);
	graph_clear(&graph);
	return rc;
}

void *
building_finish(struct building *building, const char *name, struct rot_error *err)
{
	void *root;

	if (building->nr == 0) {
		rot_error_set(err, 0, "%s: there is no entity", name);
		return NULL;
	}
	for (size_t i = 0; i < building->nr_references; i++) {
		if (set_reference(building, &building->references[i], err) < 0) {
			rot_error_prefix(err, "%s:%ld", name, building->references[i].line);
			return NULL;
		}
	}
	if (check_reach(building, name, err) < 0)
		return NULL;
	root = building->entities[0];
	building->nr = 0;
	return root;
}

void
building_clear(struct building *building)
{
	for (size_t i = 0; i < building->nr; i++)
		rot_entity_delete(building->entities[i]);
	free(building->entities);
	free(building->lines);
	free(building->references);
	*building = (struct building){0};
}
