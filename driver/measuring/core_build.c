/* SPDX-License-Identifier: MIT */
/* Cores that are ready, and those that must be built. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "measuring/core_build.h"
#include "measuring/core_folder.h"
#include "measuring/core_prune.h"
#include "memory.h"
#include "rot.h"
#include "support/files.h"
#include "support/process.h"

/* Folders are named PREFIX-REST: the prefix is the same for all cores of the same kernels and tools. */
#define PREFIX_LENGTH 16
#define REST_LENGTH 32

/* Half a megabyte each. More than any controller needs at once. */
#define MAX_CORES 300

struct core_builder {
	struct rot *rot;
	char *folder; /* of all cores */
	struct core_facts facts;
	struct core **cores;
	size_t nr_cores;
};

struct core_builder *
core_builder_new(struct rot *rot)
{
	struct core_builder *builder = rot_calloc(1, sizeof *builder);

	builder->rot = rot;
	builder->folder = rot_format("%s/cores", rot->paths->cache);
	return builder;
}

void
core_builder_delete(struct core_builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->nr_cores; i++) {
		core_state_clear(&builder->cores[i]->state);
		free(builder->cores[i]->child);
		free(builder->cores[i]);
	}
	free(builder->cores);
	core_facts_clear(&builder->facts);
	free(builder->folder);
	free(builder);
}

static char *
core_folder(const struct core_builder *builder, const struct core_description *description)
{
	return rot_format("%s/%.*s-%.*s", builder->folder, PREFIX_LENGTH, description->set_key, REST_LENGTH,
			  description->key);
}

/* ---- finding ---- */

static const struct core *
remember(struct core_builder *builder, const char *key, const char *folder, const struct core_state *state)
{
	struct core *core = rot_calloc(1, sizeof *core);

	strcpy(core->key, key);
	core->child = rot_format("%s/child", folder);
	core->state = *state;
	builder->cores = rot_realloc(builder->cores, builder->nr_cores + 1, sizeof *builder->cores);
	builder->cores[builder->nr_cores++] = core;
	return core;
}

static const struct core *
find(struct core_builder *builder, const struct core_description *description)
{
	struct core_state state;
	char *folder;
	const struct core *core = NULL;

	for (size_t i = 0; i < builder->nr_cores; i++)
		if (strcmp(builder->cores[i]->key, description->key) == 0)
			return builder->cores[i];
	folder = core_folder(builder, description);
	if (core_state_read(folder, &state) == CORE_FRESH) {
		core = remember(builder, description->key, folder, &state);
		core_touch(folder);
	}
	free(folder);
	return core;
}

int
core_builder_find(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		  struct rot_error *err)
{
	struct core_description description;

	if (core_describe(builder->rot, measurement, &builder->facts, &description, err) < 0)
		return -1;
	*core = find(builder, &description);
	core_description_clear(&description);
	return 0;
}

/* ---- building ---- */

/*
 * Prepares an empty or unfinished folder; what was made from files that have changed is thrown away, since make looks
 * only at which of two files is newer. Gives the compiler's version if a folder with the same tools knows it.
 */
static char *
prepare_folder(const struct core_builder *builder, const char *folder)
{
	struct core_state state;
	char *compiler = NULL, **names;
	const char *own = strrchr(folder, '/') + 1;

	if (core_state_read(folder, &state) == CORE_CHANGED)
		folder_remove(folder);
	core_state_clear(&state);
	names = folder_list(builder->folder);
	for (size_t i = 0; names[i] && !compiler; i++) {
		char *other = rot_format("%s/%s", builder->folder, names[i]);

		if (strncmp(names[i], own, PREFIX_LENGTH + 1) == 0 && core_state_read(other, &state) == CORE_FRESH) {
			compiler = rot_strdup(state.compiler);
			if (access(folder, F_OK) < 0)
				core_folder_seed(folder, other);
			core_state_clear(&state);
		}
		free(other);
	}
	folder_list_delete(names);
	return compiler;
}

/* The path of ccache, "" without; fresh memory. NULL: it is wanted and not there. */
static char *
find_ccache(const struct rot *rot, struct rot_error *err)
{
	const char *choice = configuration_string(rot->configuration, "ccache");
	char *path = strcmp(choice, "no") == 0 ? rot_strdup("") : process_find("ccache");

	if (path || strcmp(choice, "auto") == 0)
		return path ? path : rot_strdup("");
	rot_error_set(err, 0, "cannot find 'ccache' in PATH");
	rot_error_hint(err, "sudo apt-get install ccache    or -ccache=auto");
	return NULL;
}

/* make passes its own settings on in the environment; a rot below a make is not part of it. */
static void
set_environment(const struct rot *rot)
{
	static const char *const of_make[] = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS", "MAKEFILES"};
	char *folder = rot_format("%s/ccache", rot->paths->cache);

	for (size_t i = 0; i < sizeof of_make / sizeof *of_make; i++)
		unsetenv(of_make[i]);
	/* ccache replaces variables in the value, and cannot be told not to. */
	if (!strchr(folder, '$'))
		setenv("CCACHE_DIR", folder, 0);
	setenv("CCACHE_MAXSIZE", "500M", 0);
	setenv("CCACHE_NOHASHDIR", "1", 0);
	free(folder);
}

/* What the compiler said, without make's own lines, which say nothing to somebody who never started make. */
static char *
compiler_messages(const char *output)
{
	char *text = rot_calloc(strlen(output) + 1, 1);
	size_t nr = 0;

	while (*output) {
		size_t length = strcspn(output, "\n") + (strchr(output, '\n') ? 1 : 0);

		if (strncmp(output, "make: ", 6) != 0) {
			memcpy(text + nr, output, length);
			nr += length;
		}
		output += length;
	}
	while (nr > 0 && text[nr - 1] == '\n')
		text[--nr] = '\0';
	return text;
}

/* Text with every FROM as TO; takes text over. Fresh memory. */
static char *
replace(char *text, const char *from, const char *to)
{
	char *place = strstr(text, from), *begin = rot_strdup(""), *rest = text;

	for (; place; place = strstr(rest, from)) {
		char *longer = rot_format("%s%.*s%s", begin, (int)(place - rest), rest, to);

		free(begin);
		begin = longer;
		rest = place + strlen(from);
	}
	place = rot_format("%s%s", begin, rest);
	free(begin);
	free(text);
	return place;
}

/* Paths that make cannot take are reached through links (core_folder.c); nobody knows those. */
static char *
name_real_folders(char *messages, const struct core_description *description)
{
	for (size_t i = 0; i < description->nr_kernels; i++) {
		const struct definition *definition = description->kernels[i].definition;
		char *from = rot_format("links/%s/", definition->class->name),
		     *to = rot_format("%s/", definition->folder);

		messages = replace(messages, from, to);
		free(from);
		free(to);
	}
	return messages;
}

static int
report_failed_build(const struct core_description *description, const struct process_result *result,
		    struct rot_error *err)
{
	char *messages = name_real_folders(compiler_messages(result->output), description), *names = rot_strdup("");

	for (size_t i = 0; i < description->nr_kernels; i++) {
		char *longer =
			rot_format("%s%s%s", names, i ? ", " : "", description->kernels[i].definition->class->name);

		free(names);
		names = longer;
	}
	rot_error_set(err, 0, "cannot compile the measuring core with kernel %s:\n%.*s", names,
		      messages[0] ? INT_MAX : (int)process_output_length(result),
		      messages[0] ? messages : result->output);
	if (strstr(result->output, "-lpfm"))
		rot_error_hint(err, "sudo apt-get install libpfm4-dev");
	else if (result->signal)
		rot_error_hint(err, "make was ended by signal %d", result->signal);
	free(names);
	free(messages);
	return -1;
}

static int
run_make(const struct rot *rot, const char *folder, const struct core_description *description, struct rot_error *err)
{
	char *makefile = rot_format("%s/core/core.mk", rot->paths->data),
	     *jobs = rot_format("-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	const char *const argv[] = {"make", "--no-print-directory", "-f", makefile, "-C", folder, jobs, "child", NULL};
	struct process_result result;
	bool not_found;
	int rc;

	set_environment(rot);
	rc = process_run(argv, NULL, &result, &not_found, err);
	if (rc < 0 && not_found)
		rot_error_hint(err, "sudo apt-get install make");
	if (rc == 0 && result.status != 0)
		rc = report_failed_build(description, &result, err);
	process_result_clear(&result);
	free(jobs);
	free(makefile);
	return rc;
}

/* First line of the compiler's --version; "unknown" if it does not say. */
static char *
compiler_version(const struct rot *rot)
{
	char *words = rot_strdup(configuration_string(rot->configuration, "compiler")), *rest = NULL, *version = NULL;
	const char *argv[16] = {0};
	struct process_result result = {0};
	size_t nr = 0;

	for (char *word = strtok_r(words, " ", &rest); word && nr < 14; word = strtok_r(NULL, " ", &rest))
		argv[nr++] = word;
	argv[nr] = "--version";
	if (process_run(argv, NULL, &result, NULL, NULL) == 0 && result.status == 0 && result.output[0])
		version = rot_strndup(result.output, strcspn(result.output, "\n"));
	process_result_clear(&result);
	free(words);
	return version ? version : rot_strdup("unknown");
}

static int
build(struct core_builder *builder, const struct core_description *description, const char *ccache, const char *folder,
      const struct core **core, struct rot_error *err)
{
	char *compiler = prepare_folder(builder, folder);
	struct core_state state;
	int rc = -1;

	if (core_folder_write(folder, builder->rot, description, ccache, err) == 0 &&
	    run_make(builder->rot, folder, description, err) == 0) {
		if (!compiler)
			compiler = compiler_version(builder->rot);
		rc = core_state_write(folder, compiler, &state, err);
	}
	if (rc == 0) {
		*core = remember(builder, description->key, folder, &state);
		core_prune(builder->folder, MAX_CORES);
	}
	if (rc < 0 && err && !*err->hint && strstr(err->text, strerror(ENOSPC)))
		rot_error_hint(err, "make room where '%s' is, or keep the cache elsewhere: -cacheFolder=FOLDER",
			       builder->folder);
	free(compiler);
	return rc;
}

int
core_builder_build(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		   struct rot_error *err)
{
	struct core_description description;
	char *ccache, *folder;
	int rc = -1;

	if (core_describe(builder->rot, measurement, &builder->facts, &description, err) < 0)
		return -1;
	ccache = find_ccache(builder->rot, err);
	folder = core_folder(builder, &description);
	*core = find(builder, &description);
	if (*core)
		rc = 0;
	else if (ccache)
		rc = build(builder, &description, ccache, folder, core, err);
	free(folder);
	free(ccache);
	core_description_clear(&description);
	return rc;
}
