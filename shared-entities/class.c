/* SPDX-License-Identifier: MIT */
/* Classes: their fields and bases. */
#include "entity.h"

#include <string.h>

bool
rot_class_is_a(const struct rot_class *class, const struct rot_class *ancestor)
{
	while (class && class != ancestor)
		class = class->base;
	return class != NULL;
}

const struct rot_field *
rot_class_field(const struct rot_class *class, const char *name)
{
	for (; class; class = class->base)
		for (size_t i = 0; i < class->nr_fields; i++)
			if (strcmp(class->fields[i].name, name) == 0)
				return &class->fields[i];
	return NULL;
}

size_t
rot_class_nr_fields(const struct rot_class *class)
{
	size_t nr = 0;

	for (; class; class = class->base)
		nr += class->nr_fields;
	return nr;
}

const struct rot_field *
rot_class_field_at(const struct rot_class *class, size_t i)
{
	for (; class; class = class->base) {
		size_t nr_of_bases = rot_class_nr_fields(class->base);

		if (i >= nr_of_bases)
			return &class->fields[i - nr_of_bases];
	}
	return NULL;
}
