/* SPDX-License-Identifier: MIT */
/*
 * Curves of misses (stepping/reuse.h) of processes: each has its own, into which the lines of its threads go
 * buffer by buffer. The sum of all is told.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/stepping/reuse.h"

/* Lines of one process that are followed at most; each stands for more of them then. */
#define PROCESS_CURVE_MAX_LINES (UINT64_C(1) << 22)

/*
 * line_shift: of lines that are followed; shift: each is 1 << shift of the lines that are used, 1 if these are sampled
 * sum: of the processes that have ended
 * off: by how many misses those may be off of which lines were sampled; off_uses: of lines in these
 * is_sampled: lines were sampled at last
 */
struct process_curves {
	unsigned line_shift, shift;
	struct reuse_counts sum;
	double off[REUSE_NR], off_uses;
	bool is_sampled;
	struct process_curve *first;
};

struct process_curve;

/*
 * The lowest residue is that of the heads of pages, which programs use much more often than other lines. It is not
 * sampled, as most of the time went there, while two other lines tell of them as well as of all others.
 */
#define CURVE_RESIDUES (~UINT64_C(1))

/*
 * The curve of that address space, with one more user; the last one that releases it ends it. residues: of the lines
 * that will be sampled later, 0: all are followed.
 */
struct process_curve *process_curve_share(struct process_curves *curves, uint32_t space, uint64_t residues);
void process_curve_release(struct process_curves *curves, struct process_curve *curve);

/* The same as reuse_tell. */
void process_curve_tell(struct process_curve *curve, reuse_told told, void *context);

/* The same as reuse_move. */
void process_curve_move(struct process_curve *curve, double by_capacity[REUSE_NR + 1]);
unsigned process_curve_line_shift(const struct process_curve *curve);

/*
 * Uses as of uses.h; nr: words. is_burst: lines are sampled, but these are uses of all: as far as a line was used
 * before in the same burst, the curve of sampled ones is corrected by how far they are off there. pass: so much time
 * has passed for the thread since it was called for it last, by what it has executed; then the burst ends, if there was
 * one.
 */
void process_curve_use(struct process_curve *curve, const uint64_t *words, size_t nr, bool is_burst);
void process_curve_pass(struct process_curve *curve, double time);

/* An access that is not in words of uses.h. It is used while no other one is. is_streaming: of a store */
void
process_curve_access(struct process_curve *curve, uint64_t address, uint64_t bytes, bool is_store, bool is_streaming);

/* From now on lines are sampled, if they are not yet. */
void process_curve_sample(struct process_curve *curve);
