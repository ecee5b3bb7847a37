/* SPDX-License-Identifier: MIT */
/* The caches of this processor: their sizes, and what can be done to lines. */
#pragma once

#include <stddef.h>

#include "error.h"

/*
 * Bytes of the cache with the highest level, from the folder of one CPU in sysfs ("/sys/devices/system/cpu/cpu0"). What
 * is not told there is assumed: 32 MiB.
 */
size_t cache_last_level_read(const char *cpu_folder);

/*
 * Gets ready to clear the caches: the size of the last level, and memory of four times the last level (at most a
 * quarter of what may be used). known_bytes: what the driver knows of the last level, which may be more than sysfs
 * tells; the larger one counts. memory_bytes: what the driver knows of memory that may be used; 0: that of the machine.
 * Repeating it does nothing. 0, or -1 if there is no memory.
 */
int caches_open(size_t known_bytes, size_t memory_bytes, struct rot_error *err);
void caches_close(void);

/*
 * Replaces what all levels hold, of the CPU this runs on: writes four times the last level, then flushes what was
 * written. Afterwards the caches are (nearly) empty, and no modified line waits to be written back during what comes
 * next.
 *
 * Written, not read: memory that was only read may be one shared page of zeros, and a last level that takes the victims
 * of the second (Zen) admits clean lines reluctantly. One thread at a time; others wait without sleeping. caches_open
 * must have succeeded.
 */
void caches_clear(void);

/* Flushes the lines of [start, start + bytes) from all levels and waits until it is done. */
void cache_flush(const void *start, size_t bytes);

/* Reads one byte of every line of [start, start + bytes), in order. */
void cache_read(const void *start, size_t bytes);

/* Calls visit with the instructions of each mapped object: the program, its libraries, the vdso. */
typedef void (*text_visitor)(const void *start, size_t bytes);
void text_visit(text_visitor visit);

/* Flushes the instructions of all mapped objects. The instruction caches lose these lines as well. */
void cache_flush_text(void);

/* The last level is known after caches_open; before that it is what cache_last_level_read assumes. */
size_t cache_last_level_bytes(void);
