/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints in the code of traced processes: an int3 instead of the first byte of an instruction. A thread that hits
 * one stops once; it goes on in a slot (slots.h) that holds the instruction, so that the others always find the int3.
 *
 * What cannot be hidden: a thread that blocks or ignores SIGTRAP has it unblocked and handled in the default way by
 * the system when it meets an int3. Code that reads itself sees the int3.
 */
#pragma once

#include <stdint.h>
#include <sys/user.h>

#include "error.h"
#include "parent/breakpoints/image.h"

/* A thread is about to execute the instruction at a breakpoint. */
struct breakpoint_hit {
	struct thread *thread; /* stopped; thread->image is where the breakpoint is */
	uint64_t address;
	const struct user_regs_struct *registers; /* the thread's own: rip is address */
};

/*
 * A user is told of hits; the same address may have several. refused: there will be no more hits, and why; may be NULL.
 */
struct breakpoint_user {
	void (*hit)(void *context, const struct breakpoint_hit *hit);
	void (*refused)(void *context, uint64_t address, const struct rot_error *err);
	void *context;
};

/*
 * Tells user of each hit at address from now on, in thread->image. thread is stopped with registers of its own: if
 * there is no room for a slot yet, it maps some. A user that is there already has to be lifted once more.
 *
 * -1: nothing has changed; the code cannot be read or written, its instruction cannot be moved, or the program is a
 * 32-bit one.
 */
int breakpoint_set(struct thread *thread, uint64_t address, struct breakpoint_user user, struct rot_error *err);

/* Once for each time it was set. Without its last user the code is what it was. Does nothing where none is set. */
void breakpoint_lift(struct image *image, uint64_t address, struct breakpoint_user user);

/* A breakpoint that is lifted when it is hit first, and needs no slot: the code is what it was when user is told. */
int breakpoint_set_once(struct thread *thread, uint64_t address, struct breakpoint_user user, struct rot_error *err);

/*
 * Answers the stops of breakpoints, and sees to it that a signal's handler finds the thread in its own code. Traps that
 * the program made itself are delivered unchanged.
 */
enum tracer_answer breakpoints_handle(const struct tracer_stop *stop);

/* Takes all out of the code; threads may still be in slots, or have met an int3 already. */
void breakpoints_lift_all(struct image *image);

/*
 * After breakpoints_lift_all: moves a stopped thread into its own code. TRACER_KEEP: it must go on to its next stop
 * first.
 */
enum tracer_answer breakpoints_leave(const struct tracer_stop *stop);

/*
 * For images: the same breakpoints for an address space that is a copy; and no more of them. The copy may have been
 * made before some were set, which it does without, or before some were lifted, which are taken out of it.
 */
void breakpoints_copy(struct image *to, const struct image *from);
void breakpoints_clear(struct image *image);
void rewinds_clear(struct thread *thread);
