/* SPDX-License-Identifier: MIT */
/* Libraries that kernels measure: are they there? */
#include "kernels/kernel_needs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/kernel_rows.h"
#include "kernels/loader_cache.h"
#include "memory.h"

static char *
file_in(const char *folder, size_t length, const char *name)
{
	autofree char *path = rot_format("%.*s/%s", (int)length, folder, name);

	return length > 0 && access(path, R_OK) == 0 ? rot_keep(&path) : NULL;
}

static char *
find_in_variable(const char *name)
{
	const char *folders = getenv("LD_LIBRARY_PATH");
	char *path = NULL;

	for (size_t length; folders && *folders && !path; folders += length + (folders[length] == ':')) {
		length = strcspn(folders, ":");
		path = file_in(folders, length, name);
	}
	return path;
}

static char *
find_by_loader(const struct loader_cache *cache, const char *name)
{
	static const char *const folders[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
	char *path = find_in_variable(name);
	const char *known = path ? NULL : loader_cache_find(cache, name, 0);

	if (known && access(known, R_OK) == 0)
		return rot_strdup(known);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !path; i++)
		path = file_in(folders[i], strlen(folders[i]), name);
	return path;
}

static char *
find_beside_libc(const struct loader_cache *cache, const char *name)
{
	const char *libc = loader_cache_find(cache, "libc.so.6", 0);
	const char *slash = libc ? strrchr(libc, '/') : NULL;

	return slash ? file_in(libc, (size_t)(slash - libc), name) : NULL;
}

char *
kernel_library_find(const char *name)
{
	struct loader_cache cache;
	char *path;

	if (name[0] == '/')
		return access(name, R_OK) == 0 ? rot_strdup(name) : NULL;
	loader_cache_open(&cache, "/etc/ld.so.cache");
	path = strchr(name, '/') ? find_beside_libc(&cache, name) : find_by_loader(&cache, name);
	loader_cache_close(&cache);
	return path;
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
