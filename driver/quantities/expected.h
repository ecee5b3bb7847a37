/* SPDX-License-Identifier: MIT */
/* What a measurement is expected to do, by the definitions of its kernels. */
#ifndef QUANTITIES_EXPECTED_H
#define QUANTITIES_EXPECTED_H

#include "entities.h"
#include "error.h"

struct rot;

/*
 * Operations ("doublePrecisionFlop", "flop": both precisions) or bytes ("llcRam.read"; "llcRam": both directions) of
 * one run of all workloads. NaN if a kernel does not know, or of is NULL. -1 if an expression failed.
 */
int expected_operations_of(struct rot *rot, const struct measurement *measurement, const char *of, double *operations,
			   struct rot_error *err);
int expected_bytes_of(struct rot *rot, const struct measurement *measurement, const char *of, double *bytes,
		      struct rot_error *err);

#endif
