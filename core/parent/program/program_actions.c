/* SPDX-License-Identifier: MIT */
/* The actions of rules in a program, on behalf of its threads: one row for each class. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/set_action.h"
#include "memory.h"
#include "parent/program/program_rules_internal.h"

/* ---- sets that threads hold ---- */

static struct held_set *
held_set_find(const struct ruled_thread *thread, const void *owner)
{
	struct held_set *held = thread->sets;

	while (held && held->owner != owner)
		held = held->next;
	return held;
}

/* One that was killed meanwhile has nothing to be measured. */
static struct thread_set *
open_set(struct program_rules *rules, const struct measurer_set *set, pid_t tid)
{
	struct thread_set *opened;
	struct rot_error err;
	size_t i = 0;

	while (set_plan_set(rules->plans[i]) != set)
		i++;
	opened = thread_set_new(rules->plans[i], tid, &err);
	if (!opened && errno != ESRCH)
		program_rules_warn(rules, "measurer set %d of a rule is missing on some threads: %s", set->id,
				   rot_error_line(&err));
	return opened;
}

static struct held_set *
held_set_add(struct program_rules *rules, struct ruled_thread *thread, const void *owner,
	     const struct measurer_set *set)
{
	struct thread_set *opened = open_set(rules, set, thread->tid);
	struct held_set *held;

	if (!opened)
		return NULL;
	held = rot_calloc(1, sizeof(*held));
	held->owner = owner;
	held->set = opened;
	held->next = thread->sets;
	thread->sets = held;
	return held;
}

void
held_set_remove(struct ruled_thread *thread, struct held_set *held)
{
	struct held_set **at = &thread->sets;

	while (*at != held)
		at = &(*at)->next;
	*at = held->next;
	thread_set_delete(held->set);
	free(held);
}

static void
held_set_read(struct program_rules *rules, struct held_set *held)
{
	struct measurer_set_output *output;
	struct rot_error err;

	if (thread_set_read(held->set, &output, &err) < 0)
		program_rules_warn(rules, "%s", err.text);
	else if (output)
		program_run_output_measurer_set_outputs_add(rules->setup.output, output);
}

/* ---- sets that are created on all threads ---- */

/*
 * CreateMeasurerOnThread in a program: copies of a measurer set on all threads, those there are and those to come. A
 * copy counts while more events that start it have come than such that stop it. An event of the run or of a process
 * holds for threads that come later as well, so each level keeps its number, and what is new takes over that of the
 * level above.
 */
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

static void
count_levels(struct creation *creation, const struct program_event *event, bool is_start)
{
	if (event->base.kind == EVENT_PROGRAM)
		thread_set_count_open(&level_of(creation, event->thread->process)->nr_open, is_start);
	if (event->base.kind != EVENT_RUN)
		return;
	for (struct process_level *level = creation->levels; level; level = level->next)
		thread_set_count_open(&level->nr_open, is_start);
	thread_set_count_open(&creation->nr_open, is_start);
}

static void
switch_copies(struct program_rules *rules, struct creation *creation, const struct program_event *event, bool is_start)
{
	count_levels(creation, event, is_start);
	for (struct ruled_thread *thread = NULL; (thread = concerned_next(rules, event, -1, thread));) {
		struct held_set *copy = held_set_find(thread, creation);

		if (!copy)
			continue;
		thread_set_count_open(&copy->nr_open, is_start);
		if (copy->nr_open > 0)
			thread_set_start(copy->set);
		else
			thread_set_stop(copy->set);
	}
}

static void
read_copies(struct program_rules *rules, struct creation *creation, const struct program_event *event, bool dispose)
{
	bool finish = dispose || !creation->action->stop_predicate;

	for (struct ruled_thread *thread = NULL; (thread = concerned_next(rules, event, -1, thread));) {
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
answer_creation(struct program_rules *rules, struct creation *creation, const struct program_event *event)
{
	const struct create_measurer_on_thread_action *action = creation->action;
	struct held_set *copy;

	if (event->base.kind == EVENT_THREAD && !event->thread->has_ended)
		copy_make(rules, creation, event->thread);
	if (predicate_matches(action->start_predicate, &event->base))
		switch_copies(rules, creation, event, true);
	if (predicate_matches(action->stop_predicate, &event->base))
		switch_copies(rules, creation, event, false);
	if (predicate_matches(action->read_predicate, &event->base))
		read_copies(rules, creation, event, false);
	if (predicate_matches(action->dispose_predicate, &event->base))
		read_copies(rules, creation, event, true);
	copy = event->base.kind == EVENT_THREAD && event->thread->has_ended ? held_set_find(event->thread, creation)
									    : NULL;
	if (copy) {
		copy_finish(rules, copy);
		held_set_remove(event->thread, copy);
	}
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
		answer_creation(rules, creation, event);
}

static void
create_copies(struct program_rules *rules, const struct program_event *event, const void *own)
{
	const struct create_measurer_on_thread_action *action = own;
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
	if (is_new && predicate_matches(action->start_predicate, &event->base))
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

/* ---- actions on sets ---- */

static void
initialize_sets(struct program_rules *rules, const struct program_event *event, const void *action)
{
	const struct set_action *own = action;

	pid_t tid = own->base.tid;

	for (struct ruled_thread *thread = NULL; (thread = concerned_next(rules, event, tid, thread));) {
		if (thread->has_ended)
			continue;
		if (held_set_find(thread, own->measurer_set))
			program_rules_warn(rules, "%s: measurer set %d is initialized already",
					   own->base.entity.class->name, own->measurer_set->id);
		else
			held_set_add(rules, thread, own->measurer_set, own->measurer_set);
	}
}

static void
on_held_sets(struct program_rules *rules, const struct program_event *event, const struct set_action *own,
	     void (*step)(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held))
{
	pid_t tid = own->base.tid;
	bool is_held = false;

	for (struct ruled_thread *thread = NULL; (thread = concerned_next(rules, event, tid, thread));) {
		struct held_set *held = held_set_find(thread, own->measurer_set);

		if (!held)
			continue;
		is_held = true;
		step(rules, thread, held);
	}
	if (!is_held)
		program_rules_warn(rules, "%s: measurer set %d is not initialized on the threads of an event %s",
				   own->base.entity.class->name, own->measurer_set->id, event->base.name);
}

static void
step_start(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held)
{
	(void)rules;
	if (!thread->has_ended)
		thread_set_start(held->set);
}

static void
step_stop(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held)
{
	(void)rules;
	(void)thread;
	thread_set_stop(held->set);
}

static void
step_read(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held)
{
	(void)thread;
	held_set_read(rules, held);
}

static void
step_dispose(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held)
{
	(void)rules;
	held_set_remove(thread, held);
}

/* ---- others ---- */

static void
add_rule(struct program_rules *rules, const struct program_event *event, const void *action)
{
	const struct add_rule_action *own = action;
	size_t i = 0;

	(void)event;
	while (i < rules->nr && rules->items[i] != own->rule)
		i++;
	if (i < rules->nr)
		return;
	rot_add(rules->items, rules->nr) = own->rule;
}

/* In the thread that executes it: the tracer. */
static void
measure_action(struct program_rules *rules, const struct program_event *event, const void *action)
{
	const struct measure_action_execution *own = action;
	struct held_set held = {.set = open_set(rules, own->measurer_set, gettid())};

	if (held.set)
		thread_set_start(held.set);
	program_action_execute(rules, event, own->action);
	if (!held.set)
		return;
	thread_set_stop(held.set);
	held_set_read(rules, &held);
	thread_set_delete(held.set);
}

/* step: of each set that the threads hold; execute: of all others. */
static const struct {
	const struct rot_class *class;
	void (*execute)(struct program_rules *rules, const struct program_event *event, const void *action);
	void (*step)(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held);
} action_types[] = {
	{&initialize_measurer_set_action_class, initialize_sets, NULL},
	{&start_measurer_set_action_class, NULL, step_start},
	{&stop_measurer_set_action_class, NULL, step_stop},
	{&read_measurer_set_action_class, NULL, step_read},
	{&dispose_measurer_set_action_class, NULL, step_dispose},
	{&create_measurer_on_thread_action_class, create_copies, NULL},
	{&add_rule_action_class, add_rule, NULL},
	{&measure_action_execution_class, measure_action, NULL},
};

void
program_action_execute(struct program_rules *rules, const struct program_event *event, const struct action_base *action)
{
	for (size_t i = 0; i < sizeof(action_types) / sizeof(action_types[0]); i++) {
		if (!rot_is_a(action, action_types[i].class))
			continue;
		if (action_types[i].step)
			on_held_sets(rules, event, (const struct set_action *)action, action_types[i].step);
		else
			action_types[i].execute(rules, event, action);
	}
}
