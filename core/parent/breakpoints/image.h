/* SPDX-License-Identifier: MIT */
/*
 * The address spaces of traced processes: which thread has which, reading and writing them, and where a program stands
 * when its libraries are there. Threads, and the children of vfork, share one; fork copies it with its breakpoints;
 * exec replaces it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "parent/tracer/thread.h"
#include "parent/tracer/tracer.h"

struct breakpoint;
struct breakpoint_user;
struct images;
struct slot_page;

struct image {
	struct images *images;
	pid_t pid;                     /* the process it was made for; 0: which has ended */
	size_t nr_threads;             /* that have it                                    */
	int memory;                    /* descriptor of /proc/TID/mem; -1: there is none  */
	uint64_t loader_state_address; /* of r_debug.r_state, once objects are watched; 0: not */
	bool blocks_trap;              /* the program began with SIGTRAP blocked */
	pid_t stranger;                /* a process that has it and is not traced; 0: there is none */

	/* of breakpoints.c, by address */
	struct breakpoint **breakpoints;
	size_t nr_breakpoints;

	/* of slots.c */
	struct slot_page *pages;
	uint64_t identity; /* a number that is in the first page, and in copies of it until they get their own */

	struct image *next;
};

/* All address spaces of a run. Zeroed but for the first part: none. */
struct images {
	/*
	 * Called with context; any may be NULL. at_entry: the thread stands before the first instruction of its
	 * program proper: the loader has mapped all libraries that it needs, and it is the only thread.
	 * objects_changed: libraries were loaded later, or unloaded; the thread stands in the loader, before any code
	 * of theirs is executed. refused: at_entry or objects_changed will not be called for this program, and why. In
	 * all of them the thread is stopped with registers of its own.
	 */
	void (*at_entry)(void *context, struct thread *thread);
	void (*objects_changed)(void *context, struct thread *thread);
	void (*refused)(void *context, struct thread *thread, const struct rot_error *err);
	void *context;
	const struct tracer *tracer;

	/*
	 * Where code is translated: who brings threads to places without changing the code, as breakpoint_set and
	 * breakpoint_set_once. NULL: int3s do. These places are not lifted.
	 */
	int (*set)(void *context, struct thread *thread, uint64_t address, const struct breakpoint_user *user,
		   bool is_once, struct rot_error *err);

	/* its own */
	struct image *first; /* the newest */
	uint64_t last_identity;
	bool are_lifted; /* nothing is set any more, and what new processes have is taken out */
};

/*
 * For the tracer's hooks of those names. thread->image is set by started, which is for every thread of a process that
 * was traced before, attached to or forked, and by executed.
 */
void images_started(struct images *images, struct thread *thread);
void images_executed(struct images *images, struct thread *thread);
void images_exited(struct images *images, struct thread *thread);

/* For the tracer's hook of that name. */
enum tracer_answer images_stopped(struct images *images, const struct tracer_stop *stop);

/*
 * For the tracer's hook of that name: a process that is not followed gets its code back. One that shares the address
 * space of its parent must stay traced until it has executed a program.
 */
bool images_may_go(struct images *images, struct thread *thread);

/*
 * Before threads are let go: takes all breakpoints out of all programs, and of those that are seen later. leaving, for
 * the tracer's hook of that name: sees to it that the thread stands in its own code.
 */
void images_lift_all(struct images *images);
enum tracer_answer images_leaving(struct images *images, const struct tracer_stop *stop);

/* The processes are gone, or were let go. */
void images_clear(struct images *images);

/*
 * For slots.c: who has the bytes at address is in that image from now on. Those who were forked, also by vfork, before
 * there was any slot got one of their own, since it was of no interest.
 */
void image_gather(struct image *image, uint64_t address, const void *bytes, size_t n);

/*
 * Calls objects_changed from now on. At the entry point this is done already; for a program that was attached to, a
 * stopped thread of it is needed. 0, also when there is no loader (a static program); or -1.
 */
int image_watch_objects(struct thread *thread, struct rot_error *err);

/*
 * Sees to it that a thread that is paused, or about to get a signal, can be made to do something else for a moment: out
 * of a restartable sequence, which it has lost by stopping. False: it has raised a signal that will only be delivered
 * when it goes on, which is the next stop.
 */
bool image_bring_to_rest(const struct thread *thread);

/* 0: breakpoints can be set in the program of a stopped thread: it has 64 bits and does not ignore SIGTRAP; else -1. */
int image_check(const struct thread *thread, struct rot_error *err);

/* All n bytes at an address: 0, or -1 with errno. */
int image_read(struct image *image, uint64_t address, void *bytes, size_t n);

/*
 * Likewise, also where the program may not write. thread: one that is stopped, in case the system refuses to write in
 * any other way than through it; may be NULL.
 */
int image_write(struct image *image, const struct thread *thread, uint64_t address, const void *bytes, size_t n);
