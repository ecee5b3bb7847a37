/* SPDX-License-Identifier: MIT */
/* What measuring would take. */
#include <math.h>
#include <string.h>

#include "measuring/measuring.h"
#include "quantities/job.h"

/*
 * Instructions that are expected, not those that are executed. Measured of ten kernels, as time of a CPU (Zen 5): from
 * 0.3 million a second (wht, which is all short loops) to 19 million (dgemv by a library); this is about the middle.
 */
#define STEPS_PER_S 4e6

/* At most, in an instruction of a loop or in all stops together (tools/bench-steps.sh): where limits are short they end
 * a run. */
#define LIMITED_STEP_S (2 * 24e-9)

static double
seconds_of_run(const struct measuring_job *job)
{
	const double seconds = job->nr_steps / STEPS_PER_S;

	return job_is_short(job) ? fmin(seconds, LIMITED_STEP_S * (double)job->architecture->stepping.short_limit)
				 : seconds;
}

/* Of one pass. Runs that follow one that was cut are not made. */
static int
look_at_pass(const struct measuring_job *job, size_t i, int nr_runs, struct quantities_need *need, bool *was_cut,
	     struct rot_error *err)
{
	const int nr_wanted = pass_runs(&job->plan.passes[i], nr_runs);
	struct measuring_look look;
	int nr_missing;

	if (measuring_look(job->rot, job->passes[i], &look, err) < 0)
		return -1;
	nr_missing = look.nr_runs_cached < nr_wanted && !look.was_cut ? nr_wanted - look.nr_runs_cached : 0;
	need->nr_passes++;
	need->nr_runs += nr_wanted;
	need->nr_runs_missing += nr_missing;
	if (job->plan.passes[i].is_stepped)
		need->steps_s += nr_missing * seconds_of_run(job);
	if (!look.is_built)
		memcpy(need->core_key, look.core_key, sizeof(need->core_key));
	*was_cut |= look.was_cut;
	return 0;
}

/* *was_cut: what was stepped before was given up. */
static int
look(struct measuring_job *job, int nr_runs, struct quantities_need *need, bool *was_cut, struct rot_error *err)
{
	int rc = job_prepare(job, err);

	*need = (struct quantities_need){.nr_passes = 0};
	for (size_t i = 0; rc == 0 && i < job->plan.nr_passes; i++)
		rc = look_at_pass(job, i, nr_runs, need, was_cut, err);
	return rc;
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
	bool was_cut = false;
	int rc = look(&job, nr_runs, need, &was_cut, err);

	job.met = was_cut && !job.architecture->stepping.is_unasked ? STEPS_CUT_LIMIT : STEPS_CAN;
	if (rc == 0 && job_lengthen(&job))
		rc = look(&job, nr_runs, need, &was_cut, err);
	job_clear(&job);
	return rc;
}
