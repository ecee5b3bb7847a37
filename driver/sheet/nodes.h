/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: memory of the node of a CPU beside that of other nodes (NUMA; BlackjackBench, section
 * 3.2). The buffer of the kernel Chase is bound to each node in turn.
 */
#pragma once

#include "sheet/part.h"

#define NODES_MAX 16

enum nodes_answer {
	NODES_OWN_NS, /* of an access that waits for the one before, from the first CPU */
	NODES_FARTHEST_NS,
	NODES_OWN_RATE, /* GB/s of random lines, many at once */
	NODES_FARTHEST_RATE,
	NODES_NR_ANSWERS
};

/* curves: ns and GB/s over the number of the node. */
struct nodes {
	struct sheet_answer answers[NODES_NR_ANSWERS];
	struct measured_curve curves[2];
};

/* Fills the curves' places with nodes that have memory, and gives that of the CPU; -1: the system does not tell. Pure
 * but for the files below root. */
int nodes_read(struct nodes *nodes, int cpu, const char *root);

/* Fills answers from curves. Pure. */
void nodes_conclude(struct nodes *nodes, int own);

extern const struct sheet_part nodes_part;
