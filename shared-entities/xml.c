/* SPDX-License-Identifier: MIT */
/* Canonical XML of a graph. */
#include <stdlib.h>

#include "escape.h"
#include "graph.h"
#include "memory.h"
#include "value.h"

/* ---- where entities stand ---- */

/* Entities within entities. The readers of canonical XML count on it. */
#define NESTING_MAX_DEPTH 100

struct nesting {
	struct graph graph;
	struct nesting_place {
		size_t nr_uses; /* references to it; being the root is one */
		size_t label;   /* from 1; 0: none (yet) */
		bool is_placed;
	} * places; /* one an entity of the graph */
	size_t nr_labels;
	struct rot_entity **roots; /* to be listed at the top: the root, then what was too deep */
	size_t nr_roots;
};

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

static void
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

static void
nesting_clear(struct nesting *nesting)
{
	graph_clear(&nesting->graph);
	free(nesting->places);
	free(nesting->roots);
}

/*
 * Called once for each reference (not NULL), in the order of the listing; depth is that of the entity holding the
 * reference, 0 at the top. True: list the entity here. False: refer to its label.
 */
static bool
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

/* The label of an entity that is being listed or referred to; 0 if it has none. */
static size_t
nesting_label(const struct nesting *nesting, const void *entity)
{
	return nesting->places[graph_index(&nesting->graph, entity)].label;
}

static void write_entity(struct nesting *nesting, const struct rot_entity *entity, size_t depth, FILE *out);

static void
write_attribute(const char *name, const struct rot_field *field, const void *slot, FILE *out)
{
	char room[VALUE_ROOM];

	fprintf(out, " %s=\"", name);
	escape_write_attribute(value_types[field->type].text(slot, room), out);
	putc('"', out);
}

static void
write_item(struct nesting *nesting, const struct rot_field *field, const void *slot, size_t depth, FILE *out)
{
	const struct rot_entity *target = field->type == ROT_REFERENCE ? value_reference(slot) : NULL;

	if (field->type != ROT_REFERENCE) {
		fputs("<item", out);
		write_attribute("value", field, slot, out);
		fputs("/>\n", out);
	} else if (!target) {
		fputs("<item/>\n", out);
	} else if (nesting_is_here(nesting, target, depth)) {
		write_entity(nesting, target, depth + 1, out);
	} else {
		fprintf(out, "<item ref=\"e%zu\"/>\n", nesting_label(nesting, target));
	}
}

static void
write_list(struct nesting *nesting, const struct rot_field *field, const struct rot_list *list, size_t depth, FILE *out)
{
	if (list->nr == 0) {
		fprintf(out, "<%s/>\n", field->name);
		return;
	}
	fprintf(out, "<%s>\n", field->name);
	for (size_t i = 0; i < list->nr; i++)
		write_item(nesting, field, value_slot(field, list->items, i), depth, out);
	fprintf(out, "</%s>\n", field->name);
}

static void
write_reference(struct nesting *nesting, const struct rot_field *field, const void *slot, size_t depth, FILE *out)
{
	const struct rot_entity *target = value_reference(slot);

	if (!target) {
		fprintf(out, "<%s/>\n", field->name);
	} else if (nesting_is_here(nesting, target, depth)) {
		fprintf(out, "<%s>\n", field->name);
		write_entity(nesting, target, depth + 1, out);
		fprintf(out, "</%s>\n", field->name);
	} else {
		fprintf(out, "<%s ref=\"e%zu\"/>\n", field->name, nesting_label(nesting, target));
	}
}

static void
write_entity(struct nesting *nesting, const struct rot_entity *entity, size_t depth, FILE *out)
{
	size_t nr_fields = rot_class_nr_fields(entity->class), label = nesting_label(nesting, entity);
	bool is_open = false;

	fprintf(out, "<%s", entity->class->name);
	for (size_t i = 0; i < nr_fields; i++) {
		const struct rot_field *field = rot_class_field_at(entity->class, i);

		if (!field->is_list && field->type != ROT_REFERENCE)
			write_attribute(field->name, field, rot_field_of(entity, field), out);
		else
			is_open = true;
	}
	if (label)
		fprintf(out, " xml:id=\"e%zu\"", label);
	fputs(is_open ? ">\n" : "/>\n", out);
	for (size_t i = 0; i < nr_fields; i++) {
		const struct rot_field *field = rot_class_field_at(entity->class, i);

		if (field->is_list)
			write_list(nesting, field, rot_field_of(entity, field), depth, out);
		else if (field->type == ROT_REFERENCE)
			write_reference(nesting, field, rot_field_of(entity, field), depth, out);
	}
	if (is_open)
		fprintf(out, "</%s>\n", entity->class->name);
}

char *
rot_xml_write(const void *root)
{
	struct nesting nesting;
	char *text = NULL, *whole;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	nesting_init(&nesting, root);
	for (size_t i = 0; out && i < nesting.nr_roots; i++)
		write_entity(&nesting, nesting.roots[i], 0, out);
	if (!out || fclose(out) != 0) {
		fputs("rot: out of memory (canonical XML)\n", stderr);
		exit(1);
	}
	if (nesting.nr_roots > 1) {
		whole = rot_format("<graph>\n%s</graph>\n", text);
		free(text);
		text = whole;
	}
	nesting_clear(&nesting);
	return text;
}
