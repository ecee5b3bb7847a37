/* SPDX-License-Identifier: MIT */
/* The file "state" of a build folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measuring/core_state.h"
#include "memory.h"
#include "support/files.h"

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

/* "SIZE TIME PATH": is the file still that? */
static bool
is_unchanged(const char *folder, const char *text)
{
	const char *space = strchr(text, ' '), *path = space ? strchr(space + 1, ' ') : NULL;
	autofree char *identity = path ? file_identity(folder, path + 1) : NULL;

	return identity && strlen(identity) == (size_t)(path - text) && strncmp(identity, text, strlen(identity)) == 0;
}

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
	else if (strncmp(line, "file ", 5) == 0)
		return is_unchanged(folder, line + 5);
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
	names->items = pool_grow(names->pool, names->items, names->nr, sizeof *names->items);
	names->items[names->nr++] = name;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
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

/* Prerequisites of the rules the compiler wrote; targets end in a colon. */
static void
add_prerequisites(struct names *names, const char *rules)
{
	char *word;

	while ((word = next_word(names->pool, &rules)))
		if (!path_ends_in(word, ":"))
			add_name(names, word);
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

		add_prerequisites(&names, text ? text : "");
	}
	add_name(&names, pool_strdup(&pool, "child"));
	qsort(names.items, names.nr, sizeof *names.items, compare_names);
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
