/* SPDX-License-Identifier: MIT */
/* Between program_rules.c (threads, events, which rules answer them) and program_actions.c (what rules do). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/events.h"
#include "common/proc.h"
#include "common/thread_set.h"
#include "entities.h"
#include "parent/breakpoints/place_watch.h"
#include "parent/program/program_rules.h"
#include "parent/tracer/loop.h"

/* ---- who ---- */

struct ruled_process {
	pid_t pid;
	char *executable;
	size_t nr_threads; /* that live; 0: it has ended */
	struct ruled_process *next;
};

/* A measurer set on a thread. owner: the set itself, where actions lead it; or the creation that made it. */
struct held_set {
	const void *owner;
	struct thread_set *set;
	unsigned nr_open; /* of a creation: events that start it without one that stops it */
	struct held_set *next;
};

/* Lives on after the end of its thread while it holds sets. hits: so far, one for each watch; NULL: none. */
struct ruled_thread {
	pid_t tid;
	struct ruled_process *process;
	int index; /* in the order of their start */
	bool has_ended;
	char name[THREAD_NAME_BYTES]; /* once it has ended */
	struct held_set *sets;
	int64_t *hits;
	struct ruled_thread *next, **link;
};

/* A place and an event there that predicates name. is_found: in some process. error: why it was not in the last one. */
struct watch {
	struct program_rules *rules;
	struct place_watch at;
	bool is_found;
	struct rot_error error;
};

/* ---- what ---- */

/* thread: whose it is; NULL for events of the run. */
struct program_event {
	struct event base;
	struct ruled_thread *thread;
};

/* A CreateMeasurerOnThreadAction that was executed. */
struct creation;

struct program_rules {
	struct program_rules_setup setup;
	struct rule **items; /* in their order; some were added at run time */
	size_t nr;
	struct set_plan **plans;
	size_t nr_plans;
	struct watch *watches; /* do not move */
	size_t nr_watches;
	struct ruled_process *processes;
	struct ruled_thread *threads;
	int nr_started;
	struct creation *creations; /* in the order of their execution */
	bool is_started, is_over;
};

/*
 * The threads that an action of the event concerns which names thread tid (-1: none), one after the other: last is NULL
 * at the begin, the result at the end. They include those that have ended and hold sets.
 */
struct ruled_thread *concerned_next(const struct program_rules *rules, const struct program_event *event, pid_t tid,
				    const struct ruled_thread *last);

void
program_rules_warn(const struct program_rules *rules, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- actions ---- */

void program_action_execute(struct program_rules *rules, const struct program_event *event,
			    const struct action_base *action);

void held_set_remove(struct ruled_thread *thread, struct held_set *held);

/* ---- creations ---- */

size_t creations_count(const struct program_rules *rules);

/* The first nr of them answer the event. */
void creations_answer(struct program_rules *rules, size_t nr, const struct program_event *event);

/* Stops those that still count, and reads all. */
void creations_finish(struct program_rules *rules);
void creations_clear(struct program_rules *rules);
