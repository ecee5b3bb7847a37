/* SPDX-License-Identifier: MIT */
#include "parent/translate/process_curves.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/*
 * A burst stands for the time since the one before, which is its weight.
 * all, sampled: reuse of the burst that goes on, of all its lines and of sampled ones; NULL: there is none
 * nr, nr_seen: uses of it so far, and those that it had room for; since: the time that the next one stands for
 * misses, write_backs: by how much those of sampled lines are too few in a unit of time, times the weights, which are
 *   summed as well; uses: of all lines, likewise
 * squares, products, weight_squares: sums of squares of these misses and weights, and of both multiplied
 * lines: that bursts have used
 */
#define BURST_USES 131072
struct bursts {
	struct reuse *all, *sampled;
	size_t nr, nr_seen;
	double since, weights, uses;
	double misses[REUSE_NR], write_backs[REUSE_NR];
	double squares[REUSE_NR], products[REUSE_NR], weight_squares;
	double lines;
	unsigned nr_bursts;
};

/*
 * time: since sampled lines are followed alone
 * shadow: of the lines that will be sampled, until they are; NULL: since then, or never
 * all, sampled: what there was until then, of all lines, and as it would have been of sampled ones
 */
struct process_curve {
	struct reuse *reuse, *shadow;
	struct reuse_counts all, sampled;
	struct bursts bursts;
	double time;
	uint64_t residues;
	uint32_t space;
	unsigned line_shift, shift, nr_users;
	bool is_sampled;
	struct process_curve *next;
};

static struct reuse *
sampled_new(const struct process_curve *curve)
{
	struct reuse *reuse = reuse_new(curve->line_shift, PROCESS_CURVE_MAX_LINES);

	reuse_sample(reuse, curve->residues);
	return reuse;
}

struct process_curve *
process_curve_share(struct process_curves *curves, uint32_t space, uint64_t residues)
{
	struct process_curve *curve = curves->first;

	while (curve && curve->space != space)
		curve = curve->next;
	if (!curve) {
		curve = rot_calloc(1, sizeof(*curve));
		curve->reuse = reuse_new(curves->line_shift, PROCESS_CURVE_MAX_LINES);
		curve->line_shift = curves->line_shift;
		curve->shift = curves->shift;
		curve->residues = residues & CURVE_RESIDUES;
		curve->shadow = residues ? sampled_new(curve) : NULL;
		curve->space = space;
		curve->next = curves->first;
		curves->first = curve;
	}
	curve->nr_users++;
	return curve;
}

/* ---- bursts ---- */

/*
 * time: that the burst took. First uses of a line say nothing, as it may have been used before the burst: they are
 * missing at all capacities.
 */
static void
end_burst(struct process_curve *curve, double time)
{
	struct bursts *bursts = &curve->bursts;
	const double weight = bursts->since;
	struct reuse_counts all = {.lines = 0}, sampled = {.lines = 0};

	reuse_add(bursts->all, &all);
	reuse_add(bursts->sampled, &sampled);
	reuse_delete(bursts->all);
	reuse_delete(bursts->sampled);
	bursts->all = bursts->sampled = NULL;
	time *= (double)bursts->nr_seen / (double)bursts->nr;
	for (int i = 0; i < REUSE_NR; i++) {
		const double misses = weight / time * (all.misses[i] - all.lines - (sampled.misses[i] - sampled.lines));

		bursts->misses[i] += misses;
		bursts->squares[i] += misses * misses;
		bursts->products[i] += misses * weight;
		bursts->write_backs[i] += weight / time * (all.write_backs[i] - sampled.write_backs[i]);
	}
	bursts->weights += weight;
	bursts->weight_squares += weight * weight;
	bursts->uses += weight / time * all.uses;
	bursts->lines += all.lines;
	bursts->nr_bursts++;
	bursts->since = 0;
}

/* Uses of more than one burst has room for are left out, as blocks of vectors have many. */
static void
use_in_burst(struct process_curve *curve, const uint64_t *words, size_t nr)
{
	struct bursts *bursts = &curve->bursts;
	size_t nr_seen;

	if (!bursts->all) {
		bursts->all = reuse_new(curve->line_shift, PROCESS_CURVE_MAX_LINES);
		bursts->sampled = sampled_new(curve);
		bursts->nr = bursts->nr_seen = 0;
	}
	nr_seen = nr < BURST_USES - bursts->nr_seen ? nr : BURST_USES - bursts->nr_seen;
	bursts->nr += nr;
	bursts->nr_seen += nr_seen;
	reuse_use_lines(bursts->all, words, nr_seen);
	reuse_use_lines(bursts->sampled, words, nr_seen);
}

/* Larger caches never miss more. */
static void
correct(const struct process_curve *curve, struct reuse_counts *counts)
{
	const struct bursts *bursts = &curve->bursts;

	for (int i = REUSE_NR - 1; bursts->weights > 0 && i >= 0; i--) {
		const int next = i < REUSE_NR - 1 ? i + 1 : i;

		counts->misses[i] += bursts->misses[i] / bursts->weights * curve->time;
		counts->write_backs[i] += bursts->write_backs[i] / bursts->weights * curve->time;
		counts->misses[i] = fmax(counts->misses[i], counts->misses[next]);
		counts->write_backs[i] = fmax(counts->write_backs[i], counts->write_backs[next]);
	}
}

/*
 * How many misses the corrected curve may be off: where bursts use enough lines, two standard errors of a ratio
 * (Cochran, "Sampling techniques", 1977, chapter 6). Else as many as sampled lines were while all were followed.
 */
static double
misses_off(const struct process_curve *curve, int i, double uses)
{
	const struct bursts *bursts = &curve->bursts;
	const double ratio = bursts->weights > 0 ? bursts->misses[i] / bursts->weights : 0;
	const double squares =
		bursts->squares[i] - 2 * ratio * bursts->products[i] + ratio * ratio * bursts->weight_squares;

	if (bursts->nr_bursts > 1 && (double)reuse_lines(i, curve->line_shift) <= bursts->lines / bursts->nr_bursts)
		return 2 * sqrt(fmax(squares, 0)) / bursts->weights * curve->time;
	return fabs(curve->sampled.misses[i] - curve->all.misses[i]) / fmax(curve->all.uses, 1) * uses;
}

/* counts: of the curve */
static void
add_off(struct process_curves *curves, const struct process_curve *curve, const struct reuse_counts *counts)
{
	const struct bursts *bursts = &curve->bursts;
	const double of_one = (double)CACHE_RESIDUES / __builtin_popcountll(curve->residues);
	const double later = bursts->weights > 0 ? bursts->uses / bursts->weights * curve->time
						 : (counts->uses - curve->all.uses) * of_one;
	const double uses = curve->all.uses + later;

	for (int i = 0; i < REUSE_NR; i++)
		curves->off[i] += misses_off(curve, i, uses);
	curves->off_uses += uses;
	curves->is_sampled = true;
}

/* ---- curves ---- */

static void
add(struct reuse_counts *sum, const struct reuse_counts *counts)
{
	for (int i = 0; i < REUSE_NR; i++) {
		sum->misses[i] += counts->misses[i];
		sum->write_backs[i] += counts->write_backs[i];
	}
	sum->uses += counts->uses;
	sum->lines += counts->lines;
	sum->streamed_bytes += counts->streamed_bytes;
	if (counts->shrinks > sum->shrinks)
		sum->shrinks = counts->shrinks;
}

void
process_curve_release(struct process_curves *curves, struct process_curve *curve)
{
	struct process_curve **link = &curves->first;
	struct reuse_counts counts = {.lines = 0};

	if (--curve->nr_users > 0)
		return;
	while (*link != curve)
		link = &(*link)->next;
	*link = curve->next;
	reuse_add(curve->reuse, &counts);
	correct(curve, &counts);
	add(&curves->sum, &counts);
	if (curve->is_sampled)
		add_off(curves, curve, &counts);
	reuse_delete(curve->bursts.all);
	reuse_delete(curve->bursts.sampled);
	reuse_delete(curve->reuse);
	reuse_delete(curve->shadow);
	free(curve);
}

void
process_curve_tell(struct process_curve *curve, reuse_told told, void *context)
{
	reuse_tell(curve->reuse, told, context);
}

void
process_curve_move(struct process_curve *curve, double by_capacity[REUSE_NR + 1])
{
	reuse_move(curve->reuse, by_capacity);
}

unsigned
process_curve_line_shift(const struct process_curve *curve)
{
	return curve->line_shift;
}

static void
use_lines(struct process_curve *curve, const uint64_t *words, size_t nr)
{
	for (size_t i = 0; curve->shift && i < nr; i++) {
		const uint64_t use =
			CACHE_USE(words[i] >> CACHE_NR_ENTRY_BITS >> curve->shift, (words[i] & CACHE_IS_MODIFIED) != 0);

		reuse_use_lines(curve->reuse, &use, 1);
	}
	if (curve->shift)
		return;
	reuse_use_lines(curve->reuse, words, nr);
	if (curve->shadow)
		reuse_use_lines(curve->shadow, words, nr);
}

void
process_curve_use(struct process_curve *curve, const uint64_t *words, size_t nr, bool is_burst)
{
	use_lines(curve, words, nr);
	if (is_burst && nr > 0)
		use_in_burst(curve, words, nr);
}

void
process_curve_pass(struct process_curve *curve, double time)
{
	if (!curve->is_sampled)
		return;
	curve->time += time;
	curve->bursts.since += time;
	if (curve->bursts.all)
		end_burst(curve, time);
}

void
process_curve_access(struct process_curve *curve, uint64_t address, uint64_t bytes, bool is_store, bool is_streaming)
{
	const unsigned shift = curve->line_shift - curve->shift;
	const uint64_t last = (address + bytes - 1) >> shift;

	if (is_store && is_streaming) {
		reuse_stream(curve->reuse, address >> curve->line_shift, bytes);
		return;
	}
	for (uint64_t line = address >> shift; bytes > 0 && line <= last; line++) {
		const uint64_t use = CACHE_USE(line, is_store);

		use_lines(curve, &use, 1);
	}
}

void
process_curve_sample(struct process_curve *curve)
{
	if (curve->is_sampled)
		return;
	curve->is_sampled = true;
	reuse_add(curve->reuse, &curve->all);
	reuse_add(curve->shadow, &curve->sampled);
	reuse_delete(curve->shadow);
	curve->shadow = NULL;
	reuse_sample(curve->reuse, curve->residues);
}
