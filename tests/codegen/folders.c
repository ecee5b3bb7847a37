/* SPDX-License-Identifier: MIT */
/* Temporary folders with files, for tests. */
#include "folders.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"

char *
folder_new(void)
{
	const char *parent = getenv("TMPDIR");
	char *folder = rot_format("%s/rot-codegen-test-XXXXXX", parent ? parent : "/tmp");

	if (!mkdtemp(folder)) {
		perror(folder);
		abort();
	}
	return folder;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status, (void)type, (void)position;
	return remove(path);
}

void
folder_delete(char *folder)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

char *
folder_write(const char *folder, const char *name, const char *content)
{
	char *path = rot_format("%s/%s", folder, name), *slash = strrchr(path, '/');
	FILE *file;

	*slash = '\0';
	mkdir(path, 0777);
	*slash = '/';
	file = fopen(path, "w");
	if (!file || fputs(content, file) < 0 || fclose(file) != 0) {
		perror(path);
		abort();
	}
	return path;
}

char *
source_path(const char *relative)
{
	const char *top = getenv("top_srcdir");

	return rot_format("%s/%s", top ? top : ".", relative);
}
