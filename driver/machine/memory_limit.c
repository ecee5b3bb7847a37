/* SPDX-License-Identifier: MIT */
/* See memory_limit.h. */
#include "machine/memory_limit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "support/files.h"

/* Where the groups of a version are mounted, and the file with the limit. */
struct hierarchy {
	const char *folder, *file;
};
static const struct hierarchy version_1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes"};
static const struct hierarchy version_2[] = {
	{"sys/fs/cgroup", "memory.max"}, {"sys/fs/cgroup/unified", "memory.max"}, /* beside version 1 */
};

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* "max" of version 2 is no number; the largest of version 1 is no limit. */
static int64_t
limit_of(const char *root, const struct hierarchy *in, const char *group)
{
	autofree char *name = rot_format("%s%s/%s", in->folder, group, in->file), *line = file_first_line(root, name);

	return line && isdigit((unsigned char)line[0]) ? strtoll(line, NULL, 10) : INT64_MAX;
}

/* path: "/a/b". */
static int64_t
limit_with_parents(const char *root, const struct hierarchy *in, const char *path)
{
	autofree char *group = rot_strdup(path);
	int64_t limit = limit_of(root, in, "");

	for (char *slash; (slash = strrchr(group, '/')); *slash = '\0')
		if (slash[1])
			limit = least(limit, limit_of(root, in, group));
	return limit;
}

/* line: "0::/a/b" (version 2) or "4:memory:/a/b"; others have nothing to do with memory. */
static int64_t
limit_of_line(const char *root, const char *line)
{
	const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	int64_t limit = INT64_MAX;

	if (!path)
		return limit;
	if (strncmp(controllers, ":memory:", 8) == 0)
		limit = limit_with_parents(root, &version_1, path + 1);
	for (size_t i = 0; path == controllers + 1 && i < sizeof(version_2) / sizeof(*version_2); i++)
		limit = least(limit, limit_with_parents(root, &version_2[i], path + 1));
	return limit;
}

int64_t
memory_limit_read(const char *root)
{
	autofree char *path = rot_format("%s/proc/self/cgroup", root), *text = file_read(path, NULL, NULL);
	char *rest = text;
	int64_t limit = INT64_MAX;

	for (char *line; (line = strsep(&rest, "\n"));)
		limit = least(limit, limit_of_line(root, line));
	return limit;
}
