/* SPDX-License-Identifier: MIT */
#include "parent/stepping/tlb_model.h"

#include <string.h>

#define HEAD(set) ((uint16_t)(STEP_TLB_MOST + 1 + (set)))

void
tlb_model_open(struct tlb_model *tlb, const struct step_tlb *shape)
{
	const uint64_t nr = shape->entries < 1 ? 1 : shape->entries > STEP_TLB_MOST ? STEP_TLB_MOST : shape->entries;

	memset(tlb, 0, sizeof(*tlb));
	tlb->nr_ways = (unsigned)(shape->ways < 1 || shape->ways > nr ? nr : shape->ways);
	tlb->nr_sets = (unsigned)nr / tlb->nr_ways;
	while (tlb->page_shift < 40 && shape->page_bytes >> (tlb->page_shift + 1))
		tlb->page_shift++;
	for (unsigned set = 0; set < tlb->nr_sets; set++)
		tlb->older[HEAD(set)] = tlb->newer[HEAD(set)] = HEAD(set);
}

static uint16_t *
chain_of(struct tlb_model *tlb, uint64_t page)
{
	return &tlb->chains[(page ^ page >> 8) % TLB_MODEL_CHAINS];
}

static void
take_out(struct tlb_model *tlb, uint16_t entry)
{
	tlb->newer[tlb->older[entry]] = tlb->newer[entry];
	tlb->older[tlb->newer[entry]] = tlb->older[entry];
}

/* An entry for a page that is missing: a free one, or the oldest of the set. It is in no chain, and not in the ring. */
static uint16_t
entry_for_new(struct tlb_model *tlb, uint16_t set)
{
	const uint16_t oldest = tlb->newer[HEAD(set)];
	uint16_t *link;

	if (tlb->nr[set] < tlb->nr_ways)
		return (uint16_t)(set * tlb->nr_ways + ++tlb->nr[set]);
	for (link = chain_of(tlb, tlb->pages[oldest] - 1); *link != oldest; link = &tlb->next[*link])
		;
	*link = tlb->next[oldest];
	take_out(tlb, oldest);
	return oldest;
}

void
tlb_model_use(struct tlb_model *tlb, uint64_t page)
{
	const uint16_t set = (uint16_t)(tlb->nr_sets == 1 ? 0 : page % tlb->nr_sets), head = HEAD(set);
	uint16_t *chain = chain_of(tlb, page), entry = *chain;

	while (entry && tlb->pages[entry] != page + 1)
		entry = tlb->next[entry];
	if (entry) {
		take_out(tlb, entry);
	} else {
		tlb->nr_misses++;
		entry = entry_for_new(tlb, set);
		tlb->pages[entry] = page + 1;
		tlb->next[entry] = *chain;
		*chain = entry;
	}
	tlb->newer[entry] = head;
	tlb->older[entry] = tlb->older[head];
	tlb->newer[tlb->older[head]] = entry;
	tlb->older[head] = entry;
	tlb->last = page + 1;
}
