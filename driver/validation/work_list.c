/* SPDX-License-Identifier: MIT */
#include "validation/work_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_work.h"
#include "measuring/measuring.h"
#include "measuring/order.h"
#include "memory.h"
#include "planning/controller_places.h"
#include "planning/xml_controller.h"
#include "quantities/expected.h"
#include "rot.h"

/* ---- how long it takes ---- */

/* What is slow for a processor of today. Only to choose what fits. */
#define START_S 0.02             /* of a core, for each measurement of a point */
#define RUN_S 0.001              /* of a run that does nothing             */
#define PREPARED_PER_S 4e9       /* bytes initialized, flushed, warmed     */
#define CLEARED_BYTES 67108864.0 /* written to clear the caches            */
#define FAR_BYTES 33554432.0     /* more data are in memory                */
#define MOVED_PER_S 3e10
#define MOVED_FAR_PER_S 1.2e10
#define COMPUTED_PER_S 2e9

static int
sum_of_kernels(struct rot *rot, const struct measurement *measurement, double *bytes, struct rot_error *err)
{
	int rc = 0;

	*bytes = 0;
	for (size_t i = 0; rc == 0 && i < measurement_nr_workloads(measurement); i++) {
		double part;

		rc = kernel_data_bytes(rot, measurement_workloads_at(measurement, i)->kernel, &part, err);
		*bytes += rc == 0 ? part : 0;
	}
	return rc;
}

static int
estimate_seconds(struct work_point *point, struct rot *rot, struct rot_error *err)
{
	const struct kernel_base *kernel = measurement_workloads_at(point->measurement, 0)->kernel;
	double bytes, moved, cycles, instructions, run_s;

	if (sum_of_kernels(rot, point->measurement, &bytes, err) < 0 ||
	    expected_bytes_of(rot, point->measurement, "cpuL1", &moved, err) < 0 ||
	    expected_operations_of(rot, point->measurement, "coreCycles", &cycles, err) < 0 ||
	    expected_operations_of(rot, point->measurement, "instructions", &instructions, err) < 0)
		return -1;
	run_s = RUN_S + bytes / PREPARED_PER_S + fmax(0, moved) / (bytes > FAR_BYTES ? MOVED_FAR_PER_S : MOVED_PER_S) +
		fmax(fmax(0, cycles), instructions) / COMPUTED_PER_S;
	if (!kernel->warm_code || !kernel->warm_data)
		run_s += CLEARED_BYTES / PREPARED_PER_S;
	point->seconds = run_s * (double)point->plan.nr_passes;
	return 0;
}

/* ---- all points ---- */

void
work_list_clear(struct work_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		pass_plan_clear(&list->points[i].plan);
	pool_clear(&list->pool);
}

/* Leaves the point out if nothing can be tried at it. */
static int
add_point(struct work_list *list, struct rot *rot, struct work_point point, const struct candidate *candidates,
	  size_t nr_candidates, struct rot_error *err)
{
	int rc = trials_find(rot, &list->pool, point.measurement, candidates, nr_candidates, &point.trials,
			     &point.nr_trials, err);

	if (rc == 0 && point.nr_trials)
		rc = trials_plan(point.trials, point.nr_trials, rot->architecture, &point.plan, err);
	if (rc == 0 && point.nr_trials)
		rc = estimate_seconds(&point, rot, err);
	if (rc == 0 && point.nr_trials) {
		list->points = pool_grow(&list->pool, list->points, list->nr, sizeof(*list->points));
		list->points[list->nr++] = point;
	} else {
		pass_plan_clear(&point.plan);
	}
	return rc;
}

static int
add_controller(struct work_list *list, struct rot *rot, const struct work_source *source,
	       const struct candidate *candidates, size_t nr_candidates, struct rot_error *err)
{
	autofree char *path = controller_find_file(rot->paths, source->controller);
	struct xml_controller *controller = path ? xml_controller_open(rot, path, err) : NULL;
	size_t nr = controller ? xml_controller_nr_points(controller) : 0;
	int rc = controller ? 0 : -1;

	if (!controller)
		return err && err->text[0]
			       ? -1
			       : rot_error_set(err, 0, "the controller '%s' is missing", source->controller);
	pool_own(&list->pool, controller, xml_controller_close);
	for (size_t i = 0; rc == 0 && i < nr; i++) {
		struct work_point point = {.is_estimate = source->is_estimate};
		const char *label;

		point.measurement = xml_controller_point(controller, i, &point.series, &label);
		if (!point.measurement)
			continue;
		point.kernel = pool_format(&list->pool, "%s %s", point.series, label);
		rc = add_point(list, rot, point, candidates, nr_candidates, err);
	}
	return rc;
}

int
work_list_open(struct work_list *list, struct rot *rot, const struct work_source *sources, size_t nr_sources,
	       const struct candidate *candidates, size_t nr_candidates, struct rot_error *err)
{
	int rc = 0;

	*list = (struct work_list){.nr = 0};
	for (size_t i = 0; rc == 0 && i < nr_sources; i++)
		rc = add_controller(list, rot, &sources[i], candidates, nr_candidates, err);
	return rc;
}

/* ---- what fits ---- */

/* A point is run as often as it takes no longer, but so often at least. */
#define RUNS_S 0.5
#define LEAST_RUNS 3

int
work_point_runs(const struct work_point *point, int most)
{
	const double fitting = fmax(LEAST_RUNS, floor(RUNS_S / point->seconds));

	return fitting < most ? (int)fitting : most;
}

struct choosing {
	struct work_list *list;
	const struct candidate *candidates;
	size_t *nr_served; /* of each candidate, and of estimates behind them: chosen kernels that tell its grade */
	size_t nr_candidates;
	size_t *order; /* of points that cost the same, so that not the first of a controller are preferred */
	int nr_rounds, nr_runs;
	double seconds, seconds_left;
};

/* Without building its core: what is shown must not depend on what was built before. */
static double
cost(const struct choosing *choosing, size_t point)
{
	const struct work_point *of = &choosing->list->points[point];

	return START_S + choosing->nr_rounds * work_point_runs(of, choosing->nr_runs) * of->seconds;
}

/* Does it tell the grade of that candidate? */
static bool
serves(const struct choosing *choosing, const struct work_point *point, size_t which)
{
	const struct candidate *candidate = &choosing->candidates[which];

	if (point->is_estimate || which == choosing->nr_candidates)
		return point->is_estimate && which == choosing->nr_candidates;
	for (size_t i = 0; i < point->nr_trials; i++) {
		const struct trial *trial = &point->trials[i];

		if (trial->candidate == candidate && !trial->is_too_small && !(trial->expected <= 0))
			return true;
	}
	return false;
}

/* Is anything at it large enough to tell a grade? */
static bool
tells(const struct work_point *point)
{
	for (size_t i = 0; i < point->nr_trials; i++) {
		if (!point->trials[i].is_too_small)
			return true;
	}
	return false;
}

/* A kernel of a series of which one was chosen has to be so much cheaper than one of another. More would choose slow
 * ones for variety, in place of many others. */
#define VARIETY 1.5

static double
cost_beside_others(const struct choosing *choosing, size_t point)
{
	return cost(choosing, point) * pow(VARIETY, choosing->list->points[point].nr_chosen);
}

/* Cheaper, unless it only shows something. */
static bool
is_better(const struct choosing *choosing, size_t point, size_t than)
{
	const struct work_point *points = choosing->list->points;

	if (tells(&points[point]) != tells(&points[than]))
		return tells(&points[point]);
	return cost_beside_others(choosing, point) < cost_beside_others(choosing, than);
}

#define ANY SIZE_MAX
/* Kernels a candidate gets by turns; from then on the cheapest are taken, which are the most. */
#define ENOUGH 3

/* The part of all the time that a kernel of a candidate which has one already may take. */
#define MOST_OF_ANOTHER 0.25

static double
most_seconds(const struct choosing *choosing, size_t candidate)
{
	const bool is_first = choosing->nr_served[candidate] == 0;

	return is_first ? choosing->seconds_left : fmin(choosing->seconds_left, MOST_OF_ANOTHER * choosing->seconds);
}

/* The cheapest that is left for a candidate, or for any; nr if none takes as little. */
static size_t
cheapest(const struct choosing *choosing, size_t candidate, double most)
{
	const struct work_list *list = choosing->list;
	size_t best = list->nr;

	for (size_t i = 0; i < list->nr; i++) {
		size_t k = choosing->order[i];

		if (list->points[k].is_chosen || (candidate != ANY && !serves(choosing, &list->points[k], candidate)))
			continue;
		if (cost(choosing, k) > most)
			continue;
		if (best == list->nr || is_better(choosing, k, best))
			best = k;
	}
	return best;
}

static size_t
next_point(const struct choosing *choosing)
{
	size_t best = choosing->list->nr, fewest = ENOUGH;

	for (size_t i = 0; i <= choosing->nr_candidates; i++) {
		size_t point = choosing->nr_served[i] < fewest ? cheapest(choosing, i, most_seconds(choosing, i))
							       : choosing->list->nr;

		if (point == choosing->list->nr)
			continue;
		best = point;
		fewest = choosing->nr_served[i];
	}
	return best < choosing->list->nr ? best : cheapest(choosing, ANY, choosing->seconds_left);
}

static void
choose_point(struct choosing *choosing, size_t i)
{
	struct work_point *point = &choosing->list->points[i];

	choosing->seconds_left -= cost(choosing, i);
	point->is_chosen = true;
	for (size_t k = 0; k < choosing->list->nr; k++)
		choosing->list->points[k].nr_chosen += strcmp(choosing->list->points[k].series, point->series) == 0;
	for (size_t k = 0; k <= choosing->nr_candidates; k++)
		choosing->nr_served[k] += serves(choosing, point, k);
}

static void
drop_others(struct work_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (list->points[i].is_chosen)
			list->points[nr++] = list->points[i];
		else
			pass_plan_clear(&list->points[i].plan);
	}
	list->nr_left_out = list->nr - nr;
	list->nr = nr;
}

void
work_list_choose(struct work_list *list, const struct candidate *candidates, size_t nr_candidates, int nr_rounds,
		 int nr_runs, double seconds)
{
	struct choosing choosing = {
		.list = list,
		.candidates = candidates,
		.nr_served = pool_calloc(&list->pool, nr_candidates + 1, sizeof(*choosing.nr_served)),
		.nr_candidates = nr_candidates,
		.order = pool_calloc(&list->pool, list->nr + 1, sizeof(*choosing.order)),
		.nr_rounds = nr_rounds,
		.nr_runs = nr_runs,
		.seconds = seconds,
		.seconds_left = seconds,
	};

	order_shuffle(choosing.order, list->nr, 0);
	for (size_t i = next_point(&choosing); i < list->nr; i = next_point(&choosing))
		choose_point(&choosing, i);
	if (choosing.seconds_left == seconds && list->nr > 0)
		choose_point(&choosing, cheapest(&choosing, ANY, INFINITY));
	drop_others(list);
}

int
work_list_prepare(const struct work_list *list, struct rot *rot, struct rot_error *err)
{
	autofree struct measurement **measurements = rot_calloc(list->nr + 1, sizeof(*measurements));

	for (size_t i = 0; i < list->nr; i++)
		measurements[i] = (struct measurement *)list->points[i].measurement; /* stays as it is */
	return measuring_prepare(rot, measurements, list->nr, err) < 0 ? -1 : 0;
}
