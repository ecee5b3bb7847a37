/* SPDX-License-Identifier: MIT */
/* See places.h. */
#include "programs/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"

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

static void
add_counts(struct place_share *share, const struct program_place *place, size_t nr_events)
{
	if (place->counts.nr != nr_events || nr_events == 0)
		return;
	if (!share->counts)
		share->counts = rot_calloc(nr_events, sizeof(*share->counts));
	for (size_t i = 0; i < nr_events; i++)
		share->counts[i] += program_place_counts_at(place, i);
	share->nr_entries += place->entries;
}

/* All places of a kind, added up over the runs. nr_events: of those that are counted */
static struct place_share *
add_up(const struct program_command_output *output, bool are_functions, size_t nr_events, size_t *nr)
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
			all[nr_all++] =
				(struct place_share){.place = place, .nr_samples = place->samples, .roof_share = NAN};
		}
	}
	if (nr_all > 0)
		qsort(all, nr_all, sizeof(*all), compare_places);
	for (size_t i = 0; i < nr_all; i++) {
		if (*nr > 0 && compare_places(&all[*nr - 1], &all[i]) == 0)
			all[*nr - 1].nr_samples += all[i].nr_samples;
		else
			all[(*nr)++] = all[i];
		add_counts(&all[*nr - 1], all[i].place, nr_events);
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

/* A run that was sampled, or should have been. */
static void
add_run(struct program_places *places, const struct program_run_output *run, double *worth)
{
	const double cpu_ns = (double)(run->user_time + run->system_time);

	if (*run->profile->refusal) {
		places->refusal = run->profile->refusal;
		return;
	}
	places->nr_runs++;
	places->has_kernel &= run->profile->has_kernel;
	places->nr_lost += run->profile->lost_records;
	places->cpu_s += 1e-9 * cpu_ns;
	places->wall_s += 1e-9 * (double)run->wall_time;
	places->off_cpu_s += 1e-9 * fmax(0, (double)run->wall_time - cpu_ns);
	*worth += cpu_ns / (double)run->profile->period;
}

size_t
program_places_nr_sampled(const struct program_places *places)
{
	size_t nr = 0;

	while (nr < places->nr_functions && places->functions[nr].nr_samples > 0)
		nr++;
	return nr;
}

/* As the program as a whole, each function is taken to use so many CPUs at once. */
static int
compute_values(struct program_places *places, const struct program_plan *plan, const struct architecture *architecture,
	       struct rot_error *err)
{
	const double nr_cpus = fmax(1, places->cpu_s / places->wall_s);
	const double run_ns = 1e9 * places->cpu_s / (double)places->nr_runs / nr_cpus;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < program_places_nr_sampled(places); i++) {
		struct place_share *item = &places->functions[i];
		const struct summary time = summary_scaled(item->share, run_ns);

		if (item->counts)
			rc = program_values_code(&item->values, plan, architecture, item->counts, &time, err);
	}
	return rc;
}

int
program_places_compute(struct program_places *places, const struct program_plan *plan,
		       const struct architecture *architecture, const struct program_command_output *output,
		       struct rot_error *err)
{
	bool is_cut = false;
	double worth = 0;
	size_t nr_events;

	*places = (struct program_places){.has_kernel = true, .refusal = ""};
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		is_cut |= program_run_is_cut(plan, run);
		if (run->profile && plan->passes.passes[run->pass].is_stepped)
			places->counted = &plan->passes.passes[run->pass];
		else if (run->profile)
			add_run(places, run, &worth);
	}
	nr_events = places->counted ? places->counted->nr_events : 0;
	places->functions = add_up(output, true, nr_events, &places->nr_functions);
	places->others = add_up(output, false, nr_events, &places->nr_others);
	for (size_t i = 0; i < places->nr_functions; i++)
		places->nr_samples += places->functions[i].nr_samples;
	for (size_t i = 0; i < places->nr_others; i++)
		places->nr_samples += places->others[i].nr_samples;
	places->whole = (uint64_t)fmax(worth + 0.5, (double)places->nr_samples);
	set_shares(places, places->functions, places->nr_functions);
	set_shares(places, places->others, places->nr_others);
	places->missing = summary_large_share(places->whole - places->nr_samples, places->whole);
	return is_cut ? 0 : compute_values(places, plan, architecture, err);
}

bool
program_places_are_known(const struct program_places *places)
{
	return places->wall_s > 0 || (places->refusal && *places->refusal);
}

void
program_places_clear(struct program_places *places)
{
	for (size_t i = 0; i < places->nr_functions; i++) {
		free(places->functions[i].counts);
		program_values_clear(&places->functions[i].values);
	}
	for (size_t i = 0; i < places->nr_others; i++)
		free(places->others[i].counts);
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
