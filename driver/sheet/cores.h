/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how near its CPUs are to each other. Two threads hand a cache line to and fro between
 * each pair of CPUs (PingPongMeasurer); multiplications tell whether both are threads of one core. CPUs that are nearer
 * to each other than to the others are a clique, and cliques of cliques are a tree (BlackjackBench, section 3.2).
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "sheet/pictures.h"

struct rot;

/* More CPUs take too long, and no table holds them: some at equal distances are taken. */
#define CORES_MAX 16
#define CORES_MAX_LEVELS 4

struct cores {
	int cpus[CORES_MAX];
	size_t nr, nr_allowed;                 /* CPUs that are taken, and that this process may use */
	double ns[CORES_MAX][CORES_MAX];       /* of a line from one to the other, the shortest; NaN: not told */
	double highest[CORES_MAX][CORES_MAX];  /* the longest of the runs: a host may move CPUs */
	double slowdown[CORES_MAX][CORES_MAX]; /* of multiplications that both do at once; 2: one core */
	struct cores_level {
		double ns;             /* the most between two that a clique connects */
		int clique[CORES_MAX]; /* a number for each CPU, from 0 */
		int nr_cliques;
	} levels[CORES_MAX_LEVELS]; /* from the smallest cliques to the largest, which are several */
	size_t nr_levels;
};

/* Fills the levels. Pure. */
void cores_conclude(struct cores *cores);

/* Puts the CPUs alone, not the pairs, into an order in which the first are of as many cores as possible. Gives how many
 * cores there are. Pure. */
size_t cores_spread(struct cores *cores);

int cores_measure(struct rot *rot, struct cores *cores, struct rot_error *err);

void cores_print(const struct cores *cores, FILE *out);
void cores_draw(const struct cores *cores, const struct sheet_pictures *pictures);
json_t *cores_json(const struct cores *cores);
