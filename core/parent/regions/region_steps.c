/* SPDX-License-Identifier: MIT */
/* See region_steps.h. */
#include "parent/regions/region_steps.h"

#include <stdlib.h>

#include "common/step_counts.h"
#include "memory.h"
#include "parent/stepping/stepper.h"

struct region_steps {
	const struct step_measurer *measurer;
	struct step_region region;
	struct stepper *stepper;
	struct rot_error failure;
};

struct region_steps *
region_steps_new(const struct step_measurer *measurer, struct tracer *tracer)
{
	struct region_steps *self;

	if (!measurer)
		return NULL;
	self = rot_calloc(1, sizeof(*self));
	self->measurer = measurer;
	self->region = step_region_of(measurer);
	self->stepper = stepper_new(tracer);
	return self;
}

void
region_steps_delete(struct region_steps *self)
{
	if (!self)
		return;
	stepper_delete(self->stepper);
	free(self);
}

bool
region_steps_read(const struct region_steps *self, const struct thread *thread, uint64_t time_ns,
		  struct perf_counts *counts)
{
	uint64_t totals[STEP_NR_COUNTS];

	if (self->failure.text[0])
		return false;
	stepper_counts(thread, totals);
	*counts = (struct perf_counts){.enabled_ns = time_ns, .running_ns = time_ns};
	for (size_t i = 0; i < perf_event_measurer_nr_events(&self->measurer->base); i++)
		counts->values[i] = step_counts_of_event(&self->measurer->base, i, totals);
	return true;
}

/* It was not followed to its end. */
static void
on_over(void *context, const struct step_end *end, struct thread *thread, const struct user_regs_struct *registers,
	const struct step_region *region)
{
	struct region_steps *self = context;

	(void)end;
	if (region->counts[STEP_INSTRUCTIONS] >= region->limit)
		rot_error_set(&self->failure, 0,
			      "thread %d executes more than %llu instructions in regions, which cannot be counted by "
			      "steps: measure fewer hits (NAME#FIRST-LAST), or raise -stepLimit",
			      (int)thread->tid, (unsigned long long)region->limit);
	else
		rot_error_set(&self->failure, 0,
			      "regions cannot be counted by steps: what thread %d executes at 0x%llx is not known",
			      (int)thread->tid, (unsigned long long)registers->rip);
}

enum tracer_answer
region_steps_stopped(struct region_steps *self, const struct tracer_stop *stop)
{
	return self ? stepper_stopped(self->stepper, stop) : TRACER_DELIVER;
}

enum tracer_answer
region_steps_follow(struct region_steps *self, struct thread *thread, bool is_inside)
{
	const struct step_end end = {.over = on_over, .context = self};

	if (!self || self->failure.text[0])
		return TRACER_RESUME;
	if (!is_inside)
		stepper_pause(self->stepper, thread);
	else if (stepper_has(thread))
		return stepper_go_on(self->stepper, thread);
	else
		return stepper_begin(self->stepper, thread, &self->region, end);
	return TRACER_RESUME;
}

void
region_steps_started(struct region_steps *self, struct thread *thread)
{
	if (self)
		stepper_started(self->stepper, thread);
}

bool
region_steps_may_go(struct region_steps *self, struct thread *thread)
{
	return !self || stepper_may_go(self->stepper, thread);
}

void
region_steps_exited(struct region_steps *self, struct thread *thread)
{
	if (self)
		stepper_exited(self->stepper, thread);
}

void
region_steps_code_changed(struct region_steps *self)
{
	if (self)
		stepper_forget_code(self->stepper);
}

const char *
region_steps_failure(const struct region_steps *self)
{
	return self ? self->failure.text : "";
}
