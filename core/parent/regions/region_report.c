/* SPDX-License-Identifier: MIT */
#include "parent/regions/region_report.h"

#include <stdlib.h>
#include <string.h>

#include "MissShare.h"
#include "ProgramRegionOutput.h"
#include "Region.h"
#include "RegionService.h"
#include "entity.h"
#include "memory.h"

struct region_report {
	const struct program_command *command;
	const struct counting *counting;
	size_t nr;
	struct region_service **services;
	char **not_found;    /* why, or NULL */
	struct spans *spans; /* when any of the threads that have ended was in it */
	struct program_region_output **outputs;
	size_t nr_outputs;
	uint64_t (*by_capacity)[REUSE_NR + 1]; /* of all threads, as of reuse_move */
	char **warnings;
	size_t nr_warnings;
	size_t nr_unseen;
	struct rot_error unseen; /* why, of the first of them */
	struct rot_list used;    /* names of backends         */
};

struct region_report *
region_report_new(const struct program_command *command, const struct counting *counting)
{
	struct region_report *report = rot_calloc(1, sizeof(*report));

	report->command = command;
	report->counting = counting;
	report->nr = program_command_nr_regions(command);
	report->services = rot_calloc(report->nr, sizeof(*report->services));
	report->not_found = rot_calloc(report->nr, sizeof(*report->not_found));
	report->spans = rot_calloc(report->nr, sizeof(*report->spans));
	report->by_capacity = rot_calloc(report->nr, sizeof(*report->by_capacity));
	for (size_t i = 0; i < report->nr; i++) {
		report->services[i] = region_service_new();
		rot_string_set(&report->services[i]->region, program_command_regions_at(command, i)->name);
	}
	return report;
}

/* ---- lists of strings, each once ---- */

static bool
has(const struct rot_list *list, const char *text)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(((char **)list->items)[i], text) == 0)
			return true;
	return false;
}

static void
add_once(struct rot_list *list, const char *text)
{
	if (!has(list, text))
		rot_list_add(list, ROT_STRING, &text);
}

static char *
reason(const char *who, const struct rot_error *err)
{
	struct rot_error copy = *err;

	return rot_format("%s%s%s", who, *who ? ": " : "", rot_error_line(&copy));
}

/* ---- what is said ---- */

void
region_report_not_found(struct region_report *report, size_t region, bool replaces, const struct rot_error *err)
{
	if (report->not_found[region] && !replaces)
		return;
	free(report->not_found[region]);
	report->not_found[region] = reason("", err);
}

const char *
region_report_why_missing(const struct region_report *report, size_t region)
{
	return strcmp(report->services[region]->backend, "none") == 0 ? report->not_found[region] : NULL;
}

void
region_report_tell_missing(const struct region_report *report, FILE *out)
{
	for (size_t i = 0; i < report->nr; i++)
		if (region_report_why_missing(report, i))
			fprintf(out, "rot: region %s: %s; what the program loads or starts is looked at later\n",
				report->services[i]->region, report->not_found[i]);
}

void
region_report_refusal(struct region_report *report, size_t region, const char *backend, const struct rot_error *err)
{
	autofree char *text = reason(backend, err);

	add_once(&report->services[region]->refusals, text);
}

void
region_report_service(struct region_report *report, size_t region, const char *backend,
		      struct region_point *const *points, size_t nr)
{
	struct region_service *service = report->services[region];

	add_once(&report->used, backend);
	if (strcmp(service->backend, "none") == 0)
		rot_string_set(&service->backend, backend);
	for (size_t i = 0; i < nr; i++)
		add_once(&service->places, points[i]->text);
}

void
region_report_warn(struct region_report *report, const char *text)
{
	rot_add(report->warnings, report->nr_warnings) = rot_strdup(text);
}

void
region_report_unseen(struct region_report *report, const struct rot_error *err)
{
	if (report->nr_unseen++ == 0)
		report->unseen = *err;
}

void
region_report_thread(struct region_report *report, size_t region, pid_t pid, pid_t tid, const struct frames *frames)
{
	struct program_region_output *output;
	uint64_t time_before_ns, time_ns;

	if (frames->hits == 0 && frames->team_hits == 0 && frames->lost_hits == 0)
		return;
	output = program_region_output_new();
	rot_string_set(&output->region, report->services[region]->region);
	output->tid = tid;
	output->pid = pid;
	output->hits = frames->hits;
	output->measured_hits = frames->measured_hits;
	output->team_hits = frames->team_hits;
	output->inner_hits = frames->inner_hits;
	output->abandoned_hits = frames->abandoned_hits;
	output->lost_hits = frames->lost_hits;
	output->time = frames->time_ns;
	time_before_ns = spans_time_ns(&report->spans[region]);
	spans_unite(&report->spans[region], &frames->spans);
	time_ns = spans_time_ns(&report->spans[region]);
	output->wall_time = time_ns > time_before_ns ? time_ns - time_before_ns : 0;
	output->counts = region_counts_output(&frames->counts, report->counting);
	rot_add(report->outputs, report->nr_outputs) = output;
}

void
region_report_curve(struct region_report *report, size_t region, const uint64_t by_capacity[REUSE_NR + 1])
{
	for (int i = 0; i <= REUSE_NR; i++)
		report->by_capacity[region][i] += by_capacity[i];
}

bool
region_report_serves(const struct region_report *report, const char *backend)
{
	return has(&report->used, backend);
}

/* ---- output ---- */

static void
put_curve(const struct region_report *report, size_t region, struct program_run_output *run)
{
	struct miss_share *share;
	uint64_t misses[REUSE_NR];

	reuse_add_up(report->by_capacity[region], misses);
	if (misses[0] == 0)
		return;
	share = miss_share_new();
	rot_string_set(&share->by, "region");
	rot_string_set(&share->name, report->services[region]->region);
	for (int i = 0; i < REUSE_NR; i++)
		miss_share_curve_add(share, misses[i]);
	program_run_output_miss_shares_add(run, share);
}

/* Later runs of a command add what they saw. */
static void
merge_service(struct program_command_output *output, size_t i, struct region_service *service)
{
	struct region_service *known;

	if (i >= program_command_output_nr_region_services(output)) {
		program_command_output_region_services_add(output, service);
		return;
	}
	known = program_command_output_region_services_at(output, i);
	if (strcmp(known->backend, "none") == 0)
		rot_string_set(&known->backend, service->backend);
	for (size_t j = 0; j < service->places.nr; j++)
		add_once(&known->places, ((char **)service->places.items)[j]);
	for (size_t j = 0; j < service->refusals.nr; j++)
		add_once(&known->refusals, ((char **)service->refusals.items)[j]);
	rot_entity_delete(service);
}

void
region_report_output(struct region_report *report, struct program_run_output *run,
		     struct program_command_output *output)
{
	for (size_t i = 0; i < report->nr_outputs; i++)
		program_run_output_regions_add(run, report->outputs[i]);
	report->nr_outputs = 0;
	for (size_t i = 0; i < report->nr; i++) {
		struct region_service *service = report->services[i];

		put_curve(report, i, run);
		if (strcmp(service->backend, "none") == 0 && report->not_found[i])
			add_once(&service->refusals, report->not_found[i]);
		merge_service(output, i, service);
	}
	report->nr = 0; /* they are the output's now */
	for (size_t i = 0; i < report->nr_warnings; i++)
		add_once(&output->warnings, report->warnings[i]);
	if (report->nr_unseen > 0) {
		autofree char *why = reason("", &report->unseen);
		autofree char *text =
			rot_format("regions were not observed in %zu threads: %s", report->nr_unseen, why);

		add_once(&output->warnings, text);
	}
}

void
region_report_delete(struct region_report *report)
{
	size_t nr = program_command_nr_regions(report->command);

	for (size_t i = 0; i < report->nr; i++)
		rot_entity_delete(report->services[i]);
	for (size_t i = 0; i < nr; i++) {
		free(report->not_found[i]);
		spans_clear(&report->spans[i]);
	}
	for (size_t i = 0; i < report->nr_outputs; i++)
		rot_graph_delete(report->outputs[i]);
	for (size_t i = 0; i < report->nr_warnings; i++)
		free(report->warnings[i]);
	for (size_t i = 0; i < report->used.nr; i++)
		free(((char **)report->used.items)[i]);
	free(report->used.items);
	free(report->services);
	free(report->not_found);
	free(report->spans);
	free(report->by_capacity);
	free(report->outputs);
	free(report->warnings);
	free(report);
}
