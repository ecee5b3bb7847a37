/* SPDX-License-Identifier: MIT */
/*
 * Building measuring cores: one folder per distinct core below CACHE/cores, made by core/core.mk. A new folder starts
 * from one with the same kernels and tools, so that other flags or macros compile the kernels only.
 */
#ifndef MEASURING_CORE_BUILD_H
#define MEASURING_CORE_BUILD_H

#include "measuring/core_description.h"
#include "measuring/core_state.h"

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
 * The core this measurement needs, if it is built already: met before in this process (no file is touched then), or
 * complete on disk with nothing changed since. *core is NULL when it must be built. Errors are those of core_describe.
 */
int core_builder_find(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		      struct rot_error *err);

/*
 * Builds it. The caller keeps other processes out of the cache. Errors: what the compiler said, make or ccache missing
 * (with what installs it), folder not writable.
 */
int core_builder_build(struct core_builder *builder, const struct measurement *measurement, const struct core **core,
		       struct rot_error *err);

#endif
