/* SPDX-License-Identifier: MIT */
/* OUTPUT.csv: one row a point of OUTPUT.json, in base units; for spreadsheets and data frames. */
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "support/json.h"
#include "support/output.h"
#include "support/text_table.h"

/* ---- columns ---- */

/* Columns of a quantity: this behind its name, and the key in the JSON. */
static const struct {
	const char *suffix, *key;
} parts[] = {
	{"", "value"},     {"_low", "low"},         {"_high", "high"},
	{"_n", "n"},       {"_tainted", "tainted"}, {"_estimator", "estimator"},
	{"_kind", "kind"}, {"_source", "source"},
};

enum { NR_PARTS = sizeof(parts) / sizeof(parts[0]) };

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

/* What the points have, which are of OUTPUT.json. */
struct contents {
	struct pool pool;
	struct texts axes, quantities, derived;
};

static struct contents
contents_of(const struct experiment *experiment, const json_t *points)
{
	struct contents contents = {.axes.nr = 0};
	json_t *point, *item;
	const char *axis;
	size_t i, k;

	json_array_foreach(points, i, point) {
		json_object_foreach(json_object_get(point, "coordinates"), axis, item)
			texts_add(&contents.pool, &contents.axes, axis);
		json_array_foreach(json_object_get(point, "quantities"), k, item) {
			autofree char *name = column_of(item);

			texts_add(&contents.pool, &contents.quantities, name);
		}
	}
	for (i = 0; i < experiment->nr_derived; i++)
		texts_add(&contents.pool, &contents.derived, experiment->derived[i].derived.name);
	return contents;
}

static void
make_columns(const struct contents *contents, struct text_table_column *columns, struct pool *pool)
{
	size_t nr = 0;

	columns[nr++].heading = "series";
	columns[nr++].heading = "label";
	for (size_t i = 0; i < contents->axes.nr; i++)
		columns[nr++].heading = contents->axes.items[i];
	columns[nr++].heading = "cache_state";
	for (size_t i = 0; i < contents->quantities.nr; i++)
		for (size_t k = 0; k < NR_PARTS; k++)
			columns[nr++].heading =
				pool_format(pool, "%s%s", contents->quantities.items[i], parts[k].suffix);
	columns[nr++].heading = "roof_share";
	columns[nr++].heading = "bound_by";
	for (size_t i = 0; i < contents->derived.nr; i++)
		columns[nr++].heading = contents->derived.items[i];
}

/* ---- rows ---- */

static char *
cell_of(const json_t *value)
{
	if (json_is_string(value))
		return rot_strdup(json_string_value(value));
	return json_is_number(value) ? rot_number_in_full(json_number_value(value)) : rot_strdup("");
}

static void
make_row(const struct contents *contents, const json_t *point, char **cells)
{
	const json_t *coordinates = json_object_get(point, "coordinates"),
		     *quantities = json_object_get(point, "quantities");
	size_t nr = 0;

	cells[nr++] = cell_of(json_object_get(point, "series"));
	cells[nr++] = cell_of(json_object_get(point, "label"));
	for (size_t i = 0; i < contents->axes.nr; i++)
		cells[nr++] = cell_of(json_object_get(coordinates, contents->axes.items[i]));
	cells[nr++] = cell_of(json_object_get(point, "cacheState"));
	for (size_t i = 0; i < contents->quantities.nr; i++) {
		const json_t *quantity = json_with_key(quantities, column_of, contents->quantities.items[i]);
		const size_t first = nr;

		for (size_t k = 0; k < NR_PARTS; k++)
			cells[nr++] = cell_of(json_object_get(quantity, parts[k].key));
		if (json_is_true(json_object_get(quantity, "infinite")))
			rot_string_set(&cells[first], "inf");
	}
	cells[nr++] = cell_of(json_object_get(point, "roofShare"));
	cells[nr++] = cell_of(json_object_get(point, "boundBy"));
	for (size_t i = 0; i < contents->derived.nr; i++)
		cells[nr++] = cell_of(json_object_get(
			json_named(json_object_get(point, "derived"), contents->derived.items[i]), "value"));
}

static void
print_csv(const struct experiment *experiment, const json_t *points, FILE *out)
{
	struct contents contents = contents_of(experiment, points);
	const size_t nr = 5 + contents.axes.nr + NR_PARTS * contents.quantities.nr + contents.derived.nr;
	struct text_table_column *columns = pool_calloc(&contents.pool, nr, sizeof(*columns));
	char **cells = pool_calloc(&contents.pool, nr, sizeof(*cells));
	struct text_table table = {.columns = columns, .nr_columns = nr};
	const json_t *point;
	size_t i;

	make_columns(&contents, columns, &contents.pool);
	json_array_foreach(points, i, point) {
		make_row(&contents, point, cells);
		text_table_add(&table, cells);
	}
	text_table_print_csv(&table, out);
	text_table_clear(&table);
	pool_clear(&contents.pool);
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
