/* SPDX-License-Identifier: MIT */
/* Tables of accuracy and precision: how far measured values are off, and apart, the worst point of each group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "support/json.h"
#include "support/text_table.h"

int
experiment_add_accuracy(struct experiment *experiment, const struct experiment_accuracy *accuracy,
			struct rot_error *err)
{
	struct experiment_own_accuracy own = {.view = accuracy->view};

	if (quantity_parse(&own.of, accuracy->of, err) < 0)
		return rot_error_prefix(err, "accuracy: of");
	own.title = pool_strdup(&experiment->pool, accuracy->title);
	own.by = pool_strdup(&experiment->pool, accuracy->by);
	own.condition = pool_strdup(&experiment->pool, accuracy->condition);
	pool_add(&experiment->pool, experiment->accuracies, experiment->nr_accuracies) = own;
	return 0;
}

char *
experiment_why_not_measured(const struct experiment *experiment)
{
	const struct architecture *architecture = experiment->rot->architecture;
	const char *why = architecture ? architecture->why_not.text : "";

	return rot_format("is not measured here%s%s", why[0] ? ": " : "", why);
}

/* ---- groups of points ---- */

/* What is worst in it; NaN where nothing was seen. */
struct worst {
	double off, spread;
	size_t nr_least, nr_most;
};

struct group {
	const char *series, *class;     /* borrowed */
	size_t nr_points, nr_disturbed; /* disturbed: points without a run that was not, which say nothing */
	struct worst runs, minima;
};

struct groups {
	struct group *items;
	size_t nr;
	bool is_measured; /* some value of them was */
};

static struct group *
group_of(struct groups *groups, const char *series, const char *class)
{
	const struct worst none = {NAN, NAN, SIZE_MAX, 0};

	for (size_t i = 0; i < groups->nr; i++)
		if (strcmp(groups->items[i].series, series) == 0 && strcmp(groups->items[i].class, class) == 0)
			return &groups->items[i];
	groups->items = rot_realloc(groups->items, groups->nr + 1, sizeof(*groups->items));
	groups->items[groups->nr] = (struct group){series, class, 0, 0, none, none};
	return &groups->items[groups->nr++];
}

static void
add_accuracy(struct worst *worst, const struct sample_accuracy *accuracy)
{
	if (accuracy->nr == 0)
		return;
	if (isnan(worst->off) || fabs(accuracy->off) > fabs(worst->off))
		worst->off = accuracy->off;
	worst->spread = fmax(worst->spread, accuracy->spread); /* of a number and NaN, the number */
	worst->nr_least = accuracy->nr < worst->nr_least ? accuracy->nr : worst->nr_least;
	worst->nr_most = accuracy->nr > worst->nr_most ? accuracy->nr : worst->nr_most;
}

/* Groups in the order of their first points; points whose value is not measured, or has no reference, are passed over.
 * Free the items. */
static struct groups
groups_of(const struct experiment *experiment, const struct experiment_own_accuracy *own)
{
	const struct sample_view runs = {.reference = own->view.reference};
	struct groups groups = {.nr = 0};

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];
		const struct quantity_value *value = experiment_point_value(point, &own->of);
		const struct coordinate *by = point_coordinate(&point->at, own->by);
		struct sample_accuracy of_runs, of_minima;
		struct rot_error ignored = {0};
		struct group *group;
		bool shows;

		if (experiment_shows(own->condition, point, &shows, &ignored) < 0 || !shows || !value ||
		    !quantity_is_of_runs(value))
			continue;
		groups.is_measured = true;
		of_runs = sample_accuracy_of(&runs, value);
		of_minima = sample_accuracy_of(&own->view, value);
		if (of_runs.nr == 0)
			continue;
		group = group_of(&groups, point->series, by ? by->text : "");
		if (quantity_is_of_tainted(value)) {
			group->nr_disturbed++;
			continue;
		}
		group->nr_points++;
		add_accuracy(&group->runs, &of_runs);
		if (own->view.minimum_of > 1)
			add_accuracy(&group->minima, &of_minima);
	}
	return groups;
}

/* Of the first point that has it: for its unit and words. */
static const struct quantity_value *
any_value(const struct experiment *experiment, const struct experiment_own_accuracy *own)
{
	const struct quantity_value *value = NULL;

	for (size_t i = 0; i < experiment->nr_points && !value; i++)
		value = experiment_point_value(&experiment->points[i], &own->of);
	return value;
}

/* ---- printing ---- */

static char *
percent(double share, bool is_signed)
{
	return isfinite(share) ? rot_format(is_signed ? "%+.2f" : "%.2f", 100 * share) : rot_strdup("-");
}

static char *
number_of(const struct worst *worst)
{
	if (worst->nr_most == 0)
		return rot_strdup("-");
	return worst->nr_least == worst->nr_most ? rot_format("%zu", worst->nr_most)
						 : rot_format("%zu..%zu", worst->nr_least, worst->nr_most);
}

/* "9 of 10", if some have no undisturbed run. */
static char *
number_of_points(const struct group *group)
{
	return group->nr_disturbed ? rot_format("%zu of %zu", group->nr_points, group->nr_points + group->nr_disturbed)
				   : rot_format("%zu", group->nr_points);
}

static void
print_groups(const struct experiment_own_accuracy *own, const struct groups *groups, FILE *out)
{
	autofree char *of_minima = rot_format("least of %zu\nnumber", own->view.minimum_of);
	const struct text_table_column columns[] = {
		{"series", true},   {own->by, false},           {"points", false},
		{"runs", false},    {"runs\noff\n[%]", false},  {"quartiles\napart\n[%]", false},
		{of_minima, false}, {"least\noff\n[%]", false}, {"ends\napart\n[%]", false},
	};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 2};

	for (size_t i = 0; i < groups->nr; i++) {
		const struct group *g = &groups->items[i];
		char *const cells[] = {
			rot_strdup(g->series), rot_strdup(g->class),         number_of_points(g),
			number_of(&g->runs),   percent(g->runs.off, true),   percent(g->runs.spread, false),
			number_of(&g->minima), percent(g->minima.off, true), percent(g->minima.spread, false)};

		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	fputc('\n', out);
	text_table_clear(&table);
}

static const char *
reference_words(const struct sample_view *view)
{
	return view->reference == SAMPLES_TO_EXPECTED  ? ", off from what the kernel's definition expects"
	       : view->reference == SAMPLES_TO_MINIMUM ? ", off from the least run of the point"
						       : "";
}

void
experiment_print_accuracy(const struct experiment *experiment, FILE *out)
{
	for (size_t i = 0; i < experiment->nr_accuracies; i++) {
		const struct experiment_own_accuracy *own = &experiment->accuracies[i];
		const struct quantity_value *value = any_value(experiment, own);
		struct groups groups = groups_of(experiment, own);
		autofree char *why = NULL;

		if (value && !groups.is_measured) {
			why = experiment_why_not_measured(experiment);
			fprintf(out, "%s: %s%s%s %s\n\n", own->title, value->name, value->of[0] ? ":" : "", value->of,
				why);
		} else if (groups.nr > 0) {
			fprintf(out, "%s: the worst point of each row%s\n\n", own->title, reference_words(&own->view));
			print_groups(own, &groups, out);
		}
		free(groups.items);
	}
}

/* ---- JSON ---- */

static json_t *
json_worst(const struct worst *worst)
{
	return json_pack("{s:I, s:I, s:o, s:o}", "nLeast", (json_int_t)(worst->nr_most ? worst->nr_least : 0), "nMost",
			 (json_int_t)worst->nr_most, "off", json_number(worst->off), "spread",
			 json_number(worst->spread));
}

static json_t *
json_groups(const struct experiment_own_accuracy *own, const struct groups *groups)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < groups->nr; i++) {
		const struct group *g = &groups->items[i];

		json_array_append_new(
			rows, json_pack("{s:o, s:o*, s:I, s:I, s:o, s:o*}", "series", json_text(g->series), own->by,
					own->by[0] ? json_text(g->class) : NULL, "points", (json_int_t)g->nr_points,
					"disturbed", (json_int_t)g->nr_disturbed, "runs", json_worst(&g->runs),
					"minima", own->view.minimum_of > 1 ? json_worst(&g->minima) : NULL));
	}
	return rows;
}

json_t *
experiment_json_accuracy(const struct experiment *experiment)
{
	static const char *const references[] = {"", "expected", "minimum"};
	json_t *json = json_array();

	for (size_t i = 0; i < experiment->nr_accuracies; i++) {
		const struct experiment_own_accuracy *own = &experiment->accuracies[i];
		const struct quantity_value *value = any_value(experiment, own);
		struct groups groups = groups_of(experiment, own);
		autofree char *why = value && !groups.is_measured ? experiment_why_not_measured(experiment) : NULL;

		json_array_append_new(
			json, json_pack("{s:o, s:s, s:s, s:s, s:I, s:o, s:o*}", "title", json_text(own->title), "name",
					own->of.name, "of", value ? value->of : "", "relativeTo",
					references[own->view.reference], "minimumOf", (json_int_t)own->view.minimum_of,
					"rows", json_groups(own, &groups), "notMeasured", why ? json_text(why) : NULL));
		free(groups.items);
	}
	return json;
}
