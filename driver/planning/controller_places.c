/* SPDX-License-Identifier: MIT */
/* Where controllers' files are. */
#include "planning/controller_places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

struct controller_places
controller_places_of(struct pool *pool, const struct paths *paths)
{
	return (struct controller_places){{
		{".", "current folder", false},
		{pool_format(pool, "%s/controllers", paths->user), "your controllers", true},
		{pool_format(pool, "%s/driver/controllers", paths->data), "built in", false},
	}};
}

char *
controller_path_in(const char *folder, const char *file)
{
	return strcmp(folder, ".") == 0 ? rot_strdup(file) : rot_format("%s/%s", folder, file);
}

char *
controller_find_file(const struct paths *paths, const char *name)
{
	static const char *const endings[] = {".xml", ".c"};
	autopool pool = {0};
	struct controller_places places = controller_places_of(&pool, paths);

	for (size_t i = 0; i < CONTROLLER_NR_PLACES; i++)
		for (size_t j = 0; j < 2; j++) {
			autofree char *file = rot_format("%s%s", name, endings[j]),
				      *path = controller_path_in(places.at[i].folder, file);

			if (access(path, F_OK) == 0)
				return rot_keep(&path);
		}
	return NULL;
}
