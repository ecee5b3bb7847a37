/* SPDX-License-Identifier: MIT */
#include "statistics/curve.h"

#include <math.h>
#include <stdbool.h>

#include "memory.h"
#include "statistics/summary.h"

struct measured_curve
curve_undisturbed(const struct measured_curve *curve)
{
	struct measured_curve left = {.parameter = curve->parameter};

	for (size_t i = 0; i < curve->nr; i++) {
		if (!isfinite(curve->cycles[0][i]) || !isfinite(curve->cycles[1][i]))
			continue;
		left.at[left.nr] = curve->at[i];
		for (int half = 0; half < 2; half++)
			left.cycles[half][left.nr] = curve->cycles[half][i];
		left.nr++;
	}
	return left;
}

void
curve_envelope(const double *values, size_t nr, double *envelope)
{
	double least = INFINITY;

	for (size_t i = nr; i-- > 0;) {
		least = fmin(least, values[i]);
		envelope[i] = least;
	}
}

/* Fills the envelope, from which all analyses begin. Gives back the noise that it has removed. */
static double
smooth(const double *values, size_t nr, double *envelope)
{
	autofree double *above = rot_calloc(nr + 1, sizeof(*above));
	double nr_disturbed = 0;

	curve_envelope(values, nr, envelope);
	for (size_t i = 0; i < nr; i++) {
		above[i] = values[i] / envelope[i] - 1;
		nr_disturbed += above[i] > CURVE_LEAST_RISE;
	}
	/* Either of the two points at a step may be one of them. */
	return nr ? statistics_percentile(above, nr, 50) + 2 * nr_disturbed / (double)nr : 0;
}

static bool
is_usable(const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!(values[i] > 0 && isfinite(values[i])))
			return false;
	return nr >= CURVE_LEAST_POINTS;
}

/* How clearly something is larger than its rival. */
static double
margin(double own, double rival)
{
	return fmax(0, 1 - rival / own);
}

static double
rise_at(const double *values, size_t i)
{
	return (values[i + 1] - values[i]) / values[i];
}

/* Behind a step there are points that could have been lower; one alone is not enough. */
static bool
is_at_end(const struct curve_step *step, size_t nr)
{
	return step->at + 2 == nr;
}

/* No step, unless the noise has hidden one, or a small rise is one. */
static struct curve_step
no_step(double noise, double small)
{
	return (struct curve_step){.rise = NAN, .confidence = margin(CURVE_LEAST_RISE, fmax(noise, small))};
}

struct curve_step
curve_first_step(const double *values, size_t nr)
{
	autofree double *envelope = rot_calloc(nr + 1, sizeof(*envelope));
	double noise, mean, earlier = 0;
	struct curve_step step;
	size_t i = 0;

	if (!is_usable(values, nr))
		return (struct curve_step){.rise = NAN};
	noise = smooth(values, nr, envelope);
	mean = 0;
	for (size_t k = 0; k + 1 < nr; k++)
		mean += rise_at(envelope, k) / (double)(nr - 1);
	while (i + 1 < nr && !(rise_at(envelope, i) > fmax(mean, CURVE_LEAST_RISE)))
		earlier = fmax(earlier, rise_at(envelope, i++));
	if (i + 1 == nr)
		return no_step(noise, earlier);
	step = (struct curve_step){.at = i, .rise = rise_at(envelope, i)};
	step.confidence = margin(step.rise, fmax(earlier, noise));
	/* A small step before large ones is below the mean. */
	if (earlier > CURVE_LEAST_RISE || is_at_end(&step, nr))
		step.confidence = fmin(step.confidence, CURVE_SURE / 2);
	/* A step that goes on and grows may begin or end here. */
	if (i + 2 < nr && rise_at(envelope, i + 1) > step.rise)
		step.confidence *= step.rise / rise_at(envelope, i + 1);
	return step;
}

struct curve_step
curve_biggest_step(const double *values, size_t nr)
{
	autofree double *envelope = rot_calloc(nr + 1, sizeof(*envelope));
	struct curve_step step = {.rise = NAN};
	double noise, best = 0, second = 0;

	if (!is_usable(values, nr))
		return step;
	noise = smooth(values, nr, envelope);
	for (size_t i = 0; i + 1 < nr; i++) {
		const double rise = rise_at(envelope, i);

		second = fmax(second, fmin(rise, best));
		if (rise > best) {
			best = rise;
			step = (struct curve_step){.at = i, .rise = rise};
		}
	}
	if (!(step.rise > CURVE_LEAST_RISE))
		return no_step(noise, 0);
	step.confidence = fmin(margin(best, second), margin(step.rise, noise));
	if (is_at_end(&step, nr))
		step.confidence = fmin(step.confidence, CURVE_SURE / 2);
	return step;
}

/* How far two measurements of the points at a step are apart, as a share. */
static double
apart(const double *first, const double *second, size_t at)
{
	double most = 0;

	for (size_t i = at; i < at + 2; i++)
		most = fmax(most, fabs(first[i] - second[i]) / fmin(first[i], second[i]));
	return most;
}

static bool
is_same(const struct curve_step *a, const struct curve_step *b)
{
	return isnan(a->rise) == isnan(b->rise) && (isnan(a->rise) || a->at == b->at);
}

struct curve_step
curve_step_of_two(struct curve_step (*find)(const double *values, size_t nr), const double *first, const double *second,
		  size_t nr)
{
	autofree double *shorter = rot_calloc(nr + 1, sizeof(*shorter));
	struct curve_step step, a = find(first, nr), b = find(second, nr);

	for (size_t i = 0; i < nr; i++)
		shorter[i] = fmin(first[i], second[i]);
	step = find(shorter, nr);
	step.confidence = fmin(step.confidence, fmin(a.confidence, b.confidence));
	if (!is_same(&step, &a) || !is_same(&step, &b))
		step.confidence = 0;
	if (!isnan(step.rise))
		step.confidence = fmin(step.confidence, margin(step.rise / 4, apart(first, second, step.at)));
	return step;
}
