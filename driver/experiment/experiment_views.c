/* SPDX-License-Identifier: MIT */
/* The roofline of a program at each border, of each precision, of functions and of loops: a page chooses among them. */
#include <math.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "kernels/expression.h"
#include "memory.h"
#include "page/page.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

static const char *const precisions[] = {"doublePrecisionFlop", "singlePrecisionFlop"};

enum { NR_PRECISIONS = sizeof(precisions) / sizeof(*precisions) };

/* ---- counts ---- */

/* What a point, or a place of a program (json), did: operations, or bytes across a border. NaN: not known. */
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

/* Like another value of the program, of that operation. Of the point. */
static void
add_rate(struct experiment_point *point, const struct quantity_value *like, const char *operation, double number)
{
	const char *behind = strchr(like->of, '/');
	struct quantity_value *value = &point->values[point->nr_values];

	if (!(number > 0))
		return;
	*value = experiment_value_like(like, number, "ratio");
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

void
experiment_add_rates(const struct experiment *experiment, struct experiment_point *point,
		     const struct experiment_point *program, const json_t *counts)
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

/* ---- views ---- */

/* The views of one page, each with all borders that the program's bytes are known of. */
struct views {
	struct pool *pool;
	const struct experiment *experiment;
	const struct experiment_own_plot *roofline;
	const struct experiment_point *program;
	struct experiment_own_plot *items;
	size_t nr;
	struct quantity_request *borders;
	size_t nr_borders;
};

static void
add_view(struct views *views, const char *operation, bool shows_loops, const struct quantity_request *border)
{
	struct experiment_own_plot own = *views->roofline;
	const bool is_whole = strcmp(operation, views->roofline->y.operation) == 0;
	const struct quantity_value words = {.of = border ? border->border : operation}, precision = {.of = operation};

	own.plot.shows_loops = shows_loops;
	if (border)
		own.x.border = border->border;
	own.x.operation = own.y.operation = operation;
	if (!is_whole)
		own.plot.annotation = "";
	if (!border) {
		own.joined = views->borders;
		own.nr_joined = views->nr_borders;
		own.plot.x_label = "Operational intensity (all borders)";
	}
	own.view = (struct page_view){
		.border = border ? pool_own(views->pool, value_of_words(&words), free) : "all",
		.precision = is_whole ? "all" : pool_own(views->pool, value_of_words(&precision), free),
		.places = shows_loops ? "loops" : "functions",
	};
	pool_add(views->pool, views->items, views->nr) = own;
}

static void
add_views_of(struct views *views, const char *operation)
{
	const bool first = views->roofline->plot.shows_loops;

	for (int is_other = 0; is_other <= 1; is_other++) {
		const bool shows_loops = first != (bool)is_other;
		bool has_places = !is_other;

		for (size_t i = 0; i < views->experiment->nr_functions; i++)
			has_places |= experiment_is_loop(&views->experiment->functions[i]) == shows_loops;
		if (!has_places)
			continue;
		for (size_t i = 0; i < views->nr_borders; i++)
			add_view(views, operation, shows_loops, &views->borders[i]);
		if (views->nr_borders > 1)
			add_view(views, operation, shows_loops, NULL);
	}
}

/* The border of the roofline is the first. */
static void
find_borders(struct views *views)
{
	views->borders = pool_calloc(views->pool, views->program->nr_values + 1, sizeof(*views->borders));
	views->borders[views->nr_borders++] = views->roofline->x;
	for (size_t i = 0; i < views->program->nr_values; i++) {
		const struct quantity_value *value = &views->program->values[i];

		if (is_at_border(views->roofline, value) && value->summary.value > 0 &&
		    strcmp(value->request.border, views->roofline->x.border) != 0)
			views->borders[views->nr_borders++] = value->request;
	}
}

/* All of double precision is below the same roof as all. */
static bool
says_more(const struct views *views, const char *operation)
{
	struct quantity_request request = views->roofline->y;
	const double whole = experiment_point_value(views->program, &request)->summary.value;
	const struct quantity_value *value;

	if (strcmp(request.operation, "flop") != 0)
		return false;
	request.operation = operation;
	value = experiment_point_value(views->program, &request);
	return value && (value->summary.value < whole || strcmp(operation, "doublePrecisionFlop") != 0);
}

size_t
experiment_views_of(struct pool *pool, const struct experiment *experiment, const struct experiment_own_plot *roofline,
		    struct experiment_own_plot **views)
{
	struct views made = {.pool = pool,
			     .experiment = experiment,
			     .roofline = roofline,
			     .program = experiment->nr_points > 0 ? &experiment->points[0] : NULL};

	if (!roofline->plot.has_views || !made.program || !roofline->x.border ||
	    !experiment_point_value(made.program, &roofline->x) || !experiment_point_value(made.program, &roofline->y))
		return 0;
	for (size_t i = 0; i < experiment->nr_points; i++)
		experiment_add_rates(experiment, &experiment->points[i], made.program, NULL);
	find_borders(&made);
	add_views_of(&made, roofline->y.operation);
	for (size_t i = 0; i < NR_PRECISIONS; i++)
		if (says_more(&made, precisions[i]))
			add_views_of(&made, precisions[i]);
	*views = made.items;
	return made.nr;
}
