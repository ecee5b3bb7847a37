/* SPDX-License-Identifier: MIT */
/* The search of each ceiling, the peaks that it finds, and all searches together. */
#include "roof/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/progress.h"
#include "engine/measuring.h"
#include "machine/machine.h"
#include "memory.h"
#include "planning/xml_plan.h"
#include "quantities/architecture.h"
#include "roof/levels.h"
#include "roof/modes.h"
#include "roof/peak.h"
#include "roof/peak_samples.h"
#include "rot.h"

#define NR_STARTS 5    /* as in the original tool */
#define GAIN 0.002     /* a step that betters less than 0.2 % is noise: plateaus are flat to 0.05 % per core cycle */
#define ENOUGH 0.995   /* of the limit of the documents: nothing better is to be expected */
#define MAX_BATCH 64   /* variants built before any of them is measured */
#define NR_BEST 3      /* finalists, */
#define MAX_SEEDS 3    /* and beside them */
#define NR_TOGETHER 24 /* ceilings whose few variants are built together, where each has only its seeds */

/*
 * Runs of a variant: those that the search compares, those by which the best of the finalists is chosen together with
 * them (0: the search's are enough), and those that are reported: the winner of the former owes a part of its victory
 * to luck, which the latter do not share. 11 undisturbed runs have an interval of 95 %.
 */
struct nr_runs {
	int search, choose, report;
};

struct search_effort {
	const char *name; /* peak.search */
	struct nr_runs runs;
	struct mode_rounds rounds;
	double rounds_s; /* since the beginning; then only the least rounds are done */
};

/* Shared by all searches. */
struct finding {
	struct rot *rot;
	const struct peaks_options *options;
	const struct search_effort *effort;
	struct xml_controller *controller;
	struct peak_list *list;
	struct modes modes;
	struct architecture *limits; /* NULL: nothing is known */
	int *cpus;
	size_t nr_cpus;
	double deadline_s;        /* of all searches */
	double deadline_now_s;    /* of the ceilings that are looked at now */
	double rounds_deadline_s; /* of the rounds beyond the least */
};

struct ceiling_search {
	struct finding *of;
	const struct planned_ceiling *ceiling;
	struct optimiser *optimiser;
	bool is_begun; /* some variant was measured */
	bool was_cut_short;
	struct rot_error why; /* the last variant could not be measured */
};

/* A variant that is measured next. */
struct variant {
	struct ceiling_search *search;
	size_t index; /* of the optimiser */
	struct measurement *measurement;
	double work;
};

static const struct search_effort efforts[] = {
	[SEARCH_QUICK] = {"quick", {4, 0, 12}, {.least = 2, .most = 4, .processes = 8, .runs = 7}, 28},
	[SEARCH_FAST] = {"full", {5, 8, 16}, {.least = 4, .most = 16, .processes = 24, .runs = 7}, 540},
	[SEARCH_GRID] = {"grid", {5, 8, 16}, {.least = 4, .most = 16, .processes = 24, .runs = 7}, INFINITY},
};

static enum peak_kind
ceiling_kind(const struct planned_ceiling *ceiling)
{
	return ceiling->operation ? PEAK_PERFORMANCE : ceiling->is_latency ? PEAK_LATENCY : PEAK_BANDWIDTH;
}

/* ---- the search of one ceiling ---- */

/* A variant is not valid if the kernel's checks refuse it. */
static bool
is_valid_variant(void *context, const int *coordinates)
{
	struct ceiling_search *search = context;
	autograph struct measurement *measurement = NULL;
	struct rot_error why = {0};
	double work;

	return xml_plan_ceiling_variant(search->of->controller, search->ceiling, coordinates, &measurement, &work,
					&why) == 0;
}

/* 0: not known. Peaks that are a time have no limit, as less is better. */
static double
limit_of(const struct finding *finding, const struct planned_ceiling *ceiling)
{
	const struct peak peak = {
		.kind = ceiling_kind(ceiling),
		.operation = ceiling->operation,
		.border = ceiling->border,
		.access = ceiling->access,
		.instruction_set = ceiling->instruction_set,
	};
	const double limit =
		finding->limits ? peak_limit(&peak, finding->limits, (int)finding->rot->machine->cpu_model) : NAN;

	return isnan(limit) ? 0 : limit;
}

/* Delete search->optimiser. */
static int
ceiling_search_begin(struct ceiling_search *search, struct finding *finding, const struct planned_ceiling *ceiling,
		     struct rot_error *err)
{
	autofree struct optimiser_axis *axes = rot_calloc(ceiling->nr_axes + 1, sizeof(*axes));
	const struct optimiser_space space = {
		.axes = axes, .nr_axes = ceiling->nr_axes, .is_valid = is_valid_variant, .context = search};
	const struct optimiser_options options = {
		.strategy = finding->options->strategy,
		.seeds = (const int *const *)ceiling->seeds,
		.nr_seeds = ceiling->nr_seeds,
		.nr_starts = NR_STARTS,
		.max_batch = MAX_BATCH,
		.enough = ENOUGH * limit_of(finding, ceiling),
		.gain = GAIN,
	};

	for (size_t i = 0; i < ceiling->nr_axes; i++)
		axes[i] = (struct optimiser_axis){ceiling->axes[i].values, ceiling->axes[i].nr_values};
	*search = (struct ceiling_search){.of = finding, .ceiling = ceiling};
	search->optimiser = optimiser_new(&space, &options);
	if (search->optimiser)
		return 0;
	return rot_error_set(err, 0, "the ceiling '%s' has more than %d variants", ceiling->name, OPTIMISER_MAX_SPACE);
}

/* Adds the variants of the next batch, none when the search has ended. Delete their measurements. */
static void
ceiling_search_next(struct ceiling_search *search, struct variant **variants, size_t *nr)
{
	const size_t *batch;
	size_t nr_batch = 0;

	search->was_cut_short = search->was_cut_short || (optimiser_nr_points(search->optimiser) > 0 &&
							  clock_now_s() > search->of->deadline_now_s);
	if (!search->was_cut_short)
		nr_batch = optimiser_next(search->optimiser, &batch);
	*variants = rot_realloc(*variants, *nr + nr_batch + 1, sizeof(**variants));
	for (size_t i = 0; i < nr_batch; i++) {
		struct variant *variant = &(*variants)[*nr];

		*variant = (struct variant){.search = search, .index = batch[i]};
		if (xml_plan_ceiling_variant(search->of->controller, search->ceiling,
					     optimiser_at(search->optimiser, batch[i])->coordinates,
					     &variant->measurement, &variant->work, &search->why) == 0)
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
has_no_choice(const struct ceiling_search *search)
{
	return optimiser_nr_points(search->optimiser) == 1 &&
	       (search->of->options->strategy == SEARCH_QUICK || search->ceiling->nr_axes == 0);
}

/* Tells the optimiser. -1: it could not be measured; search->why says why. */
static int
variant_measure(struct variant *variant)
{
	struct ceiling_search *search = variant->search;
	const struct nr_runs *runs = &search->of->effort->runs;
	const struct peak_work work = work_of(search->ceiling, variant->work);
	const int nr_runs = has_no_choice(search) ? runs->report : runs->search;
	struct peak_samples samples;

	if (!search->is_begun)
		progress_point();
	search->is_begun = true;
	if (peak_samples_measure(&samples, search->of->rot, variant->measurement, &work, nr_runs, true, &search->why) <
	    0)
		return -1;
	optimiser_tell(search->optimiser, variant->index, peak_samples_score(&samples, 0, samples.nr));
	peak_samples_clear(&samples);
	return 0;
}

/* ---- the peak of one ceiling ---- */

/* The points that were measured on one thread. */
static void
set_landscape(struct pool *pool, struct peak_landscape *landscape, const struct ceiling_search *search)
{
	const size_t nr_axes = search->ceiling->nr_axes;

	landscape->nr_axes = nr_axes;
	landscape->axes = pool_calloc(pool, nr_axes, sizeof(*landscape->axes));
	for (size_t i = 0; i < nr_axes; i++)
		landscape->axes[i] = pool_strdup(pool, search->ceiling->axes[i].name);
	landscape->nr_points = nr_axes ? optimiser_nr_points(search->optimiser) : 0;
	landscape->points = pool_calloc(pool, landscape->nr_points, sizeof(*landscape->points));
	for (size_t i = 0; i < landscape->nr_points; i++) {
		const struct optimiser_point *found = optimiser_at(search->optimiser, i);
		struct peak_point *point = &landscape->points[i];

		point->per_cycle = search->ceiling->is_latency ? 1 / found->value : found->value;
		point->coordinates = pool_copy(pool, found->coordinates, nr_axes, sizeof(*point->coordinates));
	}
}

static void
set_variant(struct pool *pool, struct peak *peak, const struct ceiling_search *search, size_t best,
	    const struct measurement *measurement)
{
	const struct kernel_base *kernel = measurement_workloads_at(measurement, 0)->kernel;
	const int *coordinates = optimiser_at(search->optimiser, best)->coordinates;
	double number;

	peak->nr_coordinates = search->ceiling->nr_axes;
	peak->variant = pool_calloc(pool, peak->nr_coordinates, sizeof(*peak->variant));
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		peak->variant[i] =
			(struct peak_coordinate){pool_strdup(pool, search->ceiling->axes[i].name), coordinates[i]};
	if (rot_entity_number(kernel, "bufferSize", &number))
		peak->buffer_bytes = (size_t)number;
}

/* Its place in the list, without what was measured. */
static size_t
add_peak(const struct ceiling_search *search, size_t best, const struct measurement *measurement)
{
	const struct planned_ceiling *ceiling = search->ceiling;
	struct peak_list *list = search->of->list;
	struct pool *pool = &list->pool;
	struct peak *peak;

	list->peaks = pool_grow(pool, list->peaks, list->nr, sizeof(*list->peaks));
	peak = &list->peaks[list->nr++];
	*peak = (struct peak){
		.kind = ceiling_kind(ceiling),
		.name = pool_strdup(pool, ceiling->name),
		.operation = pool_strdup(pool, ceiling->operation),
		.border = pool_strdup(pool, ceiling->border),
		.access = pool_strdup(pool, ceiling->access),
		.instruction_set = pool_strdup(pool, ceiling->instruction_set),
		.nr_threads = (int)measurement_nr_workloads(measurement),
		.mode = "",
		.clock_source = "",
		.search = search->of->effort->name,
		.found_at = (int64_t)time(NULL),
		.limit_per_cycle = NAN,
		.limit_source = "",
		.remark = search->was_cut_short ? "the search ended early: its time was up" : "",
	};
	set_variant(pool, peak, search, best, measurement);
	if (peak->nr_threads == 1)
		set_landscape(pool, &peak->landscape, search);
	return list->nr - 1;
}

/* The variant on that many threads; delete the measurement. */
static int
plan_at(const struct ceiling_search *search, size_t index, size_t nr_threads, struct measurement **measurement,
	struct peak_work *work, struct rot_error *err)
{
	const struct finding *finding = search->of;
	autograph struct measurement *on_one = NULL;
	double of_thread;

	if (xml_plan_ceiling_variant(finding->controller, search->ceiling,
				     optimiser_at(search->optimiser, index)->coordinates, &on_one, &of_thread, err) < 0)
		return -1;
	*work = work_of(search->ceiling, of_thread);
	*measurement = nr_threads > 1 ? measurement_on_cpus(on_one, finding->cpus, nr_threads) : rot_keep(&on_one);
	return 0;
}

/*
 * The best, and the first that were asked for, which are the seeds, as far as they are valid: what was good when the
 * machine was quiet must not lose since it met a bad moment. Gives how many.
 */
static size_t
find_finalists(const struct ceiling_search *search, size_t finalists[NR_BEST + MAX_SEEDS])
{
	const size_t nr_points = optimiser_nr_points(search->optimiser), nr_seeds = search->ceiling->nr_seeds;
	size_t nr = optimiser_best(search->optimiser, finalists, NR_BEST);

	for (size_t i = 0; i < nr_points && i < nr_seeds && i < MAX_SEEDS; i++) {
		bool is_new = !isnan(optimiser_at(search->optimiser, i)->value);

		for (size_t k = 0; k < nr; k++)
			is_new = is_new && finalists[k] != i;
		if (is_new)
			finalists[nr++] = i;
	}
	return nr;
}

/* By so many runs on one thread, of which some are in the cache. */
static int
score(const struct ceiling_search *search, size_t index, int nr_runs, double *score, struct rot_error *err)
{
	autograph struct measurement *measurement = NULL;
	struct peak_samples samples;
	struct peak_work work;

	if (plan_at(search, index, 1, &measurement, &work, err) < 0 ||
	    peak_samples_measure(&samples, search->of->rot, measurement, &work, nr_runs, true, err) < 0)
		return -1;
	*score = peak_samples_score(&samples, 0, samples.nr);
	peak_samples_clear(&samples);
	return 0;
}

/*
 * The best of the finalists, by the runs of the search and those for choosing. They are measured in turns, so that what
 * disturbs the machine for a second disturbs all.
 */
static int
choose_best(const struct ceiling_search *search, size_t *best, struct rot_error *err)
{
	const struct nr_runs *runs = &search->of->effort->runs;
	size_t finalists[NR_BEST + MAX_SEEDS], nr = find_finalists(search, finalists), highest = 0;
	/* More where processes differ by more than variants do. */
	const int turns = nr > 1 && runs->choose > 0
				  ? (modes_of(&search->of->modes, search->ceiling->border, 1) == MODES_NONE ? 2 : 4)
				  : 0;
	double scores[NR_BEST + MAX_SEEDS];

	if (nr == 0) {
		*err = search->why;
		return *err->text ? -1 : rot_error_set(err, 0, "none of its variants is valid here");
	}
	for (int turn = 1; turn <= turns; turn++)
		for (size_t i = 0; i < nr; i++)
			if (score(search, finalists[i], runs->search + runs->choose * turn / turns, &scores[i], err) <
			    0)
				return -1;
	for (size_t i = 1; turns > 0 && i < nr; i++)
		if (isnan(scores[highest]) || scores[i] > scores[highest])
			highest = i;
	*best = finalists[highest];
	return 0;
}

/*
 * How many runs of the variant the search has looked at. They are in the cache: disturbed runs were
 * repeated, so that there may be more than were asked for. Nothing looked at runs on several threads.
 */
static int
count_seen(const struct ceiling_search *search, const struct measurement *measurement, const struct peak_work *work,
	   size_t *nr, struct rot_error *err)
{
	const struct nr_runs *runs = &search->of->effort->runs;
	struct peak_samples samples;
	int rc;

	*nr = 0;
	if (measurement_nr_workloads(measurement) > 1)
		return 0;
	rc = peak_samples_measure(&samples, search->of->rot, measurement, work,
				  has_no_choice(search) ? runs->report : runs->search + runs->choose, true, err);
	if (rc == 0)
		*nr = samples.nr;
	peak_samples_clear(&samples);
	return rc;
}

/* From that run on. Takes the measurement over if the peak stayed notably below what the documents allow. */
static int
report_on(const struct ceiling_search *search, size_t best, struct measurement **measurement,
	  const struct peak_work *work, size_t from, struct rot_error *err)
{
	const size_t nr_runs = (size_t)search->of->effort->runs.report;
	struct peak_samples samples;
	size_t place;

	if (peak_samples_measure(&samples, search->of->rot, *measurement, work, (int)(from + nr_runs), true, err) < 0)
		return -1;
	place = add_peak(search, best, *measurement);
	peak_samples_fill(&search->of->list->pool, &samples, from, &search->of->list->peaks[place]);
	peak_samples_clear(&samples);
	if (search->of->list->peaks[place].per_cycle.value <
	    (1 - LIMIT_NOTABLE) * limit_of(search->of, search->ceiling)) {
		modes_add(&search->of->modes, place, rot_keep(measurement), work, from, nr_runs,
			  limit_of(search->of, search->ceiling));
	}
	return 0;
}

/* The best variant on that many threads. */
static int
report(const struct ceiling_search *search, size_t best, size_t nr_threads, struct rot_error *err)
{
	autograph struct measurement *measurement = NULL;
	struct peak_work work;
	size_t nr_seen = 0, place;
	bool has_modes;

	if (plan_at(search, best, nr_threads, &measurement, &work, err) < 0)
		return -1;
	has_modes = modes_of(&search->of->modes, work.border, nr_threads) != MODES_NONE;
	/* Where nothing was chosen, those runs are as good as others; but they are of one process. */
	if ((has_modes || !has_no_choice(search)) && count_seen(search, measurement, &work, &nr_seen, err) < 0)
		return -1;
	if (!has_modes)
		return report_on(search, best, &measurement, &work, nr_seen, err);
	place = add_peak(search, best, measurement);
	modes_add(&search->of->modes, place, rot_keep(&measurement), &work, nr_seen, 0,
		  limit_of(search->of, search->ceiling));
	return 0;
}

static int
report_all(const struct ceiling_search *search, size_t variant, struct rot_error *err)
{
	const struct peaks_options *options = search->of->options;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < options->nr_threads; i++)
		if (options->threads[i] == 1 || !search->ceiling->is_of_one_thread)
			rc = report(search, variant, (size_t)options->threads[i], err);
	return rc;
}

/* The best of the points that were asked for first; nr_points: there are no seeds. */
static size_t
find_best_seed(const struct ceiling_search *search)
{
	const size_t nr_points = optimiser_nr_points(search->optimiser), nr_seeds = search->ceiling->nr_seeds;
	size_t best = nr_points;

	for (size_t i = 0; i < nr_points && i < nr_seeds; i++) {
		const double value = optimiser_at(search->optimiser, i)->value;

		if (!isnan(value) && (best == nr_points || value > optimiser_at(search->optimiser, best)->value))
			best = i;
	}
	return best;
}

/* Did the peak at that place stay below its limit, or of a bandwidth without one: may it be? Not known yet counts. */
static bool
may_be_too_low(const struct ceiling_search *search, size_t place)
{
	const double limit = limit_of(search->of, search->ceiling);

	return limit > 0 ? !(search->of->list->peaks[place].per_cycle.value >= (1 - LIMIT_NOTABLE) * limit)
			 : search->ceiling->border != NULL;
}

/*
 * A variant that was chosen in a bad moment may be worse than one that was known to be good: where that is possible the
 * best seed is reported as well, in the same rounds, and the better of both is the peak (peak_list_keep_best).
 */
static int
ceiling_search_finish(const struct ceiling_search *search, struct rot_error *err)
{
	const size_t first = search->of->list->nr;
	size_t best = 0, seed;

	if (choose_best(search, &best, err) < 0 || report_all(search, best, err) < 0)
		return -1;
	seed = find_best_seed(search);
	if (best < search->ceiling->nr_seeds || seed == optimiser_nr_points(search->optimiser) ||
	    search->of->list->nr == first || !may_be_too_low(search, first))
		return 0;
	return report_all(search, seed, err);
}

/* ---- which ceilings ---- */

/* Is one of the parts of the word, between commas, in the ceiling? */
static bool
has_part(const struct planned_ceiling *ceiling, const char *word)
{
	const char *const texts[] = {ceiling->name, ceiling->operation, ceiling->access, ceiling->instruction_set,
				     peak_kind_name(ceiling_kind(ceiling))};
	autofree char *parts = rot_strdup(word);
	char *rest = NULL;
	bool is_found = false;

	for (char *part = strtok_r(parts, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
		/* A border is meant as a whole: "l1" is not "l1l2". */
		is_found = is_found || (ceiling->border && strcasecmp(ceiling->border, part) == 0);
		for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
			is_found = is_found || (texts[i] && strcasestr(texts[i], part));
	}
	return is_found;
}

static bool
is_wanted(const struct planned_ceiling *ceiling, const struct peaks_options *options)
{
	const bool is_chosen = options->nr_words + options->nr_wishes > 0;
	bool is_wished = options->nr_wishes == 0;

	if (ceiling->is_rare && options->strategy == SEARCH_QUICK && !is_chosen)
		return false;
	for (size_t i = 0; i < options->nr_wishes && !is_wished; i++)
		is_wished = peak_wish_is(&options->wishes[i], ceiling->operation, ceiling->border, ceiling->access,
					 ceiling->instruction_set);
	for (size_t i = 0; i < options->nr_words && is_wished; i++)
		is_wished = has_part(ceiling, options->words[i]);
	return is_wished;
}

/* ---- all of them ---- */

/* One batch of each. Gives the number of variants; interrupted: -1. */
static int
search_once(struct finding *finding, struct ceiling_search *searches, size_t nr_searches)
{
	autofree struct variant *variants = NULL;
	autofree struct measurement **measurements = NULL;
	struct rot_error ignored = {0};
	size_t nr = 0;

	for (size_t i = 0; i < nr_searches; i++)
		ceiling_search_next(&searches[i], &variants, &nr);
	/* They are built side by side. Measuring tells which cannot be built. */
	measurements = rot_calloc(nr + 1, sizeof(*measurements));
	for (size_t i = 0; i < nr; i++)
		measurements[i] = variants[i].measurement;
	measuring_prepare(finding->rot, measurements, nr, &ignored);
	for (size_t i = 0; i < nr; i++) {
		if (!rot_interrupted())
			variant_measure(&variants[i]);
		rot_graph_delete(variants[i].measurement);
	}
	return rot_interrupted() ? -1 : (int)nr;
}

static int
search_group(struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	autofree struct ceiling_search *searches = rot_calloc(nr + 1, sizeof(*searches));
	size_t nr_begun = 0;
	int rc = 0, nr_measured = 1;

	while (nr_begun < nr && (rc = ceiling_search_begin(&searches[nr_begun], finding, ceilings[nr_begun], err)) == 0)
		nr_begun++;
	while (rc == 0 && nr_measured > 0)
		nr_measured = search_once(finding, searches, nr_begun);
	for (size_t i = 0; rc == 0 && nr_measured == 0 && i < nr_begun; i++) {
		struct rot_error why = {0};

		progress_point();
		if (ceiling_search_finish(&searches[i], &why) < 0 && !rot_interrupted())
			rot_warning("the peak '%s' is left out: %s", ceilings[i]->name, why.text);
		if (rot_interrupted())
			nr_measured = -1;
	}
	for (size_t i = 0; i < nr_begun; i++)
		optimiser_delete(searches[i].optimiser);
	return nr_measured < 0 ? rot_error_set(err, 0, "interrupted") : rc;
}

/* In groups; each gets its share of the time that is left. */
static int
search_all(struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	const size_t nr_together = finding->options->strategy == SEARCH_QUICK ? NR_TOGETHER : 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i += nr_together) {
		const size_t nr_now = nr - i < nr_together ? nr - i : nr_together;
		const double now = clock_now_s();

		finding->deadline_now_s = now + fmax(0, finding->deadline_s - now) * (double)nr_now / (double)(nr - i);
		rc = search_group(finding, ceilings + i, nr_now, err);
	}
	return rc;
}

/*
 * The progress line counts two points a ceiling: one to search it, and one to measure what was found. The
 * least rounds of peaks that have modes (modes.h) come behind these, and count as so many of them as they have runs.
 */
static size_t
nr_points(const struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr)
{
	const struct peaks_options *options = finding->options;
	const struct search_effort *effort = finding->effort;
	size_t nr_runs = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < options->nr_threads; k++)
			if (modes_of(&finding->modes, ceilings[i]->border, (size_t)options->threads[k]) != MODES_NONE)
				nr_runs += (size_t)(effort->rounds.least * effort->rounds.runs);
	return 2 * nr + nr_runs / (size_t)effort->runs.report;
}

static int
find_all(struct finding *finding, struct rot_error *err)
{
	const struct xml_controller *controller = finding->controller;
	autofree const struct planned_ceiling **wanted =
		rot_calloc(controller->nr_ceilings + 1, sizeof(struct planned_ceiling *));
	struct rot_error ignored;
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		if (is_wanted(&controller->ceilings[i], finding->options))
			wanted[nr++] = &controller->ceilings[i];
	if (nr == 0) {
		rc = rot_error_set(err, 0,
				   finding->options->nr_words ? "no peak has all these words"
							      : "no such peak is looked for");
		rot_error_hint(err,
			       "words are looked for in names, operations, borders, accesses and instruction sets");
	} else {
		progress_begin(nr_points(finding, wanted, nr),
			       configuration_bool(finding->rot->configuration, "quiet"));
		progress_until(finding->rounds_deadline_s);
		rc = search_all(finding, wanted, nr, err);
		if (modes_finish(&finding->modes, finding->rot, &finding->effort->rounds, finding->rounds_deadline_s,
				 finding->list, rc == 0 ? err : &ignored) < 0)
			rc = -1;
		peak_list_keep_best(finding->list);
		progress_end();
	}
	return rc;
}

/*
 * Footprints follow from the sizes of the caches. If a wanted ceiling is one of memory and a size is not known, it is
 * measured first, and the ceilings are planned again.
 */
static int
know_sizes(struct finding *finding, struct rot_error *err)
{
	const struct xml_controller *controller = finding->controller;
	bool is_memory_wanted = false;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		is_memory_wanted |=
			controller->ceilings[i].border && is_wanted(&controller->ceilings[i], finding->options);
	if (!is_memory_wanted || levels_are_known(finding->rot->machine))
		return 0;
	if (levels_ensure(finding->rot, err) < 0)
		return -1;
	xml_controller_close(finding->controller);
	finding->controller = xml_controller_open_default_peaks(finding->rot, err);
	return finding->controller ? 0 : -1;
}

int
peaks_find(struct rot *rot, const struct peaks_options *options, struct peak_list *list, struct rot_error *err)
{
	struct finding finding = {
		.rot = rot,
		.options = options,
		.effort = &efforts[options->strategy],
		.list = list,
		.deadline_s = options->time_limit_s > 0 ? clock_now_s() + options->time_limit_s : INFINITY,
		.rounds_deadline_s = clock_now_s() + efforts[options->strategy].rounds_s,
		.controller = xml_controller_open_default_peaks(rot, err),
		.limits = limits_load(rot, NULL),
	};
	bool has_cpus = true;
	int rc = -1;

	finding.nr_cpus = allowed_cpus(&finding.cpus, &finding.modes.nr_cores);
	for (size_t i = 0; finding.controller && has_cpus && i < options->nr_threads; i++)
		if (options->threads[i] < 1 || (size_t)options->threads[i] > finding.nr_cpus) {
			rot_error_set(err, 0, "%d threads: this process may run on %zu CPUs", options->threads[i],
				      finding.nr_cpus);
			has_cpus = false;
		}
	if (finding.controller && has_cpus && know_sizes(&finding, err) == 0)
		rc = find_all(&finding, err);
	modes_clear(&finding.modes);
	architecture_delete(finding.limits);
	xml_controller_close(finding.controller);
	free(finding.cpus);
	return rc;
}

int
peaks_max_threads(void)
{
	autofree int *cpus = NULL;
	size_t nr = allowed_cpus(&cpus, NULL);

	return (int)nr;
}
