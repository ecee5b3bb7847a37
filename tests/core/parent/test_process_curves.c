/* SPDX-License-Identifier: MIT */
/* Curves of sampled lines, corrected by bursts in which all lines are seen. */
#include "parent/stepping/cache_model.h"
#include "parent/translate/process_curves.h"
#include "testing.h"

#define RESIDUES UINT64_C(0x0040100000080003)
#define CHUNK 20000
#define NR_CHUNKS 182
#define LATER 82
#define NR_ALL 20      /* chunks before lines are sampled */
#define BURST_CHUNKS 7 /* a burst has room for so many */
#define BURST_CYCLE 25 /* from one burst to the next */

/*
 * Nearly all uses are of nr_hot lines in turn from first on, in the later part of the run from later on; others are of
 * 1000 lines that are so far apart, each once in 50000 uses.
 */
struct pattern {
	uint64_t first, later, nr_hot, apart;
};

static void
make_chunk(uint64_t words[CHUNK], int chunk, const struct pattern *pattern)
{
	const uint64_t first = chunk < LATER ? pattern->first : pattern->later;

	for (uint64_t i = 0; i < CHUNK; i++) {
		const uint64_t n = (uint64_t)chunk * CHUNK + i;

		words[i] = n % 50 == 0 ? CACHE_USE(4098 + n / 50 % 1000 * pattern->apart, false)
				       : CACHE_USE(first + n % pattern->nr_hot, n % 3 == 0);
	}
}

/* residues 0: all lines are followed. */
static struct reuse_counts
curve_of(const struct pattern *pattern, uint64_t residues, bool has_bursts)
{
	static uint64_t words[CHUNK];
	struct process_curves curves = {.line_shift = 6};
	struct process_curve *curve = process_curve_share(&curves, 0, residues);

	for (int i = 0; i < NR_CHUNKS; i++) {
		const bool is_burst = has_bursts && i > NR_ALL && i % BURST_CYCLE < BURST_CHUNKS;

		if (residues && i == NR_ALL)
			process_curve_sample(curve);
		make_chunk(words, i, pattern);
		if (is_burst)
			process_curve_use(curve, words, CHUNK, true);
		for (size_t k = 0; !is_burst && k < CHUNK; k++) {
			const uint64_t residue = (words[k] >> CACHE_NR_ENTRY_BITS) % CACHE_RESIDUES;

			if (i < NR_ALL || !residues || residues >> residue & 1)
				process_curve_use(curve, words + k, 1, false);
		}
		if (is_burst && i % BURST_CYCLE == BURST_CHUNKS - 1)
			process_curve_pass(curve, BURST_CHUNKS * CHUNK);
		else if (!is_burst)
			process_curve_pass(curve, CHUNK);
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

/*
 * Lines 2 to 71 have two of the sampled residues and miss in the smallest cache; 2 to 18 have none, and hit. Lines 0 to
 * 69 have six that are sampled, 2 to 71 four: sampled uses do not tell how long a burst stands for. Of lines that are
 * 64 apart none is sampled, and each is used again after a longer time than most.
 */
TEST(bursts_correct_what_sampled_lines_do_not_show)
{
	static const struct {
		struct pattern pattern;
		bool is_wrong_alone;
	} rows[] = {
		{{2, 2, 70, 1}, true}, {{20, 20, 80, 1}, true}, {{2, 2, 17, 1}, false},
		{{0, 0, 66, 1}, true}, {{0, 2, 70, 1}, true},   {{2, 2, 17, 64}, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct reuse_counts exact = curve_of(&rows[i].pattern, 0, false);
		const struct reuse_counts alone = curve_of(&rows[i].pattern, RESIDUES, false);
		const struct reuse_counts corrected = curve_of(&rows[i].pattern, RESIDUES, true);

		ck_assert_double_le(largest_error(&corrected, &exact), 0.01);
		if (rows[i].is_wrong_alone)
			ck_assert_double_gt(largest_error(&alone, &exact), 0.015);
		for (int k = 0; k < REUSE_NR; k++) {
			ck_assert_double_eq_tol(corrected.write_backs[k], exact.write_backs[k],
						0.01 * CHUNK * NR_CHUNKS);
			ck_assert(k == 0 || corrected.misses[k] <= corrected.misses[k - 1]);
		}
	}
}
