/* SPDX-License-Identifier: MIT */
/* Where in a process threads are watched for rules, and that they have come there. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/breakpoints.h"
#include "parent/objects.h"
#include "parent/places.h"
#include "parent/program_rules_internal.h"

/* A watch at places with the same condition (places.h): what breakpoints know. */
struct watch_site {
	struct watch *watch;
	uint8_t condition;
	struct watch_site *next;
};

static struct watch_site *
site_of(struct watch *watch, uint8_t condition)
{
	struct watch_site *site = watch->sites;

	while (site && site->condition != condition)
		site = site->next;
	if (site)
		return site;
	site = rot_calloc(1, sizeof(*site));
	site->watch = watch;
	site->condition = condition;
	site->next = watch->sites;
	watch->sites = site;
	return site;
}

void
watch_clear(struct watch *watch)
{
	while (watch->sites) {
		struct watch_site *next = watch->sites->next;

		free(watch->sites);
		watch->sites = next;
	}
}

static void
on_hit(void *context, const struct breakpoint_hit *hit)
{
	const struct watch_site *site = context;

	if (hit->thread->ruled && code_is_taken(site->condition, hit->registers->eflags, hit->registers->rcx))
		watch_hit(site->watch, hit->thread->ruled);
}

static void
on_refused(void *context, uint64_t address, const struct rot_error *err)
{
	const struct watch_site *site = context;

	program_rules_warn(site->watch->rules, "threads that come to '%s' at 0x%llx are not seen: %s",
			   site->watch->place, (unsigned long long)address, err->text);
}

/* All of them, or as many as can be. What is set already stays so. */
static int
set_all(struct watch *watch, const struct place *places, size_t nr, struct thread *thread, struct rot_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct breakpoint_user user = {
			.hit = on_hit, .refused = on_refused, .context = site_of(watch, places[i].condition)};

		if (breakpoint_set(thread, places[i].address, user, err) < 0)
			rc = rot_error_prefix(err, "%s", places[i].text);
	}
	return rc;
}

/* A place that is only reached need not be one that can be left: then it is its own end. */
static int
set_watch(struct watch *watch, struct symbol_files *symbols, const struct objects *objects, struct thread *thread,
	  struct rot_error *err)
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

void
program_rules_resolve(struct program_rules *rules, struct symbol_files *symbols, struct thread *thread)
{
	struct objects objects = {0};
	struct rot_error err;

	if (!program_rules_have_places(rules))
		return;
	if (objects_read(thread->pid, &objects, &err) < 0) {
		program_rules_warn(rules, "places of rules are not found: %s", err.text);
		return;
	}
	for (size_t i = 0; i < rules->nr_watches; i++) {
		struct watch *watch = &rules->watches[i];

		if (set_watch(watch, symbols, &objects, thread, &err) == 0)
			watch->is_found = true;
		else
			watch->error = err;
	}
	objects_clear(&objects);
}
