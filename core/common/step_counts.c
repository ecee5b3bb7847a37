/* SPDX-License-Identifier: MIT */
#include "common/step_counts.h"

#include <string.h>

#include "PerfEventDefinition.h"
#include "entity.h"
#include "memory.h"

#define PREFIX "step::"

static const char *const names[] = {
#define STEP_COUNT_NAME(name, text) text,
	STEP_COUNTS(STEP_COUNT_NAME)
#undef STEP_COUNT_NAME
};

/* STEP_NR_COUNTS: none. */
static size_t
find_event(const char *definition)
{
	size_t i = 0;

	if (strncmp(definition, PREFIX, strlen(PREFIX)) != 0)
		return STEP_NR_COUNTS;
	while (i < STEP_NR_COUNTS && strcmp(definition + strlen(PREFIX), names[i]) != 0)
		i++;
	return i;
}

int
step_counts_check(const struct perf_event_measurer *measurer, struct rot_error *err)
{
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		const char *definition = perf_event_measurer_events_at(measurer, i)->definition;

		if (find_event(definition) == STEP_NR_COUNTS)
			return rot_error_set(err, 0, "steps do not count '%s'", definition);
	}
	return 0;
}

/* One of its events is first, or behind that: STEP_L1_FILLS: addresses have to be known. */
static bool
have(const struct perf_event_measurer *measurer, enum step_count first)
{
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++)
		if (find_event(perf_event_measurer_events_at(measurer, i)->definition) >= (size_t)first)
			return true;
	return false;
}

uint64_t
step_counts_of_event(const struct perf_event_measurer *measurer, size_t event, const uint64_t counts[STEP_NR_COUNTS])
{
	return counts[find_event(perf_event_measurer_events_at(measurer, event)->definition)];
}

static uint64_t
policy_of(const char *name)
{
	static const char *const policies[] = {STEP_POLICIES};
	uint64_t policy = 0;

	while (policy + 1 < sizeof(policies) / sizeof(*policies) && strcmp(name, policies[policy]) != 0)
		policy++;
	return policy;
}

struct step_caches
step_caches_of(const struct step_measurer *measurer)
{
	return (struct step_caches){
		.tlb = {measurer->tlb_entries, measurer->tlb_ways, measurer->tlb_page_bytes},
		.levels = {{measurer->l1_bytes, measurer->l1_ways},
			   {measurer->l2_bytes, measurer->l2_ways},
			   {measurer->l3_bytes, measurer->l3_ways}},
		.policies = {policy_of(measurer->l1_policy), policy_of(measurer->l2_policy),
			     policy_of(measurer->l3_policy)},
		.line_bytes = {measurer->l1_line_bytes, measurer->l2_line_bytes, measurer->l3_line_bytes},
		.are_shared = {measurer->l1_is_shared, measurer->l2_is_shared, measurer->l3_is_shared}};
}

struct step_region
step_region_of(const struct step_measurer *measurer)
{
	return (struct step_region){.caches = step_caches_of(measurer),
				    .of_all = measurer->all_threads,
				    .has_lines = have(&measurer->base, STEP_L1_FILLS),
				    .has_pages = have(&measurer->base, STEP_TLB_MISSES),
				    .goes_on = measurer->follows_warming};
}

char *
step_cut_text(const struct step_region *region)
{
	return region->cut == STEP_CUT_MEMORY
		       ? rot_format("cannot be counted, since memory of the process cannot be accessed: %s",
				    strerror((int)region->cut_errno))
		       : rot_strdup("was counted to its end");
}

const char *
step_cut_name(enum step_cut cut)
{
	static const char *const cuts[STEP_NR_CUTS] = {[STEP_WHOLE] = "none", [STEP_CUT_MEMORY] = "memory"};

	return cuts[cut];
}

void
step_region_add(struct step_region *region, const struct step_region *other)
{
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		region->counts[i] += other->counts[i];
	if (region->nr_unknown == 0) {
		region->unknown_at = other->unknown_at;
		memcpy(region->unknown_name, other->unknown_name, sizeof(region->unknown_name));
	}
	region->nr_unknown += other->nr_unknown;
	if (region->cut == STEP_WHOLE) {
		region->cut = other->cut;
		region->cut_errno = other->cut_errno;
	}
}
