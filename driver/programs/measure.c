/* SPDX-License-Identifier: MIT */
/* Quantities of a program: as many passes as they need, from the cache where they are known. */
#include "programs/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "measuring/program_measuring.h"
#include "memory.h"
#include "programs/plan.h"
#include "programs/rule_outputs.h"
#include "quantities/samples.h"
#include "rot.h"

/* One call of program_quantities_measure. */
struct job {
	struct rot *rot;
	struct program_workload *workload;
	struct program_plan plan;
	struct program_workload **passes;
	struct program_command_output *output;
};

static void
job_clear(struct job *job)
{
	for (size_t i = 0; job->passes && i < job->plan.passes.nr_passes; i++)
		rot_graph_delete(job->passes[i]);
	free(job->passes);
	rot_graph_delete(job->output);
	program_plan_clear(&job->plan);
}

static int
make_plan(struct job *job, const struct quantity_request *requests, size_t nr_requests, size_t max_passes,
	  struct rot_error *err)
{
	const struct configuration *configuration = job->rot->configuration;

	if (program_plan_of(&job->plan, job->rot->architecture, requests, nr_requests,
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
measure(struct job *job, int nr_runs, char ***hashes, struct rot_error *err)
{
	const size_t nr = job->plan.passes.nr_passes;
	int rc;

	if (program_workload_identify(job->rot, job->workload, err) < 0)
		return -1;
	job->passes = rot_calloc(nr, sizeof(*job->passes));
	*hashes = rot_calloc(nr + 1, sizeof(**hashes));
	for (size_t i = 0; i < nr; i++) {
		job->passes[i] = rot_graph_clone(job->workload, NULL);
		job->passes[i]->pass = pass_measurer(job->rot->architecture, &job->plan.passes.passes[i]);
	}
	rc = program_measuring_perform(job->rot, job->passes, nr, nr_runs, &job->output, *hashes, err);
	if (rc < 0) {
		free(*hashes);
		*hashes = NULL;
	}
	return rc;
}

/* ---- regions ---- */

static const struct region_service *
service_of(const struct job *job, size_t region)
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
refuse_region(const struct job *job, size_t region, const struct region_service *service, struct rot_error *err)
{
	rot_error_set(err, 0, "the region '%s' of '%s' was not observed",
		      program_workload_regions_at(job->workload, region)->name, job->workload->program->executable);
	for (size_t i = 0; service && i < region_service_nr_refusals(service); i++)
		rot_error_append(err, "\n%s", region_service_refusals_at(service, i));
	return rot_error_hint(err, "rot help run says how begin and end of a region are written");
}

static int
compute_regions(const struct job *job, struct program_quantities *quantities, struct rot_error *err)
{
	size_t nr = program_workload_nr_regions(job->workload);

	quantities->regions = rot_calloc(nr + 1, sizeof(*quantities->regions));
	for (size_t i = 0; i < nr; i++) {
		const struct region_service *service = service_of(job, i);

		if (!service || strcmp(service->backend, "none") == 0)
			return refuse_region(job, i, service, err);
		if (program_values_region(&quantities->regions[quantities->nr_regions++], &job->plan,
					  job->rot->architecture, job->output, service, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- notes ---- */

static void
add_note(struct program_quantities *quantities, char *note)
{
	quantities->notes = rot_realloc(quantities->notes, quantities->nr_notes + 1, sizeof(*quantities->notes));
	quantities->notes[quantities->nr_notes++] = note;
}

static void
add_notes(const struct job *job, struct program_quantities *quantities)
{
	struct program_agreement agreement = program_agreement_of(&job->plan, job->rot->architecture, job->output);

	for (size_t i = 0; i < program_command_output_nr_warnings(job->output); i++)
		add_note(quantities, rot_strdup(program_command_output_warnings_at(job->output, i)));
	if (agreement.spread > PROGRAM_AGREEMENT)
		add_note(quantities, rot_format("instructions of the runs differ by up to %.3g %%: values that come "
						"from different passes do not belong together",
						100 * agreement.spread));
}

static double
nr_cpus(const struct program_command_output *output)
{
	double cpu_ns = 0, wall_ns = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		cpu_ns += (double)(run->user_time + run->system_time);
		wall_ns += (double)run->wall_time;
	}
	return wall_ns > 0 ? cpu_ns / wall_ns : 0;
}

int
program_quantities_measure(struct rot *rot, struct program_workload *workload, const struct quantity_request *requests,
			   size_t nr_requests, int nr_runs, size_t max_passes, struct program_quantities *quantities,
			   struct rot_error *err)
{
	struct job job = {.rot = rot, .workload = workload};
	int rc = -1;

	*quantities = (struct program_quantities){.nr_regions = 0};
	if (make_plan(&job, requests, nr_requests, max_passes, err) < 0 ||
	    measure(&job, nr_runs, &quantities->hashes, err) < 0 ||
	    program_values_total(&quantities->total, &job.plan, rot->architecture, job.output, err) < 0 ||
	    compute_regions(&job, quantities, err) < 0)
		goto out;
	add_notes(&job, quantities);
	quantities->rule_outputs = program_rule_outputs(job.output);
	quantities->nr_cpus = nr_cpus(job.output);
	rc = 0;
out:
	job_clear(&job);
	return rc;
}

void
program_quantities_clear(struct program_quantities *quantities)
{
	program_values_clear(&quantities->total);
	for (size_t i = 0; i < quantities->nr_regions; i++)
		program_values_clear(&quantities->regions[i]);
	for (size_t i = 0; quantities->hashes && quantities->hashes[i]; i++)
		free(quantities->hashes[i]);
	for (size_t i = 0; i < quantities->nr_notes; i++)
		free(quantities->notes[i]);
	free(quantities->regions);
	free(quantities->hashes);
	free(quantities->notes);
	json_decref(quantities->rule_outputs);
	*quantities = (struct program_quantities){.nr_regions = 0};
}
