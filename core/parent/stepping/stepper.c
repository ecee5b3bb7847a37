/* SPDX-License-Identifier: MIT */
/* See stepper.h. */
#include "parent/stepping/stepper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "memory.h"
#include "parent/stepping/code_table.h"
#include "parent/stepping/same_cpu.h"
#include "parent/stepping/step_queue.h"
#include "parent/stepping/stepped_block.h"
#include "parent/stepping/stepped_call.h"
#include "parent/stepping/trap_help.h"
#include "parent/stepping/trap_stop.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/restart.h"

/* Blocks of one thread before everybody else has a turn: some milliseconds. */
#define TURN 256

#define SYSCALL_BYTES 2
#define INT3_BYTES 1

/*
 * The code of a process that was stepped. pid: 0: it executes another program now, or is another one that has got this
 * number; there may still be processes that it made. image: its address space, or NULL.  is_stale: it is to be looked
 * at anew.
 */
struct process_code {
	struct code_table table;
	pid_t pid;
	const struct image *image;
	bool is_stale;
	struct process_code *next; /* older */
};

/* nr_left: blocks that the first of the queue may still execute before the loop looks after others. */
struct stepper {
	struct tracer *tracer;
	struct process_code *codes;
	struct step_queue queue;
	size_t nr_left;
	struct same_cpu same_cpu;
};

static enum tracer_answer take_turn(struct stepper *self, struct stepped *stepped);

/* ---- the code of processes ---- */

/* As many, and those of processes that there are. */
#define MAX_CODES 64

/* NULL: it was not stepped. */
static struct process_code *
code_of(const struct stepper *self, const struct thread *thread)
{
	struct process_code *code = self->codes;

	while (code && code->pid != thread->pid && !(thread->image && thread->image == code->image) &&
	       !thread->shares_code)
		code = code->next;
	return code;
}

/* What came to others with its code is still known. */
static void
retire_code(struct process_code *code)
{
	code_table_forget(&code->table);
	close(code->table.memory);
	code->table.memory = -1;
	code->pid = 0;
	code->image = NULL;
}

static void
delete_code(struct process_code **at)
{
	struct process_code *code = *at;

	*at = code->next;
	code_table_close(&code->table);
	free(code);
}

/* The oldest first. */
static void
delete_old_codes(struct stepper *self)
{
	struct process_code **at = &self->codes;

	for (size_t nr = 0; *at; nr++) {
		if (nr >= MAX_CODES && ((*at)->pid == 0 || (kill((*at)->pid, 0) < 0 && errno == ESRCH)))
			delete_code(at);
		else
			at = &(*at)->next;
	}
}

static struct process_code *
add_code(struct stepper *self, const struct thread *thread)
{
	struct process_code *code = rot_calloc(1, sizeof(*code));

	code->table = CODE_TABLE_NONE;
	code->pid = thread->pid;
	code->image = thread->image;
	code->next = self->codes;
	self->codes = code;
	delete_old_codes(self);
	return code;
}

static void
lift_all(struct stepper *self)
{
	for (struct process_code *code = self->codes; code; code = code->next)
		code_table_lift_all(&code->table);
}

/* ---- whose turn it is ---- */

static void
stepped_delete(struct stepped *stepped)
{
	stepped->thread->stepped = NULL;
	stepped->thread->stops_at_system = stepped->thread->is_to_pause = false;
	cache_model_delete(stepped->caches);
	free(stepped);
}

/* Nobody is stepped now: the code is as it was. */
static void
rest(struct stepper *self)
{
	lift_all(self);
	same_cpu_end(&self->same_cpu);
}

/* Until one executes its block. */
static void
let_next_begin(struct stepper *self)
{
	while (self->queue.first) {
		const struct stepped *stepped = self->queue.first;
		struct thread *thread = stepped->thread;

		if (take_turn(self, self->queue.first) == TRACER_RESUME)
			tracer_resume(self->tracer, thread, 0);
		else if (self->queue.first == stepped)
			return;
	}
}

/* Of the first, at a stop of it. When it has its turn no longer, the next one has. */
static enum tracer_answer
give_turn(struct stepper *self)
{
	const struct stepped *stepped = self->queue.first;
	enum tracer_answer answer = take_turn(self, self->queue.first);

	if (answer == TRACER_RESUME || (answer == TRACER_KEEP && self->queue.first != stepped))
		let_next_begin(self);
	return answer;
}

/* One that goes on does so as if it had been paused. */
static void
finish(struct stepper *self, struct stepped *stepped, const struct user_regs_struct *registers)
{
	struct step_region region = stepped->region;

	step_queue_take_out(&self->queue, stepped);
	rest(self);
	cache_model_add_counts(stepped->caches, region.counts);
	stepped->is_paused = region.goes_on && region.cut == STEP_WHOLE;
	stepped->end.over(stepped->end.context, &stepped->end, stepped->thread, registers, &region);
	if (!stepped->is_paused)
		stepped_delete(stepped);
}

/* ---- from block to block ---- */

/*
 * A system call may wait for what another thread does, and that thread for its turn. So it is made without a trap, and
 * tells when it is over.
 */
static bool
go_away(struct stepper *self, struct stepped *stepped)
{
	step_queue_send_away(&self->queue, stepped);
	stepped->is_away = stepped->thread->stops_at_system = true;
	stepped->thread->state = THREAD_RUNNING;
	return ptrace(PTRACE_SYSCALL, stepped->thread->tid, NULL, NULL) == 0;
}

static enum step_cut
enter_block(struct stepper *self, struct stepped *stepped, const struct user_regs_struct *registers)
{
	stepped_begin_block(stepped->code, stepped, registers);
	if (remote_set_registers(stepped->thread->tid, registers) < 0)
		return STEP_CUT_MEMORY;
	return (stepped->block->calls_system ? go_away(self, stepped) : stepped_let_run(stepped->code, stepped))
		       ? STEP_WHOLE
		       : STEP_CUT_MEMORY;
}

/* So that the program goes on by itself where it is; its counts are worth nothing. Of STEP_CUT_MEMORY errno tells. */
static enum tracer_answer
give_up(struct stepper *self, struct stepped *stepped, enum step_cut cut, const struct user_regs_struct *registers)
{
	stepped->region.cut = cut;
	stepped->region.cut_errno = cut == STEP_CUT_MEMORY ? (uint64_t)errno : 0;
	stepped->region.cut_at = registers->rip;
	remote_set_registers(stepped->thread->tid, registers);
	finish(self, stepped, registers);
	return TRACER_RESUME;
}

/* Others wait, and it has had its turn. */
static bool
has_had_turn(const struct stepper *self, struct stepped *stepped, const struct user_regs_struct *registers)
{
	return self->nr_left == 0 && stepped->next && !stepped_is_over(stepped, registers);
}

/* It waits, between two blocks. */
static enum tracer_answer
give_way(struct stepper *self, struct stepped *stepped, const struct user_regs_struct *registers)
{
	remote_set_registers(stepped->thread->tid, registers);
	step_queue_rotate(&self->queue);
	return TRACER_KEEP;
}

/* It meets the trap at the end of its block once more, when the loop has looked after others. */
static enum tracer_answer
come_again(struct stepper *self, struct stepped *stepped, const struct user_regs_struct *registers)
{
	self->nr_left = 0;
	if (remote_set_registers(stepped->thread->tid, registers) == 0 && stepped_let_run(stepped->code, stepped))
		return TRACER_KEEP;
	return give_up(self, stepped, STEP_CUT_MEMORY, registers);
}

/*
 * registers: of the stopped thread, which is at the end of its block or between two. is_first: block of this turn,
 * which it executes in any case.
 */
static enum tracer_answer
go_on(struct stepper *self, struct stepped *stepped, struct user_regs_struct *registers, bool is_first)
{
	enum step_cut cut = STEP_WHOLE;

	if (stepped->block)
		cut = stepped_leave_block(stepped->code, stepped, registers);
	if (stepped->block)
		return come_again(self, stepped, registers);
	if (cut == STEP_WHOLE)
		cut = stepped_do_branches(stepped->code, stepped, registers);
	if (cut == STEP_WHOLE && registers->rip == stepped->end.place) {
		remote_set_registers(stepped->thread->tid, registers);
		finish(self, stepped, registers);
		return TRACER_RESUME;
	}
	if (cut == STEP_WHOLE && !is_first && has_had_turn(self, stepped, registers))
		return give_way(self, stepped, registers);
	if (cut == STEP_WHOLE)
		cut = stepped_is_over(stepped, registers) ? STEP_CUT_LIMIT : enter_block(self, stepped, registers);
	return cut == STEP_WHOLE ? TRACER_KEEP : give_up(self, stepped, cut, registers);
}

static bool
open_code(struct stepper *self, struct stepped *stepped)
{
	const struct thread *thread = stepped->thread;
	const bool is_alone = self->queue.nr_active == stepped->is_active; /* the blocks of others are needed */
	struct process_code *code = code_of(self, thread);

	if (!code)
		code = add_code(self, thread);
	stepped->code = &code->table;
	if (code->is_stale && is_alone) {
		code_table_forget(&code->table);
		code->is_stale = false;
	}
	return code->table.memory >= 0 || code_table_open(&code->table, thread->tid) == 0;
}

/*
 * When another thread executes a program, that one gets the id of the main thread. So that nothing which is meant for
 * the main thread is done to it, the main thread stops once more before it goes, and who has its id now comes later.
 */
static void
hold_at_exit(const struct stepper *self, const struct thread *thread)
{
	if (thread->tid == thread->pid)
		ptrace(PTRACE_SETOPTIONS, thread->tid, NULL,
		       (void *)(tracer_options(self->tracer) | PTRACE_O_TRACEEXIT));
}

/* False: it cannot be stepped, and goes on without. */
static bool
begin_turns(struct stepper *self, struct stepped *stepped)
{
	struct user_regs_struct registers;

	stepped->is_begun = true;
	same_cpu_begin(&self->same_cpu, stepped->thread->tid);
	hold_at_exit(self, stepped->thread);
	if (open_code(self, stepped))
		return true;
	if (ptrace(PTRACE_GETREGS, stepped->thread->tid, NULL, &registers) == 0)
		give_up(self, stepped, STEP_CUT_MEMORY, &registers);
	return false;
}

/* Block by block, from where the stopped thread is. */
static enum tracer_answer
go_through(struct stepper *self, struct stepped *stepped, struct user_regs_struct *registers)
{
	for (bool is_first = true;; is_first = false) {
		if (go_on(self, stepped, registers, is_first) == TRACER_RESUME)
			return TRACER_RESUME;
		if (self->queue.first != stepped || stepped->rest.nr > 0 ||
		    (self->nr_left == 0 && (is_first || !stepped->next)) || !stepped_await_end(stepped, registers))
			return TRACER_KEEP;
		if (self->nr_left > 0)
			self->nr_left--;
	}
}

/* After its system call, from registers on to the end of its block. */
static enum tracer_answer
end_block(struct stepper *self, struct stepped *stepped, struct user_regs_struct *registers)
{
	stepped->is_back = false;
	if (registers->rip != stepped->block->end) {
		if (!stepped_let_run(stepped->code, stepped))
			return give_up(self, stepped, STEP_CUT_MEMORY, registers);
		if (!stepped_await_end(stepped, registers))
			return TRACER_KEEP;
	}
	return go_through(self, stepped, registers);
}

static enum tracer_answer
take_turn(struct stepper *self, struct stepped *stepped)
{
	struct user_regs_struct registers;

	if (!stepped->is_begun && !begin_turns(self, stepped))
		return TRACER_RESUME;
	if (ptrace(PTRACE_GETREGS, stepped->thread->tid, NULL, &registers) < 0)
		return TRACER_KEEP;
	if (stepped->is_back)
		return end_block(self, stepped, &registers);
	if (stepped->block && !stepped_is_at_end(stepped, &registers)) {
		if (!stepped_is_found(stepped->code, stepped, &registers) ||
		    trap_stop_cause(stepped->thread->tid) != TRAP_CAUSE_INT3)
			return TRACER_DELIVER;
		stepped_find_again(stepped, &registers);
	}
	return go_through(self, stepped, &registers);
}

/* ---- what happens to its threads ---- */

/* It is about to execute a handler, or what somebody else wants it to. */
static void
interrupt(struct stepped *stepped)
{
	struct user_regs_struct registers;

	if (stepped->is_interrupted || ptrace(PTRACE_GETREGS, stepped->thread->tid, NULL, &registers) < 0)
		return;
	stepped->is_interrupted = true;
	stepped->interrupted_at = registers.rsp;
}

/* For whoever comes to a trap that is not for him. */
static struct trap_help
help_of(struct stepper *self, struct process_code *code)
{
	const struct stepped *first = self->queue.first;

	return (struct trap_help){
		.code = &code->table, .stepped = first ? first->thread : NULL, .block = first ? first->block : NULL};
}

/* A SIGTRAP that somebody has sent may stand for the trap that the thread has met: it will meet that again. */
static void
uncover(struct stepper *self, struct process_code *code, const struct thread *thread)
{
	const struct stepped *stepped = thread->stepped;
	const struct trap_help help = help_of(self, code);
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return;
	if (stepped && stepped->block && !stepped->is_interrupted && !stepped->is_elsewhere
		    ? !stepped_is_at_end(stepped, &registers)
		    : !trap_help_is_hidden(&help, thread, &registers))
		return;
	registers.rip -= INT3_BYTES;
	remote_set_registers(thread->tid, &registers);
}

static enum tracer_answer
help_over(struct stepper *self, struct thread *thread)
{
	struct process_code *code = code_of(self, thread);
	const struct trap_help help = code ? help_of(self, code) : (struct trap_help){.code = NULL};

	return code ? trap_help_over(&help, thread) : TRACER_DELIVER;
}

/* One at a trap that nobody has sent is of somebody who has set it. */
static bool
interrupts(const struct tracer_stop *stop)
{
	return stop->signal != SIGTRAP || trap_stop_cause(stop->thread->tid) == TRAP_CAUSE_SENT;
}

static enum tracer_answer
queue_up(struct stepper *self, struct stepped *stepped)
{
	step_queue_add(&self->queue, stepped);
	return self->queue.first == stepped ? give_turn(self) : TRACER_KEEP;
}

static enum tracer_answer
at_system_call(struct stepper *self, struct stepped *stepped)
{
	if (!stepped_call_is_over(stepped))
		return TRACER_RESUME;
	stepped->is_away = stepped->thread->stops_at_system = false;
	stepped->is_back = true;
	return queue_up(self, stepped);
}

static enum tracer_answer
come_back(struct stepper *self, struct stepped *stepped)
{
	stepped->is_away = stepped->thread->stops_at_system = false;
	return queue_up(self, stepped);
}

/*
 * A thread that waits in a system call makes it once more when it goes on; one that a stop makes fail will be made to,
 * as if there had been none.
 */
static enum tracer_answer
join(struct stepper *self, struct stepped *stepped)
{
	struct user_regs_struct registers;
	struct restart_again again;
	const pid_t tid = stepped->thread->tid;

	stepped->is_joining = stepped->thread->is_to_pause = false;
	if (!begin_turns(self, stepped) || ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return TRACER_RESUME;
	if (restart_rewind(tid, &registers, &again)) {
		if (!restart_has_signal(tid))
			remote_set_registers(tid, &registers);
	} else if ((long long)registers.orig_rax >= 0 && stepped_call_is_restarted(&registers)) {
		registers.rip -= SYSCALL_BYTES;
		stepped_begin_block(stepped->code, stepped, &registers);
		stepped->is_away = stepped->thread->stops_at_system = stepped->block->calls_system;
		if (stepped->is_away) {
			step_queue_send_away(&self->queue, stepped);
			return TRACER_RESUME;
		}
		stepped->block = NULL;
	}
	return queue_up(self, stepped);
}

static enum tracer_answer
answer_trap(struct stepper *self, struct thread *thread)
{
	struct stepped *stepped = thread->stepped;
	struct process_code *code = code_of(self, thread);
	enum tracer_answer answer = TRACER_DELIVER;

	if (code && trap_stop_cause(thread->tid) == TRAP_CAUSE_SENT) {
		uncover(self, code, thread);
		return TRACER_DELIVER;
	}
	if (stepped && stepped_call_is_left(stepped))
		answer = come_back(self, stepped);
	else if (stepped && stepped == self->queue.first)
		answer = give_turn(self);
	return answer == TRACER_DELIVER ? help_over(self, thread) : answer;
}

enum tracer_answer
stepper_stopped(struct stepper *self, const struct tracer_stop *stop)
{
	struct stepped *stepped = stop->thread->stepped;
	enum tracer_answer answer = TRACER_DELIVER;

	self->nr_left = TURN;
	if (stop->is_system)
		return stepped && stepped->is_away ? at_system_call(self, stepped) : TRACER_RESUME;
	if (stop->signal == 0 && stepped && stepped->is_joining)
		return join(self, stepped);
	if (stop->signal == SIGTRAP)
		answer = answer_trap(self, stop->thread);
	if (answer == TRACER_DELIVER && stepped && (stepped == self->queue.first || stepped->is_away) &&
	    interrupts(stop))
		interrupt(stepped);
	return answer;
}

/* ---- from begin to end ---- */

static void
stepped_new(struct thread *thread, const struct step_region *region, struct step_end end)
{
	struct stepped *stepped = rot_calloc(1, sizeof(*stepped));

	stepped->thread = thread;
	stepped->region = *region;
	stepped->end = end;
	stepped->caches = cache_model_new(region->levels, region->line_bytes);
	thread->stepped = stepped;
}

enum tracer_answer
stepper_begin(struct stepper *self, struct thread *thread, const struct step_region *region, struct step_end end)
{
	if (stepper_has(thread))
		return TRACER_RESUME;
	if (thread->stepped && thread->stepped->end.tag != end.tag)
		stepped_delete(thread->stepped);
	if (!thread->stepped)
		stepped_new(thread, region, end);
	thread->stepped->is_paused = thread->stepped->is_begun = thread->stepped->is_elsewhere = false;
	thread->stepped->block = NULL;
	return queue_up(self, thread->stepped);
}

void
stepper_join(struct thread *thread, const struct step_region *region, struct step_end end)
{
	stepped_new(thread, region, end);
	thread->stepped->is_joining = true;
	if (thread->state != THREAD_RUNNING)
		return;
	thread->is_to_pause = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

bool
stepper_joins(const struct thread *thread)
{
	return thread->stepped && thread->stepped->is_joining;
}

void
stepper_release(struct stepper *self, struct thread *thread)
{
	struct stepped *stepped = thread->stepped;
	const bool waits = stepped->is_active && !stepped->is_away;

	step_queue_take_out(&self->queue, stepped);
	stepped_delete(stepped);
	if (waits)
		tracer_resume(self->tracer, thread, 0);
}

enum tracer_answer
stepper_go_on(struct stepper *self, struct thread *thread)
{
	struct stepped *stepped = thread->stepped;

	stepped_drop_block(stepped);
	stepped->is_elsewhere = false;
	return stepped->is_away ? come_back(self, stepped) : give_turn(self);
}

enum tracer_answer
stepper_follow(struct stepper *self, struct thread *thread, enum tracer_answer answer, bool is_elsewhere)
{
	struct stepped *stepped = thread->stepped;

	if (!stepper_has(thread) || stepped != self->queue.first)
		return answer;
	stepped->is_elsewhere = is_elsewhere;
	if (is_elsewhere || answer != TRACER_RESUME || !stepped->block || stepped->block->kind != BLOCK_TRAP)
		return answer;
	return stepper_go_on(self, thread);
}

bool
stepper_has(const struct thread *thread)
{
	return thread->stepped && !thread->stepped->is_paused;
}

const struct step_region *
stepper_current(const struct stepper *self)
{
	return self->queue.first ? &self->queue.first->region : NULL;
}

const struct step_region *
stepper_region(const struct thread *thread)
{
	return thread->stepped ? &thread->stepped->region : NULL;
}

void
stepper_counts(const struct thread *thread, uint64_t counts[STEP_NR_COUNTS])
{
	memset(counts, 0, STEP_NR_COUNTS * sizeof(*counts));
	if (!thread->stepped)
		return;
	memcpy(counts, thread->stepped->region.counts, STEP_NR_COUNTS * sizeof(*counts));
	cache_model_add_counts(thread->stepped->caches, counts);
}

/* Takes it out. True: nobody has the turn now. */
static bool
leave_turn(struct stepper *self, struct stepped *stepped)
{
	const bool is_free = !self->queue.first || self->queue.first == stepped;

	step_queue_take_out(&self->queue, stepped);
	if (is_free)
		rest(self);
	return is_free;
}

void
stepper_pause(struct stepper *self, struct thread *thread)
{
	struct stepped *stepped = thread->stepped;
	bool is_free;

	if (!stepper_has(thread))
		return;
	is_free = leave_turn(self, stepped);
	stepped->is_paused = true;
	stepped->is_joining = stepped->is_away = stepped->is_back = false;
	thread->stops_at_system = thread->is_to_pause = false;
	stepped_drop_block(stepped);
	if (is_free)
		let_next_begin(self);
}

void
stepper_started(struct stepper *self, struct thread *thread)
{
	struct process_code *code = thread->tid == thread->pid ? code_of(self, thread) : NULL;

	same_cpu_spread(&self->same_cpu, thread->tid, self->tracer->is_leaving);
	if (code && code->pid == thread->pid)
		retire_code(code);
	if (thread->tid == thread->pid)
		stepper_may_go(self, thread);
}

bool
stepper_may_go(struct stepper *self, struct thread *thread)
{
	thread->shares_code = false;
	if (thread->was_cleared)
		return true;
	thread->was_cleared = true;
	same_cpu_spread(&self->same_cpu, thread->tid, self->tracer->is_leaving);
	for (const struct process_code *code = self->codes; code; code = code->next)
		thread->shares_code |= !code_table_restore(&code->table, thread->tid);
	return !thread->shares_code;
}

void
stepper_exited(struct stepper *self, struct thread *thread)
{
	struct stepped *stepped = thread->stepped;
	bool is_free;

	thread->shares_code = false;
	if (!stepped)
		return;
	is_free = leave_turn(self, stepped);
	stepped_delete(stepped);
	if (is_free)
		let_next_begin(self);
}

void
stepper_executed(struct stepper *self, struct thread *thread)
{
	struct process_code *code;

	stepper_exited(self, thread);
	code = code_of(self, thread);
	if (code && code->pid == thread->pid)
		retire_code(code);
}

static void
pause_away(void *context, struct thread *thread)
{
	struct stepper *self = context;

	if (thread->stepped && (thread->stepped->is_away || thread->stepped->is_joining))
		stepper_pause(self, thread);
}

void
stepper_stop(struct stepper *self)
{
	threads_each(&self->tracer->threads, pause_away, self);
	while (self->queue.first) {
		self->queue.first->rest.nr = 0; /* of a region that nobody waits for */
		stepper_pause(self, self->queue.first->thread);
	}
}

enum tracer_answer
stepper_leaving(struct stepper *self, const struct tracer_stop *stop)
{
	struct process_code *code = code_of(self, stop->thread);
	const struct trap_help help = code ? help_of(self, code) : (struct trap_help){.code = NULL};

	return code ? trap_help_leave(&help, stop) : TRACER_DELIVER;
}

void
stepper_forget_code(struct stepper *self)
{
	for (struct process_code *code = self->codes; code; code = code->next)
		code->is_stale = true;
}

struct stepper *
stepper_new(struct tracer *tracer)
{
	struct stepper *self = rot_calloc(1, sizeof(*self));

	self->tracer = tracer;
	return self;
}

void
stepper_delete(struct stepper *self)
{
	if (!self)
		return;
	while (self->codes)
		delete_code(&self->codes);
	free(self);
}
