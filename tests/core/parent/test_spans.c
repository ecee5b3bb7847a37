/* SPDX-License-Identifier: MIT */
/* How long any of several threads was somewhere, against a list of all moments. */
#include "parent/symbols/frames.h"
#include "testing.h"

#define NR_MOMENTS 4000

/* Adds some that lie in order, and marks their moments. */
static void
add_some(struct spans *spans, bool *is_in, unsigned seed)
{
	uint64_t at = rand_r(&seed) % 50;

	while (at < NR_MOMENTS) {
		uint64_t end = at + rand_r(&seed) % 40;

		end = end < NR_MOMENTS ? end : NR_MOMENTS;
		spans_add(spans, at, end);
		memset(is_in + at, true, end - at);
		at = end + rand_r(&seed) % 60;
	}
}

TEST_OF(all_moments_of_any_thread, 50)
{
	cleared_by(spans_clear) struct spans all = {.nr = 0};
	bool is_in[NR_MOMENTS] = {false};

	for (unsigned thread = 0; thread < 1 + (unsigned)_i % 5; thread++) {
		cleared_by(spans_clear) struct spans one = {.nr = 0};
		uint64_t known = 0;

		add_some(&one, is_in, 1000 * (unsigned)_i + thread);
		spans_unite(&all, &one);
		for (size_t k = 0; k < NR_MOMENTS; k++)
			known += is_in[k];
		ck_assert_uint_eq(spans_time_ns(&all), known);
	}
}

/* A million spans of 3 ns take bounded memory, and of one thread their time is exact. */
TEST(very_many_take_little_room)
{
	cleared_by(spans_clear) struct spans many = {.nr = 0}, one = {.nr = 0};

	for (uint64_t i = 0; i < 1000000; i++)
		spans_add(&many, 10 * i, 10 * i + 3);
	ck_assert_uint_lt(many.nr, 65536);
	ck_assert_uint_eq(spans_time_ns(&many), 3000000);
	spans_add(&one, 20000000, 20000100);
	spans_unite(&one, &many);
	ck_assert_uint_eq(spans_time_ns(&one), 3000100);
}

/* Eight threads, each a tenth of the time in it, at random: together some 0.57 of it, also if none remembers each. */
TEST(threads_that_do_not_heed_each_other)
{
	const uint64_t all_ns = 1000000000;
	cleared_by(spans_clear) struct spans all = {.nr = 0};
	unsigned seed = 1;
	double share;

	for (int thread = 0; thread < 8; thread++) {
		cleared_by(spans_clear) struct spans one = {.nr = 0};

		for (uint64_t at = 0; at < all_ns; at += 1000) {
			const uint64_t begin = at + (uint64_t)rand_r(&seed) % 900;

			spans_add(&one, begin, begin + 100);
		}
		spans_unite(&all, &one);
	}
	share = (double)spans_time_ns(&all) / (double)all_ns;
	ck_assert_msg(share > 0.5 && share < 0.63, "%g", share);
}
