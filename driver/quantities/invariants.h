/* SPDX-License-Identifier: MIT */
/*
 * Rules that sound numbers keep: a value that breaks one is wrong, or is not what it is taken for. Pure. A breach is
 * kept with the value, which stays as it is. Runs that break one which most runs keep are left out instead.
 */
#pragma once

#include "quantities/compute.h"
#include "quantities/quantity.h"

/* Larger differences are more than scatter. */
#define INVARIANT_TOLERANCE 0.05

/* Measured bytes are at least this share of the compulsory ones; prefetched lines are in the cache already. */
#define INVARIANT_COMPULSORY 0.9

/* Instructions of passes that differ by more are not those of the same work. */
#define INVARIANT_INSTRUCTIONS 0.01

/* So few bytes more or less say nothing of a run: code, page walks, and what the caches held before. */
#define INVARIANT_LEAST_BYTES 32768

/*
 * Runs whose bytes break one of the two rules of invariants_check_bytes by more than INVARIANT_LEAST_BYTES, while more
 * than half of the runs keep it: a count of theirs was lost, or is of something else. broken[nr_runs] (NULL: not asked
 * for) gets true for these. Returns how many there are; the breach is kept with the value. Runs that are disturbed
 * anyway are not looked at, but those that were left out for this (TAINT_BROKEN_RULE) are.
 */
size_t invariants_check_runs(struct quantity_value *values, size_t nr, bool *broken, size_t nr_runs);

/*
 * The same of instructions, which every run of every pass should count alike: taints the runs of passes that are off by
 * more than INVARIANT_INSTRUCTIONS from the median of all runs, if these are less than half. Returns how many.
 */
size_t invariants_taint_passes(const struct architecture *architecture, const struct pass_plan *plan,
			       const struct pass_samples *samples);

/* Keeps that so many runs were tainted with all values that were counted or timed; 0: nothing. */
void invariants_note_passes(struct quantity_value *values, size_t nr, size_t nr_runs);

/*
 * bordersOrdered: what crosses a border, crosses those nearer to the core as well (measured bytes of one direction,
 * l1l2 >= l2l3 >= llcRam, within the tolerance; of cpuL1 this is not so: instructions may use 8 bytes of a line, and
 * store into lines that are loaded for it; nor of values that have stores in them which go round caches). Prefetching
 * and write-backs of other data break it too.
 * atLeastCompulsory: measured bytes are at least INVARIANT_COMPULSORY of value->compulsory.
 */
void invariants_check_bytes(struct quantity_value *values, size_t nr);

/*
 * passesAgree: the same events, counted in several passes, have the same median: instructions within
 * INVARIANT_INSTRUCTIONS, core cycles within the tolerance, or their intervals overlap. Kept with all values that were
 * counted or timed. Error: a formula that cannot be evaluated.
 */
int invariants_check_passes(struct quantity_value *values, size_t nr, const struct architecture *architecture,
			    const struct pass_plan *plan, const struct pass_samples *samples, struct rot_error *err);

/*
 * Rules of passes that are stepped, kept with all values of operations and bytes:
 * stepsAgree: all runs execute the same number of instructions; not asked of several threads (are_threads), which
 *   execute more of them while they wait for each other
 * stepsKnown: of all these instructions it is known what they do; values of instructions alone keep it anyway
 */
void invariants_check_steps(struct quantity_value *values, size_t nr, const struct architecture *architecture,
			    const struct pass_plan *plan, const struct pass_samples *samples, bool are_threads);

/*
 * belowCeiling: a performance or throughput is above that ceiling, in its unit, by no more than the tolerance. The text
 * has values times factor, in that unit.
 */
void invariants_check_ceiling(struct quantity_value *value, double ceiling, const char *name, const char *unit,
			      double factor);

/* Keeps a breach (text: fresh memory, taken over), unless the value has one of that rule and text. */
void quantity_breach_add(struct quantity_value *value, const char *rule, double found, double bound, char *text);
