/* SPDX-License-Identifier: MIT */
/* From what each thread did in a region to values of the region. */
#include "programs/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "statistics/summary.h"

struct context {
	const struct program_plan *plan;
	const struct architecture *architecture;
	const struct program_command_output *output;
	bool has_threads;
};

static const struct region_service *
find_service(const struct program_command_output *output, const char *region)
{
	for (size_t i = 0; i < program_command_output_nr_region_services(output); i++) {
		const struct region_service *service = program_command_output_region_services_at(output, i);

		if (strcmp(service->region, region) == 0)
			return service;
	}
	return NULL;
}

bool
program_region_is_served(const struct program_region *region)
{
	return region->service && strcmp(region->service->backend, "none") != 0;
}

double
program_region_hit_us(const struct program_region *region)
{
	const double nr = region->are_hits_least ? NAN : region->hits[HITS_MEASURED],
		     nr_threads = region->hits[HITS_TEAM] > 0 ? 1 : region->at_once;
	const struct quantity_value *time = program_values_find(&region->total, "time", "");

	return time && nr > 0 ? time->summary.value * nr_threads / nr : NAN;
}

/* ---- hits ---- */

static bool
is_of_region(const struct program_region_output *output, const struct program_region *region)
{
	return strcmp(output->region, region->definition->name) == 0;
}

static void
add_hits(double sums[NR_HITS], const struct program_region_output *output)
{
	sums[HITS_ALL] += (double)output->hits;
	sums[HITS_MEASURED] += (double)output->measured_hits;
	sums[HITS_TEAM] += (double)output->team_hits;
	sums[HITS_INNER] += (double)output->inner_hits;
	sums[HITS_ABANDONED] += (double)output->abandoned_hits;
	sums[HITS_LOST] += (double)output->lost_hits;
}

/* Every run was cut off. */
static bool
are_all_cut(const struct context *context)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(context->output); i++)
		if (!program_run_is_cut(context->plan, program_command_output_outputs_at(context->output, i)))
			return false;
	return true;
}

/* In a run in which it was observed until its hits were seen to be short. */
static void
add_sampled(struct program_region *region, const struct program_run_output *run, const double hits[NR_HITS],
	    double least[NR_HITS])
{
	const struct sampled_region *sampled = program_sampled_region(run, region->definition->name);

	region->is_sampled = true;
	region->nr_samples += sampled->samples;
	region->nr_all_samples += sampled->all_samples;
	memcpy(least, hits, NR_HITS * sizeof(*hits));
}

static void
compute_hits(struct program_region *region, const struct context *context)
{
	const size_t nr_all = program_command_output_nr_outputs(context->output);
	autofree double(*of_runs)[NR_HITS] = rot_calloc(nr_all + 1, sizeof(*of_runs));
	autofree double *numbers = rot_calloc(nr_all + 1, sizeof(*numbers));
	double least[NR_HITS] = {0};
	size_t nr = 0;

	region->fewest_hits = INFINITY;
	region->cut_hits = NAN;
	region->is_cut = are_all_cut(context);
	for (size_t i = 0; i < nr_all; i++) {
		const struct program_run_output *run = program_command_output_outputs_at(context->output, i);

		memset(of_runs[nr], 0, sizeof(of_runs[nr]));
		for (size_t k = 0; k < program_run_output_nr_regions(run); k++)
			if (is_of_region(program_run_output_regions_at(run, k), region))
				add_hits(of_runs[nr], program_run_output_regions_at(run, k));
		if (!region->is_cut && program_run_is_cut(context->plan, run)) {
			region->cut_hits = of_runs[nr][HITS_MEASURED];
			continue;
		}
		if (program_sampled_region(run, region->definition->name)) {
			add_sampled(region, run, of_runs[nr], least);
			continue;
		}
		region->fewest_hits = fmin(region->fewest_hits, of_runs[nr][HITS_ALL]);
		region->most_hits = fmax(region->most_hits, of_runs[nr][HITS_ALL]);
		nr++;
	}
	region->are_hits_least = nr == 0 && region->is_sampled;
	if (region->are_hits_least) {
		memcpy(of_runs[nr++], least, sizeof(least));
		region->fewest_hits = region->most_hits = least[HITS_ALL];
	}
	for (size_t kind = 0; kind < NR_HITS; kind++) {
		for (size_t i = 0; i < nr; i++)
			numbers[i] = of_runs[i][kind];
		region->hits[kind] = statistics_percentile(numbers, nr, 50);
	}
}

/* ---- what observing costs ---- */

/* Index of the thread, looked for from there on and then from the first; nr of threads if it is not there. */
static size_t
index_of_thread(const struct program_run_output *run, const struct program_region_output *region, size_t from)
{
	const size_t nr = program_run_output_nr_threads(run);

	for (size_t i = 0; i < nr; i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, (from + i) % nr);

		if (thread->tid == region->tid && thread->pid == region->pid)
			return (from + i) % nr;
	}
	return nr;
}

static double
life_ns(const struct program_thread_output *thread)
{
	return thread->stop_time > thread->start_time ? (double)(thread->stop_time - thread->start_time) : 0;
}

/* Shares of the first run, where threads are told apart. */
static void
compute_shares(struct program_region *region, const struct program_run_output *run)
{
	double lives = 0, times = 0;
	size_t at = 0;

	for (size_t i = 0; i < program_run_output_nr_regions(run); i++) {
		const struct program_region_output *one = program_run_output_regions_at(run, i);
		double life, nr_observed;

		if (!is_of_region(one, region))
			continue;
		nr_observed = fmax((double)one->hits, (double)(one->measured_hits + one->inner_hits)) +
			      (double)one->team_hits;
		at = index_of_thread(run, one, at);
		if (at == program_run_output_nr_threads(run))
			continue;
		life = life_ns(program_run_output_threads_at(run, at));
		if (life > 0)
			region->cost_share = fmax(region->cost_share, nr_observed * region->cost_ns / life);
		lives += life;
		times += (double)one->time;
	}
	if (region->cost_share > 1)
		region->cost_share = 1;
	if (lives > 0 && times > 0)
		region->time_share = times / lives;
}

/* The first run with empty regions tells the cost; what is subtracted is that of each run. */
static void
compute_cost(struct program_region *region, const struct context *context)
{
	const char *backend = region->service->backend;
	double observed; /* hits in a measured one */

	for (size_t i = 0; i < program_command_output_nr_outputs(context->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(context->output, i);
		const struct empty_region_output *empty = program_empty_region(run, backend);

		if (isnan(region->empty_instructions))
			region->empty_instructions =
				program_empty_instructions(context->plan, context->architecture, run, backend);
		if (!empty || !isnan(region->cost_ns))
			continue;
		region->empty_ns = (double)empty->time;
		region->cost_ns = (double)empty->cost;
	}
	compute_shares(region, program_command_output_outputs_at(context->output, 0));
	observed = (region->hits[HITS_MEASURED] + region->hits[HITS_INNER]) / region->hits[HITS_MEASURED];
	if (region->is_sampled)
		region->time_share = NAN;
	region->is_short = !region->is_sampled &&
			   1e3 * program_region_hit_us(region) < PROGRAM_REGION_SHORT * region->cost_ns * observed;
}

/* ---- threads ---- */

/* By their start. */
static int
compare_starts(const void *a, const void *b)
{
	const struct program_thread_output *one = ((const struct program_region_thread *)a)->values.thread,
					   *other = ((const struct program_region_thread *)b)->values.thread;

	return (one->start_time > other->start_time) - (one->start_time < other->start_time);
}

/* The first in which it was observed to its end, if there is one. */
static const struct program_run_output *
whole_run(const struct context *context, const struct program_region *region)
{
	const struct program_run_output *first = program_command_output_outputs_at(context->output, 0);

	for (size_t i = 0; i < program_command_output_nr_outputs(context->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(context->output, i);

		if (!program_sampled_region(run, region->definition->name))
			return run;
	}
	return first;
}

static int
compute_threads(struct program_region *region, const struct context *context, struct rot_error *err)
{
	const struct program_run_output *run = whole_run(context, region);
	size_t index = 0;

	region->threads = rot_calloc(program_run_output_nr_regions(run) + 1, sizeof(*region->threads));
	for (size_t i = 0; i < program_run_output_nr_regions(run); i++) {
		const struct program_region_output *one = program_run_output_regions_at(run, i);
		struct program_region_thread *thread = &region->threads[region->nr_threads];

		if (!is_of_region(one, region))
			continue;
		region->nr_entered++;
		index = index_of_thread(run, one, index);
		if (!context->has_threads || region->is_sampled || index == program_run_output_nr_threads(run))
			continue;
		add_hits(thread->hits, one);
		region->nr_threads++;
		if (program_values_region_thread(&thread->values, context->plan, context->architecture, context->output,
						 region->service, index, err) < 0)
			return -1;
	}
	qsort(region->threads, region->nr_threads, sizeof(*region->threads), compare_starts);
	return 0;
}

/* ---- all ---- */

static int
compute_region(struct program_region *region, const struct context *context, struct rot_error *err)
{
	region->service = find_service(context->output, region->definition->name);
	region->empty_ns = region->empty_instructions = region->cost_ns = region->cost_share = NAN;
	region->time_share = region->roof_share = region->memory_bound = NAN;
	region->roof = (struct program_roof){summary_empty(), summary_empty(), 0};
	region->at_once =
		program_region_at_once(program_command_output_outputs_at(context->output, 0), region->definition->name);
	region->bound = rot_strdup("");
	compute_hits(region, context);
	if (!program_region_is_served(region))
		return 0;
	if (compute_threads(region, context, err) < 0)
		return -1;
	if ((region->is_sampled || region->hits[HITS_MEASURED] + region->hits[HITS_TEAM] > 0) &&
	    program_values_region(&region->total, context->plan, context->architecture, context->output,
				  region->service, err) < 0)
		return -1;
	compute_cost(region, context);
	return 0;
}

int
program_regions_compute(struct program_regions *regions, const struct program_plan *plan,
			const struct architecture *architecture, const struct program_command *command,
			const struct program_command_output *output, bool has_threads, struct rot_error *err)
{
	/* One by one their times are shown. */
	const struct context context = {plan, architecture, output, has_threads && plan->is_timed};

	*regions = (struct program_regions){.nr = program_command_nr_regions(command)};
	regions->items = rot_calloc(regions->nr + 1, sizeof(*regions->items));
	for (size_t i = 0; i < regions->nr; i++) {
		regions->items[i].definition = program_command_regions_at(command, i);
		if (compute_region(&regions->items[i], &context, err) < 0)
			return rot_error_prefix(err, "region '%s'", regions->items[i].definition->name);
	}
	return 0;
}

void
program_regions_clear(struct program_regions *regions)
{
	for (size_t i = 0; i < regions->nr; i++) {
		struct program_region *region = &regions->items[i];

		for (size_t k = 0; k < region->nr_threads; k++)
			program_values_clear(&region->threads[k].values);
		program_values_clear(&region->total);
		free(region->threads);
		free(region->bound);
	}
	free(regions->items);
	*regions = (struct program_regions){.nr = 0};
}
