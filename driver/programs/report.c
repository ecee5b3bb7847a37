/* SPDX-License-Identifier: MIT */
/* What follows from the measured values: notes, and the bound in words. */
#include "programs/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/architecture.h"

/* Below this share of both roofs neither of them is what the program waits for. */
#define FAR_BELOW 0.1

/* More than this many CPUs in use cannot be compared with the roofs of one. */
#define ONE_CPU 1.2

void
program_report_note(struct program_report *report, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = rot_strdup("out of memory");
	va_end(arguments);
	report->notes = rot_realloc(report->notes, report->nr_notes + 1, sizeof(*report->notes));
	report->notes[report->nr_notes++] = text;
}

void
program_report_clear(struct program_report *report)
{
	program_values_clear(&report->total);
	for (size_t i = 0; i < report->nr_threads; i++)
		program_values_clear(&report->threads[i]);
	for (size_t i = 0; i < report->nr_notes; i++)
		free(report->notes[i]);
	free(report->threads);
	free(report->bound);
	free(report->notes);
	*report = (struct program_report){.title = NULL};
}

static size_t
nr_runs(const struct program_report *report)
{
	return program_command_output_nr_outputs(report->output);
}

static double
median_of_runs(const struct program_report *report, double (*number)(const struct program_run_output *run))
{
	double *numbers = rot_calloc(nr_runs(report) + 1, sizeof(*numbers)), median;

	for (size_t i = 0; i < nr_runs(report); i++)
		numbers[i] = number(program_command_output_outputs_at(report->output, i));
	median = statistics_percentile(numbers, nr_runs(report), 50);
	free(numbers);
	return median;
}

static double
wall_s(const struct program_run_output *run)
{
	return (double)run->wall_time * 1e-9;
}

static double
cpu_s(const struct program_run_output *run)
{
	return (double)(run->user_time + run->system_time) * 1e-9;
}

double
program_report_wall_s(const struct program_report *report)
{
	return median_of_runs(report, wall_s);
}

double
program_report_cpu_s(const struct program_report *report)
{
	return median_of_runs(report, cpu_s);
}

static double
nr_cpus(const struct program_report *report)
{
	return program_report_cpu_s(report) / program_report_wall_s(report);
}

/* ---- bound ---- */

static double
value_of(const struct program_report *report, const char *name)
{
	const struct quantity_value *value = program_values_find(&report->total, name, "");

	return value ? value->summary.value : NAN;
}

static char *
bound_of(const struct program_report *report)
{
	double performance = value_of(report, "performance"), throughput = value_of(report, "throughput");
	double of_peak = performance / report->peak, of_bandwidth = throughput / report->bandwidth;
	const char *cpus = nr_cpus(report) > ONE_CPU ? " (of one CPU; the program used more)" : "";
	const bool is_memory = report->plan->border && strncmp(report->plan->border, "llcRam", 6) == 0;

	if (!is_memory || isnan(of_peak) || isnan(of_bandwidth))
		return rot_strdup("");
	if (performance == 0)
		return rot_format("no floating-point operations; %.0f %% of the memory bandwidth%s", 100 * of_bandwidth,
				  cpus);
	if (of_peak < FAR_BELOW && of_bandwidth < FAR_BELOW)
		return rot_format("neither memory nor arithmetic: %.0f %% of the memory bandwidth, %.0f %% of the "
				  "peak%s; something else takes the time (latency, dependences, other instructions, "
				  "waiting)",
				  100 * of_bandwidth, 100 * of_peak, cpus);
	if (of_bandwidth > of_peak)
		return rot_format("memory-bound: %.0f %% of the memory bandwidth at this intensity; %.0f %% of the "
				  "peak%s",
				  100 * of_bandwidth, 100 * of_peak, cpus);
	return rot_format("compute-bound: %.0f %% of the peak; %.0f %% of the memory bandwidth%s", 100 * of_peak,
			  100 * of_bandwidth, cpus);
}

/* ---- notes ---- */

static const struct {
	unsigned taint;
	const char *note;
} taints[] = {
	{TAINT_MULTIPLEXED, "the counters did not count all the time: something else uses them (another profiler, the "
			    "NMI watchdog)"},
	{TAINT_OVERFLOW, "a count is larger than a counter can hold and not to be believed: run it again"},
};

static bool
has_taint(const struct program_report *report, unsigned taint)
{
	for (size_t i = 0; i < report->total.nr; i++)
		for (size_t k = 0; k < report->total.values[i].nr_samples; k++)
			if (report->total.values[i].taints[k] & taint)
				return true;
	return false;
}

static void
judge_counting(struct program_report *report)
{
	const struct rot_error *why = &report->architecture->why_not;

	if (why->text[0])
		program_report_note(report, "operations and bytes: not counted: %s%s%s", why->text,
				    why->hint[0] ? "\n" : "", why->hint);
	else if (!report->plan->operation && !report->plan->border)
		program_report_note(report, "operations and bytes: the architecture '%s' has no events for them",
				    report->architecture->title);
	if (report->plan->left_out[0])
		program_report_note(report, "not in %zu run%s: %s; --passes=%zu runs the program often enough",
				    report->plan->passes.nr_passes, report->plan->passes.nr_passes == 1 ? "" : "s",
				    report->plan->left_out, report->plan->nr_passes_of_all);
	for (size_t i = 0; i < sizeof(taints) / sizeof(*taints); i++)
		if (has_taint(report, taints[i].taint))
			program_report_note(report, "%s", taints[i].note);
}

static void
judge_runs(struct program_report *report)
{
	const struct program_run_output *first = program_command_output_outputs_at(report->output, 0);

	if (report->agreement.spread > PROGRAM_AGREEMENT)
		program_report_note(report,
				    "the runs differ: %.3g %% between the fewest and the most instructions; "
				    "quantities of different runs do not belong together",
				    100 * report->agreement.spread);
	if (!report->agreement.has_same_threads)
		program_report_note(report, "the runs had different numbers of threads; they are not shown one by one");
	for (size_t i = 1; i < nr_runs(report); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if (run->exit_status == first->exit_status && run->signal == first->signal)
			continue;
		program_report_note(report, "the runs ended differently: run %zu not as the first", i + 1);
		break;
	}
}

void
program_report_judge(struct program_report *report)
{
	report->bound = bound_of(report);
	judge_counting(report);
	judge_runs(report);
	for (size_t i = 0; i < program_command_output_nr_warnings(report->output); i++)
		program_report_note(report, "%s", program_command_output_warnings_at(report->output, i));
	if (program_values_find(&report->total, "operationalIntensity", "") &&
	    (isnan(report->peak) || isnan(report->bandwidth)))
		program_report_note(report, "share of the roof: this machine's ceilings are not measured yet; "
					    "-o NAME measures them, once, and draws the roofline");
}
