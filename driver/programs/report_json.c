/* SPDX-License-Identifier: MIT */
/* The report as JSON: what the experiment does not know. */
#include <math.h>

#include "memory.h"
#include "programs/report.h"

static json_t *
json_text(const char *text)
{
	json_t *json = json_string(text ? text : "");

	return json ? json : json_string("(not UTF-8)");
}

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

static json_t *
json_thread(const struct program_thread_output *thread)
{
	json_t *json = json_object(), *counts = json_object();

	for (size_t i = 0; thread->counts && i < perf_event_measurer_output_nr_event_counts(thread->counts); i++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(thread->counts, i);

		json_object_set_new(counts, count->name, json_integer((json_int_t)count->raw_count));
	}
	json_object_set_new(json, "tid", json_integer(thread->tid));
	json_object_set_new(json, "pid", json_integer(thread->pid));
	json_object_set_new(json, "name", json_text(thread->name));
	json_object_set_new(json, "executable", json_text(thread->executable));
	json_object_set_new(json, "startTime", json_integer((json_int_t)thread->start_time));
	json_object_set_new(json, "stopTime", json_integer((json_int_t)thread->stop_time));
	json_object_set_new(json, "counts", counts);
	return json;
}

static json_t *
json_run(const struct program_run_output *run)
{
	const struct {
		const char *key;
		json_int_t number;
	} numbers[] = {
		{"pass", run->pass},
		{"order", run->order},
		{"wallTime", (json_int_t)run->wall_time},
		{"userTime", (json_int_t)run->user_time},
		{"systemTime", (json_int_t)run->system_time},
		{"voluntaryContextSwitches", run->voluntary_context_switches},
		{"involuntaryContextSwitches", run->involuntary_context_switches},
		{"majorFaults", run->major_faults},
		{"maximumResidentBytes", run->maximum_resident_bytes},
		{"exitStatus", run->exit_status},
		{"signal", run->signal},
		{"nrThreads", run->nr_threads},
		{"nrStops", run->nr_stops},
		{"stoppedTime", (json_int_t)run->stopped_time},
	};
	json_t *json = json_object(), *threads = json_array();

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(json, numbers[i].key, json_integer(numbers[i].number));
	for (size_t i = 0; i < program_run_output_nr_threads(run); i++)
		json_array_append_new(threads, json_thread(program_run_output_threads_at(run, i)));
	json_object_set_new(json, "threads", threads);
	return json;
}

static json_t *
json_agreement(const struct program_agreement *agreement)
{
	json_t *json = json_object();

	json_object_set_new(json, "countedRuns", json_integer((json_int_t)agreement->nr_counted));
	json_object_set_new(json, "spreadOfInstructions",
			    isnan(agreement->spread) ? json_null() : json_real(agreement->spread));
	json_object_set_new(json, "agree",
			    isnan(agreement->spread) ? json_null()
						     : json_boolean(agreement->spread <= PROGRAM_AGREEMENT));
	json_object_set_new(json, "sameThreads", json_boolean(agreement->has_same_threads));
	return json;
}

void
program_report_add_json(const struct program_report *report, json_t *json)
{
	json_t *runs = json_array(), *notes = json_array();

	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++)
		json_array_append_new(runs, json_run(program_command_output_outputs_at(report->output, i)));
	for (size_t i = 0; i < report->nr_notes; i++)
		json_array_append_new(notes, json_text(report->notes[i]));
	json_object_set_new(json, "program", json_program(report));
	json_object_set_new(json, "backend", json_text(report->output->backend));
	json_object_set_new(json, "bound", json_text(report->bound));
	json_object_set_new(json, "agreement", json_agreement(&report->agreement));
	json_object_set_new(json, "notes", notes);
	json_object_set_new(json, "runs", runs);
}
