/* SPDX-License-Identifier: MIT */
#include "check/shapes.h"

#include <math.h>
#include <string.h>

#include "base/configuration.h"
#include "base/progress.h"
#include "engine/measuring.h"
#include "memory.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "quantities/expected.h"
#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "rot.h"
#include "statistics/summary.h"

#define NR_RUNS 5
/* Starting and stopping a group executes some hundred instructions of the million that are counted. */
#define MAX_DEVIATION 0.005
#define MAX_LARGE 3
/* An event that counts less of the million instructions does not stand for others. */
#define LEAST_COUNT 100000
#define CONTROLLER "known-operations"

/* The work that shapes are tried on, and what its events count alone. */
struct stand {
	struct rot *rot;
	struct xml_controller *controller;
	const struct measurement *work; /* borrowed of the controller */
	const struct architecture_event *plain, *large;
	double alone_plain, alone_large;
};

/* ---- counting one group ---- */

static void
add_events(struct perf_event_measurer *measurer, const struct architecture_event *event, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		struct perf_event_definition *definition = perf_event_definition_new();

		rot_string_set(&definition->name, event->name);
		rot_string_set(&definition->definition, event->definition);
		perf_event_measurer_events_add(measurer, definition);
	}
}

/* The work, counted by a group: the large events first, and those with counters of their own last. */
static struct measurement *
group_measurement(const struct stand *stand, unsigned large, unsigned plain, unsigned fixed, bool scrubs)
{
	struct measurement *measurement = rot_graph_clone(stand->work, NULL);
	struct perf_event_measurer *measurer = perf_event_measurer_new();
	struct measurer_set *set = measurer_set_new();

	add_events(measurer, stand->large, large);
	add_events(measurer, stand->plain, plain);
	/* The first riders with counters of their own, up to so many. */
	for (size_t i = 0; i < stand->rot->architecture->nr_riders && fixed > 0; i++) {
		const struct architecture_event *event =
			&stand->rot->architecture->events[stand->rot->architecture->riders[i]];

		if (event->class != EVENT_FIXED)
			continue;
		add_events(measurer, event, 1);
		fixed--;
	}
	if (scrubs) {
		rot_string_set(&measurer->scrub_event, stand->rot->architecture->scrub_event);
		measurer->scrub_count = stand->rot->architecture->scrub_count;
	}
	set->main_measurer = &measurer->base;
	measurement_workloads_at(measurement, 0)->measurer_set = set;
	return measurement;
}

/* The counts of run i; NULL if there is none, or the group did not run all the time. */
static const struct perf_event_measurer_output *
counts_of_run(const struct measurement_result *result, size_t i)
{
	const struct measurement_run_output *run = measurement_result_outputs_at(result, i);
	const struct measurer_set_output *set = measurement_run_output_nr_measurer_set_outputs(run)
							? measurement_run_output_measurer_set_outputs_at(run, 0)
							: NULL;
	const struct perf_event_measurer_output *counts =
		set ? rot_cast(set->main_measurer_output, &perf_event_measurer_output_class) : NULL;

	for (size_t k = 0; counts && k < perf_event_measurer_output_nr_event_counts(counts); k++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(counts, k);

		if (count->time_running == 0 || count->time_running < count->time_enabled)
			return NULL;
	}
	return counts;
}

static double
count_at(const struct stand *stand, const struct perf_event_measurer_output *counts, size_t k)
{
	const int bits = stand->rot->architecture->counter_bits;
	uint64_t raw = perf_event_measurer_output_event_counts_at(counts, k)->raw_count;

	return (double)(bits ? raw & ((UINT64_C(1) << bits) - 1) : raw);
}

static int
perform(const struct stand *stand, struct measurement *const *passes, size_t nr, struct measurement_result **results,
	struct rot_error *err)
{
	return measuring_perform(stand->rot, passes, nr, NR_RUNS, 1, results, err);
}

/* ---- what an event counts alone ---- */

static int
count_alone(const struct stand *stand, const struct architecture_event *event, double *count, struct rot_error *err)
{
	struct stand alone = *stand;
	autograph struct measurement_result *result = NULL;
	autograph struct measurement *pass = NULL;
	double counts[NR_RUNS];
	size_t nr = 0;

	alone.plain = event;
	pass = group_measurement(&alone, 0, 1, 0, true);
	if (perform(stand, &pass, 1, &result, err) < 0)
		return -1;
	for (size_t i = 0; i < NR_RUNS; i++) {
		const struct perf_event_measurer_output *run = counts_of_run(result, i);

		if (run)
			counts[nr++] = count_at(stand, run, 0);
	}
	*count = statistics_percentile(counts, nr, 50);
	if (!(*count > 0))
		return rot_error_set(err, 0,
				     "event '%s' counts nothing of a kernel that executes a million instructions",
				     event->definition);
	return 0;
}

static const struct architecture_event *
find_event(const struct architecture *architecture, const char *name)
{
	for (size_t i = 0; i < architecture->nr_events; i++)
		if (strcmp(architecture->events[i].name, name) == 0)
			return &architecture->events[i];
	return NULL;
}

/* Instructions; where these have a counter of their own the first plain event that counts enough, if there is one. */
static int
find_plain(struct stand *stand, struct rot_error *err)
{
	const struct architecture *architecture = stand->rot->architecture;
	double count;

	stand->plain = find_event(architecture, "instructions");
	if (!stand->plain)
		return rot_error_set(err, 0, "'%s' has no event 'instructions'", architecture->path);
	if (count_alone(stand, stand->plain, &stand->alone_plain, err) < 0)
		return -1;
	for (size_t i = 0; i < architecture->nr_events && stand->plain->class == EVENT_FIXED; i++) {
		const struct architecture_event *event = &architecture->events[i];

		if (event->class == EVENT_PLAIN && count_alone(stand, event, &count, NULL) == 0 &&
		    count >= LEAST_COUNT) {
			stand->plain = event;
			stand->alone_plain = count;
		}
	}
	return 0;
}

/* The first large event that counts anything here, if there is one. */
static void
find_large(struct stand *stand)
{
	for (size_t i = 0; i < stand->rot->architecture->nr_events; i++) {
		const struct architecture_event *event = &stand->rot->architecture->events[i];

		if (event->class == EVENT_LARGE && count_alone(stand, event, &stand->alone_large, NULL) == 0) {
			stand->large = event;
			return;
		}
	}
}

/* The first point that computes in double precision. */
static const struct measurement *
find_work(struct rot *rot, const struct xml_controller *controller)
{
	for (size_t i = 0; i < controller->nr_planned; i++) {
		const struct measurement *point = controller->planned[i].measurement;
		double operations = NAN;

		if (point && expected_operations_of(rot, point, "doublePrecisionFlop", &operations, NULL) == 0 &&
		    operations > 0)
			return point;
	}
	return NULL;
}

static int
stand_open(struct stand *stand, struct rot *rot, struct rot_error *err)
{
	autofree char *path = controller_find_file(rot->paths, CONTROLLER);

	*stand = (struct stand){.rot = rot};
	stand->controller = path ? xml_controller_open(rot, path, err) : NULL;
	stand->work = stand->controller ? find_work(rot, stand->controller) : NULL;
	if (stand->controller && !stand->work)
		rot_error_set(err, 0, "no kernel of the controller '%s' computes in double precision", CONTROLLER);
	else if (!stand->controller && err && !err->text[0])
		rot_error_set(err, 0, "the controller '%s' is missing", CONTROLLER);
	if (!stand->work || find_plain(stand, err) < 0)
		return -1;
	find_large(stand);
	return 0;
}

/* ---- shapes ---- */

/* The worst relative deviation of any count in any run from what the event counts alone; NaN: not all was counted. */
static double
worst_deviation(const struct stand *stand, const struct measurement_result *result, unsigned large, unsigned plain)
{
	double worst = 0;

	for (size_t i = 0; i < NR_RUNS; i++) {
		const struct perf_event_measurer_output *counts = counts_of_run(result, i);

		if (!counts || perf_event_measurer_output_nr_event_counts(counts) < large + plain)
			return NAN;
		for (unsigned k = 0; k < large + plain; k++) {
			double alone = k < large ? stand->alone_large : stand->alone_plain;
			double deviation = count_at(stand, counts, k) / alone - 1;

			worst = fabs(deviation) > fabs(worst) ? deviation : worst;
		}
	}
	return worst;
}

/* Does the architecture's file allow it? *fixed: beside so many events with counters of their own. */
static bool
is_legal_shape(const struct architecture *architecture, unsigned large, unsigned plain, unsigned *fixed)
{
	bool is_legal = false;

	*fixed = 0;
	for (size_t i = 0; i < architecture->nr_groups; i++) {
		const unsigned *limit = architecture->groups[i].limit;

		if (large > limit[EVENT_LARGE] || plain > limit[EVENT_PLAIN])
			continue;
		is_legal = true;
		*fixed = limit[EVENT_FIXED] > *fixed ? limit[EVENT_FIXED] : *fixed;
	}
	return is_legal;
}

/* False when a group with even more plain events cannot be opened either. */
static bool
try_shape(const struct stand *stand, struct pool *pool, struct shapes *shapes, unsigned large, unsigned plain)
{
	struct shape shape = {.large = large, .plain = plain, .verdict = SHAPE_REFUSED, .deviation = NAN};
	autograph struct measurement_result *result = NULL;
	autograph struct measurement *pass = NULL;
	unsigned fixed;

	progress_point();
	shape.is_legal = is_legal_shape(stand->rot->architecture, large, plain, &fixed);
	pass = group_measurement(stand, large, plain, fixed, true);
	if (perform(stand, &pass, 1, &result, NULL) == 0)
		shape.deviation = worst_deviation(stand, result, large, plain);
	if (!isnan(shape.deviation))
		shape.verdict = fabs(shape.deviation) <= MAX_DEVIATION ? SHAPE_SOUND : SHAPE_WRONG;
	pool_add(pool, shapes->items, shapes->nr) = shape;
	return shape.verdict != SHAPE_REFUSED;
}

static void
try_all(const struct stand *stand, struct pool *pool, struct shapes *shapes)
{
	const unsigned most = (unsigned)stand->rot->architecture->nominal_counters + 1;

	for (unsigned large = 0; large <= (stand->large ? MAX_LARGE : 0); large++) {
		for (unsigned plain = large ? 0 : 1; large + plain <= most && !rot_interrupted(); plain++)
			if (!try_shape(stand, pool, shapes, large, plain))
				break;
	}
	for (size_t i = 0; i < shapes->nr; i++) {
		const struct shape *shape = &shapes->items[i];

		if (shape->large == 0 && shape->verdict == SHAPE_SOUND && shape->plain == shapes->usable_counters + 1)
			shapes->usable_counters++;
	}
	if (stand->large) {
		/* Plain events between runs of large ones, in one process, without scrubbing. */
		autograph struct measurement *first = group_measurement(stand, 1, 0, 0, false),
					     *second = group_measurement(stand, 0, 1, 0, false);
		struct measurement_result *results[2] = {NULL, NULL};

		if (perform(stand, (struct measurement *[]){first, second}, 2, results, NULL) == 0) {
			double large = worst_deviation(stand, results[0], 1, 0),
			       plain = worst_deviation(stand, results[1], 0, 1);

			shapes->is_scrub_tried = true;
			shapes->is_scrub_needed = !(fabs(large) <= MAX_DEVIATION && fabs(plain) <= MAX_DEVIATION);
		}
		rot_graph_delete(results[0]);
		rot_graph_delete(results[1]);
	}
}

int
shapes_find(struct rot *rot, struct pool *pool, struct shapes *shapes, struct rot_error *err)
{
	struct stand stand;
	int rc;

	*shapes = (struct shapes){0};
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", NULL);
	progress_begin(0, configuration_bool(rot->configuration, "quiet"));
	rc = stand_open(&stand, rot, err);
	shapes->has_large = rc == 0 && stand.large;
	if (rc == 0)
		try_all(&stand, pool, shapes);
	if (rc == 0 && rot_interrupted())
		rc = rot_error_set(err, 0, "interrupted");
	progress_end();
	configuration_pop(rot->configuration);
	xml_controller_close(stand.controller);
	return rc;
}

const struct shape *
shapes_first_wrong(const struct shapes *shapes)
{
	for (size_t i = 0; i < shapes->nr; i++)
		if (shapes->items[i].is_legal && shapes->items[i].verdict != SHAPE_SOUND)
			return &shapes->items[i];
	return NULL;
}

const struct shape *
shapes_find_one(const struct shapes *shapes, unsigned large, unsigned plain)
{
	for (size_t i = 0; i < shapes->nr; i++)
		if (shapes->items[i].large == large && shapes->items[i].plain == plain)
			return &shapes->items[i];
	return NULL;
}

char *
shape_text(const struct shape *shape)
{
	if (shape->large && shape->plain)
		return rot_format("%u large + %u plain", shape->large, shape->plain);
	return rot_format("%u %s", shape->large + shape->plain, shape->large ? "large" : "plain");
}

/* Every group larger than a wrong one is wrong. Events of the first few counters need one as plain ones do. */
static bool
holds_wrong(const struct shapes *shapes, const unsigned *limit)
{
	for (size_t i = 0; i < shapes->nr; i++) {
		const struct shape *shape = &shapes->items[i];

		if (shape->verdict != SHAPE_SOUND && shape->large <= limit[EVENT_LARGE] &&
		    shape->plain <= limit[EVENT_PLAIN] + limit[EVENT_LOW])
			return true;
	}
	return false;
}

/* The last event of all stays. */
static void
reduce(const struct shapes *shapes, unsigned *proved, enum event_class class)
{
	while (proved[class] > 0 && proved[EVENT_LARGE] + proved[EVENT_PLAIN] + proved[EVENT_LOW] > 1 &&
	       holds_wrong(shapes, proved))
		proved[class]--;
}

void
shapes_prove(const struct shapes *shapes, struct architecture *architecture)
{
	for (size_t i = 0; i < architecture->nr_groups; i++) {
		unsigned *proved = architecture->groups[i].proved;

		memcpy(proved, architecture->groups[i].limit, sizeof(architecture->groups[i].limit));
		reduce(shapes, proved, EVENT_PLAIN);
		reduce(shapes, proved, EVENT_LOW);
		reduce(shapes, proved, EVENT_LARGE);
	}
}
