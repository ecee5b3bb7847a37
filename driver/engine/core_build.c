/* SPDX-License-Identifier: MIT */
/* Cores that are ready, and those that must be built. */
#include "engine/core_build.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "engine/core_folder.h"
#include "memory.h"
#include "rot.h"

/* ---- make ---- */

/* A command that makes the core in a folder, which must stay while the command is used. */
struct make_command {
	char *makefile, *jobs;
	const char *argv[9];
};

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
	rot_error_scope(err, ROT_ERROR_OF_TOOLS);
	return NULL;
}

/*
 * Sets what make and ccache find in the environment, once before they are started. make passes its own settings on
 * there; a rot below a make is not part of it.
 */
static void
prepare_environment(const struct rot *rot)
{
	static const char *const of_make[] = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS", "MAKEFILES"};
	autofree char *folder = rot_format("%s/ccache", rot->paths->cache);

	for (size_t i = 0; i < sizeof of_make / sizeof *of_make; i++)
		unsetenv(of_make[i]);
	/* ccache replaces variables in the value, and cannot be told not to. */
	if (!strchr(folder, '$'))
		setenv("CCACHE_DIR", folder, 0);
	setenv("CCACHE_MAXSIZE", "500M", 0);
	setenv("CCACHE_NOHASHDIR", "1", 0);
	/* The compiler names the files it read (-MD): what is new need not be preprocessed twice. */
	setenv("CCACHE_DEPEND", "1", 0);
}

/* The compiler's messages, without make's own lines, which say nothing to somebody who never started make. */
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
	char *place = strstr(text, from);
	autofree char *begin = rot_strdup("");
	char *rest = text;

	for (; place; place = strstr(rest, from)) {
		rot_append(&begin, "%.*s%s", (int)(place - rest), rest, to);

		rest = place + strlen(from);
	}
	place = rot_format("%s%s", begin, rest);
	free(text);
	return place;
}

/* After a make that failed: -1 and what the compiler said. */
static int
report_make(const struct core_description *description, const struct process_result *result, struct rot_error *err)
{
	autofree char *messages = NULL;
	autofree char *names = rot_strdup("");

	/* Paths that make cannot take are reached through links (core_folder.c); nobody knows those. */
	messages = compiler_messages(result->output);
	for (size_t i = 0; i < description->nr_kernels; i++) {
		const struct definition *definition = description->kernels[i].definition;
		autofree char *from = rot_format("links/%s/", definition->class->name);
		autofree char *to = rot_format("%s/", definition->folder);

		messages = replace(messages, from, to);
	}
	for (size_t i = 0; i < description->nr_kernels; i++)
		rot_append(&names, "%s%s", i ? ", " : "", description->kernels[i].definition->class->name);
	rot_error_set(err, 0, "cannot compile the measuring core with kernel %s:\n%.*s", names,
		      messages[0] ? INT_MAX : (int)process_output_length(result),
		      messages[0] ? messages : result->output);
	rot_error_scope(err, ROT_ERROR_OF_WORK);
	if (result->signal)
		rot_error_hint(err, "make was ended by signal %d", result->signal);
	else
		rot_error_hint(
			err, "a kernel that works: rot help ADD-A-KERNEL.md; flags are the field or key optimization");
	return -1;
}

/* First line of the compiler's --version; "unknown" if it does not say. Fresh memory. */
static char *
compiler_version(const struct rot *rot)
{
	autofree char *words = rot_strdup(configuration_string(rot->configuration, "compiler"));
	char *rest = NULL, *version = NULL;
	const char *argv[16] = {0};
	struct process_result result = {0};
	size_t nr = 0;

	for (char *word = strtok_r(words, " ", &rest); word && nr < 14; word = strtok_r(NULL, " ", &rest))
		argv[nr++] = word;
	argv[nr] = "--version";
	if (process_run(argv, NULL, &result, NULL, NULL) == 0 && result.status == 0 && result.output[0])
		version = rot_strndup(result.output, strcspn(result.output, "\n"));
	process_result_clear(&result);
	return version ? version : rot_strdup("unknown");
}

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

static void
core_delete(struct core *core)
{
	core_state_clear(&core->state);
	free(core->child);
	free(core);
}

void
core_builder_delete(struct core_builder *builder)
{
	if (!builder)
		return;
	for (size_t i = 0; i < builder->nr_cores; i++)
		core_delete(builder->cores[i]);
	free(builder->cores);
	pool_clear(&builder->facts.pool);
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
	rot_add(builder->cores, builder->nr_cores) = core;
	return core;
}

/* One that was met before may have been removed since (core_folder.h). */
static const struct core *
find_core(struct core_builder *builder, const struct core_description *description)
{
	struct core_state state;
	autofree char *folder = NULL;
	const struct core *core = NULL;

	for (size_t i = 0; i < builder->nr_cores; i++) {
		if (strcmp(builder->cores[i]->key, description->key) != 0)
			continue;
		if (access(builder->cores[i]->child, F_OK) == 0)
			return builder->cores[i];
		core_delete(builder->cores[i]);
		builder->cores[i] = builder->cores[--builder->nr_cores];
		break;
	}
	folder = core_folder(builder, description);
	if (core_state_read(folder, &state) == CORE_FRESH) {
		core = remember(builder, description->key, folder, &state);
		core_touch(folder);
	}
	return core;
}

int
core_builder_find(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		  char key[SHA256_HEX_SIZE], struct rot_error *err)
{
	struct core_description description;

	if (core_describe(builder->rot, measurement, &builder->facts, &description, err) < 0)
		return -1;
	*core = find_core(builder, &description);
	if (key)
		strcpy(key, description.key);
	core_description_clear(&description);
	return 0;
}

/* ---- building ---- */

/* One core to be built. */
struct build {
	struct core_description description;
	char *folder;
	char *seed;     /* a complete folder with the same kernels and tools, or NULL */
	char *compiler; /* its version, NULL: not known yet */
	bool has_rest;  /* something that was made before was there when make began */
	struct make_command make;
	struct process_job job;
	bool has_failed;
	struct rot_error error; /* then */
};

/* Missing cores, each once; begun in their order, some at a time. */
struct builds {
	struct core_builder *builder;
	const char *ccache;
	struct build **items;
	size_t nr, nr_begun, nr_ended;
	size_t nr_now;                   /* of the first items, which may be begun */
	size_t nr_jobs;                  /* of each make                           */
	size_t nr_undescribed;           /* cores that cannot even be described    */
	core_builder_progress *progress; /* or NULL                                */
};

/* Looks for a folder to start from. Gives the compiler's version as well. */
static void
find_seed(const struct core_builder *builder, struct build *build)
{
	const char *own = path_name(build->folder);
	autofree char **names = folder_list(builder->folder);
	struct core_state state;

	for (size_t i = 0; names[i] && !build->seed; i++) {
		autofree char *other = rot_format("%s/%s", builder->folder, names[i]);

		if (strncmp(names[i], own, PREFIX_LENGTH + 1) == 0 && core_state_read(other, &state) == CORE_FRESH) {
			build->compiler = rot_strdup(state.compiler);
			build->seed = rot_strdup(other);
			core_state_clear(&state);
		}
	}
}

/*
 * Prepares an empty or unfinished folder; what was made from files that have changed is thrown away, since make looks
 * only at which of two files is newer.
 */
static int
prepare_folder(const struct builds *builds, struct build *build, struct rot_error *err)
{
	struct core_state state;

	if (core_state_read(build->folder, &state) == CORE_CHANGED)
		folder_remove(build->folder);
	core_state_clear(&state);
	if (!build->seed)
		find_seed(builds->builder, build);
	if (build->seed && access(build->folder, F_OK) < 0)
		core_folder_seed(build->folder, build->seed);
	build->has_rest = access(build->folder, F_OK) == 0;
	return core_folder_write(build->folder, builds->builder->rot, &build->description, builds->ccache, err);
}

static void
build_fail(const struct builds *builds, struct build *build, const struct rot_error *err)
{
	build->has_failed = true;
	build->error = *err;
	if (strstr(err->text, strerror(ENOSPC)))
		rot_error_scope(&build->error, ROT_ERROR_OF_ALL);
	if (!*err->hint && strstr(err->text, strerror(ENOSPC)))
		rot_error_hint(&build->error,
			       "make room where '%s' is, or keep the cache elsewhere: -cacheFolder=FOLDER",
			       builds->builder->folder);
}

static void
note_end(struct builds *builds)
{
	builds->nr_ended++;
	if (builds->progress)
		builds->progress(builds->nr_ended, builds->nr);
}

/* The next one that can be prepared. */
static struct process_job *
begin_next(void *context)
{
	struct builds *builds = context;

	while (builds->nr_begun < builds->nr_now) {
		struct build *build = builds->items[builds->nr_begun++];
		struct rot_error err = {0};

		if (prepare_folder(builds, build, &err) == 0) {
			build->make = (struct make_command){
				.makefile = rot_format("%s/core/core.mk", builds->builder->rot->paths->data),
				.jobs = rot_format("-j%zu", builds->nr_jobs)};
			const char *const argv[] = {"make",
						    "--no-print-directory",
						    "-f",
						    build->make.makefile,
						    "-C",
						    build->folder,
						    build->make.jobs,
						    "child",
						    NULL};

			static_assert(sizeof(argv) == sizeof(build->make.argv), "as many words as there is room for");
			memcpy(build->make.argv, argv, sizeof(argv));
			build->job = (struct process_job){.argv = build->make.argv};
			return &build->job;
		}
		build_fail(builds, build, &err);
		note_end(builds);
	}
	return NULL;
}

/* From nothing: any file that was there may be damaged, and then the seed's is. */
static int
make_anew(const struct builds *builds, struct build *build, struct rot_error *err)
{
	struct process_result *result = &build->job.result;

	folder_remove(build->folder);
	process_result_clear(result);
	if (core_folder_write(build->folder, builds->builder->rot, &build->description, builds->ccache, err) < 0 ||
	    process_run(build->make.argv, NULL, result, NULL, err) < 0)
		return -1;
	if (result->status == 0 && build->seed)
		folder_remove(build->seed);
	if (result->status == 0)
		rot_warning("what was kept of a measuring core is damaged: made again in '%s'", build->folder);
	return 0;
}

static int
complete(const struct builds *builds, struct build *build, struct rot_error *err)
{
	struct core_builder *builder = builds->builder;
	struct core_state state;

	if (build->job.result.status != 0 && build->has_rest && make_anew(builds, build, err) < 0)
		return -1;
	if (build->job.result.status != 0)
		return report_make(&build->description, &build->job.result, err);
	if (!build->compiler)
		build->compiler = compiler_version(builder->rot);
	if (core_state_write(build->folder, build->compiler, &state, err) < 0)
		return -1;
	remember(builder, build->description.key, build->folder, &state);
	return 0;
}

static void
make_ended(void *context, struct process_job *job, int rc, const struct rot_error *why)
{
	struct build *build = (struct build *)((char *)job - offsetof(struct build, job));
	struct rot_error err = *why;

	if (rc < 0 && job->is_not_found) {
		rot_error_hint(&err, "sudo apt-get install make");
		rot_error_scope(&err, ROT_ERROR_OF_TOOLS);
	}
	if (rc == 0)
		rc = complete(context, build, &err);
	if (rc < 0)
		build_fail(context, build, &err);
	process_result_clear(&job->result);
	note_end(context);
}

/*
 * The first builds, up to nr, one after the other with all CPUs for each make, or each with one CPU and as many makes
 * at a time. The last one alone has all CPUs.
 */
static void
run_builds(struct builds *builds, size_t nr, bool one_by_one)
{
	const struct process_source source = {.context = builds, .next = begin_next, .ended = make_ended};
	const size_t nr_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	prepare_environment(builds->builder->rot);
	builds->nr_now = nr;
	builds->nr_jobs = one_by_one || nr - builds->nr_begun == 1 ? nr_cpus : 1;
	process_run_all(&source, one_by_one ? 1 : nr_cpus);
}

static bool
is_wanted(const struct builds *builds, const struct core_description *description)
{
	for (size_t i = 0; i < builds->nr; i++)
		if (strcmp(builds->items[i]->description.key, description->key) == 0)
			return true;
	return false;
}

/* err: of the first failure. */
static void
collect_wanted(struct builds *builds, struct measurement *const *measurements, size_t nr, struct rot_error *err)
{
	struct core_builder *builder = builds->builder;

	builds->items = rot_calloc(nr, sizeof(*builds->items));
	for (size_t i = 0; i < nr; i++) {
		struct core_description description;
		struct rot_error local = {0};

		if (core_describe(builder->rot, measurements[i], &builder->facts, &description, &local) < 0) {
			if (builds->nr_undescribed++ == 0 && err)
				*err = local;
		} else if (find_core(builder, &description) || is_wanted(builds, &description)) {
			core_description_clear(&description);
		} else {
			struct build *build = rot_calloc(1, sizeof(*build));

			build->description = description;
			build->folder = core_folder(builder, &description);
			builds->items[builds->nr++] = build;
		}
	}
}

/* The first of each kind, which nothing that is there can help: the others start from what they leave. Their number. */
static size_t
put_pioneers_first(struct builds *builds)
{
	struct build **items = builds->items;
	size_t nr = 0;

	for (size_t i = 0; i < builds->nr; i++) {
		struct build *build = items[i];
		bool has_pioneer = false;

		for (size_t k = 0; k < nr; k++)
			has_pioneer |= strcmp(items[k]->description.set_key, build->description.set_key) == 0;
		if (!has_pioneer)
			find_seed(builds->builder, build);
		if (has_pioneer || build->seed)
			continue;
		memmove(&items[nr + 1], &items[nr], (i - nr) * sizeof(*items));
		items[nr++] = build;
	}
	return nr;
}

/* Number of those that could not be built. */
static int
count_failures(const struct builds *builds, struct rot_error *err)
{
	size_t nr = builds->nr_undescribed;

	for (size_t i = 0; i < builds->nr; i++)
		if (builds->items[i]->has_failed && nr++ == 0 && err)
			*err = builds->items[i]->error;
	return (int)nr;
}

int
core_builder_build_all(struct core_builder *builder, struct measurement *const *measurements, size_t nr,
		       core_builder_progress *progress, struct rot_error *err)
{
	struct builds builds = {.builder = builder, .progress = progress};
	autofree char *ccache = NULL;
	int rc = -1;

	collect_wanted(&builds, measurements, nr, err);
	if (builds.nr == 0) {
		rc = count_failures(&builds, err);
	} else if ((builds.ccache = ccache = find_ccache(builder->rot, err))) {
		run_builds(&builds, put_pioneers_first(&builds), true);
		run_builds(&builds, builds.nr, false);
		rc = builds.nr_ended < builds.nr ? rot_error_set(err, 0, "interrupted") : count_failures(&builds, err);
	}
	prune(builder->folder, "state", nr > MAX_CORES ? nr : MAX_CORES);
	for (size_t i = 0; i < builds.nr; i++) {
		struct build *build = builds.items[i];

		core_description_clear(&build->description);
		free(build->make.makefile);
		free(build->make.jobs);
		free(build->compiler);
		free(build->seed);
		free(build->folder);
		free(build);
	}
	free(builds.items);
	return rc;
}

int
core_builder_build(struct core_builder *builder, struct measurement *measurement, const struct core **core,
		   struct rot_error *err)
{
	if (core_builder_build_all(builder, &measurement, 1, NULL, err) != 0)
		return -1;
	return core_builder_find(builder, measurement, core, NULL, err);
}
