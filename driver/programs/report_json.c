/* SPDX-License-Identifier: MIT */
/* The report as JSON: what the experiment does not know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "memory.h"
#include "programs/options.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/pass.h"

static json_t *
json_program(const struct program_report *report)
{
	json_t *json = json_object(), *arguments = json_array();
	const struct program *program = report->program;

	if (!program) {
		json_decref(arguments);
		json_object_set_new(json, "processId", json_integer(report->options->process_id));
		json_object_set_new(json, "executable", json_text(report->executable));
		json_object_set_new(json, "sha256", json_text(report->sha256));
		return json;
	}
	for (size_t i = 0; i < program_nr_arguments(program); i++)
		json_array_append_new(arguments, json_text(program_arguments_at(program, i)));
	json_object_set_new(json, "executable", json_text(report->executable));
	json_object_set_new(json, "arguments", arguments);
	json_object_set_new(json, "folder", json_text(program->folder));
	json_object_set_new(json, "standardInput", json_text(program->standard_input));
	json_object_set_new(json, "sha256", json_text(report->sha256));
	return json;
}

/* Raw counts by event. */
static json_t *
json_counts(const struct perf_event_measurer_output *output)
{
	json_t *counts = json_object();

	for (size_t i = 0; output && i < perf_event_measurer_output_nr_event_counts(output); i++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(output, i);

		json_object_set_new(counts, count->name, json_integer((json_int_t)count->raw_count));
	}
	return counts;
}

/* Times of the clock are exact. */
static json_t *
json_thread(const struct program_thread_output *thread)
{
	json_t *json = json_entity(thread);

	json_object_set_new(json, "startTime", json_integer((json_int_t)thread->start_time));
	json_object_set_new(json, "stopTime", json_integer((json_int_t)thread->stop_time));
	json_object_set_new(json, "counts", json_counts(thread->counts));
	return json;
}

/* Runs that are only counted have no times of regions. */
static json_t *
json_region_of_run(const struct program_region_output *region)
{
	json_t *json = json_entity(region);

	if (region->time == 0)
		json_object_set_new(json, "time", json_null());
	if (region->wall_time == 0)
		json_object_set_new(json, "wallTime", json_null());
	json_object_set_new(json, "counts", json_counts(region->counts));
	return json;
}

static json_t *
json_run(const struct program_run_output *run)
{
	static const char *const elsewhere[] = {"startTime", "startMicroseconds", "allocationsAreMissed"};
	json_t *json = json_entity(run), *threads = json_array(), *regions = json_array(), *all_empty = json_array();

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
		json_object_del(json, elsewhere[i]);
	for (size_t i = 0; i < program_run_output_nr_threads(run); i++)
		json_array_append_new(threads, json_thread(program_run_output_threads_at(run, i)));
	for (size_t i = 0; i < program_run_output_nr_regions(run); i++)
		json_array_append_new(regions, json_region_of_run(program_run_output_regions_at(run, i)));
	for (size_t i = 0; i < program_run_output_nr_empty_regions(run); i++) {
		const struct empty_region_output *empty = program_run_output_empty_regions_at(run, i);
		json_t *own = json_entity(empty);

		json_object_set_new(own, "counts", json_counts(empty->counts));
		json_array_append_new(all_empty, own);
	}
	json_object_set_new(json, "began", run_began_json(run->start_time, run->start_microseconds));
	json_object_set_new(json, "threads", threads);
	json_object_set_new(json, "regions", regions);
	json_object_set_new(json, "emptyRegions", all_empty);
	return json;
}

/* ---- regions ---- */

/* How it was observed. */
static void
set_service(json_t *json, const struct region_service *service)
{
	json_t *places = json_array(), *refusals = json_array();

	for (size_t i = 0; service && i < region_service_nr_places(service); i++)
		json_array_append_new(places, json_text(region_service_places_at(service, i)));
	for (size_t i = 0; service && i < region_service_nr_refusals(service); i++)
		json_array_append_new(refusals, json_text(region_service_refusals_at(service, i)));
	json_object_set_new(json, "backend", json_text(service ? service->backend : "none"));
	json_object_set_new(json, "places", places);
	json_object_set_new(json, "refusals", refusals);
}

static void
set_hits(json_t *json, const double hits[NR_HITS])
{
	static const char *const keys[NR_HITS] = {"hits",      "measuredHits",  "teamHits",
						  "innerHits", "abandonedHits", "lostHits"};

	for (size_t i = 0; i < NR_HITS; i++)
		json_object_set_new(json, keys[i], json_real_or_null(hits[i]));
}

static json_t *
json_region_threads(const struct program_region *region)
{
	json_t *threads = json_array();

	for (size_t i = 0; i < region->nr_threads; i++) {
		const struct program_thread_output *thread = region->threads[i].values.thread;
		json_t *json = json_object();

		json_object_set_new(json, "tid", json_integer(thread->tid));
		json_object_set_new(json, "pid", json_integer(thread->pid));
		json_object_set_new(json, "name", json_text(thread->name));
		set_hits(json, region->threads[i].hits);
		json_array_append_new(threads, json);
	}
	return threads;
}

/* Its values are points of the experiment, under the label given here. */
static json_t *
json_region(const struct program_region *region)
{
	json_t *json = json_entity(region->definition), *empty = json_object();

	set_service(json, region->service);
	set_hits(json, region->hits);
	json_object_set_new(json, "hitsAgree", json_boolean(region->fewest_hits == region->most_hits));
	json_object_set_new(json, "nrThreads", json_integer((json_int_t)region->nr_entered));
	json_object_set_new(json, "threadsAtOnce", json_real_or_null(region->at_once));
	json_object_set_new(json, "roofThreads", json_integer(region->roof.nr_threads));
	json_object_set_new(empty, "time", json_real_or_null(region->empty_ns));
	json_object_set_new(empty, "instructions", json_real_or_null(region->empty_instructions));
	json_object_set_new(json, "subtractedPerHit", empty);
	json_object_set_new(json, "costPerHit", json_real_or_null(region->cost_ns));
	json_object_set_new(json, "costShare", json_real_or_null(region->cost_share));
	json_object_set_new(json, "timeShare", json_real_or_null(region->time_share));
	json_object_set_new(json, "samples",
			    region->is_sampled ? json_integer((json_int_t)region->nr_samples) : json_null());
	json_object_set_new(json, "allSamples",
			    region->is_sampled ? json_integer((json_int_t)region->nr_all_samples) : json_null());
	json_object_set_new(json, "isShort", json_boolean(region->is_short));
	json_object_set_new(json, "bound", json_text(region->bound));
	json_object_set_new(json, "memoryBound", json_real_or_null(region->memory_bound));
	json_object_set_new(json, "roofShare", json_real_or_null(region->roof_share));
	json_object_set_new(json, "threads", json_region_threads(region));
	return json;
}

static json_t *
json_regions(const struct program_report *report)
{
	json_t *regions = json_array();

	for (size_t i = 0; i < report->regions.nr; i++)
		json_array_append_new(regions, json_region(&report->regions.items[i]));
	return regions;
}

static json_t *
json_agreement(const struct program_agreement *agreement)
{
	json_t *json = json_object();

	json_object_set_new(json, "countedRuns", json_integer((json_int_t)agreement->nr_counted));
	json_object_set_new(json, "spreadOfInstructions", json_real_or_null(agreement->spread));
	json_object_set_new(json, "agree",
			    isnan(agreement->spread) ? json_null()
						     : json_boolean(agreement->spread <= PROGRAM_AGREEMENT));
	json_object_set_new(json, "sameThreads", json_boolean(agreement->has_same_threads));
	return json;
}

/* ---- counts alone ---- */

static void
add_counts(json_t *sums, const struct perf_event_measurer_output *counts)
{
	json_t *own = json_counts(counts), *count;
	const char *name;

	json_object_foreach(own, name, count)
		json_object_set_new(
			sums, name,
			json_integer(json_integer_value(json_object_get(sums, name)) + json_integer_value(count)));
	json_decref(own);
}

/* Nothing that changes from run to run of a program that does the same: neither times nor dates nor process ids. */
static void
add_counts_alone(const struct program_report *report, json_t *json)
{
	const struct program_run_output *run = program_command_output_outputs_at(report->output, 0);
	json_t *counts = json_object(), *notes = json_array();

	for (size_t i = 0; i < program_run_output_nr_threads(run); i++)
		add_counts(counts, program_run_output_threads_at(run, i)->counts);
	for (size_t i = 0; i < report->nr_notes; i++)
		json_array_append_new(notes, json_text(report->notes[i]));
	json_object_del(json, "commandLine");
	json_object_set_new(json, "program", json_program(report));
	json_object_set_new(json, "counting", json_text(program_report_counting(report)));
	json_object_set_new(json, "notes", notes);
	json_object_set_new(json, "counts", counts);
	json_object_set_new(json, "regions", json_regions(report));
	json_object_set_new(json, "nrThreads", json_integer(run->nr_threads));
	json_object_set_new(json, "exitStatus", json_integer(run->exit_status));
	json_object_set_new(json, "signal", json_integer(run->signal));
}

static void
add_misses(const struct program_report *report, json_t *json)
{
	json_t *curve = report_curve_json(report), *what_ifs = report_what_ifs_json(report);

	if (curve)
		json_object_set_new(json, "missCurve", curve);
	if (what_ifs)
		json_object_set_new(json, "whatIfs", what_ifs);
	if (!report_run_of_misses(report))
		return;
	report_add_misses_json(report, json);
	if (!report->plan->is_timed)
		json_object_set_new(json, "findings", report_findings_json(report));
}

/* ---- all ---- */

void
program_report_add_json(const struct program_report *report, json_t *json)
{
	json_t *runs, *notes;
	char now[CLOCK_DATE_SIZE];

	if (!report->plan->is_timed) {
		add_counts_alone(report, json);
		add_misses(report, json);
		return;
	}
	runs = json_array();
	notes = json_array();
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++)
		json_array_append_new(runs, json_run(program_command_output_outputs_at(report->output, i)));
	for (size_t i = 0; i < report->nr_notes; i++)
		json_array_append_new(notes, json_text(report->notes[i]));
	clock_date(now);
	json_object_set_new(json, "measured", json_pack("{s:s, s:s}", "first", now, "last", now));
	json_object_set_new(json, "program", json_program(report));
	json_object_set_new(json, "backend", json_text(report->output->backend));
	json_object_set_new(json, "counting", json_text(program_report_counting(report)));
	json_object_set_new(json, "bound", json_text(report->bound));
	json_object_set_new(json, "memoryBound", json_real_or_null(report->memory_bound));
	json_object_set_new(json, "roofShare", json_real_or_null(report->roof_share));
	json_object_set_new(json, "stoppedShare", json_real_or_null(program_report_stopped_share(report)));
	json_object_set_new(json, "regions", json_regions(report));
	json_object_set_new(json, "agreement", json_agreement(&report->agreement));
	json_object_set_new(json, "notes", notes);
	if (program_places_are_known(&report->places)) {
		json_object_set_new(json, "functions", report_places_json(report));
		json_object_set_new(json, "findings", report_findings_json(report));
	}
	add_misses(report, json);
	json_object_set_new(json, "runs", runs);
}

/* ---- what the instructions of a function did ---- */

/* Before the counts of an instruction: offset, samples, executions. */
#define NR_BEFORE 3

/* counts: of the run that was translated, borrowed; NULL: the instruction was not executed there. */
struct code_row {
	uint64_t offset, samples, executions;
	const uint64_t *counts;
};

/* hash: of the code; NULL: none of its instructions is known. */
struct code_rows {
	struct code_row *rows;
	size_t nr;
	const char *hash;
	bool are_of_others; /* the file had other code there in another run */
};

static int
compare_rows(const void *a, const void *b)
{
	const uint64_t left = ((const struct code_row *)a)->offset, right = ((const struct code_row *)b)->offset;

	return (left > right) - (left < right);
}

static void
add_rows(struct code_rows *code, const struct program_place *place)
{
	const uint64_t *numbers = place->instructions.items;
	const size_t width = NR_BEFORE + place->counts.nr;

	if (!*place->code_hash)
		return;
	code->are_of_others |= code->hash && strcmp(code->hash, place->code_hash) != 0;
	code->hash = place->code_hash;
	for (size_t i = 0; i + width <= place->instructions.nr; i += width, numbers += width) {
		code->rows = rot_grow(code->rows, code->nr, sizeof(*code->rows));
		code->rows[code->nr++] = (struct code_row){numbers[0], numbers[1], numbers[2],
							   width > NR_BEFORE ? numbers + NR_BEFORE : NULL};
	}
}

/* Each run has a row of the same instruction: only one run has executions and counts. */
static void
merge_rows(struct code_rows *code)
{
	size_t nr = 0;

	if (code->nr > 0)
		qsort(code->rows, code->nr, sizeof(*code->rows), compare_rows);
	for (size_t i = 0; i < code->nr; i++) {
		const struct code_row from = code->rows[i];

		if (nr == 0 || code->rows[nr - 1].offset != from.offset) {
			code->rows[nr++] = from;
			continue;
		}
		code->rows[nr - 1].samples += from.samples;
		code->rows[nr - 1].executions += from.executions;
		code->rows[nr - 1].counts = from.counts ? from.counts : code->rows[nr - 1].counts;
	}
	code->nr = nr;
}

static struct code_rows
rows_of(const struct program_command_output *output, const struct program_place *function)
{
	struct code_rows code = {.nr = 0};

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_profile *profile = program_command_output_outputs_at(output, i)->profile;

		for (size_t k = 0; profile && k < program_profile_nr_places(profile); k++) {
			const struct program_place *place = program_profile_places_at(profile, k);

			if (place->address == function->address && strcmp(place->object, function->object) == 0)
				add_rows(&code, place);
		}
	}
	merge_rows(&code);
	return code;
}

static bool
has_event(const struct code_rows *code, size_t event)
{
	for (size_t i = 0; i < code->nr; i++)
		if (code->rows[i].counts && code->rows[i].counts[event] > 0)
			return true;
	return false;
}

/* Events that no instruction of the function has are left out. */
static json_t *
json_of_rows(const struct program_report *report, const struct code_rows *code)
{
	const struct pass *pass = report->places.counted;
	const size_t nr_events = pass ? pass->nr_events : 0;
	json_t *events = json_array(), *rows = json_array();
	autofree bool *is_there = rot_calloc(nr_events + 1, sizeof(*is_there));

	for (size_t k = 0; k < nr_events; k++) {
		is_there[k] = has_event(code, k);
		if (is_there[k])
			json_array_append_new(events, json_text(report->architecture->events[pass->events[k]].name));
	}
	for (size_t i = 0; i < code->nr; i++) {
		const struct code_row *row = &code->rows[i];
		autofree char *text = rot_format("%llu %llu %llu", (unsigned long long)row->offset,
						 (unsigned long long)row->samples, (unsigned long long)row->executions);

		for (size_t k = 0; k < nr_events; k++)
			if (is_there[k])
				rot_append(&text, " %llu", (unsigned long long)(row->counts ? row->counts[k] : 0));
		json_array_append_new(rows, json_string(text));
	}
	return json_pack("{s:s, s:o, s:o}", "hash", code->hash, "events", events, "instructions", rows);
}

/* Functions with less are told as a whole. */
#define LEAST_SHARE 0.01
#define MOST_TIMED 10

/* The share of all code that was translated. Its events are in the order of the pass. */
static double
share_of_instructions(const struct program_report *report, size_t i)
{
	const struct place_list *list = &report->places.lists[PLACES_FUNCTIONS];
	const struct pass *pass = report->places.counted;
	double all = 0;
	size_t event = 0;

	while (pass && event < pass->nr_events &&
	       strcmp(report->architecture->events[pass->events[event]].name, "instructions") != 0)
		event++;
	if (!pass || event == pass->nr_events || !list->items[i].counts)
		return 0;
	for (size_t k = 0; k < list->nr; k++)
		all += list->items[k].counts ? (double)list->items[k].counts[event] : 0;
	return (double)list->items[i].counts[event] / all;
}

json_t *
report_code_json(const struct program_report *report, size_t i)
{
	const struct place_share *item = &report->places.lists[PLACES_FUNCTIONS].items[i];
	const bool is_hot = (i < MOST_TIMED && item->nr_samples > 0) || item->share.value >= LEAST_SHARE;
	struct code_rows code;
	json_t *json = NULL;

	if (!is_hot && share_of_instructions(report, i) < LEAST_SHARE)
		return NULL;
	code = rows_of(report->output, item->place);
	if (code.hash && !code.are_of_others)
		json = json_of_rows(report, &code);
	free(code.rows);
	return json;
}
