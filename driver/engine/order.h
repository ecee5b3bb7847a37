/* SPDX-License-Identifier: MIT */
/* The order in which work is measured. */
#pragma once

#include <stddef.h>

#include "error.h"

/* 0 to nr - 1 in an order that is random, but the same for the same round, so that a failure can be seen again. */
void order_shuffle(size_t *order, size_t nr, unsigned round);

/*
 * Visits all of nr points in each of nr_blocks blocks, in another order in each. What changes slowly while all are
 * measured is then in the runs of each point, and does not become a difference between points. block counts from 1.
 * Ends with the first visit that fails: -1, and its error.
 */
typedef int order_visit(void *context, size_t point, int block, struct rot_error *err);
int order_blocks(size_t nr, int nr_blocks, order_visit *visit, void *context, struct rot_error *err);

/* How many of its nr_runs runs a point has after so many blocks: all after the last. */
int order_runs_after(int nr_runs, int block, int nr_blocks);
