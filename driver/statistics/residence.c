/* SPDX-License-Identifier: MIT */
#include "statistics/residence.h"

#include <math.h>
#include <string.h>

#include "statistics/summary.h"

#define NR RESIDENCE_NR_PARTS

const unsigned residence_parts[NR] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64};

/* Neighbours in time take some visits. */
#define BEST 10

/* The largest parts, which lead to the time of a miss. */
#define NR_LARGE 4

/* The least share of hits in a part that tells how much stays. */
#define LEAST_HITS 0.33

/* In 15 s on a busy machine it was 0.02 at most. */
#define MOST_DISORDER 0.05

/* A load of memory takes longer than one of a cache by at least this factor. */
#define LEAST_STEP 1.5

static double
part_bytes(const struct residence_times *times, size_t i)
{
	return times->buffer_bytes * residence_parts[i] / 64;
}

/* The time of each part, from every step-th visit before end. */
static void
take_best(const struct residence_times *times, size_t first, size_t end, size_t step, double ns[NR])
{
	double values[RESIDENCE_MAX_VISITS];

	for (size_t i = 0; i < NR; i++) {
		size_t nr = 0;

		for (size_t visit = first; visit < end; visit += step)
			values[nr++] = times->ns[visit][i];
		ns[i] = statistics_percentile(values, nr, BEST);
	}
}

/* Where the line through the times of large parts, over the inverse of their bytes, is at 0: least squares. */
static double
miss_time(const double ns[NR])
{
	double x_mean = 0, ns_mean = 0, xx = 0, xy = 0;

	for (size_t i = NR - NR_LARGE; i < NR; i++) {
		x_mean += 1.0 / residence_parts[i] / NR_LARGE;
		ns_mean += ns[i] / NR_LARGE;
	}
	for (size_t i = NR - NR_LARGE; i < NR; i++) {
		const double x = 1.0 / residence_parts[i] - x_mean;

		xx += x * x;
		xy += x * (ns[i] - ns_mean);
	}
	return ns_mean - xy / xx * x_mean;
}

/* Bytes of each part; the hits of no part are more than all. */
static void
find_staying(const struct residence_times *times, const struct residence *residence, const double ns[NR],
	     double staying[NR])
{
	for (size_t i = 0; i < NR; i++)
		staying[i] = part_bytes(times, i) *
			     fmin(1, fmax(0, (residence->miss_ns - ns[i]) / (residence->miss_ns - residence->hit_ns)));
}

static double
median_of_three(const double *values)
{
	return fmax(fmin(values[0], values[1]), fmin(fmax(values[0], values[1]), values[2]));
}

/*
 * The most of any part, as long as enough of it hits: of larger ones, noise of the time is many bytes. Of three
 * neighbours the middle one, so a single disturbed part tells nothing.
 */
static double
most_of(const struct residence_times *times, const double staying[NR])
{
	double most = 0;

	for (size_t i = 1; i + 1 < NR; i++) {
		const double own = median_of_three(&staying[i - 1]);

		if (own >= LEAST_HITS * part_bytes(times, i))
			most = fmax(most, own);
	}
	return most;
}

/* How far the share that stays rises where parts grow, which it does not by itself. */
static double
disorder_of(const struct residence_times *times, const double staying[NR])
{
	double least = 1, most = 0;

	for (size_t i = 0; i < NR; i++) {
		const double share = staying[i] / part_bytes(times, i);

		least = fmin(least, share);
		most = fmax(most, share - least);
	}
	return most;
}

/* Single visits are read by the same times of hits and misses. */
static void
find_range(const struct residence_times *times, struct residence *residence)
{
	double most[RESIDENCE_MAX_VISITS], staying[NR];

	for (size_t visit = 0; visit < times->nr_visits; visit++) {
		find_staying(times, residence, times->ns[visit], staying);
		most[visit] = most_of(times, staying);
	}
	residence->low = fmin(residence->bytes, statistics_percentile(most, times->nr_visits, BEST));
	residence->high = fmax(residence->bytes, statistics_percentile(most, times->nr_visits, 100 - BEST));
}

/* Others use it by turns if the first, second and last third of the visits tell different sizes. */
static bool
has_changed(const struct residence_times *times, const struct residence *residence)
{
	double least = INFINITY, most = 0, ns[NR], staying[NR];

	for (size_t third = 0; third < 3; third++) {
		take_best(times, third * times->nr_visits / 3, (third + 1) * times->nr_visits / 3, 1, ns);
		find_staying(times, residence, ns, staying);
		least = fmin(least, most_of(times, staying));
		most = fmax(most, most_of(times, staying));
	}
	return most - least > RESIDENCE_AGREEMENT * least;
}

static const char *
doubt_of(const struct residence_times *times, const struct residence *residence, const double staying[NR])
{
	if (!(residence->miss_ns >= LEAST_STEP * residence->hit_ns))
		return "memory takes no longer than what should be in a cache";
	if (staying[1] < (1 - RESIDENCE_AGREEMENT) * part_bytes(times, 1))
		return "others leave less of it than is needed to see how long a hit takes";
	if (residence->bytes > part_bytes(times, NR - NR_LARGE))
		return "it holds more than the memory that rot may use for this";
	for (size_t half = 0; half < 2; half++)
		if (disorder_of(times, residence->staying[half]) > MOST_DISORDER)
			return "more stayed of larger parts than of smaller ones: others disturbed the visits";
	return NULL;
}

void
residence_conclude(const struct residence_times *times, struct residence *residence)
{
	double ns[NR], half_ns[NR], staying[NR];

	*residence = (struct residence){.doubt = "others had the CPU"};
	if (times->nr_visits < RESIDENCE_LEAST_VISITS)
		return;
	take_best(times, 0, times->nr_visits, 1, ns);
	residence->miss_ns = miss_time(ns);
	residence->hit_ns = INFINITY;
	for (size_t i = 0; i < NR; i++)
		residence->hit_ns = fmin(residence->hit_ns, ns[i]);
	find_staying(times, residence, ns, staying);
	for (size_t half = 0; half < 2; half++) {
		take_best(times, half, times->nr_visits, 2, half_ns);
		find_staying(times, residence, half_ns, residence->staying[half]);
	}
	residence->bytes = most_of(times, staying);
	for (size_t i = 0; i < NR && staying[i] >= 0.9 * part_bytes(times, i); i++)
		residence->fitting = part_bytes(times, i);
	find_range(times, residence);
	residence->doubt = doubt_of(times, residence, staying);
	residence->is_lower_bound = !residence->doubt;
	if (!residence->doubt && has_changed(times, residence))
		residence->doubt = "others used it by turns meanwhile";
}

struct residence_size
residence_of_runs(const double *bytes, size_t nr, double told)
{
	struct residence_size size = {.most = 0};

	for (size_t i = 1; i < nr; i++)
		size.most = bytes[i] > bytes[size.most] ? i : size.most;
	for (size_t i = 0; i < nr; i++)
		size.nr_agreeing += bytes[i] >= (1 - RESIDENCE_AGREEMENT) * bytes[size.most];
	if (size.nr_agreeing < 2 && !(told > 0 && bytes[size.most] >= (1 - RESIDENCE_AGREEMENT) * told))
		size.doubt = "others may use part of it, as only one run saw so much";
	return size;
}
