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

/* Zeroed: empty. pages: numbers of pages plus 1, the last used first; 0: none. */
struct tlb_model {
	uint64_t pages[TLB_MODEL_ENTRIES];
	uint64_t nr_misses;
};

/* An access of at least one byte, to all pages that it touches. */
void tlb_model_access(struct tlb_model *tlb, uint64_t address, uint64_t bytes);

#endif
