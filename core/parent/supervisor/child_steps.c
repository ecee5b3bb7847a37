/* SPDX-License-Identifier: MIT */
/* See child_steps.h. */
#include "parent/supervisor/child_steps.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>

#include "parent/stepping/trap_stop.h"
#include "parent/tracer/remote.h"

#define INT3_BYTES 1

/* ---- the other threads of a region ---- */

/* One that was cut: the others go on, in vain. */
static void
on_other_over(void *context, const struct step_end *end, struct thread *thread,
	      const struct user_regs_struct *registers, const struct step_region *region)
{
	struct child_steps *self = context;

	(void)end;
	(void)thread;
	(void)registers;
	step_region_add(&self->others, region);
}

static void
let_join(void *context, struct thread *thread)
{
	struct child_steps *self = context;
	const struct step_end end = {.over = on_other_over, .context = self};
	struct step_region region = self->plain;

	if (thread->pid == self->pid && thread->tid != self->pid && thread->tid != self->leader && !thread->stepped)
		stepper_join(thread, &region, end);
}

static bool
is_other(const struct child_steps *self, const struct thread *thread)
{
	return self->pid != 0 && thread->pid == self->pid && thread->tid != self->leader && thread->stepped;
}

static void
add_other(struct child_steps *self, const struct thread *thread)
{
	struct step_region region = *stepper_region(thread);

	stepper_counts(thread, region.counts);
	step_region_add(&self->others, &region);
}

static void
let_go(void *context, struct thread *thread)
{
	struct child_steps *self = context;

	if (!is_other(self, thread))
		return;
	add_other(self, thread);
	stepper_release(self->stepper, thread);
}

/* ---- regions ---- */

/* The child waits at the trap of its end, which nobody shall execute; unless the region was cut, and is not there yet.
 */
static void
on_over(void *context, const struct step_end *end, struct thread *thread, const struct user_regs_struct *registers,
	const struct step_region *region)
{
	struct child_steps *self = context;
	struct step_region whole = *region;

	if (self->leader == thread->tid) {
		threads_each(&self->tracer->threads, let_go, self);
		step_region_add(&whole, &self->others);
		self->leader = self->pid = 0;
	}
	remote_write(thread->tid, end->tag, &whole, sizeof(whole), NULL);
	if (registers->rip == end->place)
		ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user, regs.rip), end->place + INT3_BYTES);
}

/* Since the last region its kernels may have loaded other libraries. */
static enum tracer_answer
begin(struct child_steps *self, struct thread *thread, const struct step_region *region, uint64_t address)
{
	const struct step_end end = {
		.place = self->begin + STEP_END_OFFSET, .over = on_over, .context = self, .tag = address};

	stepper_forget_code(self->stepper);
	return stepper_begin(self->stepper, thread, region, end);
}

static void
look_for_joining(void *joins, struct thread *thread)
{
	*(bool *)joins |= stepper_joins(thread);
}

/* The region's own thread waits until the others have joined, lest it wakes one that nobody steps. */
static bool
is_everybody_there(const struct child_steps *self)
{
	bool joins = false;

	threads_each(&self->tracer->threads, look_for_joining, &joins);
	return !joins;
}

static enum tracer_answer
begin_with_others(struct child_steps *self, struct thread *thread, const struct step_region *region, uint64_t address)
{
	self->leader = thread->tid;
	self->pid = thread->pid;
	self->plain = *region;
	self->others = (struct step_region){.cut = STEP_WHOLE};
	stepper_forget_code(self->stepper);
	threads_each(&self->tracer->threads, let_join, self);
	if (is_everybody_there(self))
		return begin(self, thread, region, address);
	self->waiting = address;
	return TRACER_KEEP;
}

static void
begin_if_all_are_there(struct child_steps *self)
{
	struct thread *leader = self->waiting ? threads_find(&self->tracer->threads, self->leader) : NULL;
	const uint64_t address = self->waiting;

	if (!leader || !is_everybody_there(self))
		return;
	self->waiting = 0;
	if (begin(self, leader, &self->plain, address) == TRACER_RESUME)
		tracer_resume(self->tracer, leader, 0);
}

/* The region at that address of the child. */
static enum tracer_answer
begin_region(struct child_steps *self, struct thread *thread, uint64_t address)
{
	struct step_region region;

	if (remote_read(thread->tid, address, &region, sizeof(region), NULL) < 0)
		return TRACER_RESUME;
	if (!self->stepper)
		self->stepper = stepper_new(self->tracer);
	return region.of_all && self->leader == 0 ? begin_with_others(self, thread, &region, address)
						  : begin(self, thread, &region, address);
}

/* The other trap is met where a region was cut. */
static enum tracer_answer
at_traps(struct child_steps *self, const struct tracer_stop *stop)
{
	struct user_regs_struct registers;

	if (stop->signal != SIGTRAP || self->begin == 0 || stepper_has(stop->thread) ||
	    ptrace(PTRACE_GETREGS, stop->thread->tid, NULL, &registers) < 0 ||
	    trap_stop_cause(stop->thread->tid) != TRAP_CAUSE_INT3)
		return TRACER_DELIVER;
	if (registers.rip == self->begin + INT3_BYTES)
		return begin_region(self, stop->thread, registers.rdi);
	return registers.rip == self->begin + STEP_END_OFFSET + INT3_BYTES ? TRACER_RESUME : TRACER_DELIVER;
}

enum tracer_answer
child_steps_stopped(struct child_steps *self, const struct tracer_stop *stop)
{
	enum tracer_answer answer = at_traps(self, stop);

	if (answer == TRACER_DELIVER && self->stepper)
		answer = stepper_stopped(self->stepper, stop);
	begin_if_all_are_there(self);
	return answer;
}

enum tracer_answer
child_steps_follow(struct child_steps *self, struct thread *thread, enum tracer_answer answer, bool is_elsewhere)
{
	return self->stepper ? stepper_follow(self->stepper, thread, answer, is_elsewhere) : answer;
}

void
child_steps_started(struct child_steps *self, struct thread *thread)
{
	if (!self->stepper)
		return;
	stepper_started(self->stepper, thread);
	if (self->leader != 0)
		let_join(self, thread);
}

bool
child_steps_may_go(struct child_steps *self, struct thread *thread)
{
	return !self->stepper || stepper_may_go(self->stepper, thread);
}

void
child_steps_exited(struct child_steps *self, struct thread *thread)
{
	if (!self->stepper)
		return;
	if (is_other(self, thread))
		add_other(self, thread);
	else if (self->leader == thread->tid)
		self->leader = self->pid = self->waiting = 0;
	stepper_exited(self->stepper, thread);
	begin_if_all_are_there(self);
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
