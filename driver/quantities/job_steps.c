/* SPDX-License-Identifier: MIT */
/* What becomes of a job whose work is stepped, and without steps where that fails. */
#include "measuring/measuring.h"
#include "quantities/counting_warnings.h"
#include "quantities/job.h"
#include "rot.h"

/* ---- what was cut ---- */

static int
check_cuts(struct measuring_job *job, struct measurement_result *const *results, size_t nr, struct rot_error *err)
{
	const struct step_measurer_output *cut = NULL;

	for (size_t i = 0; i < nr && !cut; i++)
		cut = measuring_find_cut(results[i]);
	if (!cut)
		return 0;
	job->met = step_obstacle_of_cut(cut->cut);
	rot_error_set(err, 0, "a region that was to be counted by blocks %s", cut->cut_text);
	return rot_error_hint(err, "%s; or do without (-counting=expected)", step_obstacle_hint(job->met));
}

static void
delete_results(struct measurement_result **results, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		rot_graph_delete(results[i]);
		results[i] = NULL;
	}
}

static bool
have_long_counts(struct measurement_result *const *results, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!measuring_has_long_counts(results[i]))
			return false;
	return true;
}

/* One run first: if that is cut after minutes, so are others; and of what is long one is enough. What was cut is known
 * in the cache, unless the reason may be gone. */
int
job_measure_stepped(struct measuring_job *job, struct measurement *const *passes, size_t nr, int nr_runs, int nr_starts,
		    struct measurement_result **results, struct rot_error *err)
{
	for (int now = 1;; now = nr_runs) {
		if (measuring_perform_spread(job->rot, passes, nr, now, nr_starts, results, err) < 0)
			return -1;
		if (check_cuts(job, results, nr, err) < 0) {
			delete_results(results, nr);
			return -1;
		}
		if (now == nr_runs || have_long_counts(results, nr))
			return 0;
		delete_results(results, nr);
	}
}

/* ---- by other ways ---- */

/*
 * Measuring failed because the core does not step this work, or anything. That it takes too long is an error where
 * somebody asked for steps.
 */
static bool
is_refused(struct measuring_job *job)
{
	if (!job->is_stepping || rot_interrupted())
		return false;
	if (job->met == STEPS_CAN && measuring_was_refused()) {
		job->architecture->cannot_step = true;
		job->met = STEPS_REFUSED;
	}
	if (job->met == STEPS_CAN && job->architecture->stepping.is_unasked && measuring_was_late())
		job->met = STEPS_LATE;
	return job->met != STEPS_CAN;
}

static int
prepare_and_measure(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	job->is_stepping = false;
	return job_prepare(job, err) < 0 ? -1 : job_measure(job, nr_runs, nr_starts, err);
}

/*
 * What is expected where steps were refused, as *err says. If nothing is expected, that is the error. What the core
 * said is told of the first measurement that met the same.
 */
static int
do_without_steps(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	const bool was_said = counting_note_said(job->architecture, job->met);
	struct rot_error why = {0};

	job_clear(job);
	if (prepare_and_measure(job, nr_runs, nr_starts, &why) < 0)
		return -1;
	if (!was_said)
		counting_warn_of_refusal(job->architecture, job->measurement, err);
	*err = (struct rot_error){0};
	return 0;
}

int
job_begin(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	if (prepare_and_measure(job, nr_runs, nr_starts, err) == 0)
		return 0;
	return !is_refused(job) ? -1 : do_without_steps(job, nr_runs, nr_starts, err);
}
