/* SPDX-License-Identifier: MIT */
/* A graph that is being read: entities by number, and references that are set when all entities are there. */
#pragma once

#include "entity.h"

/* Zeroed but for registry: nothing read yet. */
struct building {
	const struct rot_registry *registry;
	struct rot_entity **entities; /* owned until building_finish succeeds */
	long *lines;                  /* where each starts, for messages */
	size_t nr;
	struct building_reference {
		struct rot_entity *holder;
		const struct rot_field *field;
		size_t item;   /* 0 for a plain reference */
		size_t target; /* number of the entity referred to, checked at the end */
		long line;
	} * references;
	size_t nr_references;
};

/*
 * A new entity of the class of that name. NULL: unknown (suggests the nearest) or abstract; the message has no
 * position.
 */
struct rot_entity *building_add(struct building *building, const char *class_name, long line, struct rot_error *err);

/* Appends a zero value (NULL, "") to a list field. */
void building_add_item(struct rot_entity *entity, const struct rot_field *field);

/* holder refers to the target-th entity, in the item-th slot of field, which exists and is NULL. */
void building_refer(struct building *building, struct rot_entity *holder, const struct rot_field *field, size_t item,
		    size_t target, long line);

/*
 * Sets the references and returns the root (the first entity), which the caller owns with all it reaches. NULL: no
 * entity, a reference to nothing or to the wrong class, or an entity that the root does not reach. Messages start
 * with "NAME:LINE: ".
 */
void *building_finish(struct building *building, const char *name, struct rot_error *err);

/* Frees what was not handed over. */
void building_clear(struct building *building);
