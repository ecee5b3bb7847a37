/* SPDX-License-Identifier: MIT */
/* How often a point is measured. */
#include "quantities/effort.h"

#include <math.h>
#include <stdbool.h>

#define MAX_ROUNDS 3

int
effort_first_runs(const struct quantity_effort *effort)
{
	return effort->precision > 0 ? EFFORT_FIRST_RUNS : effort->nr_runs;
}

void
effort_begin(struct effort_course *course, const struct quantity_effort *effort)
{
	*course = (struct effort_course){.effort = effort, .target = effort_first_runs(effort), .end = ""};
}

/*
 * The undisturbed runs of the value that has the fewest, 0 if all samples of one were disturbed; nr_runs if nothing was
 * measured. A value may have fewer samples than there are runs (pass_runs).
 */
static int
least_undisturbed(const struct quantity_value *values, size_t nr_values, int nr_runs)
{
	int least = nr_runs;

	for (size_t i = 0; i < nr_values; i++) {
		size_t nr_disturbed = 0;
		int nr;

		for (size_t k = 0; k < values[i].nr_samples; k++)
			nr_disturbed += values[i].taints[k] != 0;
		nr = nr_disturbed && nr_disturbed == values[i].nr_samples ? 0 : nr_runs - (int)nr_disturbed;
		least = nr < least ? nr : least;
	}
	return least;
}

enum width { NARROW, WIDE, UNKNOWN };

/* The worst of all times and rates. */
static enum width
widest(const struct quantity_value *values, size_t nr_values, double precision)
{
	enum width worst = NARROW;

	for (size_t i = 0; i < nr_values; i++) {
		const struct summary *summary = &values[i].summary;
		const double half = fmax(summary->high - summary->value, summary->value - summary->low);
		enum width width = half <= precision * fabs(summary->value) ? NARROW : WIDE;

		if (!values[i].request.clock || !values[i].nr_samples)
			continue;
		if (isnan(half) || !isfinite(summary->value))
			width = summary->n < SUMMARY_LEAST ? WIDE : UNKNOWN;
		worst = width > worst ? width : worst;
	}
	return worst;
}

static int
end(struct effort_course *course, const char *why)
{
	course->end = why;
	return 0;
}

static bool
fits_budget(const struct effort_course *course, int nr_next, int nr_runs, double spent_s)
{
	return spent_s * nr_next / nr_runs <= course->effort->budget_s;
}

int
effort_next(struct effort_course *course, const struct quantity_value *values, size_t nr_values, int nr_runs,
	    double spent_s)
{
	const double precision = course->effort->precision;
	const int nr_good = course->effort->keeps_disturbed ? nr_runs : least_undisturbed(values, nr_values, nr_runs);
	enum width width;
	int next;

	if (nr_good < course->target) {
		next = nr_runs + course->target - nr_good;
		next = next > 2 * course->target ? 2 * course->target : next;
		if (nr_good == 0 || next <= nr_runs || course->nr_rounds++ == MAX_ROUNDS)
			return end(course, "disturbed");
		return fits_budget(course, next, nr_runs, spent_s) ? next : end(course, "budget");
	}
	if (!(precision > 0))
		return end(course, "");
	width = widest(values, nr_values, precision);
	if (width != WIDE)
		return end(course, width == NARROW ? "narrow" : "noInterval");
	if (2 * course->target > EFFORT_MOST_RUNS)
		return end(course, "most");
	next = nr_runs + course->target;
	if (!fits_budget(course, next, nr_runs, spent_s))
		return end(course, "budget");
	course->target *= 2;
	course->nr_rounds = 0;
	return next;
}
