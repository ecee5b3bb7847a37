/* SPDX-License-Identifier: MIT */
/*
 * See breakpoints.h. Breakpoints that were lifted stay known: a thread may have met the int3 before it was taken away,
 * and is told of later. When a signal comes while a thread is in a slot, it is moved to the place in its own code that
 * it stands for. If that is the breakpoint, its next hit there, with the same registers, is not a second one.
 */
#include "parent/breakpoints/breakpoints.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "memory.h"
#include "parent/breakpoints/slots.h"
#include "parent/injection/rseq.h"
#include "parent/symbols/instruction.h"
#include "parent/tracer/remote.h"

#define INT3 0xcc
#define MAX_CODE_BYTES 15

struct use {
	struct breakpoint_user user;
	size_t nr;
};

struct breakpoint {
	uint64_t address;
	uint8_t code[MAX_CODE_BYTES]; /* what stands there without it */
	uint8_t nr_code_bytes;
	uint64_t slot; /* 0: none yet */
	bool is_once;
	bool is_set;           /* the int3 is in the code */
	bool is_refused;       /* it cannot be there      */
	uint8_t nr_plain_hits; /* by threads that could have been in a restartable sequence, and were not */
	size_t nr_uses;
	struct use *uses;
};

/* ---- the table ---- */

/* Index of the first that is not below address. */
static size_t
position_of(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->nr_breakpoints;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->breakpoints[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct breakpoint *
find_breakpoint(const struct image *image, uint64_t address)
{
	size_t i = position_of(image, address);

	return i < image->nr_breakpoints && image->breakpoints[i]->address == address ? image->breakpoints[i] : NULL;
}

static struct breakpoint *
find_or_add_breakpoint(struct image *image, uint64_t address)
{
	struct breakpoint *breakpoint = find_breakpoint(image, address);
	size_t i = position_of(image, address);

	if (breakpoint)
		return breakpoint;
	breakpoint = rot_calloc(1, sizeof(*breakpoint));
	breakpoint->address = address;
	image->breakpoints = rot_realloc(image->breakpoints, image->nr_breakpoints + 1, sizeof(*image->breakpoints));
	memmove(&image->breakpoints[i + 1], &image->breakpoints[i],
		(image->nr_breakpoints - i) * sizeof(*image->breakpoints));
	image->breakpoints[i] = breakpoint;
	image->nr_breakpoints++;
	return breakpoint;
}

static struct use *
copy_uses(const struct breakpoint *breakpoint)
{
	struct use *uses = rot_calloc(breakpoint->nr_uses + 1, sizeof(*uses));

	for (size_t i = 0; i < breakpoint->nr_uses; i++)
		uses[i] = breakpoint->uses[i];
	return uses;
}

void
breakpoints_clear(struct image *image)
{
	for (size_t i = 0; i < image->nr_breakpoints; i++) {
		free(image->breakpoints[i]->uses);
		free(image->breakpoints[i]);
	}
	free(image->breakpoints);
	image->breakpoints = NULL;
	image->nr_breakpoints = 0;
}

/* ---- the code ---- */

/* Reads the code without the int3s of others behind address. Returns how many bytes can be read. */
static size_t
read_code(struct image *image, uint64_t address, uint8_t code[MAX_CODE_BYTES])
{
	size_t nr = MAX_CODE_BYTES, i;

	while (nr > 0 && image_read(image, address, code, nr) < 0)
		nr--;
	for (i = position_of(image, address); i < image->nr_breakpoints; i++) {
		const struct breakpoint *other = image->breakpoints[i];

		if (other->address - address >= nr)
			break;
		if (other->is_set && code[other->address - address] == INT3)
			code[other->address - address] = other->code[0];
	}
	return nr;
}

/* Not where its library was unloaded, and maybe the same or another loaded. */
static bool
is_in_code(struct image *image, const struct breakpoint *breakpoint)
{
	uint8_t byte;

	return breakpoint->is_set && image_read(image, breakpoint->address, &byte, sizeof(byte)) == 0 && byte == INT3;
}

static void
restore_code(struct image *image, struct breakpoint *breakpoint, const struct thread *thread)
{
	if (is_in_code(image, breakpoint))
		image_write(image, thread, breakpoint->address, breakpoint->code, 1);
	breakpoint->is_set = false;
}

/*
 * The code of to tells whether the copy is set: that image may have been made before the other was set, or lifted. (An
 * int3 of the program's own does not tell.)
 */
static struct breakpoint *
copy_breakpoint(struct image *to, const struct breakpoint *from)
{
	struct breakpoint *breakpoint = rot_calloc(1, sizeof(*breakpoint));

	*breakpoint = *from;
	breakpoint->uses = copy_uses(from);
	if (from->code[0] == INT3)
		return breakpoint;
	breakpoint->is_set = true;
	breakpoint->is_set = is_in_code(to, breakpoint);
	if (!breakpoint->is_set)
		breakpoint->slot = 0;
	else if (!from->is_set)
		restore_code(to, breakpoint, NULL);
	return breakpoint;
}

void
breakpoints_copy(struct image *to, const struct image *from)
{
	to->nr_breakpoints = from->nr_breakpoints;
	to->breakpoints = rot_calloc(from->nr_breakpoints, sizeof(*to->breakpoints));
	for (size_t i = 0; i < from->nr_breakpoints; i++)
		to->breakpoints[i] = copy_breakpoint(to, from->breakpoints[i]);
}

/* Takes over what stands there now, if it is not the same as before: then the slot is for other code. */
static int
prepare_breakpoint(struct thread *thread, struct breakpoint *breakpoint, bool needs_slot, struct rot_error *err)
{
	uint8_t code[MAX_CODE_BYTES];
	size_t nr = read_code(thread->image, breakpoint->address, code);

	if (nr == 0)
		return rot_error_set(err, errno, "cannot read the code at 0x%llx of process %d",
				     (unsigned long long)breakpoint->address, (int)thread->pid);
	if (nr != breakpoint->nr_code_bytes || memcmp(code, breakpoint->code, nr) != 0)
		breakpoint->slot = breakpoint->nr_plain_hits = 0;
	memcpy(breakpoint->code, code, nr);
	breakpoint->nr_code_bytes = (uint8_t)nr;
	if (!needs_slot || breakpoint->slot)
		return 0;
	breakpoint->slot = slot_make(thread, breakpoint->address, code, nr, err);
	if (breakpoint->slot)
		return 0;
	return rot_error_prefix(err, "cannot set a breakpoint at 0x%llx of process %d",
				(unsigned long long)breakpoint->address, (int)thread->pid);
}

/* ---- setting and lifting ---- */

static const char refusal[] =
	"the code there is part of a restartable sequence (rseq), which starts again and again when "
	"it is stopped";

static struct use *
find_use(struct breakpoint *breakpoint, struct breakpoint_user user)
{
	for (size_t i = 0; i < breakpoint->nr_uses; i++)
		if (breakpoint->uses[i].user.hit == user.hit && breakpoint->uses[i].user.context == user.context)
			return &breakpoint->uses[i];
	return NULL;
}

static int
set_breakpoint(struct thread *thread, uint64_t address, struct breakpoint_user user, bool is_once,
	       struct rot_error *err)
{
	const uint8_t int3 = INT3;
	struct image *image = thread->image;
	struct breakpoint *breakpoint;
	struct use *use;

	if (image->images->set)
		return image->images->set(image->images->context, thread, address, &user, is_once, err);
	breakpoint = find_or_add_breakpoint(image, address);
	use = find_use(breakpoint, user);
	breakpoint->is_set = is_in_code(image, breakpoint);
	if (breakpoint->is_refused)
		return rot_error_set(err, 0, "%s", refusal);
	if (image->images->are_lifted)
		return rot_error_set(err, 0, "process %d is about to be let go", (int)thread->pid);
	if (!breakpoint->is_set) {
		if (image_check(thread, err) < 0 || prepare_breakpoint(thread, breakpoint, !is_once, err) < 0)
			return -1;
		if (image->stranger)
			return rot_error_set(err, 0, "process %d shares the memory of process %d and is not traced",
					     (int)image->stranger, (int)thread->pid);
		if (image_write(image, thread, address, &int3, sizeof(int3)) < 0) {
			rot_error_set(err, errno, "cannot write into the code of process %d", (int)thread->pid);
			return rot_error_hint(err, "Linux may forbid it (proc_mem.force_override)");
		}
		breakpoint->is_set = true;
		breakpoint->is_once = is_once;
	}
	if (use)
		use->nr++;
	else
		rot_add(breakpoint->uses, breakpoint->nr_uses) = (struct use){user, 1};
	return 0;
}

int
breakpoint_set(struct thread *thread, uint64_t address, struct breakpoint_user user, struct rot_error *err)
{
	return set_breakpoint(thread, address, user, false, err);
}

int
breakpoint_set_once(struct thread *thread, uint64_t address, struct breakpoint_user user, struct rot_error *err)
{
	return set_breakpoint(thread, address, user, true, err);
}

void
breakpoint_lift(struct image *image, uint64_t address, struct breakpoint_user user)
{
	struct breakpoint *breakpoint = find_breakpoint(image, address);
	struct use *use = breakpoint ? find_use(breakpoint, user) : NULL;

	if (!use || --use->nr > 0)
		return;
	*use = breakpoint->uses[--breakpoint->nr_uses];
	if (breakpoint->nr_uses == 0)
		restore_code(image, breakpoint, NULL);
}

void
breakpoints_lift_all(struct image *image)
{
	for (size_t i = 0; i < image->nr_breakpoints; i++) {
		image->breakpoints[i]->nr_uses = 0;
		restore_code(image, image->breakpoints[i], NULL);
	}
}

/* ---- threads that were moved back to a breakpoint ---- */

#define MAX_REWINDS 8

/* The registers they had; rip is the breakpoint, or 0: none. */
struct rewinds {
	struct user_regs_struct items[MAX_REWINDS];
	size_t next;
};

void
rewinds_clear(struct thread *thread)
{
	free(thread->rewinds);
	thread->rewinds = NULL;
}

static bool
have_same_values(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	return a->rax == b->rax && a->rbx == b->rbx && a->rcx == b->rcx && a->rdx == b->rdx && a->rsi == b->rsi &&
	       a->rdi == b->rdi && a->rbp == b->rbp && a->r8 == b->r8 && a->r9 == b->r9 && a->r10 == b->r10 &&
	       a->r11 == b->r11 && a->r12 == b->r12 && a->r13 == b->r13 && a->r14 == b->r14 && a->r15 == b->r15;
}

/* True: a thread at a breakpoint was moved there. One that is there once more with the same stack does not return. */
static bool
take_rewind(struct thread *thread, const struct user_regs_struct *registers)
{
	bool is_taken = false;

	for (size_t i = 0; thread->rewinds && i < MAX_REWINDS; i++) {
		struct user_regs_struct *rewind = &thread->rewinds->items[i];

		if (rewind->rip != registers->rip || rewind->rsp != registers->rsp)
			continue;
		is_taken |= have_same_values(rewind, registers);
		rewind->rip = 0;
	}
	return is_taken;
}

/* ---- stops ---- */

static void
set_rip(const struct thread *thread, uint64_t rip)
{
	ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user, regs.rip), rip);
}

/*
 * The system starts a restartable sequence anew if rip is in it when the thread goes on, and forgets it if rip is not:
 * then two threads could change the same data. Code is either always executed so or never: some hits tell, and to ask
 * at all of them costs a sixth of each.
 */
#define PLAIN_HITS 16

static bool
is_in_sequence(const struct thread *thread, struct breakpoint *breakpoint)
{
	enum rseq_place place;

	if (breakpoint->nr_plain_hits >= PLAIN_HITS)
		return false;
	place = rseq_find(thread->tid, breakpoint->address, NULL);
	breakpoint->nr_plain_hits += place == RSEQ_OUTSIDE;
	return place == RSEQ_INSIDE;
}

static void
refuse_breakpoint(struct thread *thread, struct breakpoint *breakpoint)
{
	autofree struct use *uses = copy_uses(breakpoint);
	size_t nr = breakpoint->nr_uses;
	struct rot_error err;

	breakpoint->nr_uses = 0;
	breakpoint->is_refused = true;
	restore_code(thread->image, breakpoint, thread);
	rot_error_set(&err, 0, "%s", refusal);
	for (size_t i = 0; i < nr; i++)
		if (uses[i].user.refused)
			uses[i].user.refused(uses[i].user.context, breakpoint->address, &err);
}

/* Users may set and lift breakpoints, this one as well; whom it tells once has to set it anew. */
static void
tell_users(struct breakpoint *breakpoint, const struct breakpoint_hit *hit)
{
	autofree struct use *uses = copy_uses(breakpoint);
	size_t nr = breakpoint->nr_uses;

	if (breakpoint->is_once)
		breakpoint->nr_uses = 0;
	for (size_t i = 0; i < nr; i++)
		uses[i].user.hit(uses[i].user.context, hit);
}

/* registers: as before the instruction at the breakpoint. */
static void
hit_breakpoint(struct thread *thread, struct breakpoint *breakpoint, const struct user_regs_struct *registers)
{
	const struct breakpoint_hit hit = {thread, breakpoint->address, registers};

	if (!breakpoint->is_set) {
		set_rip(thread, breakpoint->address);
	} else if (breakpoint->is_once) {
		restore_code(thread->image, breakpoint, thread);
		set_rip(thread, breakpoint->address);
		tell_users(breakpoint, &hit);
	} else if (is_in_sequence(thread, breakpoint)) {
		refuse_breakpoint(thread, breakpoint);
		set_rip(thread, breakpoint->address);
	} else {
		if (!take_rewind(thread, registers))
			tell_users(breakpoint, &hit);
		set_rip(thread, breakpoint->slot);
	}
}

/* The breakpoint right before the thread; NULL: none, or the int3 there is the program's. */
static struct breakpoint *
find_before(const struct thread *thread, const struct user_regs_struct *registers)
{
	struct breakpoint *breakpoint = find_breakpoint(thread->image, registers->rip - 1);
	uint8_t byte;

	if (!breakpoint || registers->cs != CODE_SEGMENT_64)
		return NULL;
	if (!breakpoint->is_set && image_read(thread->image, breakpoint->address, &byte, sizeof(byte)) == 0 &&
	    byte == INT3)
		return NULL;
	return breakpoint;
}

/* Instructions of one byte that move the stack pointer: push, pop, pushf, popf, leave. */
#define IS_PUSH(code) (((code)&0xf8) == 0x50)
#define PUSH_FLAGS 0x9c
#define IS_POP(code) (((code)&0xf8) == 0x58 || (code) == 0x9d)
#define LEAVE 0xc9

/* The thread has executed the instruction since its last hit of the breakpoint, and nothing that moves the stack. */
static bool
has_passed(const struct thread *thread, const struct breakpoint *breakpoint, const struct user_regs_struct *registers)
{
	const uint8_t code = breakpoint->code[0];
	const uint64_t moved = registers->rsp - thread->hit_rsp;

	return thread->hit_address == breakpoint->address &&
	       (((IS_PUSH(code) || code == PUSH_FLAGS) && moved == (uint64_t)-8) || (IS_POP(code) && moved == 8) ||
		(code == LEAVE && moved != 0));
}

/* Where the last hit does not tell: a push leaves its register on the stack; a return address begins a function. */
static bool
has_pushed(const struct thread *thread, uint8_t code, const struct user_regs_struct *registers)
{
	const uint64_t values[] = {registers->rax,     registers->rcx, registers->rdx, registers->rbx,
				   registers->rsp + 8, registers->rbp, registers->rsi, registers->rdi};
	uint64_t top;

	return image_read(thread->image, registers->rsp, &top, sizeof(top)) == 0 && top == values[code & 7];
}

/*
 * A SIGTRAP that was sent to a thread takes the place of the one of an int3 that it executes before it gets it. Right
 * behind the first byte of an instruction nobody is otherwise, unless it has but one byte, goes on behind it, and was
 * executed in its slot, or in its place since the int3 was lifted.
 */
static bool
hides_int3(const struct thread *thread, const struct breakpoint *breakpoint, const struct user_regs_struct *registers)
{
	const uint8_t code = breakpoint->code[0];
	struct instruction instruction;

	if (!instruction_decode(breakpoint->code, breakpoint->nr_code_bytes, &instruction) || instruction.length > 1 ||
	    instruction.flow != FLOW_NEXT)
		return true;
	if (!breakpoint->is_set)
		return IS_PUSH(code) && !has_pushed(thread, code, registers);
	return !has_passed(thread, breakpoint, registers);
}

/*
 * A thread is told of a SIGTRAP, or will be after a pause. INT3_HIT: it has executed the breakpoint before it.
 * INT3_HIDDEN: likewise, but the signal is another one; the int3 is still to be executed when that was delivered.
 */
enum int3 { INT3_NOT, INT3_HIT, INT3_HIDDEN };

static enum int3
judge_int3(const struct tracer_stop *stop, const struct breakpoint *breakpoint,
	   const struct user_regs_struct *registers)
{
	const struct thread *thread = stop->thread;
	siginfo_t trap;
	bool has_trap = false;

	if (breakpoint && stop->signal == SIGTRAP)
		has_trap = ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &trap) == 0;
	else if (breakpoint && stop->signal == 0)
		has_trap = remote_pending_signal(thread->tid, SIGTRAP, &trap);
	if (!has_trap)
		return INT3_NOT;
	if (trap.si_code == SI_KERNEL || trap.si_code == TRAP_BRKPT)
		return INT3_HIT;
	return trap.si_code <= 0 && hides_int3(thread, breakpoint, registers) ? INT3_HIDDEN : INT3_NOT;
}

/* Results of system calls that the kernel may begin once more, by moving rip back itself. */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516
#define SYSCALL_BYTES 2

/* The thread is behind a system call: registers are what they will be if it is begun once more. False: it is not. */
static bool
restart_call(struct user_regs_struct *registers)
{
	int64_t result = -(int64_t)registers->rax;

	if ((int64_t)registers->orig_rax < 0 || (result != ERESTARTSYS && result != ERESTARTNOINTR &&
						 result != ERESTARTNOHAND && result != ERESTART_RESTARTBLOCK))
		return false;
	registers->rax = result == ERESTART_RESTARTBLOCK ? SYS_restart_syscall : registers->orig_rax;
	registers->rip -= SYSCALL_BYTES;
	return true;
}

/* False: the thread is not in a slot. */
static bool
move_out_of_slot(struct thread *thread, struct user_regs_struct *registers, int signal)
{
	const struct code_point *point = slot_point(thread->image, registers->rip);
	uint64_t old = registers->rip;
	siginfo_t info;

	if (!point)
		return false;
	registers->rip = point->address;
	registers->rsp += point->pushed_bytes;
	set_rip(thread, registers->rip);
	if (point->pushed_bytes)
		ptrace(PTRACE_POKEUSER, thread->tid, offsetof(struct user, regs.rsp), registers->rsp);
	/* For some faults the processor gives the address of the instruction. */
	if (signal && remote_is_synchronous(signal) && ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0 &&
	    info.si_code > 0 && (uint64_t)info.si_addr == old) {
		info.si_addr = (void *)registers->rip;
		ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, &info);
	}
	if (point->is_before || restart_call(registers)) {
		if (!thread->rewinds)
			thread->rewinds = rot_calloc(1, sizeof(*thread->rewinds));
		thread->rewinds->items[thread->rewinds->next++ % MAX_REWINDS] = *registers;
	}
	return true;
}

enum tracer_answer
breakpoints_handle(const struct tracer_stop *stop)
{
	struct thread *thread = stop->thread;
	struct user_regs_struct registers;
	struct breakpoint *breakpoint;

	if (stop->signal == 0 || !thread->image || thread->image->nr_breakpoints == 0 ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return TRACER_DELIVER;
	breakpoint = find_before(thread, &registers);
	switch (judge_int3(stop, breakpoint, &registers)) {
	case INT3_HIT:
		registers.rip = breakpoint->address;
		thread->hit_address = breakpoint->address;
		thread->hit_rsp = registers.rsp;
		hit_breakpoint(thread, breakpoint, &registers);
		return TRACER_RESUME;
	case INT3_HIDDEN:
		set_rip(thread, breakpoint->address);
		break;
	case INT3_NOT:
		move_out_of_slot(thread, &registers, stop->signal);
		break;
	}
	return TRACER_DELIVER;
}

/* ---- leaving ---- */

enum tracer_answer
breakpoints_leave(const struct tracer_stop *stop)
{
	struct thread *thread = stop->thread;
	struct user_regs_struct registers;
	enum int3 int3;

	if (!thread->image || thread->image->nr_breakpoints == 0 ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return TRACER_DELIVER;
	int3 = judge_int3(stop, find_before(thread, &registers), &registers);
	if (int3 == INT3_NOT) {
		move_out_of_slot(thread, &registers, stop->signal);
		return TRACER_DELIVER;
	}
	if (stop->signal == 0)
		return TRACER_KEEP;
	set_rip(thread, registers.rip - 1);
	return int3 == INT3_HIT ? TRACER_RESUME : TRACER_DELIVER;
}
