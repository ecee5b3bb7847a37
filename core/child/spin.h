/* SPDX-License-Identifier: MIT */
/* Waiting by looking: leaves within a few cycles, and makes no context switch while every thread has a CPU of its own.
 */
#pragma once

#include <immintrin.h>
#include <sched.h>

/* Turns before the CPU is offered to others, who may be the ones waited for: some milliseconds. */
#define SPIN_TURNS 100000

struct spin {
	unsigned turns;
};

/* One turn of "while (!condition) spin_once(&spin);". */
static inline void
spin_once(struct spin *spin)
{
	_mm_pause();
	if (spin->turns < SPIN_TURNS)
		spin->turns++;
	else
		sched_yield();
}
