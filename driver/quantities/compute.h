/* SPDX-License-Identifier: MIT */
/* Values of quantities from the samples of the passes. Pure. */
#pragma once

#include <stdbool.h>

#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "quantities/resolve.h"
#include "quantities/samples.h"

/*
 * Fills value (clear it) from samples[i], the runs of plan->passes[i].
 *
 * Tainted samples are kept in value->samples and left out of the summary, unless by kept_taints of the resolution. If
 * all are tainted the summary is over all of them: its estimator ends in "OfTainted" and summary.tainted is their
 * number. Parts of one pass are taken jointly; else run i of one pass goes with run i of the other in the samples, and
 * the summary is the ratio of the medians. A pass that is stepped has fewer runs, taken in turn in the samples; beside
 * a part that scatters its median counts as known. use_minimum: the estimator of times is the minimum, and of rates the
 * median of the work per minimum of the time, without interval (the thesis' best of K). Error: a formula that cannot be
 * evaluated.
 */
int quantity_compute(struct quantity_value *value, const struct quantity_resolution *resolution,
		     const struct architecture *architecture, const struct pass_plan *plan,
		     const struct pass_samples *samples, bool use_minimum, struct rot_error *err);
