/* SPDX-License-Identifier: MIT */
/* Chains of dependent instructions as a clock: how many core cycles a time was. */
#pragma once

#include <stdint.h>

/* Core cycles, and the ticks of the time stamp counter that they took. */
struct clock_reading {
	uint64_t cycles, ticks;
};

/*
 * Core cycles that a multiplication waits for the one before, from the ticks that as many additions and multiplications
 * took. 0: nothing is known, since the ratio is that of no processor (2.5 to 6.5 are believed; 3 at least).
 */
unsigned clock_chain_latency(uint64_t addition_ticks, uint64_t multiplication_ticks);

/* Finds out the latency, in some 0.1 ms. */
unsigned clock_chain_find_latency(void);

/* The core clock now, in some 0.15 ms. latency: of multiplications; 0: additions alone. */
struct clock_reading clock_chain_read(unsigned latency);
