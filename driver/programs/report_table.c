/* SPDX-License-Identifier: MIT */
/* The report as a table: the whole program, its threads, its regions, and notes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "memory.h"
#include "number.h"
#include "programs/report.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"

#define LABEL_WIDTH 44
#define VALUE_WIDTH 16
#define HITS_WIDTH 12
#define TIME_WIDTH 10
#define MAX_THREADS_SHOWN 40

/* ---- one quantity a line ---- */

/* A row: label, value and unit in their columns. */
static void
print_row(FILE *out, const char *label, const char *value, const char *unit)
{
	fprintf(out, "  %-*s %*s%s%s\n", LABEL_WIDTH, label, VALUE_WIDTH, value, *unit ? " " : "", unit);
}

/* "-" for NaN. */
static void
row_number(FILE *out, const char *label, double number, const char *unit)
{
	struct summary summary = summary_single(number, "exact");
	autofree char *text = summary_text(&summary);

	print_row(out, label, text, unit);
}

/* A percentage. */
static void
row_share(FILE *out, const char *label, double share)
{
	autofree char *text = isnan(share) ? rot_strdup("-") : digits_text(100 * share, 3);

	print_row(out, label, text, isnan(share) ? "" : "%");
}

/* A roof without an interval is at least so high. */
static void
row_roof_share(FILE *out, double share, const struct program_roof *roof)
{
	const bool is_known = isfinite(roof->peak.low) && isfinite(roof->bandwidth.low);

	row_share(out, is_known ? "share of the roof" : "share of the roof, at most", share);
}

/* In seconds. */
static void
row_time(FILE *out, const char *label, const struct quantity_value *value)
{
	struct quantity_value seconds = *value;
	autofree char *text = NULL;

	seconds.summary = summary_scaled(value->summary, 1e-6);
	text = value_text(&seconds);

	print_row(out, label, text, "s");
}

/* Is there one of the same quantity before it? */
static bool
is_further(const struct program_values *values, size_t i)
{
	size_t first = 0;

	while (strcmp(values->values[first].name, values->values[i].name) != 0)
		first++;
	return first < i;
}

static void
row_value(FILE *out, const struct quantity_value *value)
{
	const struct shown_unit unit = shown_unit_for(value->unit, value->summary.value);
	const bool is_said_by_label =
		isinf(value->summary.value) || !strcmp(value->of, "coreCycles") || !strcmp(value->name, "instructions");
	autofree char *label = value_label(value), *text = value_text_in(value, unit);

	print_row(out, label, text, is_said_by_label ? "" : unit.shown);
}

/* The value follows from others that are shown, or is 0 since the program has no floating point. */
static bool
follows_from_others(const struct program_values *values, const struct quantity_value *value)
{
	const struct quantity_value *performance = program_values_find(values, "performance", ""),
				    *intensity = program_values_find(values, "operationalIntensity", "");
	const bool is_of_bytes = strcmp(value->name, "transferredBytes") == 0 || strcmp(value->name, "throughput") == 0;

	if (!performance || !intensity || isnan(intensity->summary.value))
		return false;
	if (performance->summary.value == 0)
		return strcmp(value->name, "throughput") != 0 && strcmp(value->name, "operationCount") != 0 &&
		       strcmp(value->name, "instructions") != 0;
	return is_of_bytes;
}

/* The first value of each quantity but the time is the widest (both precisions, memory). Without is_all only these are
 * shown, less those that follow from others. Instructions per cycle are added. Gives back how many are left out. */
static size_t
row_values(FILE *out, const struct program_values *values, bool is_all)
{
	const struct quantity_value *cycles = program_values_find(values, "time", "coreCycles"),
				    *instructions = program_values_find(values, "instructions", ""),
				    *flop = program_values_find(values, "operationCount", "flop"),
				    *masked = program_values_find(values, "maskedOperations", "");
	autofree char *missing = rot_strdup("");
	size_t nr_hidden = 0;

	if (masked && !(masked->summary.value > 0))
		masked = NULL; /* as in most programs */
	for (size_t i = 0; i < values->nr; i++) {
		const struct quantity_value *value = &values->values[i];
		const bool is_time = strcmp(value->name, "time") == 0;
		const bool masks_nothing = strcmp(value->name, "maskedOperations") == 0 && value != masked;

		if ((is_time && value != cycles) || masks_nothing)
			continue;
		if (!is_all && !is_time && (is_further(values, i) || follows_from_others(values, value)))
			nr_hidden++;
		else if (isnan(value->summary.value)) {
			autofree char *label = value_label(value);

			rot_append(&missing, "%s%s", *missing ? ", " : "", label);
		} else
			row_value(out, value);
	}
	if (masked && flop)
		row_share(out, "active lanes", flop->summary.value / (flop->summary.value + masked->summary.value));
	if (cycles && instructions)
		row_number(out, "instructions per cycle", instructions->summary.value / cycles->summary.value, "");
	if (*missing)
		text_print_behind("  not counted:", missing, out);
	return nr_hidden;
}

static void
print_hidden(size_t nr_hidden, FILE *out)
{
	if (nr_hidden > 0)
		fprintf(out, "  %zu more value%s: --all\n", nr_hidden, rot_plural((double)nr_hidden));
}

/* ---- one thread a line ---- */

/* A heading as wide as its column. */
static char *
thread_heading(const struct quantity_value *value)
{
	if (strcmp(value->of, "coreCycles") == 0)
		return rot_strdup("core cycles");
	if (strcmp(value->name, "transferredBytes") == 0)
		return value_of_words(value);
	return rot_strdup(quantity_kind_find(value->name)->short_name);
}

/* The hits of a thread, or what stands above them. */
static void
print_hits(FILE *out, const struct report_thread *thread, const char *heading)
{
	autofree char *number = NULL;

	if (isnan(thread->hits))
		return;
	number = rot_number_in_full(thread->hits);
	fprintf(out, "  %*s", HITS_WIDTH, heading ? heading : number);
}

/* Some of the values of threads: as many as fit on a line. The time, which is the first, each part has. */
struct table_part {
	const size_t *shown;
	size_t nr;
};

/* The operations and borders of the values, under headings that are the same for several of them. */
static void
print_thread_parts(FILE *out, const struct report_thread *thread, struct table_part part)
{
	const struct quantity_value *values = thread->values->values;
	autofree char *line = rot_strdup("");
	size_t length;

	for (size_t i = 0; i < part.nr; i++) {
		const struct quantity_value *value = &values[part.shown[i]];
		const bool is_said = strcmp(value->name, "transferredBytes") == 0;
		autofree char *of = is_said ? rot_strdup("") : value_of_words(value);

		rot_append(&line, "  %*.*s", VALUE_WIDTH, VALUE_WIDTH, of);
	}
	length = strlen(line);
	while (length > 0 && line[length - 1] == ' ')
		length--;
	if (length > 0) {
		fprintf(out, "  %8s %-16s", "", "");
		print_hits(out, thread, "");
		fprintf(out, " %*s%.*s\n", TIME_WIDTH, "", (int)length, line);
	}
}

static void
print_thread_head(FILE *out, const struct report_thread *thread, struct table_part part, bool is_all)
{
	const struct program_values *values = thread->values;

	fprintf(out, "\n  %8s %-16s", "thread", "name");
	print_hits(out, thread, "hits");
	fprintf(out, " %*s", TIME_WIDTH, "time [s]");
	for (size_t i = 0; i < part.nr; i++) {
		autofree char *heading = thread_heading(&values->values[part.shown[i]]);

		fprintf(out, "  %*.*s", VALUE_WIDTH, VALUE_WIDTH, heading);
	}
	fputc('\n', out);
	if (is_all)
		print_thread_parts(out, thread, part);
	if (values->nr == 1)
		return;
	fprintf(out, "  %8s %-16s", "", "");
	print_hits(out, thread, "");
	fprintf(out, " %*s", TIME_WIDTH, "");
	for (size_t i = 0; i < part.nr; i++)
		fprintf(out, "  %*s", VALUE_WIDTH, shown_unit(values->values[part.shown[i]].unit).shown);
	fputc('\n', out);
}

static void
print_thread(FILE *out, const struct report_thread *thread, struct table_part part)
{
	const struct program_values *values = thread->values;
	struct summary seconds = summary_single(values->values[0].summary.value * 1e-6, "measured");
	autofree char *time = summary_text(&seconds);

	fprintf(out, "  %8d %-16.16s", (int)values->thread->tid, values->thread->name);
	print_hits(out, thread, NULL);
	fprintf(out, " %*s", TIME_WIDTH, time);
	for (size_t i = 0; i < part.nr; i++) {
		autofree char *text = value_text(&values->values[part.shown[i]]);

		fprintf(out, "  %*s", VALUE_WIDTH, text);
	}
	fputc('\n', out);
}

static size_t
nr_of_part(FILE *out, const struct report_thread *thread)
{
	const size_t keys = 28 + TIME_WIDTH + (isnan(thread->hits) ? 0 : 2 + HITS_WIDTH);
	const size_t width = terminal_width(out);

	return width > keys + 2 + VALUE_WIDTH ? (width - keys) / (2 + VALUE_WIDTH) : 1;
}

/* The values but the time, those that say most first: indices in fresh memory. */
static size_t *
values_in_order(const struct program_values *values)
{
	static const char *const first[] = {"performance", "operationalIntensity", "throughput", "instructions"};
	const size_t nr_first = sizeof(first) / sizeof(*first);
	size_t *order = rot_calloc(values->nr + 1, sizeof(*order)), nr = 0;

	for (size_t k = 0; k <= nr_first; k++)
		for (size_t i = 1; i < values->nr; i++) {
			size_t rank = 0;

			while (rank < nr_first &&
			       (strcmp(values->values[i].name, first[rank]) != 0 || is_further(values, i)))
				rank++;
			if (rank == k)
				order[nr++] = i;
		}
	return order;
}

void
report_threads(FILE *out, const struct report_thread *threads, size_t nr, bool is_all)
{
	const size_t nr_shown = nr < MAX_THREADS_SHOWN ? nr : MAX_THREADS_SHOWN;
	const size_t nr_values = nr > 0 ? threads[0].values->nr - 1 : 0;
	const size_t nr_fitting = nr > 0 ? nr_of_part(out, &threads[0]) : 1;
	size_t *order = nr > 0 ? values_in_order(threads[0].values) : NULL, done = 0;

	for (bool is_done = nr == 0; !is_done; is_done = done == nr_values || !is_all) {
		struct table_part part = {order + done, nr_values - done < nr_fitting ? nr_values - done : nr_fitting};

		done += part.nr;
		print_thread_head(out, &threads[0], part, is_all);
		for (size_t i = 0; i < nr_shown; i++)
			print_thread(out, &threads[i], part);
	}
	if (nr > nr_shown)
		fprintf(out, "  and %zu more: --json FILE has them all\n", nr - nr_shown);
	free(order);
}

/* More places than this are counted only. */
#define MAX_PLACES_SHOWN 4

/* ---- what was measured of a region ---- */

static void
print_time_of_hit(const struct program_region *region, FILE *out)
{
	static const struct {
		const char *unit;
		double us;
	} units[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"ns", 0}};
	const double us = program_region_hit_us(region);
	size_t i = 0;

	if (isnan(us))
		return;
	while (us < units[i].us)
		i++;
	row_number(out, "time of a hit", us / (units[i].us > 0 ? units[i].us : 1e-3), units[i].unit);
}

static void
print_region_hits(const struct program_region *region, FILE *out)
{
	static const struct {
		enum program_hits kind;
		const char *label;
	} rows[] = {
		{HITS_MEASURED, "measured hits"},
		{HITS_TEAM, "hits of its OpenMP team"},
		{HITS_INNER, "hits within these (recursion, team)"},
		{HITS_ABANDONED, "abandoned hits"},
		{HITS_LOST, "lost hits"},
	};
	const double all = region->hits[HITS_ALL];

	row_number(out, region->are_hits_least ? "hits that were observed" : "hits", all, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (region->hits[rows[i].kind] != (rows[i].kind == HITS_MEASURED ? all : 0))
			row_number(out, rows[i].label, region->hits[rows[i].kind], "");
	row_number(out, "threads", (double)region->nr_entered, "");
}

static void
print_values(const struct program_region *region, bool is_all, FILE *out)
{
	const struct quantity_value *time = program_values_find(&region->total, "time", "");

	if (time) {
		if (region->nr_entered > 1)
			row_number(out, "threads at once", region->at_once, "");
		row_time(out, region->nr_entered > 1 ? "time with any thread in it" : "time", time);
		row_share(out,
			  region->is_sampled       ? "share of the CPU time"
			  : region->nr_entered > 1 ? "share of the lives of these threads"
						   : "share of the thread's life",
			  region->is_sampled ? (double)region->nr_samples / (double)region->nr_all_samples
					     : region->time_share);
		print_time_of_hit(region, out);
	}
	print_hidden(row_values(out, &region->total, is_all), out);
	if (!isnan(region->roof_share) && (is_all || !region->bound[0]))
		row_roof_share(out, region->roof_share, &region->roof);
}

/* Each with --all; else how far they differ. */
static void
print_region_threads(const struct program_region *region, bool is_all, FILE *out)
{
	autofree struct report_thread *threads = rot_calloc(region->nr_threads + 1, sizeof(*threads));
	double least_us = INFINITY, most_us = 0;

	for (size_t i = 0; i < region->nr_threads; i++) {
		const struct program_values *values = &region->threads[i].values;
		const double us = values->nr ? values->values[0].summary.value : NAN;

		threads[i] = (struct report_thread){values, region->threads[i].hits[HITS_ALL] +
								    region->threads[i].hits[HITS_TEAM]};
		least_us = fmin(least_us, us);
		most_us = fmax(most_us, us);
	}
	if (region->nr_threads > 1 && is_all)
		report_threads(out, threads, region->nr_threads, is_all);
	else if (region->nr_threads > 1)
		fprintf(out, "  each of the %zu threads was in it for %.3g to %.3g s: --all shows them\n",
			region->nr_threads, least_us * 1e-6, most_us * 1e-6);
}

/* ---- how it was observed ---- */

static void
print_places(const struct region_service *service, FILE *out)
{
	size_t nr = region_service_nr_places(service);
	autofree char *text = rot_format("observed by %s at ", service->backend);

	for (size_t i = 0; i < nr && i < MAX_PLACES_SHOWN; i++)
		rot_append(&text, "%s%s", i ? ", " : "", region_service_places_at(service, i));
	if (nr > MAX_PLACES_SHOWN)
		rot_append(&text, " and %zu more places", nr - MAX_PLACES_SHOWN);
	text_print_behind(" ", text, out);
}

static void
print_samples(const struct program_region *region, FILE *out)
{
	autofree char *time =
		region->nr_all_samples > 0
			? rot_format("time is CPU time, by %llu of %llu samples",
				     (unsigned long long)region->nr_samples, (unsigned long long)region->nr_all_samples)
			: rot_strdup("time is not known, as the program ended before the next sample");
	autofree char *text =
		rot_format("its first hits were shorter than %d times what observing one costs (%.3g us), so its %s",
			   PROGRAM_REGION_SHORT, region->cost_ns * 1e-3, time);

	text_print_behind(" ", text, out);
}

static void
print_cost(const struct program_region *region, bool is_all, FILE *out)
{
	autofree char *hits = NULL, *share = NULL, *text = NULL;

	if (region->is_sampled) {
		print_samples(region, out);
		return;
	}
	if (isnan(region->cost_ns))
		return;
	hits = rot_number_in_full(region->hits[HITS_ALL] + region->hits[HITS_TEAM]);
	share = isnan(region->cost_share)
			? rot_strdup("")
			: rot_format(": %.2g %% of the %s", 100 * region->cost_share,
				     region->nr_entered > 1 ? "busiest thread's life" : "thread's life");
	text = rot_format("a hit costs %.3g us; %s of them%s", region->cost_ns * 1e-3, hits, share);
	text_print_behind(" ", text, out);
	if (is_all && !isnan(region->empty_instructions))
		fprintf(out, "  subtracted for each, as in an empty region: %.4g instructions, %.4g us\n",
			region->empty_instructions, region->empty_ns * 1e-3);
	else if (is_all)
		fprintf(out, "  subtracted for each, as in an empty region: %.4g us\n", region->empty_ns * 1e-3);
}

static void
print_refusals(const struct program_region *region, FILE *out)
{
	for (size_t i = 0; region->service && i < region_service_nr_refusals(region->service); i++)
		text_print_behind(" ", region_service_refusals_at(region->service, i), out);
}

/* ---- where nothing was measured ---- */

static void
print_unmeasured(const struct program_region *region, FILE *out)
{
	const struct region *definition = region->definition;

	print_region_hits(region, out);
	if (region->is_cut)
		fprintf(out, "\n  none of the hits was measured: the run was cut off before\n");
	else if (region->hits[HITS_ABANDONED] == 0)
		fprintf(out, "\n  none of the hits was measured: those from number %lld on are, of each thread\n",
			(long long)definition->first_hit);
	else
		fprintf(out, "\n  none of the hits was measured: they were not left where the region ends\n");
	print_places(region->service, out);
	print_refusals(region, out);
}

/* Several regions fit on a screen with only what places them in the roofline; --all has the rest. */
static void
print_briefly(const struct program_region *region, FILE *out)
{
	static const char *const names[] = {"performance", "operationalIntensity"};
	const struct quantity_value *time = program_values_find(&region->total, "time", "");

	if (region->bound[0])
		text_print_behind(" ", region->bound, out);
	print_region_hits(region, out);
	if (time)
		row_time(out, region->nr_entered > 1 ? "time with any thread in it" : "time", time);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct quantity_value *value = program_values_find(&region->total, names[i], "");

		if (value && !isnan(value->summary.value))
			row_value(out, value);
	}
	if (!isnan(region->roof_share) && !region->bound[0])
		row_roof_share(out, region->roof_share, &region->roof);
	print_refusals(region, out);
	if (region->cost_share > 0.01 || region->is_sampled)
		print_cost(region, false, out);
}

static void
print_measured(const struct program_region *region, bool is_all, FILE *out)
{
	if (region->bound[0]) {
		text_print_behind(" ", region->bound, out);
		fputc('\n', out);
	}
	print_region_hits(region, out);
	print_values(region, is_all, out);
	print_region_threads(region, is_all, out);
	fputc('\n', out);
	print_places(region->service, out);
	print_refusals(region, out);
	print_cost(region, is_all, out);
}

static void
print_region(const struct program_region *region, bool is_brief, bool is_all, FILE *out)
{
	if (!program_region_is_served(region))
		return;
	fprintf(out, "\n  region %s\n", region->definition->name);
	if (region->hits[HITS_ALL] + region->hits[HITS_TEAM] == 0) {
		text_print_behind(" ",
				  region->is_cut
					  ? "not entered before the run was cut off"
					  : "never entered; the compiler may have put a copy of the function into its "
					    "callers (FILE:LINE finds these), or another version of it is used",
				  out);
		print_places(region->service, out);
		print_refusals(region, out);
	} else if (!region->total.nr)
		print_unmeasured(region, out);
	else if (is_brief)
		print_briefly(region, out);
	else
		print_measured(region, is_all, out);
}

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

/* The threads alone are shown without --all. Gives back how many facts are left out. */
static size_t
print_facts(const struct program_report *report, FILE *out)
{
	size_t nr_hidden = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		const double number = program_report_median(report, facts[i].number);

		if (isnan(number))
			continue;
		if (report->is_all || facts[i].number == nr_threads)
			row_number(out, facts[i].label, number, facts[i].unit);
		else
			nr_hidden++;
	}
	return nr_hidden;
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
	autofree char *missing = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!program_values_find(&report->total, rows[i].name, ""))
			rot_append(&missing, "%s%s", missing ? ", " : "", rows[i].label);
	if (missing)
		fprintf(out, "  not counted: %s\n", missing);
}

static double
nr_stops(const struct program_run_output *run)
{
	return run->nr_stops > 0 ? (double)run->nr_stops : NAN;
}

/* A region's place in the roofline needs a time, so without one the counts stand in full. */
static bool
are_regions_brief(const struct program_report *report)
{
	return report->regions.nr > 1 && !report->is_all && report->plan->is_timed;
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
		autofree char *text = NULL;

		if (strcmp(lines[i].counting, program_report_counting(report)) != 0 ||
		    lines[i].is_timed != report->plan->is_timed)
			continue;
		text = rot_format("%s%s%s", lines[i].line,
				  report->is_all && may_have_events && *lines[i].otherwise
					  ? "; -counting=events: by the processor"
					  : "",
				  report->is_all ? lines[i].otherwise : "");
		text_print_behind(" ", text, out);
	}
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++)
		if (program_run_is_cut(report->plan, program_command_output_outputs_at(report->output, i)))
			text_print_behind(" ", "this run was cut off: the counts are of a part of it (see the notes)",
					  out);
}

/* A report is about the regions that were asked for, if one was measured. */
static bool
is_about_regions(const struct program_report *report)
{
	bool is_measured = false;

	for (size_t i = 0; i < report->regions.nr; i++)
		is_measured = is_measured || report->regions.items[i].total.nr > 0;
	return is_measured && !report->is_all;
}

static void
print_total(const struct program_report *report, FILE *out)
{
	const struct quantity_value *tlb_misses = program_values_find(&report->total, "tlbMisses", "");
	const double stopped = program_report_stopped_share(report);
	size_t nr_hidden;

	if (is_about_regions(report) || report_is_about_misses(report)) {
		if (report->plan->is_timed) {
			row_time(out, "time", &report->total.values[0]);
			row_number(out, "CPUs used", program_report_cpu_s(report) / program_report_wall_s(report), "");
		}
		if (tlb_misses && report_is_about_misses(report))
			row_value(out, tlb_misses); /* of a TLB that was named */
		fprintf(out, "  other values of the whole program%s: --all\n",
			are_regions_brief(report) ? ", and of regions" : "");
		return;
	}
	if (!report->plan->is_timed) {
		print_hidden(row_values(out, &report->total, report->is_all), out);
		return;
	}
	row_time(out, "time", &report->total.values[0]);
	nr_hidden = print_facts(report, out);
	row_number(out, "CPUs used", program_report_cpu_s(report) / program_report_wall_s(report), "");
	if (!isnan(stopped)) {
		row_number(out, "stops by tracing", program_report_median(report, nr_stops), "");
		row_share(out, "share of the run in these stops", stopped);
	}
	if (strcmp(program_report_counting(report), "steps") == 0) {
		print_row(out, "operations, bytes", "of regions", "");
		return;
	}
	nr_hidden += row_values(out, &report->total, report->is_all);
	if (!isnan(report->roof_share) && (report->is_all || !report->bound[0]))
		row_roof_share(out, report->roof_share, &report->roof);
	print_missing(report, out);
	print_hidden(nr_hidden, out);
}

static void
print_program_threads(const struct program_report *report, FILE *out)
{
	autofree struct report_thread *threads = rot_calloc(report->nr_threads + 1, sizeof(*threads));

	for (size_t i = 0; i < report->nr_threads; i++)
		threads[i] = (struct report_thread){&report->threads[i], NAN};
	report_threads(out, threads, report->nr_threads, report->is_all);
}

/* ---- the whole report ---- */

/* Explains a mark, if one of the values has it; false: none has. */
static bool
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
		autofree char *before = rot_format("  %s:", mark);

		text_print_behind(before, meaning, out);
	}
	return is_there;
}

void
program_report_print(const struct program_report *report, FILE *out)
{
	size_t nr = program_command_output_nr_outputs(report->output);
	autofree char *runs = nr > 1 ? rot_format(" (%zu runs)", nr) : rot_strdup("");
	autofree char *title = rot_format("%s%s", report->title, runs);
	bool has_marks = false;

	fputc('\n', out);
	text_print_behind(" ", title, out);
	print_end(report, out);
	for (size_t i = 0; i < report->regions.nr; i++)
		if (!program_region_is_served(&report->regions.items[i])) {
			fprintf(out, "  region %s was not measured\n", report->regions.items[i].definition->name);
			print_refusals(&report->regions.items[i], out);
			if (!report->regions.items[i].service ||
			    region_service_nr_refusals(report->regions.items[i].service) == 0)
				text_print_behind(" ",
						  "it was found in no program that ran; nm -C FILE and nm -DC FILE "
						  "list functions",
						  out);
		}
	print_counting(report, out);
	if (report->bound[0])
		text_print_behind(" ", report->bound, out);
	fputc('\n', out);
	print_total(report, out);
	print_program_threads(report, out);
	if (!is_about_regions(report) || report->nr_functions > 0) {
		report_places(report, out);
		report_findings(report, out);
	}
	report_what_ifs(report, out);
	report_miss_kinds(report, out);
	report_curve(report, out);
	for (size_t i = 0; i < report->regions.nr; i++)
		print_region(&report->regions.items[i], are_regions_brief(report), report->is_all, out);
	fputc('\n', out);
	for (const struct remark *mark = remark_next(REMARK_MARK, NULL); mark; mark = remark_next(REMARK_MARK, mark))
		has_marks |= print_mark(report, mark->mark, mark->text, out);
	for (size_t i = 0; i < report->nr_notes; i++)
		text_print_behind("  note:", report->notes[i], out);
	if (has_marks || report->nr_notes > 0)
		fputc('\n', out);
}
