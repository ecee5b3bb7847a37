/* SPDX-License-Identifier: MIT */
/* The profile, or a quick search. */
#include "roof/roof.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "memory.h"
#include "number.h"
#include "roof/find.h"
#include "roof/peak.h"
#include "roof/profile.h"
#include "rot.h"

/* Are there lines in both directions? */
static bool
is_roof_of(const struct peak_list *list, const char *operation)
{
	bool has_performance = false, has_bandwidth = false;

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];

		has_performance = has_performance || (peak->kind == PEAK_PERFORMANCE &&
						      (!operation || strcmp(peak->operation, operation) == 0));
		has_bandwidth = has_bandwidth || peak->kind == PEAK_BANDWIDTH;
	}
	return has_performance && has_bandwidth;
}

/* A profile that cannot be read is as if it were not there, with a warning. The result: how old the file is. */
static double
load(struct rot *rot, struct peak_list *list, bool is_told)
{
	struct profile_state state;
	struct rot_error why = {0};

	if (profile_load(rot, list, &state, &why) < 0)
		rot_warning("%s", why.text);
	else if (is_told && state.message[0] && (state.match != PROFILE_FOREIGN || !rot->is_cached_only))
		rot_warning("%s", state.message);
	return state.age_s;
}

/* No wishes: all that is not rare. An interrupted search is not kept: what it did not come to would never be looked
 * for.
 */
static int
find_quickly(struct rot *rot, const struct peak_wish *wishes, size_t nr_wishes, struct rot_error *err)
{
	const int threads[] = {1, peaks_max_threads()};
	const struct peaks_options options = {
		.strategy = SEARCH_QUICK,
		.threads = threads,
		.nr_threads = threads[1] > 1 ? 2 : 1,
		.wishes = wishes,
		.nr_wishes = nr_wishes,
	};
	struct peak_list found = {.nr = 0};
	struct rot_error why = {0};
	int rc;

	rc = peaks_find(rot, &options, &found, &why);
	if (rc < 0 && rot_interrupted()) {
		if (err)
			*err = why;
	} else {
		if (rc < 0)
			rot_warning("not all peaks of this machine were found: %s", why.text);
		peaks_set_limits(rot, &found, NULL);
		if (found.nr > 0 && profile_store(rot, &found, &why) < 0)
			rot_warning("%s%s%s", why.text, why.hint[0] ? "; " : "", why.hint);
		rc = 0;
	}
	peak_list_clear(&found);
	return rc;
}

/* ---- what is in doubt ---- */

/* Far more than peaks of one machine differ by for a reason: loads and copies by 1.4, searches in turns by 1.1. */
#define FAR_BELOW 0.5

/* Must the peak reach what the other one does? */
static bool
is_bound_for(const struct peak *peak, const struct peak *other)
{
	if (other->kind != PEAK_BANDWIDTH || other->nr_threads != peak->nr_threads)
		return false;
	if (strcmp(other->access, peak->access) == 0)
		return border_order(other->border) > border_order(peak->border);
	return strcmp(peak->access, "load") == 0 && border_order(other->border) == border_order(peak->border);
}

bool
peak_is_doubtful(const struct peak_list *list, const struct peak *peak)
{
	const double reached = peak->per_cycle.value;

	if (peak->kind == PEAK_LATENCY)
		return false;
	if ((peak->nr_tainted > 0 && peak->nr_tainted >= peak->nr_samples && isnan(peak->per_cycle.low)) ||
	    (!peak_is_of_memory(peak) && reached < FAR_BELOW * peak->limit_per_cycle))
		return true;
	if (peak->kind != PEAK_BANDWIDTH)
		return false;
	for (size_t i = 0; i < list->nr; i++)
		if (is_bound_for(peak, &list->peaks[i]) && reached < FAR_BELOW * list->peaks[i].per_cycle.value)
			return true;
	return false;
}

/* Doubtful peaks of quick searches, as wishes with the strings of the list. Free the array. */
static size_t
doubtful_of(const struct peak_list *list, struct peak_wish **doubtful)
{
	size_t nr = 0;

	*doubtful = rot_calloc(list->nr + 1, sizeof(**doubtful));
	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];

		if (strcmp(peak->search, "quick") == 0 && peak_is_doubtful(list, peak))
			(*doubtful)[nr++] =
				(struct peak_wish){peak->operation, peak->border, peak->access, peak->instruction_set};
	}
	return nr;
}

/* An hour after the last search, which wrote the profile, the machine may be quieter. */
#define AGAIN_AFTER_S 3600
#define MAX_REPEATS 2

/* Searches doubtful peaks again, without the results that they come from. is_told: nothing else says that it searches.
 */
static int
repeat_doubtful(struct rot *rot, struct peak_list *list, bool is_told, struct rot_error *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < MAX_REPEATS; i++) {
		autofree struct peak_wish *doubtful = NULL;
		const size_t nr = doubtful_of(list, &doubtful);

		if (nr > 0) {
			if (is_told && i == 0)
				rot_note("%zu disturbed peak%s measured again", nr, nr == 1 ? " is" : "s are");
			configuration_push(rot->configuration);
			configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false",
					  NULL);
			rc = find_quickly(rot, doubtful, nr, err);
			configuration_pop(rot->configuration);
		}
		if (nr == 0 || rc < 0)
			break;
		peak_list_clear(list);
		load(rot, list, false);
	}
	return rc;
}

int
roof_get(struct rot *rot, const char *operation, struct peak_list *list, struct rot_error *err)
{
	const double begin_s = clock_now_s();
	const double age_s = load(rot, list, true);
	bool is_new;

	if (rot->is_cached_only || !configuration_bool(rot->configuration, "findPeaks"))
		return 0;
	is_new = !is_roof_of(list, operation);
	if (is_new) {
		rot_note("a quick search finds the roof of this machine first, once (a minute or two)");
		if (find_quickly(rot, NULL, 0, err) < 0)
			return -1;
		peak_list_clear(list);
		load(rot, list, true);
	}
	if ((is_new || age_s >= AGAIN_AFTER_S) && repeat_doubtful(rot, list, !is_new, err) < 0)
		return -1;
	if (is_new)
		rot_note("the roof is known now, and kept (%.0f s); 'rot peaks' searches thoroughly",
			 clock_now_s() - begin_s);
	return 0;
}

static bool
is_there(const struct peak_list *list, const struct peak_wish *wish)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];

		if (peak_wish_is(wish, peak->operation, peak->border, peak->access, peak->instruction_set))
			return true;
	}
	return false;
}

int
roof_complete(struct rot *rot, const struct peak_wish *wishes, size_t nr_wishes, struct peak_list *list,
	      struct rot_error *err)
{
	autofree struct peak_wish *missing = rot_calloc(nr_wishes + 1, sizeof(*missing));
	size_t nr = 0;
	int rc = 0;

	for (size_t i = 0; i < nr_wishes; i++)
		if (!is_there(list, &wishes[i]))
			missing[nr++] = wishes[i];
	if (nr > 0 && !rot->is_cached_only && configuration_bool(rot->configuration, "findPeaks")) {
		rot_note("%zu of the peaks that are needed %s not known yet: a quick search finds %s first, once", nr,
			 nr == 1 ? "is" : "are", nr == 1 ? "it" : "them");
		rc = find_quickly(rot, missing, nr, err);
		if (rc == 0) {
			peak_list_clear(list);
			load(rot, list, false);
		}
	}
	for (size_t i = 0; rc == 0 && i < nr && !rot->is_cached_only; i++)
		if (!is_there(list, &missing[i]))
			rot_warning("no peak '%s'%s%s of %s is known", missing[i].access,
				    missing[i].instruction_set[0] ? " with " : "", missing[i].instruction_set,
				    missing[i].operation[0] ? missing[i].operation : missing[i].border);
	return rc;
}

int
roof_nr_threads(const struct peak_list *list, double nr_cpus)
{
	int least = 0, largest = 0;

	for (size_t i = 0; i < list->nr; i++) {
		int nr = list->peaks[i].nr_threads;

		if (nr >= nr_cpus && (least == 0 || nr < least))
			least = nr;
		largest = nr > largest ? nr : largest;
	}
	return least ? least : largest;
}

char *
roof_note(const struct peak_list *list, int nr_threads, bool is_per_cycle)
{
	const bool is_of_one = is_per_cycle && nr_threads > 1;
	double low = NAN, high = NAN;
	bool is_quick = false;
	time_t oldest = 0;
	struct tm day;
	char date[32] = "", clock[64] = "";

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];

		if (peak->nr_threads != nr_threads || peak->kind == PEAK_LATENCY)
			continue;
		low = fmin(low, peak->clock_hz / 1e9); /* of a number and NaN, the number */
		high = fmax(high, peak->clock_hz / 1e9);
		is_quick = is_quick || strcmp(peak->search, "quick") == 0;
		if (peak->found_at > 0 && (oldest == 0 || peak->found_at < oldest))
			oldest = (time_t)peak->found_at;
	}
	if (oldest > 0 && gmtime_r(&oldest, &day))
		strftime(date, sizeof(date), ", found %Y-%m-%d", &day);
	if (high - low >= 0.05)
		snprintf(clock, sizeof(clock), " at %.1f to %.1f GHz", low, high);
	else if (!isnan(low))
		snprintf(clock, sizeof(clock), " at %.2f GHz", (low + high) / 2);
	return rot_format("ceilings of %d thread%s%s%s%s%s%s", nr_threads, rot_plural((double)nr_threads),
			  is_of_one ? ", per cycle of one" : "", is_of_one && clock[0] ? "," : "", clock, date,
			  is_quick ? " (quick search)" : "");
}
