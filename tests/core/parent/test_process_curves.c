/* SPDX-License-Identifier: MIT */
/* Curves of sampled lines, corrected by bursts in which all lines are seen. */
#include "parent/stepping/cache_model.h"
#include "parent/translate/process_curves.h"
#include "testing.h"

#define RESIDUES UINT64_C(0x0040100000080003)
#define CHUNK 20000
#define NR_CHUNKS 200

/* Nearly all uses are of so many lines in turn, of which few or many are sampled; others are used now and then. */
static void
make_chunk(uint64_t words[CHUNK], int chunk, uint64_t first, uint64_t nr_hot)
{
	for (uint64_t i = 0; i < CHUNK; i++) {
		const uint64_t n = (uint64_t)chunk * CHUNK + i;

		words[i] = n % 50 == 0 ? CACHE_USE(4096 + n / 50 % 1000, false)
				       : CACHE_USE(first + n % nr_hot, n % 3 == 0);
	}
}

/* every: so many chunks are between bursts; 0: there are none. residues 0: all lines are followed. */
static struct reuse_counts
curve_of(uint64_t first, uint64_t nr_hot, uint64_t residues, int every)
{
	static uint64_t words[CHUNK];
	struct process_curves curves = {.line_shift = 6};
	struct process_curve *curve = process_curve_share(&curves, 0, residues);

	for (int i = 0; i < NR_CHUNKS; i++) {
		if (residues && i == 20)
			process_curve_sample(curve);
		make_chunk(words, i, first, nr_hot);
		if (i > 20 && every > 0 && i % every == 0) {
			process_curve_use(curve, words, CHUNK, true);
			continue;
		}
		for (size_t k = 0; k < CHUNK; k++) {
			const uint64_t residue = (words[k] >> CACHE_NR_ENTRY_BITS) % CACHE_RESIDUES;

			if (i < 20 || !residues || residues >> residue & 1)
				process_curve_use(curve, words + k, 1, false);
		}
	}
	process_curve_release(&curves, curve);
	return curves.sum;
}

static double
largest_error(const struct reuse_counts *found, const struct reuse_counts *exact)
{
	double error = 0;

	for (int i = 0; i < REUSE_NR; i++)
		error = fmax(error, fabs(found->misses[i] - exact->misses[i]) / (CHUNK * NR_CHUNKS));
	return error;
}

/* Lines 2 to 71 have two of the sampled residues and miss in the smallest cache; 2 to 18 have none, and hit. */
TEST(bursts_correct_what_sampled_lines_do_not_show)
{
	static const uint64_t hot[][2] = {{2, 70}, {20, 80}, {2, 17}, {0, 66}};

	for (size_t i = 0; i < sizeof(hot) / sizeof(*hot); i++) {
		const struct reuse_counts exact = curve_of(hot[i][0], hot[i][1], 0, 0);
		const struct reuse_counts alone = curve_of(hot[i][0], hot[i][1], RESIDUES, 0);
		const struct reuse_counts corrected = curve_of(hot[i][0], hot[i][1], RESIDUES, 9);

		ck_assert_double_le(largest_error(&corrected, &exact), 0.01);
		if (hot[i][1] > 64)
			ck_assert_double_gt(largest_error(&alone, &exact), 0.02);
		for (int k = 0; k < REUSE_NR; k++) {
			ck_assert_double_eq_tol(corrected.write_backs[k], exact.write_backs[k],
						0.01 * CHUNK * NR_CHUNKS);
			ck_assert(k == 0 || corrected.misses[k] <= corrected.misses[k - 1]);
		}
	}
}
