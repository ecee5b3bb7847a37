/* SPDX-License-Identifier: MIT */
/*
 * Places in the code of the measuring core's child that its rules want to know of (common/watch.h): breakpoints, at
 * which the thread calls the child's handler before it goes on.
 */
#pragma once

#include "parent/breakpoints/image.h"
#include "parent/injection/inject.h"

struct child_places;

/* All borrowed. set: told, with context, once the breakpoints are there, or cannot be. */
struct child_places_setup {
	const struct tracer *tracer;
	struct injector *injector;
	void (*set)(void *context);
	void *context;
};

struct child_places *child_places_new(const struct child_places_setup *setup);
void child_places_delete(struct child_places *places);

/* For the tracer's hooks of these names. */
void child_places_started(struct child_places *places, struct thread *thread);
void child_places_executed(struct child_places *places, struct thread *thread);
void child_places_exited(struct child_places *places, struct thread *thread);
bool child_places_may_go(struct child_places *places, struct thread *thread);

/* To be called at every tracer_stop before the injector is; answers it. */
enum tracer_answer child_places_stopped(struct child_places *places, const struct tracer_stop *stop);

/* The table at that address in the child, once; its main thread waits until that is done. False: it cannot be read. */
bool child_places_watch(struct child_places *places, uint64_t table);

/* There is a table: the child is to be heard before its stops are answered. */
bool child_places_are_watched(const struct child_places *places);

/* Another run: hits are counted anew. */
void child_places_begin_run(struct child_places *places);
