/* SPDX-License-Identifier: MIT */
/*
 * Finding the peaks of this machine: the variants of the ceilings that the controller default-peaks describes are
 * built, measured and compared, and the best of each is measured again. Source: thesis, "Finding Performance and
 * Bandwidth Ceilings".
 */
#pragma once

#include "error.h"
#include "roof/optimiser.h"
#include "roof/peak.h"

struct rot;

struct peaks_options {
	enum search_strategy strategy;
	/* Searches that have not ended then end with what they have found, so that the whole ends soon after; 0: never.
	 */
	double time_limit_s;
	const int *threads; /* numbers of threads that the best variants are measured on; each at least 1 */
	size_t nr_threads;
	/*
	 * The peaks that are wanted: all words must be found in one of name, operation, access, instruction set or kind
	 * ("performance", "bandwidth", "latency"), or be the border, in any case; of a word with commas one of its
	 * parts. None: all, but for those that are rare if the search is a quick one.
	 */
	const char *const *words;
	size_t nr_words;
	/* None: all. Otherwise the peaks that somebody needs among those that the words leave, rare or not. */
	const struct peak_wish *wishes;
	size_t nr_wishes;
};

/*
 * Adds the peaks to the list, in the order of the description, each with one thread first. Each variant is a program
 * of its own, so nothing of one instruction set (the state of the upper halves, the clock) lasts into the next. What is
 * in the result cache is not measured again, so a repeated search is fast and finds the same.
 *
 * Quiet or not: the configuration says; progress is shown. A ceiling that cannot be measured is left out with a
 * warning. Interrupted: -1 with "interrupted", and the list has those that are finished. No peak wanted at all: error.
 */
int peaks_find(struct rot *rot, const struct peaks_options *options, struct peak_list *list, struct rot_error *err);

/* How many CPUs this process may use: the largest number of threads. */
int peaks_max_threads(void);
