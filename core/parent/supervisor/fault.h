/* SPDX-License-Identifier: MIT */
/* Where a program did what ended it. */
#ifndef CORE_PARENT_SUPERVISOR_FAULT_H
#define CORE_PARENT_SUPERVISOR_FAULT_H

#include <stdint.h>

#include "parent/tracer/tracer.h"

/*
 * Of a thread that is about to get a signal: where it raised it ("at Scale.c:52, run+0x1c (child:0x2a1c), with the
 * address 0x8"), if it did so itself and the program will not catch it; else NULL. Free it.
 *
 * buffers: where the thread's process has a struct buffer_table (common/buffers.h); 0: it has none. Then the text says
 * which element of them the address would be.
 */
char *fault_text(const struct tracer_stop *stop, uint64_t buffers);

#endif
