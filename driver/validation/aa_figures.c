/* SPDX-License-Identifier: MIT */
/* What comparisons of equal work say of a quantity. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/quantity.h"
#include "stored/stored_diff.h"
#include "validation/aa.h"

/* Of fewer, the 95th percentile is the largest. */
#define LEAST_FOR_WIDENING 20
/* Deals of runs to measurements; their mean is known to a few percent. */
#define NR_DEALS 20
/* Of a normal distribution, the distance of the quartiles in standard deviations. */
#define QUARTILES_OF_NORMAL 1.3489795

/* ---- one comparison ---- */

double
aa_needed(const struct summary *ratio)
{
	const double off = fabs(log(ratio->value)), reach = ratio->value > 1 ? log(ratio->value) - log(ratio->low)
									     : log(ratio->high) - log(ratio->value);

	if (isnan(ratio->low) || isnan(ratio->value))
		return NAN;
	return off > 0 ? off / reach : 0;
}

/* The undisturbed runs, or all if every one is disturbed: as those the summary is of. */
static struct aa_measurement
measurement_of(const struct quantity_value *value)
{
	struct aa_measurement measurement = {.samples =
						     rot_calloc(value->nr_samples + 1, sizeof(*measurement.samples))};
	const bool use_all = value->summary.tainted >= value->nr_samples;

	for (size_t i = 0; i < value->nr_samples; i++) {
		if (use_all || !value->taints[i])
			measurement.samples[measurement.nr++] = value->samples[i];
	}
	return measurement;
}

static bool
is_constant(const struct aa_measurement *measurement, double value)
{
	for (size_t i = 0; i < measurement->nr; i++) {
		if (measurement->samples[i] != value)
			return false;
	}
	return true;
}

static void
add_measurement(struct aa_subject *subject, const struct quantity_value *value)
{
	struct aa_measurement *measurement;

	subject->measurements =
		rot_realloc(subject->measurements, subject->nr_measurements + 1, sizeof(*subject->measurements));
	measurement = &subject->measurements[subject->nr_measurements++];
	*measurement = measurement_of(value);
	if (subject->nr_measurements == 1)
		subject->is_exact = true;
	if (subject->measurements[0].nr == 0 || !is_constant(measurement, subject->measurements[0].samples[0]))
		subject->is_exact = false;
}

void
aa_subject_add(struct aa_subject *subject, const struct quantity_value *first, const struct quantity_value *second)
{
	json_t *a = quantity_value_json(first), *b = quantity_value_json(second);
	const struct summary ratio = diff_shift_of(a, b, first, second).ratio;
	const double needed = aa_needed(&ratio);
	char *text;
	enum diff_verdict verdict = diff_verdict_of(first->name, &ratio, &text);

	add_measurement(subject, first);
	add_measurement(subject, second);
	subject->nr_unknown += verdict == DIFF_UNKNOWN;
	subject->nr_different += verdict != DIFF_UNKNOWN && verdict != DIFF_NONE;
	subject->needed = rot_realloc(subject->needed, subject->nr_needed + 1, sizeof(*subject->needed));
	if (!isnan(needed))
		subject->needed[subject->nr_needed++] = needed;
	free(text);
	json_decref(a);
	json_decref(b);
}

/* ---- spreads ---- */

static double
relative_spread(const double *values, size_t n)
{
	const double quartiles = statistics_percentile(values, n, 75) - statistics_percentile(values, n, 25);

	return quartiles == 0 ? 0 : quartiles / QUARTILES_OF_NORMAL / fabs(statistics_percentile(values, n, 50));
}

static double
spread_within(const struct aa_subject *subject)
{
	double *spreads = rot_calloc(subject->nr_measurements + 1, sizeof(*spreads)), spread;
	size_t nr = 0;

	for (size_t i = 0; i < subject->nr_measurements; i++) {
		if (subject->measurements[i].nr > 1)
			spreads[nr++] = relative_spread(subject->measurements[i].samples, subject->measurements[i].nr);
	}
	spread = statistics_percentile(spreads, nr, 50);
	free(spreads);
	return spread;
}

/* Of the medians of measurements, whose samples lie one after the other in pool. */
static double
spread_of_medians(const struct aa_subject *subject, const double *pool)
{
	double *medians = rot_calloc(subject->nr_measurements + 1, sizeof(*medians)), spread;
	size_t nr = 0;

	for (size_t i = 0; i < subject->nr_measurements; pool += subject->measurements[i++].nr) {
		if (subject->measurements[i].nr > 0)
			medians[nr++] = statistics_percentile(pool, subject->measurements[i].nr, 50);
	}
	spread = nr > 1 ? relative_spread(medians, nr) : NAN;
	free(medians);
	return spread;
}

/* Fisher and Yates. */
static void
deal(double *pool, size_t nr, unsigned short seed[3])
{
	for (size_t i = nr; i > 1; i--) {
		size_t k = (size_t)(erand48(seed) * (double)i);
		double other = pool[k];

		pool[k] = pool[i - 1];
		pool[i - 1] = other;
	}
}

static void
spreads_between(const struct aa_subject *subject, double *between, double *by_chance)
{
	unsigned short seed[3] = {1, 2, 3};
	size_t nr = 0, at = 0;
	double *pool;

	for (size_t i = 0; i < subject->nr_measurements; i++)
		nr += subject->measurements[i].nr;
	pool = rot_calloc(nr + 1, sizeof(*pool));
	for (size_t i = 0; i < subject->nr_measurements; at += subject->measurements[i++].nr)
		memcpy(&pool[at], subject->measurements[i].samples, subject->measurements[i].nr * sizeof(*pool));
	*between = spread_of_medians(subject, pool);
	*by_chance = 0;
	for (int i = 0; i < NR_DEALS; i++) {
		deal(pool, nr, seed);
		*by_chance += spread_of_medians(subject, pool) / NR_DEALS;
	}
	free(pool);
}

/* ---- a quantity ---- */

/* Of those subjects that are the quantity's; of three spreads each, those that are not exact. */
struct gathered {
	double *needed;
	size_t nr_needed;
	double *within, *between, *by_chance;
	size_t nr_spreads;
};

static void
gather(struct gathered *gathered, struct aa_row *row, const struct aa_subject *subject)
{
	const size_t nr_needed = gathered->nr_needed + subject->nr_needed, k = gathered->nr_spreads;

	row->nr_compared += subject->nr_measurements / 2 - subject->nr_unknown;
	row->nr_different += subject->nr_different;
	row->nr_unknown += subject->nr_unknown;
	gathered->needed = rot_realloc(gathered->needed, nr_needed + 1, sizeof(*gathered->needed));
	if (subject->nr_needed > 0)
		memcpy(&gathered->needed[gathered->nr_needed], subject->needed,
		       subject->nr_needed * sizeof(*gathered->needed));
	gathered->nr_needed = nr_needed;
	if (subject->is_exact)
		return;
	gathered->within[k] = spread_within(subject);
	spreads_between(subject, &gathered->between[k], &gathered->by_chance[k]);
	gathered->nr_spreads++;
}

static struct aa_row
row_of(const struct aa *aa, const char *words)
{
	struct aa_row row = {.words = words, .rate = summary_empty()};
	struct gathered gathered = {
		.within = rot_calloc(aa->nr_subjects, sizeof(double)),
		.between = rot_calloc(aa->nr_subjects, sizeof(double)),
		.by_chance = rot_calloc(aa->nr_subjects, sizeof(double)),
	};

	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (strcmp(aa->subjects[i].words, words) == 0)
			gather(&gathered, &row, &aa->subjects[i]);
	}
	if (row.nr_compared > 0)
		row.rate = summary_share(row.nr_different, row.nr_compared);
	row.widening = gathered.nr_needed >= LEAST_FOR_WIDENING
			       ? statistics_percentile(gathered.needed, gathered.nr_needed, 95)
			       : NAN;
	row.within = statistics_percentile(gathered.within, gathered.nr_spreads, 50);
	row.between = statistics_percentile(gathered.between, gathered.nr_spreads, 50);
	row.by_chance = statistics_percentile(gathered.by_chance, gathered.nr_spreads, 50);
	free(gathered.needed);
	free(gathered.within);
	free(gathered.between);
	free(gathered.by_chance);
	return row;
}

static bool
is_known(const struct aa_row *rows, size_t nr, const char *words)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(rows[i].words, words) == 0)
			return true;
	}
	return false;
}

struct aa_row *
aa_rows(const struct aa *aa, size_t *nr)
{
	struct aa_row *rows = rot_calloc(aa->nr_subjects + 1, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (!is_known(rows, *nr, aa->subjects[i].words))
			rows[(*nr)++] = row_of(aa, aa->subjects[i].words);
	}
	return rows;
}

bool
aa_is_too_often(const struct aa_row *row)
{
	return row->nr_compared > 0 && row->rate.low > AA_NOMINAL_RATE;
}
