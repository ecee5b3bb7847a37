/* SPDX-License-Identifier: MIT */
#include "validation/known_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "measuring/measuring.h"
#include "measuring/order.h"
#include "memory.h"
#include "quantities/quantity.h"
#include "rot.h"
#include "support/clock.h"
#include "support/progress.h"

double
known_work_deviation(double measured, double expected, double reference)
{
	if (!(reference > 0))
		return NAN;
	return (measured - expected) / (expected > 0 ? expected : reference);
}

/* ---- measuring one point ---- */

/* Where most runs of a point were disturbed, it is measured so often in a round, but not again after that time. */
#define MOST_TRIES 4
#define TRYING_S 0.5

struct point_samples {
	struct pool pool; /* of all below */
	struct measurement **passes;
	struct measurement_result **results;
	struct pass_samples *samples;
	size_t nr;
};

static void
samples_clear(struct point_samples *samples)
{
	for (size_t i = 0; i < samples->nr; i++)
		pass_samples_clear(&samples->samples[i]);
	pool_clear(&samples->pool);
}

/* nr_runs more; the cache gives those before, since they were measured by this process. */
static int
point_measure(struct work_point *point, struct rot *rot, int nr_runs, struct point_samples *samples,
	      struct rot_error *err)
{
	const size_t nr = point->plan.nr_passes;
	struct pool *pool = &samples->pool;
	int rc;

	*samples = (struct point_samples){.nr = nr};
	samples->passes = pool_calloc(pool, nr, sizeof(*samples->passes));
	samples->results = pool_calloc(pool, nr, sizeof(*samples->results));
	samples->samples = pool_calloc(pool, nr, sizeof(*samples->samples));
	for (size_t i = 0; i < nr; i++)
		samples->passes[i] =
			pool_own(pool, pass_measurement(point->measurement, rot->architecture, &point->plan.passes[i]),
				 rot_graph_delete);
	rc = measuring_perform(rot, samples->passes, nr, point->nr_done + nr_runs, samples->results, err);
	for (size_t i = 0; i < nr; i++)
		pool_own(pool, samples->results[i], rot_graph_delete);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = pass_samples_read(&samples->samples[i], rot->architecture, &point->plan.passes[i],
				       samples->passes[i], samples->results[i], err);
	if (rc == 0)
		point->nr_done += nr_runs;
	else
		rot_error_prefix(err, "%s", point->kernel);
	return rc;
}

/* Runs in which no pass was disturbed. */
static size_t
nr_undisturbed(const struct point_samples *samples)
{
	size_t nr = 0;

	for (size_t i = 0; i < samples->samples[0].nr_runs; i++) {
		unsigned taints = 0;

		for (size_t k = 0; k < samples->nr; k++)
			taints |= samples->samples[k].runs[i].taints;
		nr += taints == 0;
	}
	return nr;
}

/* And once more, as long as less than half of the runs so far were undisturbed. */
static int
point_measure_enough(struct work_point *point, struct rot *rot, int nr_runs, struct point_samples *samples,
		     struct rot_error *err)
{
	const double end_s = clock_now_s() + TRYING_S;
	int rc = point_measure(point, rot, nr_runs, samples, err);

	for (int i = 1;
	     rc == 0 && i < MOST_TRIES && clock_now_s() < end_s && 2 * nr_undisturbed(samples) < (size_t)point->nr_done;
	     i++) {
		samples_clear(samples);
		rc = point_measure(point, rot, nr_runs, samples, err);
	}
	return rc;
}

/* ---- rows ---- */

/* All runs of a trial that can be believed. */
struct trial_values {
	double *values, *expected, *deviations;
	size_t nr, nr_overflowed;
};

static void
read_values(struct pool *pool, struct trial_values *of, const struct trial *trial, const struct rot *rot,
	    const struct work_point *point, const struct point_samples *samples, size_t nr_runs,
	    const struct moment *start)
{
	*of = (struct trial_values){
		.values = pool_calloc(pool, nr_runs, sizeof(double)),
		.expected = pool_calloc(pool, nr_runs, sizeof(double)),
		.deviations = pool_calloc(pool, nr_runs, sizeof(double)),
	};
	for (size_t i = 0; i < nr_runs; i++) {
		struct trial_reading reading =
			trial_read(trial, rot->architecture, &point->plan, samples->samples, i, start);

		of->nr_overflowed += (reading.taints & TAINT_OVERFLOW) != 0;
		if (reading.taints || isnan(reading.value))
			continue;
		of->values[of->nr] = reading.value;
		of->expected[of->nr] = reading.expected;
		of->deviations[of->nr++] = known_work_deviation(reading.value, reading.expected, trial->reference);
	}
}

static void
count_group(struct known_work_row *row, const struct architecture *architecture, const struct pass *pass)
{
	for (size_t i = 0; pass && i < pass->nr_events; i++) {
		const enum event_class class = architecture->events[pass->events[i]].class;

		row->nr_large += class == EVENT_LARGE;
		row->nr_plain += class == EVENT_PLAIN || class == EVENT_LOW;
	}
}

static struct known_work_row
make_row(struct pool *pool, const struct trial *trial, const struct rot *rot, const struct work_point *point,
	 struct point_samples *samples, const struct moment *start)
{
	const size_t nr_runs = samples->nr ? samples->samples[0].nr_runs : 0;
	struct trial_values of;
	struct known_work_row row;

	read_values(&samples->pool, &of, trial, rot, point, samples, nr_runs, start);
	row = (struct known_work_row){
		.candidate = trial->candidate,
		.kernel = pool_strdup(pool, point->kernel),
		.expected = statistics_percentile(of.expected, of.nr, 50),
		.measured = statistics_percentile(of.values, of.nr, 50),
		.grade = grade_of(of.deviations, of.nr),
		.nr_tainted = nr_runs - of.nr,
		.nr_overflowed = of.nr_overflowed,
		.is_too_small = trial->is_too_small,
		.is_estimate = point->is_estimate,
	};
	count_group(&row, rot->architecture, trial_pass(trial, &point->plan));
	return row;
}

/* ---- rounds ---- */

/* The rows of a point, anew in each round. */
struct point_rows {
	struct known_work_row *rows;
	size_t nr;
};

struct measuring_work {
	struct rot *rot;
	struct pool *pool; /* of the rows */
	const struct known_work_options *options;
	struct work_list list;
	struct point_rows *rows; /* of each point */
	double *taken_s;         /* of each point, by the round before */
	struct moment start;
	double deadline_s;
	bool has_warned; /* that a point was refused */
};

static int
measure_point(struct measuring_work *of, size_t i, struct rot_error *err)
{
	struct work_point *point = &of->list.points[i];
	struct point_rows *rows = &of->rows[i];
	struct point_samples samples;
	double begin_s = clock_now_s();
	int rc = point_measure_enough(point, of->rot, work_point_runs(point, of->options->nr_runs), &samples, err);

	of->taken_s[i] = clock_now_s() - begin_s;
	if (rc == 0) {
		rows->nr = point->nr_trials;
		rows->rows = pool_calloc(of->pool, rows->nr, sizeof(*rows->rows));
	}
	for (size_t k = 0; rc == 0 && k < point->nr_trials; k++)
		rows->rows[k] = make_row(of->pool, &point->trials[k], of->rot, point, &samples, &of->start);
	samples_clear(&samples);
	return rc;
}

/* An event that this machine does not have costs the points that need it, not all others. */
static int
leave_out_refused(struct measuring_work *of, struct rot_error *err)
{
	if (!measuring_was_refused())
		return -1;
	if (!of->has_warned)
		rot_warning("not validated: %s%s%s", err->text, err->hint[0] ? "\n     " : "", err->hint);
	of->has_warned = true;
	*err = (struct rot_error){0};
	return 0;
}

/* All of the first round, and of others what fits. *is_over: the time is used up. */
static int
measure_round(struct measuring_work *of, int round, bool *is_over, struct rot_error *err)
{
	autofree size_t *order = rot_calloc(of->list.nr + 1, sizeof(*order));
	int rc = 0;

	order_shuffle(order, of->list.nr, (unsigned)round);
	for (size_t i = 0; rc == 0 && !*is_over && i < of->list.nr; i++) {
		*is_over = round > 0 && clock_now_s() + of->taken_s[order[i]] > of->deadline_s;
		if (*is_over)
			break;
		progress_point();
		if (rot_interrupted())
			rc = rot_error_set(err, 0, "interrupted");
		else if (measure_point(of, order[i], err) < 0)
			rc = leave_out_refused(of, err);
	}
	return rc;
}

static void
gather(struct measuring_work *of, struct known_work *work)
{
	for (size_t i = 0; i < of->list.nr; i++) {
		const struct point_rows *rows = &of->rows[i];

		work->nr_points += rows->nr > 0;
		for (size_t k = 0; k < rows->nr; k++) {
			work->rows = pool_grow(of->pool, work->rows, work->nr, sizeof(*work->rows));
			work->rows[work->nr++] = rows->rows[k];
		}
	}
	work->nr_left_out = of->list.nr_left_out + of->list.nr - work->nr_points;
}

static int
measure_all(struct measuring_work *of, struct known_work *work, struct rot_error *err)
{
	const struct known_work_options *options = of->options;
	struct rot *rot = of->rot;
	bool is_over = false;
	int rc = work_list_open(&of->list, rot, options->sources, options->nr_sources, work->candidates,
				work->nr_candidates, err);

	if (rc == 0) {
		work_list_choose(&of->list, work->candidates, work->nr_candidates, options->nr_rounds, options->nr_runs,
				 options->seconds);
		rc = work_list_prepare(&of->list, rot, err);
		of->start = moment_now();
		of->deadline_s = clock_now_s() + options->seconds;
	}
	of->rows = pool_calloc(of->pool, of->list.nr, sizeof(*of->rows));
	of->taken_s = pool_calloc(of->pool, of->list.nr, sizeof(*of->taken_s));
	progress_begin(of->list.nr * (size_t)options->nr_rounds, configuration_bool(rot->configuration, "quiet"));
	while (rc == 0 && !is_over && work->nr_rounds < options->nr_rounds)
		rc = measure_round(of, work->nr_rounds++, &is_over, err);
	progress_end();
	gather(of, work);
	return rc;
}

int
known_work_measure(struct rot *rot, struct pool *pool, const struct known_work_options *options,
		   struct known_work *work, struct rot_error *err)
{
	struct measuring_work of = {.rot = rot, .pool = pool, .options = options};
	int rc;

	*work = (struct known_work){0};
	work->nr_candidates = candidates_of(pool, rot->architecture, &work->candidates);
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", NULL);
	rc = measure_all(&of, work, err);
	configuration_pop(rot->configuration);
	work_list_clear(&of.list);
	return rc;
}

/* ---- grades ---- */

/* An estimate is not even about right. */
static bool
is_beyond_estimate(const struct known_work_row *row)
{
	const double ratio = row->grade.of.value;

	return row->expected > 0 ? ratio < 1 / 3.0 || ratio > 3 : ratio > 1.5;
}

bool
known_work_is_graded(const struct known_work_row *row)
{
	return row->grade.letter && !row->is_too_small && (!row->is_estimate || is_beyond_estimate(row));
}

static bool
is_worse(const struct known_work_row *row, const struct known_work_row *than)
{
	if (row->grade.letter != than->grade.letter)
		return row->grade.letter == grade_weaker(row->grade.letter, than->grade.letter);
	if (fabs(row->grade.worst) != fabs(than->grade.worst))
		return fabs(row->grade.worst) > fabs(than->grade.worst);
	return row->expected > than->expected; /* nothing counted of no work proves little */
}

const struct known_work_row *
known_work_worst(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *worst = NULL;

	for (size_t i = 0; i < work->nr; i++) {
		const struct known_work_row *row = &work->rows[i];

		if (row->candidate == candidate && known_work_is_graded(row) && (!worst || is_worse(row, worst)))
			worst = row;
	}
	return worst;
}

const struct known_work_row *
known_work_row_to_show(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *shown = known_work_worst(work, candidate);

	for (size_t i = 0; !shown && i < work->nr; i++) {
		if (work->rows[i].candidate == candidate)
			shown = &work->rows[i];
	}
	return shown;
}

char
known_work_grade(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *worst = known_work_worst(work, candidate);

	return worst ? worst->grade.letter : 0;
}

size_t
known_work_nr_disturbed(const struct known_work *work, const struct candidate *candidate)
{
	size_t nr = 0;

	for (size_t i = 0; i < work->nr; i++) {
		const struct known_work_row *row = &work->rows[i];

		if (row->candidate != candidate || row->is_too_small || row->is_estimate)
			continue;
		if (row->grade.letter)
			return 0;
		nr += row->nr_tainted;
	}
	return nr;
}
