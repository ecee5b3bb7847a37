/* SPDX-License-Identifier: MIT */
/* Misses at every capacity, beside a plain list of lines and beside modelled caches of some capacities. */
#include "lines_crossed.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/reuse.h"
#include "testing.h"

#define LINE_SHIFT 6
#define NR_USES 60000

/* Streams of different kinds: anywhere; loops over arrays; mostly near the last one; rows and columns. */
static uint64_t *
make_uses(int kind, size_t nr, uint64_t nr_lines)
{
	uint64_t *uses = rot_calloc(nr, sizeof(*uses)), state = (uint64_t)kind, line = 0;

	for (size_t i = 0; i < nr; i++) {
		switch (kind % 4) {
		case 0:
			line = random_below(&state, nr_lines);
			break;
		case 1:
			line = i % (nr_lines >> i / 4096 % 5 | 1);
			break;
		case 2:
			line = random_below(&state, 5) ? line + random_below(&state, 4)
						       : random_below(&state, nr_lines);
			break;
		case 3:
			line = i / 8192 % 2 ? i : i * 64 % nr_lines + i * 64 / nr_lines;
			break;
		}
		uses[i] = CACHE_USE(line % nr_lines, random_below(&state, 4) == 0);
	}
	return uses;
}

static struct reuse_counts
counts_of(struct reuse *reuse)
{
	struct reuse_counts counts = {.lines = 0};

	reuse_add(reuse, &counts);
	return counts;
}

static struct reuse_counts
counts_of_uses(const uint64_t *uses, size_t nr, size_t max_lines, uint64_t residues)
{
	struct reuse *reuse = reuse_new(LINE_SHIFT, max_lines);
	struct reuse_counts counts;

	if (residues)
		reuse_sample(reuse, residues);
	reuse_use_lines(reuse, uses, nr);
	counts = counts_of(reuse);
	reuse_delete(reuse);
	return counts;
}

/* ---- exact ---- */

/* Every distance, by looking for the line in a list, the last used first. */
static void
count_by_list(const uint64_t *uses, size_t nr, struct reuse_counts *counts)
{
	autofree uint64_t *lines = rot_calloc(nr, sizeof(*lines));
	size_t nr_lines = 0;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t line = uses[i] >> CACHE_NR_ENTRY_BITS;
		size_t distance = 0;

		while (distance < nr_lines && lines[distance] != line)
			distance++;
		for (int k = 0; k < REUSE_NR; k++)
			counts->misses[k] += distance == nr_lines || distance >= reuse_lines(k, LINE_SHIFT);
		nr_lines += distance == nr_lines;
		memmove(lines + 1, lines, distance * sizeof(*lines));
		lines[0] = line;
	}
	counts->lines = (double)nr_lines;
}

TEST_OF(distances_are_those_in_a_list, 4)
{
	static const uint64_t footprints[] = {50, 64, 65, 700, 9000, 40000};

	for (size_t i = 0; i < sizeof(footprints) / sizeof(*footprints); i++) {
		autofree uint64_t *uses = make_uses(_i, NR_USES / 2, footprints[i]);
		struct reuse_counts counts = counts_of_uses(uses, NR_USES / 2, 1 << 20, 0), expected = {.lines = 0};

		count_by_list(uses, NR_USES / 2, &expected);
		ck_assert_double_eq(counts.lines, expected.lines);
		for (int k = 0; k < REUSE_NR; k++)
			ck_assert_double_eq(counts.misses[k], expected.misses[k]);
	}
}

/* Also what is written back, at any time. */
TEST_OF(capacities_are_modelled_caches, 4)
{
	static const int capacities[] = {0, 1, 3, 8, 13, 18};
	autofree uint64_t *uses = make_uses(_i, NR_USES, 3000);

	for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
		const uint64_t lines = reuse_lines(capacities[i], LINE_SHIFT);
		const struct step_level levels[STEP_NR_LEVELS] = {{LINES(lines), lines}};
		struct cache_model *model = cache_model_new(levels, LINE);
		struct reuse *reuse = reuse_new(LINE_SHIFT, 1 << 20);

		for (size_t at = 0; at < NR_USES; at += NR_USES / 4) {
			struct reuse_counts counts;
			struct crossed crossed;

			cache_model_use_lines(model, uses + at, NR_USES / 4);
			reuse_use_lines(reuse, uses + at, NR_USES / 4);
			counts = counts_of(reuse);
			crossed = crossed_of(model);
			ck_assert_double_eq(counts.misses[capacities[i]], (double)crossed.lines[MEMORY_READS]);
			ck_assert_double_eq(counts.write_backs[capacities[i]], (double)crossed.lines[MEMORY_WRITES]);
		}
		reuse_delete(reuse);
		cache_model_delete(model);
	}
}

/* ---- sampled ---- */

/* At capacities that hold enough lines to be sampled. Not of columns: lines of a column have few residues. */
static void
expect_near(const struct reuse_counts *found, const struct reuse_counts *expected, double share_of_uses, size_t nr)
{
	for (int k = 16; k < REUSE_NR; k++) {
		ck_assert_double_eq_tol(found->misses[k], expected->misses[k], share_of_uses * (double)nr);
		ck_assert_double_eq_tol(found->write_backs[k], expected->write_backs[k], share_of_uses * (double)nr);
	}
	ck_assert_double_eq_tol(found->lines / expected->lines, 1, 0.05);
}

TEST_OF(sampled_lines_stand_for_all, 3)
{
	autofree uint64_t *uses = make_uses(_i, 8 * NR_USES, 30000);
	const struct reuse_counts expected = counts_of_uses(uses, 8 * NR_USES, 1 << 20, 0);
	const struct reuse_counts sampled = counts_of_uses(uses, 8 * NR_USES, 1 << 20, 0x0880402001021005);
	const struct reuse_counts shrunk = counts_of_uses(uses, 8 * NR_USES, 10000, 0);

	ck_assert_uint_eq(expected.shrinks, 0);
	ck_assert_uint_ge(shrunk.shrinks, 1);
	expect_near(&sampled, &expected, 0.03, 8 * NR_USES);
	expect_near(&shrunk, &expected, 0.03, 8 * NR_USES);
}

/* Counts from before stay, and lines that go on are known. */
TEST_OF(sampling_goes_on_from_all_lines, 3)
{
	const size_t nr = 4 * NR_USES;
	autofree uint64_t *uses = make_uses(_i, nr, 20000);
	struct reuse *reuse = at_end(reuse_delete, reuse_new(LINE_SHIFT, 1 << 20));
	const struct reuse_counts expected = counts_of_uses(uses, nr, 1 << 20, 0);
	struct reuse_counts first, all;

	reuse_use_lines(reuse, uses, nr / 2);
	first = counts_of(reuse);
	reuse_sample(reuse, 0x2112422888811445);
	all = counts_of(reuse);
	for (int k = 0; k < REUSE_NR; k++)
		ck_assert_double_eq(all.misses[k], first.misses[k]);
	reuse_use_lines(reuse, uses + nr / 2, nr / 2);
	all = counts_of(reuse);
	expect_near(&all, &expected, 0.03, nr);
}

static void
add_told(void *context, uint64_t line, unsigned capacity, double weight)
{
	double *told = context;

	(void)line;
	told[capacity] += weight;
}

/* Also where half of the lines stand for all. */
TEST_OF(what_is_told_adds_up, 2)
{
	autofree uint64_t *uses = make_uses(0, NR_USES, 30000);
	struct reuse *reuse = at_end(reuse_delete, reuse_new(LINE_SHIFT, _i == 0 ? 1 << 20 : 10000));
	double told[REUSE_NR + 1] = {0}, misses = 0;
	struct reuse_counts counts;

	reuse_tell(reuse, add_told, told);
	reuse_use_lines(reuse, uses, NR_USES);
	counts = counts_of(reuse);
	ck_assert_uint_eq(counts.shrinks > 0, _i == 1);
	for (int k = REUSE_NR - 1; k >= 0; k--) {
		misses += told[k + 1];
		ck_assert_double_eq(counts.misses[k], misses);
	}
}

TEST(streamed_bytes_pass_by)
{
	struct reuse *reuse = at_end(reuse_delete, reuse_new(LINE_SHIFT, 1 << 20));

	for (uint64_t line = 0; line < 640; line++)
		reuse_stream(reuse, line, 64);
	ck_assert_double_eq(counts_of(reuse).streamed_bytes, 640 * 64);
	ck_assert_double_eq(counts_of(reuse).misses[0], 0);
	reuse_sample(reuse, 0x95a959a96a56a657);
	for (uint64_t line = 0; line < 640; line++)
		reuse_stream(reuse, line, 64);
	ck_assert_double_eq_tol(counts_of(reuse).streamed_bytes, 2 * 640 * 64, 1);
}
