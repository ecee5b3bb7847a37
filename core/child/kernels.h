/* SPDX-License-Identifier: MIT */
/* The kernels this core was built with, and how the core calls them. */
#pragma once

#include <stdint.h>

#include "entities.h"
#include "kernel.h"

/* Written by the build of a measuring core: all its kernels and their classes, both ending in NULL. */
extern const struct kernel_type *const rot_kernels[];
extern const struct rot_class *const kernel_entities[];

/* The type of a kernel's class, or NULL: this core was built without it. */
const struct kernel_type *kernel_type_of(const struct kernel_base *kernel);

/* The reason given with kernel_fail on this thread since the last kernel_reason_clear; "" if none was. */
const char *kernel_reason(void);
void kernel_reason_clear(void);

/* kernel_folder then gives the folder of that file. */
void kernel_folder_set(const char *file);

/* kernel_kept_folder then gives that path; "": NULL. */
void kernel_kept_folder_set(const char *path);

/* kernel_allocate may then give so much in all at a time, as the driver knows it; 0: not known. */
void kernel_memory_limit_set(size_t bytes);

/* The address of the struct buffer_table (common/buffers.h) in which kernel_allocate keeps what it gave. */
int64_t kernel_buffer_table(void);

/* kernel_allocate, called there; 0: a buffer of rot itself, which is not in the table. */
void *kernel_allocate_for(uint64_t caller, size_t nr, size_t size);

/* Adds what kernels have told with kernel_tell since the process began, and where their libraries are. */
void kernel_facts(struct measurement_run_output *output);

/* Buffers of an initialized kernel; their number. */
size_t kernel_buffers(const struct kernel_type *type, void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS]);
