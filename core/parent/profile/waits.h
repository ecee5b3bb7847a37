/* SPDX-License-Identifier: MIT */
/*
 * How long threads could run, but had no CPU. The system is asked again and again for those that were sampled, while
 * they live. Times of a thread after the last look at it are missing.
 */
#pragma once

#include <stdint.h>

/* Sums over all threads. Both are 0 where the system does not say. */
struct waits_times {
	uint64_t run_ns, wait_ns;
};

struct waits;

struct waits *waits_new(void);
void waits_delete(struct waits *waits);

/* A thread was sampled; it is looked at the next time. */
void waits_add(struct waits *waits, uint32_t tid);

/* Looks at the threads that were sampled since, unless the last look was a moment ago. */
void waits_look(struct waits *waits, uint64_t now_ns);

struct waits_times waits_sum(const struct waits *waits);
