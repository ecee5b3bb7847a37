/* SPDX-License-Identifier: MIT */
/* From the samples of a job to its values, with the rules that sound ones keep. */
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "memory.h"
#include "quantities/compute.h"
#include "quantities/invariants.h"
#include "quantities/job.h"
#include "quantities/pass.h"
#include "rot.h"

/* Over all passes of each sample that are run as often. */
static void
add_nearness(const struct measuring_job *job, struct quantity_value *value)
{
	value->nearness = rot_calloc(value->nr_samples, sizeof(*value->nearness));
	for (size_t i = 0; i < value->nr_samples; i++)
		for (size_t k = 0; k < job->plan.nr_passes; k++)
			if (i < job->samples[k].nr_runs)
				nearness_add(&value->nearness[i], &job->samples[k].runs[i].nearness);
}

static bool
has_ping_pong(const struct measurement *measurement)
{
	const struct measurer_set *set = measurement->overall_measurer_set;

	if (!set)
		return false;
	for (size_t i = 0; i < measurer_set_nr_additional_measurers(set); i++)
		if (rot_is_a(measurer_set_additional_measurers_at(set, i), &ping_pong_measurer_class))
			return true;
	return set->main_measurer && rot_is_a(set->main_measurer, &ping_pong_measurer_class);
}

static int
compute_values(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const bool use_minimum = strcmp(configuration_string(job->rot->configuration, "estimator"), "min") == 0;

	for (size_t i = 0; i < job->nr_requests; i++) {
		if (quantity_compute(&values[i], &job->resolutions[i], job->architecture, &job->plan, job->samples,
				     use_minimum, err) < 0)
			return -1;
		if (job->plan.nr_passes && has_ping_pong(job->passes[0]))
			add_nearness(job, &values[i]);
	}
	return 0;
}

/* Leaves out all passes of these runs. */
static void
taint_runs(const struct measuring_job *job, const bool *broken, size_t nr_runs)
{
	for (size_t i = 0; i < job->plan.nr_passes; i++)
		for (size_t k = 0; k < nr_runs && k < job->samples[i].nr_runs; k++)
			if (broken[k])
				job->samples[i].runs[k].taints |= TAINT_BROKEN_RULE;
}

/* Computes again without the runs that break a rule. */
static int
leave_out_broken(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const size_t nr_runs = job->plan.nr_passes ? job->samples[0].nr_runs : 0;
	bool *broken = rot_calloc(nr_runs + 1, sizeof(*broken));
	int rc = 0;

	if (invariants_check_runs(values, job->nr_requests, broken, nr_runs) > 0) {
		taint_runs(job, broken, nr_runs);
		for (size_t i = 0; i < job->nr_requests; i++)
			quantity_value_clear(&values[i]);
		rc = compute_values(job, values, err);
		invariants_check_runs(values, rc == 0 ? job->nr_requests : 0, NULL, nr_runs);
	}
	free(broken);
	return rc;
}

/* Threads of kernels' own may wait in loops: their instructions are not the same in each run. */
int
job_compute(struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const bool are_threads = measurement_has_own_threads(job->measurement);
	const size_t nr_off = are_threads ? 0 : invariants_taint_passes(job->architecture, &job->plan, job->samples);

	if (compute_values(job, values, err) < 0 || leave_out_broken(job, values, err) < 0)
		return -1;
	invariants_note_passes(values, job->nr_requests, nr_off);
	invariants_check_steps(values, job->nr_requests, job->architecture, &job->plan, job->samples, are_threads);
	invariants_check_bytes(values, job->nr_requests);
	return invariants_check_passes(values, job->nr_requests, job->architecture, &job->plan, job->samples, err);
}
