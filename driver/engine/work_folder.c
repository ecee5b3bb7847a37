/* SPDX-License-Identifier: MIT */
/* Folders of one start of the core. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "engine/work_folder.h"
#include "memory.h"

/* With less than this left, a disk is full. */
#define FULL_BYTES 65536

/* A folder that has been there for longer is locked, or left over. */
#define BEGINNING_S 10

/* The lock of a folder, or -1: somebody has it (errno EWOULDBLOCK), or there is none. */
static int
lock_folder(const char *path, int flags)
{
	autofree char *name = rot_format("%s/lock", path);
	int lock = open(name, O_RDWR | O_CLOEXEC | flags, 0666);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0) {
		int reason = errno;

		close(lock);
		errno = reason;
		return -1;
	}
	return lock;
}

/* Not one that somebody is about to lock. */
static bool
is_old(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && time(NULL) - status.st_mtime > BEGINNING_S;
}

/* A folder whose lock is free belongs to nobody. */
static void
remove_stale(const char *folder)
{
	autofree char **names = folder_list(folder);

	for (size_t i = 0; names[i]; i++) {
		autofree char *path = rot_format("%s%s", folder, names[i]);
		const bool may_be = is_old(path);
		int lock = may_be ? lock_folder(path, 0) : -1;

		if (may_be && (lock >= 0 || errno == ENOENT))
			folder_remove(path);
		if (lock >= 0)
			close(lock);
	}
}

/* prefix: the path up to the name. */
static char *
make_folder(const char *prefix)
{
	char *path = rot_format("%s%ld-XXXXXX", prefix, (long)getpid());

	if (mkdtemp(path))
		return path;
	free(path);
	return NULL;
}

int
work_folder_open(struct work_folder *work, const char *cache_folder, struct rot_error *err)
{
	char *folder = rot_format("%s/work/", cache_folder);
	const char *temporary = getenv("TMPDIR");

	*work = (struct work_folder){.lock = -1};
	if (folder_make(folder, NULL) == 0) {
		remove_stale(folder);
		work->path = make_folder(folder);
	}
	if (!work->path) {
		free(folder);
		folder = rot_format("%s/rot-", temporary && temporary[0] ? temporary : "/tmp");
		work->path = make_folder(folder);
	}
	if (work->path)
		work->lock = lock_folder(work->path, O_CREAT);
	else
		rot_error_set(err, errno, "cannot make the folder '%sXXXXXX' for the measurement", folder);
	free(folder);
	return work->path ? 0 : -1;
}

void
work_folder_explain(const struct work_folder *work, struct rot_error *err)
{
	struct statvfs disk;

	if (statvfs(work->path, &disk) == 0 && disk.f_bavail * disk.f_frsize < FULL_BYTES)
		rot_error_hint(err,
			       "make room where '%s' is, or name a place that has some: -cacheFolder=FOLDER, TMPDIR",
			       work->path);
}

void
work_folder_close(struct work_folder *work)
{
	if (!work->path)
		return;
	folder_remove(work->path);
	if (work->lock >= 0)
		close(work->lock);
	free(work->path);
	*work = (struct work_folder){.lock = -1};
}
