/* SPDX-License-Identifier: MIT */
/* Writes or reads a file past the page cache (O_DIRECT): load on a disk. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "DiskIoData.h"
#include "kernel.h"

#define CHUNK ((size_t)512 << 10)

struct disk_io {
	struct disk_io_data data;
	char *chunk;
	int file;       /* plus 1, so that 0 is none */
	int last_error; /* of a run, told when it is disposed of */
	atomic_bool is_stopped;
};

/* One pass over the file; 0, or the system's reason. */
static int
pass(struct disk_io *disk, bool is_write)
{
	for (off_t at = 0; at < disk->data.file_size && !atomic_load(&disk->is_stopped); at += (off_t)CHUNK) {
		ssize_t done = is_write ? pwrite(disk->file - 1, disk->chunk, CHUNK, at)
					: pread(disk->file - 1, disk->chunk, CHUNK, at);

		if (done != (ssize_t)CHUNK)
			return done < 0 ? errno : EIO;
	}
	return 0;
}

/* "nvme0n1p2", as /sys calls the device; file systems without one of their own (in memory, of a network, over others)
 * have no name there. */
static void
tell_device(int file)
{
	char *link = NULL, target[256], *name;
	struct stat status;
	ssize_t length;

	if (fstat(file, &status) < 0 ||
	    asprintf(&link, "/sys/dev/block/%u:%u", major(status.st_dev), minor(status.st_dev)) < 0)
		return;
	length = readlink(link, target, sizeof(target) - 1);
	free(link);
	if (length < 0)
		return;
	target[length] = '\0';
	name = strrchr(target, '/');
	kernel_tell("the file of DiskIo is on %s", name ? name + 1 : target);
}

static int
open_file(struct disk_io *disk)
{
	char *path = NULL;
	int file;

	if (asprintf(&path, "%s/diskIo%d.tmp", kernel_folder(), disk->data.base.id) < 0)
		return kernel_fail("not enough memory");
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
	if (file < 0) {
		kernel_fail("cannot open %s past the page cache: %s", path, strerror(errno));
	} else {
		/* Without a name it is gone however we end. */
		unlink(path);
		disk->file = file + 1;
		tell_device(file);
	}
	free(path);
	return file < 0 ? -1 : 0;
}

static int
initialize(void *kernel)
{
	struct disk_io *disk = kernel;

	disk->chunk = kernel_allocate(CHUNK, 1);
	if (!disk->chunk || open_file(disk) < 0)
		return -1;
	kernel_fill((double *)(void *)disk->chunk, CHUNK / sizeof(double), 1);
	/* The file has its blocks before it is measured. */
	disk->last_error = pass(disk, true);
	return disk->last_error ? kernel_fail("cannot write %ld bytes: %s", (long)disk->data.file_size,
					      strerror(disk->last_error))
				: 0;
}

static void
run(void *kernel)
{
	struct disk_io *disk = kernel;
	bool is_write = strcmp(disk->data.operation, "WRITE") == 0;

	for (int64_t i = 0; (disk->data.iterations < 0 || i < disk->data.iterations) &&
			    !atomic_load(&disk->is_stopped) && disk->last_error == 0;
	     i++)
		disk->last_error = pass(disk, is_write);
	atomic_store(&disk->is_stopped, false);
}

/* Nothing: with iterations below 0 it would not end. */
static void
warm_code(void *kernel)
{
	(void)kernel;
}

static void
stop(void *kernel)
{
	struct disk_io *disk = kernel;

	atomic_store(&disk->is_stopped, true);
}

static void
dispose(void *kernel)
{
	struct disk_io *disk = kernel;

	if (disk->last_error)
		kernel_tell("DiskIo ended early: %s", strerror(disk->last_error));
	if (disk->file)
		close(disk->file - 1);
	disk->file = 0;
	kernel_free(disk->chunk);
	disk->chunk = NULL;
}

KERNEL(disk_io, "DiskIo", .initialize = initialize, .run = run, .warm_code = warm_code, .stop = stop,
       .dispose = dispose);
