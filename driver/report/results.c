/* SPDX-License-Identifier: MIT */
#include "report/results.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "stored/stored_plot.h"
#include "support/entry.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text_table.h"

/* ---- reading ---- */

void
results_read(struct pool *pool, struct result_list *list, const char *folder)
{
	autofree char **names = folder_list(folder);

	*list = (struct result_list){.nr = 0};
	for (size_t i = 0; names[i]; i++) {
		autofree char *path =
			strcmp(folder, ".") == 0 ? rot_strdup(names[i]) : rot_format("%s/%s", folder, names[i]);
		struct stored_result result = {.path = NULL};
		struct rot_error ignored;

		if (!path_ends_in(path, ".json") || stored_result_read(pool, &result, path, &ignored) < 0)
			continue;
		list->items = pool_grow(pool, list->items, list->nr, sizeof(*list->items));
		list->items[list->nr++] = result;
	}
}

/* ---- what a result says ---- */

/* The rates whose highest value is told. */
static const char *const rates[] = {"performance", "throughput", "operationalIntensity"};

enum { NR_RATES = sizeof(rates) / sizeof(rates[0]) };

struct gist {
	size_t nr_samples, nr_disturbed, nr_broken;
	const struct quantity_value *highest[NR_RATES]; /* NULL: it has none */
};

static size_t
most_of(const json_t *quantities, const char *key)
{
	size_t most = 0;

	for (size_t i = 0; i < json_array_size(quantities); i++) {
		size_t nr = json_array_size(json_object_get(json_array_get(quantities, i), key));

		most = nr > most ? nr : most;
	}
	return most;
}

/* Of several words for the same rate, those of the first point that has one. */
static void
take(struct gist *gist, const struct quantity_value *value)
{
	for (size_t i = 0; i < NR_RATES; i++) {
		const struct quantity_value *highest = gist->highest[i];

		if (strcmp(value->name, rates[i]) == 0 && isfinite(value->summary.value) &&
		    (!highest || (strcmp(value->of, highest->of) == 0 && strcmp(value->unit, highest->unit) == 0 &&
				  value->summary.value > highest->summary.value)))
			gist->highest[i] = value;
	}
}

static struct gist
gist_of(const struct stored_result *result)
{
	struct gist gist = {.nr_samples = 0};

	for (size_t i = 0; i < result->nr_points; i++) {
		const struct stored_point *point = &result->points[i];
		const json_t *quantities = json_object_get(point->json, "quantities");

		/* The runs are the same for all of them, but not all are disturbed by the same. */
		gist.nr_samples += most_of(quantities, "samples");
		gist.nr_disturbed += most_of(quantities, "taintedSamples");
		for (size_t k = 0; k < json_array_size(quantities); k++)
			gist.nr_broken +=
				json_array_size(json_object_get(json_array_get(quantities, k), "brokenRules"));
		for (size_t k = 0; k < point->nr_values; k++)
			take(&gist, &point->values[k]);
	}
	return gist;
}

static bool
is_of_this_machine(const struct rot *rot, const struct stored_result *result)
{
	const struct stored_result here = {.machine = rot->machine};

	return stored_result_same_machine(result, &here);
}

static bool
is_complete(const struct stored_result *result)
{
	return !json_is_false(json_object_get(result->json, "complete"));
}

/* ---- for people ---- */

/* "12.3 ±0.1 (e) Gflop/s, double precision"; "" without one. */
static char *
highest_text(const struct quantity_value *value)
{
	autofree char *number = value ? value_text(value) : NULL, *of = value ? value_of_words(value) : NULL;

	if (!value)
		return rot_strdup("");
	return rot_format("%s %s%s%s", number, shown_unit(value->unit).shown, of[0] ? ", " : "", of);
}

static void
add_result(struct text_table *table, const struct rot *rot, const struct stored_result *result)
{
	const struct gist gist = gist_of(result);
	char *const cells[] = {
		rot_format("%s%s", result->name, is_complete(result) ? "" : " (not complete)"),
		rot_strdup(json_text_at(result->json, "controller")),
		rot_strdup(is_of_this_machine(rot, result) ? "this one" : result->machine->cpu_name),
		rot_format("%zu", json_array_size(stored_result_points(result))),
		highest_text(gist.highest[0]),
		highest_text(gist.highest[1]),
		highest_text(gist.highest[2]),
		gist.nr_samples ? rot_format("%.0f %%", 100.0 * (double)gist.nr_disturbed / (double)gist.nr_samples)
				: rot_strdup("-"),
		gist.nr_broken ? rot_format("%zu", gist.nr_broken) : rot_strdup("-"),
	};

	text_table_add(table, cells);
}

/* What the marks in the table mean. */
static void
print_marks(const struct text_table *table, FILE *out)
{
	for (const struct remark *mark = remark_next(REMARK_MARK, NULL); mark; mark = remark_next(REMARK_MARK, mark)) {
		autofree char *text = rot_format("%s: %s", mark->mark, mark->text);
		bool is_there = false;

		for (size_t k = 0; k < table->nr_rows * table->nr_columns; k++)
			is_there = is_there || strstr(table->cells[k], mark->mark);
		if (is_there)
			text_print_fitting(text, out);
	}
}

void
results_print(const struct rot *rot, const struct result_list *list, bool is_all, FILE *out)
{
	static const struct text_table_column columns[] = {{"result", true},
							   {"controller", true},
							   {"machine", true},
							   {"points", false},
							   {"highest performance", true},
							   {"highest throughput", true},
							   {"highest intensity", true},
							   {"disturbed", false},
							   {"rules broken", false}};
	struct text_table table = {.columns = columns,
				   .nr_columns = sizeof(columns) / sizeof(columns[0]),
				   .nr_keys = 1,
				   .is_one_part = !is_all};

	for (size_t i = 0; i < list->nr; i++)
		add_result(&table, rot, &list->items[i]);
	text_table_print(&table, out);
	fputs(is_all ? "highest: of all points; disturbed: share of the runs\n" : "highest: of all points\n", out);
	print_marks(&table, out);
	text_table_clear(&table);
}

/* ---- for programs ---- */

static json_t *
highest_json(const struct gist *gist)
{
	json_t *highest = json_array();

	for (size_t i = 0; i < NR_RATES; i++) {
		const struct quantity_value *value = gist->highest[i];

		if (value)
			json_array_append_new(highest, json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", rates[i], "of",
								 value->of, "unit", value->unit, "kind", value->kind,
								 "value", json_number(value->summary.value)));
	}
	return highest;
}

json_t *
results_json(const struct rot *rot, const struct result_list *list)
{
	json_t *results = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct stored_result *result = &list->items[i];
		const struct gist gist = gist_of(result);

		json_array_append_new(
			results,
			json_pack("{s:o, s:o, s:b, s:b, s:I, s:I, s:I, s:I, s:o}", "file", json_text(result->path),
				  "controller", json_text(json_text_at(result->json, "controller")), "complete",
				  is_complete(result), "isOfThisMachine", is_of_this_machine(rot, result), "points",
				  (json_int_t)json_array_size(stored_result_points(result)), "samples",
				  (json_int_t)gist.nr_samples, "disturbedSamples", (json_int_t)gist.nr_disturbed,
				  "brokenRules", (json_int_t)gist.nr_broken, "highest", highest_json(&gist)));
	}
	return results;
}

/* ---- roofline ---- */

/* Words of the first value of that name in any point, as quantity_parse reads them; NULL: there is none. Fresh memory.
 */
static char *
words_of(const struct stored_result *result, const char *name)
{
	for (size_t i = 0; i < result->nr_points; i++)
		for (size_t k = 0; k < result->points[i].nr_values; k++)
			if (strcmp(result->points[i].values[k].name, name) == 0)
				return quantity_request_text(&result->points[i].values[k].request);
	return NULL;
}

int
results_draw(struct rot *rot, const struct result_list *list, struct page *page, const char *output_name,
	     struct rot_error *err)
{
	autofree const char **paths = rot_calloc(list->nr + 1, sizeof(*paths));
	struct stored_plot_options options = {
		.output_name = output_name, .title = "Results of this machine", .page = page};
	autofree char *x = NULL, *y = NULL;
	size_t nr_drawn = 0;

	for (size_t i = 0; i < list->nr; i++) {
		autofree char *own_x = words_of(&list->items[i], "operationalIntensity"),
			      *own_y = words_of(&list->items[i], "performance");

		if (own_x && own_y && is_of_this_machine(rot, &list->items[i]) &&
		    (!x || (strcmp(x, own_x) == 0 && strcmp(y, own_y) == 0)))
			paths[nr_drawn++] = list->items[i].path;
		if (nr_drawn == 1 && !x) {
			x = rot_keep(&own_x);
			y = rot_keep(&own_y);
		}
	}
	options.x = x;
	options.y = y;
	return nr_drawn ? stored_plot_write(rot, paths, nr_drawn, &options, err) : 0;
}
