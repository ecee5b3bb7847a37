/* SPDX-License-Identifier: MIT */
/* From names to classes: bases, targets of references, and the layout that the generated C struct has. */
#include <stdlib.h>
#include <string.h>

#include "definitions.h"
#include "memory.h"
#include "nearest.h"
#include "value.h"

struct resolver {
	struct definitions *definitions;
	const struct rot_registry *known; /* or NULL */
	struct rot_error *err;
};

/* The class of that name; it may be incomplete. NULL if there is none. */
static const struct rot_class *
find_class(const struct resolver *resolver, const char *name)
{
	const struct loaded *item = definitions_item(resolver->definitions, name);

	if (item)
		return &item->class;
	return resolver->known ? rot_registry_find(resolver->known, name) : NULL;
}

static int
no_such_class(const struct resolver *resolver, const struct loaded *item, int line, const char *name)
{
	size_t nr_own = resolver->definitions->nr;
	size_t nr_known = resolver->known ? rot_registry_size(resolver->known) : 0;
	autofree const char **names = rot_calloc(nr_own + nr_known, sizeof(*names));

	for (size_t i = 0; i < nr_own; i++)
		names[i] = resolver->definitions->items[i]->class.name;
	for (size_t i = 0; i < nr_known; i++)
		names[nr_own + i] = rot_registry_at(resolver->known, i)->name;
	rot_error_set(resolver->err, 0, "%s:%d: class %s: there is no class '%s'", item->definition.path, line,
		      item->class.name, name);
	rot_nearest_hint(resolver->err, name, names, nr_own + nr_known, "");
	return -1;
}

/* The class that class derives from, also before it is resolved. */
static const struct rot_class *
base_of(const struct resolver *resolver, const struct rot_class *class)
{
	const struct loaded *item = definitions_item(resolver->definitions, class->name);

	if (item && &item->class == class)
		return item->base_name ? find_class(resolver, item->base_name) : NULL;
	return class->base;
}

static int
check_base(const struct resolver *resolver, const struct loaded *item)
{
	const char *path = item->definition.path;
	const struct loaded *base;
	size_t steps = 0;

	if (!item->base_name)
		return 0;
	if (!find_class(resolver, item->base_name))
		return no_such_class(resolver, item, item->line, item->base_name);
	base = definitions_item(resolver->definitions, item->base_name);
	if (base && base->definition.c_suffix[0])
		return rot_error_set(resolver->err, 0, "%s:%d: class %s cannot derive from %s, which has a cSuffix",
				     path, item->line, item->class.name, base->class.name);
	for (const struct rot_class *class = &item->class; class; class = base_of(resolver, class))
		if (steps++ > resolver->definitions->nr && definitions_item(resolver->definitions, class->name))
			return rot_error_set(resolver->err, 0, "%s:%d: class %s derives from itself", path, item->line,
					     item->class.name);
	return 0;
}

/* A field of the base, of the same name in C. */
static const struct rot_field *
hidden_field(const struct resolver *resolver, const struct loaded *item, const char *name)
{
	const struct rot_field *hidden = NULL;
	autofree char *c_name = codegen_snake_case(name);

	for (const struct rot_class *base = base_of(resolver, &item->class); base; base = base_of(resolver, base)) {
		for (size_t i = 0; i < base->nr_fields; i++) {
			autofree char *other = codegen_snake_case(base->fields[i].name);

			if (strcmp(other, c_name) == 0)
				hidden = &base->fields[i];
		}
	}
	return hidden;
}

static int
check_field(const struct resolver *resolver, const struct loaded *item, size_t i)
{
	const struct rot_field *field = &item->fields[i], *hidden;
	int line = item->names[i].line;

	if (field->type == ROT_REFERENCE && !find_class(resolver, item->names[i].type)) {
		no_such_class(resolver, item, line, item->names[i].type);
		return -1;
	}
	hidden = hidden_field(resolver, item, field->name);
	if (hidden)
		return rot_error_set(resolver->err, 0, "%s:%d: class %s, field %s: the base has a field %s already",
				     item->definition.path, line, item->class.name, field->name, hidden->name);
	return 0;
}

static int
check(const struct resolver *resolver, const struct loaded *item)
{
	int rc = 0;

	if (resolver->known && rot_registry_find(resolver->known, item->class.name))
		return rot_error_set(resolver->err, 0, "%s:%d: class %s exists already; choose another name",
				     item->definition.path, item->line, item->class.name);
	rc = check_base(resolver, item);
	for (size_t i = 0; rc == 0 && i < item->class.nr_fields; i++)
		rc = check_field(resolver, item, i);
	return rc;
}

/* ---- layout: base first, then each member at the next multiple of its alignment, as the C compiler does ---- */

static size_t
round_up(size_t offset, size_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

static void
lay_out(const struct resolver *resolver, struct loaded *item)
{
	struct loaded *base = item->base_name ? definitions_item(resolver->definitions, item->base_name) : NULL;
	size_t offset = sizeof(struct rot_entity);

	if (item->definition.class)
		return;
	if (base)
		lay_out(resolver, base);
	if (item->base_name) {
		item->class.base = find_class(resolver, item->base_name);
		offset = item->class.base->size;
	}
	for (size_t i = 0; i < item->class.nr_fields; i++) {
		struct rot_field *field = &item->fields[i];
		size_t size = value_types[field->type].size;

		field->offset = round_up(offset, field->is_list ? _Alignof(struct rot_list) : size);
		offset = field->offset + (field->is_list ? sizeof(struct rot_list) : size);
		if (field->type == ROT_REFERENCE)
			field->target = find_class(resolver, item->names[i].type);
	}
	item->class.size = round_up(offset, _Alignof(struct rot_entity));
	item->definition.class = &item->class;
}

int
definitions_resolve(struct definitions *definitions, const struct rot_registry *known, struct rot_error *err)
{
	struct resolver resolver = {.definitions = definitions, .known = known, .err = err};

	for (size_t i = 0; i < definitions->nr; i++) {
		if (!definitions->items[i]->definition.class && check(&resolver, definitions->items[i]) < 0) {
			/* Nothing refers to an item that is not resolved, so it can go. */
			loaded_delete(definitions->items[i]);
			definitions->nr--;
			memmove(definitions->items + i, definitions->items + i + 1,
				(definitions->nr - i) * sizeof(*definitions->items));
			return -1;
		}
	}
	for (size_t i = 0; i < definitions->nr; i++)
		lay_out(&resolver, definitions->items[i]);
	return 0;
}
