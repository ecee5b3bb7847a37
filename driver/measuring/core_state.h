/* SPDX-License-Identifier: MIT */
/*
 * What a build folder holds once its core is complete: file "state" with the core's hash, how it was compiled, and size
 * and time of the child and of every file it was made from, so that "nothing changed" is known without make.
 */
#ifndef MEASURING_CORE_STATE_H
#define MEASURING_CORE_STATE_H

#include <stddef.h>

#include "error.h"
#include "measuring/sha256.h"
#include "support/pool.h"

struct core_state {
	struct pool pool;           /* of the texts                                        */
	char hash[SHA256_HEX_SIZE]; /* of the child binary                                 */
	char *compiler;             /* first line of its --version                         */
	char **compile_lines;       /* final compile line of each source, NULL-terminated  */
};

enum core_freshness {
	CORE_ABSENT,  /* no complete core                                               */
	CORE_CHANGED, /* the child or a file it was made from is not what it was        */
	CORE_FRESH,
};

/* Reads and checks. The state is filled when CORE_FRESH. */
enum core_freshness core_state_read(const char *folder, struct core_state *state);

/* After make: hashes the child, collects compile lines and dependencies, and writes the file. Takes compiler (not
 * kept). */
int core_state_write(const char *folder, const char *compiler, struct core_state *state, struct rot_error *err);

void core_state_clear(struct core_state *state);

#endif
