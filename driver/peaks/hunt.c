/* SPDX-License-Identifier: MIT */
/* The search of one ceiling, and the peak that it finds. */
#include "peaks/hunt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "rot.h"
#include "support/clock.h"

#define NR_STARTS 5  /* as in the original tool */
#define GAIN 0.002   /* a step that betters less than 0.2 % is noise: plateaus are flat to 0.05 % per core cycle */
#define MAX_BATCH 64 /* variants built before any of them is measured */
#define MAX_FINALISTS 3

enum peak_kind
hunt_kind(const struct planned_ceiling *ceiling)
{
	return ceiling->operation ? PEAK_PERFORMANCE : ceiling->is_latency ? PEAK_LATENCY : PEAK_BANDWIDTH;
}

/* ---- the search of one ceiling ---- */

/* What the kernel's checks refuse is not valid. */
static bool
is_valid_variant(void *context, const int *coordinates)
{
	struct hunt *hunt = context;
	struct measurement *measurement;
	struct rot_error why = {0};
	double work;
	int rc = xml_plan_ceiling_variant(hunt->of->controller, hunt->ceiling, coordinates, &measurement, &work, &why);

	rot_graph_delete(measurement);
	return rc == 0;
}

int
hunt_begin(struct hunt *hunt, struct hunting *hunting, const struct planned_ceiling *ceiling, struct rot_error *err)
{
	struct search_axis *axes = rot_calloc(ceiling->nr_axes + 1, sizeof(*axes));
	const struct search_space space = {
		.axes = axes, .nr_axes = ceiling->nr_axes, .is_valid = is_valid_variant, .context = hunt};
	const struct search_options options = {
		.strategy = hunting->options->strategy,
		.seeds = (const int *const *)ceiling->seeds,
		.nr_seeds = ceiling->nr_seeds,
		.nr_starts = NR_STARTS,
		.max_batch = MAX_BATCH,
		.gain = GAIN,
	};

	for (size_t i = 0; i < ceiling->nr_axes; i++)
		axes[i] = (struct search_axis){ceiling->axes[i].values, ceiling->axes[i].nr_values};
	*hunt = (struct hunt){.of = hunting, .ceiling = ceiling};
	hunt->search = search_new(&space, &options);
	free(axes);
	if (hunt->search)
		return 0;
	return rot_error_set(err, 0, "the ceiling '%s' has more than %d variants", ceiling->name, SEARCH_MAX_SPACE);
}

void
hunt_next(struct hunt *hunt, struct variant **variants, size_t *nr)
{
	const size_t *batch;
	size_t nr_batch = 0;

	hunt->was_cut_short =
		hunt->was_cut_short || (search_nr_points(hunt->search) > 0 && clock_now_s() > hunt->of->deadline_now_s);
	if (!hunt->was_cut_short)
		nr_batch = search_next(hunt->search, &batch);
	*variants = rot_realloc(*variants, *nr + nr_batch + 1, sizeof(**variants));
	for (size_t i = 0; i < nr_batch; i++) {
		struct variant *variant = &(*variants)[*nr];

		*variant = (struct variant){.hunt = hunt, .index = batch[i]};
		if (xml_plan_ceiling_variant(hunt->of->controller, hunt->ceiling,
					     search_at(hunt->search, batch[i])->coordinates, &variant->measurement,
					     &variant->work, &hunt->why) == 0)
			++*nr;
	}
}

static struct peak_work
work_of(const struct planned_ceiling *ceiling, double of_thread)
{
	return (struct peak_work){ceiling->operation, ceiling->border, of_thread};
}

/* Where there is one variant only, there is nothing to choose, and its first runs are reported. */
static bool
has_no_choice(const struct hunt *hunt)
{
	return search_nr_points(hunt->search) == 1 &&
	       (hunt->of->options->strategy == SEARCH_QUICK || hunt->ceiling->nr_axes == 0);
}

int
variant_measure(struct variant *variant)
{
	struct hunt *hunt = variant->hunt;
	const struct nr_runs *runs = &hunt->of->strategy->runs;
	const struct peak_work work = work_of(hunt->ceiling, variant->work);
	const int nr_runs = has_no_choice(hunt) ? runs->report : runs->search;
	struct peak_samples samples;

	if (peak_samples_measure(&samples, hunt->of->rot, variant->measurement, &work, nr_runs, &hunt->why) < 0)
		return -1;
	search_tell(hunt->search, variant->index, peak_samples_score(&samples, 0, samples.nr));
	peak_samples_clear(&samples);
	return 0;
}

/* ---- the peak of one ceiling ---- */

/* Of what was measured on one thread. */
static void
set_landscape(struct peak_landscape *landscape, const struct hunt *hunt)
{
	const size_t nr_axes = hunt->ceiling->nr_axes;

	landscape->nr_axes = nr_axes;
	landscape->axes = rot_calloc(nr_axes + 1, sizeof(*landscape->axes));
	for (size_t i = 0; i < nr_axes; i++)
		landscape->axes[i] = rot_strdup(hunt->ceiling->axes[i].name);
	landscape->nr_points = nr_axes ? search_nr_points(hunt->search) : 0;
	landscape->points = rot_calloc(landscape->nr_points + 1, sizeof(*landscape->points));
	for (size_t i = 0; i < landscape->nr_points; i++) {
		const struct search_found *found = search_at(hunt->search, i);
		struct peak_point *point = &landscape->points[i];

		point->per_cycle = hunt->ceiling->is_latency ? 1 / found->value : found->value;
		point->coordinates = rot_calloc(nr_axes, sizeof(*point->coordinates));
		memcpy(point->coordinates, found->coordinates, nr_axes * sizeof(*point->coordinates));
	}
}

static void
set_variant(struct peak *peak, const struct hunt *hunt, size_t best, const struct measurement *measurement)
{
	const struct kernel_base *kernel = measurement_workloads_at(measurement, 0)->kernel;
	const int *coordinates = search_at(hunt->search, best)->coordinates;
	double number;

	peak->nr_coordinates = hunt->ceiling->nr_axes;
	peak->variant = rot_calloc(peak->nr_coordinates + 1, sizeof(*peak->variant));
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		peak->variant[i] = (struct peak_coordinate){rot_strdup(hunt->ceiling->axes[i].name), coordinates[i]};
	if (rot_entity_number(kernel, "bufferSize", &number))
		peak->buffer_bytes = (size_t)number;
	peak->has_huge_pages = rot_entity_number(kernel, "hugePages", &number) && number != 0;
}

/* Its place in the list, without what was measured. */
static size_t
add_peak(const struct hunt *hunt, size_t best, const struct measurement *measurement)
{
	const struct planned_ceiling *ceiling = hunt->ceiling;
	struct peak_list *list = hunt->of->list;
	struct peak *peak;

	list->peaks = rot_realloc(list->peaks, list->nr + 1, sizeof(*list->peaks));
	peak = &list->peaks[list->nr++];
	*peak = (struct peak){
		.kind = hunt_kind(ceiling),
		.name = rot_strdup(ceiling->name),
		.operation = rot_strdup(ceiling->operation),
		.border = rot_strdup(ceiling->border),
		.access = rot_strdup(ceiling->access),
		.instruction_set = rot_strdup(ceiling->instruction_set),
		.nr_threads = (int)measurement_nr_workloads(measurement),
		.mode = rot_strdup(""),
		.clock_source = rot_strdup(""),
		.search = rot_strdup(hunt->of->strategy->name),
		.found_at = (int64_t)time(NULL),
		.limit_per_cycle = NAN,
		.limit_source = rot_strdup(""),
		.remark = rot_strdup(hunt->was_cut_short ? "the search ended early: its time was up" : ""),
	};
	set_variant(peak, hunt, best, measurement);
	if (peak->nr_threads == 1)
		set_landscape(&peak->landscape, hunt);
	return list->nr - 1;
}

/* The variant on that many threads; delete the measurement. */
static int
plan_at(const struct hunt *hunt, size_t index, size_t nr_threads, struct measurement **measurement,
	struct peak_work *work, struct rot_error *err)
{
	const struct hunting *hunting = hunt->of;
	struct measurement *on_one;
	double of_thread;

	if (xml_plan_ceiling_variant(hunting->controller, hunt->ceiling, search_at(hunt->search, index)->coordinates,
				     &on_one, &of_thread, err) < 0)
		return -1;
	*work = work_of(hunt->ceiling, of_thread);
	*measurement = on_one;
	if (nr_threads > 1) {
		*measurement = measurement_on_cpus(on_one, hunting->cpus, nr_threads);
		rot_graph_delete(on_one);
	}
	return 0;
}

/* The best of the finalists, by the runs of the search and those for choosing. */
static int
choose(const struct hunt *hunt, size_t *best, struct rot_error *err)
{
	const struct nr_runs *runs = &hunt->of->strategy->runs;
	size_t finalists[MAX_FINALISTS], nr = search_best(hunt->search, finalists, MAX_FINALISTS);
	double best_score = NAN;

	if (nr == 0) {
		*err = hunt->why;
		return *err->text ? -1 : rot_error_set(err, 0, "none of its variants is valid here");
	}
	*best = finalists[0];
	for (size_t i = 0; nr > 1 && runs->choose > 0 && i < nr; i++) {
		struct measurement *measurement;
		struct peak_samples samples;
		struct peak_work work;
		double score;
		int rc;

		if (plan_at(hunt, finalists[i], 1, &measurement, &work, err) < 0)
			return -1;
		rc = peak_samples_measure(&samples, hunt->of->rot, measurement, &work, runs->search + runs->choose,
					  err);
		rot_graph_delete(measurement);
		if (rc < 0)
			return -1;
		score = peak_samples_score(&samples, 0, samples.nr);
		if (isnan(best_score) || score > best_score) {
			best_score = score;
			*best = finalists[i];
		}
		peak_samples_clear(&samples);
	}
	return 0;
}

/*
 * How many runs of the variant the search has looked at. What it looked at is in the cache: disturbed runs were
 * repeated, so that there may be more than were asked for. Nothing looked at runs on several threads.
 */
static int
count_seen(const struct hunt *hunt, const struct measurement *measurement, const struct peak_work *work, size_t *nr,
	   struct rot_error *err)
{
	const struct nr_runs *runs = &hunt->of->strategy->runs;
	struct peak_samples samples;
	int rc;

	*nr = 0;
	if (measurement_nr_workloads(measurement) > 1)
		return 0;
	rc = peak_samples_measure(&samples, hunt->of->rot, measurement, work,
				  has_no_choice(hunt) ? runs->report : runs->search + runs->choose, err);
	if (rc == 0)
		*nr = samples.nr;
	peak_samples_clear(&samples);
	return rc;
}

/* From that run on. */
static int
report_on(const struct hunt *hunt, size_t best, const struct measurement *measurement, const struct peak_work *work,
	  size_t from, struct rot_error *err)
{
	struct peak_samples samples;
	size_t place;

	if (peak_samples_measure(&samples, hunt->of->rot, measurement, work,
				 (int)from + hunt->of->strategy->runs.report, err) < 0)
		return -1;
	place = add_peak(hunt, best, measurement);
	peak_samples_fill(&samples, from, &hunt->of->list->peaks[place]);
	peak_samples_clear(&samples);
	return 0;
}

/* The best variant on that many threads. */
static int
report(const struct hunt *hunt, size_t best, size_t nr_threads, struct rot_error *err)
{
	struct measurement *measurement;
	struct peak_work work;
	size_t nr_seen = 0;
	bool has_modes;
	int rc = 0;

	if (plan_at(hunt, best, nr_threads, &measurement, &work, err) < 0)
		return -1;
	has_modes = modes_of(work.border, nr_threads) != MODES_NONE;
	/* Where nothing was chosen, those runs are as good as others; but they are of one process. */
	if (has_modes || !has_no_choice(hunt))
		rc = count_seen(hunt, measurement, &work, &nr_seen, err);
	if (rc == 0 && has_modes) {
		modes_add(&hunt->of->modes, add_peak(hunt, best, measurement), measurement, &work, nr_seen);
		return 0;
	}
	if (rc == 0)
		rc = report_on(hunt, best, measurement, &work, nr_seen, err);
	rot_graph_delete(measurement);
	return rc;
}

int
hunt_finish(const struct hunt *hunt, struct rot_error *err)
{
	const struct peaks_options *options = hunt->of->options;
	size_t best = 0;
	int rc = choose(hunt, &best, err);

	for (size_t i = 0; rc == 0 && i < options->nr_threads; i++)
		if (options->threads[i] == 1 || !hunt->ceiling->is_of_one_thread)
			rc = report(hunt, best, (size_t)options->threads[i], err);
	return rc;
}
