/* SPDX-License-Identifier: MIT */
/* Tables of an experiment: columns with units, estimator and n; values with their interval, to its digits. What stands
 * below them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "levels/levels.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "peaks/peak.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "support/entry.h"
#include "support/json.h"
#include "support/text_table.h"

/* ---- what stands below a table ---- */

/* Disturbed runs of points, and by what. */
struct disturbed {
	size_t nr_points, most_runs;
	unsigned taints;
};

static void
disturbed_add(struct disturbed *disturbed, const struct quantity_value *value)
{
	size_t nr = 0;

	for (size_t i = 0; i < value->nr_samples; i++) {
		nr += value->taints[i] != 0;
		disturbed->taints |= value->taints[i];
	}
	disturbed->nr_points++;
	disturbed->most_runs = nr > disturbed->most_runs ? nr : disturbed->most_runs;
}

/* The value of the point that says most of its disturbed runs, or NULL: all are of the same runs. */
static const struct quantity_value *
most_disturbed(const struct experiment_point *point)
{
	const struct quantity_value *most = NULL;

	for (size_t i = 0; i < point->nr_values; i++) {
		const struct quantity_value *value = &point->values[i];
		bool is_disturbed = false;

		for (size_t k = 0; value->taints && k < value->nr_samples; k++)
			is_disturbed = is_disturbed || value->taints[k];
		if (is_disturbed && (!most || value->summary.tainted > most->summary.tainted))
			most = value;
	}
	return most;
}

static void
print_disturbed(const struct experiment *experiment, FILE *out)
{
	enum { LEFT_OUT, ALL, KEPT, NR_FATES };
	struct disturbed disturbed[NR_FATES] = {{0}};
	char *causes[NR_FATES];

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = most_disturbed(&experiment->points[i]);

		if (value)
			disturbed_add(&disturbed[quantity_is_of_tainted(value) ? ALL
						 : value->summary.tainted == 0 ? KEPT
									       : LEFT_OUT],
				      value);
	}
	for (int i = 0; i < NR_FATES; i++)
		causes[i] = sample_taints_text(disturbed[i].taints);
	if (disturbed[LEFT_OUT].nr_points)
		fprintf(out,
			"up to %zu run%s of a point %s disturbed (%s) and left out; OUTPUT.json says which, and why\n",
			disturbed[LEFT_OUT].most_runs, rot_plural((double)disturbed[LEFT_OUT].most_runs),
			disturbed[LEFT_OUT].most_runs == 1 ? "was" : "were", causes[LEFT_OUT]);
	if (disturbed[ALL].nr_points)
		fprintf(out, "%zu of %zu point%s had no run that was not disturbed (%s)\n", disturbed[ALL].nr_points,
			experiment->nr_points, rot_plural((double)experiment->nr_points), causes[ALL]);
	if (disturbed[KEPT].nr_points)
		fprintf(out,
			"up to %zu runs of a point were disturbed (%s) and are in the values, which are about that; "
			"OUTPUT.json says which\n",
			disturbed[KEPT].most_runs, causes[KEPT]);
	for (int i = 0; i < NR_FATES; i++)
		free(causes[i]);
}

/* What was measured of this machine may contradict what is told. */
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

/* Their sizes decide how many bytes cross each border. */
static void
print_modelled_caches(const struct experiment *experiment, FILE *out)
{
	char *caches;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			if (!strstr(experiment->points[i].values[j].source, "modelled caches"))
				continue;
			caches = modelled_caches(experiment->rot);
			fprintf(out, "modelled caches: %s\n", caches);
			free(caches);
			return;
		}
}

/* What was counted, once, and how well that is known to count here. */
static void
print_grades(const struct experiment *experiment, FILE *out)
{
	autofree char *known = rot_strdup("");

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_value *value = &experiment->points[i].values[j];
			autofree char *name = rot_format("%s%s%s", value->name, value->of[0] ? ":" : "", value->of);
			autofree char *text = rot_format("%s %s", name, value->grade);

			if (value->grade[0] && !strstr(known, text))
				rot_append(&known, "%s%s", known[0] ? ", " : "", text);
		}
	if (known[0])
		fprintf(out, "validated on known work: %s\n", known);
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

/* Of a peak its interval; else of how many runs it is the best. */
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

/* Those that were measured for this, and with_peaks those of the machine's roof that plots show. */
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

/* "core SkylakeX: SkylakeX 104 Gflop/s, Haswell 60.1 Gflop/s" */
static void
print_choices(const struct experiment *experiment, FILE *out)
{
	const json_t *choice;
	size_t i;

	json_array_foreach(experiment->choices, i, choice) {
		fprintf(out, "%s %s: %s\n", json_text_at(choice, "name"), json_text_at(choice, "value"),
			json_text_at(choice, "text"));
	}
}

static void
print_legend(const struct experiment *experiment, const json_t *points, bool is_all, FILE *out)
{
	autopool pool = {0};
	const struct texts marks = remarks_marks(&pool, points), remarks = remarks_of_points(&pool, points);

	print_lines(&marks, out);
	print_modelled_caches(experiment, out);
	print_disturbed(experiment, out);
	if (is_all)
		experiment_print_own_costs(experiment, out);
	print_grades(experiment, out);
	print_lines(&remarks, out);
	print_choices(experiment, out);
	print_ceilings(experiment, is_all, out);
	if (experiment->roof_note)
		fprintf(out, "%s\n", experiment->roof_note);
}

/* What the marks in tables mean, how runs ended, notes and ceilings. */
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

/* Estimates of a column, and what of it was not measured: named as the estimators of such values are. */
struct estimates {
	const char *estimator;
	size_t least, most; /* runs */
	bool has_some;
	bool has_known[2];
};

static const char *const known_estimators[] = {"expected", "given"};

#define NR_KNOWN (sizeof(known_estimators) / sizeof(known_estimators[0]))

static bool
note_known(struct estimates *estimates, const char *estimator)
{
	for (size_t i = 0; i < NR_KNOWN; i++) {
		if (strcmp(estimator, known_estimators[i]) != 0)
			continue;
		estimates->has_known[i] = true;
		return true;
	}
	return false;
}

static void
note_estimate(struct estimates *estimates, const struct quantity_value *value)
{
	const char *estimator = value->summary.estimator;

	if (estimator && note_known(estimates, estimator))
		return;
	estimates->has_some = true;
	estimates->least = value->summary.n < estimates->least ? value->summary.n : estimates->least;
	estimates->most = value->summary.n > estimates->most ? value->summary.n : estimates->most;
	/* Where every run was disturbed the value is marked. */
	if (estimator && strncmp(estimator, "exact", strlen("exact")) != 0 &&
	    (strcmp(estimates->estimator, "exact") == 0 || !quantity_is_of_tainted(value)))
		estimates->estimator = estimator;
}

static char *
text_of_estimates(const struct estimates *estimates)
{
	const char *estimator = estimates->estimator;
	const size_t least = estimates->least, most = estimates->most;

	if (strcmp(estimator, "ratioOfMedians") == 0)
		estimator = "medians"; /* short, and said of the rate that is made of them */
	if (most == 0 || (most == 1 && strcmp(estimator, "exact") != 0))
		return rot_strdup(estimator);
	return least == most ? rot_format("%s n=%zu", estimator, most)
			     : rot_format("%s n=%zu..%zu", estimator, least, most);
}

/* "median n=10", and where some are not measured "exact n=2 or expected": these are marked. */
static char *
heading_of_runs(const struct experiment *experiment, const struct quantity_request *request)
{
	struct estimates estimates = {.estimator = "exact", .least = SIZE_MAX};
	char *text;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = experiment_point_value(&experiment->points[i], request);

		if (value)
			note_estimate(&estimates, value);
	}
	text = estimates.has_some || !(estimates.has_known[0] || estimates.has_known[1]) ? text_of_estimates(&estimates)
											 : rot_strdup("");
	for (size_t i = 0; i < NR_KNOWN; i++)
		if (estimates.has_known[i])
			rot_append(&text, "%s%s", text[0] ? " or " : "", known_estimators[i]);
	return text;
}

/* "what", "of what", "at which border", "[unit]", "estimator n": lines of a heading. Fresh memory; takes of, unit and
 * runs over. */
static char *
heading_of(const char *what, char *of, char *unit, char *runs)
{
	const int length = (int)strcspn(of, ",");
	char *heading = rot_format("%s\n%.*s\n%s\n%s\n%s", what, length, of, of + length + strspn(of + length, ", "),
				   unit, runs);

	free(of);
	free(unit);
	free(runs);
	return heading;
}

static char *
unit_text(struct shown_unit unit)
{
	return unit.shown[0] ? rot_format("[%s]", unit.shown) : rot_strdup("");
}

static const char *
name_of_column(const struct experiment_column *column)
{
	return column->heading && column->heading[0] ? column->heading : NULL;
}

/* What a column is filled with: cells[i * stride] for point i, in fresh memory, and its heading. */
struct filling {
	const struct experiment *experiment;
	const struct experiment_column *column;
	struct text_table_column *text;
	char **cells;
	size_t stride;
};

static void
fill_quantity(const struct filling *f)
{
	const struct quantity_value *any = NULL;
	const char *name = name_of_column(f->column);
	struct shown_unit unit;
	double size = 0;

	for (size_t i = 0; i < f->experiment->nr_points; i++) {
		const struct quantity_value *value =
			experiment_point_value(&f->experiment->points[i], &f->column->request);

		any = any ? any : value;
		size = value ? fmax(size, fabs(value->summary.value)) : size;
	}
	unit = shown_unit_for(any ? any->unit : "", size);
	for (size_t i = 0; i < f->experiment->nr_points; i++) {
		const struct quantity_value *value =
			experiment_point_value(&f->experiment->points[i], &f->column->request);

		f->cells[i * f->stride] = value ? value_text_in(value, unit) : rot_strdup("-");
	}
	f->text->heading = heading_of(name ? name : quantity_kind_find(f->column->request.name)->short_name,
				      any && !name ? value_of_words(any) : rot_strdup(""), unit_text(unit),
				      heading_of_runs(f->experiment, &f->column->request));
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

static void
fill_key(const struct filling *f)
{
	f->text->heading = rot_strdup(name_of_column(f->column) ? name_of_column(f->column) : f->column->axis);
	for (size_t i = 0; i < f->experiment->nr_points; i++) {
		const struct coordinate *c = point_coordinate(&f->experiment->points[i].at, f->column->axis);

		f->cells[i * f->stride] = rot_strdup(key_cell(&f->experiment->points[i], f->column));
		f->text->is_left = f->text->is_left || f->column->kind == COLUMN_SERIES || (c && isnan(c->number));
	}
}

/* Beyond that, doubles have no unit digit. */
#define MOST_WHOLE 1e15

/* In the unit shown; "-" where it is missing. */
static void
fill_derived(const struct filling *f)
{
	size_t i;
	const struct experiment_own_derived *own = experiment_find_derived(f->experiment, f->column->axis, &i);
	struct shown_unit unit = shown_unit(own->derived.unit);

	f->text->is_left = own->derived.kind == EXPERIMENT_DERIVED_TEXT;
	f->text->heading = heading_of(name_of_column(f->column) ? name_of_column(f->column) : f->column->axis,
				      rot_strdup(""), unit_text(unit), rot_strdup(""));
	for (size_t row = 0; row < f->experiment->nr_points; row++) {
		const struct experiment_point *point = &f->experiment->points[row];
		const struct experiment_derived_value *value = point->derived ? &point->derived[i] : NULL;
		char **cell = &f->cells[row * f->stride];

		if (value && value->text)
			*cell = rot_strdup(value->text);
		else if (value && !isnan(value->number))
			*cell = rot_format((value->number * unit.factor) == floor((value->number * unit.factor)) &&
							   fabs((value->number * unit.factor)) < MOST_WHOLE
						   ? "%.0f"
						   : "%.4g",
					   (value->number * unit.factor));
		else
			*cell = rot_strdup("-");
	}
}

static void
fill_cell(const struct filling *f)
{
	if (f->column->kind == COLUMN_ROOF_SHARE) {
		/* In percent; "≤" where the roof is at least that high, "-" where it is not known. */
		f->text->heading = heading_of("share", rot_strdup("of roof"), rot_strdup("[%]"), rot_strdup(""));
		for (size_t i = 0; i < f->experiment->nr_points; i++) {
			struct experiment_bound bound =
				experiment_bound_of(f->experiment, NULL, &f->experiment->points[i]);

			autofree char *share = bound.ceiling ? digits_text(100 * bound.share, 3) : rot_strdup("-");

			f->cells[i * f->stride] = rot_format("%s%s", bound.is_most ? VALUE_AT_MOST : "", share);
		}
		return;
	}
	if (f->column->kind == COLUMN_QUANTITY)
		fill_quantity(f);
	else if (f->column->kind == COLUMN_DERIVED)
		fill_derived(f);
	else
		fill_key(f);
}

/* ---- the columns of a table without any ---- */

struct table_columns {
	struct experiment_column *items; /* their texts are borrowed */
	size_t nr;
};

static void
columns_add(struct table_columns *columns, struct experiment_column column)
{
	rot_add(columns->items, columns->nr) = column;
}

/* Series and label; the axes where there are no labels. */
static void
add_keys(struct table_columns *columns, const struct experiment *experiment)
{
	bool has_label = false;

	for (size_t i = 0; i < experiment->nr_points; i++)
		has_label = has_label || experiment->points[i].label[0];
	columns_add(columns, (struct experiment_column){.kind = COLUMN_SERIES, .axis = (char *)"series"});
	if (has_label)
		columns_add(columns, (struct experiment_column){.kind = COLUMN_LABEL, .axis = (char *)"label"});
	for (size_t i = 0; !has_label && experiment->nr_points > 0 && i < experiment->points[0].at.nr_coordinates; i++)
		columns_add(columns,
			    (struct experiment_column){.kind = COLUMN_AXIS,
						       .axis = (char *)experiment->points[0].at.coordinates[i].axis});
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
				columns_add(columns, (struct experiment_column){.kind = COLUMN_QUANTITY,
										.axis = (char *)request->name,
										.request = *request});
		}
}

/* ---- printing ---- */

static bool
is_key(const struct experiment_column *column)
{
	return column->kind == COLUMN_SERIES || column->kind == COLUMN_LABEL || column->kind == COLUMN_AXIS;
}

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

/* Of so many rows a table with columns that were asked for is shown whole. */
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
			columns_add(&columns, own->columns[i]);
	if (own->nr_columns == 0)
		add_keys(&columns, experiment);
	nr_keys = columns.nr;
	for (size_t i = 0; i < own->nr_columns; i++)
		if (!is_key(&own->columns[i]))
			columns_add(&columns, own->columns[i]);
	if (own->nr_columns == 0) {
		/* All that there is: the share of the roof, and the quantities in the order of the controller. */
		if (experiment_has_bound(experiment))
			columns_add(&columns, (struct experiment_column){.kind = COLUMN_ROOF_SHARE,
									 .axis = (char *)"share of roof"});
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
		fill_cell(&(struct filling){experiment, &columns.items[i], &texts[i], &table.cells[i], columns.nr});
	nr_shown = text_table_print(&table, out);
	if (!is_all)
		print_left_out(experiment, &table, &columns, nr_shown, out);
	fputc('\n', out);
	text_table_clear(&table);
	for (size_t i = 0; i < columns.nr; i++)
		free((char *)texts[i].heading);
	free(columns.items);
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
	autofree const struct experiment_point **points = NULL;
	struct experiment view;
	struct rot_error why = {0};
	size_t nr = 0;

	if (experiment_choose(experiment, own->condition, &own->best, &points, &nr, &why) < 0)
		fprintf(out, "%s: %s\n", own->title, why.text);
	if (nr == 0)
		return;
	view = view_of(experiment, points, nr);
	if (own->title[0])
		fprintf(out, "%s\n\n", own->title);
	print_points(&view, own, out);
	free(view.points);
}

void
experiment_print_table(const struct experiment *experiment, const json_t *points, FILE *out)
{
	static const struct experiment_own_table all = {.title = (char *)"", .condition = (char *)""};

	experiment_print_verdicts(experiment, out);
	if (experiment->nr_tables == 0 && experiment->nr_points > 0)
		print_table(experiment, &all, out);
	for (size_t i = 0; i < experiment->nr_tables; i++)
		print_table(experiment, &experiment->tables[i], out);
	experiment_print_accuracy(experiment, out);
	experiment_print_legend(experiment, points, out);
}
