/* SPDX-License-Identifier: MIT */
/* What the runs of a value say against taking its summary for what every run does. Pure. */
#ifndef QUANTITIES_DOUBTS_H
#define QUANTITIES_DOUBTS_H

#include <stdbool.h>

#include "quantities/quantity.h"
#include "statistics/series.h"

struct quantity_doubts {
	struct series_modes modes;
	struct series_drift drift;
	struct series_first first;
	struct series_outliers outliers; /* runs that no known cause has disturbed; they are in the value */
};

/*
 * Of the samples without a taint (of all, where all are tainted), in the order of the runs. Only for times and what is
 * per time; others, and values that were not measured: nothing is known.
 */
struct quantity_doubts quantity_doubts_of(const struct quantity_value *value);

/* Is there one? */
bool quantity_doubts_any(const struct quantity_doubts *doubts);

#endif
