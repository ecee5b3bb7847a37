/* SPDX-License-Identifier: MIT */
#include "validation/grade.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"

static const struct {
	char letter;
	double within;
} grades[] = {{'A', 0.01}, {'B', 0.03}, {'C', 0.10}, {'F', INFINITY}};

static char
letter_of(double deviation)
{
	size_t i = 0;

	while (!(fabs(deviation) <= grades[i].within) && grades[i].letter != 'F')
		i++;
	return grades[i].letter;
}

struct grade
grade_of(const double *deviations, size_t n)
{
	struct grade grade = {.bias = NAN, .spread = NAN, .worst = NAN, .of = summary_empty()};
	autofree double *ratios = NULL;
	double low, high;

	if (n == 0)
		return grade;
	ratios = rot_calloc(n, sizeof(*ratios));
	for (size_t i = 0; i < n; i++)
		ratios[i] = 1 + deviations[i];
	grade.of = summary_median(ratios, n);
	low = statistics_percentile(deviations, n, 5);
	high = statistics_percentile(deviations, n, 95);
	grade.bias = grade.of.value - 1;
	grade.spread = high - low;
	grade.worst = fabs(low) > fabs(high) ? low : high;
	grade.letter = letter_of(grade.worst);
	grade.is_unstable = grade.letter == 'F' && letter_of(grade.bias) != 'F';
	return grade;
}

char
grade_weaker(char a, char b)
{
	return a > b ? a : b;
}
