/* SPDX-License-Identifier: MIT */
/* Why a number should not be taken as measured and sound: what the key strict asks for. Pure. */
#ifndef QUANTITIES_CAVEATS_H
#define QUANTITIES_CAVEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "quantities/quantity.h"
#include "statistics/series.h"

/* ---- doubts: what the runs of a value say against taking its summary for what every run does ---- */

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

/* ---- caveats ---- */

/* Of more disturbed runs than this share what is left may be of lucky ones. */
#define CAVEAT_DISTURBED_SHARE 0.3

/* Each is a bit of what quantity_caveats_of gives, from 1 on, in this order. */
struct quantity_caveat {
	const char *name;    /* "expected", in OUTPUT.json */
	const char *meaning; /* "3 of 12 numbers: MEANING" */
	bool (*applies)(const struct quantity_value *value);
};
extern const struct quantity_caveat quantity_caveats[];
extern const size_t quantity_nr_caveats;

/* Those that apply; 0: the number is measured and sound. Given work is taken as it is given. */
unsigned quantity_caveats_of(const struct quantity_value *value);

#endif
