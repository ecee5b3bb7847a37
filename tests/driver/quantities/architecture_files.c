/* SPDX-License-Identifier: MIT */
/* The architecture files of the source tree, for tests. */
#include "architecture_files.h"

#include <glob.h>

#include "testing.h"

char *
architecture_folder(void)
{
	return source_path("driver/architectures");
}

char *
architecture_schema(void)
{
	return source_path("driver/schemas/architecture.rng");
}

size_t
architecture_files(char *paths[MAX_ARCHITECTURES])
{
	autofree char *folder = architecture_folder(), *pattern = rot_format("%s/*.xml", folder);
	glob_t found;
	size_t nr = 0;

	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc > MAX_ARCHITECTURES) {
		fprintf(stderr, "no architectures (or too many): %s\n", pattern);
		exit(EXIT_FAILURE);
	}
	for (; nr < found.gl_pathc; nr++)
		paths[nr] = rot_strdup(found.gl_pathv[nr]);
	globfree(&found);
	return nr;
}

struct architecture *
architecture_named(const char *name)
{
	autofree char *folder = architecture_folder(), *schema = architecture_schema();
	autofree char *path = rot_format("%s/%s.xml", folder, name);
	struct architecture *architecture = architecture_read(path, schema, &why);

	if (!architecture)
		ck_abort_msg("%s", why.text);
	return architecture;
}
