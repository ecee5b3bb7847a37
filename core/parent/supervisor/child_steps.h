/* SPDX-License-Identifier: MIT */
/* Regions that the measuring core's child wants to have executed step by step (common/step_counts.h). */
#ifndef CORE_PARENT_SUPERVISOR_CHILD_STEPS_H
#define CORE_PARENT_SUPERVISOR_CHILD_STEPS_H

#include "parent/stepping/stepper.h"

/* Zeroed but for tracer, which is borrowed: none. */
struct child_steps {
	struct tracer *tracer;
	struct stepper *stepper;
	uint64_t begin; /* as of WIRE_STEP; 0: not told yet */

	/*
	 * leader: whose region is stepped with all other threads of process pid; 0: nobody's. plain: what each begins
	 * with. others: of those that are over. waiting: the address of the leader's region, until all others have
	 * joined; 0: it has begun.
	 */
	pid_t leader, pid;
	uint64_t waiting;
	struct step_region plain, others;
};

/* To be called at every stop, before anybody else: TRACER_DELIVER if it is none of a step. */
enum tracer_answer child_steps_stopped(struct child_steps *steps, const struct tracer_stop *stop);

/* As stepper_follow, after others have answered a stop. */
enum tracer_answer
child_steps_follow(struct child_steps *steps, struct thread *thread, enum tracer_answer answer, bool is_elsewhere);

/* For the tracer's hooks of those names. */
void child_steps_started(struct child_steps *steps, struct thread *thread);
bool child_steps_may_go(struct child_steps *steps, struct thread *thread);
void child_steps_exited(struct child_steps *steps, struct thread *thread);

/* As stepper_current. */
const struct step_region *child_steps_current(const struct child_steps *steps);

void child_steps_clear(struct child_steps *steps);

#endif
