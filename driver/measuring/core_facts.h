/* SPDX-License-Identifier: MIT */
/* What cores are built from: the C files of kernels and the tools that compile them. Read once per process. */
#ifndef MEASURING_CORE_FACTS_H
#define MEASURING_CORE_FACTS_H

#include <stddef.h>

#include "definition.h"
#include "error.h"
#include "measuring/sha256.h"

struct rot;

/* The files of one kernel. */
struct kernel_sources {
	const struct definition *definition;
	char **paths; /* CLASS.c first, then the other C files in and below its folder, sorted; absolute */
	size_t nr;
	char hash[SHA256_HEX_SIZE]; /* of all files of the folder but XML */
};

/* What was read of kernels and tools so far. */
struct core_facts {
	struct kernel_sources **sources;
	size_t nr;
	char *compiler;              /* configuration key of tools, or NULL: not read yet */
	char tools[SHA256_HEX_SIZE]; /* compiler (path, size, time), fixed part of the core, makefile */
};

void core_facts_clear(struct core_facts *facts);

/* The kernel's files, read at the first call. Owned by the facts. NULL: it has no C file, or one cannot be read. */
const struct kernel_sources *
core_facts_sources(struct core_facts *facts, const struct definition *definition, struct rot_error *err);

/* Fills tools for the configured compiler, if it is not known yet. Errors: no compiler (with what installs it), rot
 * incomplete. */
int core_facts_read_tools(struct core_facts *facts, const struct rot *rot, struct rot_error *err);

#endif
