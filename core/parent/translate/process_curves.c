/* SPDX-License-Identifier: MIT */
#include "parent/translate/process_curves.h"

#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/*
 * shadow: of the lines that will be sampled, until they are; NULL: since then, or never
 * all, sampled: as of the processes
 */
struct process_curve {
	struct reuse *reuse, *shadow;
	struct reuse_counts all, sampled;
	uint64_t residues;
	uint32_t space;
	unsigned line_shift, nr_users;
	bool is_sampled;
	struct process_curve *next;
};

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
		curve->residues = residues;
		if (residues) {
			curve->shadow = reuse_new(curves->line_shift, PROCESS_CURVE_MAX_LINES);
			reuse_sample(curve->shadow, residues);
		}
		curve->space = space;
		curve->next = curves->first;
		curves->first = curve;
	}
	curve->nr_users++;
	return curve;
}

static void
add(struct reuse_counts *sum, const struct reuse_counts *counts)
{
	for (int i = 0; i < REUSE_NR; i++) {
		sum->misses[i] += counts->misses[i];
		sum->write_backs[i] += counts->write_backs[i];
	}
	sum->uses += counts->uses;
}

void
process_curve_release(struct process_curves *curves, struct process_curve *curve)
{
	struct process_curve **link = &curves->first;

	if (--curve->nr_users > 0)
		return;
	while (*link != curve)
		link = &(*link)->next;
	*link = curve->next;
	reuse_add(curve->reuse, &curves->sum);
	add(&curves->all, &curve->all);
	add(&curves->sampled, &curve->sampled);
	curves->is_sampled |= curve->is_sampled;
	reuse_delete(curve->reuse);
	reuse_delete(curve->shadow);
	free(curve);
}

void
process_curve_tell(struct process_curve *curve, void (*told)(void *context, uint64_t line, unsigned capacity),
		   void *context)
{
	reuse_tell(curve->reuse, told, context);
}

void
process_curve_use(struct process_curve *curve, const uint64_t *words, size_t nr)
{
	reuse_use_lines(curve->reuse, words, nr);
	if (curve->shadow)
		reuse_use_lines(curve->shadow, words, nr);
}

void
process_curve_access(struct process_curve *curve, uint64_t address, uint64_t bytes, bool is_store, bool is_streaming)
{
	const uint64_t last = (address + bytes - 1) >> curve->line_shift;

	if (is_store && is_streaming) {
		reuse_stream(curve->reuse, address >> curve->line_shift, bytes);
		return;
	}
	for (uint64_t line = address >> curve->line_shift; bytes > 0 && line <= last; line++) {
		const uint64_t use = CACHE_USE(line, is_store);

		process_curve_use(curve, &use, 1);
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
