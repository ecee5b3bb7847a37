/* SPDX-License-Identifier: MIT */
/* An open driver on a machine that is always the same, and quantities that are computed instead of measured. */
#pragma once

#include <stddef.h>

#include "quantities/quantity.h"
#include "rot.h"

/*
 * Opens a driver with its kernels, on a machine with AVX-512, 32 KiB, 1 MiB and 32 MiB of caches and 16 GiB of memory,
 * and goes to a fresh empty folder. ck_asserts that it works. It is closed when the
 * test ends.
 */
void fake_rot_open(struct rot *rot);

/* So many first runs give an infinite value; the last run is disturbed. */
extern size_t fake_nr_infinite;
extern bool fake_is_last_tainted;

/* How often quantities were asked for since fake_rot_open, and with how many runs the last time. */
extern size_t fake_nr_calls;
extern int fake_nr_runs;

/* How hard the last point was to be measured; and what its values say of the end. */
extern struct quantity_effort fake_effort;
extern const char *fake_runs_end;
extern const struct measurement_result *fake_result; /* that values are of; NULL: an empty one */

/* The call of that number (from 1) fails; with a SIGINT before if is_interrupt. 0: none. */
extern size_t fake_failing_call;
extern bool fake_is_interrupt;

/* Measuring fails where it is true, for a reason of that work alone, and does not count as a call. NULL (at first):
 * nowhere. */
extern bool (*fake_fails)(const struct measurement *measurement);

/* Runs are missing when a point is measured: it fails while measuring stops at them. */
extern bool fake_misses_runs;

/* With rot->is_cached_only nothing is there, and such calls do not count. */
extern bool fake_is_cache_empty;

/* Computes the values of all requests instead, each with nr_runs samples. NULL (at first): as above. */
extern void (*fake_measure)(const struct measurement *measurement, const struct quantity_request *requests,
			    size_t nr_requests, int nr_runs, struct quantity_value *values);

/* The configuration key of that name, as it was in the last call. */
extern char fake_optimization[64];
