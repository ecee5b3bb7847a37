/* SPDX-License-Identifier: MIT */
/*
 * Two modes of a rate that differ from process to process, and stay in one, for reasons that nobody tells (seen in the
 * L3 of an EPYC 9005: stores of 25 or of 30 bytes per cycle). Pure.
 *
 * The upper mode is what the machine can do, if it was reached by two processes at least: what one alone reached may
 * owe that to a misread clock.
 */
#ifndef PEAKS_RATE_MODES_H
#define PEAKS_RATE_MODES_H

#include <stdbool.h>
#include <stddef.h>

struct rate_modes {
	bool are_two;
	double low, high; /* the rates of the upper mode lie between these */
	double usual;     /* median of the others, which are the most */
	size_t nr_usual;  /* how many these are */
	size_t nr;        /* of all rates that are numbers */
};

/*
 * One rate of each process, higher is better; NaN: none. Two modes if the highest two that agree within 2 % are more
 * than 5 % above the median. Otherwise there is one, or the upper one is the usual one: then the rates need no sorting,
 * and only are_two and nr are set.
 */
struct rate_modes rate_modes_find(const double *rates, size_t nr);

#endif
