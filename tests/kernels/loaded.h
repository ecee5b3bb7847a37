/* SPDX-License-Identifier: MIT */
/* A kernel compiled as a shared object and loaded into the test, which must be linked with --export-dynamic and
 * librot-child. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "kernel.h"

struct loaded {
	struct kernel_base *entity;
	const struct kernel_type *type;
	void *kernel; /* type->size bytes that start with the entity's fields */
	struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
	size_t nr_buffers;
	void *object;
};

/* Compiles with that compiler (load: the first one found), loads and initializes; a failure fails the test. */
struct loaded load_with(const char *class_name, const char *fields, const char *compiler);
struct loaded load(const char *class_name, const char *fields);

void run(struct loaded *loaded);

/* Disposes twice: after a failed initialize there may be nothing to free. */
void unload(struct loaded *loaded);

/* Has this CPU what a kernel with these fields needs? */
bool cpu_has(const char *fields);
