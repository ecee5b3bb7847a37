/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: cache lines, ways of the first level, and how addresses are translated. By time alone:
 * the kernel Chase visits a number of places, each in a line, a set or a page of its own (BlackjackBench, Danalis and
 * others, 2013, section 3). What is read from curves is pure.
 */
#pragma once

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

enum places_curve {
	PLACES_LINE,      /* pairs of accesses, over the bytes between them: the second is free within a line */
	PLACES_WAYS,      /* over places that lie in the same set of L1 */
	PLACES_SET,       /* over pages whose lines lie in the same sets of L2, as they drive each other out */
	PLACES_PAGE,      /* more places than the first TLB has entries, over the bytes between them */
	PLACES_HUGE_PAGE, /* the same on huge pages */
	PLACES_PAGES,     /* over places that lie in a page of 4 KiB each */
	PLACES_LINES,     /* over as many places that lie beside each other, on huge pages */
	PLACES_HUGES,     /* over places that lie in a huge page each; only where the host has huge pages, too */
	PLACES_NR_CURVES
};

enum places_answer {
	PLACES_LINE_BYTES,
	PLACES_L1_WAYS,
	PLACES_L1_REPLACED, /* with a line more than ways */
	PLACES_L2_WAYS,
	PLACES_L2_REPLACED, /* the last one of the caches */
	PLACES_PAGE_BYTES,  /* the first one of translation */
	PLACES_HUGE_PAGE_BYTES,
	PLACES_FIRST_TLB,
	PLACES_SECOND_TLB,
	PLACES_SECOND_COST,
	PLACES_WALK_COST,
	PLACES_HUGE_FIRST_TLB,
	PLACES_HUGE_SECOND_TLB,
	PLACES_HUGE_SECOND_COST,
	PLACES_NR_ANSWERS
};

/* The numbers that the processor tells; 0: it does not. */
struct places_told {
	double line_bytes, l1_ways, l2_ways, first_tlb, second_tlb, huge_first_tlb, huge_second_tlb;
};

struct places {
	struct measured_curve curves[PLACES_NR_CURVES];
	struct measured_curve added, huge_added; /* by translation: PLACES_PAGES, PLACES_HUGES without PLACES_LINES */
	struct sheet_answer answers[PLACES_NR_ANSWERS];
	int most_huge_pages; /* that are visited */
	char no_set[256];    /* why there is no curve PLACES_SET */
};

/* Fills answers from curves. Pure. */
void places_conclude(struct places *places, const struct places_told *told);

/* From CPUID and sysfs below root, as machine_read. */
struct machine;
struct places_told places_told_of(const struct machine *machine, const char *root);

/* The curves of the answers first to last - 1, with them. */
void places_draw(const struct places *places, int first, int last, const struct sheet_pictures *pictures);

/* Measures (or takes from the result cache) and concludes. */
int places_measure(struct rot *rot, struct places *places, struct rot_error *err);
