/* SPDX-License-Identifier: MIT */
/* Where controllers' files are. */
#include "planning/controller_places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

struct controller_places
controller_places_of(const struct paths *paths)
{
	return (struct controller_places){{
		{rot_strdup("."), "current folder", false},
		{rot_format("%s/controllers", paths->user), "your controllers", true},
		{rot_format("%s/driver/controllers", paths->data), "built in", false},
	}};
}

void
controller_places_clear(struct controller_places *places)
{
	for (size_t i = 0; i < CONTROLLER_NR_PLACES; i++)
		free(places->at[i].folder);
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
	struct controller_places places = controller_places_of(paths);
	char *found = NULL;

	for (size_t i = 0; i < CONTROLLER_NR_PLACES && !found; i++)
		for (size_t j = 0; j < 2 && !found; j++) {
			char *file = rot_format("%s%s", name, endings[j]),
			     *path = controller_path_in(places.at[i].folder, file);

			free(file);
			if (access(path, F_OK) == 0)
				found = path;
			else
				free(path);
		}
	controller_places_clear(&places);
	return found;
}
