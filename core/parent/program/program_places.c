/* SPDX-License-Identifier: MIT */
/* Where in a process threads are watched for rules, and that they have come there. */
#include "parent/program/program_rules_internal.h"
#include "parent/symbols/objects.h"

static void
on_hit(struct place_watch *watch, const struct breakpoint_hit *hit)
{
	if (hit->thread->ruled)
		watch_hit(watch->context, hit->thread->ruled);
}

static void
on_refused(struct place_watch *watch, uint64_t address, const struct rot_error *err)
{
	const struct watch *self = watch->context;

	program_rules_warn(self->rules, "threads that come to '%s' at 0x%llx are not seen: %s", watch->place,
			   (unsigned long long)address, err->text);
}

void
watch_init(struct watch *watch, struct program_rules *rules, const struct breakpoint_event_predicate *predicate)
{
	*watch = (struct watch){.rules = rules,
				.at = {.place = predicate->place,
				       .event = predicate->event,
				       .hit = on_hit,
				       .refused = on_refused,
				       .context = watch}};
}

void
program_rules_resolve(struct program_rules *rules, struct symbol_files *symbols, struct thread *thread)
{
	struct objects objects = {0};
	struct rot_error err;

	if (!program_rules_have_places(rules))
		return;
	if (objects_read(thread->tid, &objects, &err) < 0) {
		program_rules_warn(rules, "places of rules are not found: %s", err.text);
		return;
	}
	for (size_t i = 0; i < rules->nr_watches; i++) {
		struct watch *watch = &rules->watches[i];

		if (place_watch_set(&watch->at, symbols, &objects, thread, &err) == 0)
			watch->is_found = true;
		else
			watch->error = err;
	}
	objects_clear(&objects);
}
