/* SPDX-License-Identifier: MIT */
/*
 * CreateMeasurerOnThread in a program: copies of a measurer set on all threads, those there are and those to come. A
 * copy counts while more events that start it have come than such that stop it. An event of the run or of a process
 * holds for threads that come later as well, so each level keeps its number, and what is new takes over that of the
 * level above.
 */
#include <stdlib.h>

#include "memory.h"
#include "parent/program/program_rules_internal.h"

struct process_level {
	const struct ruled_process *process;
	unsigned nr_open;
	struct process_level *next;
};

struct creation {
	const struct create_measurer_on_thread_action *action;
	unsigned nr_open; /* of the run */
	struct process_level *levels;
	struct creation *next;
};

static struct process_level *
level_of(struct creation *creation, const struct ruled_process *process)
{
	struct process_level *level = creation->levels;

	while (level && level->process != process)
		level = level->next;
	if (level)
		return level;
	level = rot_calloc(1, sizeof(*level));
	level->process = process;
	level->nr_open = creation->nr_open;
	level->next = creation->levels;
	creation->levels = level;
	return level;
}

static void
count(unsigned *nr_open, bool is_start)
{
	if (is_start)
		++*nr_open;
	else if (*nr_open > 0)
		--*nr_open;
}

/* ---- copies ---- */

static void
copy_count(struct held_set *copy, bool is_start)
{
	count(&copy->nr_open, is_start);
	if (copy->nr_open > 0)
		thread_set_start(copy->set);
	else
		thread_set_stop(copy->set);
}

static void
copy_finish(struct program_rules *rules, struct held_set *copy)
{
	thread_set_stop(copy->set);
	held_set_read(rules, copy);
}

static void
copy_make(struct program_rules *rules, struct creation *creation, struct ruled_thread *thread)
{
	struct held_set *copy = held_set_find(thread, creation);

	if (copy || thread->has_ended)
		return;
	copy = held_set_add(rules, thread, creation, creation->action->measurer_set);
	if (!copy)
		return;
	copy->nr_open = level_of(creation, thread->process)->nr_open;
	if (copy->nr_open > 0)
		thread_set_start(copy->set);
}

/* ---- events ---- */

static void
count_levels(struct creation *creation, const struct program_event *event, bool is_start)
{
	if (event->kind == EVENT_PROGRAM)
		count(&level_of(creation, event->thread->process)->nr_open, is_start);
	if (event->kind != EVENT_RUN)
		return;
	for (struct process_level *level = creation->levels; level; level = level->next)
		count(&level->nr_open, is_start);
	count(&creation->nr_open, is_start);
}

static void
switch_copies(struct program_rules *rules, struct creation *creation, const struct program_event *event, bool is_start)
{
	count_levels(creation, event, is_start);
	for (struct ruled_thread *thread = concerned_first(rules, event, -1); thread;
	     thread = concerned_next(event, -1, thread)) {
		struct held_set *copy = held_set_find(thread, creation);

		if (copy)
			copy_count(copy, is_start);
	}
}

static void
read_copies(struct program_rules *rules, struct creation *creation, const struct program_event *event, bool dispose)
{
	bool finish = dispose || !creation->action->stop_predicate;

	for (struct ruled_thread *thread = concerned_first(rules, event, -1); thread;
	     thread = concerned_next(event, -1, thread)) {
		struct held_set *copy = held_set_find(thread, creation);

		if (!copy)
			continue;
		if (finish)
			copy_finish(rules, copy);
		else
			held_set_read(rules, copy);
		if (dispose)
			held_set_remove(thread, copy);
	}
}

static void
end_thread(struct program_rules *rules, struct creation *creation, struct ruled_thread *thread)
{
	struct held_set *copy = held_set_find(thread, creation);

	if (!copy)
		return;
	copy_finish(rules, copy);
	held_set_remove(thread, copy);
}

static void
answer(struct program_rules *rules, struct creation *creation, const struct program_event *event)
{
	const struct create_measurer_on_thread_action *action = creation->action;

	if (event->kind == EVENT_THREAD && !event->thread->has_ended)
		copy_make(rules, creation, event->thread);
	if (program_predicate_matches(action->start_predicate, event))
		switch_copies(rules, creation, event, true);
	if (program_predicate_matches(action->stop_predicate, event))
		switch_copies(rules, creation, event, false);
	if (program_predicate_matches(action->read_predicate, event))
		read_copies(rules, creation, event, false);
	if (program_predicate_matches(action->dispose_predicate, event))
		read_copies(rules, creation, event, true);
	if (event->kind == EVENT_THREAD && event->thread->has_ended)
		end_thread(rules, creation, event->thread);
}

size_t
creations_count(const struct program_rules *rules)
{
	size_t nr = 0;

	for (const struct creation *creation = rules->creations; creation; creation = creation->next)
		nr++;
	return nr;
}

void
creations_answer(struct program_rules *rules, size_t nr, const struct program_event *event)
{
	for (struct creation *creation = rules->creations; nr-- > 0; creation = creation->next)
		answer(rules, creation, event);
}

void
creation_execute(struct program_rules *rules, const struct program_event *event,
		 const struct create_measurer_on_thread_action *action)
{
	struct creation **at = &rules->creations;
	bool is_new;

	while (*at && (*at)->action != action)
		at = &(*at)->next;
	is_new = *at == NULL;
	if (is_new) {
		*at = rot_calloc(1, sizeof(**at));
		(*at)->action = action;
		(*at)->nr_open = action->start_predicate ? 0 : 1;
	}
	for (struct ruled_thread *thread = rules->threads; thread; thread = thread->next)
		copy_make(rules, *at, thread);
	if (is_new && program_predicate_matches(action->start_predicate, event))
		switch_copies(rules, *at, event, true);
}

void
creations_finish(struct program_rules *rules)
{
	for (struct creation *creation = rules->creations; creation; creation = creation->next) {
		for (struct ruled_thread *thread = rules->threads; thread; thread = thread->next) {
			struct held_set *copy = held_set_find(thread, creation);

			if (copy)
				copy_finish(rules, copy);
		}
	}
}

void
creations_clear(struct program_rules *rules)
{
	while (rules->creations) {
		struct creation *next = rules->creations->next;

		while (rules->creations->levels) {
			struct process_level *level = rules->creations->levels->next;

			free(rules->creations->levels);
			rules->creations->levels = level;
		}
		free(rules->creations);
		rules->creations = next;
	}
}
