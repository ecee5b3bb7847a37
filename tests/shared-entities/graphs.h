/* SPDX-License-Identifier: MIT */
/* Random graphs of entities for tests, reproducible from a seed. */
#pragma once

#include "entity.h"

struct dice {
	uint64_t state; /* the seed */
};

uint64_t dice_roll(struct dice *dice);

/* 0 to below - 1. */
size_t dice_below(struct dice *dice, size_t below);

/* One in n. */
bool dice_one_in(struct dice *dice, size_t n);

/*
 * A graph of at most max_entities entities of the classes in registry (one of them must not be abstract), with shared
 * references, cycles, NULLs, lists, and values of all kinds: limits, NaNs with payload, strings of any bytes.
 */
void *random_graph(const struct rot_registry *registry, struct dice *dice, size_t max_entities);

/* Gives one random primitive field of one entity of the graph another value. False: there is none to change. */
bool change_graph(void *root, struct dice *dice);
