/* SPDX-License-Identifier: MIT */
/* The table of an experiment: aligned columns with units, estimator and n; values with their interval, to its digits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/experiment_internal.h"
#include "controllers/value_text.h"
#include "memory.h"

/* A table this wide is split: the columns that say which point it is are repeated. */
#define TABLE_WIDTH 120
#define NR_HEADINGS 4
#define GAP 2

/* One column as text. headings: what, of what, unit, estimator and n. */
struct text_column {
	char *headings[NR_HEADINGS];
	char **cells; /* [nr_points] */
	size_t width;
	bool is_left; /* aligned */
	bool is_key;  /* says which point it is */
};

struct text_table {
	struct text_column *columns;
	size_t nr_columns, nr_rows;
};

/* Columns on the terminal: bytes that continue a UTF-8 character take no place. */
static size_t
text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static char *
heading_of_runs(const struct experiment *experiment, const struct quantity_request *request)
{
	const char *estimator = "exact";
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], request);

		if (!value)
			continue;
		least = value->summary.n < least ? value->summary.n : least;
		most = value->summary.n > most ? value->summary.n : most;
		if (value->summary.estimator && strcmp(value->summary.estimator, "exact") != 0)
			estimator = value->summary.estimator;
	}
	if (most == 0 || (most == 1 && strcmp(estimator, "exact") != 0))
		return rot_strdup(estimator);
	return least == most ? rot_format("%s n=%zu", estimator, most)
			     : rot_format("%s n=%zu..%zu", estimator, least, most);
}

static void
fill_quantity(const struct experiment *experiment, const struct experiment_column *column, struct text_column *text)
{
	const struct quantity_value *any = NULL;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], &column->request);

		any = any ? any : value;
		text->cells[i] = value ? value_text(value) : rot_strdup("-");
	}
	text->headings[0] = rot_strdup(column->heading && column->heading[0] ? column->heading
				       : any                                 ? any->name
									     : column->axis);
	text->headings[1] = rot_strdup(any && !(column->heading && column->heading[0]) ? any->of : "");
	text->headings[2] = any && any->unit[0] ? rot_format("[%s]", shown_unit(any->unit).shown) : rot_strdup("");
	text->headings[3] = heading_of_runs(experiment, &column->request);
}

static const char *
key_cell(const struct experiment_point *point, const struct experiment_column *column)
{
	const struct coordinate *c = point_coordinate(&point->at, column->axis);

	if (column->kind == COLUMN_SERIES)
		return point->series;
	if (column->kind == COLUMN_LABEL)
		return point->label;
	return c ? c->text : "-";
}

/* Four digits, in the unit shown; "-" where it is missing. */
static void
fill_derived(const struct experiment *experiment, const struct experiment_column *column, struct text_column *text)
{
	size_t i;
	const struct experiment_own_derived *own = experiment_find_derived(experiment, column->axis, &i);
	struct shown_unit unit = shown_unit(own->derived.unit);

	text->is_left = own->derived.kind == EXPERIMENT_DERIVED_TEXT;
	text->headings[0] = rot_strdup(column->heading && column->heading[0] ? column->heading : column->axis);
	text->headings[1] = rot_strdup("");
	text->headings[2] = unit.shown[0] ? rot_format("[%s]", unit.shown) : rot_strdup("");
	text->headings[3] = rot_strdup("");
	for (size_t row = 0; row < experiment->nr_points; row++) {
		const struct experiment_point *point = &experiment->points[row];
		const struct experiment_derived_value *value = point->derived ? &point->derived[i] : NULL;

		if (value && value->text)
			text->cells[row] = rot_strdup(value->text);
		else if (value && !isnan(value->number))
			text->cells[row] = rot_format("%.4g", value->number * unit.factor);
		else
			text->cells[row] = rot_strdup("-");
	}
}

static struct text_column
make_column(const struct experiment *experiment, const struct experiment_column *column)
{
	struct text_column text = {.cells = rot_calloc(experiment->nr_points + 1, sizeof(*text.cells))};

	if (column->kind == COLUMN_QUANTITY) {
		fill_quantity(experiment, column, &text);
	} else if (column->kind == COLUMN_DERIVED) {
		fill_derived(experiment, column, &text);
	} else {
		text.is_key = true;
		text.headings[0] = rot_strdup(column->heading && column->heading[0] ? column->heading : column->axis);
		for (size_t i = 1; i < NR_HEADINGS; i++)
			text.headings[i] = rot_strdup("");
		for (size_t i = 0; i < experiment->nr_points; i++) {
			const struct coordinate *c = point_coordinate(&experiment->points[i].at, column->axis);

			text.cells[i] = rot_strdup(key_cell(&experiment->points[i], column));
			text.is_left = text.is_left || column->kind == COLUMN_SERIES || (c && isnan(c->number));
		}
	}
	for (size_t i = 0; i < NR_HEADINGS; i++)
		text.width = text_width(text.headings[i]) > text.width ? text_width(text.headings[i]) : text.width;
	for (size_t i = 0; i < experiment->nr_points; i++)
		text.width = text_width(text.cells[i]) > text.width ? text_width(text.cells[i]) : text.width;
	return text;
}

static void
table_add(struct text_table *table, struct text_column column)
{
	table->columns = rot_realloc(table->columns, table->nr_columns + 1, sizeof(*table->columns));
	table->columns[table->nr_columns++] = column;
}

/* Series and label; the axes where there are no labels. */
static void
add_key_columns(struct text_table *table, const struct experiment *experiment)
{
	bool has_label = false;

	for (size_t i = 0; i < experiment->nr_points; i++)
		has_label = has_label || experiment->points[i].label[0];
	table_add(table, make_column(experiment,
				     &(struct experiment_column){.kind = COLUMN_SERIES, .axis = (char *)"series"}));
	if (has_label)
		table_add(table, make_column(experiment, &(struct experiment_column){.kind = COLUMN_LABEL,
										     .axis = (char *)"label"}));
	for (size_t i = 0; !has_label && experiment->nr_points > 0 && i < experiment->points[0].at.nr_coordinates; i++)
		table_add(table, make_column(experiment,
					     &(struct experiment_column){
						     .kind = COLUMN_AXIS,
						     .axis = (char *)experiment->points[0].at.coordinates[i].axis}));
}

/* The columns asked for; without any: those that say which point it is, and every quantity that some point has. */
static struct text_table
make_table(const struct experiment *experiment, const struct experiment_own_table *own)
{
	struct text_table table = {.nr_rows = experiment->nr_points};
	struct quantity_request *seen = NULL;
	size_t nr_seen = 0;

	for (size_t i = 0; own && i < own->nr_columns; i++)
		table_add(&table, make_column(experiment, &own->columns[i]));
	if (own && own->nr_columns > 0)
		return table;
	add_key_columns(&table, experiment);
	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_request *request = &experiment->points[i].requests[j];
			size_t k = 0;

			while (k < nr_seen && !experiment_same_request(&seen[k], request))
				k++;
			if (k < nr_seen)
				continue;
			seen = rot_realloc(seen, nr_seen + 1, sizeof(*seen));
			seen[nr_seen++] = *request;
			table_add(&table,
				  make_column(experiment, &(struct experiment_column){.kind = COLUMN_QUANTITY,
										      .axis = (char *)request->name,
										      .request = *request}));
		}
	free(seen);
	return table;
}

static void
table_clear(struct text_table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		for (size_t j = 0; j < NR_HEADINGS; j++)
			free(table->columns[i].headings[j]);
		for (size_t j = 0; j < table->nr_rows; j++)
			free(table->columns[i].cells[j]);
		free(table->columns[i].cells);
	}
	free(table->columns);
}

/* ---- printing ---- */

static void
print_padding(size_t nr, FILE *out)
{
	fprintf(out, "%*s", (int)nr, "");
}

/* One line of the columns first..last and the key columns before; nothing at all where every cell is empty. */
static void
print_line(const struct text_table *table, const size_t *chosen, size_t nr_chosen, size_t row, bool is_heading,
	   FILE *out)
{
	size_t pending = 0;
	bool is_empty = true;

	for (size_t i = 0; i < nr_chosen; i++) {
		const struct text_column *column = &table->columns[chosen[i]];

		if ((is_heading ? column->headings[row] : column->cells[row])[0])
			is_empty = false;
	}
	if (is_empty)
		return;
	for (size_t i = 0; i < nr_chosen; i++) {
		const struct text_column *column = &table->columns[chosen[i]];
		const char *cell = is_heading ? column->headings[row] : column->cells[row];
		size_t free_width = column->width - text_width(cell);

		if (cell[0]) {
			print_padding(pending + (column->is_left ? 0 : free_width), out);
			fputs(cell, out);
			pending = column->is_left ? free_width : 0;
		} else {
			pending += column->width;
		}
		pending += GAP;
	}
	fputc('\n', out);
}

static void
print_part(const struct text_table *table, const size_t *chosen, size_t nr_chosen, FILE *out)
{
	for (size_t row = 0; row < NR_HEADINGS; row++)
		print_line(table, chosen, nr_chosen, row, true, out);
	for (size_t row = 0; row < table->nr_rows; row++)
		print_line(table, chosen, nr_chosen, row, false, out);
	fputc('\n', out);
}

static void
print_parts(const struct text_table *table, FILE *out)
{
	size_t *chosen = rot_calloc(table->nr_columns + 1, sizeof(*chosen));
	size_t nr_keys = 0, nr, key_width = 0, width;

	for (size_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].is_key) {
			chosen[nr_keys++] = i;
			key_width += table->columns[i].width + GAP;
		}
	nr = nr_keys;
	width = key_width;
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].is_key)
			continue;
		if (nr > nr_keys && width + table->columns[i].width > TABLE_WIDTH) {
			print_part(table, chosen, nr, out);
			nr = nr_keys;
			width = key_width;
		}
		chosen[nr++] = i;
		width += table->columns[i].width + GAP;
	}
	print_part(table, chosen, nr, out);
	free(chosen);
}

/* Why no more runs were made, for how many points: nothing about those that got as many as were asked for. */
static void
print_runs_ends(const struct experiment *experiment, FILE *out)
{
	static const struct {
		const char *end, *meaning;
	} ends[] = {
		{"disturbed", "too many runs were disturbed to have as many as were asked for"},
		{"narrow", "runs were added until the intervals were as narrow as the key precision wants"},
		{"most", "the intervals are wider than the key precision wants, with as many runs as are made at most"},
		{"budget", "more runs would have taken longer than the key timeBudget allows"},
		{"noInterval", "the estimator has no interval that the key precision could be compared with"},
	};

	for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
		size_t nr = 0;

		for (size_t i = 0; i < experiment->nr_points; i++) {
			const struct experiment_point *point = &experiment->points[i];
			const char *end = point->nr_values ? point->values[0].runs_end : NULL;

			nr += end && strcmp(end, ends[k].end) == 0;
		}
		if (nr)
			fprintf(out, "%zu of %zu points: %s\n", nr, experiment->nr_points, ends[k].meaning);
	}
}

/* What the marks mean, as far as they are in the table. */
static void
print_legend(const struct experiment *experiment, FILE *out)
{
	size_t nr_tainted = 0;
	bool has_interval = false;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_value *value = &experiment->points[i].values[j];

			nr_tainted = value->summary.tainted > nr_tainted ? value->summary.tainted : nr_tainted;
			has_interval = has_interval || value->summary.low < value->summary.high;
		}
	if (has_interval)
		fprintf(out, "±, [low, high]: interval of at least 95 %% for the estimate\n");
	for (size_t k = 0; k < value_nr_kinds; k++) {
		bool is_there = false;

		for (size_t i = 0; i < experiment->nr_points && !is_there; i++)
			for (size_t j = 0; j < experiment->points[i].nr_values && !is_there; j++)
				is_there = strcmp(experiment->points[i].values[j].kind, value_kinds[k].kind) == 0;
		if (is_there)
			fprintf(out, "%s: %s\n", value_kinds[k].mark, value_kinds[k].meaning);
	}
	if (nr_tainted)
		fprintf(out, "up to %zu runs of a point were disturbed and left out; OUTPUT.json says which, and why\n",
			nr_tainted);
	print_runs_ends(experiment, out);
}

/* What was counted, once, and how well that is known to count here. */
static void
print_grades(const struct experiment *experiment, FILE *out)
{
	char *known = rot_strdup("");

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_value *value = &experiment->points[i].values[j];
			char *name = rot_format("%s%s%s", value->name, value->of[0] ? ":" : "", value->of);
			char *text = rot_format("%s %s", name, value->grade), *longer;

			if (value->grade[0] && !strstr(known, text)) {
				longer = rot_format("%s%s%s", known, known[0] ? ", " : "", text);
				free(known);
				known = longer;
			}
			free(text);
			free(name);
		}
	if (known[0])
		fprintf(out, "validated on known work: %s\n", known);
	free(known);
}

/* Was the note printed with an earlier point? */
static bool
is_known_note(const struct experiment *experiment, size_t point, size_t note)
{
	const char *text = experiment->points[point].notes[note];

	for (size_t i = 0; i < point; i++)
		for (size_t j = 0; j < experiment->points[i].nr_notes; j++)
			if (strcmp(experiment->points[i].notes[j], text) == 0)
				return true;
	return false;
}

/* Each once, with the first point that has it. */
static void
print_notes(const struct experiment *experiment, FILE *out)
{
	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_notes; j++) {
			const struct experiment_point *point = &experiment->points[i];

			if (!is_known_note(experiment, i, j))
				fprintf(out, "%s%s%s: %s\n", point->series,
					point->series[0] && point->label[0] ? " " : "", point->label, point->notes[j]);
		}
}

/* Without a roofline all are shown. */
static bool
is_shown(const struct experiment *experiment, const struct experiment_own_ceiling *ceiling)
{
	bool has_roofline = false, is_found = false;

	for (size_t i = 0; i < experiment->nr_plots && !is_found; i++) {
		const struct experiment_own_ceiling **shown;
		size_t nr;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		has_roofline = true;
		nr = experiment_ceilings_of(experiment, &experiment->plots[i], &shown);
		for (size_t k = 0; k < nr; k++)
			is_found = is_found || shown[k] == ceiling;
		free(shown);
	}
	return is_found || !has_roofline;
}

/* Of a peak its interval; else of how many runs it is the best. */
static char *
ceiling_text(const struct experiment_own_ceiling *ceiling)
{
	struct shown_unit unit = shown_unit(ceiling->value.unit);
	struct summary summary = ceiling->value.summary;
	char *number, *of, *text;

	if (ceiling->is_peak) {
		summary.low = ceiling->low;
		summary.high = ceiling->high;
		summary = summary_scaled(summary, unit.factor);
		number = summary_text(&summary);
		text = rot_format("%s %s", number, unit.shown);
		free(number);
		return text;
	}
	of = ceiling->operation[0] ? value_of_words(&ceiling->value) : rot_strdup("");
	text = rot_format("%.4g %s%s%s (best of %zu)", ceiling->best * unit.factor, unit.shown, of[0] ? ", " : "", of,
			  ceiling->value.nr_samples);
	free(of);
	return text;
}

/* Those of the plots; peaks are many. */
static void
print_ceilings(const struct experiment *experiment, FILE *out)
{
	bool is_first = true;
	size_t width = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		width = text_width(experiment->ceilings[i].name) > width ? text_width(experiment->ceilings[i].name)
									 : width;
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct experiment_own_ceiling *ceiling = &experiment->ceilings[i];
		char *text;

		if (ceiling->is_peak && !is_shown(experiment, ceiling))
			continue;
		text = ceiling_text(ceiling);
		fprintf(out, "%s%s", is_first ? "ceiling " : "        ", ceiling->name);
		print_padding(width - text_width(ceiling->name) + GAP, out);
		fprintf(out, "%s\n", text);
		free(text);
		is_first = false;
	}
	if (experiment->roof_note)
		fprintf(out, "%s\n", experiment->roof_note);
}

/* The experiment with only those points in it; borrows all it has. Free the points. */
static struct experiment
view_of(const struct experiment *experiment, const struct experiment_point **points, size_t nr)
{
	struct experiment view = *experiment;

	view.points = rot_calloc(nr + 1, sizeof(*view.points));
	view.nr_points = nr;
	for (size_t i = 0; i < nr; i++)
		view.points[i] = *points[i];
	return view;
}

static void
print_table(const struct experiment *experiment, const struct experiment_own_table *own, FILE *out)
{
	const struct experiment_point **points = NULL;
	struct experiment view;
	struct text_table table;
	struct rot_error why = {0};
	size_t nr = 0;

	if (experiment_choose(experiment, own->condition, &own->best, &points, &nr, &why) < 0)
		fprintf(out, "%s: %s\n", own->title, why.text);
	if (nr == 0)
		goto out;
	view = view_of(experiment, points, nr);
	table = make_table(&view, own);
	if (own->title[0])
		fprintf(out, "%s\n\n", own->title);
	print_parts(&table, out);
	table_clear(&table);
	free(view.points);
out:
	free(points);
}

void
experiment_print_table(const struct experiment *experiment, FILE *out)
{
	static const struct experiment_own_table all = {.title = (char *)"", .condition = (char *)""};

	if (experiment->nr_tables == 0 && experiment->nr_points > 0)
		print_table(experiment, &all, out);
	for (size_t i = 0; i < experiment->nr_tables; i++)
		print_table(experiment, &experiment->tables[i], out);
	if (experiment->nr_points > 0) {
		print_legend(experiment, out);
		print_grades(experiment, out);
		print_notes(experiment, out);
	}
	print_ceilings(experiment, out);
}
