/* SPDX-License-Identifier: MIT */
/* Threads of programs that are translated while they are in regions (translate/translator.h), in one run. */
#ifndef CORE_PARENT_REGIONS_REGION_STEPS_H
#define CORE_PARENT_REGIONS_REGION_STEPS_H

#include "StepMeasurer.h"
#include "common/perf_event.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/tracer/tracer.h"

struct region_steps;

/* NULL measurer: NULL, which all that follows allows. Both are borrowed. */
struct region_steps *region_steps_new(const struct step_measurer *measurer, struct tracer *tracer);
void region_steps_delete(struct region_steps *steps);

/*
 * A thread has come to the begin or the end of a region: what it did in regions so far, as running totals at that time;
 * time stands for the times enabled and running. The instruction there is counted as well: of a region that begins
 * after this, of others before. False: some of it could not be followed, so nothing is known.
 */
bool region_steps_hit(struct region_steps *steps, const struct breakpoint_hit *hit, uint64_t time_ns,
		      struct perf_counts *counts);

/* For all stops of all threads, before anybody else: TRACER_DELIVER if it is none of a step. */
enum tracer_answer region_steps_stopped(struct region_steps *steps, const struct tracer_stop *stop);

/* After somebody else answered a stop with TRACER_RESUME: answers it, by whether the thread is in a region now. */
enum tracer_answer region_steps_follow(struct region_steps *steps, struct thread *thread, bool is_inside);

/* For the loop's idle: translates code ahead. */
bool region_steps_idle(struct region_steps *steps);

/* As the tracer's hooks of these names; without steps, nothing, and true. A thread may be started in a region of
 * others, but is in none itself. */
void region_steps_started(struct region_steps *steps, struct thread *thread);
void region_steps_created(struct region_steps *steps, struct thread *thread, pid_t child);
bool region_steps_may_go(struct region_steps *steps, struct thread *thread);
enum tracer_answer region_steps_leaving(struct region_steps *steps, const struct tracer_stop *stop);

/* A thread has ended, or executes another program; libraries have changed. */
void region_steps_exited(struct region_steps *steps, struct thread *thread);
void region_steps_code_changed(struct region_steps *steps);

/* What the counts leave out, of threads that have ended, in a sentence in fresh memory; NULL: nothing. */
char *region_steps_doubts(const struct region_steps *steps);

/* Why some threads could not be followed to the end of a region; "": all were. */
const char *region_steps_failure(const struct region_steps *steps);

#endif
