/* SPDX-License-Identifier: MIT */
/* OUTPUT.csv: one row a point of OUTPUT.json, in base units; for spreadsheets and data frames. */
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "base/output.h"
#include "base/text_table.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- columns ---- */

/* Columns of a quantity: this behind its name, and the key in the JSON. */
static const struct {
	const char *suffix, *key;
} parts[] = {
	{"", "value"},     {"_low", "low"},         {"_high", "high"},
	{"_n", "n"},       {"_tainted", "tainted"}, {"_estimator", "estimator"},
	{"_kind", "kind"}, {"_source", "source"},
};

/* "time_us", with the clock that the unit says; fresh memory. */
static char *
column_of(const json_t *quantity)
{
	const char *of = json_text_at(quantity, "of");
	autofree char *words = rot_format("%s%s%s", json_text_at(quantity, "name"), *of ? ":" : "", of);
	struct quantity_request request;
	struct rot_error ignored;

	for (char *slash = strchr(words, '/'); slash; slash = strchr(slash, '/'))
		*slash = ':';
	if (quantity_parse(&request, words, &ignored) < 0)
		request = (struct quantity_request){.name = words};
	return quantity_column_name(&request, json_text_at(quantity, "unit"));
}

/* Unless it is there: where two quantities have a name, the first one counts. NULL: nothing is known. */
static void
add_cell(json_t *row, const char *column, const json_t *value)
{
	if (!json_object_get(row, column))
		json_object_set_new(row, column, value ? json_incref((json_t *)value) : json_null());
}

static void
add_quantities(json_t *row, const json_t *point)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		autofree char *name = column_of(quantity);

		if (json_is_true(json_object_get(quantity, "infinite")) && !json_object_get(row, name))
			json_object_set_new(row, name, json_string("inf"));
		for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
			autofree char *column = rot_format("%s%s", name, parts[k].suffix);

			add_cell(row, column, json_object_get(quantity, parts[k].key));
		}
	}
}

/* All columns of the point, as members of an object; of several points (also behind the first) those that any has. */
static void
add_columns(json_t *row, const struct experiment *experiment, const json_t *const *points, size_t nr)
{
	const char *axis;
	json_t *value;

	add_cell(row, "series", json_object_get(points[0], "series"));
	add_cell(row, "label", json_object_get(points[0], "label"));
	for (size_t i = 0; i < nr; i++)
		json_object_foreach(json_object_get(points[i], "coordinates"), axis, value)
			add_cell(row, axis, value);
	add_cell(row, "cache_state", json_object_get(points[0], "cacheState"));
	for (size_t i = 0; i < nr; i++)
		add_quantities(row, points[i]);
	add_cell(row, "roof_share", json_object_get(points[0], "roofShare"));
	add_cell(row, "bound_by", json_object_get(points[0], "boundBy"));
	for (size_t i = 0; i < experiment->nr_derived; i++) {
		const char *name = experiment->derived[i].name;

		add_cell(row, name, json_object_get(json_named(json_object_get(points[0], "derived"), name), "value"));
	}
}

static void
print_csv(const struct experiment *experiment, const json_t *points, FILE *out)
{
	autopool pool = {0};
	const size_t nr_points = json_array_size(points);
	const json_t **all = pool_calloc(&pool, nr_points + 1, sizeof(*all));
	json_auto_t *columns = json_object();
	struct text_table_column *headings;
	struct text_table table = {.nr_columns = 0};
	char **cells;
	const char *column;
	json_t *ignored;
	size_t i = 0;

	for (size_t p = 0; p < nr_points; p++)
		all[p] = json_array_get(points, p);
	add_columns(columns, experiment, all, nr_points);
	headings = pool_calloc(&pool, json_object_size(columns), sizeof(*headings));
	cells = pool_calloc(&pool, json_object_size(columns), sizeof(*cells));
	json_object_foreach(columns, column, ignored)
		headings[i++].heading = column;
	table.columns = headings;
	table.nr_columns = i;
	for (size_t p = 0; p < nr_points; p++) {
		json_auto_t *row = json_object();

		add_columns(row, experiment, &all[p], 1);
		for (i = 0; i < table.nr_columns; i++)
			cells[i] = json_plain_text(json_object_get(row, headings[i].heading));
		text_table_add(&table, cells);
	}
	text_table_print_csv(&table, out);
	text_table_clear(&table);
}

int
experiment_write_csv(const struct experiment *experiment, const json_t *json, const char *output_name,
		     struct rot_error *err)
{
	struct output_text text;

	if (!configuration_bool(experiment->rot->configuration, "writeCsv"))
		return 0;
	print_csv(experiment, json_object_get(json, "points"), output_text_begin(&text));
	return output_text_end(&text, output_name, ".csv", err);
}
