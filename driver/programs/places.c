/* SPDX-License-Identifier: MIT */
#include "programs/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"

static int
compare_parts(const struct program_part *left, const struct program_part *right)
{
	int order = (left->header > right->header) - (left->header < right->header);

	/* The source lines of a loop may not be known in each run. */
	if (order == 0 && left->header == 0)
		order = strcmp(left->source, right->source);
	if (order == 0 && left->header == 0)
		order = left->line - right->line;
	if (order == 0 && left->header == 0)
		order = strcmp(left->inlined, right->inlined);
	return order;
}

static int
compare_functions(const struct program_place *left, const struct program_place *right)
{
	int order = strcmp(left->object, right->object);

	if (order == 0)
		order = (left->address > right->address) - (left->address < right->address);
	return order ? order : strcmp(left->function, right->function);
}

bool
place_is_same(const struct program_place *place, const struct program_place *other)
{
	return compare_functions(place, other) == 0;
}

/* Places of all runs, one after the other; the same function, or part of it, is the same place in each of them. */
static int
compare_places(const void *a, const void *b)
{
	const struct place_share *one = a, *other = b;
	const int order = compare_functions(one->place, other->place);

	if (order == 0 && (!one->part || !other->part))
		return (one->part != NULL) - (other->part != NULL);
	return order ? order : one->part ? compare_parts(one->part, other->part) : 0;
}

static int
compare_samples(const void *a, const void *b)
{
	const struct place_share *left = a, *right = b;
	const int order = (left->nr_samples < right->nr_samples) - (left->nr_samples > right->nr_samples);

	return order ? order : compare_places(a, b);
}

static void
add_counts(struct place_share *share, const struct place_share *from, size_t nr_events)
{
	const struct rot_list *counts = from->part ? &from->part->counts : &from->place->counts;

	if (counts->nr != nr_events || nr_events == 0)
		return;
	if (!share->counts)
		share->counts = rot_calloc(nr_events, sizeof(*share->counts));
	for (size_t i = 0; i < nr_events; i++)
		share->counts[i] += ((const uint64_t *)counts->items)[i];
	share->nr_entries += from->part ? from->part->entries : from->place->entries;
	share->nr_turns += from->part ? from->part->turns : 0;
	if (from->part && from->part->trips.nr > 0)
		share->trips = &from->part->trips;
	if (from->part && *from->part->chain)
		share->chained = from->part;
	/* The timed run alone may know its lines. */
	if (from->part && share->part && !*share->part->source)
		share->part = from->part;
}

static void
add(struct place_list *list, const struct program_place *place, const struct program_part *part)
{
	list->items = rot_grow(list->items, list->nr, sizeof(*list->items));
	list->items[list->nr++] = (struct place_share){.place = place,
						       .part = part,
						       .nr_samples = part ? part->samples : place->samples,
						       .nr_total = part ? 0 : place->total_samples,
						       .nr_pairs = place->samples * (place->samples - 1) / 2,
						       .nr_pairs_of_one = place->pairs_of_one_thread,
						       .total = summary_empty(),
						       .roof_share = NAN};
}

/* A place, or its parts of that kind if it has any. */
static void
add_all(struct place_list *list, enum place_kind kind, const struct program_place *place)
{
	const struct rot_list *parts = kind == PLACES_LOOPS ? &place->loops : &place->lines;
	const size_t nr = kind == PLACES_LOOPS || kind == PLACES_LINES ? parts->nr : 0;

	if ((place->object[0] != '[' || strcmp(place->object, "[jit]") == 0) != (kind != PLACES_OTHERS))
		return;
	if (nr == 0)
		add(list, place, NULL);
	for (size_t i = 0; i < nr; i++)
		add(list, place, ((struct program_part *const *)parts->items)[i]);
}

/* All places of a kind, added up over the runs. nr_events: of those that are counted */
static struct place_list
add_up(const struct program_command_output *output, enum place_kind kind, size_t nr_events)
{
	struct place_list list = {.nr = 0};
	struct place_share *all;
	size_t nr = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_profile *profile = program_command_output_outputs_at(output, i)->profile;

		for (size_t k = 0; profile && k < program_profile_nr_places(profile); k++)
			add_all(&list, kind, program_profile_places_at(profile, k));
	}
	all = list.items;
	if (list.nr > 0)
		qsort(all, list.nr, sizeof(*all), compare_places);
	for (size_t i = 0; i < list.nr; i++) {
		const struct place_share from = all[i];

		if (nr > 0 && compare_places(&all[nr - 1], &from) == 0) {
			all[nr - 1].nr_samples += from.nr_samples;
			all[nr - 1].nr_total += from.nr_total;
			all[nr - 1].nr_pairs += from.nr_pairs;
			all[nr - 1].nr_pairs_of_one += from.nr_pairs_of_one;
		} else {
			all[nr++] = from;
		}
		add_counts(&all[nr - 1], &from, nr_events);
	}
	list.nr = nr;
	if (nr > 0)
		qsort(all, nr, sizeof(*all), compare_samples);
	return list;
}

static uint64_t
nr_samples(const struct place_list *list, size_t first)
{
	uint64_t nr = 0;

	for (size_t i = first; i < list->nr; i++)
		nr += list->items[i].nr_samples;
	return nr;
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
	places->has_totals &= run->profile->has_stacks;
	places->nr_incomplete += run->profile->incomplete_stacks;
	places->nr_lost += run->profile->lost_records;
	places->cpu_s += 1e-9 * cpu_ns;
	places->wall_s += 1e-9 * (double)run->wall_time;
	places->run_s += 1e-9 * (double)run->profile->run_time;
	places->wait_s += 1e-9 * (double)run->profile->wait_time;
	places->off_cpu_s += 1e-9 * fmax(0, (double)run->wall_time - cpu_ns);
	*worth += cpu_ns / (double)run->profile->period;
}

size_t
place_list_nr_sampled(const struct place_list *list)
{
	size_t nr = 0;

	while (nr < list->nr && list->items[nr].nr_samples > 0)
		nr++;
	return nr;
}

/* If n threads are in it alike, one of n pairs of samples is of the same thread. Without pairs nothing is known. */
static void
compute_shares(const struct program_places *places, struct place_share *item, int nr_threads)
{
	const double at_once = round((double)item->nr_pairs / (double)item->nr_pairs_of_one);

	item->nr_threads = item->nr_pairs == 0 ? nr_threads : (int)fmax(1, fmin(nr_threads, at_once));
	item->share = summary_large_share(item->nr_samples, places->whole);
	if (places->has_totals && !item->part)
		item->total = summary_large_share(item->nr_total, places->whole);
}

/* Its threads are taken to be in a place at once. Lines without samples have no rates. */
static int
compute_values(struct program_places *places, enum place_kind kind, const struct program_plan *plan,
	       const struct architecture *architecture, struct rot_error *err)
{
	struct place_list *list = &places->lists[kind];
	const double cpu_ns = 1e9 * places->cpu_s / (double)places->nr_runs;
	const size_t nr = kind == PLACES_LINES ? list->nr : place_list_nr_sampled(list);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i++) {
		struct place_share *item = &list->items[i];
		const struct summary time =
			item->nr_samples > 0 ? summary_scaled(item->share, cpu_ns / item->nr_threads) : summary_empty();

		if (item->counts)
			rc = program_values_code(&item->values, plan, architecture, item->counts, &time, err);
	}
	return rc;
}

int
program_places_compute(struct program_places *places, const struct program_plan *plan,
		       const struct architecture *architecture, const struct program_command_output *output,
		       int nr_threads, struct rot_error *err)
{
	bool is_cut = false;
	double worth = 0;
	size_t nr_events;
	int rc = 0;

	*places = (struct program_places){.has_kernel = true, .has_totals = true, .refusal = ""};
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		is_cut |= program_run_is_cut(plan, run);
		if (run->profile && plan->passes.passes[run->pass].is_stepped)
			places->counted = &plan->passes.passes[run->pass];
		else if (run->profile)
			add_run(places, run, &worth);
	}
	places->has_totals &= places->nr_runs > 0;
	nr_events = places->counted ? places->counted->nr_events : 0;
	for (size_t kind = 0; kind < NR_PLACE_KINDS; kind++)
		places->lists[kind] = add_up(output, (enum place_kind)kind, nr_events);
	places->nr_samples =
		nr_samples(&places->lists[PLACES_FUNCTIONS], 0) + nr_samples(&places->lists[PLACES_OTHERS], 0);
	places->whole = (uint64_t)fmax(worth + 0.5, (double)places->nr_samples);
	places->missing = summary_large_share(places->whole - places->nr_samples, places->whole);
	for (size_t kind = 0; rc == 0 && kind < NR_PLACE_KINDS; kind++) {
		struct place_list *list = &places->lists[kind];

		for (size_t i = 0; i < list->nr; i++)
			compute_shares(places, &list->items[i], nr_threads);
		if (!is_cut && kind != PLACES_OTHERS)
			rc = compute_values(places, (enum place_kind)kind, plan, architecture, err);
	}
	return rc;
}

bool
program_places_are_known(const struct program_places *places)
{
	return places->wall_s > 0 || (places->refusal && *places->refusal);
}

void
program_places_clear(struct program_places *places)
{
	for (size_t kind = 0; kind < NR_PLACE_KINDS; kind++) {
		struct place_list *list = &places->lists[kind];

		for (size_t i = 0; i < list->nr; i++) {
			free(list->items[i].counts);
			program_values_clear(&list->items[i].values);
		}
		free(list->items);
	}
	*places = (struct program_places){0};
}

struct summary
program_places_rest(const struct program_places *places, enum place_kind kind, size_t first)
{
	return summary_large_share(nr_samples(&places->lists[kind], first), places->whole);
}
