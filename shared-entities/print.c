/* SPDX-License-Identifier: MIT */
/* Listing of a graph for people. */
#include <stdlib.h>

#include "escape.h"
#include "nesting.h"
#include "value.h"

static void print_entity(struct nesting *nesting, const struct rot_entity *entity, size_t depth, int indent, FILE *out);

/* Ends the line that holds the name of the field or item. */
static void
print_value(struct nesting *nesting, const struct rot_field *field, const void *slot, size_t depth, int indent,
	    FILE *out)
{
	const struct rot_entity *target = field->type == ROT_REFERENCE ? value_reference(slot) : NULL;
	char room[VALUE_ROOM];

	if (field->type != ROT_REFERENCE) {
		putc(' ', out);
		if (field->type == ROT_STRING)
			putc('"', out);
		escape_write_line(value_types[field->type].text(slot, room), out);
		fputs(field->type == ROT_STRING ? "\"\n" : "\n", out);
	} else if (!target) {
		fputs(" none\n", out);
	} else if (nesting_is_here(nesting, target, depth)) {
		putc(' ', out);
		print_entity(nesting, target, depth + 1, indent, out);
	} else {
		fprintf(out, " -> #%zu\n", nesting_label(nesting, target));
	}
}

static void
print_entity(struct nesting *nesting, const struct rot_entity *entity, size_t depth, int indent, FILE *out)
{
	size_t nr_fields = rot_class_nr_fields(entity->class), label = nesting_label(nesting, entity);

	fputs(entity->class->name, out);
	if (label)
		fprintf(out, " #%zu", label);
	putc('\n', out);
	for (size_t j = 0; j < nr_fields; j++) {
		const struct rot_field *field = rot_class_field_at(entity->class, j);
		size_t nr;
		void *slots = value_slots(entity, field, &nr);

		fprintf(out, "%*s%s:", indent + 2, "", field->name);
		if (field->is_list)
			fputs(nr ? "\n" : " none\n", out);
		for (size_t i = 0; i < nr; i++) {
			if (field->is_list)
				fprintf(out, "%*s-", indent + 4, "");
			print_value(nesting, field, value_slot(field, slots, i), depth,
				    field->is_list ? indent + 6 : indent + 2, out);
		}
	}
}

void
rot_graph_print(const void *root, FILE *out)
{
	struct nesting nesting;

	nesting_init(&nesting, root);
	for (size_t i = 0; i < nesting.nr_roots; i++)
		print_entity(&nesting, nesting.roots[i], 0, 0, out);
	nesting_clear(&nesting);
}
