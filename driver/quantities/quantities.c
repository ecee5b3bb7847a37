/* SPDX-License-Identifier: MIT */
/* Requests in, values out: as many runs as the effort wants, and what is told beside the values. */
#include <string.h>

#include "engine/measuring.h"
#include "engine/origin.h"
#include "quantities/effort.h"
#include "quantities/job.h"
#include "quantities/own_cost.h"
#include "quantities/pass.h"
#include "quantities/quantity.h"
#include "rot.h"

/* ---- beside the values ---- */

/* Where an action is what is measured, its set is that of the pass, and not one of a rule. */
static struct quantities_told
told_of(const struct measuring_job *job)
{
	const bool has_rules = !measured_action(job->measurement);
	struct quantities_told told = {.origin = origin_new(), .rules = json_array(), .passes = json_array()};

	for (size_t i = 0; i < job->plan.nr_passes; i++) {
		const struct measurement_result *result = job->results[i];
		json_t *pass = pass_runs_new(result->description_hash);

		origin_add(told.origin, result);
		if (has_rules)
			rule_outputs_add(told.rules, job->passes[i], measurement_nr_rules(job->measurement), result, i);
		for (size_t k = 0; k < job->samples[i].nr_runs; k++) {
			const struct measurement_run_output *run = measurement_result_outputs_at(result, k);

			pass_runs_add(pass, run->start_time, run->start_microseconds, job->samples[i].runs[k].start);
		}
		json_array_append_new(told.passes, pass);
	}
	if (json_array_size(told.rules) == 0) {
		json_decref(told.rules);
		told.rules = NULL;
	}
	return told;
}

/* ---- more runs ---- */

/*
 * Adds runs as long as the effort wants some. Their time is that of the results, so that cached ones lead to the same
 * decisions.
 */
static int
add_runs(struct measuring_job *job, struct effort_course *course, struct quantity_value *values, struct rot_error *err)
{
	for (int nr_runs = course->target; job->plan.nr_passes;) {
		struct measurement_result **before = job->results;
		double spent_ns = 0;

		for (size_t i = 0; i < job->plan.nr_passes; i++)
			for (size_t k = 0; k < job->samples[i].nr_runs; k++)
				spent_ns += job->samples[i].runs[k].wall_ns;
		nr_runs = effort_next(course, values, job->nr_requests, nr_runs, spent_ns * 1e-9);
		if (nr_runs == 0)
			break;
		if (job_measure(job, nr_runs, course->effort->nr_starts, err) < 0) {
			if (job->results == before && (rot_interrupted() || job->rot->is_cached_only))
				return 0;
			return -1;
		}
		quantity_values_clear(values, job->nr_requests);
		if (job_compute(job, values, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- an empty region ---- */

/*
 * The same passes of an empty region. Its costs stay unknown if it is interrupted, or impossible with
 * rot->is_cached_only: what was measured of the point is worth keeping.
 */
static int
add_own_cost(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	struct measurement *nothing = job->plan.nr_passes ? own_cost_measurement(job->rot, job->measurement) : NULL;
	struct measuring_job empty = {.rot = job->rot,
				      .architecture = job->architecture,
				      .measurement = nothing,
				      .plan = job->plan}; /* the plan is borrowed */
	int rc = 0;

	if (!nothing)
		return 0;
	job_describe(&empty, nothing);
	if (job_measure(&empty, OWN_COST_RUNS, 1, err) < 0)
		rc = rot_interrupted() || job->rot->is_cached_only ? 0 : rot_error_prefix(err, "an empty region");
	for (size_t i = 0; rc == 0 && empty.results && i < job->nr_requests; i++)
		rc = own_cost_compute(&values[i], &job->resolutions[i], job->architecture, &job->plan, job->samples,
				      empty.samples, err);
	job_clear_passes(&empty);
	rot_graph_delete(nothing);
	return rc;
}

/* ---- all ---- */

/* By one architecture; values and told need not be cleared after an error. */
static int
measure_by(struct rot *rot, struct architecture *architecture, const struct measurement *measurement,
	   const struct quantity_request *requests, size_t nr_requests, const struct quantity_effort *effort,
	   struct quantity_value *values, struct quantities_told *told, struct rot_error *err)
{
	struct measuring_job job = {.rot = rot,
				    .architecture = architecture,
				    .measurement = measurement,
				    .requests = requests,
				    .nr_requests = nr_requests,
				    .keeps_disturbed = effort->keeps_disturbed};
	struct effort_course course;
	int rc;

	effort_begin(&course, effort);
	rc = job_begin(&job, course.target, effort->nr_starts, err);
	if (rc == 0 && !effort->only_measures) {
		rc = job_compute(&job, values, err);
		if (rc == 0 && effort->budget_s > 0)
			rc = add_runs(&job, &course, values, err);
		if (rc == 0 && effort->wants_own_cost)
			rc = add_own_cost(&job, values, err);
		for (size_t i = 0; rc == 0 && i < nr_requests; i++)
			values[i].runs_end = course.end;
		if (rc == 0 && told)
			*told = told_of(&job);
	}
	if (rc < 0)
		quantity_values_clear(values, nr_requests);
	job_clear(&job);
	return rc;
}

/* The requests that one way of counting answers. */
struct share {
	struct architecture *architecture;
	struct quantity_request *requests;
	size_t *places; /* of each, where it was asked for */
	size_t nr;
};

/* The job of events, or of what counts instead, and that of what these leave to blocks, which may have no request.
 * may_step: points of experiments, and not what is not to be stepped without being asked for. */
static void
share_out(struct pool *pool, struct share shares[2], struct rot *rot, const struct measurement *measurement,
	  const struct quantity_request *requests, size_t nr, bool may_step)
{
	struct architecture *beside = may_step ? rot->architecture->beside : NULL;
	struct architecture *by_steps = may_step ? rot->architecture->by_steps : NULL;

	shares[0] = (struct share){.architecture = by_steps ? by_steps : rot->architecture};
	shares[1] = (struct share){.architecture = beside};
	for (size_t i = 0; i < nr; i++) {
		struct share *share = &shares[beside && job_leaves(rot, beside, measurement, &requests[i])];

		share->places = pool_grow(pool, share->places, share->nr, sizeof(*share->places));
		share->places[share->nr] = i;
		pool_add(pool, share->requests, share->nr) = requests[i];
	}
}

/* Takes more over. */
static void
told_merge(struct quantities_told *told, struct quantities_told *more)
{
	if (!told->origin) {
		*told = *more;
		return;
	}
	origin_merge(told->origin, more->origin);
	if (more->rules && told->rules)
		json_array_extend(told->rules, more->rules);
	else if (more->rules)
		told->rules = json_incref(more->rules);
	json_array_extend(told->passes, more->passes);
	quantities_told_clear(more);
}

int
quantities_measure_with(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
			size_t nr_requests, const struct quantity_effort *effort, struct quantity_value *values,
			struct quantities_told *told, struct rot_error *err)
{
	autopool pool = {0};
	struct quantity_value *found = pool_calloc(&pool, nr_requests, sizeof(*found));
	struct rot_error unseen = {0};
	struct share shares[2];
	int rc = 0;

	err = err ? err : &unseen;
	for (size_t i = 0; i < nr_requests; i++)
		values[i] = (struct quantity_value){.nr_samples = 0};
	if (told)
		*told = (struct quantities_told){.origin = NULL};
	share_out(&pool, shares, rot, measurement, requests, nr_requests, effort->may_step);
	for (int i = 0; i < 2 && rc == 0; i++) {
		const struct share *share = &shares[i];
		struct quantities_told own = {.origin = NULL};

		if (share->nr == 0 && (i == 1 || shares[1].nr > 0))
			continue;
		rc = measure_by(rot, share->architecture, measurement, share->requests, share->nr, effort, found,
				told ? &own : NULL, err);
		for (size_t k = 0; rc == 0 && k < share->nr; k++)
			values[share->places[k]] = found[k];
		if (own.origin)
			told_merge(told, &own);
	}
	if (rc < 0) {
		quantity_values_clear(values, nr_requests);
		if (told)
			quantities_told_clear(told);
	}
	return rc;
}

int
quantities_measure(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		   size_t nr_requests, int nr_runs, struct quantity_value *values, json_t *origin,
		   struct rot_error *err)
{
	const struct quantity_effort effort = {.nr_runs = nr_runs};
	struct quantities_told told;
	int rc = quantities_measure_with(rot, measurement, requests, nr_requests, &effort, values,
					 origin ? &told : NULL, err);

	if (rc < 0 || !origin)
		return rc;
	origin_merge(origin, told.origin);
	quantities_told_clear(&told);
	return 0;
}

/* ---- what measuring would take ---- */

/*
 * Instructions that are expected, not those that are executed, of which there are some more: of kernels with caches
 * that are modelled.
 */
#define STEPS_PER_S 60e6

/* Adds what one pass needs. */
static int
look_at_pass(const struct measuring_job *job, size_t i, int nr_runs, struct quantities_need *need,
	     struct rot_error *err)
{
	const int nr_wanted = pass_runs(&job->plan.passes[i], nr_runs);
	struct measuring_look look;
	int nr_missing;

	if (measuring_look(job->rot, job->passes[i], &look, err) < 0)
		return -1;
	nr_missing = look.nr_runs_cached < nr_wanted && !look.is_enough ? nr_wanted - look.nr_runs_cached : 0;
	need->nr_passes++;
	need->nr_runs += nr_wanted;
	need->nr_runs_missing += nr_missing;
	if (job->plan.passes[i].is_stepped)
		need->steps_s += nr_missing * job->nr_steps / STEPS_PER_S;
	if (!look.is_built)
		memcpy(need->core_key, look.core_key, sizeof(need->core_key));
	return 0;
}

int
quantities_look(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		size_t nr_requests, int nr_runs, struct quantities_need *need, struct rot_error *err)
{
	autopool pool = {0};
	struct share shares[2];
	int rc = 0;

	*need = (struct quantities_need){.nr_passes = 0};
	share_out(&pool, shares, rot, measurement, requests, nr_requests, true);
	for (int i = 0; i < 2 && rc == 0; i++) {
		struct measuring_job job = {.rot = rot,
					    .architecture = shares[i].architecture,
					    .measurement = measurement,
					    .requests = shares[i].requests,
					    .nr_requests = shares[i].nr};

		if (shares[i].nr == 0)
			continue;
		rc = job_prepare(&job, err);
		for (size_t k = 0; rc == 0 && k < job.plan.nr_passes; k++)
			rc = look_at_pass(&job, k, nr_runs, need, err);
		job_clear(&job);
	}
	return rc;
}
