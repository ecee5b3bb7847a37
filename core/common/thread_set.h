/* SPDX-License-Identifier: MIT */
/*
 * Measurer sets on other people's threads: everything is done on behalf of the thread, in which nothing is executed.
 * Counters run between start and stop, so that sets which take turns need not share them.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "MeasurerSet.h"
#include "MeasurerSetOutput.h"
#include "error.h"

/* A set with its events encoded, once for all threads. Borrows the set. */
struct set_plan;

/* A set on one thread. Borrows the plan. */
struct thread_set;

/* NULL: an event is not known, or a measurer is none that works on behalf of a thread. */
struct set_plan *set_plan_new(const struct measurer_set *set, struct rot_error *err);
void set_plan_delete(struct set_plan *plan);
const struct measurer_set *set_plan_set(const struct set_plan *plan);

/* Ready to be started on thread tid. NULL with errno as of perf_event_open: ESRCH if the thread has ended. */
struct thread_set *thread_set_new(const struct set_plan *plan, pid_t tid, struct rot_error *err);

/* NULL is allowed. */
void thread_set_delete(struct thread_set *set);

/*
 * After the thread, now tid, executed a program: counters that the system may have taken away are opened anew; what
 * they counted is kept, and the output goes on under the number that the thread had at first. 0 or -1, as
 * thread_set_new.
 */
int thread_set_reopen(struct thread_set *set, pid_t tid, struct rot_error *err);

/* The thread has ended: its counters are closed, what they counted is kept. */
void thread_set_end(struct thread_set *set);

/*
 * In list order: validation, additional, main measurer; stop in reverse. Also after the end of the thread. What is
 * measured between starts and stops adds up until it is read. A start that follows a start, or a stop that follows
 * none, does nothing.
 */
void thread_set_start(struct thread_set *set);
void thread_set_stop(struct thread_set *set);

/*
 * Gives what was measured since the last time, up to the last stop: *output is NULL if there was no stop. 0, or -1:
 * counters could not be read.
 */
int thread_set_read(struct thread_set *set, struct measurer_set_output **output, struct rot_error *err);

/* One more start of a set that has not been stopped, or one less: stops without a start count nothing. */
static inline void
thread_set_count_open(unsigned *nr_open, bool is_start)
{
	if (is_start)
		++*nr_open;
	else if (*nr_open > 0)
		--*nr_open;
}
