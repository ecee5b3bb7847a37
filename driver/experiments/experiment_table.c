/* SPDX-License-Identifier: MIT */
/* Tables of an experiment: columns with units, estimator and n; values with their interval, to its digits. What stands
 * below them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/output.h"
#include "base/text_table.h"
#include "experiments/experiment_internal.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "roof/levels.h"
#include "roof/peak.h"
#include "rot.h"

/* ---- what stands below a table: read from OUTPUT.json ---- */

/* Values of a point share its runs: the one that most of them were left out of tells of all. NULL: none was disturbed.
 */
static const json_t *
most_disturbed(const json_t *point)
{
	const json_t *most = NULL, *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		if (json_array_size(json_object_get(quantity, "taintedSamples")) > 0 &&
		    (!most || json_number_at(quantity, "tainted") > json_number_at(most, "tainted")))
			most = quantity;
	}
	return most;
}

static void
print_disturbed(const json_t *points, FILE *out)
{
	enum { LEFT_OUT, ALL, KEPT, NR_FATES };
	size_t nr_points[NR_FATES] = {0}, most_runs[NR_FATES] = {0}, i;
	unsigned taints[NR_FATES] = {0};
	char *causes[NR_FATES];
	const json_t *point;

	json_array_foreach(points, i, point) {
		const json_t *quantity = most_disturbed(point);
		const size_t nr = json_array_size(json_object_get(quantity, "taintedSamples"));
		const int fate = strstr(json_text_at(quantity, "estimator"), "OfTainted") ? ALL
				 : json_number_at(quantity, "tainted") == 0               ? KEPT
											  : LEFT_OUT;
		const char *cause;
		json_t *ignored;

		if (!quantity)
			continue;
		nr_points[fate]++;
		most_runs[fate] = nr > most_runs[fate] ? nr : most_runs[fate];
		json_object_foreach(json_object_get(quantity, "taints"), cause, ignored)
			taints[fate] |= remark_find(REMARK_CAUSE, cause)->taint;
	}
	for (int fate = 0; fate < NR_FATES; fate++)
		causes[fate] = sample_taints_text(taints[fate]);
	if (nr_points[LEFT_OUT])
		fprintf(out,
			"up to %zu run%s of a point %s disturbed (%s) and left out; OUTPUT.json says which, and why\n",
			most_runs[LEFT_OUT], rot_plural((double)most_runs[LEFT_OUT]),
			most_runs[LEFT_OUT] == 1 ? "was" : "were", causes[LEFT_OUT]);
	if (nr_points[ALL])
		fprintf(out, "%zu of %zu point%s had no run that was not disturbed (%s)\n", nr_points[ALL],
			json_array_size(points), rot_plural((double)json_array_size(points)), causes[ALL]);
	if (nr_points[KEPT])
		fprintf(out,
			"up to %zu runs of a point were disturbed (%s) and are in the values, which are about that; "
			"OUTPUT.json says which\n",
			most_runs[KEPT], causes[KEPT]);
	for (int fate = 0; fate < NR_FATES; fate++)
		free(causes[fate]);
}

/* Measured caches of this machine may contradict those that are told. */
static char *
modelled_caches(const struct rot *rot)
{
	static const char *const names[] = {"L1 data", "L2", "last level"};
	const struct machine *machine = rot->machine;
	const int64_t told[] = {machine->l1_data_bytes, machine->l2_bytes, machine->llc_bytes};
	const char *key = configuration_string(rot->configuration, "caches");
	char *text;

	if (rot->modelled && strcmp(key, "measured") != 0)
		return rot_format("%s (key caches)", key);
	text = machine_caches_text(rot->modelled ? rot->modelled : machine);
	for (int i = 0; i < 3 && rot->measured && !rot->modelled; i++) {
		const struct measured_level *found = measured_level_of(rot->measured, machine, i);
		autofree char *size = found ? machine_size_text(found->bytes) : NULL;

		if (found && told[i] && strcmp(levels_verdict(told[i], found), "agrees") != 0)
			rot_append(&text, "; measured: %s %s (-caches=measured models it)", names[i], size);
	}
	return text;
}

static void
print_lines(const struct texts *lines, FILE *out)
{
	for (size_t i = 0; i < lines->nr; i++)
		fprintf(out, "%s\n", lines->items[i]);
}

/* In a roofline. */
static bool
is_shown(const struct experiment *experiment, const struct ceiling *ceiling)
{
	bool is_found = false;

	for (size_t i = 0; i < experiment->nr_plots && !is_found; i++) {
		autofree const struct ceiling **shown = NULL;
		size_t nr;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		nr = experiment_ceilings_of(experiment, &experiment->plots[i], &shown);
		for (size_t k = 0; k < nr; k++)
			is_found = is_found || shown[k] == ceiling;
	}
	return is_found;
}

/* The interval of a peak; else of how many runs it is the best. */
static char *
ceiling_text(const struct ceiling *ceiling)
{
	struct shown_unit unit = shown_unit(ceiling->unit);
	struct summary summary = summary_single(ceiling->value, "peak");
	autofree char *number = NULL, *of = NULL;

	if (ceiling_is_least(ceiling))
		return rot_format("at least %.4g %s: its runs were disturbed, 'rot peaks' finds it anew",
				  ceiling->value * unit.factor, unit.shown);
	if (ceiling->is_peak) {
		summary.low = ceiling->low;
		summary.high = ceiling->high;
		summary = summary_scaled(summary, unit.factor);
		number = summary_text(&summary);
		return rot_format("%s %s", number, unit.shown);
	}
	of = ceiling->operation[0] ? value_of_words(&(struct quantity_value){.of = ceiling->operation})
				   : rot_strdup("");
	return rot_format("%.4g %s%s%s (best of %zu)", ceiling->value * unit.factor, unit.shown, of[0] ? ", " : "", of,
			  ceiling->n);
}

/* Ceilings that were measured for this, and with_peaks those of the machine's roof that plots show. */
static void
print_ceilings(const struct experiment *experiment, bool with_peaks, FILE *out)
{
	bool is_first = true;
	size_t width = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		width = text_width(experiment->ceilings[i].name) > width ? text_width(experiment->ceilings[i].name)
									 : width;
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct ceiling *ceiling = &experiment->ceilings[i];
		autofree char *text = NULL;

		if (ceiling->is_peak && (!with_peaks || !is_shown(experiment, ceiling)))
			continue;
		text = ceiling_text(ceiling);
		fprintf(out, "%s%s%*s%s\n", is_first ? "ceiling " : "        ", ceiling->name,
			(int)(width - text_width(ceiling->name) + 2), "", text);
		is_first = false;
	}
}

static void
print_legend(const struct experiment *experiment, const json_t *points, bool is_all, FILE *out)
{
	autopool pool = {0};
	const struct texts marks = remarks_marks(&pool, points), remarks = remarks_of_points(&pool, points);
	struct texts grades = {.nr = 0}; /* what was counted, and how well that is known to count here */
	bool has_modelled = false;
	const json_t *point, *item;
	size_t i, k;

	json_array_foreach(points, i, point) {
		json_array_foreach(json_object_get(point, "quantities"), k, item) {
			const char *of = json_text_at(item, "of"), *grade = json_text_at(item, "grade");

			has_modelled |= strstr(json_text_at(item, "source"), "modelled caches") != NULL;
			if (*grade)
				texts_add(&pool, &grades,
					  pool_format(&pool, "%s%s%s %s", json_text_at(item, "name"), *of ? ":" : "",
						      of, grade));
		}
	}
	print_lines(&marks, out);
	if (has_modelled) {
		/* Their sizes decide how many bytes cross each border. */
		autofree char *caches = modelled_caches(experiment->rot);

		fprintf(out, "modelled caches: %s\n", caches);
	}
	print_disturbed(points, out);
	if (is_all)
		experiment_print_own_costs(experiment, out);
	for (i = 0; i < grades.nr; i++)
		fprintf(out, "%s%s%s", i ? ", " : "validated on known work: ", grades.items[i],
			i + 1 < grades.nr ? "" : "\n");
	print_lines(&remarks, out);
	/* "core SkylakeX: SkylakeX 104 Gflop/s, Haswell 60.1 Gflop/s" */
	json_array_foreach(experiment->choices, i, item)
		fprintf(out, "%s %s: %s\n", json_text_at(item, "name"), json_text_at(item, "value"),
			json_text_at(item, "text"));
	print_ceilings(experiment, is_all, out);
	if (experiment->roof_note)
		fprintf(out, "%s\n", experiment->roof_note);
}

/* Explains the marks in tables, how runs ended, notes and ceilings. */
static void
experiment_print_legend(const struct experiment *experiment, const json_t *points, FILE *out)
{
	const bool is_all = configuration_bool(experiment->rot->configuration, "showAll");
	autofree char *text = NULL;
	size_t length = 0;
	FILE *legend = open_memstream(&text, &length);

	if (experiment->nr_points > 0 && is_all)
		experiment_print_bytes(experiment, out);
	if (!legend)
		return;
	print_legend(experiment, points, is_all, legend);
	fclose(legend);
	text_print_fitting(text, out);
}

/* ---- cells ---- */

/* "median n=10", and where some are not measured, which are marked, "exact n=2 or expected". */
static char *
heading_of_runs(const struct experiment *experiment, const struct quantity_request *request)
{
	static const char *const known[] = {"expected", "given"};
	bool has_known[2] = {false, false}, is_counted = false;
	size_t least = SIZE_MAX, most = 0;
	const char *estimator = "exact";
	char *text = rot_strdup("");

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], request);
		const char *own = value && value->summary.estimator ? value->summary.estimator : "exact";
		bool is_known = false;

		for (size_t k = 0; value && k < 2; k++)
			if (strcmp(own, known[k]) == 0)
				is_known = has_known[k] = true;
		if (!value || is_known)
			continue;
		is_counted = true;
		least = value->summary.n < least ? value->summary.n : least;
		most = value->summary.n > most ? value->summary.n : most;
		/* Where every run was disturbed the value is marked. */
		if (strncmp(own, "exact", strlen("exact")) != 0 &&
		    (strcmp(estimator, "exact") == 0 || !quantity_is_of_tainted(value)))
			estimator = own;
	}
	if (is_counted || !(has_known[0] || has_known[1])) {
		const bool has_number = most > 1 || (most == 1 && strcmp(estimator, "exact") == 0);

		/* short, and said of the rate that is made of them */
		rot_append(&text, "%s", strcmp(estimator, "ratioOfMedians") == 0 ? "medians" : estimator);
		if (has_number && least < most)
			rot_append(&text, " n=%zu..%zu", least, most);
		else if (has_number)
			rot_append(&text, " n=%zu", most);
	}
	for (size_t k = 0; k < 2; k++)
		if (has_known[k])
			rot_append(&text, "%s%s", text[0] ? " or " : "", known[k]);
	return text;
}

static const char *
name_of_column(const struct experiment_column *column)
{
	return column->heading && column->heading[0] ? column->heading : NULL;
}

/* Beyond that, doubles have no unit digit. */
#define MOST_WHOLE 1e15

/* The text of the point in the column; "-" where it is missing. Fresh memory. */
static char *
cell_of(const struct experiment *experiment, const struct experiment_column *column,
	const struct experiment_point *point, struct shown_unit unit)
{
	const struct quantity_value *value = experiment_point_value(point, &column->request);
	const json_t *shown = column->kind == COLUMN_DERIVED
				      ? json_object_get(json_named(point->derived, column->axis), "value")
				      : experiment_point_on(point, column->axis);
	const double number = json_number_value(shown) * unit.factor;
	const bool is_whole = number == floor(number) && fabs(number) < MOST_WHOLE;
	struct experiment_bound bound;
	autofree char *share = NULL;

	switch (column->kind) {
	case COLUMN_SERIES:
		return rot_strdup(point->series);
	case COLUMN_LABEL:
		return rot_strdup(point->label);
	case COLUMN_QUANTITY:
		return value ? value_text_in(value, unit) : rot_strdup("-");
	case COLUMN_ROOF_SHARE:
		/* In percent; "≤" where the roof is at least that high, "-" where it is not known. */
		bound = experiment_bound_of(experiment, NULL, point);
		share = bound.ceiling ? digits_text(100 * bound.share, 3) : rot_strdup("-");
		return rot_format("%s%s", bound.is_most ? VALUE_AT_MOST : "", share);
	default:
		if (column->kind == COLUMN_DERIVED && json_is_number(shown))
			return rot_format(is_whole ? "%.0f" : "%.4g", number);
		return shown ? json_plain_text(shown) : rot_strdup("-");
	}
}

static bool
is_key(const struct experiment_column *column)
{
	return column->kind == COLUMN_SERIES || column->kind == COLUMN_LABEL || column->kind == COLUMN_AXIS;
}

/*
 * The heading of the column, of whose keys it is its name, and of others "what", "of what", "at which border", "[unit]"
 * and "estimator n", a line each; and cells[i * stride] for point i, in fresh memory.
 */
static void
fill(const struct experiment *experiment, const struct experiment_column *column, struct text_table_column *text,
     char **cells, size_t stride)
{
	const bool is_quantity = column->kind == COLUMN_QUANTITY, is_share = column->kind == COLUMN_ROOF_SHARE;
	const struct experiment_derived *derived =
		column->kind == COLUMN_DERIVED ? experiment_find_derived(experiment, column->axis) : NULL;
	const char *name = name_of_column(column), *what = is_share ? "share" : name ? name : column->axis;
	const struct quantity_value *any = NULL;
	struct shown_unit unit = {is_share ? "%" : "", 1};
	autofree char *of = NULL, *runs = is_quantity ? heading_of_runs(experiment, &column->request) : rot_strdup("");
	double size = 0;
	int length;

	text->is_left = column->kind == COLUMN_SERIES || (derived && derived->kind == EXPERIMENT_DERIVED_TEXT);
	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], &column->request);

		any = any ? any : value;
		size = value ? fmax(size, fabs(value->summary.value)) : size;
		text->is_left |= column->kind == COLUMN_AXIS &&
				 json_is_string(experiment_point_on(&experiment->points[i], column->axis));
	}
	if (is_quantity && !name)
		what = quantity_kind_find(column->request.name)->short_name;
	if (is_quantity)
		unit = shown_unit_for(any ? any->unit : "", size);
	else if (derived)
		unit = shown_unit(derived->unit);
	of = is_quantity && any && !name ? value_of_words(any) : rot_strdup(is_share ? "of roof" : "");
	length = (int)strcspn(of, ",");
	text->heading = is_key(column) ? rot_strdup(what)
				       : rot_format("%s\n%.*s\n%s\n%s%s%s\n%s", what, length, of,
						    of + length + strspn(of + length, ", "), unit.shown[0] ? "[" : "",
						    unit.shown, unit.shown[0] ? "]" : "", runs);
	for (size_t i = 0; i < experiment->nr_points; i++)
		cells[i * stride] = cell_of(experiment, column, &experiment->points[i], unit);
}

/* ---- the columns of a table without any ---- */

struct table_columns {
	struct experiment_column *items; /* their texts are borrowed */
	size_t nr;
};

/* Series and label; the axes where there are no labels. */
static void
add_keys(struct table_columns *columns, const struct experiment *experiment)
{
	json_t *coordinates = experiment->nr_points ? json_object_get(experiment->points[0].json, "coordinates") : NULL;
	bool has_label = false;
	void *at;

	for (size_t i = 0; i < experiment->nr_points; i++)
		has_label = has_label || experiment->points[i].label[0];
	rot_add(columns->items, columns->nr) = (struct experiment_column){.kind = COLUMN_SERIES, .axis = "series"};
	if (has_label)
		rot_add(columns->items, columns->nr) =
			(struct experiment_column){.kind = COLUMN_LABEL, .axis = "label"};
	for (at = json_object_iter(coordinates); !has_label && at; at = json_object_iter_next(coordinates, at))
		rot_add(columns->items, columns->nr) =
			(struct experiment_column){.kind = COLUMN_AXIS, .axis = json_object_iter_key(at)};
}

/* Every quantity that some point has: those that were asked for, then those of plots. */
static void
add_quantities(struct table_columns *columns, const struct experiment *experiment)
{
	size_t first = columns->nr;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_request *request = &experiment->points[i].requests[j];
			size_t k = first;

			while (k < columns->nr && !experiment_same_request(&columns->items[k].request, request))
				k++;
			if (k == columns->nr)
				rot_add(columns->items, columns->nr) = (struct experiment_column){
					.kind = COLUMN_QUANTITY, .axis = request->name, .request = *request};
		}
}

/* ---- printing ---- */

/* "bytes (LLC-RAM read)"; the request where no point has a value. */
static char *
label_of_column(const struct experiment *experiment, const struct experiment_column *column)
{
	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], &column->request);

		if (value)
			return value_label(value);
	}
	return quantity_request_text(&column->request);
}

/* Has an earlier column the same heading, as where a quantity was asked for with its clock and without? */
static bool
is_repeated(const struct text_table *table, size_t column)
{
	for (size_t i = table->nr_keys; i < column; i++)
		if (strcmp(table->columns[i].heading, table->columns[column].heading) == 0)
			return true;
	return false;
}

/* Names of the columns that the table does not show, in one paragraph: those from nr_shown on, and empty ones. */
static void
print_left_out(const struct experiment *experiment, const struct text_table *table, const struct table_columns *columns,
	       size_t nr_shown, FILE *out)
{
	const struct {
		const char *title;
		bool is_empty;
	} parts[] = {{"without a value: ", true}, {"with --all and in the files: ", false}};

	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
		autofree char *names = rot_strdup(""), *text = NULL;

		for (size_t i = table->nr_keys; i < columns->nr; i++) {
			const struct experiment_column *column = &columns->items[i];
			autofree char *name = NULL;

			if (is_repeated(table, i) ||
			    (text_table_is_empty(table, i) ? !parts[p].is_empty : parts[p].is_empty || i < nr_shown))
				continue;
			name = column->kind == COLUMN_QUANTITY ? label_of_column(experiment, column)
			       : name_of_column(column)        ? rot_strdup(name_of_column(column))
							       : rot_strdup(column->axis);
			rot_append(&names, "%s%s", *names ? ", " : "", name);
		}
		text = rot_format("%s%s\n", parts[p].title, names);
		if (*names)
			text_print_fitting(text, out);
	}
}

/* A table with columns that were asked for is shown whole up to so many rows. */
#define WHOLE_TABLE 10

/* The columns asked for, first those that say which point it is; without any: these, and all quantities. */
static void
print_points(const struct experiment *experiment, const struct experiment_own_table *own, FILE *out)
{
	struct table_columns columns = {0};
	autofree struct text_table_column *texts = NULL;
	struct text_table table;
	const bool is_all = configuration_bool(experiment->rot->configuration, "showAll");
	size_t nr_keys, nr_shown;

	for (size_t i = 0; i < own->nr_columns; i++)
		if (is_key(&own->columns[i]))
			rot_add(columns.items, columns.nr) = own->columns[i];
	if (own->nr_columns == 0)
		add_keys(&columns, experiment);
	nr_keys = columns.nr;
	for (size_t i = 0; i < own->nr_columns; i++)
		if (!is_key(&own->columns[i]))
			rot_add(columns.items, columns.nr) = own->columns[i];
	if (own->nr_columns == 0) {
		/* All that there is: the share of the roof, and the quantities in the order of the controller. */
		if (experiment_has_bound(experiment))
			rot_add(columns.items, columns.nr) =
				(struct experiment_column){.kind = COLUMN_ROOF_SHARE, .axis = "share of roof"};
		add_quantities(&columns, experiment);
	}
	texts = rot_calloc(columns.nr, sizeof(*texts));
	table = (struct text_table){.columns = texts,
				    .nr_columns = columns.nr,
				    .cells = rot_calloc(columns.nr * experiment->nr_points, sizeof(*table.cells)),
				    .nr_rows = experiment->nr_points,
				    .nr_keys = nr_keys,
				    .is_all_shown = is_all,
				    .is_one_part =
					    !is_all && (own->nr_columns == 0 || experiment->nr_points > WHOLE_TABLE)};
	for (size_t i = 0; i < columns.nr; i++)
		fill(experiment, &columns.items[i], &texts[i], &table.cells[i], columns.nr);
	nr_shown = text_table_print(&table, out);
	if (!is_all)
		print_left_out(experiment, &table, &columns, nr_shown, out);
	fputc('\n', out);
	text_table_clear(&table);
	for (size_t i = 0; i < columns.nr; i++)
		free((char *)texts[i].heading);
	free(columns.items);
}

static void
print_table(const struct experiment *experiment, const struct experiment_own_table *own, FILE *out)
{
	autofree const struct experiment_point **chosen = NULL;
	autofree struct experiment_point *points = NULL;
	struct experiment view = *experiment; /* with only the chosen points in it; borrows all it has */
	struct rot_error why = {0};

	view.nr_points = 0;
	if (experiment_choose(experiment, own->condition, &own->best, &chosen, &view.nr_points, &why) < 0)
		fprintf(out, "%s: %s\n", own->title, why.text);
	if (view.nr_points == 0)
		return;
	points = rot_calloc(view.nr_points, sizeof(*points));
	for (size_t i = 0; i < view.nr_points; i++)
		points[i] = *chosen[i];
	view.points = points;
	if (own->title[0])
		fprintf(out, "%s\n\n", own->title);
	print_points(&view, own, out);
}

void
experiment_print_table(const struct experiment *experiment, const json_t *result, FILE *out)
{
	static const struct experiment_own_table all = {.title = "", .condition = ""};

	experiment_print_verdicts(experiment, out);
	if (experiment->nr_tables == 0 && experiment->nr_points > 0)
		print_table(experiment, &all, out);
	for (size_t i = 0; i < experiment->nr_tables; i++)
		print_table(experiment, &experiment->tables[i], out);
	experiment_print_accuracy(experiment, json_object_get(result, "accuracy"), out);
	experiment_print_legend(experiment, json_object_get(result, "points"), out);
}

/* ---- OUTPUT.csv: one row a point of OUTPUT.json, in base units; for spreadsheets and data frames ---- */

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
add_columns_of(json_t *row, const json_t *point)
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
		add_columns_of(row, points[i]);
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
