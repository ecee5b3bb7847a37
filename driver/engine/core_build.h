/* SPDX-License-Identifier: MIT */
/*
 * Building measuring cores: one folder per distinct core below CACHE/cores, made by core/core.mk. A new folder starts
 * from one with the same kernels and tools, so that other flags or macros compile the kernels only.
 */
#pragma once

#include "engine/core_description.h"
#include "engine/core_folder.h"

struct rot;

/* A core that is ready to run. Owned by the builder. */
struct core {
	char key[SHA256_HEX_SIZE];
	char *child; /* path of the binary */
	struct core_state state;
};

struct core_builder;

struct core_builder *core_builder_new(struct rot *rot);
void core_builder_delete(struct core_builder *builder);

/*
 * The core this measurement needs, if it is built already: met before in this process (nothing is read then), or
 * complete on disk with nothing changed since. *core is NULL when it must be built; it stays until the next call. key
 * (may be NULL) tells cores apart. Errors are those of core_describe.
 */
int core_builder_find(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		      char key[SHA256_HEX_SIZE], struct rot_error *err);

/*
 * Builds it. The caller keeps other processes out of the cache. Errors: what the compiler said, make or ccache missing
 * (with what installs it), folder not writable.
 */
int core_builder_build(struct core_builder *builder, struct measurement *measurement, const struct core **core,
		       struct rot_error *err);

/* nr_done of nr cores are ready, or cannot be built. */
typedef void core_builder_progress(size_t nr_done, size_t nr);

/*
 * Builds what is missing of the cores of many measurements, as many at a time as there are CPUs. The caller keeps other
 * processes out of the cache. progress may be NULL; it is not called when all are there. Gives the number of cores that
 * cannot be built, with what was wrong with the first one; -1: interrupted, or ccache is wanted and missing.
 */
int core_builder_build_all(struct core_builder *builder, struct measurement *const *measurements, size_t nr,
			   core_builder_progress *progress, struct rot_error *err);
