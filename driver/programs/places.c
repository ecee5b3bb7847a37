/* SPDX-License-Identifier: MIT */
/* See places.h. */
#include "programs/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Places of all runs, one after the other; the same function is the same place in each of them. */
static int
compare_places(const void *a, const void *b)
{
	const struct program_place *left = ((const struct place_share *)a)->place;
	const struct program_place *right = ((const struct place_share *)b)->place;
	int order = strcmp(left->object, right->object);

	if (order == 0)
		order = (left->address > right->address) - (left->address < right->address);
	return order ? order : strcmp(left->function, right->function);
}

static int
compare_samples(const void *a, const void *b)
{
	const struct place_share *left = a, *right = b;
	const int order = (left->nr_samples < right->nr_samples) - (left->nr_samples > right->nr_samples);

	return order ? order : compare_places(a, b);
}

static bool
is_function(const struct program_place *place)
{
	return place->object[0] != '[' || strcmp(place->object, "[jit]") == 0;
}

/* All places of a kind, added up over the runs. */
static struct place_share *
add_up(const struct program_command_output *output, bool are_functions, size_t *nr)
{
	struct place_share *all = NULL;
	size_t nr_all = 0;

	*nr = 0;
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_profile *profile = program_command_output_outputs_at(output, i)->profile;

		for (size_t k = 0; profile && k < program_profile_nr_places(profile); k++) {
			const struct program_place *place = program_profile_places_at(profile, k);

			if (is_function(place) != are_functions)
				continue;
			all = rot_grow(all, nr_all, sizeof(*all));
			all[nr_all++] = (struct place_share){.place = place, .nr_samples = place->samples};
		}
	}
	if (nr_all > 0)
		qsort(all, nr_all, sizeof(*all), compare_places);
	for (size_t i = 0; i < nr_all; i++) {
		if (*nr > 0 && compare_places(&all[*nr - 1], &all[i]) == 0)
			all[*nr - 1].nr_samples += all[i].nr_samples;
		else
			all[(*nr)++] = all[i];
	}
	if (*nr > 0)
		qsort(all, *nr, sizeof(*all), compare_samples);
	return all;
}

static void
set_shares(struct program_places *places, struct place_share *shares, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		shares[i].share = summary_large_share(shares[i].nr_samples, places->whole);
}

void
program_places_compute(struct program_places *places, const struct program_command_output *output)
{
	double worth = 0;

	*places = (struct program_places){.has_kernel = true, .refusal = ""};
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		const double cpu_ns = (double)(run->user_time + run->system_time);

		if (!run->profile)
			continue;
		if (*run->profile->refusal) {
			places->refusal = run->profile->refusal;
			continue;
		}
		places->has_kernel &= run->profile->has_kernel;
		places->nr_lost += run->profile->lost_records;
		places->cpu_s += 1e-9 * cpu_ns;
		places->wall_s += 1e-9 * (double)run->wall_time;
		places->off_cpu_s += 1e-9 * fmax(0, (double)run->wall_time - cpu_ns);
		worth += cpu_ns / (double)run->profile->period;
	}
	places->functions = add_up(output, true, &places->nr_functions);
	places->others = add_up(output, false, &places->nr_others);
	for (size_t i = 0; i < places->nr_functions; i++)
		places->nr_samples += places->functions[i].nr_samples;
	for (size_t i = 0; i < places->nr_others; i++)
		places->nr_samples += places->others[i].nr_samples;
	places->whole = (uint64_t)fmax(worth + 0.5, (double)places->nr_samples);
	set_shares(places, places->functions, places->nr_functions);
	set_shares(places, places->others, places->nr_others);
	places->missing = summary_large_share(places->whole - places->nr_samples, places->whole);
}

bool
program_places_are_known(const struct program_places *places)
{
	return places->wall_s > 0 || (places->refusal && *places->refusal);
}

void
program_places_clear(struct program_places *places)
{
	free(places->functions);
	free(places->others);
	*places = (struct program_places){0};
}

struct summary
program_places_rest(const struct program_places *places, size_t first)
{
	uint64_t nr = 0;

	for (size_t i = first; i < places->nr_functions; i++)
		nr += places->functions[i].nr_samples;
	return summary_large_share(nr, places->whole);
}
