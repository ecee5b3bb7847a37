/* SPDX-License-Identifier: MIT */
/* The loader's list of libraries, /etc/ld.so.cache. */
#ifndef KERNELS_LOADER_CACHE_H
#define KERNELS_LOADER_CACHE_H

#include <stddef.h>

/* Zeroed: empty. */
struct loader_cache {
	char *bytes;
	size_t length;
};

/* A file that is not there or not of the format of glibc 2.2 and later is an empty cache. */
void loader_cache_open(struct loader_cache *cache, const char *path);
void loader_cache_close(struct loader_cache *cache);

/*
 * The path of the i-th library of that name for 64-bit x86, or NULL. There are several where there are builds for more
 * capable processors; which of them the loader takes depends on the processor.
 */
const char *loader_cache_find(const struct loader_cache *cache, const char *name, size_t i);

#endif
