/* SPDX-License-Identifier: MIT */
/* Canonical XML of a graph. */
#include <stdlib.h>

#include "escape.h"
#include "memory.h"
#include "nesting.h"
#include "value.h"

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
