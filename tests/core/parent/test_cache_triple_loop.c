/* SPDX-License-Identifier: MIT */
/*
 * The modelled caches and a matrix multiplication of three loops,
 *
 *	c[i][j] += a[i][k] * b[k][j]        i outermost, k innermost; a, b, c loaded and c stored in each step,
 *
 * with matrices of n * n doubles, n = 8 r, whose rows begin at lines, and one fully associative level of C lines. A
 * matrix has m = n r lines. An access misses if C or more other lines were used since the last one to the line. So:
 *
 *	line of	used again	other lines between
 *	b	next j, the same line of c	n + r: n - 1 of b, the row of a, one of c
 *	a	next j	n + r - 7, and where a line of c begins n + r - 6
 *	b	next i	between m + 2 r and m + 3 r: b, two rows of a, up to r + 1 lines of c
 *	a, c	next k, or of c next j	2
 *
 * These are the regimes of "Applying the Roofline Model" (2012), section on level 3 BLAS: it reads 3 n^2 elements as
 * long as B fits, and else n^3 + 2 n^2. It counts elements where a cache has lines: a column of B takes eight times the
 * room of a row of A, and it is the column that does not fit first (from C = n + r on down), when each element of B is
 * read as a line. It also leaves all that B does not take to what is written back; rows of A take half of it.
 */
#include "lines_crossed.h"
#include "testing.h"

struct volume {
	uint64_t reads, writes;
};

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Lines of c that are still there where b is: of the last row all, before it in turn a row of c and one of a. */
static uint64_t
kept_beside_b(uint64_t n, uint64_t nr_lines)
{
	const uint64_t r = n / 8, m = n * r, room = nr_lines - m - 2 * r, rest = room % (2 * r);
	const uint64_t of_rest = rest <= r + 1 ? rest > 0 : rest - r; /* its last line, the row of a, the others */

	return least(m, r + room / (2 * r) * r + of_rest);
}

/* ... where b is not: the last one, and those after whose use fewer than C lines were used. */
static uint64_t
kept_among_columns(uint64_t n, uint64_t nr_lines)
{
	const uint64_t r = n / 8;
	uint64_t nr = 1;

	while (nr < r && nr * (n + 1) + r < nr_lines)
		nr++;
	return nr;
}

/* Returns false where it is not that simple: b is partly read again for each row, or a where lines of c begin. */
static bool
expect(uint64_t n, uint64_t nr_lines, struct volume *volume)
{
	const uint64_t r = n / 8, m = n * r;

	if (nr_lines >= m + 3 * r + 1) /* b stays, or all */
		*volume = (struct volume){3 * m, m - kept_beside_b(n, nr_lines)};
	else if (nr_lines >= n + r + 1 && nr_lines <= m + 2 * r) /* a column of b and a row of a stay */
		*volume = (struct volume){n * m + 2 * m, m - kept_among_columns(n, nr_lines)};
	else if (nr_lines >= n + r - 5 && nr_lines <= n + r) /* a row of a stays */
		*volume = (struct volume){n * n * n + 2 * m, m - 1};
	else if (nr_lines >= 3 && nr_lines <= n + r - 7) /* a line of each */
		*volume = (struct volume){n * n * n + n * m + m, m - 1};
	else
		return false;
	return true;
}

static struct crossed
multiply(uint64_t n, const struct step_level levels[STEP_NR_LEVELS])
{
	const uint64_t a = LINES(1), b = a + n * n * 8, c = b + n * n * 8;
	struct cache_model *model = cache_model_new(levels, LINE);
	struct crossed crossed;

	for (uint64_t i = 0; i < n; i++)
		for (uint64_t j = 0; j < n; j++)
			for (uint64_t k = 0; k < n; k++) {
				cache_model_access(model, a + (i * n + k) * 8, 8, false, false);
				cache_model_access(model, b + (k * n + j) * 8, 8, false, false);
				cache_model_access(model, c + (i * n + j) * 8, 8, false, false);
				cache_model_access(model, c + (i * n + j) * 8, 8, true, false);
			}
	crossed = crossed_of(model);
	cache_model_delete(model);
	return crossed;
}

static struct volume
volume_of(uint64_t n, uint64_t nr_lines)
{
	const struct step_level levels[STEP_NR_LEVELS] = {{LINES(nr_lines), nr_lines}};
	struct crossed crossed = multiply(n, levels);

	return (struct volume){crossed.lines[MEMORY_READS], crossed.lines[MEMORY_WRITES]};
}

/* Returns whether it is known what to expect. */
static bool
check_volume(uint64_t n, uint64_t nr_lines)
{
	struct volume got = volume_of(n, nr_lines), expected;
	bool is_known = expect(n, nr_lines, &expected);

	if (!is_known)
		expected = got;
	ck_assert_msg(got.reads == expected.reads && got.writes == expected.writes,
		      "n = %llu, %llu lines: %llu read and %llu written instead of %llu and %llu",
		      (unsigned long long)n, (unsigned long long)nr_lines, (unsigned long long)got.reads,
		      (unsigned long long)got.writes, (unsigned long long)expected.reads,
		      (unsigned long long)expected.writes);
	return is_known;
}

/* Every number of lines, until all three matrices are there. */
TEST(any_size_of_the_cache)
{
	const uint64_t n = 24, r = n / 8, m = n * r;
	uint64_t nr_known = 0, last_reads = UINT64_MAX;

	for (uint64_t nr_lines = 3; nr_lines <= 3 * m + 5; nr_lines++) {
		uint64_t reads = volume_of(n, nr_lines).reads;

		nr_known += check_volume(n, nr_lines);
		ck_assert_uint_le(reads, last_reads); /* what a level holds, a larger one holds */
		last_reads = reads;
	}
	ck_assert_uint_eq(nr_known, 3 * m + 3 - r - 1);
	ck_assert_uint_eq(last_reads, 3 * m);
}

/* The ends of the regimes. */
TEST_OF(any_size_of_the_matrices, 4)
{
	const uint64_t n = 32 + 8 * (uint64_t)_i, r = n / 8, m = n * r;
	const uint64_t ends[] = {3,         n + r - 7,     n + r - 5,     n + r,     n + r + 1, m / 2,
				 m + 2 * r, m + 3 * r + 1, 2 * m + r + 3, 3 * m - 1, 3 * m};

	for (int i = 0; i < NR_ELEMENTS(ends); i++)
		ck_assert(check_volume(n, ends[i]));
	ck_assert(!check_volume(n, m + 2 * r + 1));
	ck_assert(!check_volume(n, m + 3 * r));
}

/* The first level is as if it were alone, whatever is below; one that holds all reads all once. */
TEST(two_levels)
{
	const uint64_t n = 32, r = n / 8, m = n * r;
	const struct step_level levels[STEP_NR_LEVELS] = {{LINES(n + r + 1), n + r + 1}, {LINES(3 * m + 8), 3 * m + 8}};
	struct crossed crossed = multiply(n, levels);

	ck_assert_uint_eq(crossed.lines[0], n * m + 2 * m);
	ck_assert_uint_eq(crossed.lines[1], m - 1);
	ck_assert_uint_eq(crossed.lines[MEMORY_READS], 3 * m);
	ck_assert_uint_eq(crossed.lines[MEMORY_WRITES], 0);
}
