/* SPDX-License-Identifier: MIT */
/* See child_steps.h. */
#include "parent/supervisor/child_steps.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>

#include "parent/injection/remote.h"
#include "parent/stepping/trap_stop.h"

#define INT3_BYTES 1

/* The child waits at the trap of its end, which nobody shall execute; unless the region was cut, and is not there yet.
 */
static void
on_over(void *context, const struct step_end *end, struct thread *thread, const struct user_regs_struct *registers,
	const struct step_region *region)
{
	(void)context;
	remote_write(thread->tid, end->tag, region, sizeof(*region), NULL);
	if (registers->rip == end->place)
		ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user, regs.rip), end->place + INT3_BYTES);
}

/* The region at that address of the child. Since the last one its kernels may have loaded other libraries. */
static enum tracer_answer
begin(struct child_steps *self, struct thread *thread, uint64_t address)
{
	const struct step_end end = {.place = self->begin + STEP_END_OFFSET, .over = on_over, .tag = address};
	struct step_region region;

	if (remote_read(thread->tid, address, &region, sizeof(region), NULL) < 0)
		return TRACER_RESUME;
	if (!self->stepper)
		self->stepper = stepper_new(self->tracer);
	stepper_forget_code(self->stepper);
	return stepper_begin(self->stepper, thread, &region, end);
}

/* The other trap is met where a region was cut. */
static enum tracer_answer
at_traps(struct child_steps *self, const struct tracer_stop *stop)
{
	struct user_regs_struct registers;

	if (stop->signal != SIGTRAP || self->begin == 0 || stop->thread->stepped ||
	    ptrace(PTRACE_GETREGS, stop->thread->tid, NULL, &registers) < 0 ||
	    trap_stop_cause(stop->thread->tid) != TRAP_CAUSE_INT3)
		return TRACER_DELIVER;
	if (registers.rip == self->begin + INT3_BYTES)
		return begin(self, stop->thread, registers.rdi);
	return registers.rip == self->begin + STEP_END_OFFSET + INT3_BYTES ? TRACER_RESUME : TRACER_DELIVER;
}

enum tracer_answer
child_steps_stopped(struct child_steps *self, const struct tracer_stop *stop)
{
	enum tracer_answer answer = at_traps(self, stop);

	return answer == TRACER_DELIVER && self->stepper ? stepper_stopped(self->stepper, stop) : answer;
}

enum tracer_answer
child_steps_follow(struct child_steps *self, struct thread *thread, enum tracer_answer answer, bool is_elsewhere)
{
	return self->stepper ? stepper_follow(self->stepper, thread, answer, is_elsewhere) : answer;
}

void
child_steps_started(struct child_steps *self, struct thread *thread)
{
	if (self->stepper)
		stepper_started(self->stepper, thread);
}

bool
child_steps_may_go(struct child_steps *self, struct thread *thread)
{
	return !self->stepper || stepper_may_go(self->stepper, thread);
}

void
child_steps_exited(struct child_steps *self, struct thread *thread)
{
	if (self->stepper)
		stepper_exited(self->stepper, thread);
}

const struct step_region *
child_steps_current(const struct child_steps *self)
{
	return self->stepper ? stepper_current(self->stepper) : NULL;
}

void
child_steps_clear(struct child_steps *self)
{
	stepper_delete(self->stepper);
	*self = (struct child_steps){.begin = 0};
}
