/* SPDX-License-Identifier: MIT */
/* Functions of a program in its roofline: dots that are as large as their share of the time. */
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

static const json_t *
functions_of(const json_t *result)
{
	return json_object_get(json_object_get(result, "functions"), "functions");
}

/* Known as that of the program is, but for its number; the texts are borrowed. */
static struct quantity_value
value_like(const struct quantity_value *whole, double number, double low, double high)
{
	struct quantity_value value = {
		.request = whole->request,
		.name = whole->name,
		.of = whole->of,
		.unit = whole->unit,
		.source = whole->source,
		.kind = whole->kind,
		.grade = whole->grade,
		.expected = NAN,
		.compulsory = NAN,
		.summary = summary_single(number, "share"),
	};

	value.summary.low = low;
	value.summary.high = high;
	return value;
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
	name = function_title(json, 0);
	title = function_title(json, LABEL_WIDTH);
	label = rot_format("%s %.*f %%", title, share < 0.1, 100 * share);
	source = rot_format("%s:%d", json_text_at(json, "source"), (int)json_number_at(json, "line"));
	struct coordinate coordinates[] = {{.axis = "function", .number = NAN, .text = name},
					   {.axis = "file", .number = NAN, .text = function_file(json)},
					   {.axis = "line", .number = NAN, .text = source}};
	*point = experiment_point_at(
		&(struct experiment_position){series, label, {coordinates, *json_text_at(json, "source") ? 3 : 2}});
	point->nr_values = 2;
	point->requests = pool_calloc(&point->pool, 2, sizeof(*point->requests));
	point->values = pool_calloc(&point->pool, 2, sizeof(*point->values));
	point->requests[0] = plot->x;
	point->requests[1] = plot->y;
	point->values[0] = value_like(x, intensity, NAN, NAN);
	point->values[1] =
		value_like(y, rate, json_number_at(json, "performanceLow"), json_number_at(json, "performanceHigh"));
	point->nr_cpus = nr_threads > 0 ? nr_threads : program->nr_cpus;
	point->stored_bound = experiment_json_bound(&point->pool, json, x->of);
	point->time_share = summary_single(share, "share");
	point->time_share.low = json_number_at(json, "low");
	point->time_share.high = json_number_at(json, "high");
	return true;
}

void
experiment_bound_functions(struct experiment *experiment, json_t *result)
{
	const json_t *functions = functions_of(result);

	for (size_t i = 0; i < json_array_size(functions); i++) {
		json_t *json = json_array_get(functions, i);
		struct experiment_point point;

		if (!make_function(experiment, &experiment->points[0], "", json, &point))
			continue;
		experiment_json_add_bound(json, experiment, &point);
		experiment_point_clear(&point);
	}
}

/* Up to a factor that is the same for all functions. */
static double
operations_of(const json_t *json)
{
	const double operations = json_number_at(json, "performance") * json_number_at(json, "share");

	return isnan(operations) ? 0 : operations;
}

/* When it was measured, and by how many samples shares of the time are known. */
static void
note_run(struct experiment *experiment, const char *series, const json_t *result)
{
	const char *before = experiment->runs_note ? experiment->runs_note : "";
	const char *date = json_text_at(json_object_get(result, "measured"), "last");
	const double nr = json_number_at(json_object_get(result, "functions"), "samples");
	const bool is_alone = strcmp(series, "functions") == 0;
	autofree char *samples = nr > 0 ? rot_format("%.0f\u00a0samples of the CPU clock", nr) : rot_strdup("");

	if (*date || *samples)
		experiment->runs_note = pool_format(
			&experiment->pool, "%s%s%s%s%s%.10s%s%s", before, *before ? "\n" : "", is_alone ? "" : series,
			is_alone ? "" : ": ", *date ? "measured " : "", date, *date && *samples ? ", " : "", samples);
}

void
experiment_add_functions(struct experiment *experiment, size_t program, const char *series, const json_t *result,
			 size_t number)
{
	const json_t *functions = functions_of(result);
	const size_t nr_before = experiment->nr_functions;
	size_t nr_others = 0;
	autofree char *others = rot_strdup("");
	double drawn = 0, all_operations = 0;

	note_run(experiment, series, result);
	for (size_t i = 0; i < json_array_size(functions); i++)
		all_operations += operations_of(json_array_get(functions, i));
	for (size_t i = 0; i < json_array_size(functions) && i < MOST_DRAWN; i++) {
		const json_t *json = json_array_get(functions, i);
		const double share = json_number_at(json, "share");
		const bool computes = operations_of(json) >= LEAST_SHARE * all_operations;
		struct experiment_point point;

		if (!(share >= LEAST_SHARE))
			continue;
		if (computes && make_function(experiment, &experiment->points[program], series, json, &point)) {
			point.place = pool_format(&point.pool, "place-%zu-%zu", number, i);
			pool_add(&experiment->pool, experiment->functions, experiment->nr_functions) = point;
			drawn += share;
		} else if (!computes && json_number_at(json, "performance") >= 0) {
			autofree char *title = function_title(json, LABEL_WIDTH);

			if (nr_others++ < MOST_NAMED)
				rot_append(&others, "%s%s\u00a0%.*f\u00a0%%", *others ? ", " : "", title, share < 0.1,
					   100 * share);
		}
	}
	if (nr_others > MOST_NAMED)
		rot_append(&others, " and %zu more", nr_others - MOST_NAMED);
	if (experiment->nr_functions > nr_before) {
		/* How much of the time the dots are, and what has none because it hardly computes. */
		const char *before = experiment->functions_note ? experiment->functions_note : "";

		experiment->functions_note = pool_format(
			&experiment->pool, "%s%s%s: %zu, area by share of the CPU time, together %.0f\u00a0%%%s%s",
			before, *before ? "\n" : "", series, experiment->nr_functions - nr_before, 100 * drawn,
			*others ? "; less than 1\u00a0% of the operations: " : "", others);
	}
}
