/* SPDX-License-Identifier: MIT */
/* Threads of programs that are stepped through while they are in regions (stepping/stepper.h), in one run. */
#ifndef CORE_PARENT_REGIONS_REGION_STEPS_H
#define CORE_PARENT_REGIONS_REGION_STEPS_H

#include "StepMeasurer.h"
#include "common/perf_event.h"
#include "parent/tracer/tracer.h"

struct region_steps;

/* NULL measurer: NULL, which all that follows allows. Both are borrowed. */
struct region_steps *region_steps_new(const struct step_measurer *measurer, struct tracer *tracer);
void region_steps_delete(struct region_steps *steps);

/*
 * What the thread did in regions so far, as running totals at that time; time stands for the times enabled and running.
 * False: some of it could not be followed, so nothing is known.
 */
bool region_steps_read(const struct region_steps *steps, const struct thread *thread, uint64_t time_ns,
		       struct perf_counts *counts);

/* For all stops of all threads, before anybody else: TRACER_DELIVER if it is none of a step. */
enum tracer_answer region_steps_stopped(struct region_steps *steps, const struct tracer_stop *stop);

/* After somebody else answered a stop with TRACER_RESUME: answers it, by whether the thread is in a region now. */
enum tracer_answer region_steps_follow(struct region_steps *steps, struct thread *thread, bool is_inside);

/* As stepper.h has them; without steps, nothing, and true. */
void region_steps_started(struct region_steps *steps, struct thread *thread);
bool region_steps_may_go(struct region_steps *steps, struct thread *thread);
void region_steps_stop(struct region_steps *steps);
enum tracer_answer region_steps_leaving(struct region_steps *steps, const struct tracer_stop *stop);

/* A thread has ended; executes another program; libraries have changed. */
void region_steps_exited(struct region_steps *steps, struct thread *thread);
void region_steps_executed(struct region_steps *steps, struct thread *thread);
void region_steps_code_changed(struct region_steps *steps);

/* What the counts leave out, of threads that have ended, in a sentence in fresh memory; NULL: nothing. */
char *region_steps_doubts(const struct region_steps *steps);

/* Why some threads could not be followed to the end of a region; "": all were. */
const char *region_steps_failure(const struct region_steps *steps);

#endif
