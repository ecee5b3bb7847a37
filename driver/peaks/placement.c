/* SPDX-License-Identifier: MIT */
/* See placement.h. */
#include "peaks/placement.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Times of one placement differ by less than this, those of two by more. */
#define GAP 2.0

/* A group has this share of the times at least; what is less was disturbed, by others who wanted the CPUs. */
#define SMALLEST_SHARE 0.05

/* One core: half way between what two cores (1) and what one core (2) take for the same. */
#define SLOWDOWN 1.5

/* ---- what is measured ---- */

static void
add_measurer(struct measurement *measurement, int first_cpu, int second_cpu, int milli_seconds)
{
	struct ping_pong_measurer *measurer = ping_pong_measurer_new();

	measurer->first_cpu = first_cpu;
	measurer->second_cpu = second_cpu;
	measurer->milli_seconds = milli_seconds;
	if (!measurement->overall_measurer_set)
		measurement->overall_measurer_set = measurer_set_new();
	measurer_set_additional_measurers_add(measurement->overall_measurer_set, &measurer->base);
}

void
placement_watch(struct measurement *measurement, int milli_seconds)
{
	int first = -1;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		int cpu = measurement_workloads_at(measurement, i)->cpu;

		if (first >= 0 && cpu >= 0 && cpu != first) {
			add_measurer(measurement, first, cpu, milli_seconds);
			return;
		}
		if (first < 0)
			first = cpu;
	}
}

/* ---- groups ---- */

static void
add_time(struct placement *placement, double ns)
{
	if (ns <= 0)
		return;
	placement->ns = rot_realloc(placement->ns, placement->nr + 1, sizeof(*placement->ns));
	placement->ns[placement->nr++] = ns;
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
placement_add(struct placement *placement, const struct quantity_value *value)
{
	for (size_t i = 0; value->nearness && i < value->nr_samples; i++) {
		if (value->nearness[i].slowdown_max >= SLOWDOWN)
			continue;
		add_time(placement, value->nearness[i].line_ns_min);
		add_time(placement, value->nearness[i].line_ns_max);
	}
	if (placement->nr)
		qsort(placement->ns, placement->nr, sizeof(*placement->ns), compare_numbers);
}

struct group {
	double min, median, max;
};

/* The two groups with the shortest times that are large enough; returns how many there are. */
static size_t
find_groups(const struct placement *placement, struct group groups[2])
{
	const double *ns = placement->ns;
	size_t nr = 0, start = 0;

	for (size_t i = 1; i <= placement->nr && nr < 2; i++) {
		if (i < placement->nr && ns[i] < GAP * ns[i - 1])
			continue;
		if ((double)(i - start) >= SMALLEST_SHARE * (double)placement->nr)
			groups[nr++] = (struct group){ns[start], ns[start + (i - start) / 2], ns[i - 1]};
		start = i;
	}
	return nr;
}

size_t
placement_groups(const struct placement *placement, double median_ns[2])
{
	struct group groups[2];
	size_t nr = find_groups(placement, groups);

	for (size_t i = 0; i < nr; i++)
		median_ns[i] = groups[i].median;
	return nr;
}

static enum placement_mode
mode_of(const struct group *groups, size_t nr, double ns)
{
	for (size_t i = 0; i < nr; i++)
		if (ns >= groups[i].min && ns <= groups[i].max)
			return nr == 1 ? PLACEMENT_ONE : i == 0 ? PLACEMENT_NEAR : PLACEMENT_FAR;
	return PLACEMENT_UNKNOWN;
}

enum placement_mode
placement_mode(const struct placement *placement, const struct quantity_value *value, size_t sample)
{
	struct group groups[2];
	size_t nr = find_groups(placement, groups);
	const struct nearness *nearness = value->nearness ? &value->nearness[sample] : NULL;
	enum placement_mode shortest, longest;

	if (!nearness)
		return PLACEMENT_UNKNOWN;
	if (nearness->slowdown_max >= SLOWDOWN)
		return nearness->slowdown_min >= SLOWDOWN ? PLACEMENT_SHARED : PLACEMENT_MIXED;
	shortest = mode_of(groups, nr, nearness->line_ns_min);
	longest = mode_of(groups, nr, nearness->line_ns_max);
	if (shortest == PLACEMENT_UNKNOWN || longest == PLACEMENT_UNKNOWN)
		return PLACEMENT_UNKNOWN;
	return shortest == longest ? shortest : PLACEMENT_MIXED;
}

bool
placement_shares_core(const struct quantity_value *value, size_t sample)
{
	return value->nearness && value->nearness[sample].slowdown_max >= SLOWDOWN;
}

const char *
placement_mode_name(enum placement_mode mode)
{
	static const char *const names[] = {[PLACEMENT_NEAR] = "near",
					    [PLACEMENT_FAR] = "far",
					    [PLACEMENT_SHARED] = "shared",
					    [PLACEMENT_MIXED] = NULL};

	return names[mode] ? names[mode] : "";
}

void
placement_clear(struct placement *placement)
{
	free(placement->ns);
	*placement = (struct placement){.nr = 0};
}
