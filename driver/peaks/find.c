/* SPDX-License-Identifier: MIT */
#include "peaks/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "configuration/configuration.h"
#include "controllers/xml_controller.h"
#include "controllers/xml_plan.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "peaks/samples.h"
#include "support/clock.h"
#include "support/progress.h"

#define NR_STARTS 5    /* as in the original tool */
#define GAIN 0.002     /* a step that betters less than 0.2 % is noise: plateaus are flat to 0.05 % per core cycle */
#define MAX_BATCH 64   /* variants built before any of them is measured */
#define NR_TOGETHER 24 /* ceilings whose few variants are built together, where each has only its seeds */
#define MAX_FINALISTS 3

/*
 * Runs of a variant: those that the search compares, those by which the best of the finalists is chosen together with
 * them (0: the search's are enough), and those that are reported: the winner of the former owes a part of its victory
 * to luck, which the latter do not share. 11 undisturbed runs have an interval of 95 %.
 */
struct nr_runs {
	int search, choose, report;
};

static const struct strategy {
	const char *name;
	struct nr_runs runs;
} strategies[] = {
	[SEARCH_QUICK] = {"quick", {4, 0, 14}},
	[SEARCH_FAST] = {"full", {5, 8, 16}},
	[SEARCH_GRID] = {"grid", {5, 8, 16}},
};

/* The search of one ceiling. */
struct hunt {
	struct hunting *of;
	const struct planned_ceiling *ceiling;
	struct search *search;
	bool was_cut_short;
	struct rot_error why; /* the last variant could not be measured */
};

/* A variant that is measured next. */
struct variant {
	struct hunt *hunt;
	size_t index; /* in the search */
	struct measurement *measurement;
	double work;
};

struct hunting {
	struct rot *rot;
	const struct peaks_options *options;
	const struct strategy *strategy;
	struct xml_controller *controller;
	struct peak_list *list;
	int *cpus;
	size_t nr_cpus;
	double deadline_s; /* of all; of the ceilings that are looked at now: deadline_now_s */
	double deadline_now_s;
};

/* ---- which ceilings ---- */

static enum peak_kind
kind_of(const struct planned_ceiling *ceiling)
{
	return ceiling->operation ? PEAK_PERFORMANCE : ceiling->is_latency ? PEAK_LATENCY : PEAK_BANDWIDTH;
}

/* Is one of the parts of the word, between commas, in the text? */
static bool
has_part(const char *text, const char *word)
{
	char *parts = rot_strdup(word), *rest = NULL;
	bool is_found = false;

	for (char *part = strtok_r(parts, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
		is_found = is_found || strcasestr(text, part);
	free(parts);
	return is_found;
}

static bool
is_wanted(const struct planned_ceiling *ceiling, const struct peaks_options *options)
{
	static const char *const kinds[] = {"performance", "bandwidth", "latency"};
	const char *const texts[] = {ceiling->name,   ceiling->operation,       ceiling->border,
				     ceiling->access, ceiling->instruction_set, kinds[kind_of(ceiling)]};

	for (size_t i = 0; i < options->nr_words; i++) {
		bool is_found = false;

		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
			is_found = is_found || (texts[k] && has_part(texts[k], options->words[i]));
		if (!is_found)
			return false;
	}
	return true;
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

static int
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

/* Those to be measured next are added. */
static void
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

static int
measure_variant(struct variant *variant)
{
	struct hunt *hunt = variant->hunt;
	const struct peak_work work = work_of(hunt->ceiling, variant->work);
	struct peak_samples samples;

	if (peak_samples_measure(&samples, hunt->of->rot, variant->measurement, &work, hunt->of->strategy->runs.search,
				 &hunt->why) < 0)
		return -1;
	search_tell(hunt->search, variant->index, peak_samples_score(&samples, 0, samples.nr));
	peak_samples_clear(&samples);
	return 0;
}

/* Builds them side by side. What cannot be built is told when it is measured. */
static void
build(struct hunting *hunting, const struct variant *variants, size_t nr)
{
	struct measurement **measurements = rot_calloc(nr + 1, sizeof(*measurements));
	struct rot_error ignored = {0};

	for (size_t i = 0; i < nr; i++)
		measurements[i] = variants[i].measurement;
	measuring_prepare(hunting->rot, measurements, nr, &ignored);
	free(measurements);
}

/* One batch of each. Gives the number of variants; interrupted: -1. */
static int
search_once(struct hunting *hunting, struct hunt *hunts, size_t nr_hunts)
{
	struct variant *variants = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < nr_hunts; i++)
		hunt_next(&hunts[i], &variants, &nr);
	build(hunting, variants, nr);
	for (size_t i = 0; i < nr; i++) {
		if (!rot_interrupted())
			measure_variant(&variants[i]);
		rot_graph_delete(variants[i].measurement);
	}
	free(variants);
	return rot_interrupted() ? -1 : (int)nr;
}

/* ---- the peak of one ceiling ---- */

/* A latency is told in cycles of an access, and was measured in accesses per cycle. */
static struct peak_estimate
estimate(const struct hunt *hunt, const struct peak_samples *samples, const double *values, size_t from)
{
	struct peak_estimate e = peak_samples_estimate(samples, values, from, samples->nr, NULL, NULL);

	return hunt->ceiling->is_latency ? (struct peak_estimate){1 / e.value, 1 / e.high, 1 / e.low} : e;
}

static double
clock_hz(const struct peak_samples *samples, size_t from, int nr_threads)
{
	double *clocks = rot_calloc(samples->nr + 1, sizeof(*clocks)), hz;

	for (size_t i = 0; i < samples->nr; i++)
		clocks[i] = samples->per_second[i] / nr_threads / samples->per_cycle[i];
	hz = peak_samples_estimate(samples, clocks, from, samples->nr, NULL, NULL).value;
	free(clocks);
	return hz;
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

/* The samples from `from` on are reported. */
static void
add_peak(const struct hunt *hunt, size_t best, const struct measurement *measurement,
	 const struct peak_samples *samples, size_t from)
{
	const struct planned_ceiling *ceiling = hunt->ceiling;
	struct peak_list *list = hunt->of->list;
	struct peak *peak;

	list->peaks = rot_realloc(list->peaks, list->nr + 1, sizeof(*list->peaks));
	peak = &list->peaks[list->nr++];
	*peak = (struct peak){
		.kind = kind_of(ceiling),
		.name = rot_strdup(ceiling->name),
		.operation = rot_strdup(ceiling->operation),
		.border = rot_strdup(ceiling->border),
		.access = rot_strdup(ceiling->access),
		.instruction_set = rot_strdup(ceiling->instruction_set),
		.nr_threads = (int)measurement_nr_workloads(measurement),
		.mode = rot_strdup(""),
		.per_cycle = estimate(hunt, samples, samples->per_cycle, from),
		.per_second = estimate(hunt, samples, samples->per_second, from),
		.per_tsc_cycle = estimate(hunt, samples, samples->per_tsc, from),
		.clock_source = rot_strdup(strcmp(samples->clock_kind, "measured") == 0 ? "counted" : "probe"),
		.search = rot_strdup(hunt->of->strategy->name),
		.found_at = (int64_t)time(NULL),
		.limit_per_cycle = NAN,
		.limit_source = rot_strdup(""),
		.remark = rot_strdup(hunt->was_cut_short ? "the search ended early: its time was up" : ""),
	};
	peak->clock_hz = clock_hz(samples, from, peak->nr_threads);
	peak_samples_estimate(samples, samples->per_cycle, from, samples->nr, &peak->nr_samples, &peak->nr_tainted);
	set_variant(peak, hunt, best, measurement);
	if (peak->nr_threads == 1)
		set_landscape(&peak->landscape, hunt);
}

static int
measure_at(const struct hunt *hunt, size_t index, size_t nr_threads, int nr_runs, struct measurement **measurement,
	   struct peak_samples *samples, struct rot_error *err)
{
	const struct hunting *hunting = hunt->of;
	struct measurement *on_one;
	struct peak_work work;
	double of_thread;

	*measurement = NULL;
	if (xml_plan_ceiling_variant(hunting->controller, hunt->ceiling, search_at(hunt->search, index)->coordinates,
				     &on_one, &of_thread, err) < 0)
		return -1;
	work = work_of(hunt->ceiling, of_thread);
	*measurement = nr_threads > 1 ? measurement_on_cpus(on_one, hunting->cpus, nr_threads) : on_one;
	if (*measurement != on_one)
		rot_graph_delete(on_one);
	if (peak_samples_measure(samples, hunting->rot, *measurement, &work, nr_runs, err) == 0)
		return 0;
	rot_graph_delete(*measurement);
	*measurement = NULL;
	return -1;
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
		double score;

		if (measure_at(hunt, finalists[i], 1, runs->search + runs->choose, &measurement, &samples, err) < 0)
			return -1;
		score = peak_samples_score(&samples, 0, samples.nr);
		if (isnan(best_score) || score > best_score) {
			best_score = score;
			*best = finalists[i];
		}
		peak_samples_clear(&samples);
		rot_graph_delete(measurement);
	}
	return 0;
}

static int
hunt_finish(const struct hunt *hunt, struct rot_error *err)
{
	const struct nr_runs *runs = &hunt->of->strategy->runs;
	const struct peaks_options *options = hunt->of->options;
	size_t best = 0;

	if (choose(hunt, &best, err) < 0)
		return -1;
	for (size_t i = 0; i < options->nr_threads; i++) {
		const size_t nr_threads = (size_t)options->threads[i];
		/* Nothing was chosen by runs on several threads. */
		const int not_reported = nr_threads == 1 ? runs->search + runs->choose : 0;
		struct measurement *measurement;
		struct peak_samples samples;

		if (measure_at(hunt, best, nr_threads, not_reported + runs->report, &measurement, &samples, err) < 0)
			return -1;
		add_peak(hunt, best, measurement, &samples, (size_t)not_reported);
		peak_samples_clear(&samples);
		rot_graph_delete(measurement);
	}
	return 0;
}

/* ---- all of them ---- */

static int
hunt_group(struct hunting *hunting, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	struct hunt *hunts = rot_calloc(nr + 1, sizeof(*hunts));
	size_t nr_begun = 0;
	int rc = 0, nr_measured = 1;

	while (nr_begun < nr && (rc = hunt_begin(&hunts[nr_begun], hunting, ceilings[nr_begun], err)) == 0)
		nr_begun++;
	while (rc == 0 && nr_measured > 0)
		nr_measured = search_once(hunting, hunts, nr_begun);
	for (size_t i = 0; rc == 0 && nr_measured == 0 && i < nr_begun; i++) {
		struct rot_error why = {0};

		progress_point();
		if (hunt_finish(&hunts[i], &why) < 0 && !rot_interrupted())
			rot_warning("the peak '%s' is left out: %s", ceilings[i]->name, why.text);
		if (rot_interrupted())
			nr_measured = -1;
	}
	for (size_t i = 0; i < nr_begun; i++)
		search_delete(hunts[i].search);
	free(hunts);
	return nr_measured < 0 ? rot_error_set(err, 0, "interrupted") : rc;
}

/* In groups; each gets its share of the time that is left. */
static int
hunt_all(struct hunting *hunting, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	const size_t nr_together = hunting->options->strategy == SEARCH_QUICK ? NR_TOGETHER : 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i += nr_together) {
		const size_t nr_now = nr - i < nr_together ? nr - i : nr_together;
		const double now = clock_now_s();

		hunting->deadline_now_s = now + fmax(0, hunting->deadline_s - now) * (double)nr_now / (double)(nr - i);
		rc = hunt_group(hunting, ceilings + i, nr_now, err);
	}
	return rc;
}

static int
hunt(struct hunting *hunting, struct rot_error *err)
{
	const struct xml_controller *controller = hunting->controller;
	const struct planned_ceiling **wanted =
		rot_calloc(controller->nr_ceilings + 1, sizeof(struct planned_ceiling *));
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		if (is_wanted(&controller->ceilings[i], hunting->options))
			wanted[nr++] = &controller->ceilings[i];
	if (nr == 0) {
		rc = rot_error_set(err, 0, "no peak has all these words");
		rot_error_hint(err,
			       "words are looked for in names, operations, borders, accesses and instruction sets");
	} else {
		progress_begin(nr, configuration_bool(hunting->rot->configuration, "quiet"));
		rc = hunt_all(hunting, wanted, nr, err);
		progress_end();
	}
	free(wanted);
	return rc;
}

int
peaks_find(struct rot *rot, const struct peaks_options *options, struct peak_list *list, struct rot_error *err)
{
	struct hunting hunting = {
		.rot = rot,
		.options = options,
		.strategy = &strategies[options->strategy],
		.list = list,
		.deadline_s = options->time_limit_s > 0 ? clock_now_s() + options->time_limit_s : INFINITY,
		.controller = xml_controller_open_default_peaks(rot, err),
	};
	int rc = -1;

	hunting.nr_cpus = allowed_cpus(&hunting.cpus);
	for (size_t i = 0; hunting.controller && i < options->nr_threads; i++)
		if (options->threads[i] < 1 || (size_t)options->threads[i] > hunting.nr_cpus) {
			rot_error_set(err, 0, "%d threads: this process may run on %zu CPUs", options->threads[i],
				      hunting.nr_cpus);
			goto out;
		}
	if (hunting.controller)
		rc = hunt(&hunting, err);
out:
	xml_controller_close(hunting.controller);
	free(hunting.cpus);
	return rc;
}

int
peaks_max_threads(void)
{
	int *cpus;
	size_t nr = allowed_cpus(&cpus);

	free(cpus);
	return (int)nr;
}
