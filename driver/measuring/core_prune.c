/* SPDX-License-Identifier: MIT */
/* See core_prune.h. A core is marked as used by its file "state". */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "measuring/core_prune.h"
#include "memory.h"
#include "support/files.h"

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

static struct use
read_use(const char *folder, const char *name, const char *mark)
{
	struct use use = {.path = rot_format("%s/%s", folder, name)};
	autofree char *marked = mark ? rot_format("%s/%s", use.path, mark) : rot_strdup(use.path);
	struct stat status;

	if (stat(marked, &status) == 0)
		use.time = status.st_mtim;
	return use;
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
		for (size_t i = 0; i < nr; i++)
			uses[i] = read_use(folder, names[i], mark);
		qsort(uses, nr, sizeof *uses, compare_uses);
		for (size_t i = 0; i < nr; i++) {
			if (i < nr - nr_kept)
				folder_remove(uses[i].path);
			free(uses[i].path);
		}
	}
}
