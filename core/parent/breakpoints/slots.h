/* SPDX-License-Identifier: MIT */
/* Pages mapped into a traced process, near its code, with an instruction of that code in each slot. */
#ifndef CORE_PARENT_BREAKPOINTS_SLOTS_H
#define CORE_PARENT_BREAKPOINTS_SLOTS_H

#include <stdint.h>

#include "error.h"
#include "parent/breakpoints/image.h"
#include "parent/symbols/code.h"

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

#endif
