/* SPDX-License-Identifier: MIT */
/* See tlb_model.h. */
#include "parent/stepping/tlb_model.h"

#include <string.h>

static void
use_page(struct tlb_model *tlb, uint64_t entry)
{
	size_t i = 0;

	if (tlb->pages[0] == entry)
		return;
	while (i < TLB_MODEL_ENTRIES - 1 && tlb->pages[i] && tlb->pages[i] != entry)
		i++;
	if (tlb->pages[i] != entry)
		tlb->nr_misses++;
	memmove(tlb->pages + 1, tlb->pages, i * sizeof(*tlb->pages));
	tlb->pages[0] = entry;
}

void
tlb_model_access(struct tlb_model *tlb, uint64_t address, uint64_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> TLB_MODEL_PAGE_SHIFT;

	for (uint64_t page = address >> TLB_MODEL_PAGE_SHIFT; page <= last; page++)
		use_page(tlb, page + 1);
}
