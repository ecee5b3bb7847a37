/* SPDX-License-Identifier: MIT */
/* Quantities of a program: as many passes as they need, from the cache where they are known. */
#include "programs/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "engine/origin.h"
#include "engine/program_measuring.h"
#include "memory.h"
#include "programs/plan.h"
#include "quantities/effort.h"
#include "quantities/pass.h"
#include "quantities/samples.h"
#include "rot.h"

/* ---- what rules have measured ---- */

/*
 * An array with an object for each run, in the order of the output: its pass, and the measurer sets that were read, by
 * the ids that are counted through the rules. NULL if no run has any.
 */
static json_t *
rule_outputs_json(const struct program_command_output *output)
{
	json_t *runs = json_array();
	bool has_any = false;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		json_t *json = json_object(), *sets = json_array();

		for (size_t j = 0; j < program_run_output_nr_measurer_set_outputs(run); j++) {
			const struct measurer_set_output *set = program_run_output_measurer_set_outputs_at(run, j);

			json_array_append_new(sets, set_output_json(set, set->set_id));
		}
		has_any = has_any || json_array_size(sets) > 0;
		json_object_set_new(json, "pass", json_integer(run->pass));
		json_object_set_new(json, "measurerSets", sets);
		json_array_append_new(runs, json);
	}
	if (has_any)
		return runs;
	json_decref(runs);
	return NULL;
}

/* One call of program_quantities_measure. */
struct quantities_job {
	struct rot *rot;
	struct program_workload *workload;
	struct program_plan plan;
	struct program_workload **passes;
	struct program_command_output *output;
};

static const struct architecture *
architecture_of(const struct quantities_job *job)
{
	return program_architecture(job->rot, program_workload_nr_regions(job->workload) > 0);
}

static int
make_plan(struct quantities_job *job, const struct quantity_request *requests, size_t nr_requests, size_t max_passes,
	  struct rot_error *err)
{
	const struct configuration *configuration = job->rot->configuration;

	if (program_plan_of(&job->plan, architecture_of(job), requests, nr_requests,
			    configuration_string(configuration, "clock"), err) < 0)
		return -1;
	job->plan.use_minimum = strcmp(configuration_string(configuration, "estimator"), "min") == 0;
	if (max_passes == 0 || job->plan.passes.nr_passes <= max_passes)
		return 0;
	rot_error_set(err, 0, "the quantities need %zu passes, and the program may be run in %zu",
		      job->plan.passes.nr_passes, max_passes);
	return rot_error_hint(err, "ask for fewer quantities in columns, plots and <quantity>, or raise passes of "
				   "<program>");
}

static int
make_passes(struct quantities_job *job, struct rot_error *err)
{
	const size_t nr = job->plan.passes.nr_passes;

	if (program_workload_identify(job->rot, job->workload, err) < 0)
		return -1;
	job->passes = rot_calloc(nr, sizeof(*job->passes));
	for (size_t i = 0; i < nr; i++) {
		job->passes[i] = rot_graph_clone(job->workload, NULL);
		job->passes[i]->pass = pass_measurer(architecture_of(job), &job->plan.passes.passes[i]);
	}
	return 0;
}

/* If this fails, the output and *origin of earlier passes stay. */
static int
measure_passes(struct quantities_job *job, int nr_runs, json_t **origin, struct rot_error *err)
{
	struct program_command_output *output = NULL;
	json_t *own = origin_new();

	if (program_measuring_perform(job->rot, job->passes, job->plan.passes.nr_passes, nr_runs, &output, own, err) <
	    0) {
		json_decref(own);
		return -1;
	}
	rot_graph_delete(job->output);
	job->output = output;
	json_decref(*origin);
	*origin = own;
	return 0;
}

/* ---- regions ---- */

static const struct region_service *
service_of(const struct quantities_job *job, size_t region)
{
	const char *name = program_workload_regions_at(job->workload, region)->name;

	for (size_t i = 0; i < program_command_output_nr_region_services(job->output); i++) {
		const struct region_service *service = program_command_output_region_services_at(job->output, i);

		if (strcmp(service->region, name) == 0)
			return service;
	}
	return NULL;
}

static int
refuse_region(const struct quantities_job *job, size_t region, const struct region_service *service,
	      struct rot_error *err)
{
	rot_error_set(err, 0, "the region '%s' of '%s' was not observed",
		      program_workload_regions_at(job->workload, region)->name, job->workload->program->executable);
	for (size_t i = 0; service && i < region_service_nr_refusals(service); i++)
		rot_error_append(err, "\n%s", region_service_refusals_at(service, i));
	return rot_error_hint(err, "rot help run says how begin and end of a region are written");
}

static int
compute_regions(const struct quantities_job *job, struct program_quantities *quantities, struct rot_error *err)
{
	size_t nr = program_workload_nr_regions(job->workload);

	quantities->regions = rot_calloc(nr + 1, sizeof(*quantities->regions));
	for (size_t i = 0; i < nr; i++) {
		const struct region_service *service = service_of(job, i);

		if (!service || strcmp(service->backend, "none") == 0)
			return refuse_region(job, i, service, err);
		if (program_values_region(&quantities->regions[quantities->nr_regions++], &job->plan,
					  architecture_of(job), job->output, service, err) < 0)
			return -1;
	}
	return 0;
}

static void
values_clear(struct program_quantities *quantities)
{
	program_values_clear(&quantities->total);
	for (size_t i = 0; i < quantities->nr_regions; i++)
		program_values_clear(&quantities->regions[i]);
	free(quantities->regions);
	quantities->regions = NULL;
	quantities->nr_regions = 0;
}

/* ---- more runs ---- */

/* Values of the program and of its regions, borrowed; fresh memory. */
static struct quantity_value *
all_values(const struct program_quantities *quantities, size_t *nr)
{
	struct quantity_value *all = rot_calloc(quantities->total.nr * (quantities->nr_regions + 1) + 1, sizeof(*all));

	*nr = 0;
	for (size_t i = 0; i <= quantities->nr_regions; i++) {
		const struct program_values *values = i == 0 ? &quantities->total : &quantities->regions[i - 1];

		memcpy(&all[*nr], values->values, values->nr * sizeof(*all));
		*nr += values->nr;
	}
	return all;
}

static double
spent_s(const struct quantities_job *job)
{
	double ns = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(job->output); i++)
		ns += (double)program_command_output_outputs_at(job->output, i)->wall_time;
	return ns * 1e-9;
}

/* Runs are added while the effort wants more. Runs that are interrupted, or not in the cache, are done without. */
static int
measure_often(struct quantities_job *job, const struct quantity_effort *effort, struct program_quantities *quantities,
	      struct rot_error *err)
{
	struct effort_course course;
	int nr_runs, next;

	effort_begin(&course, effort);
	next = nr_runs = course.target;
	do {
		const bool is_first = !job->output;

		if (measure_passes(job, next, &quantities->origin, err) < 0)
			return !is_first && (rot_interrupted() || job->rot->is_cached_only) ? 0 : -1;
		nr_runs = next;
		if (effort->only_measures)
			return 0;
		values_clear(quantities);
		if (program_values_total(&quantities->total, &job->plan, architecture_of(job), job->output, err) < 0)
			return -1;
		if (compute_regions(job, quantities, err) < 0)
			return -1;
		next = 0;
		if (effort->budget_s > 0) {
			size_t nr;
			autofree struct quantity_value *values = all_values(quantities, &nr);

			next = effort_next(&course, values, nr, nr_runs, spent_s(job));
		}
	} while (next > 0);
	quantities->runs_end = course.end;
	return 0;
}

/* ---- notes ---- */

static void
add_note(struct program_quantities *quantities, char *note)
{
	rot_add(quantities->notes, quantities->nr_notes) = note;
}

static void
add_notes(const struct quantities_job *job, struct program_quantities *quantities)
{
	struct program_agreement agreement = program_agreement_of(&job->plan, architecture_of(job), job->output);

	for (size_t i = 0; i < program_command_output_nr_warnings(job->output); i++)
		add_note(quantities, rot_strdup(program_command_output_warnings_at(job->output, i)));
	if (agreement.spread > PROGRAM_AGREEMENT)
		add_note(quantities, rot_format("instructions of the runs differ by up to %.3g %%: values that come "
						"from different passes do not belong together",
						100 * agreement.spread));
}

/* CPUs that the program uses on average, or the region that uses most at once. */
static double
nr_cpus(const struct program_plan *plan, const struct program_command_output *output)
{
	double cpu_ns = 0, wall_ns = 0, most = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (plan->passes.passes[run->pass].is_stepped)
			continue;
		cpu_ns += (double)(run->user_time + run->system_time);
		wall_ns += (double)run->wall_time;
		for (size_t k = 0; k < program_command_output_nr_region_services(output); k++)
			most = fmax(most, program_region_at_once(
						  run, program_command_output_region_services_at(output, k)->region));
	}
	return fmax(most, wall_ns > 0 ? cpu_ns / wall_ns : 0);
}

/* Each run of a pass is a start of the program. */
static json_t *
json_runs(const struct quantities_job *job, const json_t *hashes)
{
	json_t *passes = json_array();

	for (size_t i = 0; i < job->plan.passes.nr_passes; i++) {
		json_t *pass = pass_runs_new(json_string_value(json_array_get(hashes, i)));

		for (size_t k = 0, nr = 0; k < program_command_output_nr_outputs(job->output); k++) {
			const struct program_run_output *run = program_command_output_outputs_at(job->output, k);

			if ((size_t)run->pass == i)
				pass_runs_add(pass, run->start_time, run->start_microseconds, nr++);
		}
		json_array_append_new(passes, pass);
	}
	return passes;
}

int
program_quantities_measure(struct rot *rot, struct program_workload *workload, const struct quantity_request *requests,
			   size_t nr_requests, const struct quantity_effort *effort, size_t max_passes,
			   struct program_quantities *quantities, struct rot_error *err)
{
	struct quantities_job job = {.rot = rot, .workload = workload};
	int rc = -1;

	*quantities = (struct program_quantities){.nr_regions = 0};
	if (make_plan(&job, requests, nr_requests, max_passes, err) < 0 || make_passes(&job, err) < 0 ||
	    measure_often(&job, effort, quantities, err) < 0)
		goto out;
	for (size_t i = 0; i <= quantities->nr_regions; i++) {
		struct program_values *values = i == 0 ? &quantities->total : &quantities->regions[i - 1];

		for (size_t k = 0; k < values->nr; k++)
			values->values[k].runs_end = quantities->runs_end;
	}
	add_notes(&job, quantities);
	quantities->rule_outputs = rule_outputs_json(job.output);
	quantities->passes = json_runs(&job, json_object_get(quantities->origin, "hashes"));
	quantities->nr_cpus = nr_cpus(&job.plan, job.output);
	rc = 0;
out:
	for (size_t i = 0; job.passes && i < job.plan.passes.nr_passes; i++)
		rot_graph_delete(job.passes[i]);
	free(job.passes);
	rot_graph_delete(job.output);
	program_plan_clear(&job.plan);
	return rc;
}

void
program_quantities_clear(struct program_quantities *quantities)
{
	values_clear(quantities);
	json_decref(quantities->origin);
	for (size_t i = 0; i < quantities->nr_notes; i++)
		free(quantities->notes[i]);
	free(quantities->notes);
	json_decref(quantities->rule_outputs);
	json_decref(quantities->passes);
	*quantities = (struct program_quantities){.nr_regions = 0};
}
