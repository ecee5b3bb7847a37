/* SPDX-License-Identifier: MIT */
/* Lines that threads share; and paddings of rows that meet in few sets. */
#include "parent/translate/misses.h"
#include "parent/translate/sharing.h"
#include "testing.h"

/* Two threads use eight bytes of one line each, so often, from an offset on; the second from at_ns of the first on. */
static const struct {
	unsigned offsets[2];
	bool are_stores[2];
	uint64_t at_ns, nr;
	bool is_false;
} cases[] = {
	{{0, 8}, {true, true}, 50, 2000, true},    {{0, 8}, {true, false}, 50, 2000, true},
	{{0, 8}, {false, false}, 50, 2000, false}, {{0, 4}, {true, true}, 50, 2000, false},  /* bytes in common */
	{{8, 8}, {true, false}, 50, 2000, false},  {{0, 8}, {true, true}, 100, 2000, false}, /* one after the other */
	{{0, 64}, {true, true}, 50, 2000, false},                                            /* other lines */
	{{0, 8}, {true, true}, 50, 900, false},                                              /* few */
};

TEST_OF(lines_are_shared, NR_ELEMENTS(cases))
{
	struct sharing *sharing = at_end(sharing_delete, sharing_new(6));
	autofree struct shared_line *lines = NULL;
	size_t nr;

	for (unsigned thread = 0; thread < 2; thread++) {
		sharing_begin(sharing, thread + 1, thread * cases[_i].at_ns, thread * cases[_i].at_ns + 100);
		for (uint64_t i = 0; i < cases[_i].nr; i++)
			sharing_access(sharing, 0x1000 + cases[_i].offsets[thread], 8, cases[_i].are_stores[thread]);
	}
	lines = sharing_find(sharing, &nr);
	ck_assert_uint_eq(nr, cases[_i].is_false);
	if (nr > 0) {
		ck_assert_uint_eq(lines[0].line, 0x40);
		ck_assert_uint_eq(lines[0].bytes[0], 0xff);
		ck_assert_uint_eq(lines[0].bytes[1], 0xff00);
		ck_assert_uint_eq(lines[0].nr, 2000);
	}
}

/* Rows, by hand: of a cache with 64 sets of 8 lines, and one with 12 ways. */
static const struct {
	struct step_level level;
	uint64_t stride, rows;
	struct miss_padding padding;
} paddings[] = {
	{{32768, 8}, 4096, 64, {1, 64, 4160, 64}},   {{32768, 8}, 1024, 128, {4, 64, 1088, 64}},
	{{32768, 8}, 1024, 32, {4, 64, 0, 0}}, /* 8 in each set: nothing is missing */
	{{49152, 12}, 8192, 100, {1, 64, 8256, 64}}, {{32768, 8}, 4096, 513, {1, 64, 0, 0}}, /* more than fit */
};

TEST_OF(rows_are_padded, NR_ELEMENTS(paddings))
{
	const struct miss_padding padding =
		miss_padding_find(&paddings[_i].level, 64, paddings[_i].stride, paddings[_i].rows);

	ck_assert_uint_eq(padding.sets, paddings[_i].padding.sets);
	ck_assert_uint_eq(padding.all_sets, paddings[_i].padding.all_sets);
	ck_assert_uint_eq(padding.padded, paddings[_i].padding.padded);
	ck_assert_uint_eq(padding.padded_sets, paddings[_i].padding.padded_sets);
}
