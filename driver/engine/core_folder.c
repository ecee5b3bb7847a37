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

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "engine/core_folder.h"
#include "memory.h"
#include "rot.h"

/* ---- what a core was made of ---- */

#define VERSION_LINE "rot core 1"

void
core_state_clear(struct core_state *state)
{
	pool_clear(&state->pool);
	*state = (struct core_state){0};
}

/* "SIZE TIME" of a file, fresh memory, or NULL. path may be relative to folder. */
static char *
file_identity(const char *folder, const char *path)
{
	autofree char *full = path[0] == '/' ? rot_strdup(path) : rot_format("%s/%s", folder, path);
	struct stat status;
	int rc = stat(full, &status);

	return rc < 0 ? NULL
		      : rot_format("%lld %lld.%09ld", (long long)status.st_size, (long long)status.st_mtim.tv_sec,
				   status.st_mtim.tv_nsec);
}

static void
begin_lines(struct core_state *state)
{
	state->compile_lines = pool_grow(&state->pool, NULL, 0, sizeof *state->compile_lines);
}

/* The NULL behind the last line counts as one of the array. */
static void
add_line(struct core_state *state, const char *text)
{
	size_t nr = 0;

	while (state->compile_lines[nr])
		nr++;
	state->compile_lines = pool_grow(&state->pool, state->compile_lines, nr + 1, sizeof *state->compile_lines);
	state->compile_lines[nr] = pool_strdup(&state->pool, text);
}

/* ---- reading ---- */

/* One line of the file. False: something changed. */
static bool
take_line(const char *folder, const char *line, struct core_state *state)
{
	if (strncmp(line, "hash ", 5) == 0)
		snprintf(state->hash, sizeof state->hash, "%s", line + 5);
	else if (strncmp(line, "compiler ", 9) == 0 && !state->compiler)
		state->compiler = pool_strdup(&state->pool, line + 9);
	else if (strncmp(line, "line ", 5) == 0)
		add_line(state, line + 5);
	else if (strncmp(line, "file ", 5) == 0) {
		const char *text = line + 5;
		const char *space = strchr(text, ' '), *path = space ? strchr(space + 1, ' ') : NULL;
		autofree char *identity = path ? file_identity(folder, path + 1) : NULL;

		/* "SIZE TIME PATH": is the file still that? */
		return identity && strlen(identity) == (size_t)(path - text) &&
		       strncmp(identity, text, strlen(identity)) == 0;
	}
	return true;
}

enum core_freshness
core_state_read(const char *folder, struct core_state *state)
{
	autofree char *path = rot_format("%s/state", folder), *text = file_read(path, NULL, NULL);
	char *rest = NULL, *line;
	bool is_complete = false, is_same = true;

	*state = (struct core_state){.compiler = NULL};
	begin_lines(state);
	line = text ? strtok_r(text, "\n", &rest) : NULL;
	if (line && strcmp(line, VERSION_LINE) == 0)
		while (!is_complete && is_same && (line = strtok_r(NULL, "\n", &rest))) {
			is_complete = strcmp(line, "end") == 0;
			is_same = take_line(folder, line, state);
		}
	is_complete = is_complete && strlen(state->hash) == SHA256_HEX_SIZE - 1 && state->compiler;
	if (is_complete && is_same)
		return CORE_FRESH;
	core_state_clear(state);
	return is_same ? CORE_ABSENT : CORE_CHANGED;
}

/* ---- writing ---- */

/* A list of names that grows; sorted when complete. */
struct names {
	struct pool *pool;
	char **items;
	size_t nr;
};

static void
add_name(struct names *names, char *name)
{
	pool_add(names->pool, names->items, names->nr) = name;
}

/* One word of a makefile rule, with make's escapes taken away; NULL at the end. */
static char *
next_word(struct pool *pool, const char **position)
{
	const char *s = *position;
	autofree char *word = NULL;
	size_t nr = 0;

	while (*s == ' ' || *s == '\n' || *s == '\t' || (*s == '\\' && s[1] == '\n'))
		s += *s == '\\' ? 2 : 1;
	if (!*s)
		return NULL;
	word = rot_calloc(strlen(s) + 1, 1);
	while (*s && *s != ' ' && *s != '\n' && *s != '\t') {
		if ((*s == '\\' && (s[1] == ' ' || s[1] == '#')) || (*s == '$' && s[1] == '$'))
			s++;
		else if (*s == '\\' && s[1] == '\n')
			break;
		word[nr++] = *s++;
	}
	*position = s;
	return pool_strndup(pool, word, nr);
}

/* Files with the suffix below folder, sorted. */
static void
find_files(const char *folder, const char *suffix, struct names *found)
{
	autofree char **entries = folder_list(folder);

	for (size_t i = 0; entries[i]; i++) {
		autofree char *path = rot_format("%s/%s", folder, entries[i]);
		struct stat status;

		if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
			find_files(path, suffix, found);
		if (path_ends_in(path, suffix) && S_ISREG(status.st_mode))
			add_name(found, pool_strdup(found->pool, path));
	}
}

static void
write_dependencies(const char *folder, FILE *out)
{
	autopool pool = {0};
	struct names rules = {.pool = &pool}, names = {.pool = &pool};

	find_files(folder, ".d", &rules);
	for (size_t i = 0; i < rules.nr; i++) {
		autofree char *text = file_read(rules.items[i], NULL, NULL);
		const char *rest = text;
		char *word;

		/* Targets of the rules the compiler wrote end in a colon. */
		while (rest && (word = next_word(&pool, &rest)))
			if (!path_ends_in(word, ":"))
				add_name(&names, word);
	}
	add_name(&names, pool_strdup(&pool, "child"));
	qsort(names.items, names.nr, sizeof *names.items, names_compare);
	for (size_t i = 0; i < names.nr; i++) {
		autofree char *identity = i && strcmp(names.items[i], names.items[i - 1]) == 0
						  ? NULL
						  : file_identity(folder, names.items[i]);

		if (identity)
			fprintf(out, "file %s %s\n", identity, names.items[i]);
	}
}

static void
collect_compile_lines(const char *folder, struct core_state *state)
{
	autofree char *objects = rot_format("%s/objects", folder);
	autofree char *own = rot_format("%s/objects/generated/", folder);
	autopool pool = {0};
	struct names files = {.pool = &pool};

	begin_lines(state);
	find_files(objects, ".compile", &files);
	for (size_t i = 0; i < files.nr; i++) {
		autofree char *text =
			strncmp(files.items[i], own, strlen(own)) == 0 ? NULL : file_read(files.items[i], NULL, NULL);

		if (!text)
			continue;
		text[strcspn(text, "\n")] = '\0';
		add_line(state, text);
	}
}

int
core_state_write(const char *folder, const char *compiler, struct core_state *state, struct rot_error *err)
{
	autofree char *child = rot_format("%s/child", folder);
	autofree char *path = rot_format("%s/state", folder), *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	*state = (struct core_state){.compiler = NULL};
	state->compiler = pool_strndup(&state->pool, compiler, strcspn(compiler, "\n"));
	collect_compile_lines(folder, state);
	rc = sha256_of_file(child, state->hash, err);
	fprintf(out, "%s\nhash %s\ncompiler %s\n", VERSION_LINE, state->hash, state->compiler);
	for (size_t i = 0; state->compile_lines[i]; i++)
		fprintf(out, "line %s\n", state->compile_lines[i]);
	write_dependencies(folder, out);
	fputs("end\n", out);
	fclose(out);
	if (rc == 0)
		rc = file_write(path, text, size, false, err);
	if (rc < 0)
		core_state_clear(state);
	return rc;
}

/* ---- what is not used any more ---- */

struct use {
	char *path;
	struct timespec time; /* zero: never finished */
};

void
core_touch(const char *folder)
{
	autofree char *state = rot_format("%s/state", folder);

	utimensat(AT_FDCWD, state, NULL, 0);
}

/* Oldest first. */
static int
compare_uses(const void *a, const void *b)
{
	const struct timespec *first = &((const struct use *)a)->time, *second = &((const struct use *)b)->time;

	if (first->tv_sec != second->tv_sec)
		return first->tv_sec < second->tv_sec ? -1 : 1;
	return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

void
prune(const char *folder, const char *mark, size_t nr_kept)
{
	autofree char **names = folder_list(folder);
	autofree struct use *uses = NULL;
	size_t nr = 0;

	while (names[nr])
		nr++;
	if (nr > nr_kept) {
		uses = rot_calloc(nr, sizeof *uses);
		for (size_t i = 0; i < nr; i++) {
			struct use use = {.path = rot_format("%s/%s", folder, names[i])};
			autofree char *marked = mark ? rot_format("%s/%s", use.path, mark) : rot_strdup(use.path);
			struct stat status;

			if (stat(marked, &status) == 0)
				use.time = status.st_mtim;
			uses[i] = use;
		}
		qsort(uses, nr, sizeof *uses, compare_uses);
		for (size_t i = 0; i < nr; i++) {
			if (i < nr - nr_kept)
				folder_remove(uses[i].path);
			free(uses[i].path);
		}
	}
}

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
	if (path_ends_in(from, ".compile")) {
		char *text = content;

		/* text with each old replaced by new, which is as long. */
		while ((text = strstr(text, old_name)))
			memcpy(text, new_name, strlen(new_name));
	}
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
	int rc = strlen(path_name(folder)) == strlen(path_name(from)) ? 0 : -1;

	folder_remove(copy);
	for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
		autofree char *source = rot_format("%s/%s", from, parts[i]);
		autofree char *target = rot_format("%s/%s", copy, parts[i]);

		rc = copy_folder(target, source, path_name(folder), path_name(from));
	}
	if (rc < 0 || rename(copy, folder) < 0)
		folder_remove(copy);
}
