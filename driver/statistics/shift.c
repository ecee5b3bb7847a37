/* SPDX-License-Identifier: MIT */
#include "statistics/shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "statistics/sorted.h"

#define MOST_VALUES 1000
#define MOST_FOR_EXACT 30                 /* values of both sides: beyond, the normal distribution is as good */
#define NORMAL_QUANTILE 1.959963984540054 /* at (1 + CONFIDENCE) / 2 */

/* ---- values ---- */

/* One side: values in any order. */
struct sample {
	double *values;
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
	struct placed *places = rot_calloc(of->n + 1, sizeof(*places));
	double *values = rot_calloc(of->n + 1, sizeof(*values)), *medians = rot_calloc(of->n + 1, sizeof(*medians));
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
	free(places);
	free(values);
	if (nr_groups >= SUMMARY_LEAST) {
		*nr = nr_groups;
		return medians;
	}
	free(medians);
	return NULL;
}

static struct sample
sample_of(const struct grouped *of)
{
	size_t nr = of->n;
	double *medians = of->groups ? group_medians(of, &nr) : NULL;
	const double *values = medians ? medians : of->values;
	struct sample sample = {.n = nr < MOST_VALUES ? nr : MOST_VALUES};

	sample.values = rot_calloc(sample.n, sizeof(*sample.values));
	for (size_t i = 0; i < sample.n; i++)
		sample.values[i] = values[i * nr / sample.n];
	free(medians);
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
	double *ways = rot_calloc((nr_above + 1) * (total + 1), sizeof(*ways)), *last, all = 0;
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
	free(ways);
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
	struct ranked *all = rot_calloc(nr + 1, sizeof(*all));
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
	free(all);
	return sum;
}

/* Twice the smaller tail. */
static double
exact_p(const size_t *ranks, size_t nr, size_t nr_above, size_t sum)
{
	const size_t total = nr * (nr + 1);
	double *probabilities = sum_probabilities(ranks, nr, nr_above, total), below = 0, above = 0;

	for (size_t i = 0; i <= total; i++) {
		below += i <= sum ? probabilities[i] : 0;
		above += i >= sum ? probabilities[i] : 0;
	}
	free(probabilities);
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
	size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks)), sum = double_ranks(above, below, ranks);
	const double p = nr <= MOST_FOR_EXACT ? exact_p(ranks, nr, above->n, sum) : normal_p(ranks, nr, above->n, sum);

	free(ranks);
	return p;
}

/* ---- the interval ---- */

/* How many of the lowest pairs, and of the highest, lie outside of the interval. */
static size_t
exact_outside(size_t nr_above, size_t nr_below)
{
	const size_t nr = nr_above + nr_below, total = nr * (nr + 1) / 2, least = nr_above * (nr_above + 1) / 2;
	size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks)), outside = 0;
	double *probabilities, tail = 0;

	for (size_t i = 0; i < nr; i++)
		ranks[i] = i + 1;
	probabilities = sum_probabilities(ranks, nr, nr_above, total);
	while ((tail += probabilities[least + outside]) <= (1 - CONFIDENCE) / 2)
		outside++;
	free(probabilities);
	free(ranks);
	return outside;
}

static size_t
normal_outside(size_t nr_above, size_t nr_below)
{
	const double m = (double)nr_above, n = (double)nr_below;

	return (size_t)floor(m * n / 2 - NORMAL_QUANTILE * sqrt(m * n * (m + n + 1) / 12));
}

static void
set_interval(struct summary *ratio, const double *ratios, size_t nr_above, size_t nr_below)
{
	const size_t outside = nr_above + nr_below <= MOST_FOR_EXACT ? exact_outside(nr_above, nr_below)
								     : normal_outside(nr_above, nr_below);

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

struct shift
statistics_shift(const struct grouped *above, const struct grouped *below)
{
	struct shift shift = {.ratio = summary_empty(), .p = NAN};
	struct sample top, bottom;
	double *ratios;

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
		set_interval(&shift.ratio, ratios, top.n, bottom.n);
		shift.p = mann_whitney_p(&top, &bottom);
	}
	free(ratios);
	free(top.values);
	free(bottom.values);
	return shift;
}

/* ---- many comparisons ---- */

void
statistics_holm(double *p, size_t n)
{
	double *sorted = rot_calloc(n + 1, sizeof(*sorted)), *corrected = rot_calloc(n + 1, sizeof(*corrected)),
	       most = 0;
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
	free(corrected);
	free(sorted);
}
