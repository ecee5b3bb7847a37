/* SPDX-License-Identifier: MIT */
/* By how much one quantity of two results differs, in numbers and in words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/pool.h"
#include "experiments/stored_diff.h"
#include "memory.h"

/* ---- shifts ---- */

static bool
is_disturbed(const json_t *disturbed, size_t run)
{
	const json_t *item;
	size_t i;

	json_array_foreach(disturbed, i, item) {
		if (json_is_integer(item) && json_integer_value(item) == (json_int_t)run)
			return true;
	}
	return false;
}

/* By their starts, those that the summary is of: the undisturbed ones, if there are any, and all where none was left
 * out. Results of before "starts" have one a run. */
static struct grouped
runs_of(struct pool *pool, const json_t *quantity)
{
	const json_t *samples = json_object_get(quantity, "samples"), *starts = json_object_get(quantity, "starts");
	const json_t *disturbed = json_object_get(quantity, "taintedSamples"), *sample;
	const bool use_all =
		json_array_size(disturbed) >= json_array_size(samples) || json_number_at(quantity, "tainted") == 0;
	double *values = pool_calloc(pool, json_array_size(samples), sizeof(*values));
	size_t *groups = pool_calloc(pool, json_array_size(samples), sizeof(*groups)), nr = 0, i;

	json_array_foreach(samples, i, sample) {
		const json_t *start = json_array_get(starts, i);

		if (!json_is_number(sample) || (!use_all && is_disturbed(disturbed, i)))
			continue;
		values[nr] = json_number_value(sample);
		groups[nr++] = json_is_integer(start) ? (size_t)json_integer_value(start) : i;
	}
	return (struct grouped){values, groups, nr};
}

/* Bytes of modelled caches are counted by blocks as well, and no further run would give them an interval. */
static bool
is_single_count(const struct quantity_value *value)
{
	return value->summary.n == 1 && value->source && strncmp(value->source, "blocks", 6) == 0 &&
	       !strstr(value->source, "CLOCK");
}

struct shift
diff_shift_of(const json_t *first, const json_t *second, const struct quantity_value *a, const struct quantity_value *b)
{
	struct shift shift = {summary_single(b->summary.value / a->summary.value, "exact"), NAN};
	autopool pool = {0};
	const struct grouped below = runs_of(&pool, first), above = runs_of(&pool, second);
	bool is_exact = (a->summary.low == a->summary.high && b->summary.low == b->summary.high) ||
			(quantity_is_counted_once(a) && quantity_is_counted_once(b)) ||
			(is_single_count(a) && is_single_count(b));

	if (a->summary.value == b->summary.value && (is_exact || below.n < 2 || above.n < 2))
		shift.ratio.value = 1;
	else if (below.n > 0 && above.n > 0 && !is_exact)
		shift = statistics_shift(&above, &below);
	if (isnan(shift.ratio.value))
		shift.ratio.value = a->summary.value == b->summary.value ? 1 : NAN;
	return shift;
}

/* ---- verdicts ---- */

/* The change in percent: "12" or "0.3". */
static char *
percent(double change)
{
	return fabs(change) < 10 ? rot_format("%.2g", change) : rot_format("%.0f", change);
}

/* "a factor of 3.1 [2.9, 3.2]": of a change in percent to more than twice as much, or to less than half. */
static char *
factor(double value, double low, double high)
{
	double a = 1 + value / 100, b = 1 + low / 100, c = 1 + high / 100;

	if (value < 0) {
		double swap = 1 / b;

		a = 1 / a;
		b = 1 / c;
		c = swap;
	}
	return isnan(low) ? rot_format("a factor of %.3g", a) : rot_format("a factor of %.3g [%.3g, %.3g]", a, b, c);
}

/* "12 % [9, 15]", turned around where less is meant; of rates and counts the change is that of the value. */
static char *
amount(double value, double low, double high)
{
	if (value >= 100 || value < -50)
		return factor(value, low, high);

	double a = fabs(value), b = fmin(fabs(low), fabs(high)), c = fmax(fabs(low), fabs(high));
	autofree char *by = percent(a), *least = percent(b), *most = percent(c);

	return isnan(low) ? rot_format("%s %%", by) : rot_format("%s %% [%s, %s]", by, least, most);
}

/* Speed counts for the time: half the time is 100 % faster. */
static struct summary
change_of(const char *name, const struct summary *ratio)
{
	struct summary change = *ratio;
	bool is_time = strcmp(name, "time") == 0;

	change.value = 100 * ((is_time ? 1 / ratio->value : ratio->value) - 1);
	change.low = 100 * ((is_time ? 1 / ratio->high : ratio->low) - 1);
	change.high = 100 * ((is_time ? 1 / ratio->low : ratio->high) - 1);
	return change;
}

bool
diff_is_speed(const char *name)
{
	return strcmp(name, "time") == 0 || strcmp(name, "performance") == 0 || strcmp(name, "throughput") == 0;
}

enum diff_verdict
diff_verdict_of(const char *name, const struct summary *ratio, size_t nr_runs, char **text)
{
	struct summary change = change_of(name, ratio);
	bool is_exact = ratio->estimator && strcmp(ratio->estimator, "exact") == 0, is_more = change.value > 0;
	autofree char *by = NULL;

	if (change.value == 0 && (is_exact || isnan(change.low))) {
		*text = rot_strdup("the same");
		return DIFF_NONE;
	}
	if (!is_exact && isnan(change.low)) {
		by = amount(100 * (ratio->value - 1), NAN, NAN);
		*text = rot_format("differs by %s (%s: it may be noise)", by,
				   nr_runs > 1 ? "too few runs" : "one run each");
		return DIFF_UNKNOWN;
	}
	by = amount(change.value, is_exact ? NAN : change.low, change.high);
	if (!is_exact && change.low <= 0 && change.high >= 0) {
		autofree char *low = percent(change.low), *high = percent(change.high);

		*text = rot_format("no difference shown [%s, %s] %%", low, high);
		return DIFF_NONE;
	}
	*text = rot_format("%s by %s",
			   diff_is_speed(name) ? is_more ? "faster" : "slower"
			   : is_more           ? "more"
					       : "less",
			   by);
	if (diff_is_speed(name))
		return is_more ? DIFF_BETTER : DIFF_WORSE;
	return is_more ? DIFF_MORE : DIFF_LESS;
}
