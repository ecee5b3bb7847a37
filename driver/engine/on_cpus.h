/* SPDX-License-Identifier: MIT */
/* The same work on several CPUs at once. */
#pragma once

#include <stddef.h>

#include "entities.h"

/*
 * The measurement with its only workload on nr (at least 1) threads, each on a CPU of its own; their kernels begin
 * together. Fresh graph (rot_graph_delete).
 */
struct measurement *measurement_on_cpus(const struct measurement *measurement, const int *cpus, size_t nr);
