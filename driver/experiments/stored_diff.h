/* SPDX-License-Identifier: MIT */
/* Two stored results compared: point by point, and what differs of the machines and programs that made them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "experiments/stored_result.h"
#include "statistics/shift.h"

/* Is it of time? Such values scatter from run to run, whatever the program does. */
bool diff_is_speed(const char *name);

/* The runs of both say this of a quantity: second / first. */
enum diff_verdict {
	DIFF_BETTER,  /* less time, or more of a rate; the whole interval says so  */
	DIFF_WORSE,   /*                                                          */
	DIFF_MORE,    /* of a quantity that is neither good nor bad                */
	DIFF_LESS,    /*                                                          */
	DIFF_NONE,    /* the interval holds 1, or the values are the same          */
	DIFF_UNKNOWN, /* too few runs to tell a change from noise                 */
	NR_DIFF_VERDICTS,
};

/*
 * second / first of one quantity: the elements of "quantities", and the values read from them. From their undisturbed
 * runs; without an interval and p where nobody measured, or both are exact. 1 for 0 / 0.
 */
struct shift diff_shift_of(const json_t *first, const json_t *second, const struct quantity_value *a,
			   const struct quantity_value *b);

/*
 * The verdict on second / first, whose summary has an interval or is exact, unless too few runs tell. name: of the
 * quantity, as "time". nr_runs: of the result that has more. *text (fresh memory): "faster by 12 % [9, 15]",
 * "no difference shown [-2, 3] %", "differs by 12 % (one run each: it may be noise)".
 */
enum diff_verdict diff_verdict_of(const char *name, const struct summary *ratio, size_t nr_runs, char **text);

/*
 * Prints a table of the points that both have (same series, label and coordinates), those that only one has, what
 * differs of the environment, and a count of the verdicts. What does not differ is left out but for times; with
 * everything set it is shown, too. Differences that may be chance among so many comparisons (Holm) are marked and
 * counted. Errors: no point is in both; what was measured differs by more than the limit (a share; NaN: there is none),
 * with its whole interval where it has one, or is in one of them alone. Rates and times without an interval are not
 * held to it.
 */
int stored_diff_print(FILE *out, const struct stored_result *first, const struct stored_result *second, bool everything,
		      double limit, struct rot_error *err);

/*
 * Functions of two results of rot run: by name and file, those without a name by file and position. Printed are those
 * whose time changed beyond its interval (Holm), or that have 1 % of the instructions and other counts; most seconds
 * first, at most 10 of them, or with everything set all functions.
 */
void stored_diff_print_functions(FILE *out, const struct stored_result *first, const struct stored_result *second,
				 bool everything);

/* Prints differences of machine and software, a line for each side. */
void stored_diff_print_environment(FILE *out, const struct stored_result *first, const struct stored_result *second);
