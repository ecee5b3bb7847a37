/* SPDX-License-Identifier: MIT */
/* The executable files that are mapped into a process: its program, its libraries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/*
 * path:   as the process knows it, without "(deleted)"; "[vdso]" for the code that the kernel provides
 * file:   what this process opens to read the very same file: path, or a name below /proc, if path means something else
 *         here or nothing any more; NULL: there is no file, or it cannot be reached
 * start, end: first address and the one behind the last, of all its mappings
 * bias:   run-time address minus link-time address (as in the file)
 */
struct object {
	char *path;
	char *file;
	uint64_t start, end;
	uint64_t bias;
	dev_t device;
	ino_t inode;
	bool is_program; /* the process executes it (for a program that was started by an explicit loader: that) */
};

/* In the order of their addresses. */
struct objects {
	struct object *objects;
	size_t nr_objects;
};

/*
 * Reads the objects of the process of a thread, which may be running; of one that has ended, nothing can be read, also
 * if it was the first and others run on. -1: it is not there, or may not be looked at. Free with objects_clear; {0} is
 * empty. A file that is mapped twice (dlmopen) is two objects.
 */
int objects_read(pid_t tid, struct objects *objects, struct rot_error *err);
void objects_clear(struct objects *objects);

/*
 * True if name means the object: its path, the end of its path from a '/' on, or the name of a library as it is
 * linked with or asked for: "lib", and ".so" with a version or a part of it, may be there or not (openblas,
 * libopenblas.so and libopenblas.so.0 for libopenblas.so.0 and libopenblas-r0.3.21.so; liblzma.so.5 for
 * liblzma.so.5.4.1).
 */
bool object_is_called(const struct object *object, const char *name);

/* The same of a library's own name: "libopenblas.so.0" is called libopenblas.so.0, libopenblas.so, libopenblas,
 * openblas. */
bool library_is_called(const char *library, const char *name);

/* The object that is mapped around a run-time address, or NULL. */
const struct object *object_at(const struct objects *objects, uint64_t address);

/* The last part of its path. */
const char *object_name(const struct object *object);
