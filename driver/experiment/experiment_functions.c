/* SPDX-License-Identifier: MIT */
/* Functions and loops of a program in its roofline: dots that are as large as their share of the time. */
#include <math.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "quantities/value_text.h"
#include "support/json.h"
#include "support/titles.h"

/* So many are drawn, each of at least that share of the time, and of the operations. */
#define MOST_DRAWN 10
#define LEAST_SHARE 0.01

#define LABEL_WIDTH 24

/* Functions without a dot that the caption names. */
#define MOST_NAMED 3

/* kind: "functions", "loops". */
static const json_t *
places_of(const json_t *result, const char *kind)
{
	return json_object_get(json_object_get(result, "functions"), kind);
}

static bool
is_loop(const json_t *place)
{
	return json_number_at(place, "header") > 0;
}

bool
experiment_is_loop(const struct experiment_point *point)
{
	return is_loop(point->result);
}

struct quantity_value
experiment_value_like(const struct quantity_value *whole, double number, const char *estimator)
{
	return (struct quantity_value){
		.request = whole->request,
		.name = whole->name,
		.of = whole->of,
		.unit = whole->unit,
		.source = whole->source,
		.kind = whole->kind,
		.grade = whole->grade,
		.expected = NAN,
		.compulsory = NAN,
		.summary = summary_single(number, estimator),
	};
}

/* False: it does not compute, or nobody knows where it is. Else clear the point. */
static bool
make_function(const struct experiment *experiment, const struct experiment_point *program, const char *series,
	      const json_t *json, struct experiment_point *point)
{
	const struct experiment_own_plot *plot = experiment_first_roofline(experiment);
	const struct quantity_value *x = plot ? experiment_point_value(program, &plot->x) : NULL,
				    *y = plot ? experiment_point_value(program, &plot->y) : NULL;
	const bool has_no_bytes = json_is_true(json_object_get(json, "infiniteIntensity"));
	const double rate = json_number_at(json, "performance"),
		     intensity = has_no_bytes ? INFINITY : json_number_at(json, "operationalIntensity"),
		     nr_threads = json_number_at(json, "threadsAtOnce"), share = json_number_at(json, "share");
	autofree char *name = NULL, *title = NULL, *label = NULL, *source = NULL;

	if (!x || !y || !(rate > 0) || !(intensity > 0) || !(share > 0))
		return false;
	name = place_title(json, 0);
	title = place_title(json, LABEL_WIDTH);
	label = rot_format("%s%s %.*f %%", title, is_loop(json) ? ":" : "", share < 0.1, 100 * share);
	source = rot_format("%s:%d", json_text_at(json, "source"), (int)json_number_at(json, "line"));
	struct coordinate coordinates[] = {{.axis = is_loop(json) ? "loop" : "function", .number = NAN, .text = name},
					   {.axis = "file", .number = NAN, .text = function_file(json)},
					   {.axis = "line", .number = NAN, .text = source}};
	*point = experiment_point_at(
		&(struct experiment_position){series, label, {coordinates, *json_text_at(json, "source") ? 3 : 2}});
	point->nr_values = 2;
	point->requests = pool_calloc(&point->pool, 2, sizeof(*point->requests));
	point->values = pool_calloc(&point->pool, 2, sizeof(*point->values));
	point->requests[0] = plot->x;
	point->requests[1] = plot->y;
	point->values[0] = experiment_value_like(x, intensity, "share");
	point->values[0].summary.low = point->values[0].summary.high = NAN;
	point->values[1] = experiment_value_like(y, rate, "share");
	point->values[1].summary.low = json_number_at(json, "performanceLow");
	point->values[1].summary.high = json_number_at(json, "performanceHigh");
	point->nr_cpus = nr_threads > 0 ? nr_threads : program->nr_cpus;
	point->result = json;
	return true;
}

void
experiment_bound_functions(struct experiment *experiment, json_t *result)
{
	static const char *const kinds[] = {"functions", "loops"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const json_t *places = places_of(result, kinds[i]);

		for (size_t k = 0; k < json_array_size(places); k++) {
			json_t *json = json_array_get(places, k);
			struct experiment_point point;

			if (!make_function(experiment, &experiment->points[0], "", json, &point))
				continue;
			experiment_json_add_bound(json, experiment, &point);
			experiment_point_clear(&point);
		}
	}
}

/* Up to a factor that is the same for all functions. */
static double
operations_of(const json_t *json)
{
	const double operations = json_number_at(json, "performance") * json_number_at(json, "share");

	return isnan(operations) ? 0 : operations;
}

/* Adds places of a kind, of the program at that place among the points. */
static void
add_places(struct experiment *experiment, size_t program, const char *series, const json_t *result, size_t number,
	   const char *kind)
{
	const json_t *places = places_of(result, kind);
	const bool are_loops = strcmp(kind, "loops") == 0;
	size_t nr_others = 0, nr_seen = 0;
	autofree char *others = rot_strdup("");
	double all_operations = 0;

	for (size_t i = 0; i < json_array_size(places); i++)
		all_operations += operations_of(json_array_get(places, i));
	for (size_t i = 0; i < json_array_size(places) && nr_seen < MOST_DRAWN; i++) {
		const json_t *json = json_array_get(places, i);
		const double share = json_number_at(json, "share");
		const bool computes = operations_of(json) >= LEAST_SHARE * all_operations;
		struct experiment_point point;

		if (!(share >= LEAST_SHARE) || is_loop(json) != are_loops)
			continue;
		nr_seen++;
		if (computes && make_function(experiment, &experiment->points[program], series, json, &point)) {
			point.place = pool_format(&point.pool, "%s-%zu-%zu", are_loops ? "loop" : "place", number, i);
			if (json_object_get(json, "counts"))
				experiment_add_rates(experiment, &point, &experiment->points[program],
						     json_object_get(json, "counts"));
			pool_add(&experiment->pool, experiment->functions, experiment->nr_functions) = point;
		} else if (!computes && json_number_at(json, "performance") >= 0) {
			autofree char *title = place_title(json, LABEL_WIDTH);

			if (nr_others++ < MOST_NAMED)
				rot_append(&others, "%s%s\u00a0%.*f\u00a0%%", *others ? ", " : "", title, share < 0.1,
					   100 * share);
		}
	}
	if (nr_others > MOST_NAMED)
		rot_append(&others, " and %zu more", nr_others - MOST_NAMED);
	pool_add(&experiment->pool, experiment->idle, experiment->nr_idle) = (struct experiment_idle){
		pool_strdup(&experiment->pool, series), are_loops, pool_strdup(&experiment->pool, others)};
}

void
experiment_add_functions(struct experiment *experiment, size_t program, const char *before, const json_t *result,
			 size_t number)
{
	autofree char *functions = rot_format("%sfunctions", before), *loops = rot_format("%sloops", before);
	const char *note = experiment->runs_note ? experiment->runs_note : "";
	const char *date = json_text_at(json_object_get(result, "measured"), "last");
	const double nr = json_number_at(json_object_get(result, "functions"), "samples");
	autofree char *samples = nr > 0 ? rot_format("%.0f\u00a0samples of the CPU clock", nr) : rot_strdup("");

	/* When it was measured, and by how many samples shares of the time are known. */
	if (*date || *samples)
		experiment->runs_note =
			pool_format(&experiment->pool, "%s%s%s%s%.10s%s%s", note, *note ? "\n" : "", before,
				    *date ? "measured " : "", date, *date && *samples ? ", " : "", samples);
	add_places(experiment, program, functions, result, number, "functions");
	add_places(experiment, program, loops, result, number, "loops");
}

/* How much of the time the dots are, and what has none because it hardly computes: a line for each of their series. */
char *
drawing_caption_of_dots(const struct drawing *d)
{
	const struct experiment *experiment = d->experiment;
	char *lines = rot_strdup("");

	for (size_t i = 0; i < experiment->nr_idle; i++) {
		const struct experiment_idle *idle = &experiment->idle[i];
		double share = 0;
		size_t nr = 0;

		for (size_t k = 0; k < d->nr_shown; k++) {
			const struct experiment_point *point = d->shown[k];
			if (!point->place || strcmp(point->series, idle->series) != 0)
				continue;
			nr++;
			share += json_number_at(point->result, "share");
		}
		if (nr > 0)
			rot_append(&lines, "%s%s: %zu, area by share of the CPU time, together %.0f\u00a0%%%s%s",
				   *lines ? "\n" : "", idle->series, nr, 100 * share,
				   *idle->others ? "; less than 1\u00a0% of the operations: " : "", idle->others);
	}
	return lines;
}
