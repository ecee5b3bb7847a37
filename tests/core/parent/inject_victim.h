/* SPDX-License-Identifier: MIT */
/* Two processes, one of which runs functions in threads of the other, know this of each other. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define VICTIM_MAX_SLOTS 32

/* How much of the registers there is. */
enum victim_level { LEVEL_SSE, LEVEL_AVX, LEVEL_AVX512 };

/*
 * A thread of the victim. The first three are known to assembler code by their places.
 *
 * nr_ran: functions run in it.   nr_strange: in another thread than it.   self: what %fs:0x10 is there.
 * level: what the functions clobber.
 * nr_rounds: of its work.   nr_wrong: with another result than expected, wrong_value the last of those.
 */
struct victim_slot {
	uint64_t nr_ran, nr_strange, self, level;
	uint64_t rseq; /* of situation rseq: where the thread's struct rseq is */
	char name[24];
	atomic_int tid;
	atomic_ulong nr_rounds, nr_wrong, wrong_value;
};

/*
 * In memory of both. The victim's addresses: of a trampoline, of functions that are called with a slot, and
 * the bytes of clobber, which can be executed anywhere.
 */
struct victim_shared {
	atomic_int is_ready, /* -1 when all threads are */
		is_stopping, wants_exec;
	uint64_t trampoline, clobber, clobber_bytes, conflict, fault;
	uint64_t slots_address, counters_address; /* of slots, and of what rseq_add counts in */
	int nr_slots;
	int semaphores; /* to be removed */
	struct victim_slot slots[VICTIM_MAX_SLOTS];
};
