/* SPDX-License-Identifier: MIT */
/* The files a program is made of. */
#include "engine/program_files.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "memory.h"

struct file_search {
	struct pool pool; /* of what is looked for */
	const struct program *program;
	struct file_list *files;
};

/* ---- paths ---- */

/* False: it is there already. */
static bool
add_file(struct file_search *search, const char *path)
{
	struct file_list *files = search->files;

	for (size_t i = 0; i < files->nr; i++)
		if (strcmp(files->paths[i], path) == 0)
			return false;
	pool_add(&files->pool, files->paths, files->nr) = pool_strdup(&files->pool, path);
	return true;
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

/* A path, or a program as the other program's PATH finds it; or NULL. */
static const char *
find_program(struct pool *pool, const struct program *program, const char *name)
{
	const char *folders = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return from_here(pool, program, name);
	for (size_t i = 0; i < program_nr_environment(program); i++)
		if (strncmp(program_environment_at(program, i), "PATH=", strlen("PATH=")) == 0)
			folders = program_environment_at(program, i) + strlen("PATH=");
	for (folders = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; folders; folders = *end ? end + 1 : NULL) {
		const int length = (int)strcspn(folders, ":");
		const char *found = pool_format(pool, "%.*s/%s", length ? length : 1, length ? folders : ".", name);

		end = folders + length;
		found = from_here(pool, program, found);
		if (is_file(found) && access(found, X_OK) == 0)
			return found;
	}
	return NULL;
}

/* ---- ELF programs ---- */

/* The path of the loader that a program asks for, or NULL. */
static const char *
loader_of(struct pool *pool, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *loader = NULL;
	char name[PATH_MAX] = "";
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (file < 0)
		return NULL;
	if (pread(file, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64)
		head.e_phnum = 0;
	for (size_t i = 0; i < head.e_phnum && !loader; i++) {
		const off_t at = (off_t)(head.e_phoff + i * sizeof(part));

		if (pread(file, &part, sizeof(part), at) == sizeof(part) && part.p_type == PT_INTERP &&
		    pread(file, name, sizeof(name) - 1, (off_t)part.p_offset) > 0)
			loader = pool_strdup(pool, name);
	}
	close(file);
	return loader;
}

/* A loader_tell. */
static void
add_library(const char *name, const char *path, void *to)
{
	struct file_search *search = to;

	if (path)
		add_file(search, from_here(&search->pool, search->program, path));
	else
		add_not_found(search, name);
}

static void
add_libraries(struct file_search *search, const char *path, const char *loader)
{
	const struct program *program = search->program;
	const size_t nr = program_nr_environment(program);
	const char **argv = pool_calloc(&search->pool, nr + 5, sizeof(*argv));
	autofree char *real = realpath(path, NULL); /* as $ORIGIN is */
	size_t n = 0;

	argv[n++] = "env";
	for (size_t i = 0; i < nr; i++)
		if (strchr(program_environment_at(program, i), '='))
			argv[n++] = program_environment_at(program, i);
	argv[n++] = loader;
	argv[n++] = "--list";
	argv[n] = real;
	if (real)
		loader_list(argv, program->folder[0] ? program->folder : NULL, add_library, search);
}

/* ---- all ---- */

static void add_program(struct file_search *search, const char *path);

/* Behind "#!": the interpreter, and of "/usr/bin/env NAME" also the program of that name. */
static void
add_interpreters(struct file_search *search, char *line)
{
	char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest), *base = word ? strrchr(word, '/') : NULL;
	const bool is_env = base && strcmp(base, "/env") == 0;
	const char *path;

	if (word)
		add_program(search, from_here(&search->pool, search->program, word));
	do
		word = is_env ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
	while (word && (word[0] == '-' || strchr(word, '=')));
	path = word ? find_program(&search->pool, search->program, word) : NULL;
	if (path)
		add_program(search, path);
	else if (word)
		add_not_found(search, word);
}

/* A program with what it needs; a script may be its own interpreter. */
static void
add_program(struct file_search *search, const char *path)
{
	const char *loader, *name;
	char line[512] = "";
	FILE *in;

	if (!add_file(search, path) || !is_file(path))
		return;
	loader = loader_of(&search->pool, path);
	name = loader ? strrchr(loader, '/') : NULL;
	if (loader)
		add_file(search, loader);
	if (name && strncmp(name, "/ld", strlen("/ld")) == 0)
		add_libraries(search, path, loader);
	in = fopen(path, "re");
	if (in && fgets(line, sizeof(line), in) && strncmp(line, "#!", 2) == 0)
		add_interpreters(search, line + 2);
	if (in)
		fclose(in);
}

void
program_files_find(const struct program *program, struct file_list *files)
{
	struct file_search search = {.program = program, .files = files};
	const char *path = find_program(&search.pool, program, program->executable);

	*files = (struct file_list){.nr = 0};
	if (path)
		add_program(&search, path);
	pool_clear(&search.pool);
}

/* ---- what the loader lists ---- */

/* NAME => PATH (ADDRESS), NAME => not found, PATH (ADDRESS), or the name and address of something that is no file. */
static void
take_line(char *line, loader_tell *tell, void *to)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + strlen(" => ") : line;
	char *end = strstr(path, " (0x");

	if (arrow)
		*arrow = '\0';
	if (end)
		*end = '\0';
	if (end && strchr(path, '/'))
		tell(line, path, to);
	else if (arrow && !end)
		tell(line, NULL, to);
}

void
loader_list(const char *const *argv, const char *folder, loader_tell *tell, void *to)
{
	struct process_result result = {0};
	char *rest = NULL;

	if (process_run(argv, folder, &result, NULL, NULL) == 0)
		for (char *line = strtok_r(result.output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (line[0] == '\t')
				take_line(line + 1, tell, to);
	process_result_clear(&result);
}
