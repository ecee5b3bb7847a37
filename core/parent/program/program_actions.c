/* SPDX-License-Identifier: MIT */
/* What the actions of rules do in a program, on behalf of its threads: one row for each class. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/set_action.h"
#include "memory.h"
#include "parent/program/program_rules_internal.h"

/* ---- sets that threads hold ---- */

static const struct set_plan *
plan_of(const struct program_rules *rules, const struct measurer_set *set)
{
	size_t i = 0;

	while (set_plan_set(rules->plans[i]) != set)
		i++;
	return rules->plans[i];
}

struct held_set *
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
	struct rot_error err;
	struct thread_set *opened = thread_set_new(plan_of(rules, set), tid, &err);

	if (!opened && errno != ESRCH)
		program_rules_warn(rules, "measurer set %d of a rule is missing on some threads: %s", set->id,
				   rot_error_line(&err));
	return opened;
}

struct held_set *
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

void
held_set_read(struct program_rules *rules, struct held_set *held)
{
	struct measurer_set_output *output;
	struct rot_error err;

	if (thread_set_read(held->set, &output, &err) < 0)
		program_rules_warn(rules, "%s", err.text);
	else if (output)
		program_run_output_measurer_set_outputs_add(rules->setup.output, output);
}

/* ---- actions on sets ---- */

static void
initialize(struct program_rules *rules, const struct program_event *event, const void *action)
{
	const struct set_action *own = action;

	pid_t tid = own->base.tid;

	for (struct ruled_thread *thread = concerned_first(rules, event, tid); thread;
	     thread = concerned_next(event, tid, thread)) {
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
for_held(struct program_rules *rules, const struct program_event *event, const struct set_action *own,
	 void (*step)(struct program_rules *rules, struct ruled_thread *thread, struct held_set *held))
{
	pid_t tid = own->base.tid;
	bool is_held = false;

	for (struct ruled_thread *thread = concerned_first(rules, event, tid); thread;
	     thread = concerned_next(event, tid, thread)) {
		struct held_set *held = held_set_find(thread, own->measurer_set);

		if (!held)
			continue;
		is_held = true;
		step(rules, thread, held);
	}
	if (!is_held)
		program_rules_warn(rules, "%s: measurer set %d is not initialized on the threads of an event %s",
				   own->base.entity.class->name, own->measurer_set->id, event->name);
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

static void
start(struct program_rules *rules, const struct program_event *event, const void *action)
{
	for_held(rules, event, action, step_start);
}

static void
stop(struct program_rules *rules, const struct program_event *event, const void *action)
{
	for_held(rules, event, action, step_stop);
}

static void
read_set(struct program_rules *rules, const struct program_event *event, const void *action)
{
	for_held(rules, event, action, step_read);
}

static void
dispose(struct program_rules *rules, const struct program_event *event, const void *action)
{
	for_held(rules, event, action, step_dispose);
}

/* ---- others ---- */

static void
create(struct program_rules *rules, const struct program_event *event, const void *action)
{
	creation_execute(rules, event, action);
}

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
	rules->items = rot_realloc(rules->items, rules->nr + 1, sizeof(*rules->items));
	rules->items[rules->nr++] = own->rule;
}

/* In the thread that executes it: the tracer. */
static void
measure(struct program_rules *rules, const struct program_event *event, const void *action)
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

static const struct {
	const struct rot_class *class;
	void (*execute)(struct program_rules *rules, const struct program_event *event, const void *action);
} types[] = {
	{&initialize_measurer_set_action_class, initialize},
	{&start_measurer_set_action_class, start},
	{&stop_measurer_set_action_class, stop},
	{&read_measurer_set_action_class, read_set},
	{&dispose_measurer_set_action_class, dispose},
	{&create_measurer_on_thread_action_class, create},
	{&add_rule_action_class, add_rule},
	{&measure_action_execution_class, measure},
};

void
program_action_execute(struct program_rules *rules, const struct program_event *event, const struct action_base *action)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (rot_is_a(action, types[i].class))
			types[i].execute(rules, event, action);
	}
}
