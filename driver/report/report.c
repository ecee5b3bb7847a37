/* SPDX-License-Identifier: MIT */
/* The controller report: what is known of this machine, from what rot keeps. Nothing is measured for it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "configuration/paths.h"
#include "controllers/c_controller.h"
#include "doctor/doctor.h"
#include "machine/machine.h"
#include "memory.h"
#include "page/page.h"
#include "peaks/present.h"
#include "peaks/profile.h"
#include "plots/places.h"
#include "quantities/architecture.h"
#include "report/results.h"
#include "support/entry.h"
#include "support/files.h"
#include "support/json.h"
#include "support/output.h"
#include "support/text_table.h"

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

static int
collect_parts(struct report *report, struct rot_error *err)
{
	doctor_look(&report->findings, report->rot);
	results_read(&report->pool, &report->results, ".");
	return profile_load(report->rot, &report->peaks, &report->profile, err);
}

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

static int
write_text(const struct report *report, const char *output_name, struct rot_error *err)
{
	struct output_text text;

	print_report(report, output_text_begin(&text));
	return output_text_end(&text, output_name, ".txt", err);
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
		rc = page_write(page, results, report->results.nr, report->rot->paths->data, output_name, err);
	page_delete(page);
	return rc;
}

/* Where only a page is asked for, that is the report, in one file. */
static int
write_files(const struct report *report, const char *output_name, struct rot_error *err)
{
	const struct configuration *configuration = report->rot->configuration;
	const bool has_page = plots_go_to(configuration, PLOTS_ON_PAGE);

	if ((!has_page || plots_go_to(configuration, PLOTS_IN_FILES)) &&
	    (write_text(report, output_name, err) < 0 || output_take_json(report_json(report), output_name, err) < 0))
		return -1;
	return has_page ? write_page(report, output_name, err) : draw_summary(report, NULL, output_name, err);
}

static int
measure_report(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	const bool is_all = configuration_bool(rot->configuration, "showAll");
	struct report report = {.rot = rot, .is_all = is_all, .now = time(NULL)};
	int rc = -1;

	(void)self;
	if (output_check(output_name, err) == 0 && collect_parts(&report, err) == 0) {
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
