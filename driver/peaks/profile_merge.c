/* SPDX-License-Identifier: MIT */
/* What was found now, and what is kept. */
#include "peaks/profile_merge.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "peaks/limits.h"
#include "peaks/profile.h"
#include "support/json.h"

const struct profile_fact profile_facts[] = {
	{"microcode", "microcode"},
	{"kernel", "kernel"},
	{"governor", "frequency governor"},
	{"cpus", "number of CPUs"},
};

const size_t profile_nr_facts = sizeof(profile_facts) / sizeof(*profile_facts);

static bool
facts_are_current(const json_t *found, const json_t *now)
{
	for (size_t i = 0; i < profile_nr_facts; i++)
		if (!json_equal(json_object_get(found, profile_facts[i].key),
				json_object_get(now, profile_facts[i].key)))
			return false;
	return true;
}

/* Both are the same line of the roof, in whatever mode it was seen. */
static bool
is_same_peak(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"kind",   "name",           "operation", "border",
					   "access", "instructionSet", "threads"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return true;
}

/* What is better is larger, also of latencies. */
struct reached {
	double value, low, high;
};

static struct reached
reached_by(const json_t *peak)
{
	const json_t *estimate = json_object_get(peak, "perCycle");
	struct reached r;

	if (isnan(json_number_at(estimate, "value")))
		estimate = json_object_get(peak, "perSecond");
	r = (struct reached){json_number_at(estimate, "value"), json_number_at(estimate, "low"),
			     json_number_at(estimate, "high")};
	r.low = isnan(r.low) ? r.value : r.low;
	r.high = isnan(r.high) ? r.value : r.high;
	return strcmp(json_text_at(peak, "kind"), "latency") == 0 ? (struct reached){-r.value, -r.high, -r.low} : r;
}

/* The best of the peak's modes; NaN if none has a value. */
static struct reached
best_of(const json_t *peaks, const json_t *peak)
{
	struct reached best = {NAN, NAN, NAN};
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other)
	{
		struct reached r = reached_by(other);

		if (is_same_peak(other, peak) && !(r.value <= best.value) && !isnan(r.value))
			best = r;
	}
	return best;
}

static bool
was_quick(const json_t *peak)
{
	return strcmp(json_text_at(peak, "search"), "quick") == 0;
}

static bool
is_of_conditions(const json_t *peak, const json_t *conditions)
{
	json_int_t found_at = json_integer_value(json_object_get(peak, "foundAt"));

	return time(NULL) - (time_t)found_at < (time_t)PROFILE_MAX_AGE_DAYS * 86400 &&
	       facts_are_current(json_object_get(peak, "foundOn"), conditions);
}

/* More than a processor can do is a mistake, and not to be kept. */
static bool
is_above_limit(const json_t *peak)
{
	return json_number_at(json_object_get(peak, "perCycle"), "value") >
	       (1 + LIMIT_EXCEEDED) * json_number_at(peak, "limitPerCycle");
}

/* Is there one of the peak like that? conditions NULL: any. */
static bool
has(const json_t *peaks, const json_t *peak, bool is_full, const json_t *conditions)
{
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other)
	{
		if (is_same_peak(other, peak) && (!is_full || !was_quick(other)) &&
		    (!conditions || (is_of_conditions(other, conditions) && !is_above_limit(other))))
			return true;
	}
	return false;
}

/*
 * May what was found now under these conditions replace what is kept of that peak? What was reached once can be
 * reached: a search that comes to clearly less was disturbed.
 */
static bool
may_replace(const json_t *found, const json_t *kept, const json_t *peak, const json_t *conditions)
{
	struct reached now = best_of(found, peak), before = best_of(kept, peak);

	if (!has(kept, peak, false, conditions))
		return true;
	if (before.low > now.high)
		return false;
	return has(found, peak, true, NULL) || !has(kept, peak, true, conditions) || now.value > before.value;
}

static bool
holds_same(const json_t *peaks, const json_t *peak)
{
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other)
	{
		if (is_same_peak(other, peak))
			return true;
	}
	return false;
}

static void
append_same(json_t *all, const json_t *peaks, const json_t *peak)
{
	size_t i;
	json_t *other;

	json_array_foreach(peaks, i, other)
	{
		if (is_same_peak(other, peak))
			json_array_append(all, other);
	}
}

json_t *
profile_merge(const json_t *found, const json_t *kept, const json_t *conditions)
{
	const json_t *const both[] = {kept, found};
	json_t *all = json_array(), *peak;
	size_t i;

	for (size_t k = 0; k < 2; k++) {
		json_array_foreach(both[k], i, peak)
		{
			bool is_new = holds_same(found, peak) && may_replace(found, kept, peak, conditions);

			if (!holds_same(all, peak))
				append_same(all, is_new || k == 1 ? found : kept, peak);
		}
	}
	return all;
}
