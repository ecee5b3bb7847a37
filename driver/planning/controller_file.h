/* SPDX-License-Identifier: MIT */
/* Controllers' XML files in memory: read, shared parts included, validated; every element knows its file and line. */
#pragma once

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/paths.h"
#include "base/pool.h"
#include "engine/expression.h"
#include "error.h"
#include "xml_file.h"

/* Zeroed: nothing is open. */
struct controller_file {
	struct pool *pool; /* of all below */
	xmlDoc *doc;
	char **paths; /* of all files that take part; elements point to them */
	size_t nr_paths;
};

/*
 * Reads path, replaces XInclude elements by what they name and validates. A part is relative to the file that names it,
 * or, if path names one that is not there, to rot's own controllers in data_folder (paths->data). Errors name file and
 * line: cannot be read, not well formed, a missing part, not valid.
 */
int controller_file_open(struct controller_file *file, struct pool *pool, const char *path, const char *data_folder,
			 struct rot_error *err);

/* An attribute as xml_attribute gives it, in the pool. */
char *xml_unevaluated(struct pool *pool, const xmlNode *element, const char *name, const char *fallback);

/*
 * The same with its expressions evaluated. Errors name file, line and attribute.
 * xml_evaluated_number: NULL fallback is replaced by default_number; a text that is no number is an error.
 */
char *xml_evaluated(struct pool *pool, const xmlNode *element, const char *name, const char *fallback,
		    const struct expression_scope *scope, struct rot_error *err);
int xml_evaluated_number(const xmlNode *element, const char *name, double default_number,
			 const struct expression_scope *scope, double *number, struct rot_error *err);

/* The attribute "if", an expression; true when absent. */
int xml_condition(const xmlNode *element, const struct expression_scope *scope, bool *holds, struct rot_error *err);

/* ---- where controllers are ---- */

#define CONTROLLER_NR_PLACES 3

/* Folders that are searched, in order. */
struct controller_places {
	struct {
		const char *folder;
		const char *name;
		bool takes_c; /* a C file in the current folder is rarely a controller: it is found by name, but not
				 listed */
	} at[CONTROLLER_NR_PLACES];
};

struct controller_places controller_places_of(struct pool *pool, const struct paths *paths);

/* The path of a file in such a folder: in the current one its bare name, as in messages. Fresh memory. */
char *controller_path_in(const char *folder, const char *file);

/* NAME.xml or NAME.c where it is found first; fresh memory, NULL if there is none. */
char *controller_find_file(const struct paths *paths, const char *name);
