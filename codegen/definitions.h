/* SPDX-License-Identifier: MIT */
/* Loaded definitions from the inside: what loading, resolving and writing C share. */
#pragma once

#include "definition.h"

struct schema;

/* One definition. Texts point into strings. */
struct loaded {
	struct definition definition; /* what others see; its class is NULL until it is resolved */
	struct rot_class class;       /* base, size and targets are set by resolving            */
	struct rot_field *fields;
	struct definition_row *rows;
	struct loaded_name {
		const char *type; /* as in XML: "double", "Workload" */
		int line;
	} * names;             /* one a field                                            */
	const char *base_name; /* or NULL                                                */
	int line;              /* of the root element                                    */
	char **strings;
	size_t nr_strings;
};

struct definitions {
	struct loaded **items;
	size_t nr;
	struct schema *schema; /* made when the first file is loaded */
};

/* Reads and checks one file. NULL on error. */
struct loaded *definition_read(struct definitions *definitions, const char *path, struct rot_error *err);

void loaded_delete(struct loaded *loaded);

/* The item of the class of that name, or NULL; resolved or not. */
struct loaded *definitions_item(const struct definitions *definitions, const char *class_name);
