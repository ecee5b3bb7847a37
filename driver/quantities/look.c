/* SPDX-License-Identifier: MIT */
/* What measuring would take. */
#include <string.h>

#include "measuring/measuring.h"
#include "quantities/job.h"

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
	struct measuring_job job = {.rot = rot,
				    .architecture = job_architecture(rot, true),
				    .measurement = measurement,
				    .requests = requests,
				    .nr_requests = nr_requests};
	int rc = job_prepare(&job, err);

	*need = (struct quantities_need){.nr_passes = 0};
	for (size_t i = 0; rc == 0 && i < job.plan.nr_passes; i++)
		rc = look_at_pass(&job, i, nr_runs, need, err);
	job_clear(&job);
	return rc;
}
