/* SPDX-License-Identifier: MIT */
/* See tlb_model.h. */
#include "parent/stepping/tlb_model.h"

void
tlb_model_find(struct tlb_model *tlb, uint64_t page)
{
	uint8_t oldest = 0, i = 0;

	while (i < TLB_MODEL_ENTRIES && tlb->pages[i] != page + 1) {
		if (tlb->used[i] < tlb->used[oldest])
			oldest = i;
		i++;
	}
	if (i == TLB_MODEL_ENTRIES) {
		tlb->nr_misses++;
		i = oldest;
		tlb->pages[i] = page + 1;
	}
	tlb->used[i] = ++tlb->clock;
	tlb->hints[page % TLB_MODEL_HINTS] = i;
}
