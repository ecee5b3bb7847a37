/* SPDX-License-Identifier: MIT */
/*
 * Checking results of kernels when they are initialized. A library that computes wrong results, as some do on
 * processors they do not know, would be measured like any other. The checks cost far less than the kernels, and are
 * done once a process.
 */
#pragma once

#include <math.h>

#include "kernel.h"

/* Sums of n products in another order differ by about n roundings at most. */
#define VERIFY_TOLERANCE 1e-14

/* -1 after kernel_fail if two vectors differ; terms: of the sums that made their elements. what: "y of daxpy". */
static inline int
verify_equal(const double *got, const double *expected, size_t nr, double terms, const char *what)
{
	for (size_t i = 0; i < nr; i++)
		if (!(fabs(got[i] - expected[i]) <= VERIFY_TOLERANCE * (terms + 100) * (fabs(expected[i]) + 1)))
			return kernel_fail("%s is wrong: element %zu is %.17g instead of %.17g", what, i, got[i],
					   expected[i]);
	return 0;
}

/* result = M vector, M n x n in row-major order: in the order of the definition. */
static inline void
verify_times(double *result, const double *matrix, const double *vector, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += matrix[i * n + j] * vector[j];
		result[i] = sum;
	}
}

/*
 * A product of matrices, C = alpha A B + beta C, is checked with a random vector v: C v must be alpha A (B v) + beta C
 * v. n^2 operations instead of n^3; a wrong element of C shows, unless v is unlucky (Freivalds, "Fast probabilistic
 * algorithms", MFCS 1979). begin before the product, end behind it; work: 5 n elements.
 */
static inline void
verify_product_begin(const double *a, const double *b, const double *c, size_t n, double alpha, double beta,
		     double *work)
{
	double *v = work, *bv = work + n, *expected = work + 2 * n, *cv = work + 3 * n;

	kernel_fill(v, n, 77);
	verify_times(bv, b, v, n);
	verify_times(expected, a, bv, n);
	verify_times(cv, c, v, n);
	for (size_t i = 0; i < n; i++)
		expected[i] = alpha * expected[i] + beta * cv[i];
}

static inline int
verify_product_end(const double *c, size_t n, double *work, const char *what)
{
	verify_times(work + 4 * n, c, work, n);
	return verify_equal(work + 4 * n, work + 2 * n, n, 2 * (double)n, what);
}
