/* SPDX-License-Identifier: MIT */
/* Regions that the measuring core's child wants to have counted without counters (common/step_counts.h). */
#pragma once

#include "common/step_counts.h"
#include "parent/tracer/tracer.h"

/* Zeroed but for tracer, which is borrowed: none. */
struct child_steps {
	struct tracer *tracer;
	struct translator *translator; /* NULL before the first region */
	uint64_t begin;                /* as of WIRE_STEP; 0: not told yet */
	unsigned nr_inside;            /* regions that have begun */

	/*
	 * leader: whose region is counted with all other threads of process pid; 0: nobody's. goes_on: with what they
	 * have. others: counts of those that have left. nr_asked: those that are to enter or leave, as phase says, and
	 * have not yet.
	 */
	pid_t leader, pid;
	bool goes_on;
	struct step_region others;
	enum steps_phase { STEPS_QUIET, STEPS_JOINING, STEPS_LEAVING } phase;
	unsigned nr_asked;
};

/* To be called at every stop, before anybody else: TRACER_DELIVER if it is none of a region. */
enum tracer_answer child_steps_stopped(struct child_steps *steps, const struct tracer_stop *stop);

/* Does translator_follow, after others have answered a stop. */
enum tracer_answer
child_steps_follow(struct child_steps *steps, struct thread *thread, enum tracer_answer answer, bool is_elsewhere);

/* For the tracer's hooks of those names. */
void child_steps_started(struct child_steps *steps, struct thread *thread);
void child_steps_created(struct child_steps *steps, struct thread *thread, pid_t child);
bool child_steps_may_go(struct child_steps *steps, struct thread *thread);
void child_steps_exited(struct child_steps *steps, struct thread *thread);

/* A region has begun, and not ended. */
bool child_steps_is_counting(const struct child_steps *steps);

void child_steps_clear(struct child_steps *steps);
