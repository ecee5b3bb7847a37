/* SPDX-License-Identifier: MIT */
/* The C files of kernels and the tools that compile them: read once per process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "measuring/core_facts.h"
#include "memory.h"
#include "rot.h"
#include "support/files.h"
#include "support/process.h"

static void
clear_sources(struct kernel_sources *sources)
{
	for (size_t i = 0; i < sources->nr; i++)
		free(sources->paths[i]);
	free(sources->paths);
	free(sources);
}

void
core_facts_clear(struct core_facts *facts)
{
	for (size_t i = 0; i < facts->nr; i++)
		clear_sources(facts->sources[i]);
	free(facts->sources);
	free(facts->compiler);
	*facts = (struct core_facts){0};
}

/* ---- kernels ---- */

/* Several kernels may share a folder: X.c belongs to the X.xml beside it. */
static bool
belongs_to_other_kernel(const char *path, const char *own)
{
	char *xml;
	bool has_xml;

	if (strcmp(path, own) == 0)
		return false;
	xml = rot_format("%.*s.xml", (int)(strlen(path) - 2), path);
	has_xml = access(xml, F_OK) == 0;
	free(xml);
	return has_xml;
}

static bool
holds_definition(char *const *names)
{
	for (; *names; names++)
		if (path_ends_in(*names, ".xml"))
			return true;
	return false;
}

static int
add_file(struct kernel_sources *sources, const char *path, const char *own, struct sha256 *hash, struct rot_error *err)
{
	size_t length;
	char *content = file_read(path, &length, err);

	if (!content)
		return -1;
	sha256_add_text(hash, path + strlen(sources->definition->folder));
	sha256_add_block(hash, content, length);
	free(content);
	if (path_ends_in(path, ".c") && strcmp(path, own) != 0) {
		sources->paths = rot_realloc(sources->paths, sources->nr + 1, sizeof *sources->paths);
		sources->paths[sources->nr++] = rot_strdup(path);
	}
	return 0;
}

static int
add_folder(struct kernel_sources *sources, const char *folder, const char *own, struct sha256 *hash,
	   struct rot_error *err)
{
	char **names = folder_list(folder);
	int rc = 0;

	if (strcmp(folder, sources->definition->folder) != 0 && holds_definition(names)) {
		folder_list_delete(names);
		return 0;
	}
	for (size_t i = 0; rc == 0 && names[i]; i++) {
		char *path = rot_format("%s/%s", folder, names[i]);
		struct stat status;

		if (names[i][0] == '.' || stat(path, &status) < 0 || path_ends_in(path, ".xml"))
			;
		else if (S_ISDIR(status.st_mode))
			rc = add_folder(sources, path, own, hash, err);
		else if (S_ISREG(status.st_mode) && !(path_ends_in(path, ".c") && belongs_to_other_kernel(path, own)))
			rc = add_file(sources, path, own, hash, err);
		free(path);
	}
	folder_list_delete(names);
	return rc;
}

static int
read_sources(struct kernel_sources *sources, struct rot_error *err)
{
	const struct definition *definition = sources->definition;
	char *own = rot_format("%s/%s.c", definition->folder, definition->class->name);
	struct sha256 *hash;
	int rc = -1;

	if (access(own, R_OK) < 0) {
		rot_error_set(err, errno, "kernel '%s' (%s) has no C file '%s'", definition->class->name,
			      definition->path, own);
		rot_error_hint(err, "a kernel is NAME.xml and NAME.c in one folder");
	} else {
		sources->paths = rot_calloc(1, sizeof *sources->paths);
		sources->paths[sources->nr++] = rot_strdup(own);
		hash = sha256_new();
		rc = add_folder(sources, definition->folder, own, hash, err);
		sha256_finish(hash, sources->hash);
	}
	free(own);
	return rc;
}

const struct kernel_sources *
core_facts_sources(struct core_facts *facts, const struct definition *definition, struct rot_error *err)
{
	struct kernel_sources *sources;

	for (size_t i = 0; i < facts->nr; i++)
		if (facts->sources[i]->definition == definition)
			return facts->sources[i];
	sources = rot_calloc(1, sizeof *sources);
	sources->definition = definition;
	if (read_sources(sources, err) < 0) {
		clear_sources(sources);
		return NULL;
	}
	facts->sources = rot_realloc(facts->sources, facts->nr + 1, sizeof *facts->sources);
	facts->sources[facts->nr++] = sources;
	return sources;
}

/* ---- tools ---- */

/* The compiler's key may carry arguments. */
static char *
find_compiler(const char *compiler, struct rot_error *err)
{
	char *program = rot_strndup(compiler, strcspn(compiler, " ")), *path = process_find(program);

	if (!path) {
		rot_error_set(err, 0, "cannot find the compiler '%s' in PATH", program);
		rot_error_hint(err, "sudo apt-get install %s    or choose another with -compiler=NAME",
			       strstr(program, "clang") ? "clang" : "gcc");
		rot_error_scope(err, ROT_ERROR_OF_TOOLS);
	}
	free(program);
	return path;
}

static int
add_compiler(struct sha256 *hash, const char *compiler, struct rot_error *err)
{
	char *path = find_compiler(compiler, err), *real, *identity;
	struct stat status = {0};

	if (!path)
		return -1;
	real = realpath(path, NULL);
	stat(path, &status);
	identity = rot_format("%s %s %lld %lld.%09ld", compiler, real ? real : path, (long long)status.st_size,
			      (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	sha256_add_text(hash, identity);
	free(identity);
	free(real);
	free(path);
	return 0;
}

static int
add_fixed_part(struct sha256 *hash, const struct paths *paths, struct rot_error *err)
{
	const struct {
		const char *folder, *name;
	} files[] = {
		{paths->data, "core/core.mk"},
		{paths->built, "core/core-flags.mk"},
		{paths->built, "core/librot-child.a"},
		{paths->built, "shared-entities/libentities.a"},
		{paths->built, "shared-entities/libshared-entities.a"},
	};

	sha256_add_text(hash, paths->data);
	sha256_add_text(hash, paths->built);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *path = rot_format("%s/%s", files[i].folder, files[i].name), hex[SHA256_HEX_SIZE];
		int rc = sha256_of_file(path, hex, err);

		free(path);
		if (rc < 0) {
			rot_error_prefix(err, "rot is not complete");
			return rot_error_hint(err, "build or install rot again");
		}
		sha256_add_text(hash, hex);
	}
	return 0;
}

int
core_facts_read_tools(struct core_facts *facts, const struct rot *rot, struct rot_error *err)
{
	const char *compiler = configuration_string(rot->configuration, "compiler");
	struct sha256 *hash;
	int rc;

	if (facts->compiler && strcmp(facts->compiler, compiler) == 0)
		return 0;
	hash = sha256_new();
	rc = add_compiler(hash, compiler, err) < 0 || add_fixed_part(hash, rot->paths, err) < 0 ? -1 : 0;
	sha256_finish(hash, facts->tools);
	free(facts->compiler);
	facts->compiler = rc == 0 ? rot_strdup(compiler) : NULL;
	return rc;
}
