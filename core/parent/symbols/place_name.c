/* SPDX-License-Identifier: MIT */
/* Reads what people write for a place. */
#include "parent/symbols/place_name.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* The first colon of text that stands alone, or NULL. */
static const char *
lone_colon(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ':'))) {
		size_t nr_colons = strspn(at, ":");

		if (nr_colons == 1)
			return at;
		at += nr_colons;
	}
	return NULL;
}

static bool
is_number(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static int
line_read(const char *digits, const char *text, int *line, struct rot_error *err)
{
	unsigned long value = strtoul(digits, NULL, 10); /* too large: ULONG_MAX */

	if (value == 0 || value > INT_MAX)
		return rot_error_set(err, 0, "'%s' names no line", text);
	*line = (int)value;
	return 0;
}

static int
address_read(const char *digits, const char *text, uint64_t *address, struct rot_error *err)
{
	char *behind;

	errno = 0;
	*address = strtoull(digits, &behind, 16);
	if (errno != 0 || *behind != '\0') /* of "0x" alone it reads the 0 */
		return rot_error_set(err, 0, "'%s' names no address", text);
	return 0;
}

/* FILE:LINE is told from OBJECT:NAME by the number; OBJECT:FILE:LINE has two lone colons. */
int
place_name_read(const char *text, struct place_name *name, struct rot_error *err)
{
	const char *last = strrchr(text, ':'), *colon = lone_colon(text), *rest = text;
	bool is_line = last && is_number(last + 1) && (last == text || last[-1] != ':');

	*name = (struct place_name){0};
	if (colon && (!is_line || colon != last)) {
		name->object = rot_strndup(text, (size_t)(colon - text));
		rest = colon + 1;
	}
	if (rest[0] == '\0' || (name->object && name->object[0] == '\0') || (is_line && rest == last)) {
		rot_error_set(err, 0, "'%s' names no place", text);
		return rot_error_hint(err,
				      "a place is FUNCTION, 0xADDRESS, FILE:LINE or the name of a marker, with OBJECT: "
				      "before it for one in a library");
	}
	if (is_line) {
		name->kinds = PLACE_LINE;
		name->name = rot_strndup(rest, (size_t)(last - rest));
		return line_read(last + 1, text, &name->line, err);
	}
	if (rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
		name->kinds = PLACE_ADDRESS;
		return address_read(rest, text, &name->address, err);
	}
	name->kinds = PLACE_FUNCTION | PLACE_MARKER;
	name->name = rot_strdup(rest);
	return 0;
}

void
place_name_clear(struct place_name *name)
{
	free(name->object);
	free(name->name);
	*name = (struct place_name){0};
}
