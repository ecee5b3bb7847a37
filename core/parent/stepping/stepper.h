/* SPDX-License-Identifier: MIT */
/*
 * Steps through regions of threads, and counts what each instruction does (common/step_counts.h), without hardware
 * counters.
 *
 * The thread executes its code itself, block by block (block.h); what the instructions of a block did follows from its
 * registers before, and loops of one block run at full speed. Between blocks it stops at a trap in the code; branches
 * are done in its stead. One stop costs some 10 us, a single step of the processor's own twice as much in a virtual
 * machine.
 *
 * Threads take turns: while one executes some hundred blocks the others wait, but for those in system calls, which tell
 * when they are over. Those that are not stepped and meet a
 * trap are helped over it. Not seen: what handlers of signals do, what the kernel does in system calls, code that
 * changes while it is stepped. While a thread is stepped, it and this process are on one CPU, or each stop would wake
 * the other.
 */
#ifndef CORE_PARENT_STEPPING_STEPPER_H
#define CORE_PARENT_STEPPING_STEPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "common/step_counts.h"
#include "parent/tracer/thread.h"
#include "parent/tracer/tracer.h"

/*
 * A region ends where a branch leads to place.
 * over: called with context; the thread is stopped with these registers, and stepped no longer. region: with counts.
 * One that goes on is paused then.
 */
struct step_end {
	uint64_t place;
	void (*over)(void *context, const struct step_end *end, struct thread *thread,
		     const struct user_regs_struct *registers, const struct step_region *region);
	void *context;
	uint64_t tag; /* for who set it; what is paused does not go on with another one */
};

struct stepper;

/* tracer is borrowed. */
struct stepper *stepper_new(struct tracer *tracer);
void stepper_delete(struct stepper *stepper);

/* What was known of the code may not be so any more; at the next region it is looked at anew. */
void stepper_forget_code(struct stepper *stepper);

/*
 * The stopped thread is stepped from the instruction it is at, with the levels and the limit of region, at once or when
 * its turn comes. Answers its stop. One that is stepped already is left so: TRACER_RESUME. One that was paused goes on
 * with what it has.
 */
enum tracer_answer
stepper_begin(struct stepper *stepper, struct thread *thread, const struct step_region *region, struct step_end end);

/*
 * A thread that runs, or has been started and not gone on yet, is stepped like that from its next pause on, or where
 * the system call is over that it waits in; nowhere is its end, until it is released. joins: that pause has not come
 * yet. release: of such a thread; it goes on by itself.
 */
void stepper_join(struct thread *thread, const struct step_region *region, struct step_end end);
bool stepper_joins(const struct thread *thread);
void stepper_release(struct stepper *stepper, struct thread *thread);

/*
 * Of one that is stepped, or paused; region is NULL, and counts are 0, of any other.
 * region: without the lines of caches, which counts has.   pause: it goes on by itself, and what is counted when it
 * begins again is added, with its caches as they were.   go_on: it is where somebody else has put it; answers its stop.
 */
const struct step_region *stepper_region(const struct thread *thread);
void stepper_counts(const struct thread *thread, uint64_t counts[STEP_NR_COUNTS]);
void stepper_pause(struct stepper *stepper, struct thread *thread);
enum tracer_answer stepper_go_on(struct stepper *stepper, struct thread *thread);

/*
 * Before threads are let go: all are paused, and the code is as it was. leaving, for the tracer's hook of that name:
 * one that has met a trap stands in its own code then.
 */
void stepper_stop(struct stepper *stepper);
enum tracer_answer stepper_leaving(struct stepper *stepper, const struct tracer_stop *stop);

/*
 * Somebody else has answered a stop of any thread: gives the answer to it. is_elsewhere: until another stop is answered
 * the thread executes what it would not by itself. One that had come to a trap of theirs, which they have led it over,
 * goes on from where it is now.
 */
enum tracer_answer
stepper_follow(struct stepper *stepper, struct thread *thread, enum tracer_answer answer, bool is_elsewhere);

/* Is it stepped, and not paused? */
bool stepper_has(const struct thread *thread);

/* The region of the thread that has its turn, without the lines of caches; NULL: nobody is stepped. */
const struct step_region *stepper_current(const struct stepper *stepper);

/* For all stops of all threads, before anybody else: TRACER_DELIVER if it is none of a step. */
enum tracer_answer stepper_stopped(struct stepper *stepper, const struct tracer_stop *stop);

/* A thread that was started, also of a new process: it may be on the CPUs that the one which started it might be on. */
void stepper_started(struct stepper *stepper, struct thread *thread);

/*
 * At the first stop of a process that a thread has started, and whenever it executes a program: it gets its code as it
 * was. False: it shares that of the thread until it executes a program, and is to be asked for again then.
 */
bool stepper_may_go(struct stepper *stepper, struct thread *thread);

/* A thread that has ended, or executes another program: nobody is told of its region. */
void stepper_exited(struct stepper *stepper, struct thread *thread);
void stepper_executed(struct stepper *stepper, struct thread *thread);

#endif
