/* SPDX-License-Identifier: MIT */
/* The report as a table: the whole program one quantity a line, then one line a thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/value_text.h"
#include "memory.h"
#include "programs/report.h"

#define LABEL_WIDTH 44
#define VALUE_WIDTH 16
#define MAX_THREADS_SHOWN 40

/* ---- the whole program ---- */

static void
print_row(FILE *out, const char *label, const char *value, const char *unit)
{
	fprintf(out, "  %-*s %*s%s%s\n", LABEL_WIDTH, label, VALUE_WIDTH, value, *unit ? " " : "", unit);
}

static void
print_number(FILE *out, const char *label, double number, const char *unit)
{
	struct summary summary = summary_single(number, "exact");
	char *text = summary_text(&summary);

	print_row(out, label, text, unit);
	free(text);
}

static double
user_s(const struct program_run_output *run)
{
	return (double)run->user_time * 1e-9;
}

static double
system_s(const struct program_run_output *run)
{
	return (double)run->system_time * 1e-9;
}

static double
nr_threads(const struct program_run_output *run)
{
	return run->nr_threads ? run->nr_threads : NAN; /* not known without tracing */
}

static double
nr_switches(const struct program_run_output *run)
{
	return (double)(run->voluntary_context_switches + run->involuntary_context_switches);
}

static double
nr_faults(const struct program_run_output *run)
{
	return (double)run->major_faults;
}

static double
resident(const struct program_run_output *run)
{
	return (double)run->maximum_resident_bytes / (1 << 20);
}

static const struct {
	const char *label, *unit;
	double (*number)(const struct program_run_output *run);
} facts[] = {
	{"user time", "s", user_s},           {"system time", "s", system_s},
	{"threads", "", nr_threads},          {"context switches", "", nr_switches},
	{"major page faults", "", nr_faults}, {"largest resident set", "MiB", resident},
};

static void
print_facts(const struct program_report *report, FILE *out)
{
	size_t nr = program_command_output_nr_outputs(report->output);
	double *numbers = rot_calloc(nr + 1, sizeof(*numbers));

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		for (size_t k = 0; k < nr; k++)
			numbers[k] = facts[i].number(program_command_output_outputs_at(report->output, k));
		print_number(out, facts[i].label, statistics_percentile(numbers, nr, 50), facts[i].unit);
	}
	free(numbers);
}

/* "operation count (double precision)" */
static char *
label_of(const struct quantity_value *value)
{
	const bool is_cycles = strcmp(value->of, "coreCycles") == 0;
	char *name = is_cycles ? rot_strdup("core cycles") : camel_case_words(value->name);
	char *of = is_cycles ? rot_strdup("") : value_of_words(value);
	char *label = rot_format("%s%s%s%s", name, *of ? " (" : "", of, *of ? ")" : "");

	free(name);
	free(of);
	return label;
}

static void
print_value(const struct quantity_value *value, FILE *out)
{
	char *label = label_of(value), *text = value_text(value);

	print_row(out, label, text, strcmp(value->of, "coreCycles") == 0 ? "" : shown_unit(value->unit).shown);
	free(label);
	free(text);
}

static void
print_time(const struct quantity_value *value, FILE *out)
{
	struct summary seconds = summary_scaled(value->summary, 1e-6);
	char *text = summary_text(&seconds);

	print_row(out, "time", text, "s");
	free(text);
}

/* One row for what is missing, so that its absence is seen. */
static void
print_missing(const struct program_report *report, FILE *out)
{
	static const struct {
		const char *name, *label;
	} rows[] = {
		{"operationCount", "operations"}, {"transferredBytes", "transferred bytes"},
		{"performance", "performance"},   {"operationalIntensity", "operational intensity"},
		{"instructions", "instructions"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!program_values_find(&report->total, rows[i].name, ""))
			print_row(out, rows[i].label, "-", "");
}

static void
print_total(const struct program_report *report, FILE *out)
{
	const struct quantity_value *cycles = program_values_find(&report->total, "time", "coreCycles"),
				    *instructions = program_values_find(&report->total, "instructions", "");

	print_time(&report->total.values[0], out);
	print_facts(report, out);
	print_number(out, "CPUs used", program_report_cpu_s(report) / program_report_wall_s(report), "");
	for (size_t i = 1; i < report->total.nr; i++)
		print_value(&report->total.values[i], out);
	if (cycles && instructions)
		print_number(out, "instructions per cycle", instructions->summary.value / cycles->summary.value, "");
	print_missing(report, out);
}

/* ---- threads ---- */

static void
print_thread_values(const struct program_values *thread, FILE *out)
{
	for (size_t i = 1; i < thread->nr; i++) {
		char *text = value_text(&thread->values[i]);

		fprintf(out, "  %*s", VALUE_WIDTH, text);
		free(text);
	}
}

/* A heading as wide as its column. */
static char *
thread_heading(const struct quantity_value *value)
{
	static const char *const shorter[][2] = {
		{"operationCount", "operations"},
		{"operationalIntensity", "intensity"},
	};

	if (strcmp(value->of, "coreCycles") == 0)
		return rot_strdup("core cycles");
	if (strcmp(value->name, "transferredBytes") == 0)
		return value_of_words(value);
	for (size_t i = 0; i < sizeof(shorter) / sizeof(*shorter); i++)
		if (strcmp(value->name, shorter[i][0]) == 0)
			return rot_strdup(shorter[i][1]);
	return camel_case_words(value->name);
}

static void
print_thread_head(const struct program_values *thread, FILE *out)
{
	fprintf(out, "\n  %8s %-16s %10s", "thread", "name", "time [s]");
	for (size_t i = 1; i < thread->nr; i++) {
		char *heading = thread_heading(&thread->values[i]);

		fprintf(out, "  %*.*s", VALUE_WIDTH, VALUE_WIDTH, heading);
		free(heading);
	}
	fputc('\n', out);
	if (thread->nr == 1)
		return;
	fprintf(out, "  %8s %-16s %10s", "", "", "");
	for (size_t i = 1; i < thread->nr; i++)
		fprintf(out, "  %*s", VALUE_WIDTH, shown_unit(thread->values[i].unit).shown);
	fputc('\n', out);
}

static void
print_threads(const struct program_report *report, FILE *out)
{
	size_t nr = report->nr_threads < MAX_THREADS_SHOWN ? report->nr_threads : MAX_THREADS_SHOWN;

	for (size_t i = 0; i < nr; i++) {
		const struct program_values *thread = &report->threads[i];

		if (i == 0)
			print_thread_head(thread, out);
		fprintf(out, "  %8d %-16.16s %10.4f", (int)thread->thread->tid, thread->thread->name,
			thread->values[0].summary.value * 1e-6);
		print_thread_values(thread, out);
		fputc('\n', out);
	}
	if (report->nr_threads > nr)
		fprintf(out, "  and %zu more: --json FILE has them all\n", report->nr_threads - nr);
}

/* ---- all ---- */

static void
print_notes(const struct program_report *report, FILE *out)
{
	for (size_t i = 0; i < report->nr_notes; i++) {
		fputs("  note: ", out);
		for (const char *c = report->notes[i]; *c; c++)
			fputs(*c == '\n' ? "\n        " : (char[]){*c, '\0'}, out);
		fputc('\n', out);
	}
}

static void
print_kinds(const struct program_report *report, FILE *out)
{
	for (size_t k = 0; k < value_nr_kinds; k++)
		for (size_t i = 0; i < report->total.nr; i++)
			if (strcmp(report->total.values[i].kind, value_kinds[k].kind) == 0) {
				fprintf(out, "  %s: %s\n", value_kinds[k].mark, value_kinds[k].meaning);
				break;
			}
}

void
program_report_print(const struct program_report *report, FILE *out)
{
	size_t nr = program_command_output_nr_outputs(report->output);

	fprintf(out, "\n  %s", report->title);
	if (nr > 1)
		fprintf(out, "   (%zu runs)", nr);
	fprintf(out, "\n\n");
	print_total(report, out);
	if (report->bound[0])
		fprintf(out, "\n  %s\n", report->bound);
	print_threads(report, out);
	if (report->nr_notes)
		fputc('\n', out);
	print_kinds(report, out);
	print_notes(report, out);
	fputc('\n', out);
}
