/* SPDX-License-Identifier: MIT */
/* The files a program is made of. Source of the order of folders: ld.so(8). */
#include "measuring/program_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/loader_cache.h"
#include "measuring/elf_needs.h"
#include "memory.h"
#include "support/files.h"

/* A file that was found. */
struct object {
	struct elf_needs needs; /* once it was looked at                         */
	size_t parent;          /* who asked for it first; itself: the program  */
};

/* Files are looked at in the order in which they are found. */
struct file_search {
	struct pool pool; /* of what is looked for */
	const struct program *program;
	struct file_list *files;
	struct object *objects; /* [files->nr] */
	struct loader_cache cache;
	size_t at; /* the file that is looked at */
};

/* ---- paths ---- */

static void
add_file(struct file_search *search, const char *path)
{
	struct file_list *files = search->files;

	for (size_t i = 0; i < files->nr; i++)
		if (strcmp(files->paths[i], path) == 0)
			return;
	files->paths = pool_grow(&files->pool, files->paths, files->nr, sizeof(*files->paths));
	search->objects = pool_grow(&search->pool, search->objects, files->nr, sizeof(*search->objects));
	search->objects[files->nr].parent = search->at;
	files->paths[files->nr++] = pool_strdup(&files->pool, path);
}

/* No file of that name in the current folder is meant. */
static void
add_not_found(struct file_search *search, const char *name)
{
	add_file(search, pool_format(&search->pool, "%s (not found)", name));
}

void
file_list_clear(struct file_list *files)
{
	pool_clear(&files->pool);
	*files = (struct file_list){.nr = 0};
}

/* As the program will have it; NULL: not set. */
static const char *
variable_of(const struct program *program, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = program_nr_environment(program); i-- > 0;) {
		const char *set = program_environment_at(program, i);

		if (strncmp(set, name, length) == 0 && set[length] == '=')
			return set + length + 1;
	}
	return getenv(name);
}

/* A path as the program understands it, from where this process is. */
static const char *
from_here(struct pool *pool, const struct program *program, const char *path)
{
	return path[0] == '/' || !program->folder[0] ? path : pool_format(pool, "%s/%s", program->folder, path);
}

static bool
is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The next of the folders separated by any of these characters, or NULL. */
static const char *
next_folder(struct pool *pool, const char **folders, const char *separators)
{
	size_t length = *folders ? strcspn(*folders, separators) : 0;
	const char *folder;

	if (!*folders)
		return NULL;
	folder = length ? pool_strndup(pool, *folders, length) : ".";
	*folders = (*folders)[length] ? *folders + length + 1 : NULL;
	return folder;
}

/* A path, or a program as the other program's PATH finds it; or NULL. */
static const char *
find_program(struct pool *pool, const struct program *program, const char *name)
{
	const char *folders = variable_of(program, "PATH"), *folder;

	if (strchr(name, '/'))
		return from_here(pool, program, name);
	folders = folders ? folders : "/usr/local/bin:/usr/bin:/bin";
	while ((folder = next_folder(pool, &folders, ":"))) {
		const char *found = from_here(pool, program, pool_format(pool, "%s/%s", folder, name));

		if (is_file(found) && access(found, X_OK) == 0)
			return found;
	}
	return NULL;
}

char *
program_path(const struct program *program)
{
	autopool pool = {0};
	const char *path = find_program(&pool, program, program->executable);

	return path ? rot_strdup(path) : NULL;
}

/* ---- libraries ---- */

/* Every build of the library in that folder. */
static bool
add_from_folder(struct file_search *search, const char *folder, const char *name)
{
	static const char *const builds[] = {"glibc-hwcaps/x86-64-v4/", "glibc-hwcaps/x86-64-v3/",
					     "glibc-hwcaps/x86-64-v2/", ""};
	bool is_found = false;

	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		const char *path = pool_format(&search->pool, "%s/%s%s", folder, builds[i], name);
		struct elf_needs needs;

		if (elf_needs_read(&needs, path) == 0) {
			is_found = true;
			add_file(search, path);
		}
		elf_needs_clear(&needs);
	}
	return is_found;
}

/* $ORIGIN at the beginning is the folder of the object. */
static const char *
expand(struct pool *pool, const char *folder, const char *object)
{
	const char *end = strrchr(object, '/');
	size_t length = strncmp(folder, "$ORIGIN", 7) == 0 ? 7 : strncmp(folder, "${ORIGIN}", 9) == 0 ? 9 : 0;

	if (length == 0)
		return folder;
	return pool_format(pool, "%.*s%s", end ? (int)(end - object) : 1, end ? object : ".", folder + length);
}

static bool
add_from_folders(struct file_search *search, const char *folders, const char *separators, const char *object,
		 const char *name)
{
	struct pool *pool = &search->pool;
	const char *folder;

	while ((folder = next_folder(pool, &folders, separators)))
		if (add_from_folder(search, from_here(pool, search->program, expand(pool, folder, object)), name))
			return true;
	return false;
}

/* Of the object and of who asked for it, up to the program; those that have a runpath do not pass theirs on. */
static bool
add_from_rpaths(struct file_search *search, const char *name)
{
	if (search->objects[search->at].needs.runpath)
		return false;
	for (size_t i = search->at;; i = search->objects[i].parent) {
		const struct elf_needs *needs = &search->objects[i].needs;

		if (!needs->runpath && needs->rpath &&
		    add_from_folders(search, needs->rpath, ":", search->files->paths[i], name))
			return true;
		if (search->objects[i].parent == i)
			return false;
	}
}

static bool
add_from_cache(struct file_search *search, const char *name)
{
	const char *path;
	size_t i = 0;

	for (; (path = loader_cache_find(&search->cache, name, i)); i++)
		add_file(search, path);
	return i > 0;
}

/* A library that the object looked at asks for. */
static void
add_library(struct file_search *search, const char *name)
{
	static const char standard[] = "/lib64:/usr/lib64:/lib:/usr/lib:/lib/x86_64-linux-gnu:"
				       "/usr/lib/x86_64-linux-gnu:/usr/local/lib";
	const char *wanted = variable_of(search->program, "LD_LIBRARY_PATH"),
		   *runpath = search->objects[search->at].needs.runpath, *object = search->files->paths[search->at];

	if (strchr(name, '/'))
		add_file(search, from_here(&search->pool, search->program, name));
	else if (!add_from_rpaths(search, name) &&
		 !(wanted && *wanted && add_from_folders(search, wanted, ":;", object, name)) &&
		 !(runpath && add_from_folders(search, runpath, ":", object, name)) && !add_from_cache(search, name) &&
		 !add_from_folders(search, standard, ":", object, name))
		add_not_found(search, name);
}

/* What an environment variable or a file names, separated by blanks or colons. */
static void
add_preloaded(struct file_search *search, const char *names)
{
	for (names = names ? names : ""; *names; names += strspn(names, " \t\n:")) {
		size_t length = strcspn(names, " \t\n:");
		autofree char *name = rot_strndup(names, length);

		if (*name)
			add_library(search, name);
		names += length;
	}
}

/* ---- scripts ---- */

/* Of "#!/usr/bin/env NAME" also the program of that name. */
static void
add_interpreters(struct file_search *search, char *line)
{
	char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest), *base = word ? strrchr(word, '/') : NULL;
	bool is_env = base && strcmp(base, "/env") == 0;

	if (word)
		add_file(search, from_here(&search->pool, search->program, word));
	while (is_env && (word = strtok_r(NULL, " \t\r\n", &rest)))
		if (word[0] != '-' && !strchr(word, '=')) {
			const char *path = find_program(&search->pool, search->program, word);

			if (path)
				add_file(search, path);
			else
				add_not_found(search, word);
			return;
		}
}

static void
look_at_script(struct file_search *search, const char *path)
{
	FILE *in = fopen(path, "re");
	char line[512];

	if (in && fgets(line, sizeof(line), in) && strncmp(line, "#!", 2) == 0)
		add_interpreters(search, line + 2);
	if (in)
		fclose(in);
}

/* ---- all ---- */

static void
look_at(struct file_search *search)
{
	char *path = search->files->paths[search->at];
	struct elf_needs needs;

	if (!is_file(path))
		return;
	if (elf_needs_read(&needs, path) < 0)
		look_at_script(search, path);
	search->objects[search->at].needs = needs;
	if (needs.interpreter)
		add_file(search, needs.interpreter);
	for (size_t i = 0; i < needs.nr_libraries; i++)
		add_library(search, needs.libraries[i]);
}

void
program_files_find(const struct program *program, struct file_list *files)
{
	struct file_search search = {.program = program, .files = files};
	const char *path = find_program(&search.pool, program, program->executable);
	autofree char *preloaded = file_read("/etc/ld.so.preload", NULL, NULL);

	*files = (struct file_list){.nr = 0};
	loader_cache_open(&search.cache, "/etc/ld.so.cache");
	if (path)
		add_file(&search, path);
	for (; search.at < files->nr; search.at++) {
		look_at(&search);
		if (search.at > 0)
			continue;
		add_preloaded(&search, variable_of(program, "LD_PRELOAD"));
		add_preloaded(&search, preloaded);
	}
	for (size_t i = 0; i < files->nr; i++)
		elf_needs_clear(&search.objects[i].needs);
	pool_clear(&search.pool);
	loader_cache_close(&search.cache);
}
