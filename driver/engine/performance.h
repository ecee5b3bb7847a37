/* SPDX-License-Identifier: MIT */
/*
 * The runs of all passes of one point: those that are cached, and the missing ones, measured and stored. The same for
 * kernels and for programs, which differ in who measures them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/sha256.h"
#include "entities.h"
#include "error.h"

struct rot;
struct performance;

struct performance_pass {
	void *description;                 /* entity, borrowed                     */
	char *hash;                        /* of the description and the machine   */
	struct measurement_result *result; /* what there is so far, or NULL        */
};

enum performance_outcome { PERFORMANCE_FAILED = -1, PERFORMANCE_DONE, PERFORMANCE_NEEDS_LOCK };

/* The way to measure one kind of description. */
struct performance_kind {
	/* The runs in a result; NULL: it is one of another kind. */
	struct rot_list *(*runs)(const struct measurement_result *result);

	/*
	 * Makes ready what measures, and fills performance->core_hash. What takes long, or writes to the cache, only
	 * with may_build; else PERFORMANCE_NEEDS_LOCK.
	 */
	enum performance_outcome (*prepare)(struct performance *performance, bool may_build, struct rot_error *err);

	/*
	 * Can results that have all runs be taken where a tool is missing, so that nothing can be made ready to
	 * measure? May be NULL: no.
	 */
	bool (*vouches)(const struct performance *performance);

	/*
	 * Is it a result of what the system was like, and not of what is measured? Then it counts in the process that
	 * measured it, and is measured again by others. May be NULL: none is.
	 */
	bool (*is_passing)(const struct measurement_result *result);

	/* Writes into a result without runs what measures it. May be NULL. */
	void (*sign)(const struct performance *performance, struct measurement_result *result);

	/* Adds nr_runs runs to the result of each of these passes. */
	int (*measure)(struct performance *performance, struct performance_pass *const *passes, size_t nr, int nr_runs,
		       struct rot_error *err);
};

struct performance {
	struct rot *rot;
	const struct performance_kind *kind;
	void *context; /* of the kind                  */
	size_t nr;
	int nr_runs;
	struct performance_pass *passes; /* while it runs      */
	char core_hash[SHA256_HEX_SIZE]; /* after prepare      */
};

/*
 * Gets exactly nr_runs runs of each of the nr descriptions, whose ids are set; on success the results belong to the
 * caller. As measuring_perform.
 */
int performance_run(struct performance *performance, void *const *descriptions, struct measurement_result **results,
		    struct rot_error *err);
