/* SPDX-License-Identifier: MIT */
/*
 * A model of the translations that a core remembers: fully associative, the least recently used page goes. One level,
 * of data alone, and pages of the usual size, whatever the system gave. Source of the size: the first level of most
 * processors (AMD Zen 2 to 4 and Intel since Haswell: 64 to 72). The thesis' model of TLB misses ("BLAS, Level 3") has
 * 128, those of its processor.
 */
#ifndef CORE_PARENT_STEPPING_TLB_MODEL_H
#define CORE_PARENT_STEPPING_TLB_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define TLB_MODEL_ENTRIES 64
#define TLB_MODEL_PAGE_SHIFT 12

#define TLB_MODEL_CHAINS 256

/*
 * Zeroed: empty. Entries have the numbers 1 ...; 0 is none, and the head of the ring of older and newer ones.
 * pages: their numbers plus 1      chains, next: entries by the hash of their pages
 */
struct tlb_model {
	uint64_t pages[TLB_MODEL_ENTRIES + 1], last; /* page, plus 1 */
	uint8_t older[TLB_MODEL_ENTRIES + 1], newer[TLB_MODEL_ENTRIES + 1];
	uint8_t chains[TLB_MODEL_CHAINS], next[TLB_MODEL_ENTRIES + 1];
	unsigned nr;
	uint64_t nr_misses;
};

/* Uses another page than the last one. */
void tlb_model_use(struct tlb_model *tlb, uint64_t page);

/* An access of at least one byte, to all pages that it touches. */
static inline void
tlb_model_access(struct tlb_model *tlb, uint64_t address, uint64_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> TLB_MODEL_PAGE_SHIFT;

	for (uint64_t page = address >> TLB_MODEL_PAGE_SHIFT; page <= last; page++) {
		if (tlb->last != page + 1)
			tlb_model_use(tlb, page);
	}
}

#endif
