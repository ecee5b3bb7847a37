/* SPDX-License-Identifier: MIT */
/*
 * A model of the TLB of a core: sets in which the least recently used page is replaced. It has one level, for data
 * alone, and pages of one size, whatever the system gave. Source of the usual size: the first level of most processors
 * (AMD Zen 2 to 4 and Intel since Haswell: 64 to 72). The thesis' model of TLB misses ("BLAS, Level 3") has 128, those
 * of its processor.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/step_counts.h"

#define TLB_MODEL_CHAINS 256

/*
 * Entries have the numbers 1 ...; 0 is none. A set has nr_ways entries, one behind the other. Its ring of older and
 * newer ones has the head STEP_TLB_MOST + 1 + set.
 *
 * pages: their numbers plus 1      chains, next: entries by the hash of their pages      nr: entries of a set in use
 */
struct tlb_model {
	uint64_t last; /* page, plus 1 */
	uint64_t nr_misses;
	unsigned nr_sets, nr_ways, page_shift;
	uint16_t chains[TLB_MODEL_CHAINS], next[STEP_TLB_MOST + 1];
	uint16_t older[2 * STEP_TLB_MOST + 1], newer[2 * STEP_TLB_MOST + 1], nr[STEP_TLB_MOST];
	uint64_t pages[STEP_TLB_MOST + 1];
};

/* Makes it empty. */
void tlb_model_open(struct tlb_model *tlb, const struct step_tlb *shape);

/* Uses another page than the last one. */
void tlb_model_use(struct tlb_model *tlb, uint64_t page);

/* An access of at least one byte, to all pages that it touches. */
static inline void
tlb_model_access(struct tlb_model *tlb, uint64_t address, uint64_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> tlb->page_shift;

	for (uint64_t page = address >> tlb->page_shift; page <= last; page++)
		if (tlb->last != page + 1)
			tlb_model_use(tlb, page);
}
