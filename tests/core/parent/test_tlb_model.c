/* SPDX-License-Identifier: MIT */
#include "parent/stepping/tlb_model.h"

#include "memory.h"
#include "testing.h"

#define PAGE UINT64_C(4096)
#define NR 64

/* Empty. */
static struct tlb_model *
tlb_of(uint64_t entries, uint64_t ways, uint64_t page_bytes)
{
	struct tlb_model *tlb = rot_calloc(1, sizeof(*tlb));

	tlb_model_open(tlb, &(struct step_tlb){entries, ways, page_bytes});
	return tlb;
}

/* ways: 0: one set */
static const struct {
	uint64_t entries, ways, page_bytes, nr_pages, stride, misses; /* of three walks over them */
} walks[] = {
	{NR, 0, PAGE, 1, PAGE, 1},
	{NR, 0, PAGE, NR - 1, PAGE, NR - 1},
	{NR, 0, PAGE, NR, PAGE, NR},
	{NR, 0, PAGE, NR + 1, PAGE, 3 * NR + 3},
	{NR, 0, PAGE, 3 * NR, PAGE, 9 * NR},
	{NR, 0, PAGE, NR, 512 * PAGE, NR},
	{NR, 0, PAGE, 2 * NR, PAGE / 2, NR},
	{NR, 0, PAGE, 2 * NR + 2, PAGE / 2, 3 * NR + 3},
	/* others: the thesis', larger pages, the most */
	{128, 0, PAGE, 128, PAGE, 128},
	{128, 0, PAGE, 129, PAGE, 3 * 129},
	{NR, 0, 512 * PAGE, 512 * NR, PAGE, NR},
	{NR, 0, 512 * PAGE, 512 * NR + 1, PAGE, 3 * NR + 3},
	{4096, 0, PAGE, 4096, PAGE, 4096},
	{4096, 4, PAGE, 4097, PAGE, 4092 + 3 * 5},
	/* sets of four: all pages behind each other fit, of one set only four, and one more does not */
	{NR, 4, PAGE, NR, PAGE, NR},
	{NR, 4, PAGE, NR + 1, PAGE, NR - 4 + 3 * 5},
	{NR, 4, PAGE, 4, 16 * PAGE, 4},
	{NR, 4, PAGE, 5, 16 * PAGE, 15},
	{NR, 1, PAGE, 2, NR *PAGE, 6},
};

TEST_OF(pages_that_fit_are_missed_once, NR_ELEMENTS(walks))
{
	autofree struct tlb_model *tlb = tlb_of(walks[_i].entries, walks[_i].ways, walks[_i].page_bytes);

	for (int walk = 0; walk < 3; walk++)
		for (uint64_t i = 0; i < walks[_i].nr_pages; i++)
			tlb_model_access(tlb, i * walks[_i].stride, 8);
	ck_assert_uint_eq(tlb->nr_misses, walks[_i].misses);
}

/* Page 0 is used again before there is no room any more, so page 1 goes. */
TEST(the_page_used_least_recently_goes)
{
	autofree struct tlb_model *tlb = tlb_of(NR, 0, PAGE);

	for (uint64_t page = 0; page < NR; page++)
		tlb_model_access(tlb, page * PAGE, 1);
	tlb_model_access(tlb, 0, 1);
	tlb_model_access(tlb, NR * PAGE, 1);
	ck_assert_uint_eq(tlb->nr_misses, NR + 1);
	tlb_model_access(tlb, 0, 1);
	ck_assert_uint_eq(tlb->nr_misses, NR + 1);
	tlb_model_access(tlb, PAGE, 1);
	ck_assert_uint_eq(tlb->nr_misses, NR + 2);
}

static const struct {
	uint64_t address, bytes, misses;
} accesses[] = {
	{0, PAGE, 1},         {0, PAGE + 1, 2}, {PAGE - 1, 1, 1},       {PAGE - 1, 2, 2},
	{5 * PAGE - 4, 8, 2}, {0, 3 * PAGE, 3}, {UINT64_MAX - 7, 8, 1}, {0x7fff00001ff8, 64, 2},
};

TEST_OF(an_access_touches_all_its_pages, NR_ELEMENTS(accesses))
{
	autofree struct tlb_model *tlb = tlb_of(NR, 0, PAGE);

	tlb_model_access(tlb, accesses[_i].address, accesses[_i].bytes);
	ck_assert_uint_eq(tlb->nr_misses, accesses[_i].misses);
	tlb_model_access(tlb, accesses[_i].address, accesses[_i].bytes);
	ck_assert_uint_eq(tlb->nr_misses, accesses[_i].misses);
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
	autofree struct tlb_model *tlb = tlb_of(NR, 0, PAGE);

	for (uint64_t i = 0; i < ROWS; i++)
		for (uint64_t j = 0; j < N; j++) {
			for (uint64_t k = 0; k < N; k++) {
				tlb_model_access(tlb, (i * N + k) * 8, 8);
				tlb_model_access(tlb, b + (k * N + j) * 8, 8);
			}
			tlb_model_access(tlb, c + (i * N + j) * 8, 8);
		}
	/* c is not used for a whole column each time */
	ck_assert_uint_eq(tlb->nr_misses, ROWS * (N * N + N + 1));
}
