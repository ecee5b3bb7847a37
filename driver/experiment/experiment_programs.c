/* SPDX-License-Identifier: MIT */
/* Points of programs: one for the whole of it, and one for each of its regions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "programs/measure.h"

/* The points of one program: the whole first. */
struct parts {
	struct experiment_point *points;
	size_t nr;
};

/* Those given, with "region" in its place or at the end. */
static struct experiment_point
region_at(const struct experiment_point *whole, const char *region)
{
	const size_t nr = whole->at.nr_coordinates;
	struct coordinate *coordinates = rot_calloc(nr + 1, sizeof(*coordinates));
	char *series = rot_format("%s%s%s", whole->series, whole->series[0] ? " " : "", region);
	struct experiment_point point;
	size_t i = 0;

	memcpy(coordinates, whole->at.coordinates, nr * sizeof(*coordinates));
	while (i < nr && strcmp(coordinates[i].axis, "region") != 0)
		i++;
	coordinates[i] = (struct coordinate){.axis = "region", .number = NAN, .text = region};
	point = experiment_point_at(
		&(struct experiment_position){series, whole->label, {coordinates, i == nr ? nr + 1 : nr}});
	free(coordinates);
	free(series);
	return point;
}

static struct parts
make_parts(const struct experiment_position *position, const struct program_workload *workload)
{
	struct parts parts = {.nr = 1 + program_workload_nr_regions(workload)};

	parts.points = rot_calloc(parts.nr, sizeof(*parts.points));
	parts.points[0] = experiment_point_at(position);
	for (size_t i = 1; i < parts.nr; i++)
		parts.points[i] = region_at(&parts.points[0], program_workload_regions_at(workload, i - 1)->name);
	return parts;
}

/* The values move into the point. */
static void
fill(struct experiment_point *point, const struct experiment_requests *requests, struct program_values *values)
{
	point->requests = rot_calloc(requests->nr + 1, sizeof(*point->requests));
	memcpy(point->requests, requests->items, requests->nr * sizeof(*point->requests));
	point->values = values->values;
	point->nr_values = values->nr;
	point->cache_state = rot_strdup("");
	*values = (struct program_values){.nr = 0};
}

/* A program that uses this much more than a CPU is a single thread with helpers. */
#define ALONE 0.15

static void
keep(struct experiment *experiment, struct parts *parts, const struct program_workload *workload,
     const struct experiment_requests *requests, struct program_quantities *quantities)
{
	for (size_t i = 0; i < parts->nr; i++)
		fill(&parts->points[i], requests, i == 0 ? &quantities->total : &quantities->regions[i - 1]);
	experiment_use_cpus(experiment, quantities->nr_cpus - ALONE);
	parts->points[0].program = rot_graph_clone(workload, NULL);
	parts->points[0].notes = quantities->notes;
	parts->points[0].nr_notes = quantities->nr_notes;
	quantities->notes = NULL;
	quantities->nr_notes = 0;
	parts->points[0].rule_outputs = quantities->rule_outputs;
	quantities->rule_outputs = NULL;
	parts->points[0].passes = quantities->passes;
	quantities->passes = NULL;
	experiment_take_hashes(experiment, quantities->hashes);
	quantities->hashes = NULL;
	for (size_t i = 0; i < parts->nr; i++)
		experiment_keep_point(experiment, &parts->points[i]);
}

int
experiment_add_program(struct experiment *experiment, const struct experiment_position *position,
		       struct program_workload *workload, const struct quantity_request *requests, size_t nr_requests,
		       int nr_runs, size_t max_passes, struct rot_error *err)
{
	struct parts parts = make_parts(position, workload);
	struct experiment_requests all = {0};
	struct program_quantities quantities = {.nr_regions = 0};
	const struct quantity_effort effort = experiment_effort(experiment, nr_runs);
	int rc = 0;

	experiment_begin_point(experiment);
	for (size_t i = 0; rc == 0 && i < parts.nr; i++)
		rc = experiment_gather(experiment, &parts.points[i], requests, nr_requests, &all, err);
	if (rc == 0)
		rc = program_quantities_measure(experiment->rot, workload, all.items, all.nr, &effort, max_passes,
						&quantities, err);
	if (rc == 0 && !experiment->is_ahead)
		keep(experiment, &parts, workload, &all, &quantities);
	for (size_t i = 0; (rc < 0 || experiment->is_ahead) && i < parts.nr; i++)
		experiment_point_clear(&parts.points[i]);
	program_quantities_clear(&quantities);
	free(parts.points);
	free(all.items);
	return rc;
}
