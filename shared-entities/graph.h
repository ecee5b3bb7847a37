/* SPDX-License-Identifier: MIT */
/* A collected graph: its entities in the order of rot_graph_collect, and their numbers. */
#pragma once

#include "entity.h"
#include "pointer_map.h"

struct graph {
	struct rot_entity **entities;
	size_t nr;
	struct pointer_map index;
};

/* The number of NULL, and of what is not in the graph. */
#define GRAPH_NULL SIZE_MAX

/* Collects all that root (may be NULL) reaches. The entities stay the caller's; valid while their references do not
 * change. */
void graph_init(struct graph *graph, const void *root);
void graph_clear(struct graph *graph);

size_t graph_index(const struct graph *graph, const void *entity);
