/* SPDX-License-Identifier: MIT */
/*
 * "A/A": the same work measured twice, many times over, and compared as "rot diff" compares. What is called different
 * is a false alarm; intervals of 95 % allow 5 % of those. More of them means that runs of one measurement are more
 * alike than measurements are, so that intervals made of them are too narrow on this host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/pool.h"
#include "error.h"
#include "statistics/summary.h"

struct rot;
struct json_t;
struct quantity_value;

#define AA_NOMINAL_RATE 0.05

struct aa_options {
	const char *controller; /* whose points are the work; programs among them are left out */
	int nr_rounds;          /* comparisons of each point; 0: as many as the budget allows */
	int nr_runs;            /* of each measurement */
	double budget_s;        /* no further round begins that would end later; the first is always done */
};

/* One quantity at one point. */
struct aa_subject {
	const char *words; /* "time:tsc" */
	const char *point; /* "READ 64 MiB" */
	double *samples;   /* the undisturbed runs of all measurements, one behind the other */
	size_t nr_samples;
	size_t *ends; /* of the samples of each measurement */
	size_t nr_measurements;
	size_t nr_different, nr_unknown; /* of the comparisons; unknown: too few runs for an interval */
	double *needed;                  /* of each comparison that has an interval: see aa_needed */
	size_t nr_needed;
};

/* The findings for a quantity at all its points. */
struct aa_row {
	const char *words; /* borrowed of a subject */
	size_t nr_compared, nr_different, nr_unknown;
	struct summary rate; /* nr_different / nr_compared */

	/* Intervals hold 1 in 95 % of all comparisons if they are so many times as wide; NaN: too few comparisons. */
	double widening;

	/*
	 * Relative spreads (interquartile range as a standard deviation), the median over the points: of the runs of a
	 * measurement; of the medians of measurements; and of such medians if it did not matter which of them a run is
	 * of.
	 */
	double within, between, by_chance;
};

struct aa {
	struct pool pool; /* of all below */
	struct aa_options options;
	struct aa_subject *subjects;
	size_t nr_subjects;
	size_t nr_points;
	int nr_rounds; /* done */
	double elapsed_s;
	bool is_interrupted; /* in the round that would have come next */
};

/*
 * Measures round by round, with the configuration's useCachedResults put aside. Interrupted: what is finished stays, no
 * error if that is a round or more. The pool is to be cleared also after an error.
 */
int aa_measure(struct rot *rot, const struct aa_options *options, struct aa *aa, struct rot_error *err);

/* Adds a comparison. */
void aa_subject_add(struct pool *pool, struct aa_subject *subject, const struct quantity_value *first,
		    const struct quantity_value *second);

/* The rows, in the order of the subjects; *nr of them. */
struct aa_row *aa_rows(struct pool *pool, const struct aa *aa, size_t *nr);

/*
 * How many times as wide an interval of a ratio must be to hold 1: the distance of its value from 1, in units of that
 * from its value to its end on this side, in logarithms. 1: it ends at 1. Infinite for an interval without width.
 */
double aa_needed(const struct summary *ratio);

/* Is the rate of the row above the nominal one, with certainty? */
bool aa_is_too_often(const struct aa_row *row);
bool aa_is_any_too_often(const struct aa *aa);

void aa_print(const struct aa *aa, FILE *out);

/* {"schema": "rot.aa/1", "controller", "points", "rounds", "runs", "seconds", "quantities": [...]}. New reference. */
struct json_t *aa_json(const struct aa *aa);
