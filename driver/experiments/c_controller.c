/* SPDX-License-Identifier: MIT */
/* C controllers: files compiled into shared objects in the cache folder, and loaded. */
#include "experiments/c_controller.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/pool.h"
#include "base/process.h"
#include "config.h"
#include "engine/sha256.h"
#include "memory.h"

/* The paths to compile one file; all are absolute. */
struct compilation {
	struct pool pool; /* of the texts */
	char *source, *folder;
	char *object, *dependencies; /* FOLDER/KEY.so and .d */
	char *compiler;
	char *includes[4]; /* -I of the headers: rot's own, and those generated */
};

/* Another source text, compiler or rot gives another object. */
static int
compilation_init(struct compilation *c, const struct paths *paths, const char *compiler, const char *path,
		 struct rot_error *err)
{
	char key[SHA256_HEX_SIZE];
	struct pool *pool = &c->pool;
	autofree char *text = NULL;
	struct sha256 *hash;

	*c = (struct compilation){.compiler = NULL};
	c->source = pool_own(pool, realpath(path, NULL), free);
	if (!c->source)
		return rot_error_set(err, 2 /* ENOENT */, "cannot read '%s'", path);
	text = file_read(c->source, NULL, err);
	if (!text)
		return -1;
	hash = sha256_new();
	sha256_add_text(hash, c->source);
	sha256_add_text(hash, text);
	sha256_add_text(hash, compiler);
	sha256_add_text(hash, PACKAGE_VERSION);
	sha256_finish(hash, key);
	c->folder = pool_format(pool, "%s/controllers", paths->cache);
	c->object = pool_format(pool, "%s/%s.so", c->folder, key);
	c->dependencies = pool_format(pool, "%s/%s.d", c->folder, key);
	c->compiler = pool_strdup(pool, compiler);
	c->includes[0] = pool_format(pool, "-I%s/driver", paths->data);
	c->includes[1] = pool_format(pool, "-I%s/shared-entities", paths->data);
	c->includes[2] = pool_format(pool, "-I%s/codegen", paths->data);
	c->includes[3] = pool_format(pool, "-I%s/shared-entities/generated", paths->built);
	return 0;
}

static bool
is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
						      : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The object is there, and no file it was made from has changed since: the dependencies are those the compiler wrote.
 */
static bool
is_up_to_date(const struct compilation *c)
{
	struct stat object, file;
	struct rot_error ignored;
	bool is_current = stat(c->object, &object) == 0;
	autofree char *text = is_current ? file_read(c->dependencies, NULL, &ignored) : NULL;
	char *rest = NULL;

	for (char *word = text ? strtok_r(text, " \t\r\n\\", &rest) : NULL; word && is_current;
	     word = strtok_r(NULL, " \t\r\n\\", &rest))
		if (word[strlen(word) - 1] != ':')
			is_current = stat(word, &file) == 0 && !is_newer(&file, &object);
	return is_current && text;
}

static int
compile(const struct compilation *c, struct rot_error *err)
{
	autofree char *temporary = rot_format("%s.%ld", c->object, (long)getpid());
	autofree char *words = rot_strdup(c->compiler);
	char *rest = NULL;
	const char *const options[] = {"-std=gnu11",   "-D_GNU_SOURCE", "-O2",          "-g",           "-Wall",
				       "-fPIC",        "-shared",       "-MMD",         "-MF",          c->dependencies,
				       c->includes[0], c->includes[1],  c->includes[2], c->includes[3], "-o",
				       temporary,      c->source};
	enum { NR_OPTIONS = sizeof options / sizeof *options, MAX_WORDS = 15 };
	const char *argv[MAX_WORDS + NR_OPTIONS + 1] = {""};
	size_t nr = 0;
	struct process_result result = {0};
	bool not_found = false;
	int rc = folder_make(c->folder, err);

	for (char *word = strtok_r(words, " ", &rest); word && nr < MAX_WORDS; word = strtok_r(NULL, " ", &rest))
		argv[nr++] = word;
	memcpy(&argv[nr ? nr : 1], options, sizeof options);
	if (rc == 0 && process_run(argv, NULL, &result, &not_found, err) < 0) {
		rc = -1;
		if (not_found)
			rot_error_hint(err,
				       "a C controller needs a compiler: apt-get install gcc, or set the key compiler");
	} else if (rc == 0 && result.status != 0) {
		rc = rot_error_set(err, 0, "cannot compile '%s'\n%s", c->source, result.output);
		rot_error_hint(err, "the compiler's messages are above; one that works is in: rot help CONTROLLERS.md");
	} else if (rc == 0 && rename(temporary, c->object) < 0) {
		rc = rot_error_set(err, 0, "cannot write '%s'", c->object);
	}
	unlink(temporary);
	process_result_clear(&result);
	return rc;
}

static const struct rot_controller *
load(const struct compilation *c, struct rot_error *err)
{
	void *object = dlopen(c->object, RTLD_NOW | RTLD_LOCAL);
	const struct rot_controller *controller = object ? dlsym(object, "controller") : NULL;

	if (!object) {
		rot_error_set(err, 0, "cannot load '%s': %s", c->source, dlerror());
		return NULL;
	}
	if (!controller || !controller->name || !controller->measure) {
		rot_error_set(err, 0, "'%s' does not define a controller", c->source);
		rot_error_hint(
			err, "it must have: const struct rot_controller controller = { .name = ..., .measure = ... };");
		dlclose(object);
		return NULL;
	}
	return controller;
}

const struct rot_controller *
c_controller_load(const struct paths *paths, const struct configuration *configuration, const char *path,
		  struct rot_error *err)
{
	struct compilation c;
	const struct rot_controller *controller = NULL;

	if (compilation_init(&c, paths, configuration_string(configuration, "compiler"), path, err) == 0 &&
	    (is_up_to_date(&c) || compile(&c, err) == 0))
		controller = load(&c, err);
	pool_clear(&c.pool);
	return controller;
}

extern const struct rot_controller list_events_controller;                                  /* check/events.c */
extern const struct rot_controller report_controller;                                       /* check/report.c */
extern const struct rot_controller screening_controller;                                    /* check/screening.c */
extern const struct rot_controller levels_controller;                                       /* roof/levels.c */
extern const struct rot_controller ceiling_controller, memory_controller, peaks_controller; /* roof/controllers.c */

const struct rot_controller *const c_controllers[] = {
	&ceiling_controller, &levels_controller, &list_events_controller, &memory_controller,
	&peaks_controller,   &report_controller, &screening_controller,   NULL,
};
