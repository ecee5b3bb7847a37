/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/child_steps.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "memory.h"
#include "parent/stepping/work.h"
#include "parent/symbols/instruction.h"
#include "parent/tracer/remote.h"
#include "parent/translate/translator.h"

#define INT3_BYTES 1

/*
 * A thread that has been in a region, or was asked to enter or leave one (is_changing). address: of its region, in the
 * child. is_inside: that has begun, and not ended.
 */
struct counted {
	struct step_region region;
	uint64_t address;
	bool is_changing, is_inside;
};

static struct counted *
counted_of(struct thread *thread)
{
	if (!thread->counted)
		thread->counted = rot_calloc(1, sizeof(*thread->counted));
	return thread->counted;
}

static bool
is_changing(const struct thread *thread)
{
	return thread->counted && thread->counted->is_changing;
}

/* ---- the end of a region ---- */

static void
add_counts_of(struct child_steps *self, struct thread *thread)
{
	struct step_region region = {.cut = STEP_WHOLE};

	translator_since(thread, &region);
	step_region_add(&self->others, &region);
}

/* Something of a region was not counted: nothing of it shall be taken for the whole. */
static void
cut(struct step_region *region)
{
	region->cut = STEP_CUT_MEMORY;
	region->cut_errno = EACCES;
}

/* The thread is at the trap of its end, by itself again. All others of the region have left as well. */
static void
conclude_region(struct child_steps *self, struct thread *thread)
{
	struct step_region region = thread->counted->region;
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	struct work work;

	translator_since(thread, &region);
	if (self->leader == thread->tid) {
		step_region_add(&region, &self->others);
		self->leader = self->pid = 0;
	}
	if (translator_has_lost(self->translator))
		cut(&region);
	if (region.nr_unknown > 0 && remote_read(thread->tid, region.unknown_at, bytes, sizeof(bytes), NULL) == 0 &&
	    work_decode(bytes, sizeof(bytes), &work))
		snprintf(region.unknown_name, sizeof(region.unknown_name), "%s", work.name);
	remote_write(thread->tid, thread->counted->address, &region, sizeof(region), NULL);
	thread->counted->is_inside = false;
	self->nr_inside--;
}

/* ---- the other threads of a region ---- */

static bool
is_other(const struct child_steps *self, const struct thread *thread)
{
	return self->pid != 0 && thread->pid == self->pid && thread->tid != self->leader && thread->tid != self->pid;
}

/* One that shall enter or leave does so when it pauses, which it is asked for if it runs. */
static void
ask(void *context, struct thread *thread)
{
	struct child_steps *self = context;

	if (!is_other(self, thread) || translator_has(thread) == (self->phase == STEPS_JOINING))
		return;
	counted_of(thread)->is_changing = true;
	self->nr_asked++;
	if (thread->state != THREAD_RUNNING)
		return;
	thread->is_to_pause = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/* ---- regions ---- */

static enum tracer_answer
enter(struct child_steps *self, struct thread *thread, bool goes_on)
{
	struct counted *counted = thread->counted;
	enum tracer_answer answer;
	struct rot_error err;

	answer = translator_enter(self->translator, thread, &err);
	if (err.text[0]) {
		cut(&counted->region);
		remote_write(thread->tid, counted->address, &counted->region, sizeof(counted->region), NULL);
		return TRACER_RESUME;
	}
	if (!goes_on)
		translator_begin(self->translator, thread);
	counted->is_inside = true;
	self->nr_inside++;
	return answer;
}

/* All that were asked have answered: the leader, which waits, goes on. */
static void
go_on_if_all_are_there(struct child_steps *self)
{
	struct thread *leader = threads_find(&self->tracer->threads, self->leader);
	enum tracer_answer answer = TRACER_RESUME;

	if (self->phase == STEPS_QUIET || self->nr_asked > 0 || !leader)
		return;
	if (self->phase == STEPS_JOINING)
		answer = enter(self, leader, self->goes_on);
	else
		conclude_region(self, leader);
	self->phase = STEPS_QUIET;
	if (answer == TRACER_RESUME)
		tracer_resume(self->tracer, leader, 0);
}

/* One that was asked has paused. */
static enum tracer_answer
change(struct child_steps *self, struct thread *thread)
{
	enum tracer_answer answer = TRACER_RESUME;
	struct rot_error err;

	thread->counted->is_changing = thread->is_to_pause = false;
	self->nr_asked--;
	if (self->phase == STEPS_JOINING) {
		answer = translator_enter(self->translator, thread, &err);
		translator_begin(self->translator, thread);
	} else if (translator_leave(self->translator, thread)) {
		add_counts_of(self, thread);
	}
	go_on_if_all_are_there(self);
	return answer;
}

/* The thread waits until the others have entered or left, lest it wakes one that is not counted. */
static void
ask_others(struct child_steps *self, enum steps_phase phase)
{
	self->phase = phase;
	self->nr_asked = 0;
	threads_each(&self->tracer->threads, ask, self);
}

/* The region at that address of the child. Its caches may be others than those of the last one. */
static enum tracer_answer
begin_region(struct child_steps *self, struct thread *thread, uint64_t address)
{
	struct counted *counted = counted_of(thread);
	const bool is_known = counted->address == address;
	struct step_region region;
	bool goes_on;

	if (remote_read(thread->tid, address, &region, sizeof(region), NULL) < 0)
		return TRACER_RESUME;
	goes_on = region.goes_on && is_known;
	counted->region = region;
	counted->address = address;
	if (!self->translator)
		self->translator = translator_new_of_regions(self->tracer, &region);
	if (self->nr_inside == 0 && !goes_on)
		translator_reset(self->translator, &region);
	translator_look_for_code(thread);
	if (!region.of_all || self->leader != 0)
		return enter(self, thread, goes_on);
	self->leader = thread->tid;
	self->pid = thread->pid;
	self->goes_on = goes_on;
	if (!goes_on)
		self->others = (struct step_region){.cut = STEP_WHOLE};
	ask_others(self, STEPS_JOINING);
	go_on_if_all_are_there(self);
	return TRACER_KEEP;
}

/* It has left translated code at the trap of its end, which is no instruction of the region. */
static enum tracer_answer
end_region(struct child_steps *self, struct thread *thread)
{
	translator_end(thread);
	if (thread->tid != self->leader) {
		conclude_region(self, thread);
		return TRACER_RESUME;
	}
	ask_others(self, STEPS_LEAVING);
	go_on_if_all_are_there(self);
	return TRACER_KEEP;
}

static enum tracer_answer
at_traps(struct child_steps *self, const struct tracer_stop *stop)
{
	struct user_regs_struct registers;
	siginfo_t info;

	if (stop->signal != SIGTRAP || self->begin == 0 || translator_has(stop->thread) ||
	    ptrace(PTRACE_GETREGS, stop->thread->tid, NULL, &registers) < 0 ||
	    ptrace(PTRACE_GETSIGINFO, stop->thread->tid, NULL, &info) < 0 || info.si_code != SI_KERNEL)
		return TRACER_DELIVER;
	if (registers.rip == self->begin + INT3_BYTES)
		return begin_region(self, stop->thread, registers.rdi);
	if (registers.rip != self->begin + STEP_END_OFFSET + INT3_BYTES)
		return TRACER_DELIVER;
	return translator_is_at_trap(stop->thread) ? end_region(self, stop->thread) : TRACER_RESUME;
}

enum tracer_answer
child_steps_stopped(struct child_steps *self, const struct tracer_stop *stop)
{
	enum tracer_answer answer = TRACER_DELIVER;

	/* A pause is reported before a trap of the code cache that the thread has met already: serve the trap first. */
	if (stop->signal == 0 && is_changing(stop->thread)) {
		if (!remote_raised_signal(stop->thread->tid))
			return change(self, stop->thread);
		stop->thread->is_to_pause = false;
		return TRACER_RESUME;
	}
	if (is_changing(stop->thread))
		ptrace(PTRACE_INTERRUPT, stop->thread->tid, NULL, NULL);
	if (self->translator)
		answer = translator_stopped(self->translator, stop);
	if (answer == TRACER_DELIVER)
		answer = at_traps(self, stop);
	return answer;
}

enum tracer_answer
child_steps_follow(struct child_steps *self, struct thread *thread, enum tracer_answer answer, bool is_elsewhere)
{
	return self->translator ? translator_follow(self->translator, thread, answer, is_elsewhere) : answer;
}

void
child_steps_started(struct child_steps *self, struct thread *thread)
{
	translator_started(self->translator, thread);
	if (self->leader != 0 && self->phase == STEPS_JOINING)
		ask(self, thread);
}

void
child_steps_created(struct child_steps *self, struct thread *thread, pid_t child)
{
	if (self->translator)
		translator_created(self->translator, thread, child);
}

bool
child_steps_may_go(struct child_steps *self, struct thread *thread)
{
	if (self->translator)
		translator_let_go(self->translator, thread);
	return true;
}

void
child_steps_exited(struct child_steps *self, struct thread *thread)
{
	if (!self->translator)
		return;
	self->nr_asked -= is_changing(thread);
	self->nr_inside -= thread->counted && thread->counted->is_inside;
	if (is_other(self, thread) && translator_has(thread))
		add_counts_of(self, thread);
	else if (self->leader == thread->tid)
		self->leader = self->pid = self->phase = 0;
	translator_exited(self->translator, thread);
	free(thread->counted);
	thread->counted = NULL;
	go_on_if_all_are_there(self);
}

bool
child_steps_is_counting(const struct child_steps *self)
{
	return self->nr_inside > 0;
}

void
child_steps_clear(struct child_steps *self)
{
	translator_delete(self->translator);
	*self = (struct child_steps){.begin = 0};
}
