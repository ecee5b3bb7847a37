/* SPDX-License-Identifier: MIT */
/* The plateau of rates, on made-up ones. */
#include "roof/peak_samples.h"
#include "testing.h"

static const struct {
	double rates[24];
	size_t nr;
	double low, high, median;
	size_t nr_there;
} cases[] = {
	/* Loads from the L1 on two threads were like this: most were slowed, one process was not. */
	{{113, 127.0, 108, 103, 120, 127.3, 127.4, 127.5, 127.2, 117, 118, 126.8, 126.7, 100, 98},
	 15,
	 126.7,
	 127.5,
	 127.2,
	 7},
	/* All alike: all of them. */
	{{31.9, 31.8, 31.9, 32.0, 31.7, 31.9, 31.8}, 7, 31.7, 32.0, 31.9, 7},
	/* Rates that misread clocks leave above are scattered, */
	{{140, 127, 127, 180, 127, 127, 127, 127, 222}, 9, 127, 127, 127, 6},
	/* and five that agree are luck. */
	{{31, 31, 31, 31, 31, 25, 25, 25, 25, 25, 25}, 11, 25, 25, 25, 6},
	/* Nothing agrees, */
	{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 11, NAN, NAN, NAN, 0},
	/* or there is too little, */
	{{31, 31, 31, 31, 31}, 5, NAN, NAN, NAN, 0},
	/* or nothing. */
	{{0}, 0, NAN, NAN, NAN, 0},
	/* Slow drift: as far as 2 % reach, from the highest that has enough below it. */
	{{100, 99.5, 99, 98.5, 98.2, 98.1, 97, 96}, 8, 98.1, 100, 98.75, 6},
};

TEST_OF(plateau_is_found, NR_ELEMENTS(cases))
{
	const struct plateau plateau = plateau_find(cases[_i].rates, cases[_i].nr);

	ck_assert_uint_eq(plateau.nr, cases[_i].nr_there);
	if (cases[_i].nr_there == 0) {
		ck_assert(isnan(plateau.low) && isnan(plateau.high));
		return;
	}
	ck_assert_double_eq(plateau.low, cases[_i].low);
	ck_assert_double_eq(plateau.high, cases[_i].high);
	ck_assert_double_eq_tol(plateau.median, cases[_i].median, 1e-9);
}

/* A tenth of many rates must agree: seven of a hundred do not make a plateau. */
TEST(share_grows_with_the_number)
{
	double rates[100];

	for (size_t i = 0; i < NR_ELEMENTS(rates); i++)
		rates[i] = i < 7 ? 31 : i < 20 ? 28 : 25 - 0.1 * (double)i;
	ck_assert_double_eq(plateau_find(rates, NR_ELEMENTS(rates)).high, 28);
	ck_assert_double_eq(plateau_find(rates, 60).high, 31);
}
