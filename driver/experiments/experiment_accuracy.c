/* SPDX-License-Identifier: MIT */
/* Tables of accuracy and precision: how far measured values are off, and apart, the worst point of each group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text_table.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"

void
experiment_add_accuracy(struct experiment *experiment, const struct experiment_accuracy *accuracy)
{
	pool_add(&experiment->pool, experiment->accuracies, experiment->nr_accuracies) = *accuracy;
}

char *
experiment_why_not_measured(const struct experiment *experiment)
{
	const struct architecture *architecture = experiment->rot->architecture;
	const char *why = architecture ? architecture->why_not.text : "";

	return rot_format("is not measured here%s%s", why[0] ? ": " : "", why);
}

/* ---- groups of points ---- */

/* The worst in it; NaN where nothing was seen. */
struct worst {
	double off, spread;
	size_t nr_least, nr_most;
};

struct group {
	const char *series;             /* borrowed */
	const json_t *by;               /* its coordinate; NULL: none */
	size_t nr_points, nr_disturbed; /* disturbed: points without a run that was not, which say nothing */
	struct worst runs, minima;
};

struct groups {
	struct group *items;
	size_t nr;
	bool is_measured;                 /* some value of them was */
	const struct quantity_value *any; /* of the first point that has it, for its words; NULL: none has */
};

static struct group *
group_of(struct groups *groups, const char *series, const json_t *by)
{
	const struct worst none = {NAN, NAN, SIZE_MAX, 0};

	for (size_t i = 0; i < groups->nr; i++)
		if (strcmp(groups->items[i].series, series) == 0 &&
		    (groups->items[i].by == by || json_equal(groups->items[i].by, by)))
			return &groups->items[i];
	groups->items = rot_realloc(groups->items, groups->nr + 1, sizeof(*groups->items));
	groups->items[groups->nr] = (struct group){series, by, 0, 0, none, none};
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
groups_of(const struct experiment *experiment, const struct experiment_accuracy *own)
{
	const struct sample_view runs = {.reference = own->view.reference};
	struct groups groups = {.nr = 0};

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];
		const struct quantity_value *value = experiment_point_value(point, &own->of);
		struct sample_accuracy of_runs, of_minima;
		struct rot_error ignored = {0};
		struct group *group;
		bool shows;

		groups.any = groups.any ? groups.any : value;
		if (experiment_shows(own->condition, point->json, &shows, &ignored) < 0 || !shows || !value ||
		    !quantity_is_of_runs(value))
			continue;
		groups.is_measured = true;
		of_runs = sample_accuracy_of(&runs, value);
		of_minima = sample_accuracy_of(&own->view, value);
		if (of_runs.nr == 0)
			continue;
		group = group_of(&groups, point->series, experiment_point_on(point, own->by));
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

/* ---- JSON ---- */

static json_t *
json_worst(const struct worst *worst)
{
	return json_pack("{s:I, s:I, s:o, s:o}", "nLeast", (json_int_t)(worst->nr_most ? worst->nr_least : 0), "nMost",
			 (json_int_t)worst->nr_most, "off", json_number(worst->off), "spread",
			 json_number(worst->spread));
}

json_t *
experiment_json_accuracy(const struct experiment *experiment)
{
	static const char *const references[] = {"", "expected", "minimum"};
	json_t *json = json_array();

	for (size_t i = 0; i < experiment->nr_accuracies; i++) {
		const struct experiment_accuracy *own = &experiment->accuracies[i];
		struct groups groups = groups_of(experiment, own);
		autofree char *why = groups.any && !groups.is_measured ? experiment_why_not_measured(experiment) : NULL;
		json_t *rows = json_array();

		for (size_t k = 0; k < groups.nr; k++) {
			const struct group *g = &groups.items[k];
			autofree char *class = json_plain_text(g->by);

			json_array_append_new(
				rows,
				json_pack("{s:o, s:o*, s:I, s:I, s:o, s:o*}", "series", json_text(g->series), own->by,
					  own->by[0] ? json_text(class) : NULL, "points", (json_int_t)g->nr_points,
					  "disturbed", (json_int_t)g->nr_disturbed, "runs", json_worst(&g->runs),
					  "minima", own->view.minimum_of > 1 ? json_worst(&g->minima) : NULL));
		}
		json_array_append_new(
			json, json_pack("{s:o, s:s, s:s, s:s, s:I, s:o, s:o*}", "title", json_text(own->title), "name",
					own->of.name, "of", groups.any ? groups.any->of : "", "relativeTo",
					references[own->view.reference], "minimumOf", (json_int_t)own->view.minimum_of,
					"rows", rows, "notMeasured", why ? json_text(why) : NULL));
		free(groups.items);
	}
	return json;
}

/* ---- printing what OUTPUT.json has ---- */

static char *
percent(const json_t *worst, const char *key, bool is_signed)
{
	const double share = json_number_at(worst, key);

	return isnan(share) ? rot_strdup("-") : rot_format(is_signed ? "%+.2f" : "%.2f", 100 * share);
}

/* "9", "9..10"; "-" of none. */
static char *
number_of(const json_t *worst)
{
	const double least = json_number_at(worst, "nLeast"), most = json_number_at(worst, "nMost");

	return !(most > 0)     ? rot_strdup("-")
	       : least == most ? rot_format("%.0f", most)
			       : rot_format("%.0f..%.0f", least, most);
}

static void
print_rows(const json_t *rows, const char *by, double minimum_of, FILE *out)
{
	autofree char *of_minima = rot_format("least of %.0f\nnumber", minimum_of);
	const struct text_table_column columns[] = {
		{"series", true},
		{by, false},
		{"points", false},
		{"runs", false},
		{"runs\noff\n[%]", false},
		{"quartiles\napart\n[%]", false},
		{of_minima, false},
		{"least\noff\n[%]", false},
		{"ends\napart\n[%]", false},
	};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 2};
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const json_t *runs = json_object_get(row, "runs"), *minima = json_object_get(row, "minima");
		const double nr = json_number_at(row, "points"), nr_disturbed = json_number_at(row, "disturbed");
		char *const cells[] = {
			rot_strdup(json_text_at(row, "series")),
			rot_strdup(json_text_at(row, by)),
			/* "9 of 10", if some have no undisturbed run */
			nr_disturbed > 0 ? rot_format("%.0f of %.0f", nr, nr + nr_disturbed) : rot_format("%.0f", nr),
			number_of(runs),
			percent(runs, "off", true),
			percent(runs, "spread", false),
			number_of(minima),
			percent(minima, "off", true),
			percent(minima, "spread", false),
		};

		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	fputc('\n', out);
	text_table_clear(&table);
}

void
experiment_print_accuracy(const struct experiment *experiment, const json_t *accuracies, FILE *out)
{
	const json_t *json;
	size_t i;

	json_array_foreach(accuracies, i, json) {
		const char *title = json_text_at(json, "title"), *of = json_text_at(json, "of"),
			   *why = json_text_at(json, "notMeasured"), *relative = json_text_at(json, "relativeTo");
		const json_t *rows = json_object_get(json, "rows");

		if (*why) {
			fprintf(out, "%s: %s%s%s %s\n\n", title, json_text_at(json, "name"), *of ? ":" : "", of, why);
		} else if (json_array_size(rows) > 0) {
			fprintf(out, "%s: the worst point of each row%s\n\n", title,
				strcmp(relative, "expected") == 0 ? ", off from what the kernel's definition expects"
				: *relative                       ? ", off from the least run of the point"
								  : "");
			print_rows(rows, experiment->accuracies[i].by, json_number_at(json, "minimumOf"), out);
		}
	}
}
