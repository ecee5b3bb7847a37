/* SPDX-License-Identifier: MIT */
#include "parent/stepping/tlb_model.h"

#include "testing.h"

#define PAGE (UINT64_C(1) << TLB_MODEL_PAGE_SHIFT)
#define NR TLB_MODEL_ENTRIES

static const struct {
	uint64_t nr_pages, stride, misses; /* of three walks over them */
} walks[] = {
	{1, PAGE, 1},           {NR - 1, PAGE, NR - 1}, {NR, PAGE, NR},         {NR + 1, PAGE, 3 * NR + 3},
	{3 * NR, PAGE, 9 * NR}, {NR, 512 * PAGE, NR},   {2 * NR, PAGE / 2, NR}, {2 * NR + 2, PAGE / 2, 3 * NR + 3},
};

TEST_OF(pages_that_fit_are_missed_once, NR_ELEMENTS(walks))
{
	struct tlb_model tlb = {.nr_misses = 0};

	for (int walk = 0; walk < 3; walk++)
		for (uint64_t i = 0; i < walks[_i].nr_pages; i++)
			tlb_model_access(&tlb, i * walks[_i].stride, 8);
	ck_assert_uint_eq(tlb.nr_misses, walks[_i].misses);
}

/* Page 0 is used again before there is no room any more, so page 1 goes. */
TEST(the_page_used_least_recently_goes)
{
	struct tlb_model tlb = {.nr_misses = 0};

	for (uint64_t page = 0; page < NR; page++)
		tlb_model_access(&tlb, page * PAGE, 1);
	tlb_model_access(&tlb, 0, 1);
	tlb_model_access(&tlb, NR * PAGE, 1);
	ck_assert_uint_eq(tlb.nr_misses, NR + 1);
	tlb_model_access(&tlb, 0, 1);
	ck_assert_uint_eq(tlb.nr_misses, NR + 1);
	tlb_model_access(&tlb, PAGE, 1);
	ck_assert_uint_eq(tlb.nr_misses, NR + 2);
}

static const struct {
	uint64_t address, bytes, misses;
} accesses[] = {
	{0, PAGE, 1},         {0, PAGE + 1, 2}, {PAGE - 1, 1, 1},       {PAGE - 1, 2, 2},
	{5 * PAGE - 4, 8, 2}, {0, 3 * PAGE, 3}, {UINT64_MAX - 7, 8, 1}, {0x7fff00001ff8, 64, 2},
};

TEST_OF(an_access_touches_all_its_pages, NR_ELEMENTS(accesses))
{
	struct tlb_model tlb = {.nr_misses = 0};

	tlb_model_access(&tlb, accesses[_i].address, accesses[_i].bytes);
	ck_assert_uint_eq(tlb.nr_misses, accesses[_i].misses);
	tlb_model_access(&tlb, accesses[_i].address, accesses[_i].bytes);
	ck_assert_uint_eq(tlb.nr_misses, accesses[_i].misses);
}

/*
 * The triple loop of the thesis with rows of a page each (n = 512 doubles): a column of the second matrix takes more
 * pages than there are entries, so each of its elements is missed, n^3 in all; as few rows as are computed here, n^2
 * each. Beside them a and c have a page a row.
 */
TEST(columns_of_many_pages_are_missed_throughout)
{
	enum { N = 512, ROWS = 3 };
	const uint64_t b = UINT64_C(1) << 32, c = UINT64_C(1) << 33;
	struct tlb_model tlb = {.nr_misses = 0};

	for (uint64_t i = 0; i < ROWS; i++)
		for (uint64_t j = 0; j < N; j++) {
			for (uint64_t k = 0; k < N; k++) {
				tlb_model_access(&tlb, (i * N + k) * 8, 8);
				tlb_model_access(&tlb, b + (k * N + j) * 8, 8);
			}
			tlb_model_access(&tlb, c + (i * N + j) * 8, 8);
		}
	/* c is not used for a whole column each time */
	ck_assert_uint_eq(tlb.nr_misses, ROWS * (N * N + N + 1));
}
