/* SPDX-License-Identifier: MIT */
/* Files and folders as a whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/pool.h"
#include "memory.h"

/* More than any file that is read as a whole. */
#define MOST_BYTES (256 << 20)

/* No file is written for so long. */
#define LEFT_AFTER_S 600

/* Closes and reports; errno is that of the failure. */
static void *
fail_reading(int fd, const char *path, char *content, struct rot_error *err)
{
	int reason = errno;

	free(content);
	if (fd >= 0)
		close(fd);
	rot_error_set(err, reason, "cannot read '%s'", path);
	errno = reason;
	return NULL;
}

char *
file_read(const char *path, size_t *length, struct rot_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t size, nr = 0;
	char *content;

	if (fd < 0 || fstat(fd, &status) < 0)
		return fail_reading(fd, path, NULL, err);
	if (!S_ISREG(status.st_mode) || status.st_size > MOST_BYTES) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : S_ISREG(status.st_mode) ? EFBIG : EINVAL;
		return fail_reading(fd, path, NULL, err);
	}
	size = (size_t)status.st_size + 1;
	content = rot_realloc(NULL, size + 1, 1);
	for (;;) {
		ssize_t part = read(fd, content + nr, size - nr);

		if (part < 0 && errno != EINTR)
			return fail_reading(fd, path, content, err);
		if (part == 0)
			break;
		nr += part > 0 ? (size_t)part : 0;
		if (nr == size)
			content = rot_realloc(content, (size *= 2) + 1, 1);
	}
	close(fd);
	content[nr] = '\0';
	if (length)
		*length = nr;
	return content;
}

bool
file_is_unreadable(int reason)
{
	return reason == EISDIR || reason == EINVAL || reason == EFBIG;
}

char *
file_first_line(const char *root, const char *name)
{
	autofree char *path = rot_format("%s/%s", root, name);
	char *line = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;

	if (!file)
		return NULL;
	if (getline(&line, &size, file) < 0) {
		free(line);
		line = NULL;
	} else {
		line[strcspn(line, "\n")] = '\0';
	}
	fclose(file);
	return line;
}

static int
write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t nr = write(fd, bytes, length);

		if (nr < 0 && errno != EINTR)
			return -1;
		bytes += nr > 0 ? nr : 0;
		length -= nr > 0 ? (size_t)nr : 0;
	}
	return 0;
}

/* The reason of a failure, or 0. */
static int
replace(const char *path, const void *bytes, size_t length, bool durable)
{
	autofree char *temporary = rot_format("%s" FILE_TEMPORARY, path);
	int fd = mkostemp(temporary, O_CLOEXEC), reason = 0;
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0 || write_all(fd, bytes, length) < 0 || fchmod(fd, 0666 & ~mask) < 0 || (durable && fsync(fd) < 0))
		reason = errno;
	if (fd >= 0 && close(fd) < 0 && !reason)
		reason = errno;
	if (!reason && rename(temporary, path) < 0)
		reason = errno;
	if (reason && fd >= 0)
		unlink(temporary);
	return reason;
}

static int
say_written(const char *path, int reason, struct rot_error *err)
{
	if (!reason)
		return 0;
	rot_error_set(err, reason, "cannot write '%s'", path);
	errno = reason;
	return -1;
}

int
file_write(const char *path, const void *bytes, size_t length, bool durable, struct rot_error *err)
{
	autofree char *target = realpath(path, NULL); /* where links lead: they stay */
	int reason = replace(target ? target : path, bytes, length, durable);

	return say_written(path, reason, err);
}

int
file_deliver(const char *path, const void *bytes, size_t length, bool durable, struct rot_error *err)
{
	struct stat status;

	/* A pipe, a device or anything else that is no regular file must stay what it is. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), reason = 0;

		if (fd < 0 || write_all(fd, bytes, length) < 0)
			reason = errno;
		if (fd >= 0 && close(fd) < 0 && !reason)
			reason = errno;
		return say_written(path, reason, err);
	}
	return file_write(path, bytes, length, durable, err);
}

int
file_write_if_changed(const char *path, const char *text, struct rot_error *err)
{
	size_t length;
	autofree char *old = file_read(path, &length, NULL);
	bool is_same = old && length == strlen(text) && memcmp(old, text, length) == 0;

	return is_same ? 0 : file_write(path, text, strlen(text), false, err);
}

int
folder_make(const char *path, struct rot_error *err)
{
	autofree char *part = rot_strdup(path);
	int reason = 0;

	for (char *s = part + 1; !reason; s++) {
		char end = *s;

		if (end != '/' && end != '\0')
			continue;
		*s = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			reason = errno;
		*s = end;
		if (end == '\0')
			break;
	}
	struct stat status;

	if (!reason && stat(path, &status) < 0)
		reason = errno;
	else if (!reason && !S_ISDIR(status.st_mode))
		reason = ENOTDIR;
	if (!reason)
		return 0;
	rot_error_set(err, reason, "cannot make the folder '%s'", path);
	errno = reason;
	return -1;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)place;
	if (type == FTW_DP)
		rmdir(path);
	else
		unlink(path);
	return 0;
}

void
folder_remove(const char *path)
{
	int reason = errno;

	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	errno = reason;
}

void
folder_sweep(const char *path)
{
	static const char pattern[] = FILE_TEMPORARY;
	const size_t tail = sizeof(pattern) - 1, fixed = strcspn(pattern, "X");
	autofree char **names = folder_list(path);

	for (size_t i = 0; names[i]; i++) {
		const size_t length = strlen(names[i]);
		autofree char *entry = rot_format("%s/%s", path, names[i]);
		struct stat status;

		if (length > tail && strncmp(names[i] + length - tail, pattern, fixed) == 0 &&
		    lstat(entry, &status) == 0 && time(NULL) - status.st_mtime > LEFT_AFTER_S)
			folder_remove(entry);
	}
}

int
names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
folder_list(const char *path)
{
	autopool pool = {0};
	DIR *folder = opendir(path);
	struct dirent *entry;
	char **names = NULL, **copy, *end;
	size_t nr = 0, length = 0;

	while (folder && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		pool_add(&pool, names, nr) = pool_strdup(&pool, entry->d_name);
		length += strlen(entry->d_name) + 1;
	}
	if (folder)
		closedir(folder);
	if (nr)
		qsort(names, nr, sizeof *names, names_compare);
	/* The texts are behind the pointers. */
	copy = rot_calloc(1, (nr + 1) * sizeof *copy + length);
	end = (char *)(copy + nr + 1);
	for (size_t i = 0; i < nr; i++) {
		copy[i] = end;
		end = stpcpy(end, names[i]) + 1;
	}
	return copy;
}

const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool
path_ends_in(const char *path, const char *suffix)
{
	size_t length = strlen(path), suffix_length = strlen(suffix);

	return length >= suffix_length && strcmp(path + length - suffix_length, suffix) == 0;
}
