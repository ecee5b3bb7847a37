/* SPDX-License-Identifier: MIT */
/* Finding the kernels' definitions. */
#include "engine/kernels_load.h"

#include <string.h>

#include "base/files.h"
#include "base/paths.h"
#include "definition.h"
#include "memory.h"

static void
warn(const struct rot_error *reason)
{
	rot_warning("a kernel is left out: %s%s%s", reason->text, *reason->hint ? "\n     " : "", reason->hint);
}

/*
 * FOLDER/NAME.xml, unless a kernel of that name is there already: one of the user's hides one of rot's, two of the same
 * place (ROOT) are a slip.
 */
static void
load_file(struct rot *rot, const char *root, const char *folder, const char *name)
{
	autofree char *stem = rot_strndup(name, strlen(name) - strlen(".xml"));
	autofree char *path = rot_format("%s/%s", folder, name);
	const struct definition *earlier = definitions_find(rot->kernels, stem);
	struct rot_error reason = {0};

	if (earlier && strncmp(earlier->path, root, strlen(root)) == 0)
		rot_warning("a kernel is left out: %s: '%s' is already defined in %s", path, stem, earlier->path);
	if (!earlier && definitions_load_file(rot->kernels, path, &reason) < 0)
		warn(&reason);
}

/* FOLDER/NAME/ *.xml of every NAME. */
static void
load_folder(struct rot *rot, const char *folder)
{
	autofree char **kernels = folder_list(folder);

	for (size_t k = 0; kernels[k]; k++) {
		autofree char *kernel = rot_format("%s/%s", folder, kernels[k]);
		autofree char **names = folder_list(kernel);

		for (size_t i = 0; names[i]; i++)
			if (names[i][0] != '.' && path_ends_in(names[i], ".xml"))
				load_file(rot, folder, kernel, names[i]);
	}
}

int
kernels_load(struct rot *rot, struct rot_error *err)
{
	autofree char *user = rot_format("%s/kernels", rot->paths->user);
	autofree char *built_in = rot_format("%s/kernels", rot->paths->data);
	struct rot_error reason = {0};
	size_t nr;
	int rc = 0;

	load_folder(rot, user);
	load_folder(rot, built_in);
	/* What cannot be resolved is dropped, one by one. */
	while (definitions_resolve(rot->kernels, rot->registry, &reason) < 0)
		warn(&reason);
	nr = definitions_size(rot->kernels);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = rot_registry_add(rot->registry, definitions_at(rot->kernels, i)->class, err);
	if (nr == 0) {
		rc = rot_error_set(err, 0, "no kernel found in '%s' or '%s'", user, built_in);
		rot_error_hint(err, "install rot again, or call the driver where it was built");
	}
	return rc;
}
