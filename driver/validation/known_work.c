/* SPDX-License-Identifier: MIT */
#include "validation/known_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/find.h"
#include "controllers/xml_controller.h"
#include "measuring/expression.h"
#include "measuring/kernel_work.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "quantities/expected.h"
#include "quantities/plan.h"
#include "quantities/samples.h"
#include "rot.h"
#include "support/progress.h"
#include "validation/order.h"

/*
 * A region begins with lines in the cache that the code before has written, and ends with lines that are not written
 * back yet: up to the size of the cache on either side. Writes are graded from this many times that on.
 */
#define CACHES_OF_WRITES 32
/* Reading, a page walk and the code itself cost lines; this many bytes make them less than a thousandth. */
#define LEAST_BYTES_READ 4194304

double
known_work_deviation(double measured, double expected, double reference)
{
	if (!(reference > 0))
		return NAN;
	return (measured - expected) / (expected > 0 ? expected : reference);
}

/* ---- one point ---- */

/* A formula that says something about the point. */
struct trial {
	const struct architecture_formula *formula;
	double expected, reference;
};

struct work_point {
	const struct measurement *measurement; /* borrowed of the controller */
	char *kernel;
	struct trial *trials;
	size_t nr_trials;
	struct pass_plan plan;
	int nr_done; /* runs so far */
};

static void
point_clear(struct work_point *point)
{
	free(point->kernel);
	free(point->trials);
	pass_plan_clear(&point->plan);
}

static int
expected_of_formula(struct rot *rot, const struct measurement *measurement, const struct architecture_formula *formula,
		    double *expected, struct rot_error *err)
{
	*expected = NAN;
	if (strcmp(formula->quantity, "operationCount") == 0)
		return expected_operations_of(rot, measurement, formula->of, expected, err);
	if (strcmp(formula->quantity, "transferredBytes") == 0)
		return expected_bytes_of(rot, measurement, formula->of, expected, err);
	return 0;
}

/* The largest work of the same quantity at this point. */
static double
largest_expected(const struct work_point *point, const char *quantity)
{
	double largest = 0;

	for (size_t i = 0; i < point->nr_trials; i++) {
		if (strcmp(point->trials[i].formula->quantity, quantity) == 0)
			largest = fmax(largest, point->trials[i].expected);
	}
	return largest;
}

static int
point_plan(struct work_point *point, struct rot *rot, struct rot_error *err)
{
	const struct architecture *architecture = rot->architecture;
	const struct architecture_formula **formulas = rot_calloc(architecture->nr_formulas + 1, sizeof(*formulas));
	int rc = 0;

	point->trials = rot_calloc(architecture->nr_formulas + 1, sizeof(*point->trials));
	for (size_t i = 0; rc == 0 && i < architecture->nr_formulas; i++) {
		struct trial trial = {.formula = &architecture->formulas[i]};

		rc = expected_of_formula(rot, point->measurement, trial.formula, &trial.expected, err);
		if (rc == 0 && !isnan(trial.expected)) {
			formulas[point->nr_trials] = trial.formula;
			point->trials[point->nr_trials++] = trial;
		}
	}
	for (size_t i = 0; i < point->nr_trials; i++)
		point->trials[i].reference = largest_expected(point, point->trials[i].formula->quantity);
	if (rc == 0)
		rc = pass_plan_make(&point->plan, architecture, formulas, point->nr_trials, false, err);
	free(formulas);
	return rc;
}

/* ---- all points ---- */

struct work_list {
	struct xml_controller **controllers;
	size_t nr_controllers;
	struct work_point *points;
	size_t nr;
};

static void
list_clear(struct work_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		point_clear(&list->points[i]);
	free(list->points);
	for (size_t i = 0; i < list->nr_controllers; i++)
		xml_controller_close(list->controllers[i]);
	free(list->controllers);
}

static int
data_bytes(struct rot *rot, const struct measurement *measurement, double *bytes, struct rot_error *err)
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

/* Appends the point if it is small enough. */
static int
list_add_point(struct work_list *list, struct rot *rot, const struct xml_controller *controller, size_t i,
	       double largest_bytes, struct rot_error *err)
{
	const char *series, *label;
	struct work_point point = {.measurement = xml_controller_point(controller, i, &series, &label)};
	double bytes;

	if (!point.measurement)
		return 0;
	if (data_bytes(rot, point.measurement, &bytes, err) < 0)
		return -1;
	if (bytes > largest_bytes)
		return 0;
	point.kernel = rot_format("%s %s", series, label);
	list->points[list->nr++] = point;
	return point_plan(&list->points[list->nr - 1], rot, err);
}

/* Leaves so many of the points from first on, evenly spread. */
static void
list_thin(struct work_list *list, size_t first, size_t most)
{
	const size_t nr = list->nr - first;

	if (nr <= most)
		return;
	for (size_t i = 0, kept = 0; i < nr; i++) {
		struct work_point *point = &list->points[first + i];

		if (kept < most && i == kept * nr / most)
			list->points[first + kept++] = *point;
		else
			point_clear(point);
	}
	list->nr = first + most;
}

static int
list_add(struct work_list *list, struct rot *rot, const struct xml_controller *controller,
	 const struct known_work_options *options, struct rot_error *err)
{
	const size_t nr = xml_controller_nr_points(controller), first = list->nr;
	int rc = 0;

	list->points = rot_realloc(list->points, list->nr + nr + 1, sizeof(*list->points));
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = list_add_point(list, rot, controller, i, options->largest_bytes, err);
	if (rc == 0)
		list_thin(list, first, options->most_points);
	return rc;
}

static int
list_make(struct work_list *list, struct rot *rot, const struct known_work_options *options, struct rot_error *err)
{
	list->controllers = rot_calloc(options->nr_controllers + 1, sizeof(struct xml_controller *));
	for (size_t i = 0; i < options->nr_controllers; i++) {
		char *path = controller_find_file(rot->paths, options->controllers[i]);
		struct xml_controller *controller = path ? xml_controller_open(rot, path, err) : NULL;

		if (!path)
			rot_error_set(err, 0, "the controller '%s' is missing", options->controllers[i]);
		free(path);
		if (!controller)
			return -1;
		list->controllers[list->nr_controllers++] = controller;
		if (list_add(list, rot, controller, options, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- measuring ---- */

/* What one point gave so far. */
struct point_samples {
	struct measurement **passes;
	struct measurement_result **results;
	struct pass_samples *samples;
};

static void
samples_clear(struct point_samples *samples, size_t nr)
{
	for (size_t i = 0; samples->passes && i < nr; i++) {
		rot_graph_delete(samples->passes[i]);
		rot_graph_delete(samples->results[i]);
		pass_samples_clear(&samples->samples[i]);
	}
	free(samples->passes);
	free(samples->results);
	free(samples->samples);
}

/* nr_runs more; the cache gives those before, since they were measured by this process. */
static int
point_measure(struct work_point *point, struct rot *rot, int nr_runs, struct point_samples *samples,
	      struct rot_error *err)
{
	const size_t nr = point->plan.nr_passes;
	int rc = 0;

	samples->passes = rot_calloc(nr + 1, sizeof(*samples->passes));
	samples->results = rot_calloc(nr + 1, sizeof(*samples->results));
	samples->samples = rot_calloc(nr + 1, sizeof(*samples->samples));
	for (size_t i = 0; i < nr; i++)
		samples->passes[i] = pass_measurement(point->measurement, rot->architecture, &point->plan.passes[i]);
	if (nr)
		rc = measuring_perform(rot, samples->passes, nr, point->nr_done + nr_runs, samples->results, err);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = pass_samples_read(&samples->samples[i], rot->architecture, &point->plan.passes[i],
				       samples->passes[i], samples->results[i], err);
	if (rc == 0)
		point->nr_done += nr_runs;
	else
		rot_error_prefix(err, "%s", point->kernel);
	return rc;
}

/* The formula in run i; false if a count is disturbed. */
static bool
formula_value(const struct architecture *architecture, const struct architecture_formula *formula,
	      const struct pass_plan *plan, const struct pass_samples *samples, size_t run, double *value)
{
	struct expression_scope *scope = expression_scope_new(NULL);
	size_t together = pass_plan_find_all(plan, formula);
	unsigned taints = 0;
	int rc;

	for (size_t i = 0; i < formula->nr_events; i++) {
		size_t event = formula->events[i], at = 0;
		size_t from = together < plan->nr_passes ? together : pass_plan_find(plan, event);

		while (plan->passes[from].events[at] != event)
			at++;
		taints |= samples[from].runs[run].taints;
		expression_scope_set_number(scope, architecture->events[event].name,
					    samples[from].runs[run].counts[at]);
	}
	rc = expression_number(scope, formula->expression, value, NULL); /* no number: as bad as disturbed */
	expression_scope_delete(scope);
	return rc == 0 && taints == 0;
}

/* Writes have to stand out from what the caches keep. */
static bool
is_too_small(const struct rot *rot, const struct trial *trial)
{
	const char *of = trial->formula->of;
	bool is_read = strstr(of, ".read") != NULL;

	if (strcmp(trial->formula->quantity, "transferredBytes") != 0)
		return false;
	return trial->reference <
	       (is_read ? LEAST_BYTES_READ : CACHES_OF_WRITES * fmax((double)rot->machine->l2_bytes, 262144));
}

static void
add_row(struct known_work *work, const struct rot *rot, const struct work_point *point, const struct trial *trial,
	const struct point_samples *samples)
{
	const size_t nr_runs = point->plan.nr_passes ? samples->samples[0].nr_runs : 0;
	double *deviations = rot_calloc(nr_runs + 1, sizeof(*deviations));
	double *values = rot_calloc(nr_runs + 1, sizeof(*values));
	struct known_work_row *row;
	size_t nr = 0;

	for (size_t i = 0; i < nr_runs; i++) {
		if (formula_value(rot->architecture, trial->formula, &point->plan, samples->samples, i, &values[nr]))
			nr++;
	}
	for (size_t i = 0; i < nr; i++)
		deviations[i] = known_work_deviation(values[i], trial->expected, trial->reference);
	work->rows = rot_realloc(work->rows, work->nr + 1, sizeof(*work->rows));
	row = &work->rows[work->nr++];
	*row = (struct known_work_row){
		.formula = trial->formula,
		.kernel = rot_strdup(point->kernel),
		.expected = trial->expected,
		.measured = statistics_percentile(values, nr, 50),
		.grade = grade_of(deviations, nr),
		.nr_tainted = nr_runs - nr,
		.is_too_small = is_too_small(rot, trial),
	};
	free(deviations);
	free(values);
}

static void
add_rows(struct known_work *work, const struct rot *rot, const struct work_point *point,
	 const struct point_samples *samples)
{
	for (size_t i = 0; i < point->nr_trials; i++) {
		if (point->trials[i].reference > 0)
			add_row(work, rot, point, &point->trials[i], samples);
	}
}

/* All cores at once: one that cannot be built is an error when it is measured. */
static int
prepare(const struct work_list *list, struct rot *rot, struct rot_error *err)
{
	struct measurement **measurements = rot_calloc(list->nr + 1, sizeof(*measurements));
	int rc;

	for (size_t i = 0; i < list->nr; i++)
		measurements[i] = (struct measurement *)list->points[i].measurement; /* stays as it is */
	rc = measuring_prepare(rot, measurements, list->nr, err);
	free(measurements);
	return rc < 0 ? -1 : 0;
}

static int
measure_round(struct work_list *list, struct rot *rot, const struct known_work_options *options, int round,
	      struct known_work *work, struct rot_error *err)
{
	size_t *order = rot_calloc(list->nr + 1, sizeof(*order));
	int rc = 0;

	order_shuffle(order, list->nr, (unsigned)round);
	for (size_t i = 0; rc == 0 && i < list->nr; i++) {
		struct work_point *point = &list->points[order[i]];
		struct point_samples samples = {0};

		progress_point();
		rc = rot_interrupted() ? rot_error_set(err, 0, "interrupted")
				       : point_measure(point, rot, options->nr_runs, &samples, err);
		if (rc == 0 && round + 1 == options->nr_rounds)
			add_rows(work, rot, point, &samples);
		samples_clear(&samples, point->plan.nr_passes);
	}
	free(order);
	return rc;
}

int
known_work_measure(struct rot *rot, const struct known_work_options *options, struct known_work *work,
		   struct rot_error *err)
{
	struct work_list list = {0};
	int rc = list_make(&list, rot, options, err);

	*work = (struct known_work){0};
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", NULL);
	progress_begin(list.nr * (size_t)options->nr_rounds, configuration_bool(rot->configuration, "quiet"));
	if (rc == 0)
		rc = prepare(&list, rot, err);
	for (int round = 0; rc == 0 && round < options->nr_rounds; round++)
		rc = measure_round(&list, rot, options, round, work, err);
	progress_end();
	configuration_pop(rot->configuration);
	list_clear(&list);
	return rc;
}

void
known_work_clear(struct known_work *work)
{
	for (size_t i = 0; i < work->nr; i++)
		free(work->rows[i].kernel);
	free(work->rows);
	*work = (struct known_work){0};
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
known_work_worst(const struct known_work *work, const struct architecture_formula *formula)
{
	const struct known_work_row *worst = NULL;

	for (size_t i = 0; i < work->nr; i++) {
		const struct known_work_row *row = &work->rows[i];

		if (row->formula == formula && !row->is_too_small && row->grade.letter &&
		    (!worst || is_worse(row, worst)))
			worst = row;
	}
	return worst;
}

char
known_work_grade(const struct known_work *work, const struct architecture_formula *formula)
{
	const struct known_work_row *worst = known_work_worst(work, formula);

	return worst ? worst->grade.letter : 0;
}
