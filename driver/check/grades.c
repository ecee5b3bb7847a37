/* SPDX-License-Identifier: MIT */
/* Grades of known work, and why a formula does not count what it should. Pure. */
#include "check/known_work.h"

#include <math.h>
#include <string.h>

#include "check/shapes.h"
#include "memory.h"

/* ---- grades ---- */

double
known_work_deviation(double measured, double expected, double reference)
{
	if (!(reference > 0))
		return NAN;
	return (measured - expected) / (expected > 0 ? expected : reference);
}

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

bool
known_work_is_graded(const struct known_work_row *row)
{
	const double ratio = row->grade.of.value;
	/* An estimate is graded where the count is not even about right. */
	const bool is_far_off = row->expected > 0 ? ratio < 1 / 3.0 || ratio > 3 : ratio > 1.5;

	return row->grade.letter && !row->is_too_small && (!row->is_estimate || is_far_off);
}

static bool
is_worse(const struct known_work_row *row, const struct known_work_row *than)
{
	if (row->grade.letter != than->grade.letter)
		return row->grade.letter > than->grade.letter;
	if (fabs(row->grade.worst) != fabs(than->grade.worst))
		return fabs(row->grade.worst) > fabs(than->grade.worst);
	return row->expected > than->expected; /* nothing counted of no work proves little */
}

/* The row that decides the candidate's grade: the weakest, then the farthest off. NULL: there is none. */
static const struct known_work_row *
worst_row(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *worst = NULL;

	for (size_t i = 0; i < work->nr; i++) {
		const struct known_work_row *row = &work->rows[i];

		if (row->candidate == candidate && known_work_is_graded(row) && (!worst || is_worse(row, worst)))
			worst = row;
	}
	return worst;
}

const struct known_work_row *
known_work_row_to_show(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *shown = worst_row(work, candidate);

	for (size_t i = 0; !shown && i < work->nr; i++)
		if (work->rows[i].candidate == candidate)
			shown = &work->rows[i];
	return shown;
}

char
known_work_grade(const struct known_work *work, const struct candidate *candidate)
{
	const struct known_work_row *worst = worst_row(work, candidate);

	return worst ? worst->grade.letter : 0;
}

size_t
known_work_nr_disturbed(const struct known_work *work, const struct candidate *candidate)
{
	size_t nr = 0;

	for (size_t i = 0; i < work->nr; i++) {
		const struct known_work_row *row = &work->rows[i];

		if (row->candidate != candidate || row->is_too_small || row->is_estimate)
			continue;
		if (row->grade.letter)
			return 0;
		nr += row->nr_tainted;
	}
	return nr;
}

/* ---- diagnosis ---- */

/* So much of the expected work makes no difference between "the same" and "another". */
#define SAME 0.03
/* So far off is wrong: what no grade but F allows. */
#define WRONG 0.10

static bool
is_same(double a, double b, double relative_to)
{
	return fabs(a - b) <= SAME * fabs(relative_to);
}

static bool
is_wrong(const struct known_work_row *row)
{
	return known_work_is_graded(row) && row->grade.letter == 'F';
}

/* The next graded row of the candidate from *i on, or NULL. */
static const struct known_work_row *
next_row(const struct known_work *work, const struct candidate *candidate, size_t *i)
{
	while (*i < work->nr) {
		const struct known_work_row *row = &work->rows[(*i)++];

		if (row->candidate == candidate && known_work_is_graded(row))
			return row;
	}
	return NULL;
}

/* Each gives fresh memory, or NULL if it is not the one that was broken. */
typedef char *rule(const struct diagnosis_context *context, const struct candidate *candidate);

/* More events than counters, or a mixture that the counters do not take. */
static char *
broken_group(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work_row *row;

	for (size_t i = 0; (row = next_row(context->work, candidate, &i));) {
		const struct shape *shape = shapes_find_one(context->shapes, row->nr_large, row->nr_plain);

		if (is_wrong(row) && shape && shape->verdict == SHAPE_WRONG) {
			autofree char *group = shape_text(shape);

			return rot_format("groups of %s count wrong here", group);
		}
	}
	return NULL;
}

/* Large events spoil the counters for whoever comes next. */
static char *
not_scrubbed(const struct diagnosis_context *context, const struct candidate *candidate)
{
	(void)candidate;
	if (context->is_scrubbed || !context->shapes->is_scrub_needed)
		return NULL;
	return rot_strdup("nothing scrubs the counters, and large events spoil the counts after them");
}

/* A mask that chooses nothing, or an event this processor does not have: wrong only where it counts nothing. */
static char *
counts_nothing(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work_row *row, *first = NULL;

	for (size_t i = 0; (row = next_row(context->work, candidate, &i));) {
		if (!is_wrong(row))
			continue;
		if (row->measured != 0)
			return NULL;
		first = first ? first : row;
	}
	return first ? rot_format("it counts nothing of '%s': an event or a mask that this processor does not have",
				  first->kernel)
		     : NULL;
}

static const struct known_work_row *
find_row(const struct known_work *work, const struct candidate *candidate, const char *kernel)
{
	for (size_t i = 0; i < work->nr; i++)
		if (work->rows[i].candidate == candidate && strcmp(work->rows[i].kernel, kernel) == 0)
			return &work->rows[i];
	return NULL;
}

/*
 * Wherever the candidate is wrong, it is what the other should be, and the other does something there; or it is so
 * everywhere.
 */
static bool
is_exchanged(const struct known_work *work, const struct candidate *candidate, const struct candidate *other)
{
	const struct known_work_row *row;
	bool is_always = true, has_work = false, has_wrong_work = false;

	for (size_t i = 0; (row = next_row(work, candidate, &i));) {
		const struct known_work_row *of_other = find_row(work, other, row->kernel);
		bool is_other =
			of_other && is_same(row->measured, of_other->expected, fmax(row->expected, of_other->expected));

		if (is_wrong(row) && !is_other)
			return false;
		is_always &= is_other;
		has_work |= is_other && of_other->expected > 0;
		has_wrong_work |= is_wrong(row) && of_other->expected > 0;
	}
	return has_wrong_work || (is_always && has_work);
}

static char *
counts_another(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work *work = context->work;

	for (size_t i = 0; i < work->nr_candidates; i++) {
		const struct candidate *other = &work->candidates[i];

		if (other->formula && other != candidate && strcmp(other->quantity, candidate->quantity) == 0 &&
		    strcmp(other->of, candidate->of) != 0 && is_exchanged(work, candidate, other))
			return rot_format("it counts what %s:%s should: exchanged events", other->quantity, other->of);
	}
	return NULL;
}

/* The same on all kernels. */
static char *
wrong_factor(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work_row *row;
	double factor = NAN;

	for (size_t i = 0; (row = next_row(context->work, candidate, &i));) {
		double of_row = row->measured / row->expected;

		if (!(row->expected > 0))
			continue;
		if (isnan(factor))
			factor = of_row;
		if (row->grade.is_unstable || !is_same(of_row, factor, factor))
			return NULL;
	}
	if (isnan(factor) || fabs(factor - 1) <= WRONG)
		return NULL;
	return rot_format("it is always %.3g times what it should be: a wrong factor", factor);
}

/* Counts that lost, or got, the highest bit. */
static char *
overflows(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work_row *row;

	for (size_t i = 0; (row = next_row(context->work, candidate, &i));)
		if (is_wrong(row) && row->nr_overflowed > row->grade.of.n)
			return rot_strdup("most counts lie in the upper half of the counter");
	return NULL;
}

static char *
unstable(const struct diagnosis_context *context, const struct candidate *candidate)
{
	const struct known_work_row *worst = worst_row(context->work, candidate);

	return worst && worst->grade.is_unstable ? rot_strdup("it is right in most runs, but not in all") : NULL;
}

char *
diagnosis_of(const struct diagnosis_context *context, const struct candidate *candidate)
{
	/* The surest first: what was seen on groups explains whatever happens in them. */
	static rule *const rules[] = {broken_group, counts_another, counts_nothing, not_scrubbed,
				      wrong_factor, overflows,      unstable};
	char *text = NULL;

	for (size_t i = 0; !text && i < sizeof(rules) / sizeof(*rules); i++)
		text = rules[i](context, candidate);
	return text ? text : rot_strdup("");
}
