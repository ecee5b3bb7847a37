/* SPDX-License-Identifier: MIT */
/* OUTPUT.csv: one row a point, in base units; for spreadsheets and data frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "peaks/peak.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "support/output.h"
#include "support/text_table.h"

struct contents {
	const struct experiment *experiment;
	const char **axes; /* borrowed */
	size_t nr_axes;
	char **values; /* names of columns, without the part of the value */
	size_t nr_values;
};

/* ---- what there is ---- */

static void
add_axes(struct contents *contents, const struct point *at)
{
	for (size_t i = 0; i < at->nr_coordinates; i++) {
		size_t k = 0;

		while (k < contents->nr_axes && strcmp(contents->axes[k], at->coordinates[i].axis) != 0)
			k++;
		if (k < contents->nr_axes)
			continue;
		contents->axes = rot_realloc(contents->axes, k + 1, sizeof(*contents->axes));
		contents->axes[contents->nr_axes++] = at->coordinates[i].axis;
	}
}

static char *
name_of_value(const struct quantity_value *value)
{
	return quantity_column_name(&value->request, value->unit);
}

static void
add_value(struct contents *contents, const struct quantity_value *value)
{
	char *name = name_of_value(value);

	for (size_t k = 0; k < contents->nr_values; k++)
		if (strcmp(name, contents->values[k]) == 0) {
			free(name);
			return;
		}
	contents->values = rot_realloc(contents->values, contents->nr_values + 1, sizeof(*contents->values));
	contents->values[contents->nr_values++] = name;
}

static struct contents
contents_of(const struct experiment *experiment)
{
	struct contents contents = {.experiment = experiment};

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];

		add_axes(&contents, &point->at);
		for (size_t j = 0; j < point->nr_values; j++)
			add_value(&contents, &point->values[j]);
	}
	return contents;
}

static void
contents_clear(struct contents *contents)
{
	for (size_t i = 0; i < contents->nr_values; i++)
		free(contents->values[i]);
	free(contents->values);
	free(contents->axes);
}

/* ---- cells ---- */

static char *
number_cell(double number)
{
	if (isinf(number))
		return rot_strdup(number > 0 ? "inf" : "-inf");
	return isnan(number) ? rot_strdup("") : rot_number_in_full(number);
}

enum part { PART_VALUE, PART_LOW, PART_HIGH, PART_N, PART_TAINTED, PART_ESTIMATOR, PART_KIND, PART_SOURCE, NR_PARTS };

static const char *const parts[NR_PARTS] = {
	[PART_VALUE] = "",     [PART_LOW] = "_low",         [PART_HIGH] = "_high",
	[PART_N] = "_n",       [PART_TAINTED] = "_tainted", [PART_ESTIMATOR] = "_estimator",
	[PART_KIND] = "_kind", [PART_SOURCE] = "_source",
};

static char *
part_cell(const struct quantity_value *value, enum part part)
{
	const struct summary *summary = &value->summary;

	switch (part) {
	case PART_VALUE:
		return number_cell(summary->value);
	case PART_LOW:
		return number_cell(summary->low);
	case PART_HIGH:
		return number_cell(summary->high);
	case PART_N:
		return number_cell((double)summary->n);
	case PART_TAINTED:
		return number_cell((double)summary->tainted);
	case PART_ESTIMATOR:
		return rot_strdup(summary->estimator ? summary->estimator : "");
	case PART_KIND:
		return rot_strdup(value->kind ? value->kind : "");
	default:
		return rot_strdup(value->source ? value->source : "");
	}
}

/* ---- the table: the first row is that of headings ---- */

struct csv_row {
	char **cells;
	size_t nr;
};

/* Takes the cell over. */
static void
add_cell(struct csv_row *row, char *cell)
{
	row->cells = rot_realloc(row->cells, row->nr + 1, sizeof(*row->cells));
	row->cells[row->nr++] = cell;
}

static struct csv_row
headings(const struct contents *contents)
{
	const struct experiment *experiment = contents->experiment;
	struct csv_row row = {0};

	add_cell(&row, rot_strdup("series"));
	add_cell(&row, rot_strdup("label"));
	for (size_t i = 0; i < contents->nr_axes; i++)
		add_cell(&row, rot_strdup(contents->axes[i]));
	add_cell(&row, rot_strdup("cache_state"));
	for (size_t i = 0; i < contents->nr_values; i++)
		for (size_t part = 0; part < NR_PARTS; part++)
			add_cell(&row, rot_format("%s%s", contents->values[i], parts[part]));
	add_cell(&row, rot_strdup("roof_share"));
	add_cell(&row, rot_strdup("bound_by"));
	for (size_t i = 0; i < experiment->nr_derived; i++)
		add_cell(&row, rot_strdup(experiment->derived[i].derived.name));
	return row;
}

static const struct quantity_value *
value_called(const struct experiment_point *point, const char *name)
{
	const struct quantity_value *found = NULL;

	for (size_t i = 0; i < point->nr_values && !found; i++) {
		autofree char *own = name_of_value(&point->values[i]);

		found = strcmp(own, name) == 0 ? &point->values[i] : NULL;
	}
	return found;
}

static char *
derived_cell(const struct experiment_point *point, size_t i)
{
	const struct experiment_derived_value *value = i < point->nr_derived ? &point->derived[i] : NULL;

	if (value && value->text)
		return rot_strdup(value->text);
	return number_cell(value ? value->number : NAN);
}

static struct csv_row
row_of(const struct contents *contents, const struct experiment_point *point)
{
	struct experiment_bound bound = experiment_bound_of(contents->experiment, NULL, point);
	struct csv_row row = {0};

	add_cell(&row, rot_strdup(point->series));
	add_cell(&row, rot_strdup(point->label));
	for (size_t i = 0; i < contents->nr_axes; i++) {
		const struct coordinate *c = point_coordinate(&point->at, contents->axes[i]);

		add_cell(&row, rot_strdup(c ? c->text : ""));
	}
	add_cell(&row, rot_strdup(point->cache_state ? point->cache_state : ""));
	for (size_t i = 0; i < contents->nr_values; i++) {
		const struct quantity_value *value = value_called(point, contents->values[i]);

		for (enum part part = 0; part < NR_PARTS; part++)
			add_cell(&row, value ? part_cell(value, part) : rot_strdup(""));
	}
	add_cell(&row, number_cell(bound.share));
	add_cell(&row, rot_strdup(bound.ceiling ? bound.ceiling : ""));
	experiment_bound_clear(&bound);
	for (size_t i = 0; i < contents->experiment->nr_derived; i++)
		add_cell(&row, derived_cell(point, i));
	return row;
}

static void
print_csv(const struct experiment *experiment, FILE *out)
{
	struct contents contents = contents_of(experiment);
	struct csv_row first = headings(&contents);
	struct text_table_column *columns = rot_calloc(first.nr, sizeof(*columns));
	struct text_table table = {.columns = columns, .nr_columns = first.nr};

	for (size_t i = 0; i < first.nr; i++)
		columns[i].heading = first.cells[i];
	for (size_t i = 0; i < experiment->nr_points; i++) {
		struct csv_row row = row_of(&contents, &experiment->points[i]);

		text_table_add(&table, row.cells);
		free(row.cells);
	}
	text_table_print_csv(&table, out);
	text_table_clear(&table);
	for (size_t i = 0; i < first.nr; i++)
		free(first.cells[i]);
	free(first.cells);
	free(columns);
	contents_clear(&contents);
}

int
experiment_write_csv(const struct experiment *experiment, const char *output_name, struct rot_error *err)
{
	struct output_text text;

	if (!configuration_bool(experiment->rot->configuration, "writeCsv"))
		return 0;
	print_csv(experiment, output_text_begin(&text));
	return output_text_end(&text, output_name, ".csv", err);
}
