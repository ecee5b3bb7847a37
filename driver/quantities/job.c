/* SPDX-License-Identifier: MIT */
/* See job.h. */
#include "quantities/job.h"

#include <stdlib.h>

#include "configuration/configuration.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "quantities/counting_warnings.h"
#include "quantities/expected.h"
#include "quantities/pass.h"
#include "quantities/vocabulary.h"
#include "rot.h"

struct architecture *
job_architecture(const struct rot *rot, bool may_step)
{
	struct architecture *by_steps = rot->architecture->by_steps;

	return may_step && by_steps ? by_steps : rot->architecture;
}

/* ---- clearing ---- */

static void
clear_results(struct measuring_job *job)
{
	for (size_t i = 0; i < job->plan.nr_passes; i++) {
		if (job->results)
			rot_graph_delete(job->results[i]);
		if (job->samples)
			pass_samples_clear(&job->samples[i]);
	}
	free(job->results);
	free(job->samples);
	job->results = NULL;
	job->samples = NULL;
}

void
job_clear_passes(struct measuring_job *job)
{
	clear_results(job);
	for (size_t i = 0; job->passes && i < job->plan.nr_passes; i++)
		rot_graph_delete(job->passes[i]);
	free(job->passes);
	job->passes = NULL;
}

void
job_clear(struct measuring_job *job)
{
	job_clear_passes(job);
	pass_plan_clear(&job->plan);
	free(job->resolutions);
	job->resolutions = NULL;
}

/* ---- resolutions ---- */

static int
resolve_request(struct measuring_job *job, struct quantity_request request, enum step_obstacle obstacle,
		struct quantity_resolution *resolution, struct rot_error *err)
{
	const char *clock = configuration_string(job->rot->configuration, "clock");
	struct quantity_expectation expectation;

	if (quantity_request_check(&request, err) < 0 ||
	    expectation_of(job->rot, job->measurement, &request, &expectation, err) < 0)
		return -1;
	expectation.obstacle = obstacle;
	if (quantity_resolve(resolution, job->architecture, &request, clock, &expectation, err) < 0)
		return -1;
	resolution->kept_taints = job->keeps_disturbed ? TAINTS_OF_SYSTEM : 0;
	return 0;
}

static int
resolve(struct measuring_job *job, struct rot_error *err)
{
	enum step_obstacle obstacle;

	if (step_obstacle_of_work(job->rot, job->architecture, job->measurement, &obstacle, &job->nr_steps, err) < 0)
		return -1;
	if (obstacle == STEPS_CAN)
		obstacle = job->met;
	job->resolutions = rot_calloc(job->nr_requests, sizeof(*job->resolutions));
	for (size_t i = 0; i < job->nr_requests; i++) {
		struct quantity_resolution *resolution = &job->resolutions[i];

		if (resolve_request(job, job->requests[i], obstacle, resolution, err) < 0)
			return -1;
		counting_warn_of_obstacle(job->architecture, job->measurement, resolution->numerator.obstacle,
					  job->nr_steps);
		counting_warn_of_obstacle(job->architecture, job->measurement, resolution->denominator.obstacle,
					  job->nr_steps);
	}
	counting_warn_of_expectations(job->architecture, job->resolutions, job->nr_requests);
	return 0;
}

/* ---- plan ---- */

/* What the parts ask of the planner. any: whatever pass there is. */
struct needs {
	const struct architecture_formula **formulas;
	size_t nr_formulas;
	bool clock, probe, any;
};

static void
collect_part(const struct quantity_part *part, struct needs *needs)
{
	if (part->source == PART_COUNTED)
		needs->formulas[needs->nr_formulas++] = part->formula;
	needs->probe |= part->source == PART_PROBED;
	needs->clock |= part->source == PART_TSC || part->source == PART_WALL || part->source == PART_PROBED;
	needs->any |= part->source == PART_SWITCHES || part->source == PART_MOVES;
}

/* Of passes that are stepped nothing but the counts is known. */
static int
plan(struct measuring_job *job, struct rot_error *err)
{
	struct needs needs = {.formulas = rot_calloc(2 * job->nr_requests, sizeof(*needs.formulas))};
	const bool are_stepped = job->architecture->counts_by_steps;
	int rc;

	for (size_t i = 0; i < job->nr_requests; i++) {
		const struct quantity_resolution *resolution = &job->resolutions[i];

		collect_part(&resolution->numerator, &needs);
		if (resolution->has_denominator)
			collect_part(&resolution->denominator, &needs);
	}
	rc = pass_plan_make(&job->plan, job->architecture, needs.formulas, needs.nr_formulas,
			    needs.clock || (needs.any && (needs.nr_formulas == 0 || are_stepped)), err);
	if (rc == 0 && needs.probe)
		pass_plan_probe_clock(&job->plan);
	free(needs.formulas);
	return rc;
}

void
job_describe(struct measuring_job *job, const struct measurement *measurement)
{
	job->passes = rot_calloc(job->plan.nr_passes, sizeof(*job->passes));
	for (size_t i = 0; i < job->plan.nr_passes; i++)
		job->passes[i] = pass_measurement(measurement, job->architecture, &job->plan.passes[i]);
}

int
job_prepare(struct measuring_job *job, struct rot_error *err)
{
	if (resolve(job, err) < 0 || plan(job, err) < 0)
		return -1;
	job_describe(job, job->measurement);
	return 0;
}

/* ---- results and samples ---- */

/*
 * The passes that are stepped, or the others; results of the others stay as they are. Apart, since they are run less
 * often, and what takes so long would be between the runs of others.
 */
static int
measure_passes(struct measuring_job *job, bool are_stepped, int nr_runs, int nr_starts,
	       struct measurement_result **results, struct rot_error *err)
{
	const size_t nr_passes = job->plan.nr_passes;
	struct measurement **passes = rot_calloc(nr_passes + 1, sizeof(*passes));
	struct measurement_result **measured = rot_calloc(nr_passes + 1, sizeof(*measured));
	size_t nr = 0;
	int rc = 0;

	for (size_t i = 0; i < nr_passes; i++) {
		if (job->plan.passes[i].is_stepped != are_stepped)
			continue;
		nr_runs = pass_runs(&job->plan.passes[i], nr_runs);
		passes[nr++] = job->passes[i];
	}
	job->is_stepping = are_stepped;
	if (nr && are_stepped)
		rc = job_measure_stepped(job, passes, nr, nr_runs, nr_starts, measured, err);
	else if (nr)
		rc = measuring_perform_spread(job->rot, passes, nr, nr_runs, nr_starts, measured, err);
	nr = 0;
	for (size_t i = 0; rc == 0 && i < nr_passes; i++)
		if (job->plan.passes[i].is_stepped == are_stepped)
			results[i] = measured[nr++];
	free(passes);
	free(measured);
	return rc;
}

int
job_measure(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	const size_t nr = job->plan.nr_passes;
	struct measurement_result **results = rot_calloc(nr, sizeof(*results));

	if (measure_passes(job, false, nr_runs, nr_starts, results, err) < 0 ||
	    measure_passes(job, true, nr_runs, nr_starts, results, err) < 0) {
		for (size_t i = 0; i < nr; i++)
			rot_graph_delete(results[i]);
		free(results);
		return -1;
	}
	clear_results(job);
	job->results = results;
	job->samples = rot_calloc(nr, sizeof(*job->samples));
	for (size_t i = 0; i < nr; i++) {
		if (pass_samples_read(&job->samples[i], job->architecture, &job->plan.passes[i], job->passes[i],
				      job->results[i], err) < 0)
			return -1;
	}
	return 0;
}
