/* SPDX-License-Identifier: MIT */
/* The report as a table: the whole program, its threads, its regions, and notes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "programs/report.h"
#include "programs/report_regions.h"
#include "programs/report_rows.h"
#include "quantities/value_text.h"
#include "support/entry.h"

/* ---- the whole program ---- */

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
nr_faults(const struct program_run_output *run)
{
	return (double)run->major_faults;
}

static double
resident(const struct program_run_output *run)
{
	return run->maximum_resident_bytes < 0 ? NAN : (double)run->maximum_resident_bytes / (1 << 20);
}

static const struct {
	const char *label, *unit;
	double (*number)(const struct program_run_output *run);
} facts[] = {
	{"user time", "s", user_s},           {"system time", "s", system_s},
	{"threads", "", nr_threads},          {"context switches", "", program_run_switches},
	{"major page faults", "", nr_faults}, {"largest resident set", "MiB", resident},
};

static void
print_facts(const struct program_report *report, FILE *out)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		const double number = program_report_median(report, facts[i].number);

		if (!isnan(number))
			report_row_number(out, facts[i].label, number, facts[i].unit);
	}
}

/* One row for all that is missing, so that its absence is seen; a note says why. */
static void
print_missing(const struct program_report *report, FILE *out)
{
	static const struct {
		const char *name, *label;
	} rows[] = {
		{"operationCount", "operations"},      {"transferredBytes", "bytes"},    {"performance", "performance"},
		{"operationalIntensity", "intensity"}, {"instructions", "instructions"},
	};
	char *missing = rot_strdup("");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *longer;

		if (program_values_find(&report->total, rows[i].name, ""))
			continue;
		longer = rot_format("%s%s%s", missing, *missing ? ", " : "", rows[i].label);
		free(missing);
		missing = longer;
	}
	if (*missing)
		fprintf(out, "  not counted: %s\n", missing);
	free(missing);
}

/* Stops by the tracer: how many, and how much of the run they took. */
static void
print_stops(const struct program_report *report, FILE *out)
{
	double share = program_report_stopped_share(report);

	if (isnan(share))
		return;
	report_row_number(out, "stops by tracing", program_report_nr_stops(report), "");
	report_row_share(out, "share of the run in these stops", share);
}

static bool
is_counted(const struct program_report *report)
{
	const struct quantity_value *instructions = program_values_find(&report->total, "instructions", "");

	return instructions && !isnan(instructions->summary.value);
}

/* The end of the first run; that others ended otherwise is a doubt. */
static void
print_end(const struct program_report *report, FILE *out)
{
	const struct program_run_output *run = program_command_output_outputs_at(report->output, 0);
	const char *name = run->signal ? sigabbrev_np(run->signal) : NULL;

	if (run->signal)
		fprintf(out, "  ended by signal %d%s%s%s\n", run->signal, name ? " (SIG" : "", name ? name : "",
			name ? ")" : "");
	else if (run->exit_status > 0)
		fprintf(out, "  ended with exit status %d\n", run->exit_status);
}

/* How it was counted, and how else it can be here; of what is not counted a note says why. */
static void
print_counting(const struct program_report *report, FILE *out)
{
	static const struct {
		const char *counting, *line, *otherwise;
		bool is_timed;
	} lines[] = {
		{"events", "counted by events of the processor",
		 "; -counting=blocks: instruction by instruction, in a second run", true},
		{"blocks", "counted by blocks, in a second run", "; -counting=expected: times alone", true},
		{"blocks", "counted by blocks, in one run; nothing is timed", "", false},
		{"steps", "regions are counted by blocks, in a second run", "; -counting=expected: times alone", true},
	};
	const struct architecture *architecture = report->architecture;
	const bool may_have_events = architecture->counts_by_steps && !architecture->stepping.is_unasked;

	if (strcmp(program_report_counting(report), "blocks") == 0 && !is_counted(report))
		return;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *text;

		if (strcmp(lines[i].counting, program_report_counting(report)) != 0 ||
		    lines[i].is_timed != report->plan->is_timed)
			continue;
		text = rot_format("%s%s%s", lines[i].line,
				  may_have_events && *lines[i].otherwise ? "; -counting=events: by the processor" : "",
				  lines[i].otherwise);
		text_print_behind(" ", text, out);
		free(text);
	}
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++)
		if (program_run_is_cut(report->plan, program_command_output_outputs_at(report->output, i)))
			text_print_behind(" ", "this run was cut off: the counts are of a part of it (see the notes)",
					  out);
}

static void
print_total(const struct program_report *report, FILE *out)
{
	if (!report->plan->is_timed) {
		report_row_values(out, &report->total, report->is_all);
		return;
	}
	report_row_time(out, "time", &report->total.values[0]);
	print_facts(report, out);
	report_row_number(out, "CPUs used", program_report_cpu_s(report) / program_report_wall_s(report), "");
	print_stops(report, out);
	if (strcmp(program_report_counting(report), "steps") == 0) {
		report_row(out, "operations, bytes", "of regions", "");
		return;
	}
	report_row_values(out, &report->total, report->is_all);
	if (!isnan(report->roof_share))
		report_row_share(out, "share of the roof", report->roof_share);
	print_missing(report, out);
}

static void
print_threads(const struct program_report *report, FILE *out)
{
	struct report_thread *threads = rot_calloc(report->nr_threads + 1, sizeof(*threads));

	for (size_t i = 0; i < report->nr_threads; i++)
		threads[i] = (struct report_thread){&report->threads[i], NAN};
	report_threads(out, threads, report->nr_threads, report->is_all);
	free(threads);
}

/* ---- all ---- */

static void
print_notes(const struct program_report *report, FILE *out)
{
	for (size_t i = 0; i < report->nr_notes; i++)
		text_print_behind("  note:", report->notes[i], out);
}

/* What a mark means, if one of the values has it. */
static void
print_mark(const struct program_report *report, const char *mark, const char *meaning, FILE *out)
{
	bool is_there = false;

	for (size_t i = 0; i < report->total.nr && !is_there; i++) {
		char *text = value_text(&report->total.values[i]);

		is_there = strstr(text, mark) != NULL;
		free(text);
	}
	for (size_t r = 0; r < report->regions.nr && !is_there; r++)
		for (size_t i = 0; i < report->regions.items[r].total.nr && !is_there; i++) {
			char *text = value_text(&report->regions.items[r].total.values[i]);

			is_there = strstr(text, mark) != NULL;
			free(text);
		}
	if (is_there) {
		char *before = rot_format("  %s:", mark);

		text_print_behind(before, meaning, out);
		free(before);
	}
}

static void
print_marks(const struct program_report *report, FILE *out)
{
	for (size_t k = 0; k < value_nr_kinds; k++)
		print_mark(report, value_kinds[k].mark, value_kinds[k].meaning, out);
	print_mark(report, VALUE_DISTURBED, "every run was disturbed, and the value is of these", out);
}

void
program_report_print(const struct program_report *report, FILE *out)
{
	size_t nr = program_command_output_nr_outputs(report->output);

	fprintf(out, "\n  %s", report->title);
	if (nr > 1)
		fprintf(out, "   (%zu runs)", nr);
	fputc('\n', out);
	print_end(report, out);
	report_regions_print_unserved(report, out);
	print_counting(report, out);
	if (report->bound[0])
		text_print_behind(" ", report->bound, out);
	fputc('\n', out);
	print_total(report, out);
	print_threads(report, out);
	report_regions_print(report, out);
	if (report->nr_notes)
		fputc('\n', out);
	print_marks(report, out);
	print_notes(report, out);
	fputc('\n', out);
}
