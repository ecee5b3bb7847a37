/* SPDX-License-Identifier: MIT */
/* The work that is expected of a measurement, by the definitions of its kernels. */
#pragma once

#include "entities.h"
#include "error.h"

struct rot;
struct quantity_expectation;
struct quantity_request;

/*
 * All that a request may be obtained by where it is not counted, but for the obstacle of steps. -1 if an expression
 * failed.
 */
int expectation_of(struct rot *rot, const struct measurement *measurement, const struct quantity_request *request,
		   struct quantity_expectation *expectation, struct rot_error *err);

/*
 * Operations ("doublePrecisionFlop", "flop": both precisions) or bytes ("llcRam.read"; "llcRam": both directions) of
 * one run of all workloads; of a cache that the CPUs of pinned workloads share each of them has its part. NaN if a
 * kernel does not know, or of is NULL. -1 if an expression failed.
 */
int expected_operations_of(struct rot *rot, const struct measurement *measurement, const char *of, double *operations,
			   struct rot_error *err);
int expected_bytes_of(struct rot *rot, const struct measurement *measurement, const char *of, double *bytes,
		      struct rot_error *err);

/*
 * About how many instructions a workload executes, of those that do most: what the kernel's definition says, or one
 * for each operation, or for eight bytes that are loaded or stored: scalar code executes up to seven times as many,
 * vectors down to a tenth. Twice where code is warm, since a run warms it. 0: it says nothing. -1 if an expression
 * failed.
 */
int expected_steps_of(struct rot *rot, const struct measurement *measurement, double *steps, struct rot_error *err);

/*
 * The machine as workload i finds it where workloads are counted by steps: a first or second level that they share is
 * divided by them, and the last is one for all that are counted. Borrows all that is not a number.
 */
struct machine machine_of_workload(const struct machine *machine, const struct measurement *measurement, size_t i);
