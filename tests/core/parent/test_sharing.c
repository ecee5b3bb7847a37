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

/* By hand: of a cache with 64 sets of 8 lines, one with 12 ways, and one with 48 sets. */
static const struct {
	struct step_level level;
	uint64_t stride, rows;
	struct miss_sets sets;
	uint64_t padded;
} paddings[] = {
	{{32768, 8}, 4096, 64, {1, 64, 8}, 4160},   {{32768, 8}, 1024, 128, {4, 64, 32}, 1088},
	{{32768, 8}, 1024, 129, {4, 64, 32}, 1088}, {{49152, 12}, 8192, 100, {1, 64, 12}, 8256},
	{{32768, 8}, 4096, 513, {1, 64, 8}, 0},                                                /* more than fit */
	{{24576, 8}, 1024, 100, {3, 48, 24}, 1088}, {{32768, 512}, 4096, 513, {1, 1, 512}, 0}, /* fully associative */
};

TEST_OF(rows_are_padded, NR_ELEMENTS(paddings))
{
	const struct step_level *level = &paddings[_i].level;
	const struct miss_sets sets = miss_sets_of(level, 64, paddings[_i].stride);

	ck_assert_uint_eq(sets.nr, paddings[_i].sets.nr);
	ck_assert_uint_eq(sets.all, paddings[_i].sets.all);
	ck_assert_uint_eq(sets.lines, paddings[_i].sets.lines);
	ck_assert_uint_eq(miss_padding_find(level, 64, paddings[_i].stride, paddings[_i].rows), paddings[_i].padded);
}

/* The modelled cache reads each row once with the padding, and again and again without. */
TEST_OF(padded_rows_are_read_once, NR_ELEMENTS(paddings))
{
	const struct step_level levels[STEP_NR_LEVELS] = {paddings[_i].level};
	const uint64_t strides[] = {paddings[_i].stride, paddings[_i].padded};

	for (int k = 0; k < 2 && strides[k] > 0; k++) {
		struct cache_model *model = cache_model_new(levels, 64);
		uint64_t counts[STEP_NR_COUNTS] = {0};

		for (int use = 0; use < 8; use++)
			for (uint64_t row = 0; row < paddings[_i].rows; row++)
				cache_model_access_lines(model, row * strides[k], 1, false, false);
		cache_model_add_counts(model, counts);
		cache_model_delete(model);
		if (k == 0)
			ck_assert_uint_gt(counts[STEP_L1_FILLS], paddings[_i].rows);
		else
			ck_assert_uint_eq(counts[STEP_L1_FILLS], paddings[_i].rows);
	}
}
