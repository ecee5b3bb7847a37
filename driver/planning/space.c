/* SPDX-License-Identifier: MIT */
/* Parameter spaces: named axes with values, and all points they span. */
#include "planning/space.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"

/* One element of an axis: gives any number of values. */
struct generator {
	enum space_values kind;
	char *text[3];
	char *condition;
	char *where;
};

struct axis {
	char *name;
	struct generator *generators;
	size_t nr_generators;
};

struct skip {
	char *condition;
	char *where;
};

struct space {
	struct pool *pool;
	struct axis *axes;
	size_t nr_axes;
	struct skip *skips;
	size_t nr_skips;
};

/* Values of one axis at one place. */
struct values {
	struct pool *pool;
	struct coordinate *items;
	size_t nr;
};

/* The walk over all points. */
struct walk {
	const struct space *space;
	struct coordinate *here; /* [nr_axes], borrowed from the values of the level */
	struct point *points;
	size_t nr;
};

struct space *
space_new(struct pool *pool)
{
	struct space *space = pool_calloc(pool, 1, sizeof(*space));

	space->pool = pool;
	return space;
}

int
space_add_axis(struct space *space, const char *name, struct rot_error *err)
{
	for (size_t i = 0; i < space->nr_axes; i++)
		if (strcmp(space->axes[i].name, name) == 0)
			return rot_error_set(err, 0, "axis '%s' is there twice", name);
	pool_add(space->pool, space->axes, space->nr_axes) = (struct axis){.name = pool_strdup(space->pool, name)};
	return 0;
}

void
space_add_values(struct space *space, enum space_values kind, const char *const text[3], const char *condition,
		 const char *where)
{
	struct axis *axis = &space->axes[space->nr_axes - 1];
	struct generator *g;

	g = &pool_add(space->pool, axis->generators, axis->nr_generators);
	g->kind = kind;
	for (size_t i = 0; i < 3; i++)
		g->text[i] = pool_strdup(space->pool, text[i]);
	g->condition = pool_strdup(space->pool, condition);
	g->where = pool_strdup(space->pool, where);
}

void
space_add_skip(struct space *space, const char *condition, const char *where)
{
	pool_add(space->pool, space->skips, space->nr_skips) =
		(struct skip){pool_strdup(space->pool, condition), pool_strdup(space->pool, where)};
}

static bool
parse_number(const char *text, double *number)
{
	return rot_number_parse(text, number) && isfinite(*number);
}

static void
values_add(struct values *values, double number, char *text)
{
	pool_add(values->pool, values->items, values->nr) =
		(struct coordinate){.number = number, .text = pool_own(values->pool, text, free)};
}

static void
values_add_text(struct values *values, const char *text)
{
	double number;

	if (parse_number(text, &number))
		values_add(values, number, rot_number_in_full(number));
	else
		values_add(values, NAN, rot_strdup(text));
}

/* from, to and step or factor as numbers. */
static int
evaluate_bounds(const struct generator *g, const struct expression_scope *scope, double bounds[3],
		struct rot_error *err)
{
	static const char *const names[2][3] = {{"from", "to", "step"}, {"from", "to", "factor"}};

	for (size_t i = 0; i < 3; i++) {
		const char *name = names[g->kind == SPACE_GEOMETRIC][i];
		autofree char *text = expression_text(scope, g->text[i], err);
		bool is_number = text && parse_number(text, &bounds[i]);

		if (text && !is_number)
			rot_error_set(err, 0, "%s is '%s', which is no number", name, text);
		else if (!text)
			rot_error_prefix(err, "%s", name);
		if (!is_number)
			return -1;
	}
	return 0;
}

static int
add_progression(const struct generator *g, const struct expression_scope *scope, struct values *values,
		struct rot_error *err)
{
	bool is_range = g->kind == SPACE_RANGE;
	double b[3], steps;

	if (evaluate_bounds(g, scope, b, err) < 0)
		return -1;
	if (is_range ? b[2] == 0 : b[0] * b[1] <= 0 || b[2] <= 0 || b[2] == 1)
		return rot_error_set(
			err, 0,
			is_range ? "step is 0: the range never ends"
				 : "from and to must have the same sign and factor must be above 0 and not 1");
	/* A little more than the exact quotient, so that a rounding error does not lose the last value. */
	steps = is_range ? (b[1] - b[0]) / b[2] : log(b[1] / b[0]) / log(b[2]);
	steps = floor(steps * (1 + 1e-12) + 1e-9);
	if (steps < 0) {
		rot_error_set(err, 0, "from %g to %g with %s %g has no value", b[0], b[1], is_range ? "step" : "factor",
			      b[2]);
		return rot_error_hint(err, "%s",
				      is_range ? "the step must have the sign of to - from"
					       : "a factor above 1 grows, below 1 shrinks");
	}
	if (steps >= SPACE_MAX_POINTS)
		return rot_error_set(err, 0, "more than %d values on one axis", SPACE_MAX_POINTS);
	for (size_t i = 0; i <= (size_t)steps; i++) {
		/* Factors such as 0.1 are not exact, their reciprocals often are. */
		double number = is_range   ? b[0] + (double)i * b[2]
				: b[2] < 1 ? b[0] / pow(1 / b[2], (double)i)
					   : b[0] * pow(b[2], (double)i);

		values_add(values, number, rot_number_in_full(number));
	}
	return 0;
}

static int
generate(const struct generator *g, const struct expression_scope *scope, struct values *values, struct rot_error *err)
{
	autofree char *text = NULL;
	bool counts = true;

	if (g->condition[0] && expression_bool(scope, g->condition, &counts, err) < 0)
		return rot_error_prefix(err, "if");
	if (!counts)
		return 0;
	if (g->kind == SPACE_RANGE || g->kind == SPACE_GEOMETRIC)
		return add_progression(g, scope, values, err);
	text = expression_text(scope, g->text[0], err);
	if (!text)
		return -1;
	if (g->kind == SPACE_LIST) {
		char *rest = NULL;

		for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
			values_add_text(values, word);
	} else
		values_add_text(values, text);
	return 0;
}

static int
axis_values(const struct axis *axis, const struct expression_scope *scope, struct values *values, struct rot_error *err)
{
	for (size_t i = 0; i < axis->nr_generators; i++) {
		const struct generator *g = &axis->generators[i];

		if (generate(g, scope, values, err) < 0) {
			rot_error_prefix(err, "axis '%s'", axis->name);
			return g->where[0] ? rot_error_prefix(err, "%s", g->where) : -1;
		}
	}
	for (size_t i = 0; i < values->nr; i++)
		values->items[i].axis = axis->name;
	return 0;
}

static void
set_variable(struct expression_scope *scope, const struct coordinate *c)
{
	if (isnan(c->number))
		expression_scope_set_string(scope, c->axis, c->text);
	else
		expression_scope_set_number(scope, c->axis, c->number);
}

static int
walk_add_point(struct walk *walk, const struct expression_scope *scope, struct rot_error *err)
{
	const size_t nr_axes = walk->space->nr_axes;
	struct pool *pool = walk->space->pool;

	for (size_t i = 0; i < walk->space->nr_skips; i++) {
		const struct skip *skip = &walk->space->skips[i];
		bool is_left_out;

		if (expression_bool(scope, skip->condition, &is_left_out, err) < 0) {
			rot_error_prefix(err, "skip");
			return skip->where[0] ? rot_error_prefix(err, "%s", skip->where) : -1;
		}
		if (is_left_out)
			return 0;
	}
	if (walk->nr == SPACE_MAX_POINTS)
		return rot_error_set(err, 0, "the axes span more than %d points", SPACE_MAX_POINTS);
	pool_add(pool, walk->points, walk->nr) = (struct point){
		.coordinates = pool_copy(pool, walk->here, nr_axes, sizeof(*walk->here)),
		.nr_coordinates = nr_axes,
	};
	return 0;
}

/* Every level has a scope of its own, so that an axis sees those before it and no other. */
static int
walk_axis(struct walk *walk, size_t level, const struct expression_scope *outer, struct rot_error *err)
{
	const struct space *space = walk->space;
	struct values values = {.pool = space->pool};

	if (level == space->nr_axes)
		return walk_add_point(walk, outer, err);
	if (axis_values(&space->axes[level], outer, &values, err) < 0)
		return -1;
	for (size_t i = 0; i < values.nr; i++) {
		autoscope struct expression_scope *inner = expression_scope_new(outer);

		walk->here[level] = values.items[i];
		set_variable(inner, &values.items[i]);
		if (walk_axis(walk, level + 1, inner, err) < 0)
			return -1;
	}
	return 0;
}

int
space_points(const struct space *space, const struct expression_scope *constants, struct point **points, size_t *nr,
	     struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(constants);
	struct walk walk = {
		.space = space,
		.here = pool_calloc(space->pool, space->nr_axes, sizeof(*walk.here)),
	};

	if (walk_axis(&walk, 0, scope, err) < 0)
		return -1;
	if (walk.nr == 0) {
		rot_error_set(err, 0, "no point to measure is left");
		return rot_error_hint(err, "look at the values of the axes, and at what the conditions leave out");
	}
	*points = walk.points;
	*nr = walk.nr;
	return 0;
}

const struct coordinate *
point_coordinate(const struct point *point, const char *axis)
{
	for (size_t i = 0; i < point->nr_coordinates; i++)
		if (strcmp(point->coordinates[i].axis, axis) == 0)
			return &point->coordinates[i];
	return NULL;
}

char *
point_text(const struct point *point)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < point->nr_coordinates; i++)
		rot_append(&text, "%s%s=%s", i ? ", " : "", point->coordinates[i].axis,
			   point->coordinates[i].text ? point->coordinates[i].text : "");
	return text;
}

void
point_set_variables(const struct point *point, struct expression_scope *scope)
{
	for (size_t i = 0; i < point->nr_coordinates; i++)
		set_variable(scope, &point->coordinates[i]);
}
