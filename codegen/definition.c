/* SPDX-License-Identifier: MIT */
/* Class definitions: the collection, and finding the files. */
#include "definition.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "definitions.h"
#include "memory.h"
#include "schema.h"

struct definitions *
definitions_new(void)
{
	return rot_calloc(1, sizeof(struct definitions));
}

void
loaded_delete(struct loaded *loaded)
{
	if (!loaded)
		return;
	for (size_t i = 0; i < loaded->nr_strings; i++)
		free(loaded->strings[i]);
	free(loaded->strings);
	free(loaded->fields);
	free(loaded->names);
	free(loaded->rows);
	free(loaded);
}

void
definitions_delete(struct definitions *definitions)
{
	if (!definitions)
		return;
	for (size_t i = 0; i < definitions->nr; i++)
		loaded_delete(definitions->items[i]);
	schema_delete(definitions->schema);
	free(definitions->items);
	free(definitions);
}

struct loaded *
definitions_item(const struct definitions *definitions, const char *class_name)
{
	for (size_t i = 0; i < definitions->nr; i++)
		if (strcmp(definitions->items[i]->class.name, class_name) == 0)
			return definitions->items[i];
	return NULL;
}

int
definitions_load_file(struct definitions *definitions, const char *path, struct rot_error *err)
{
	struct loaded *loaded = definition_read(definitions, path, err), *other;

	if (!loaded)
		return -1;
	other = definitions_item(definitions, loaded->class.name);
	if (other) {
		rot_error_set(err, 0, "%s:%d: class %s is already defined in %s:%d", path, loaded->line,
			      loaded->class.name, other->definition.path, other->line);
		loaded_delete(loaded);
		return -1;
	}
	rot_add(definitions->items, definitions->nr) = loaded;
	return 0;
}

/* ---- folders ---- */

static int
is_listed(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* By bytes: the order must not depend on the locale. */
static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Links to folders are not followed: they may lead in circles. */
static int
load_entry(struct definitions *definitions, const char *path, struct rot_error *err)
{
	const char *ending = strrchr(path, '.');
	struct stat status;

	if (lstat(path, &status) < 0)
		return rot_error_set(err, errno, "cannot read '%s'", path);
	if (S_ISDIR(status.st_mode))
		return definitions_load_folder(definitions, path, err);
	return ending && strcmp(ending, ".xml") == 0 ? definitions_load_file(definitions, path, err) : 0;
}

int
definitions_load_folder(struct definitions *definitions, const char *folder, struct rot_error *err)
{
	struct dirent **entries;
	int nr = scandir(folder, &entries, is_listed, by_name), rc = 0;

	if (nr < 0)
		return rot_error_set(err, errno, "cannot read folder '%s'", folder);
	for (int i = 0; i < nr; i++) {
		autofree char *path = rot_format("%s/%s", folder, entries[i]->d_name);

		if (rc == 0)
			rc = load_entry(definitions, path, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

/* ---- what others see: definitions whose classes are complete ---- */

size_t
definitions_size(const struct definitions *definitions)
{
	return definitions->nr;
}

const struct definition *
definitions_at(const struct definitions *definitions, size_t i)
{
	return &definitions->items[i]->definition;
}

const struct definition *
definitions_find(const struct definitions *definitions, const char *class_name)
{
	const struct loaded *item = definitions_item(definitions, class_name);

	return item ? &item->definition : NULL;
}
