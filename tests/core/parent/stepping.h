/* SPDX-License-Identifier: MIT */
/*
 * Functions that are executed in a process of their own with a region around them: translated as the measuring
 * core does it, or instruction by instruction of the processor's own, as plainly as can be, to compare with.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/step_counts.h"

#define STEPPING_RESULTS 64

/* Leaves what it came to in results. */
typedef void (*stepped_function)(uint64_t results[STEPPING_RESULTS]);

/*
 * region: with the counts; zeroed if it was not ended
 * results: of the function in the region
 * status: of the process; 0 if all is well, CODE_CHANGED if there is other code behind the region than before
 */
struct stepping {
	struct step_region region;
	uint64_t results[STEPPING_RESULTS];
	int status;
};

#define STEPPING_CODE_CHANGED 3
#define STEPPING_CPUS_CHANGED 4

/* How it is executed. */
enum stepping_way {
	STEPPING_NATIVELY,     /* without any region                              */
	STEPPING_BY_BLOCKS,    /* as the core counts                              */
	STEPPING_BY_PROCESSOR, /* by single steps of the processor's own */
	STEPPING_NR_WAYS
};

/*
 * In those ways of which results are not NULL, each in a process of its own. They begin with the same registers and the
 * same memory, and have executed the function once before, so that all it needs is there.
 */
void stepping_run(stepped_function function, struct stepping *results[STEPPING_NR_WAYS]);

/* Set: by blocks, the core has no descriptors left for files of the process. */
extern bool stepping_without_files;

/* By blocks alone. */
void stepping_by_blocks(stepped_function function, struct stepping *stepping);
