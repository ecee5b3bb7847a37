/* SPDX-License-Identifier: MIT */
/*
 * The cost of measuring itself: the same passes over workloads that do nothing. Start and stop of a group of measurers
 * add a constant to each event and to the time, which short regions must be compared with.
 */
#pragma once

#include "quantities/compute.h"
#include "quantities/quantity.h"

struct rot;

/* Runs of the empty region: the fewest whose median has an interval would be 6. */
#define OWN_COST_RUNS 10

/* A region that is shorter than so many empty ones is called short. */
#define OWN_COST_SHORT 100

/*
 * The measurement with kernels that do nothing, in the same cache state, on the same CPUs, without loads, rules and
 * configurators: so it is the same for all kernels. Free with rot_graph_delete. NULL: the kernel Dummy is missing.
 */
struct measurement *own_cost_measurement(struct rot *rot, const struct measurement *measurement);

/*
 * Sets value->own_cost. samples are the runs of the value's passes, empty those of the same passes of
 * own_cost_measurement. Pure. Error: a formula that cannot be evaluated.
 */
int own_cost_compute(struct quantity_value *value, const struct quantity_resolution *resolution,
		     const struct architecture *architecture, const struct pass_plan *plan,
		     const struct pass_samples *samples, const struct pass_samples *empty, struct rot_error *err);

/* Is a part of it more than 1 / OWN_COST_SHORT of what was measured? */
bool own_cost_is_high(const struct quantity_own_cost *cost);
