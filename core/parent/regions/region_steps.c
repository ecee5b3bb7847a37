/* SPDX-License-Identifier: MIT */
/* See region_steps.h. */
#include "parent/regions/region_steps.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "common/step_counts.h"
#include "memory.h"
#include "parent/breakpoints/slots.h"
#include "parent/tracer/remote.h"
#include "parent/translate/translator.h"

struct region_steps {
	const struct step_measurer *measurer;
	struct tracer *tracer;
	struct translator *translator;
	struct rot_error failure;
};

struct region_steps *
region_steps_new(const struct step_measurer *measurer, struct tracer *tracer)
{
	struct region_steps *self;
	struct step_region region;

	if (!measurer)
		return NULL;
	self = rot_calloc(1, sizeof(*self));
	self->measurer = measurer;
	self->tracer = tracer;
	region = step_region_of(measurer);
	self->translator = translator_new_of_regions(tracer, &region, false);
	return self;
}

void
region_steps_delete(struct region_steps *self)
{
	if (!self)
		return;
	translator_delete(self->translator);
	free(self);
}

/* A translated thread has counted the int3 for the instruction there. Where it returns to is no more of the region. */
bool
region_steps_hit(struct region_steps *self, const struct breakpoint_hit *hit, uint64_t time_ns,
		 struct perf_counts *counts)
{
	const bool was_inside = translator_is_at_trap(hit->thread);
	uint64_t totals[STEP_NR_COUNTS];

	if (self->failure.text[0])
		return false;
	*counts = (struct perf_counts){.enabled_ns = time_ns, .running_ns = time_ns};
	if (was_inside) {
		translator_end(hit->thread);
		if (!hit->is_once)
			translator_count(self->translator, hit->thread, hit->registers, hit->code, hit->nr_code_bytes);
	}
	translator_read(hit->thread, totals);
	for (size_t i = 0; i < perf_event_measurer_nr_events(&self->measurer->base); i++)
		counts->values[i] = step_counts_of_event(&self->measurer->base, i, totals);
	if (!was_inside)
		translator_count(self->translator, hit->thread, hit->registers, hit->code, hit->nr_code_bytes);
	return true;
}

char *
region_steps_doubts(const struct region_steps *self)
{
	char *doubts = self ? translator_doubts(self->translator) : NULL;
	char *text = doubts ? rot_format("regions, counted by blocks: %s", doubts) : NULL;

	free(doubts);
	return text;
}

const char *
region_steps_failure(const struct region_steps *self)
{
	return self ? self->failure.text : "";
}

/* ---- threads ---- */

enum tracer_answer
region_steps_stopped(struct region_steps *self, const struct tracer_stop *stop)
{
	return self ? translator_stopped(self->translator, stop) : TRACER_DELIVER;
}

bool
region_steps_idle(struct region_steps *self)
{
	return self && translator_idle(self->translator);
}

/* Executes what stands in a slot for the instruction at a breakpoint, which was counted. Returns a signal that it
 * raised. */
static int
lead_out_of_slot(struct thread *thread)
{
	struct user_regs_struct registers;
	int signal = SIGTRAP;

	while (signal == SIGTRAP && thread->image && ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) == 0 &&
	       slot_point(thread->image, registers.rip))
		signal = remote_step(thread->tid);
	return signal == SIGTRAP ? 0 : signal;
}

enum tracer_answer
region_steps_follow(struct region_steps *self, struct thread *thread, bool is_inside)
{
	enum tracer_answer answer = TRACER_RESUME;
	int signal;

	if (!self || self->failure.text[0] || is_inside == translator_has(thread))
		return TRACER_RESUME;
	if (!is_inside) {
		translator_leave(self->translator, thread);
		return TRACER_RESUME;
	}
	signal = lead_out_of_slot(thread);
	if (signal != 0) {
		rot_error_set(&self->failure, 0,
			      "regions cannot be counted by blocks: the first instruction of one raised signal %d in "
			      "thread %d",
			      signal, (int)thread->tid);
		tracer_resume(self->tracer, thread, signal);
		return TRACER_KEEP;
	}
	answer = translator_enter(self->translator, thread, &self->failure);
	if (self->failure.text[0])
		rot_error_prefix(&self->failure, "regions cannot be counted by blocks");
	return answer;
}

void
region_steps_started(struct region_steps *self, struct thread *thread)
{
	if (self)
		translator_started(self->translator, thread);
}

void
region_steps_created(struct region_steps *self, struct thread *thread, pid_t child)
{
	if (self)
		translator_created(self->translator, thread, child);
}

bool
region_steps_may_go(struct region_steps *self, struct thread *thread)
{
	if (self)
		translator_let_go(self->translator, thread);
	return true;
}

void
region_steps_exited(struct region_steps *self, struct thread *thread)
{
	if (self)
		translator_exited(self->translator, thread);
}

enum tracer_answer
region_steps_leaving(struct region_steps *self, const struct tracer_stop *stop)
{
	return self ? translator_leaving(self->translator, stop) : TRACER_DELIVER;
}

void
region_steps_code_changed(struct region_steps *self)
{
	if (self)
		translator_forget_code(self->translator);
}
