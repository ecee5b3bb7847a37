/* SPDX-License-Identifier: MIT */
/* Text form of a graph, writing. Reading is text_read.c. */
#include <assert.h>
#include <errno.h>

#include "escape.h"
#include "graph.h"
#include "value.h"

/* Ten thousand threads have 300 000 lines: printf, or a lock for each of them, takes several times as long. */
static void
write_line(const char *text, FILE *out)
{
	fputs_unlocked(text, out);
	putc_unlocked('\n', out);
}

static void
write_number(uint64_t number, FILE *out)
{
	char room[VALUE_ROOM];

	write_line(value_types[ROT_ULONG].text(&number, room), out);
}

static void
write_value(const struct graph *graph, const struct rot_field *field, const void *slot, FILE *out)
{
	char room[VALUE_ROOM];

	if (field->type == ROT_STRING) {
		escape_write_line(value_string(slot), out);
		write_line("", out);
	} else if (field->type != ROT_REFERENCE) {
		write_line(value_types[field->type].text(slot, room), out);
	} else if (!value_reference(slot)) {
		write_line("<null>", out);
	} else {
		fputs_unlocked("=> ", out);
		write_number(graph_index(graph, value_reference(slot)), out);
	}
}

static void
write_entity(const struct graph *graph, const struct rot_entity *entity, FILE *out)
{
	size_t nr_fields = rot_class_nr_fields(entity->class);

	write_line(entity->class->name, out);
	for (size_t j = 0; j < nr_fields; j++) {
		const struct rot_field *field = rot_class_field_at(entity->class, j);
		size_t nr;
		void *slots = value_slots(entity, field, &nr);

		write_line(field->name, out);
		if (field->is_list)
			write_number(nr, out);
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
	write_line("<end>", out);
	if (fflush(out) != 0 || ferror(out))
		rc = rot_error_set(err, errno, "cannot write an entity of class %s", graph.entities[0]->class->name);
	graph_clear(&graph);
	return rc;
}
