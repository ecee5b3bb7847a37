/* SPDX-License-Identifier: MIT */
/*
 * One way to obtain what is asked of a point: each request is resolved into parts, the events of these are packed into
 * passes, the passes are measured, and their runs are samples. For quantities.c only.
 */
#pragma once

#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "quantities/resolve.h"
#include "quantities/samples.h"

struct measuring_job {
	/* The request, and who counts; borrowed. */
	struct rot *rot;
	struct architecture *architecture;
	const struct measurement *measurement;
	const struct quantity_request *requests;
	size_t nr_requests;
	bool keeps_disturbed;

	/* Findings of steps so far. */
	enum step_obstacle met; /* by the core, when it stepped this work; STEPS_CAN: none            */
	bool is_stepping;       /* the passes that were measured last, or failed, are stepped          */

	/* Made in this order, each of what is above it. */
	double nr_steps; /* instructions that a run is expected to execute, where they are stepped; 0: nobody knows */
	struct quantity_resolution *resolutions; /* one a request                                                   */
	struct pass_plan plan;
	struct measurement **passes;         /* one per pass of the plan, and so the results and samples */
	struct measurement_result **results; /* NULL: nothing was measured                               */
	struct pass_samples *samples;
};

/*
 * Is it a count (not a time or rate) that events do not give for this work, but translated code does? beside: counts it
 * then.
 */
bool job_leaves(struct rot *rot, struct architecture *beside, const struct measurement *measurement,
		const struct quantity_request *request);

/* Everything but measuring: resolutions, plan and passes. */
int job_prepare(struct measuring_job *job, struct rot_error *err);

/* The passes of the plan, of any measurement. */
void job_describe(struct measuring_job *job, const struct measurement *measurement);

/* Results and samples of the passes. Those there are stay if this fails before there are others. */
int job_measure(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err);

/* Prepares and measures it, without steps where they are refused. */
int job_begin(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err);

void job_clear(struct measuring_job *job);
/* Clears a job whose plan is that of another one. */
void job_clear_passes(struct measuring_job *job);

/* One value a request, of all runs there are; checked by the rules of invariants.h. */
int job_compute(struct measuring_job *job, struct quantity_value *values, struct rot_error *err);
