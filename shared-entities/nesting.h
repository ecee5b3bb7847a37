/* SPDX-License-Identifier: MIT */
/*
 * Where the entities of a graph stand in a nested listing: each once, inside the first reference that leads to it;
 * below a certain depth after everything else. Entities that are referred to from elsewhere get a label.
 */
#pragma once

#include "graph.h"

/* Entities within entities. The readers of canonical XML count on it. */
#define NESTING_MAX_DEPTH 100

struct nesting {
	struct graph graph;
	struct nesting_place {
		size_t nr_uses; /* references to it; being the root is one */
		size_t label;   /* from 1; 0: none (yet) */
		bool is_placed;
	} * places; /* one an entity of the graph */
	size_t nr_labels;
	struct rot_entity **roots; /* to be listed at the top: the root, then what was too deep */
	size_t nr_roots;
};

void nesting_init(struct nesting *nesting, const void *root);
void nesting_clear(struct nesting *nesting);

/*
 * Called once for each reference (not NULL), in the order of the listing; depth is that of the entity holding the
 * reference, 0 at the top. True: list the entity here. False: refer to its label.
 */
bool nesting_is_here(struct nesting *nesting, const void *entity, size_t depth);

/* The label of an entity that is being listed or referred to; 0 if it has none. */
size_t nesting_label(const struct nesting *nesting, const void *entity);
