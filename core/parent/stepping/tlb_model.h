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

#define TLB_MODEL_HINTS 256

/*
 * Zeroed: empty. pages: numbers of pages plus 1, in no order; 0: none. used: when each was used last, by clock.
 * hints: where a page was found, by its lowest bits.
 */
struct tlb_model {
	uint64_t pages[TLB_MODEL_ENTRIES], used[TLB_MODEL_ENTRIES];
	uint8_t hints[TLB_MODEL_HINTS];
	uint64_t clock, nr_misses;
};

/* One that is not where it was found last, or is missing. */
void tlb_model_find(struct tlb_model *tlb, uint64_t page);

/* An access of at least one byte, to all pages that it touches. */
static inline void
tlb_model_access(struct tlb_model *tlb, uint64_t address, uint64_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> TLB_MODEL_PAGE_SHIFT;

	for (uint64_t page = address >> TLB_MODEL_PAGE_SHIFT; page <= last; page++) {
		const uint8_t hint = tlb->hints[page % TLB_MODEL_HINTS];

		if (tlb->pages[hint] == page + 1)
			tlb->used[hint] = ++tlb->clock;
		else
			tlb_model_find(tlb, page);
	}
}

#endif
