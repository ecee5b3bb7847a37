/* SPDX-License-Identifier: MIT */
/* How far the runs of a value are off, and apart. */
#include "quantities/sample_view.h"

#include <math.h>
#include <string.h>

#include "memory.h"
#include "statistics/series.h"

bool
quantity_is_of_runs(const struct quantity_value *value)
{
	return value->nr_samples > 0 && strcmp(value->kind, "expected") != 0 && strcmp(value->kind, "given") != 0;
}

bool
quantity_keeps_run(const struct quantity_value *value, size_t i)
{
	return value->summary.tainted >= value->nr_samples || (value->taints[i] & ~value->kept_taints) == 0;
}

size_t
quantity_kept_samples(const struct quantity_value *value, double *kept)
{
	size_t nr = 0;

	for (size_t i = 0; i < value->nr_samples; i++)
		if (quantity_keeps_run(value, i) && isfinite(value->samples[i]))
			kept[nr++] = value->samples[i];
	return nr;
}

static double
least(const double *values, size_t nr)
{
	double least = NAN;

	for (size_t i = 0; i < nr; i++)
		least = fmin(least, values[i]); /* of a number and NaN, the number */
	return least;
}

static double
reference_of(const struct sample_view *view, const struct quantity_value *value, const double *kept, size_t nr)
{
	switch (view->reference) {
	case SAMPLES_TO_EXPECTED:
		return value->expected == 0 ? NAN : value->expected;
	case SAMPLES_TO_MINIMUM:
		return least(kept, nr);
	default:
		return 1;
	}
}

double
sample_view_reference(const struct sample_view *view, const struct quantity_value *value)
{
	autofree double *kept = rot_calloc(value->nr_samples + 1, sizeof(*kept));

	return reference_of(view, value, kept, quantity_kept_samples(value, kept));
}

double *
sample_view_of(const struct sample_view *view, const struct quantity_value *value, size_t *nr)
{
	autofree double *kept = rot_calloc(value->nr_samples + 1, sizeof(*kept));
	double *seen = rot_calloc(value->nr_samples + 1, sizeof(*seen)), reference;
	const size_t nr_kept = quantity_is_of_runs(value) ? quantity_kept_samples(value, kept) : 0;

	reference = reference_of(view, value, kept, nr_kept);
	*nr = isnan(reference) ? 0 : series_minima(kept, nr_kept, view->minimum_of ? view->minimum_of : 1, seen);
	for (size_t i = 0; i < *nr && view->reference != SAMPLES_ALONE; i++)
		seen[i] = view->is_error ? series_error(seen[i], reference) : seen[i] / reference;
	return seen;
}

struct sample_accuracy
sample_accuracy_of(const struct sample_view *view, const struct quantity_value *value)
{
	const struct sample_view alone = {.minimum_of = view->minimum_of};
	struct sample_accuracy accuracy = {.off = NAN, .spread = NAN};
	autofree double *seen = sample_view_of(&alone, value, &accuracy.nr);
	double reference = sample_view_reference(view, value), unit;
	const struct summary summary = summary_median(seen, accuracy.nr);

	if (view->reference != SAMPLES_ALONE && isnan(reference))
		accuracy.nr = 0;
	if (accuracy.nr == 0)
		return accuracy;
	unit = view->reference == SAMPLES_ALONE ? summary.value : reference;
	if (view->reference != SAMPLES_ALONE)
		accuracy.off = copysign(series_error(summary.value, reference), summary.value - reference);
	if (accuracy.nr > 1)
		/* Few disturbances reach minima, so all of their range counts; of runs the middle half does. */
		accuracy.spread = (view->minimum_of > 1 ? summary.maximum - summary.minimum
							: summary.quartile75 - summary.quartile25) /
				  unit;
	return accuracy;
}
