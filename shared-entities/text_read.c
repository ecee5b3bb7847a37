/* SPDX-License-Identifier: MIT */
/* Text form of a graph, reading: entities first, then the references between them. */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "building.h"
#include "escape.h"
#include "value.h"

struct reader {
	FILE *in;
	const char *name;
	long line_number;
	char *line;      /* the last line read, without its newline */
	size_t capacity; /* bytes at line */
	struct building building;
	struct rot_error *err;
};

/* Reads the next line; an incomplete one counts as the end of the input. */
static int
next_line(struct reader *reader, const char *expected)
{
	ssize_t len = getline(&reader->line, &reader->capacity, reader->in);

	reader->line_number++;
	if (len <= 0 || reader->line[len - 1] != '\n')
		return rot_error_set(reader->err, 0, "the input ends where %s is expected", expected);
	reader->line[len - 1] = '\0';
	if (strlen(reader->line) != (size_t)len - 1)
		return rot_error_set(reader->err, 0, "there is a zero byte where %s is expected", expected);
	return 0;
}

/* Reads one value into the item-th slot of a field, which is there and empty. */
static int
read_value(struct reader *reader, struct rot_entity *entity, const struct rot_field *field, size_t item)
{
	size_t nr;
	void *slots = value_slots(entity, field, &nr);
	const char *wrong;
	uint64_t target;
	char *text;

	if (next_line(reader, "a value") < 0)
		return -1;
	if (field->type == ROT_REFERENCE) {
		if (strcmp(reader->line, "<null>") == 0)
			return 0;
		if (strncmp(reader->line, "=> ", 3) != 0 ||
		    value_types[ROT_ULONG].parse(&target, reader->line + 3) != NULL)
			return rot_error_set(reader->err, 0, "'%s' is not a reference ('=> N' or '<null>')",
					     reader->line);
		building_refer(&reader->building, entity, field, item, target, reader->line_number);
		return 0;
	}
	text = escape_decode(reader->line);
	wrong = text ? value_parse(field, value_slot(field, slots, item), text) : "has an unknown escape";
	free(text);
	return wrong ? rot_error_set(reader->err, 0, "'%s' %s", reader->line, wrong) : 0;
}

static int
read_field(struct reader *reader, struct rot_entity *entity, const struct rot_field *field)
{
	uint64_t nr = 1;

	if (next_line(reader, "the name of the field") < 0)
		return -1;
	if (strcmp(reader->line, field->name) != 0)
		return rot_error_set(reader->err, 0, "found '%s' where the name of the field is expected",
				     reader->line);
	if (!field->is_list)
		return read_value(reader, entity, field, 0);
	if (next_line(reader, "the length of the list") < 0)
		return -1;
	if (value_types[ROT_ULONG].parse(&nr, reader->line) != NULL)
		return rot_error_set(reader->err, 0, "'%s' is not the length of a list", reader->line);
	for (uint64_t i = 0; i < nr; i++) {
		building_add_item(entity, field);
		if (read_value(reader, entity, field, i) < 0)
			return -1;
	}
	return 0;
}

/* Reads the fields of the entity of the class whose name is in the line. */
static int
read_entity(struct reader *reader)
{
	struct rot_entity *entity;
	size_t nr_fields;

	entity = building_add(&reader->building, reader->line, reader->line_number, reader->err);
	if (!entity)
		return rot_error_prefix(reader->err, "%s:%ld", reader->name, reader->line_number);
	nr_fields = rot_class_nr_fields(entity->class);
	for (size_t i = 0; i < nr_fields; i++) {
		const struct rot_field *field = rot_class_field_at(entity->class, i);

		if (read_field(reader, entity, field) < 0)
			return rot_error_prefix(reader->err, "%s:%ld: class %s, field %s", reader->name,
						reader->line_number, entity->class->name, field->name);
	}
	return 0;
}

static int
read_all(struct reader *reader)
{
	do {
		if (next_line(reader, "a class or '<end>'") < 0)
			return rot_error_prefix(reader->err, "%s:%ld", reader->name, reader->line_number);
		if (strcmp(reader->line, "<end>") == 0)
			return 0;
	} while (read_entity(reader) == 0);
	return -1;
}

void *
rot_text_read(const struct rot_registry *registry, FILE *in, const char *name, struct rot_error *err)
{
	struct reader reader = {.in = in, .name = name, .err = err, .building = {.registry = registry}};
	void *root = NULL;

	if (read_all(&reader) == 0)
		root = building_finish(&reader.building, name, err);
	building_clear(&reader.building);
	free(reader.line);
	return root;
}
