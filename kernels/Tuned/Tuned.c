/* SPDX-License-Identifier: MIT */
/*
 * C = A B + C after GotoBLAS (Goto, van de Geijn, ACM TOMS 34(3), 2008), for rows that lie one behind the other.
 *
 * Registers hold a tile of mr x nr elements of C. It takes a column of mr elements of A and a row of nr of B after the
 * other: A is packed in strips of mr rows, B in strips of nr columns, so that both are read from front to end. A strip
 * of A stays in the first cache while those of the block of B, which stays in the second, pass by. The block of A stays
 * in the last one.
 */
#include <stdatomic.h>

#include "TunedData.h"
#include "kernel.h"
#include "macros/ROT_TUNED_INSTRUCTION_SET.h"
#include "macros/ROT_TUNED_KU.h"
#include "macros/ROT_TUNED_MR.h"
#include "macros/ROT_TUNED_NR.h"
#include "matrices.h"

#if ROT_TUNED_INSTRUCTION_SET__AVX512
#define LANES 8
#elif ROT_TUNED_INSTRUCTION_SET__AVX2
#define LANES 4
#else
#define LANES 2
#endif

#define MR ROT_TUNED_MR
#define NR ROT_TUNED_NR
#define VECTORS (NR / LANES) /* of a row of the tile */
#define LINE 8               /* doubles */

#define PRAGMA(text) _Pragma(#text)
#define UNROLL(nr) PRAGMA(GCC unroll nr)

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double unaligned_vector __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

struct tuned {
	struct tuned_data data;
	struct matrices matrices;
	long kc, nc, mc; /* of this size: blocks as equal as possible */
	double *a, *b;   /* packed blocks */
};

static long
least(long a, long b)
{
	return a < b ? a : b;
}

/* ---- packing ---- */

/* How far ahead of what is packed memory is asked for. */
#define AHEAD_COLUMNS 32
#define AHEAD_ROWS 16

/* nr_rows x nr_columns of A: of each mr rows column by column. Missing rows are zero. */
static void
pack_a(double *packed, const double *a, long n, long nr_rows, long nr_columns)
{
	for (long first = 0; first < nr_rows; first += MR, packed += MR * nr_columns)
		for (long line = 0; line < nr_columns; line += LINE)
			for (long i = 0; i < MR; i++) {
				const double *row = a + (first + i) * n;
				const long end = least(line + LINE, nr_columns);

				if (first + i >= nr_rows) {
					for (long k = line; k < end; k++)
						packed[k * MR + i] = 0;
					continue;
				}
				__builtin_prefetch(row + line + AHEAD_COLUMNS);
				for (long k = line; k < end; k++)
					packed[k * MR + i] = row[k];
			}
}

/* nr_rows x nr_columns of B: of each nr columns row by row. Missing columns are zero. */
static void
pack_b(double *packed, const double *b, long n, long nr_rows, long nr_columns)
{
	for (long first = 0; first < nr_columns; first += NR)
		for (long k = 0; k < nr_rows; k++, packed += NR) {
			const double *row = b + k * n + first;
			const long width = least(NR, nr_columns - first);

			for (long j = 0; j < NR; j += LINE)
				__builtin_prefetch(row + AHEAD_ROWS * n + j);
			if (width == NR) {
				for (long j = 0; j < VECTORS; j++)
					((vector *)packed)[j] = *(const unaligned_vector *)(row + j * LANES);
				continue;
			}
			for (long j = 0; j < NR; j++)
				packed[j] = j < width ? row[j] : 0;
		}
}

/* ---- multiplying ---- */

/* Adds the product of a strip of A and one of B to mr x nr elements of C, whose rows are n elements apart. */
static void
multiply_tile(const double *restrict a, const double *restrict b, long nr_steps, double *restrict c, long n)
{
	vector sums[MR][VECTORS];

	for (long i = 0; i < MR; i++)
		for (long j = 0; j < VECTORS; j++) {
			sums[i][j] = (vector){0};
			__builtin_prefetch(c + i * n + j * LANES, 1);
		}
	UNROLL(ROT_TUNED_KU)
	for (long k = 0; k < nr_steps; k++) {
		vector row[VECTORS];

		for (long j = 0; j < VECTORS; j++)
			row[j] = ((const vector *)(b + k * NR))[j];
		for (long i = 0; i < MR; i++)
			for (long j = 0; j < VECTORS; j++)
				sums[i][j] += a[k * MR + i] * row[j];
	}
	for (long i = 0; i < MR; i++)
		for (long j = 0; j < VECTORS; j++)
			*(unaligned_vector *)(c + i * n + j * LANES) += sums[i][j];
}

/* The same where C has fewer rows or columns. */
static void
multiply_edge(const double *a, const double *b, long nr_steps, double *c, long n, long nr_rows, long nr_columns)
{
	double tile[MR * NR] __attribute__((aligned(64))) = {0};

	multiply_tile(a, b, nr_steps, tile, NR);
	for (long i = 0; i < least(MR, nr_rows); i++)
		for (long j = 0; j < least(NR, nr_columns); j++)
			c[i * n + j] += tile[i * NR + j];
}

static void
multiply_blocks(const struct tuned *tuned, double *c, long nr_rows, long nr_steps, long nr_columns)
{
	const long n = (long)tuned->matrices.n;

	for (long i = 0; i < nr_rows; i += MR)
		for (long j = 0; j < nr_columns; j += NR) {
			const double *a = tuned->a + i * nr_steps, *b = tuned->b + j * nr_steps;

			if (i + MR <= nr_rows && j + NR <= nr_columns)
				multiply_tile(a, b, nr_steps, c + i * n + j, n);
			else
				multiply_edge(a, b, nr_steps, c + i * n + j, n, nr_rows - i, nr_columns - j);
		}
}

static void
run(void *kernel)
{
	const struct tuned *tuned = kernel;
	const struct matrices *m = &tuned->matrices;
	const long n = (long)m->n;

	for (long i = 0; i < n; i += tuned->mc)
		for (long k = 0; k < n; k += tuned->kc) {
			const long nr_rows = least(tuned->mc, n - i), nr_steps = least(tuned->kc, n - k);

			pack_a(tuned->a, m->a + i * n + k, n, nr_rows, nr_steps);
			for (long j = 0; j < n; j += tuned->nc) {
				const long nr_columns = least(tuned->nc, n - j);

				pack_b(tuned->b, m->b + k * n + j, n, nr_steps, nr_columns);
				multiply_blocks(tuned, m->c + i * n + j, nr_rows, nr_steps, nr_columns);
			}
		}
}

/* ---- the kernel ---- */

/* n in as many parts as parts of most need, as equal as multiples of unit can be. */
static long
part_of(long n, long most, long unit)
{
	const long nr_parts = (n + most - 1) / most, part = (n + nr_parts - 1) / nr_parts;

	return (part + unit - 1) / unit * unit;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct tuned *tuned = kernel;
	const struct tuned_data *data = &tuned->data;

	tuned->kc = part_of(data->matrix_size, data->kc, 1);
	tuned->nc = part_of(data->matrix_size, data->nc, NR);
	tuned->mc = part_of(data->matrix_size, data->mc, MR);
	tuned->a = kernel_allocate((size_t)(tuned->kc * tuned->mc), sizeof(double));
	tuned->b = kernel_allocate((size_t)(tuned->kc * tuned->nc), sizeof(double));
	if (!tuned->a || !tuned->b || matrices_open(&tuned->matrices, (size_t)data->matrix_size) < 0)
		return -1;
	if (data->no_check || atomic_exchange(&is_checked, true))
		return 0;
	return matrices_check(&tuned->matrices, 1, 1, run, tuned, "C v of the product");
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct tuned *tuned = kernel;
	const size_t nr = matrices_buffers(&tuned->matrices, buffers), kc = (size_t)tuned->kc * sizeof(double);

	buffers[nr] = (struct kernel_buffer){tuned->a, kc * (size_t)tuned->mc};
	buffers[nr + 1] = (struct kernel_buffer){tuned->b, kc * (size_t)tuned->nc};
	return nr + 2;
}

static void
dispose(void *kernel)
{
	struct tuned *tuned = kernel;

	matrices_close(&tuned->matrices);
	kernel_free(tuned->a);
	kernel_free(tuned->b);
}

KERNEL(tuned, "Tuned", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
