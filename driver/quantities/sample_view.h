/* SPDX-License-Identifier: MIT */
/* How far the runs of a value are off, and apart: as the thesis looks at them in its chapters on accuracy and
 * precision. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "quantities/quantity.h"

enum sample_reference {
	SAMPLES_ALONE,       /* the values themselves */
	SAMPLES_TO_EXPECTED, /* in units of what the kernel's definition expects */
	SAMPLES_TO_MINIMUM,  /* in units of the least of all runs, where nothing is expected: of times */
};

struct sample_view {
	enum sample_reference reference;
	bool is_error;     /* err() of the ratio to the reference, as a fraction (statistics/series.h) */
	size_t minimum_of; /* the least of each so many runs in turn, instead of each run; 0 or 1: each run */
};

/* Was it counted or clocked, so that its runs say something? Else it is what somebody expects or gives. */
bool quantity_is_of_runs(const struct quantity_value *value);

/* Does run i count: was it not disturbed, or as much as is kept? All do, if none would. */
bool quantity_keeps_run(const struct quantity_value *value, size_t i);

/* The samples of the runs that count, in their order. kept has room for nr_samples; returns how many. */
size_t quantity_kept_samples(const struct quantity_value *value, double *kept);

/* The reference of a view: NaN if there is none, or nothing is expected, of which there are no ratios. */
double sample_view_reference(const struct sample_view *view, const struct quantity_value *value);

/* The view of these runs. Fresh memory, *nr of them; none where the value is not of runs, or has no reference. */
double *sample_view_of(const struct sample_view *view, const struct quantity_value *value, size_t *nr);

/*
 * How accurate and how precise a value is. off: the median of what the view sees, from the reference: -0.02 is 2 %
 * below, and half is -1 as twice is +1 (err() with its sign). spread: the distance of the quartiles of all runs, or of
 * the ends where the view takes minima, in units of the reference (alone: of the median). Both NaN with nr = 0, spread
 * also with 1.
 */
struct sample_accuracy {
	size_t nr; /* runs, or minima */
	double off, spread;
};
struct sample_accuracy sample_accuracy_of(const struct sample_view *view, const struct quantity_value *value);
