/* SPDX-License-Identifier: MIT */
/* What is said, once each, of numbers that are not counted as was asked for. */
#ifndef QUANTITIES_COUNTING_WARNINGS_H
#define QUANTITIES_COUNTING_WARNINGS_H

#include "quantities/resolve.h"

/* The obstacle is said now, or need not be: true if it was before. */
bool counting_note_said(struct architecture *architecture, enum step_obstacle obstacle);

/*
 * Why numbers come from the kernels' definitions although steps were asked for. Where nobody did, what stands below the
 * table is enough. steps: instructions that a run is expected to execute.
 */
void counting_warn_of_obstacle(struct architecture *architecture, const struct measurement *measurement,
			       enum step_obstacle obstacle, double steps);

/* Why numbers come from the kernels' definitions, or from steps, although events were asked for. */
void counting_warn_of_expectations(struct architecture *architecture, const struct quantity_resolution *resolutions,
				   size_t nr);

/* The core did not step it, as why says. */
void counting_warn_of_refusal(const struct architecture *architecture, const struct measurement *measurement,
			      const struct rot_error *why);

#endif
