/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how long memory takes while others use it. A process follows pointers through memory,
 * and one on each other CPU reads memory of its own, with pauses that become shorter. In each window of time the first
 * one notes how fast it was, and how much the others have read meanwhile: where these did not get their CPUs, it shows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sheet/part.h"

enum loaded_answer {
	LOADED_ALONE,     /* ns of an access */
	LOADED_FULL,      /* the same while others read most */
	LOADED_MOST,      /* what they read then, GB/s */
	LOADED_HALF_MORE, /* what they read when an access takes half more than alone, GB/s */
	LOADED_NR_ANSWERS
};

#define LOADED_NR_LEVELS 12
#define LOADED_NR_WINDOWS 320

/* Windows of a level of load, from none to the most. */
struct loaded_level {
	size_t nr;
	struct loaded_window {
		double ns, gb_per_s; /* of an access; of all others together */
	} windows[LOADED_NR_WINDOWS];
};

struct loaded {
	struct sheet_answer answers[LOADED_NR_ANSWERS];
	struct measured_curve curve; /* ns over GB/s */
};

/* Pure. allowed: GB/s that the memory modules allow; 0: not known, and unknown says what to do. */
void loaded_conclude(const struct loaded_level levels[LOADED_NR_LEVELS], double allowed, const char *unknown,
		     struct loaded *loaded);

struct machine;

/* Bytes of memory: lines that are waited for, and what each of the others reads again and again. */
struct loaded_sizes {
	size_t nr_lines, reader_bytes;
	unsigned nr_readers;
};

/*
 * Pure. More than the last level holds of one CPU, and of all together; an eighth of the memory in all, for which fewer
 * CPUs may read. False: caches hold much of it.
 */
bool loaded_choose_sizes(struct loaded_sizes *sizes, const struct machine *machine, size_t nr_cpus);

/*
 * Measures anew each time, for some seconds. -1: no memory or process for it, or interrupted. With one CPU, or too
 * little memory, answers say that.
 */
extern const struct sheet_part loaded_part;
