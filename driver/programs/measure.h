/* SPDX-License-Identifier: MIT */
/* Quantities of a program, as quantities/quantity.h gives those of kernels: planned, measured or cached, computed. */
#pragma once

#include <jansson.h>

#include "entities.h"
#include "error.h"
#include "programs/values.h"
#include "quantities/quantity.h"

struct rot;

/* Zeroed: nothing was measured. */
struct program_quantities {
	struct program_values total;
	struct program_values *regions; /* of each region of the workload */
	size_t nr_regions;
	json_t *origin; /* engine/origin.h        */
	char **notes;   /* what the numbers leave out */
	size_t nr_notes;
	json_t *rule_outputs; /* of each run what rules have measured; NULL: none */
	json_t *passes;       /* of each pass when its runs were measured (quantities/pass.h) */
	double nr_cpus;       /* CPU time per wall time, of all runs, or of threads in a region at once */
	const char *runs_end; /* why there are no more runs, as of quantity_value */
};

/*
 * Measures the requests in at most max_passes passes (0: as many as they need; else more is an error), as often as the
 * effort says: disturbed runs are repeated, or there are as many as the precision needs, as of quantities_measure_with;
 * each run is a start of the program. The workload is completed by what rot finds out of it. Errors: as
 * quantities_measure and program_measuring_perform; a region that was not found. Clear also after an error.
 */
int
program_quantities_measure(struct rot *rot, struct program_workload *workload, const struct quantity_request *requests,
			   size_t nr_requests, const struct quantity_effort *effort, size_t max_passes,
			   struct program_quantities *quantities, struct rot_error *err);
void program_quantities_clear(struct program_quantities *quantities);
