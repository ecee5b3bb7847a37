/* SPDX-License-Identifier: MIT */
/* Text form of a graph, writing. Reading is text_read.c. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "escape.h"
#include "graph.h"
#include "value.h"

static void
write_value(const struct graph *graph, const struct rot_field *field, const void *slot, FILE *out)
{
	char *text;

	if (field->type != ROT_REFERENCE) {
		text = value_types[field->type].format(slot);
		escape_write_line(text, out);
		free(text);
	} else if (!value_reference(slot)) {
		fputs("<null>", out);
	} else {
		fprintf(out, "=> %zu", graph_index(graph, value_reference(slot)));
	}
	putc('\n', out);
}

static void
write_entity(const struct graph *graph, const struct rot_entity *entity, FILE *out)
{
	size_t nr_fields = rot_class_nr_fields(entity->class);

	fprintf(out, "%s\n", entity->class->name);
	for (size_t j = 0; j < nr_fields; j++) {
		const struct rot_field *field = rot_class_field_at(entity->class, j);
		size_t nr;
		void *slots = value_slots(entity, field, &nr);

		fprintf(out, "%s\n", field->name);
		if (field->is_list)
			fprintf(out, "%zu\n", nr);
		for (size_t i = 0; i < nr; i++)
			write_value(graph, field, value_slot(field, slots, i), out);
	}
}

int
rot_text_write(const void *root, FILE *out, struct rot_error *err)
{
	struct graph graph;
	int rc = 0;

	assert(root);
	graph_init(&graph, root);
	for (size_t i = 0; i < graph.nr; i++)
		write_entity(&graph, graph.entities[i], out);
	fputs("<end>\n", out);
	if (fflush(out) != 0 || ferror(out))
		rc = rot_error_set(err, errno, "cannot write an entity of class %s", graph.entities[0]->class->name);
	graph_clear(&graph);
	return rc;
}
