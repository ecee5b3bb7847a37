/* SPDX-License-Identifier: MIT */
/* Pages mapped into a traced process, near its code, with an instruction of that code in each slot. */
#pragma once

#include <stdint.h>

#include "error.h"
#include "parent/breakpoints/image.h"

/* ---- an instruction that runs in a slot elsewhere ---- */

#define CODE_SLOT_BYTES 64

/* Where a thread with its instruction pointer at offset in a slot stands in the original code. */
struct code_point {
	uint8_t offset;
	bool is_before;       /* the instruction was not executed yet; address is its own */
	uint8_t pushed_bytes; /* to be added to rsp as well: a step of the slot that has to be undone */
	uint64_t address;
};

/*
 * bytes: the instruction as it has to stand at the address it was relocated to, and jumps back. Threads may run in it
 *        at once; it changes no register and no flag that the instruction itself leaves alone, and below the stack
 *        pointer nothing but what the instruction itself writes.
 */
struct code_slot {
	uint8_t bytes[CODE_SLOT_BYTES];
	uint8_t nr_bytes;
	uint8_t nr_points;
	struct code_point points[4];
};

/*
 * Makes slot run at address to what the instruction at the begin of bytes does at address from, and go on from there.
 * -1: that cannot be done: the bytes are no instruction; far jumps, iret, xbegin, branches with an operand-size prefix,
 * a call through the stack's own top; or to is further than 2 GiB from what the instruction refers to.
 * A call pushes with push, without the processor's shadow stack. syscall leaves an address of the slot in rcx.
 */
int code_relocate(const uint8_t *bytes, size_t nr_bytes, uint64_t from, uint64_t to, struct code_slot *slot,
		  struct rot_error *err);

/* The point at offset of a slot: one for each place between instructions that a thread can be seen at; NULL: none. */
const struct code_point *code_slot_point(const struct code_slot *slot, uint64_t offset);

/* ---- the slots of an address space ---- */

/*
 * Makes a slot for the instruction at the begin of bytes, which stands at from. It stays there as long as the address
 * space. thread: a stopped one of image; it maps pages if there is no room within reach. Returns the slot's address, or
 * 0 and err.
 */
uint64_t slot_make(struct thread *thread, uint64_t from, const uint8_t *bytes, size_t nr_bytes, struct rot_error *err);

/*
 * Takes all of them out of a process that is about to be let go; thread: as for slot_make, its last. They stay known,
 * since there may be copies of the process that were not seen yet.
 */
void slots_unmap(struct thread *thread);

/* Where a thread that executes a slot stands in its own code; NULL: at rip there is no slot. */
const struct code_point *slot_point(const struct image *image, uint64_t rip);

/*
 * The address space, of those that have or had slots, that a new process has or has a copy of; NULL: of none.
 * memory: descriptor of /proc/PID/mem of that process.   *is_shared: it has the very same.
 */
struct image *slots_find_origin(struct images *images, int memory, bool *is_shared);

/* The same slots in a copy of an address space. thread: of the copy, stopped. */
void slots_copy(struct image *to, const struct image *from, const struct thread *thread);
void slots_clear(struct image *image);
