/* SPDX-License-Identifier: MIT */
/* Libraries that kernels measure: are they there? */
#include "engine/kernel_needs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loader.h"
#include "base/pool.h"
#include "engine/kernel_rows.h"
#include "memory.h"

/* A name that the loader was asked for. */
struct library {
	const char *name;
	char *path; /* NULL: it is not there */
};

/* A loader_tell. */
static void
note_path(const char *name, const char *path, void *to)
{
	struct library *library = to;

	if (path && !library->path && strcmp(name, library->name) == 0)
		library->path = rot_strdup(path);
}

/* As the loader finds it that loads this process; it is asked once for each name. */
static const char *
find_by_loader(const char *name)
{
	static struct pool pool;
	static struct library *known;
	static size_t nr;
	autofree char *self = realpath("/proc/self/exe", NULL);
	const char *const argv[] = {LOADER_PATH, "--preload", name, "--list", self, NULL};

	for (size_t i = 0; i < nr; i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].path;
	known = pool_grow(&pool, known, nr, sizeof(*known));
	known[nr] = (struct library){.name = pool_strdup(&pool, name)};
	if (self)
		loader_list(argv, NULL, note_path, &known[nr]);
	return known[nr++].path;
}

/* The path of a file below the folder of the C library; fresh memory. */
static char *
beside_libc(const char *name)
{
	Dl_info libc = {.dli_fname = ""};
	const char *slash;

	dladdr((void *)getenv, &libc);
	slash = strrchr(libc.dli_fname, '/');
	return rot_format("%.*s/%s", slash ? (int)(slash - libc.dli_fname) : 0, libc.dli_fname, name);
}

char *
kernel_library_find(const char *name)
{
	const bool is_path = strchr(name, '/');
	const char *known = is_path ? name : find_by_loader(name);
	autofree char *path = is_path && name[0] != '/' ? beside_libc(name) : rot_strdup(known);

	return access(path, R_OK) == 0 ? rot_keep(&path) : NULL;
}

/* ---- of a kernel ---- */

struct missing {
	const char *kernel;
	char *what;
};

static int
note_missing(const struct definition_row *row, const struct expression_scope *scope, void *context,
	     struct rot_error *err)
{
	struct missing *missing = context;
	autofree char *path = missing->what ? NULL : kernel_library_find(row->of);

	(void)scope;
	(void)err;
	if (!path && !missing->what)
		missing->what =
			rot_format("kernel '%s' needs the library %s: install %s", missing->kernel, row->of, row->text);
	return 0;
}

int
kernel_missing(const struct rot *rot, const struct kernel_base *kernel, char **what, struct rot_error *err)
{
	struct missing missing = {.kernel = kernel->entity.class->name};
	int rc = kernel_each_row(rot, kernel, DEFINITION_NEEDS, note_missing, &missing, err);

	*what = missing.what;
	return rc;
}

static int
append_file(const struct definition_row *row, const struct expression_scope *scope, void *context,
	    struct rot_error *err)
{
	char **files = context;
	autofree char *path = kernel_library_find(row->of);
	struct stat status;

	(void)scope;
	(void)err;
	if (path && stat(path, &status) == 0)
		rot_append(files, "%s=%s %lld %lld;", row->of, path, (long long)status.st_size,
			   (long long)status.st_mtim.tv_sec);
	return 0;
}

char *
kernel_library_files(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err)
{
	autofree char *files = rot_strdup("");

	return kernel_each_row(rot, kernel, DEFINITION_NEEDS, append_file, &files, err) == 0 ? rot_keep(&files) : NULL;
}
