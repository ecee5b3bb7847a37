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

static const glob_t *
all_files(void)
{
	static glob_t found;
	autofree char *folder = architecture_folder(), *pattern = rot_format("%s/*.xml", folder);

	if (found.gl_pathc == 0 && glob(pattern, 0, NULL, &found) != 0) {
		fprintf(stderr, "no architectures: %s\n", pattern);
		exit(EXIT_FAILURE);
	}
	return &found;
}

int
architecture_nr_files(void)
{
	return (int)all_files()->gl_pathc;
}

const char *
architecture_file(int i)
{
	return all_files()->gl_pathv[i];
}

struct architecture *
architecture_named(const char *name)
{
	char *folder = architecture_folder(), *schema = architecture_schema();
	const char *machine = strchrnul(name, '@');
	autofree char *path = rot_format("%s/%.*s.xml", folder, (int)(machine - name), name);
	const char *root = source_path("tests/machines/uncore/%s", *machine ? machine + 1 : "none");
	struct architecture *architecture = architecture_read(path, schema, &why);

	if (!architecture)
		ck_abort_msg("%s", why.text);
	architecture_find_uncore(architecture, root, false);
	return architecture;
}

struct architecture *
architecture_kept(const char *name)
{
	return at_end(architecture_delete, architecture_named(name));
}
