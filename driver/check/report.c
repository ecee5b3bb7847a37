/* SPDX-License-Identifier: MIT */
/* The controller report: what is known of this machine, from what rot keeps. Nothing is measured for it. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/entry.h"
#include "base/files.h"
#include "base/json.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text_table.h"
#include "check/doctor.h"
#include "config.h"
#include "experiments/c_controller.h"
#include "experiments/stored_plot.h"
#include "experiments/stored_result.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/page.h"
#include "plots/places.h"
#include "quantities/architecture.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "roof/present.h"
#include "roof/profile.h"
#include "rot.h"

/* ---- results in the folder ---- */

struct result_list {
	struct stored_result *items;
	size_t nr;
};

/* ---- reading ---- */

/* Results of rot in that folder (OUTPUT.json), by name; other files are passed over. */
static void
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

/* A rate that has several words keeps those of the first point that has one. */
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

/* A table, and what its marks mean; is_all: with all columns. */
static void
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
	/* The meanings of marks in the table. */
	for (const struct remark *mark = remark_next(REMARK_MARK, NULL); mark; mark = remark_next(REMARK_MARK, mark)) {
		autofree char *text = rot_format("%s: %s", mark->mark, mark->text);
		bool is_there = false;

		for (size_t k = 0; k < table.nr_rows * table.nr_columns; k++)
			is_there = is_there || strstr(table.cells[k], mark->mark);
		if (is_there)
			text_print_fitting(text, out);
	}
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

/* [{file, controller, complete, isOfThisMachine, points, disturbedSamples, samples, brokenRules, highest: [{name, of,
 * unit, value}]}]. New reference. */
static json_t *
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

/*
 * OUTPUT.pdf...: the results of this machine that have an operational intensity and a performance, of the same words as
 * the first that has, in one roofline. page: that it is added to; NULL: none.
 */
static int
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

struct report {
	struct rot *rot;
	bool is_all; /* whole tables, and all sections: as in the file */
	time_t now;
	struct findings findings;
	struct peak_list peaks;
	struct profile_state profile;
	struct pool pool; /* of the results */
	struct result_list results;
};

/* ---- validated formulas ---- */

static json_t *
grades_json(const struct architecture *architecture)
{
	json_t *grades = json_array();

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];

		json_array_append_new(grades, json_pack("{s:s, s:s, s:s, s:o}", "quantity", formula->quantity, "of",
							formula->of, "source", formula->source, "grade",
							json_stringn(&formula->grade, formula->grade ? 1 : 0)));
	}
	return grades;
}

static void
print_grades(const struct report *report, FILE *out)
{
	const struct architecture *architecture = report->rot->architecture;
	static const struct text_table_column columns[] = {
		{"quantity", true}, {"of", true}, {"grade", true}, {"events", true}};
	struct text_table table = {
		.columns = columns, .nr_columns = sizeof(columns) / sizeof(columns[0]), .nr_keys = 2};
	autofree char *text = NULL;

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];
		char *const cells[] = {rot_strdup(formula->quantity), rot_strdup(formula->of),
				       formula->grade ? rot_strndup(&formula->grade, 1) : rot_strdup("not validated"),
				       rot_strdup(formula->source)};

		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	text_table_clear(&table);
	text = architecture->why_not.text[0]
		       ? rot_format("Nothing can be counted here, so nothing is to be validated: %s",
				    architecture->why_not.text)
		       : rot_strdup("'rot validate' proves the events of this machine on known work.");
	text_print_fitting(text, out);
}

/* ---- the text ---- */

/* Do both say how fast the same is done, by other instructions? */
static bool
is_rival(const struct peak *a, const struct peak *b)
{
	return a->kind == b->kind && a->nr_threads == b->nr_threads && strcmp(a->operation, b->operation) == 0 &&
	       strcmp(a->border, b->border) == 0 && (a->kind == PEAK_PERFORMANCE || strcmp(a->access, b->access) == 0);
}

/* The best of each operation, and of each level and access. They stay the list's; free the array. */
static struct peak_list
best_peaks(const struct peak_list *list)
{
	struct peak_list best = {.peaks = rot_calloc(list->nr + 1, sizeof(*best.peaks))};

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];
		bool is_best = true;

		for (size_t k = 0; k < list->nr; k++)
			is_best = is_best && !(is_rival(peak, &list->peaks[k]) &&
					       peak_is_better(peak->kind, list->peaks[k].per_second.value,
							      peak->per_second.value));
		if (is_best)
			best.peaks[best.nr++] = *peak;
	}
	return best;
}

static void
print_peaks(const struct report *report, FILE *out)
{
	struct peak_list best = best_peaks(&report->peaks);

	if (best.nr && !report->is_all) {
		peaks_print(&report->peaks, false, out);
	} else if (best.nr) {
		peaks_print(&best, true, out);
		autofree char *text =
			rot_format("\nThe best of each operation, and of each level and access, of %zu peaks: 'rot "
				   "measure peaks' shows all.",
				   report->peaks.nr);

		text_print_fitting(text, out);
	} else {
		fputs("No peaks of this machine are kept: 'rot peaks' finds them.\n", out);
	}
	free(best.peaks);
	if (report->profile.message && report->profile.message[0])
		text_print_fitting(report->profile.message, out);
}

static void
print_findings(const struct report *report, FILE *out)
{
	findings_print(&report->findings, true, out);
}

static void
print_results(const struct report *report, FILE *out)
{
	if (report->results.nr)
		results_print(report->rot, &report->results, report->is_all, out);
	else
		fputs("There are none: 'rot measure triad' is a beginning.\n", out);
}

static const struct section {
	const char *heading;
	void (*print)(const struct report *report, FILE *out);
	bool is_short; /* so that the terminal has it, too */
} sections[] = {
	{"What works here", print_findings, false},
	{"Events and their grades", print_grades, false},
	{"The roof", print_peaks, true},
	{"Results in this folder", print_results, true},
};

enum { NR_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static void
print_report(const struct report *report, FILE *out)
{
	autofree char *machine = machine_caption(report->rot->machine);
	char date[32];

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M", localtime(&report->now));
	fprintf(out, "%s\nrot %s, %s\n", machine, PACKAGE_VERSION, date);
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		if (!report->is_all && !sections[i].is_short)
			continue;
		fprintf(out, "\n%s\n", sections[i].heading);
		for (const char *c = sections[i].heading; *c; c++)
			fputc('=', out);
		fputs("\n\n", out);
		sections[i].print(report, out);
	}
}

/* ---- for programs ---- */

static json_t *
report_json(const struct report *report)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "rot.report/1", "machine",
			 json_entity(report->rot->machine), "doctor", findings_json(&report->findings, report->rot),
			 "formulas", grades_json(report->rot->architecture), "peaks",
			 peaks_json(report->rot, &report->peaks), "results",
			 results_json(report->rot, &report->results));
}

/* ---- files ---- */

static int
draw_summary(const struct report *report, struct page *page, const char *output_name, struct rot_error *err)
{
	autofree char *results = rot_format("%s-results", output_name);
	int rc = 0;

	if (report->peaks.nr)
		rc = peaks_draw_roofs(report->rot, &report->peaks, page, output_name, err);
	if (rc == 0)
		rc = results_draw(report->rot, &report->results, page, results, err);
	return rc;
}

/* Pictures, then what the text says: the results and the roof first. */
static int
write_page(const struct report *report, const char *output_name, struct rot_error *err)
{
	autofree char *machine = machine_caption(report->rot->machine);
	char date[32];
	autofree char *title = NULL;
	struct page *page;
	autofree struct page_result *results = rot_calloc(report->results.nr + 1, sizeof(*results));
	int rc;

	strftime(date, sizeof(date), "%Y-%m-%d", localtime(&report->now));
	title = rot_format("%s: what rot %s knows of it, %s", machine, PACKAGE_VERSION, date);
	page = page_new(title);
	rc = draw_summary(report, page, output_name, err);
	setenv("COLUMNS", "180", true); /* a page has room for whole tables */
	for (size_t i = NR_SECTIONS; rc == 0 && i-- > 0;) {
		autofree char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		sections[i].print(report, out);
		fclose(out);
		page_add_text(page, sections[i].heading, text);
	}
	for (size_t i = 0; i < report->results.nr; i++)
		results[i] = (struct page_result){report->results.items[i].name, report->results.items[i].json};
	if (rc == 0)
		rc = page_write(page, results, report->results.nr, report->rot, output_name, err);
	page_delete(page);
	return rc;
}

/* Where only a page is asked for, that is the report, in one file. */
static int
write_files(const struct report *report, const char *output_name, struct rot_error *err)
{
	const struct configuration *configuration = report->rot->configuration;
	const bool has_page = plots_go_to(configuration, PLOTS_ON_PAGE);
	struct output_text text;

	if (!has_page || plots_go_to(configuration, PLOTS_IN_FILES)) {
		print_report(report, output_text_begin(&text));
		if (output_text_end(&text, output_name, ".txt", err) < 0 ||
		    output_take_json(report_json(report), output_name, err) < 0)
			return -1;
	}
	return has_page ? write_page(report, output_name, err) : draw_summary(report, NULL, output_name, err);
}

static int
measure_report(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	const bool is_all = configuration_bool(rot->configuration, "showAll");
	struct report report = {.rot = rot, .is_all = is_all, .now = time(NULL)};
	int rc = -1;

	(void)self;
	if (output_check(output_name, err) < 0)
		return -1;
	doctor_look(&report.findings, rot);
	results_read(&report.pool, &report.results, ".");
	if (profile_load(rot, &report.peaks, &report.profile, err) == 0) {
		print_report(&report, stdout);
		fflush(stdout);
		report.is_all = true;
		rc = write_files(&report, output_name, err);
		output_print_told();
	}
	findings_clear(&report.findings);
	peak_list_clear(&report.peaks);
	pool_clear(&report.pool);
	return rc;
}

const struct rot_controller report_controller = {
	.name = "report",
	.description = "what is known of this machine: what works, grades of events, its roof, and the results in "
		       "this folder",
	.measure = measure_report,
	.plan = "nothing: it reads what is kept of this machine and the results in this folder",
};
