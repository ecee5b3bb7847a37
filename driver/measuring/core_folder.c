/* SPDX-License-Identifier: MIT */
/* Settings, generated C and macros of a core; and starting from a built one. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "measuring/core_folder.h"
#include "memory.h"
#include "rot.h"
#include "support/files.h"

/* ---- settings.mk ---- */

static bool
is_plain_path(const char *path)
{
	for (; *path; path++)
		if (!isalnum((unsigned char)*path) && !strchr("/._-+,@", *path))
			return false;
	return true;
}

/* The path itself, or links/NAME in the folder that leads to it. Fresh memory, NULL on error. */
static char *
path_for_make(const char *folder, const char *name, const char *path, struct rot_error *err)
{
	autofree char *links = NULL, *link = NULL;
	char *result = NULL;

	if (is_plain_path(path))
		return rot_strdup(path);
	links = rot_format("%s/links", folder);
	link = rot_format("%s/%s", links, name);
	if (folder_make(links, err) == 0) {
		unlink(link);
		if (symlink(path, link) < 0)
			rot_error_set(err, errno, "cannot make the symbolic link '%s'", link);
		else
			result = rot_format("links/%s", name);
	}
	return result;
}

/* A value of settings.mk: what make would expand is doubled or escaped. */
static void
write_value(FILE *out, const char *name, const char *kernel, const char *value)
{
	fprintf(out, "%s%s%s = ", name, kernel ? "_" : "", kernel ? kernel : "");
	for (; *value; value++)
		fprintf(out, "%s%c", *value == '$' ? "$" : *value == '#' ? "\\" : "", *value);
	fputc('\n', out);
}

static int
write_kernel(FILE *out, const char *folder, const struct core_kernel *kernel, struct rot_error *err)
{
	const struct definition *definition = kernel->definition;
	const char *name = definition->class->name;
	autofree char *base = path_for_make(folder, name, definition->folder, err);

	if (!base)
		return -1;
	fprintf(out, "SOURCES_%s =", name);
	for (size_t i = 0; i < kernel->sources->nr; i++)
		fprintf(out, " %s%s", base, kernel->sources->paths[i] + strlen(definition->folder));
	fputc('\n', out);
	write_value(out, "FLAGS", name, kernel->flags);
	write_value(out, "LIBS", name, kernel->libraries);
	return 0;
}

static int
write_settings(const char *folder, const struct rot *rot, const struct core_description *description,
	       const char *ccache, struct rot_error *err)
{
	autofree char *data = path_for_make(folder, "data", rot->paths->data, err);
	autofree char *built = path_for_make(folder, "built", rot->paths->built, err);
	autofree char *path = rot_format("%s/settings.mk", folder), *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = data && built ? 0 : -1;

	write_value(out, "CC", NULL, configuration_string(rot->configuration, "compiler"));
	write_value(out, "CCACHE", NULL, ccache);
	write_value(out, "DATA", NULL, data ? data : "");
	write_value(out, "BUILT", NULL, built ? built : "");
	fputs("KERNELS =", out);
	for (size_t i = 0; i < description->nr_kernels; i++)
		fprintf(out, " %s", description->kernels[i].definition->class->name);
	fputc('\n', out);
	for (size_t i = 0; rc == 0 && i < description->nr_kernels; i++)
		rc = write_kernel(out, folder, &description->kernels[i], err);
	fclose(out);
	if (rc == 0)
		rc = file_write_if_changed(path, text, err);
	return rc;
}

/* ---- generated/ ---- */

/* Loads the kernels' definitions and those they are derived from, without what else the driver knows. */
static int
load_definitions(struct definitions *definitions, const struct rot *rot, const struct core_description *description,
		 struct rot_error *err)
{
	for (size_t i = 0; i < description->nr_kernels; i++) {
		const struct rot_class *class = description->kernels[i].definition->class;

		for (; class; class = class->base) {
			const struct definition *definition = definitions_find(rot->kernels, class->name);

			if (definition && !definitions_find(definitions, class->name) &&
			    definitions_load_file(definitions, definition->path, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int
write_entities(const char *generated, const struct rot *rot, const struct core_description *description,
	       struct rot_error *err)
{
	struct definitions *definitions = definitions_new();
	struct rot_registry *shared = rot_registry_new();
	int rc = -1;

	if (rot_registry_add_all(shared, entities, err) == 0 &&
	    load_definitions(definitions, rot, description, err) == 0 &&
	    definitions_resolve(definitions, shared, err) == 0)
		rc = definitions_write_c(definitions, generated, "kernel_entities", err);
	definitions_delete(definitions);
	rot_registry_delete(shared);
	return rc;
}

static int
write_text(const char *folder, const char *name, const char *suffix, char *text, struct rot_error *err)
{
	autofree char *path = rot_format("%s/%s%s", folder, name, suffix);
	int rc = file_write_if_changed(path, text, err);

	free(text);
	return rc;
}

static int
write_generated(const char *folder, const struct rot *rot, const struct core_description *description,
		struct rot_error *err)
{
	autofree char *generated = rot_format("%s/generated", folder);
	autofree char *macros = rot_format("%s/macros", generated);
	int rc = folder_make(macros, err);

	if (rc == 0)
		rc = write_entities(generated, rot, description, err);
	if (rc == 0)
		rc = write_text(generated, "kernels", ".c", core_table_text(description), err);
	for (size_t i = 0; rc == 0 && i < description->nr_macros; i++)
		rc = write_text(macros, description->macros[i].name, ".h", core_macro_text(&description->macros[i]),
				err);
	return rc;
}

int
core_folder_write(const char *folder, const struct rot *rot, const struct core_description *description,
		  const char *ccache, struct rot_error *err)
{
	return folder_make(folder, err) < 0 || write_settings(folder, rot, description, ccache, err) < 0 ||
			       write_generated(folder, rot, description, err) < 0
		       ? -1
		       : 0;
}

/* ---- starting from a built folder ---- */

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* text with each old replaced by new, which is as long. */
static void
replace_all(char *text, const char *old, const char *new)
{
	while ((text = strstr(text, old)))
		memcpy(text, new, strlen(new));
}

/* Copies one file with its time. Compile lines name the folder they are for. */
static int
copy_file(const char *to, const char *from, const struct stat *status, const char *new_name, const char *old_name)
{
	struct timespec times[] = {status->st_mtim, status->st_mtim};
	size_t length;
	autofree char *content = file_read(from, &length, NULL);
	int rc;

	if (!content)
		return -1;
	if (path_ends_in(from, ".compile"))
		replace_all(content, old_name, new_name);
	rc = file_write(to, content, length, false, NULL);
	return rc < 0 ? -1 : utimensat(AT_FDCWD, to, times, 0);
}

static int
copy_folder(const char *to, const char *from, const char *new_name, const char *old_name)
{
	autofree char **names = folder_list(from);
	int rc = folder_make(to, NULL);

	for (size_t i = 0; rc == 0 && names[i]; i++) {
		autofree char *source = rot_format("%s/%s", from, names[i]);
		autofree char *target = rot_format("%s/%s", to, names[i]);
		struct stat status;

		rc = lstat(source, &status);
		if (rc == 0 && S_ISDIR(status.st_mode))
			rc = copy_folder(target, source, new_name, old_name);
		else if (rc == 0 && S_ISREG(status.st_mode))
			rc = copy_file(target, source, &status, new_name, old_name);
	}
	return rc;
}

void
core_folder_seed(const char *folder, const char *from)
{
	static const char *const parts[] = {"generated", "objects"};
	autofree char *copy = rot_format("%s.new", folder);
	int rc = strlen(last_part(folder)) == strlen(last_part(from)) ? 0 : -1;

	folder_remove(copy);
	for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
		autofree char *source = rot_format("%s/%s", from, parts[i]);
		autofree char *target = rot_format("%s/%s", copy, parts[i]);

		rc = copy_folder(target, source, last_part(folder), last_part(from));
	}
	if (rc < 0 || rename(copy, folder) < 0)
		folder_remove(copy);
}
