/* SPDX-License-Identifier: MIT */
/*
 * Functions and loops of a program in its roofline: dots that are as large as their share of the time. And the roofline
 * at each border, of each precision, of functions and of loops: a page chooses among them.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "engine/expression.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "plots/page.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* So many are drawn, each of at least that share of the time, and of the operations. */
#define MOST_DRAWN 10
#define LEAST_SHARE 0.01

#define LABEL_WIDTH 24

/* Functions without a dot that the caption names. */
#define MOST_NAMED 3

static const char *const precisions[] = {"doublePrecisionFlop", "singlePrecisionFlop"};

enum { NR_PRECISIONS = sizeof(precisions) / sizeof(*precisions) };

/* kind: "functions", "loops". */
static const json_t *
places_of(const json_t *result, const char *kind)
{
	return json_object_get(json_object_get(result, "functions"), kind);
}

bool
experiment_is_loop(const json_t *place)
{
	return json_number_at(place, "header") > 0;
}

/* A value known as another is, but for its number. Its texts are borrowed. */
static struct quantity_value
value_like(const struct quantity_value *whole, double number, const char *estimator)
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

/* Operations, or bytes across a border, of a point or of a place of a program (json). NaN: not known. */
struct counted {
	const struct experiment_point *point;
	const struct architecture *architecture;
	const json_t *counts; /* events of it; NULL: the point has values */
};

static double
count_of(const struct counted *counted, const char *quantity, const char *of)
{
	const struct quantity_request request = quantity_request_of(quantity, of);
	const struct quantity_value *value = experiment_point_value(counted->point, &request);
	autoscope struct expression_scope *scope = expression_scope_new(NULL);
	const struct architecture_formula *formula;
	struct rot_error ignored = {0};
	double count = NAN;
	json_t *number;
	const char *event;

	if (!counted->counts)
		return value ? value->summary.value : NAN;
	formula = counted->architecture ? architecture_formula(counted->architecture, quantity, of) : NULL;
	json_object_foreach((json_t *)counted->counts, event, number)
		expression_scope_set_number(scope, event, json_number_value(number));
	if (!formula || expression_number(scope, formula->expression, &count, &ignored) < 0)
		return NAN;
	return count;
}

/* ---- rates ---- */

/* A value of the point that is like another one of the program, of that operation. */
static void
add_rate(struct experiment_point *point, const struct quantity_value *like, const char *operation, double number)
{
	const char *behind = strchr(like->of, '/');
	struct quantity_value *value = &point->values[point->nr_values];

	if (!(number > 0))
		return;
	*value = value_like(like, number, "ratio");
	value->of = pool_format(&point->pool, "%s%s", operation, behind ? behind : "");
	value->request.operation = operation;
	point->requests[point->nr_values++] = value->request;
}

/* Is it an intensity at a border, of the operations that the roofline counts? */
static bool
is_at_border(const struct experiment_own_plot *roofline, const struct quantity_value *value)
{
	return value->request.name && strcmp(value->request.name, roofline->x.name) == 0 && value->request.border &&
	       quantity_same_word(value->request.operation, roofline->x.operation);
}

static void
add_rates_of(struct experiment_point *point, const struct counted *counted, const char *operation,
	     const struct experiment_point *program, const struct experiment_own_plot *roofline)
{
	const struct quantity_value *y = experiment_point_value(program, &roofline->y),
				    *own = experiment_point_value(point, &roofline->y);
	const double operations = count_of(counted, "operationCount", operation),
		     whole = count_of(counted, "operationCount", roofline->y.operation);
	const size_t nr = program->nr_values;

	if (own && strcmp(operation, roofline->y.operation) != 0)
		add_rate(point, y, operation, own->summary.value * operations / whole);
	for (size_t i = 0; i < nr; i++) {
		const struct quantity_value *like = &program->values[i];
		struct quantity_request request = like->request;

		request.operation = operation;
		if (is_at_border(roofline, like) && !experiment_point_value(point, &request))
			add_rate(point, like, operation,
				 operations / count_of(counted, "transferredBytes", request.border));
	}
}

/*
 * Adds the rates of the point at each border of the program's point, and of each precision: they follow from its
 * counts, those of events (counts, of a function of the program) or its own values (NULL).
 */
static void
add_rates(const struct experiment *experiment, struct experiment_point *point, const struct experiment_point *program,
	  const json_t *counts)
{
	const struct experiment_own_plot *roofline = experiment_first_roofline(experiment);
	const struct counted counted = {point, experiment->rot->architecture->by_blocks, counts};
	const size_t nr = point->nr_values, most = nr + (NR_PRECISIONS + 1) * (program->nr_values + 1);
	const struct quantity_request *requests = point->requests;
	const struct quantity_value *values = point->values;

	point->requests = pool_calloc(&point->pool, most, sizeof(*requests));
	point->values = pool_calloc(&point->pool, most, sizeof(*values));
	memcpy(point->requests, requests, nr * sizeof(*requests));
	memcpy(point->values, values, nr * sizeof(*values));
	add_rates_of(point, &counted, roofline->y.operation, program, roofline);
	for (size_t i = 0; strcmp(roofline->y.operation, "flop") == 0 && i < NR_PRECISIONS; i++)
		add_rates_of(point, &counted, precisions[i], program, roofline);
}

/* ---- functions and loops ---- */

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
	label = rot_format("%s%s %.*f %%", title, experiment_is_loop(json) ? ":" : "", share < 0.1, 100 * share);
	source = rot_format("%s:%d", json_text_at(json, "source"), (int)json_number_at(json, "line"));
	struct coordinate coordinates[] = {
		{.axis = experiment_is_loop(json) ? "loop" : "function", .number = NAN, .text = name},
		{.axis = "file", .number = NAN, .text = function_file(json)},
		{.axis = "line", .number = NAN, .text = source}};
	*point = experiment_point_at(
		&(struct experiment_position){series, label, {coordinates, *json_text_at(json, "source") ? 3 : 2}});
	point->nr_values = 2;
	point->requests = pool_calloc(&point->pool, 2, sizeof(*point->requests));
	point->values = pool_calloc(&point->pool, 2, sizeof(*point->values));
	point->requests[0] = plot->x;
	point->requests[1] = plot->y;
	point->values[0] = value_like(x, intensity, "share");
	point->values[0].summary.low = point->values[0].summary.high = NAN;
	point->values[1] = value_like(y, rate, "share");
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

		if (!(share >= LEAST_SHARE) || experiment_is_loop(json) != are_loops)
			continue;
		nr_seen++;
		if (computes && make_function(experiment, &experiment->points[program], series, json, &point)) {
			point.place = pool_format(&point.pool, "%s-%zu-%zu", are_loops ? "loop" : "place", number, i);
			if (json_object_get(json, "counts"))
				add_rates(experiment, &point, &experiment->points[program],
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

/* ---- views ---- */

/* The roofline with that operation, at that one of its borders; behind the last, joined at all of them. */
static struct experiment_own_plot
view_at(struct pool *pool, const struct experiment_own_plot *roofline, const char *operation, bool shows_loops,
	const struct quantity_request *borders, size_t nr_borders, size_t at)
{
	struct experiment_own_plot own = *roofline;
	const bool is_whole = strcmp(operation, roofline->y.operation) == 0, is_joined = at == nr_borders;
	const struct quantity_value words = {.of = is_joined ? "" : borders[at].border}, precision = {.of = operation};

	own.plot.shows_loops = shows_loops;
	own.x.operation = own.y.operation = operation;
	if (!is_whole)
		own.plot.annotation = "";
	if (is_joined) {
		own.joined = borders;
		own.nr_joined = nr_borders;
		own.plot.x_label = "Operational intensity (all borders)";
	} else {
		own.x.border = borders[at].border;
	}
	own.view = (struct page_view){
		.border = is_joined ? "all" : pool_own(pool, value_of_words(&words), free),
		.precision = is_whole ? "all" : pool_own(pool, value_of_words(&precision), free),
		.places = shows_loops ? "loops" : "functions",
	};
	return own;
}

size_t
experiment_views_of(struct pool *pool, const struct experiment *experiment, const struct experiment_own_plot *roofline,
		    struct experiment_own_plot **views)
{
	const struct experiment_point *program = experiment->nr_points > 0 ? &experiment->points[0] : NULL;
	const char *const operations[] = {roofline->y.operation, precisions[0], precisions[1]};
	const struct quantity_value *whole = program ? experiment_point_value(program, &roofline->y) : NULL;
	struct quantity_request *borders, request = roofline->y;
	size_t nr_borders = 1, nr = 0; /* that of the roofline is the first border */

	if (!roofline->plot.has_views || !whole || !roofline->x.border ||
	    !experiment_point_value(program, &roofline->x))
		return 0;
	for (size_t i = 0; i < experiment->nr_points; i++)
		add_rates(experiment, &experiment->points[i], program, NULL);
	borders = pool_calloc(pool, program->nr_values + 1, sizeof(*borders));
	borders[0] = roofline->x;
	for (size_t i = 0; i < program->nr_values; i++) {
		const struct quantity_value *value = &program->values[i];

		if (is_at_border(roofline, value) && value->summary.value > 0 &&
		    strcmp(value->request.border, roofline->x.border) != 0)
			borders[nr_borders++] = value->request;
	}
	*views = NULL;
	for (size_t o = 0; o < sizeof(operations) / sizeof(*operations); o++) {
		const struct quantity_value *value;

		request.operation = operations[o];
		value = experiment_point_value(program, &request);
		/* All of double precision is below the same roof as all. */
		if (o > 0 && (strcmp(operations[0], "flop") != 0 || !value ||
			      (o == 1 && !(value->summary.value < whole->summary.value))))
			continue;
		for (int is_other = 0; is_other <= 1; is_other++) {
			const bool shows_loops = roofline->plot.shows_loops != (bool)is_other;
			bool has_places = !is_other;

			for (size_t i = 0; i < experiment->nr_functions; i++)
				has_places |= experiment_is_loop(experiment->functions[i].result) == shows_loops;
			for (size_t at = 0; has_places && at < nr_borders + (nr_borders > 1); at++)
				pool_add(pool, *views, nr) =
					view_at(pool, roofline, operations[o], shows_loops, borders, nr_borders, at);
		}
	}
	return nr;
}
