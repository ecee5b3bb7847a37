/* SPDX-License-Identifier: MIT */
/*
 * The analyses of BlackjackBench (Danalis and others, 2013, section 4): where a curve of costs over a growing
 * parameter has its steps. Pure. A cost never falls when the parameter grows, so what falls is noise.
 *
 * Each answer has a confidence from 0 to 1. An answer is sure from CURVE_SURE on: the step is at least twice as large
 * as any other that could have been meant, and as the noise.
 */
#pragma once

#include <stddef.h>

#define CURVE_SURE 0.5

/* Rises below this share are not looked at: nobody would act on them. */
#define CURVE_LEAST_RISE 0.05

/* Fewer points have no steps that could be compared. */
#define CURVE_LEAST_POINTS 4

#define CURVE_MAX_POINTS 96

/* cycles[half][i]: core cycles of an access at at[i], the shortest of half of the runs; NaN: always disturbed. */
struct measured_curve {
	const char *parameter; /* what at[] is */
	double at[CURVE_MAX_POINTS];
	double cycles[2][CURVE_MAX_POINTS];
	size_t nr;
};

/* Points that both halves have. */
struct measured_curve curve_undisturbed(const struct measured_curve *curve);

/* Monotonicity: the least value of each point and the ones behind it. values and envelope may be the same. */
void curve_envelope(const double *values, size_t nr, double *envelope);

/* A step between the points at and at + 1. */
struct curve_step {
	size_t at;
	double rise;       /* (after - before) / before; NaN: there is none */
	double confidence; /* of the place; if there is none, of that */
};

/* The first rise that is above the mean of all rises. It is not sure after an earlier rise of CURVE_LEAST_RISE. */
struct curve_step curve_first_step(const double *values, size_t nr);

/* The largest rise relative to the value before it. */
struct curve_step curve_biggest_step(const double *values, size_t nr);

/*
 * A step of a curve that was measured twice. It is that of the shorter times, and no surer than those of both. If they
 * do not agree about the place, its confidence is 0. It is not sure either if the points at the step differ by an
 * eighth of it. A disturbance at the step itself shows in no other way.
 */
struct curve_step curve_step_of_two(struct curve_step (*find)(const double *values, size_t nr), const double *first,
				    const double *second, size_t nr);
