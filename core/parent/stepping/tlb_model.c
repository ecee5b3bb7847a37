/* SPDX-License-Identifier: MIT */
/* See tlb_model.h. */
#include "parent/stepping/tlb_model.h"

static uint8_t *
chain_of(struct tlb_model *tlb, uint64_t page)
{
	return &tlb->chains[(page ^ page >> 8) % TLB_MODEL_CHAINS];
}

static void
take_out(struct tlb_model *tlb, uint8_t entry)
{
	tlb->newer[tlb->older[entry]] = tlb->newer[entry];
	tlb->older[tlb->newer[entry]] = tlb->older[entry];
}

/* An entry for a page that is missing: a free one, or the oldest. It is in no chain, and not in the ring. */
static uint8_t
entry_for_new(struct tlb_model *tlb)
{
	const uint8_t oldest = tlb->newer[0];
	uint8_t *link;

	if (tlb->nr < TLB_MODEL_ENTRIES)
		return (uint8_t)++tlb->nr;
	for (link = chain_of(tlb, tlb->pages[oldest] - 1); *link != oldest; link = &tlb->next[*link])
		;
	*link = tlb->next[oldest];
	take_out(tlb, oldest);
	return oldest;
}

void
tlb_model_use(struct tlb_model *tlb, uint64_t page)
{
	uint8_t *chain = chain_of(tlb, page), entry = *chain;

	while (entry && tlb->pages[entry] != page + 1)
		entry = tlb->next[entry];
	if (entry) {
		take_out(tlb, entry);
	} else {
		tlb->nr_misses++;
		entry = entry_for_new(tlb);
		tlb->pages[entry] = page + 1;
		tlb->next[entry] = *chain;
		*chain = entry;
	}
	tlb->newer[entry] = 0;
	tlb->older[entry] = tlb->older[0];
	tlb->newer[tlb->older[0]] = entry;
	tlb->older[0] = entry;
	tlb->last = page + 1;
}
