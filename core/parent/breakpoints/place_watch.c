/* SPDX-License-Identifier: MIT */
#include "parent/breakpoints/place_watch.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/places.h"

/* The places with the same condition (places.h): what breakpoints know. */
struct place_site {
	struct place_watch *watch;
	uint8_t condition;
	struct place_site *next;
};

static struct place_site *
site_of(struct place_watch *watch, uint8_t condition)
{
	struct place_site *site = watch->sites;

	while (site && site->condition != condition)
		site = site->next;
	if (site)
		return site;
	site = rot_calloc(1, sizeof(*site));
	*site = (struct place_site){watch, condition, watch->sites};
	watch->sites = site;
	return site;
}

void
place_watch_clear(struct place_watch *watch)
{
	while (watch->sites) {
		struct place_site *next = watch->sites->next;

		free(watch->sites);
		watch->sites = next;
	}
}

static void
on_site_hit(void *context, const struct breakpoint_hit *hit)
{
	const struct place_site *site = context;

	if (code_is_taken(site->condition, hit->registers->eflags, hit->registers->rcx))
		site->watch->hit(site->watch, hit);
}

static void
on_site_refused(void *context, uint64_t address, const struct rot_error *err)
{
	const struct place_site *site = context;

	site->watch->refused(site->watch, address, err);
}

/* Parts that a team executes are no calls of the function. */
static int
set_all(struct place_watch *watch, const struct place *places, size_t nr, struct thread *thread, struct rot_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct breakpoint_user user = {
			.hit = on_site_hit, .refused = on_site_refused, .context = site_of(watch, places[i].condition)};

		if (!places[i].is_team && breakpoint_set(thread, places[i].address, user, err) < 0)
			rc = rot_error_prefix(err, "%s", places[i].text);
	}
	return rc;
}

/* A place that is only reached need not be one that can be left: then it is its own end. */
int
place_watch_set(struct place_watch *watch, struct symbol_files *symbols, const struct objects *objects,
		struct thread *thread, struct rot_error *err)
{
	bool is_left = strcmp(watch->event, "left") == 0, is_reached = strcmp(watch->event, "reached") == 0;
	struct region_places places = {0};
	int rc = places_resolve(symbols, objects, watch->place, is_reached ? watch->place : NULL, &places, err);

	if (rc == 0)
		rc = is_left ? set_all(watch, places.ends, places.nr_ends, thread, err)
			     : set_all(watch, places.begins, places.nr_begins, thread, err);
	region_places_clear(&places);
	return rc;
}
