/* SPDX-License-Identifier: MIT */
/* The cost of measuring itself. */
#include "quantities/own_cost.h"

#include <math.h>

#include "rot.h"

struct measurement *
own_cost_measurement(struct rot *rot, const struct measurement *measurement)
{
	const struct rot_class *class = rot_registry_find(rot->registry, "Dummy");
	struct measurement *empty = class ? measurement_new() : NULL;

	for (size_t i = 0; empty && i < measurement_nr_workloads(measurement); i++) {
		const struct workload *of = measurement_workloads_at(measurement, i);
		struct workload *workload;

		if (workload_is_load(of))
			continue;
		workload = workload_new();
		workload->cpu = of->cpu;
		workload->kernel = rot_entity_new(class);
		workload->kernel->warm_code = of->kernel->warm_code;
		workload->kernel->warm_data = of->kernel->warm_data;
		workload->kernel->num_threads = of->kernel->num_threads;
		measurement_workloads_add(empty, workload);
	}
	return empty;
}

/* The median of one part alone; NaN if it is not measured, or of the whole machine: an empty region moves nothing. */
static int
part_median(double *median, const struct quantity_resolution *resolution, const struct quantity_part *part,
	    const struct architecture *architecture, const struct pass_plan *plan, const struct pass_samples *samples,
	    struct rot_error *err)
{
	const struct quantity_resolution alone = {
		.request = resolution->request,
		.numerator = *part,
		.scale = part->source == PART_WALL ? 1e-3 : 1,
		.expected = NAN,
		.ignored_taints = resolution->ignored_taints,
	};
	struct quantity_value value;
	int rc;

	*median = NAN;
	if (part->source == PART_KNOWN || (part->formula && part->formula->is_of_machine))
		return 0;
	rc = quantity_compute(&value, &alone, architecture, plan, samples, false, err);
	if (rc == 0)
		*median = value.summary.value;
	quantity_value_clear(&value);
	return rc;
}

static int
part_cost(double *cost, double *share, const struct quantity_resolution *resolution, const struct quantity_part *part,
	  const struct architecture *architecture, const struct pass_plan *plan, const struct pass_samples *samples,
	  const struct pass_samples *empty, struct rot_error *err)
{
	double whole;

	if (part_median(cost, resolution, part, architecture, plan, empty, err) < 0 ||
	    part_median(&whole, resolution, part, architecture, plan, samples, err) < 0)
		return -1;
	*share = *cost == 0 && whole == 0 ? NAN : *cost / whole;
	return 0;
}

int
own_cost_compute(struct quantity_value *value, const struct quantity_resolution *resolution,
		 const struct architecture *architecture, const struct pass_plan *plan,
		 const struct pass_samples *samples, const struct pass_samples *empty, struct rot_error *err)
{
	struct quantity_own_cost cost = {.bottom = NAN, .bottom_share = NAN};

	if (part_cost(&cost.top, &cost.top_share, resolution, &resolution->numerator, architecture, plan, samples,
		      empty, err) < 0 ||
	    (resolution->has_denominator &&
	     part_cost(&cost.bottom, &cost.bottom_share, resolution, &resolution->denominator, architecture, plan,
		       samples, empty, err) < 0))
		return -1;
	cost.is_known = !isnan(cost.top) || !isnan(cost.bottom);
	value->own_cost = cost;
	return 0;
}

bool
own_cost_is_high(const struct quantity_own_cost *cost)
{
	return cost->is_known && (cost->top_share * OWN_COST_SHORT > 1 || cost->bottom_share * OWN_COST_SHORT > 1);
}
