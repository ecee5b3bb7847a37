/* SPDX-License-Identifier: MIT */
/* Controllers by name: the current folder, then the user's data folder, then the built-in ones. */
#include "experiments/find.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "experiments/c_controller.h"
#include "experiments/xml_run.h"
#include "memory.h"
#include "nearest.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"

/* ---- listing ---- */

struct list {
	struct pool *pool;
	struct controller_info *items;
	size_t nr;
};

/* A name that is there already hides this one. */
static void
list_add(struct list *list, const char *name, const char *description, const char *path, const char *place)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return;
	pool_add(list->pool, list->items, list->nr) = (struct controller_info){name, description, path, place};
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct controller_info *)a)->name, ((const struct controller_info *)b)->name);
}

void
controllers_list(struct pool *pool, const struct paths *paths, struct controller_info **infos, size_t *nr)
{
	struct controller_places places = controller_places_of(pool, paths);
	struct list list = {.pool = pool};

	for (size_t i = 0; i < CONTROLLER_NR_PLACES; i++) {
		autofree char **files = folder_list(places.at[i].folder);

		for (size_t j = 0; files[j]; j++) {
			bool is_xml = path_ends_in(files[j], ".xml"), is_c = path_ends_in(files[j], ".c");
			const char *path = pool_own(pool, controller_path_in(places.at[i].folder, files[j]), free);
			const char *description = is_xml ? pool_own(pool, xml_controller_comment(path), free)
						  : places.at[i].takes_c && is_c ? ""
										 : NULL;

			if (description)
				list_add(&list, pool_strndup(pool, files[j], strlen(files[j]) - (is_xml ? 4 : 2)),
					 description, path, places.at[i].name);
		}
	}
	for (size_t i = 0; c_controllers[i]; i++)
		list_add(&list, c_controllers[i]->name, c_controllers[i]->description, "", "built in");
	if (list.nr > 0)
		qsort(list.items, list.nr, sizeof(*list.items), by_name);
	*infos = list.items;
	*nr = list.nr;
}

/* ---- finding ---- */

static bool
is_path(const char *name)
{
	return strchr(name, '/') || path_ends_in(name, ".xml") || path_ends_in(name, ".c");
}

static const struct rot_controller *
find_linked(const char *name)
{
	for (size_t i = 0; c_controllers[i]; i++)
		if (strcmp(c_controllers[i]->name, name) == 0)
			return c_controllers[i];
	return NULL;
}

static int
not_found(const struct paths *paths, const char *name, struct rot_error *err)
{
	autopool pool = {0};
	struct controller_info *infos;
	const char **names;
	size_t nr;

	controllers_list(&pool, paths, &infos, &nr);
	names = pool_calloc(&pool, nr, sizeof(*names));
	for (size_t i = 0; i < nr; i++)
		names[i] = infos[i].name;
	rot_error_set(err, 0, "there is no controller '%s'", name);
	return rot_nearest_hint(err, name, names, nr,
				"'rot list controllers' shows all; a file of your own is given with its ending: "
				"./mine.xml, ./mine.c");
}

/* "../x/mine.xml" -> "mine". */
static char *
stem(const char *name)
{
	const char *base = path_name(name);
	size_t length = strlen(base);

	if (path_ends_in(base, ".xml"))
		length -= 4;
	else if (path_ends_in(base, ".c"))
		length -= 2;
	return rot_strndup(base, length);
}

/* "folder/mine" is folder/mine.xml or .c, as "mine" is. Fresh memory. */
static char *
complete_path(const char *name)
{
	static const char *const endings[] = {"", ".xml", ".c"};

	for (size_t i = 0; i < 3; i++) {
		autofree char *path = rot_format("%s%s", name, endings[i]);

		if (access(path, F_OK) == 0)
			return rot_keep(&path);
	}
	return rot_strdup(name);
}

int
controller_run(struct rot *rot, const char *name, const char *output_name, struct rot_error *err)
{
	autofree char *path = is_path(name) ? complete_path(name) : controller_find_file(rot->paths, name);
	autofree char *own_name = output_name ? rot_strdup(output_name) : stem(name);
	const struct rot_controller *in_c = path ? NULL : find_linked(name);
	const bool is_c = !path || path_ends_in(path, ".c");
	struct xml_controller *controller;
	int rc;

	if (!path && !in_c)
		return not_found(rot->paths, name, err);
	if (path && is_c)
		in_c = c_controller_load(rot->paths, rot->configuration, path, err);
	if (is_c)
		return in_c ? in_c->measure(rot, in_c, own_name, err) : -1;
	controller = xml_controller_open(rot, path, err);
	rc = controller ? xml_controller_run(controller, own_name, err) : -1;
	xml_controller_close(controller);
	return rc;
}

int
controller_print_plan(struct rot *rot, const char *name, struct rot_error *err)
{
	autofree char *path = is_path(name) ? complete_path(name) : controller_find_file(rot->paths, name);
	const struct rot_controller *linked = path ? NULL : find_linked(name);
	struct xml_controller *controller;
	int rc = -1;

	if (!path && !linked) {
		rc = not_found(rot->paths, name, err);
	} else if (linked && linked->plan) {
		printf("%s\n", linked->plan);
		rc = 0;
	} else if (!path || path_ends_in(path, ".c")) {
		rot_error_set(err, 0,
			      "the controller '%s' is a program: what it will measure is only known when it runs",
			      name);
	} else {
		controller = xml_controller_open(rot, path, err);
		rc = controller ? xml_controller_print_plan(controller, stdout, err) : -1;
		xml_controller_close(controller);
	}
	return rc;
}
