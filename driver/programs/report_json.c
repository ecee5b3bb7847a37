/* SPDX-License-Identifier: MIT */
/* The report as JSON: what the experiment does not know. */
#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "programs/report.h"
#include "quantities/pass.h"

static json_t *
json_program(const struct program_report *report)
{
	json_t *json = json_object(), *arguments = json_array();
	const struct program *program = report->program;

	if (!program) {
		json_decref(arguments);
		json_object_set_new(json, "processId", json_integer(report->process_id));
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
