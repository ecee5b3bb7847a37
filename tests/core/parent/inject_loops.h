/* SPDX-License-Identifier: MIT */
/* Loops that keep everything they know in registers, or below the stack, and functions that destroy it all. */
#pragma once

#include <stdint.h>

#include "inject_victim.h"

/* A checksum of nr rounds, the same each time. */
uint64_t sum_integers(uint64_t nr);  /* all general registers, the carry from one round to the next */
uint64_t sum_red_zone(uint64_t nr);  /* 128 bytes below the stack pointer                           */
uint64_t sum_sse(uint64_t nr);       /* xmm0 to xmm15                                               */
uint64_t sum_avx(uint64_t nr);       /* ymm0 to ymm15                                               */
uint64_t sum_avx512(uint64_t nr);    /* zmm0 to zmm31, k1 to k7                                     */
uint64_t sum_x87(uint64_t nr);       /* st0 to st7, and their rounding                              */
uint64_t sum_rounding(uint64_t nr);  /* the rounding of MXCSR                                       */
uint64_t sum_backwards(uint64_t nr); /* a string instruction with the direction flag set            */

/* One more for the CPU that it runs on, in a restartable sequence of about that many turns. rseq: struct rseq. */
void rseq_add(uint64_t *counters, void *rseq, uint64_t turns);

/* Run in threads from outside: all but the stack pointer is something else afterwards. */
void victim_clobber(struct victim_slot *slot);
extern const char victim_clobber_end[];

/* Likewise: what rseq_add does, at once. */
void victim_conflict(struct victim_slot *slot, uint64_t *counters, void *rseq);

/* Likewise: kills the process, were it its own fault. */
void victim_fault(struct victim_slot *slot);

extern const char victim_trampoline[];
