/* SPDX-License-Identifier: MIT */
#include "statistics/shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "statistics/summary.h"

#define MOST_VALUES 1000
#define MOST_FOR_EXACT 30                 /* values of both sides: beyond, the normal distribution is as good */
#define NORMAL_QUANTILE 1.959963984540054 /* at (1 + CONFIDENCE) / 2 */

/*
 * Parts of a side, in order, whose means are compared. Simulations of runs that share a slow drift, as it was seen
 * (tests/driver/statistics/test_shift.c): with five parts a little more than 5 % of equal work is called different,
 * with three the interval is a fifth wider.
 */
#define NR_STRETCHES 4
#define STUDENT_QUANTILE 2.446911851144969 /* at (1 + CONFIDENCE) / 2, of 2 * (NR_STRETCHES - 1) degrees of freedom */

/* ---- values ---- */

/* One side: values in any order. */
struct sample {
	double values[MOST_VALUES];
	size_t n;
};

struct placed {
	size_t group, at;
};

static int
compare_places(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->group > y->group) - (x->group < y->group);
}

/* The median of each group, *nr of them; NULL, and *nr as it was: fewer than 6. */
static double *
group_medians(const struct grouped *of, size_t *nr)
{
	autofree struct placed *places = rot_calloc(of->n + 1, sizeof(*places));
	autofree double *values = rot_calloc(of->n + 1, sizeof(*values));
	autofree double *medians = rot_calloc(of->n + 1, sizeof(*medians));
	size_t begin = 0, nr_groups = 0;

	for (size_t i = 0; i < of->n; i++)
		places[i] = (struct placed){of->groups[i], i};
	qsort(places, of->n, sizeof(*places), compare_places);
	for (size_t i = 0; i < of->n; i++) {
		values[i] = of->values[places[i].at];
		if (i + 1 < of->n && places[i + 1].group == places[i].group)
			continue;
		medians[nr_groups++] = statistics_percentile(&values[begin], i + 1 - begin, 50);
		begin = i + 1;
	}
	if (nr_groups < SUMMARY_LEAST)
		return NULL;
	*nr = nr_groups;
	return rot_keep(&medians);
}

static struct sample
sample_of(const struct grouped *of)
{
	size_t nr = of->n;
	autofree double *medians = of->groups ? group_medians(of, &nr) : NULL;
	const double *values = medians ? medians : of->values;
	struct sample sample = {.n = nr < MOST_VALUES ? nr : MOST_VALUES};

	for (size_t i = 0; i < sample.n; i++)
		sample.values[i] = values[i * nr / sample.n];
	return sample;
}

/* ---- ranks ---- */

/*
 * How often each sum of nr_above of the nr whole ranks comes about, if any of them is as likely to be above:
 * probabilities [total + 1], fresh memory.
 */
static double *
sum_probabilities(const size_t *ranks, size_t nr, size_t nr_above, size_t total)
{
	autofree double *ways = rot_calloc((nr_above + 1) * (total + 1), sizeof(*ways));
	double *last, all = 0;
	size_t reach = 0;

	ways[0] = 1;
	for (size_t i = 0; i < nr; i++) {
		reach += ranks[i];
		for (size_t k = nr_above; k > 0; k--) {
			double *to = &ways[k * (total + 1)], *from = &ways[(k - 1) * (total + 1)];

			for (size_t sum = ranks[i]; sum <= reach; sum++)
				to[sum] += from[sum - ranks[i]];
		}
	}
	last = rot_calloc(total + 1, sizeof(*last));
	memcpy(last, &ways[nr_above * (total + 1)], (total + 1) * sizeof(*last));
	for (size_t sum = 0; sum <= total; sum++)
		all += last[sum];
	for (size_t sum = 0; sum <= total; sum++)
		last[sum] /= all;
	return last;
}

struct ranked {
	double value; /* first: sorted by double_compare */
	bool is_above;
};

/* Twice the ranks, which are whole where several are equal, in the order of the values. The sum of those above. */
static size_t
double_ranks(const struct sample *above, const struct sample *below, size_t *ranks)
{
	const size_t nr = above->n + below->n;
	autofree struct ranked *all = rot_calloc(nr + 1, sizeof(*all));
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		all[i] = i < above->n ? (struct ranked){above->values[i], true}
				      : (struct ranked){below->values[i - above->n], false};
	qsort(all, nr, sizeof(*all), double_compare);
	for (size_t i = 0, next; i < nr; i = next) {
		for (next = i + 1; next < nr && all[next].value == all[i].value;)
			next++;
		for (size_t k = i; k < next; k++) {
			ranks[k] = i + 1 + next;
			sum += all[k].is_above ? ranks[k] : 0;
		}
	}
	return sum;
}

/* Twice the smaller tail. */
static double
exact_p(const size_t *ranks, size_t nr, size_t nr_above, size_t sum)
{
	const size_t total = nr * (nr + 1);
	autofree double *probabilities = sum_probabilities(ranks, nr, nr_above, total);
	double below = 0, above = 0;

	for (size_t i = 0; i <= total; i++) {
		below += i <= sum ? probabilities[i] : 0;
		above += i >= sum ? probabilities[i] : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

/* With corrections for continuity and ties; of ranks that are doubled. */
static double
normal_p(const size_t *ranks, size_t nr, size_t nr_above, size_t sum)
{
	const double n = (double)nr, above = (double)nr_above, below = n - above;
	double spread = 0, distance = fabs((double)sum - above * (n + 1));

	for (size_t i = 0; i < nr; i++)
		spread += pow((double)ranks[i] - (n + 1), 2);
	if (spread == 0)
		return 1;
	return erfc(fmax(distance - 1, 0) / sqrt(2 * spread * above * below / (n * (n - 1))));
}

static double
mann_whitney_p(const struct sample *above, const struct sample *below)
{
	const size_t nr = above->n + below->n;
	autofree size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks));
	size_t sum = double_ranks(above, below, ranks);

	return nr <= MOST_FOR_EXACT ? exact_p(ranks, nr, above->n, sum) : normal_p(ranks, nr, above->n, sum);
}

/* ---- the interval ---- */

/* How many of the lowest pairs, and of the highest, lie outside of the interval. */
static size_t
exact_outside(size_t nr_above, size_t nr_below)
{
	const size_t nr = nr_above + nr_below, total = nr * (nr + 1) / 2, least = nr_above * (nr_above + 1) / 2;
	autofree size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks));
	size_t outside = 0;
	autofree double *probabilities = NULL;
	double tail = 0;

	for (size_t i = 0; i < nr; i++)
		ranks[i] = i + 1;
	probabilities = sum_probabilities(ranks, nr, nr_above, total);
	while ((tail += probabilities[least + outside]) <= (1 - CONFIDENCE) / 2)
		outside++;
	return outside;
}

static size_t
normal_outside(size_t nr_above, size_t nr_below)
{
	const double m = (double)nr_above, n = (double)nr_below;

	return (size_t)floor(m * n / 2 - NORMAL_QUANTILE * sqrt(m * n * (m + n + 1) / 12));
}

/* widening: how many times as far from the middle, in pairs, the ends lie. */
static void
set_interval(struct summary *ratio, const double *ratios, size_t nr_above, size_t nr_below, double widening)
{
	const double middle = (double)(nr_above * nr_below) / 2;
	size_t outside = nr_above + nr_below <= MOST_FOR_EXACT ? exact_outside(nr_above, nr_below)
							       : normal_outside(nr_above, nr_below);

	if (widening > 1)
		outside = (size_t)fmax(1, floor(middle - widening * (middle - (double)outside)));
	ratio->low = ratios[outside - 1];
	ratio->high = ratios[nr_above * nr_below - outside];
	ratio->confidence = CONFIDENCE;
}

/* The ratios of all pairs, in order. Fresh memory. */
static double *
pair_ratios(const struct sample *above, const struct sample *below)
{
	double *ratios = rot_calloc(above->n * below->n + 1, sizeof(*ratios));
	size_t nr = 0;

	for (size_t i = 0; i < above->n; i++)
		for (size_t k = 0; k < below->n; k++) {
			const double x = above->values[i], y = below->values[k];

			ratios[nr++] = x == y ? 1 : x / y;
		}
	qsort(ratios, nr, sizeof(*ratios), double_compare);
	return ratios;
}

/* So that turning above and below around turns it around. */
static double
geometric_median(const double *ratios, size_t n)
{
	const double low = ratios[(n - 1) / 2], high = ratios[n / 2];

	return low == high || !(low > 0) ? double_middle(low, high) : sqrt(low) * sqrt(high);
}

/* ---- drift ---- */

static double
mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

static double
variance(const double *values, size_t n)
{
	const double middle = mean(values, n);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pow(values[i] - middle, 2);
	return sum / (double)(n - 1);
}

/* The variance of the mean of all, by the means of stretches. */
static double
variance_by_stretches(const double *values, size_t n)
{
	double means[NR_STRETCHES];

	for (size_t i = 0; i < NR_STRETCHES; i++) {
		const size_t begin = i * n / NR_STRETCHES, end = (i + 1) * n / NR_STRETCHES;

		means[i] = mean(&values[begin], end - begin);
	}
	return variance(means, NR_STRETCHES) / NR_STRETCHES;
}

/*
 * How many times as wide an interval has to be that takes stretches for what is independent, and not runs. Of ranks,
 * with the sides laid over each other, so that neither the shift nor single far values matter. May be less than 1; 1
 * where nothing can be told: of stretches of single runs.
 */
static double
drift_widening(const struct sample *above, const struct sample *below, double shift)
{
	const size_t nr = above->n + below->n;
	autofree double *all = rot_calloc(nr, sizeof(*all));
	autofree double *ranks = rot_calloc(nr, sizeof(*ranks));
	double by_stretches, by_runs;

	for (size_t i = 0; i < nr; i++)
		all[i] = i < above->n ? above->values[i] / shift : below->values[i - above->n];
	/* Equal values have the mean of theirs. */
	for (size_t i = 0; i < nr; i++) {
		ranks[i] = 0.5;
		for (size_t k = 0; k < nr; k++)
			ranks[i] += all[k] < all[i] ? 1 : all[k] == all[i] ? 0.5 : 0;
	}
	by_stretches = variance_by_stretches(ranks, above->n) + variance_by_stretches(&ranks[above->n], below->n);
	by_runs = variance(ranks, nr) * (1 / (double)above->n + 1 / (double)below->n);
	return by_runs > 0 ? sqrt(by_stretches / by_runs) * STUDENT_QUANTILE / NORMAL_QUANTILE : 1;
}

/* Both tails beyond t of Student's distribution with 6 degrees of freedom (Abramowitz and Stegun 26.7.4). */
static double
student_p(double t)
{
	const double square = 6 / (6 + t * t);

	return fmax(0, 1 - t / sqrt(6 + t * t) * (1 + square / 2 + 3 * square * square / 8));
}

/* With which probability the widened interval would end at 1. */
static double
drift_p(const struct summary *ratio)
{
	const double off = fabs(log(ratio->value)), reach = ratio->value > 1 ? log(ratio->value) - log(ratio->low)
									     : log(ratio->high) - log(ratio->value);

	return off > 0 ? student_p(STUDENT_QUANTILE * off / reach) : 1;
}

/* Both kinds of interval and of p together: the wider one, and the larger one. */
static void
allow_for_drift(struct shift *shift, const struct sample *above, const struct sample *below, const double *ratios)
{
	const double value = shift->ratio.value;
	double widening;

	if (shift->ratio.n < 2 * NR_STRETCHES || !isfinite(value) || !(value > 0))
		return;
	widening = drift_widening(above, below, value);
	if (!(widening > 1))
		return;
	set_interval(&shift->ratio, ratios, above->n, below->n, widening);
	shift->p = fmax(shift->p, drift_p(&shift->ratio));
}

struct shift
statistics_shift(const struct grouped *above, const struct grouped *below)
{
	struct shift shift = {.ratio = summary_empty(), .p = NAN};
	struct sample top, bottom;
	autofree double *ratios = NULL;

	shift.ratio.estimator = "hodgesLehmann";
	if (above->n == 0 || below->n == 0)
		return shift;
	top = sample_of(above);
	bottom = sample_of(below);
	ratios = pair_ratios(&top, &bottom);
	sorted_set_range(&shift.ratio, ratios, top.n * bottom.n);
	shift.ratio.value = geometric_median(ratios, top.n * bottom.n);
	shift.ratio.n = top.n < bottom.n ? top.n : bottom.n;
	if (shift.ratio.n >= SUMMARY_LEAST) {
		set_interval(&shift.ratio, ratios, top.n, bottom.n, 1);
		shift.p = mann_whitney_p(&top, &bottom);
		allow_for_drift(&shift, &top, &bottom, ratios);
	}
	return shift;
}

/* ---- many comparisons ---- */

void
statistics_holm(double *p, size_t n)
{
	autofree double *sorted = rot_calloc(n + 1, sizeof(*sorted));
	autofree double *corrected = rot_calloc(n + 1, sizeof(*corrected));
	double most = 0;
	size_t nr = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			sorted[nr++] = p[i];
	qsort(sorted, nr, sizeof(*sorted), double_compare);
	for (size_t i = 0; i < nr; i++) {
		most = fmax(most, (double)(nr - i) * sorted[i]);
		corrected[i] = fmin(1, most);
	}
	for (size_t i = 0; i < n; i++) {
		size_t rank = 0;

		while (sorted[rank] < p[i])
			rank++;
		if (!isnan(p[i]))
			p[i] = corrected[rank];
	}
}
