/* SPDX-License-Identifier: MIT */
/*
 * Merging what a search found into a profile: arrays of peaks as JSON (peak_json.h), each with the facts it was found
 * under as "foundOn". Pure.
 */
#ifndef PEAKS_PROFILE_MERGE_H
#define PEAKS_PROFILE_MERGE_H

#include <jansson.h>
#include <stdbool.h>

/* What a change of makes a peak stale. Sizes of caches are not among them: where they are measured, they vary. */
struct profile_fact {
	const char *key, *words;
};
extern const struct profile_fact profile_facts[];
extern const size_t profile_nr_facts;

/*
 * The peaks as they will be in the file: new ones in the place of those that they replace, or at the end; those that
 * were not looked for stay. conditions: the facts that found was found under. New reference.
 */
json_t *profile_merge(const json_t *found, const json_t *kept, const json_t *conditions);

#endif
