/* SPDX-License-Identifier: MIT */
#include "roof/peak_samples.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "memory.h"
#include "rot.h"
#include "statistics/summary.h"

/* ---- measuring ---- */

/* For repeating disturbed runs of a variant. */
#define REPEATING_S 1.0

#define MOST_PAGES 0.9

/* A median of the runs that is this much below the peak gets a remark. */
#define USUAL_NOTABLE 0.05

enum { OF_CYCLES, OF_SECONDS, OF_TSC, NR_CLOCKS };

static const char *const clocks[NR_CLOCKS] = {"coreCycles", "microSeconds", "tsc"};

static void
take_values(struct peak_samples *samples, const struct quantity_value *values, size_t nr_threads)
{
	double **const rates[NR_CLOCKS] = {&samples->per_cycle, &samples->per_second, &samples->per_tsc};

	samples->nr = values[0].nr_samples;
	samples->clock_kind = values[OF_CYCLES].kind;
	samples->is_tainted = pool_calloc(&samples->pool, samples->nr, sizeof(*samples->is_tainted));
	samples->is_left_out = pool_calloc(&samples->pool, samples->nr, sizeof(*samples->is_left_out));
	for (size_t k = 0; k < NR_CLOCKS; k++) {
		*rates[k] = pool_calloc(&samples->pool, samples->nr, sizeof(**rates[k]));
		for (size_t i = 0; i < samples->nr; i++) {
			(*rates[k])[i] = values[k].samples[i];
			samples->is_tainted[i] |= values[k].taints[i] != 0 || !isfinite(values[k].samples[i]);
		}
	}
	/* The time of several threads is that of the one that took longest; their core cycles are summed. */
	for (size_t i = 0; i < samples->nr; i++)
		samples->per_tsc[i] /= (double)nr_threads;
}

/*
 * All that tells of a buffer tells that, and something does. The kernels Memory and Chase do (kernels/pages.h): the
 * system need not give the pages that were asked for. Behind the last whole one of 2 MiB there may be small ones.
 */
static bool
lies_in_huge_pages(const json_t *facts)
{
	size_t i, nr_told = 0, nr_huge = 0;
	const json_t *fact;

	json_array_foreach(facts, i, fact) {
		const char *text = json_string_value(fact);
		long huge, all;

		nr_told += strncmp(text, "buffer ", strlen("buffer ")) == 0;
		nr_huge += strcmp(text, "buffer in pages of 2 MiB") == 0 ||
			   (sscanf(text, "buffer partly in pages of 2 MiB: %ld of %ld KiB", &huge, &all) == 2 &&
			    (double)huge >= MOST_PAGES * (double)all);
	}
	return nr_told > 0 && nr_huge == nr_told;
}

int
peak_samples_measure(struct peak_samples *samples, struct rot *rot, const struct measurement *measurement,
		     const struct peak_work *work, int nr_runs, bool repeats_disturbed, struct rot_error *err)
{
	const size_t nr_threads = measurement_nr_workloads(measurement);
	const double total = work->of_thread * (double)nr_threads;
	const struct quantity_effort effort = {.nr_runs = nr_runs, .budget_s = repeats_disturbed ? REPEATING_S : 0};
	struct quantity_request requests[NR_CLOCKS];
	struct quantity_value values[NR_CLOCKS];
	struct quantities_told told;
	int rc;

	*samples = (struct peak_samples){.nr = 0};
	for (size_t i = 0; i < NR_CLOCKS; i++)
		requests[i] = (struct quantity_request){
			.name = work->operation ? "performance" : "throughput",
			.operation = work->operation,
			/* the bytes are given: which border is asked for does not matter */
			.border = work->operation                      ? NULL
				  : strcmp(work->border, "cpuL1") == 0 ? "l1l2"
								       : work->border,
			.clock = clocks[i],
			.given_operations = work->operation ? total : 0,
			.given_bytes = work->operation ? 0 : total,
		};
	/* The user's compiler flags are for what he compares with the roof. */
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "optimization", "", NULL);
	rc = quantities_measure_with(rot, measurement, requests, NR_CLOCKS, &effort, values, &told, err);
	configuration_pop(rot->configuration);
	if (rc < 0)
		return -1;
	take_values(samples, values, nr_threads);
	samples->has_huge_pages = work->border && lies_in_huge_pages(json_object_get(told.origin, "facts"));
	quantities_told_clear(&told);
	samples->value = values[OF_CYCLES];
	for (size_t i = OF_CYCLES + 1; i < NR_CLOCKS; i++)
		quantity_value_clear(&values[i]);
	return 0;
}

void
peak_samples_clear(struct peak_samples *samples)
{
	pool_clear(&samples->pool);
	quantity_value_clear(&samples->value);
	*samples = (struct peak_samples){.nr = 0};
}

/* ---- estimates ---- */

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

struct plateau
plateau_find(const double *rates, size_t nr)
{
	const double least = fmax(PLATEAU_LEAST, PLATEAU_SHARE * (double)nr);
	struct plateau plateau = {NAN, NAN, NAN, 0};
	autofree double *sorted = rot_calloc(nr + 1, sizeof(*sorted));

	memcpy(sorted, rates, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), descending);
	for (size_t first = 0; first < nr && plateau.nr == 0; first++) {
		size_t behind = first, nr_here;

		while (behind < nr && sorted[behind] >= sorted[first] * (1 - PLATEAU_AGREEING))
			behind++;
		nr_here = behind - first;
		if ((double)nr_here >= least)
			plateau = (struct plateau){
				.low = sorted[first + nr_here - 1],
				.high = sorted[first],
				.median = statistics_percentile(sorted + first, nr_here, 50),
				.nr = nr_here,
			};
	}
	return plateau;
}

/* The runs that an estimate is made of, and the quantile that it is. */
struct selection {
	size_t *runs; /* ascending */
	size_t nr;
	double quantile;
	size_t nr_kept; /* of which they were selected */
	double usual;   /* median of these */
	bool has_plateau;
};

/* The values of the selected runs. Fresh memory. */
static double *
values_of(const struct selection *selection, const double *values)
{
	double *of = rot_calloc(selection->nr + 1, sizeof(*of));

	for (size_t i = 0; i < selection->nr; i++)
		of[i] = values[selection->runs[i]];
	return of;
}

/* Keeps the runs on the plateau of rates per core cycle, where that is higher than the upper quartile of all. */
static void
narrow_to_plateau(const struct peak_samples *samples, struct selection *selection)
{
	autofree double *rates = values_of(selection, samples->per_cycle);
	const double quartile = statistics_percentile(rates, selection->nr, 100 * PEAK_QUANTILE);
	const struct plateau plateau = plateau_find(rates, selection->nr);
	size_t nr = 0;

	selection->usual = statistics_percentile(rates, selection->nr, 50);
	selection->has_plateau = plateau.nr > 0 && plateau.median > quartile;
	selection->quantile = selection->has_plateau ? 0.5 : PEAK_QUANTILE;
	for (size_t i = 0; selection->has_plateau && i < selection->nr; i++)
		if (rates[i] >= plateau.low && rates[i] <= plateau.high)
			selection->runs[nr++] = selection->runs[i];
	selection->nr = selection->has_plateau ? nr : selection->nr;
}

static struct selection
select_runs(struct pool *pool, const struct peak_samples *samples, size_t from, size_t to)
{
	struct selection selection = {.nr = 0};

	/* Selects runs that were not disturbed; all, if all were. */
	selection.runs = pool_calloc(pool, to > from ? to - from : 0, sizeof(*selection.runs));
	for (int use_all = 0; use_all < 2 && selection.nr == 0; use_all++)
		for (size_t i = from; i < to && i < samples->nr; i++)
			if (isfinite(samples->per_cycle[i]) && !samples->is_left_out[i] &&
			    (use_all || !samples->is_tainted[i]))
				selection.runs[selection.nr++] = i;
	selection.nr_kept = selection.nr;
	narrow_to_plateau(samples, &selection);
	return selection;
}

static struct peak_estimate
estimate(const struct selection *selection, const double *values)
{
	autofree double *of = values_of(selection, values);
	struct summary summary = summary_quantile(of, selection->nr, selection->quantile);

	return (struct peak_estimate){summary.value, summary.low, summary.high};
}

double
peak_samples_score(const struct peak_samples *samples, size_t from, size_t to)
{
	autopool pool = {0};
	struct selection selection = select_runs(&pool, samples, from, to);

	return estimate(&selection, samples->per_cycle).value;
}

static double
clock_hz(const struct peak_samples *samples, const struct selection *selection, int nr_threads)
{
	autofree double *each = rot_calloc(samples->nr + 1, sizeof(*each));

	for (size_t i = 0; i < samples->nr; i++)
		each[i] = samples->per_second[i] / nr_threads / samples->per_cycle[i];
	return estimate(selection, each).value;
}

/* The median of all, not only of those that the peak is made of. */
static void
set_usual(struct pool *pool, const struct selection *selection, struct peak *peak)
{
	const bool is_latency = peak->kind == PEAK_LATENCY;
	const double rate = is_latency ? 1 / peak->per_cycle.value : peak->per_cycle.value;

	peak->usual_per_cycle = is_latency ? 1 / selection->usual : selection->usual;
	if (selection->usual < (1 - USUAL_NOTABLE) * rate)
		peak_add_remark(pool, peak,
				"half of the runs and more were notably slower, for a reason that nothing tells");
}

void
peak_samples_fill(struct pool *pool, const struct peak_samples *samples, size_t from, struct peak *peak)
{
	double *const rates[] = {samples->per_cycle, samples->per_second, samples->per_tsc};
	struct peak_estimate *const estimates[] = {&peak->per_cycle, &peak->per_second, &peak->per_tsc_cycle};
	autopool runs = {0};
	struct selection selection = select_runs(&runs, samples, from, samples->nr);
	size_t nr_undisturbed = 0;

	for (size_t i = 0; i < 3; i++) {
		struct peak_estimate e = estimate(&selection, rates[i]);

		*estimates[i] =
			peak->kind == PEAK_LATENCY ? (struct peak_estimate){1 / e.value, 1 / e.high, 1 / e.low} : e;
	}
	peak->nr_samples = selection.nr_kept;
	peak->nr_tainted = 0;
	for (size_t i = from; i < samples->nr; i++) {
		peak->nr_tainted += samples->is_tainted[i] && !samples->is_left_out[i];
		nr_undisturbed += !samples->is_tainted[i] && !samples->is_left_out[i];
	}
	set_usual(pool, &selection, peak);
	/* Disturbed runs alone give no interval. */
	for (size_t i = 0; i < 3 && nr_undisturbed == 0; i++)
		estimates[i]->low = estimates[i]->high = NAN;
	if (nr_undisturbed == 0 && !peak->remark[0])
		peak->remark = "every run was disturbed: the machine can do better";
	peak->has_huge_pages = samples->has_huge_pages;
	peak->clock_hz = clock_hz(samples, &selection, peak->nr_threads);
	peak->clock_source = strcmp(samples->clock_kind, "measured") == 0 ? "counted" : "probe";
}
