/* SPDX-License-Identifier: MIT */
/*
 * Finds pages whose lines lie in the same sets of a cache, whatever chooses the set: they are those that drive each
 * other out. Of so many that they drive a page out, pages are taken away as long as they still do (Vila, Koepf and
 * Morales, "Theory and practice of finding eviction sets", IEEE Symposium on Security and Privacy, 2019).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CONFLICTS_POOL 2048 /* pages */
#define CONFLICTS_BYTES (4096 * CONFLICTS_POOL)
#define CONFLICTS_BEGIN 1024 /* with fewer pages, all are soon tried */
#define CONFLICTS_MAX_WAYS 40
#define CONFLICTS_MOST 64     /* that are asked for */
#define CONFLICTS_ATTEMPTS 40 /* a cache may keep some pages, which are used again, from so many others */
#define CONFLICTS_PASSES 4
#define CONFLICTS_TESTS 600 /* of an attempt: others may disturb it */

/* Does following the pages drive the victim out of the cache? */
typedef bool (*conflicts_test)(void *context, uint32_t victim, const uint32_t *pages, uint32_t nr);

/* Takes away all that is not needed. Returns how many are left; 0: it went wrong. */
static uint32_t
conflicts_reduce(conflicts_test evicts, void *context, uint32_t victim, uint32_t *pages, uint32_t nr)
{
	uint32_t rest[CONFLICTS_POOL], nr_tests = 0;
	bool is_smaller = true;

	for (uint32_t chunk = nr / 4; chunk > 1 || is_smaller; chunk = chunk > 1 ? chunk / 2 : 1) {
		is_smaller = false;
		for (uint32_t at = 0; at < nr;) {
			const uint32_t size = chunk < nr - at ? chunk : nr - at;

			memcpy(rest, pages, at * sizeof(*rest));
			memcpy(rest + at, pages + at + size, (nr - at - size) * sizeof(*rest));
			if (++nr_tests > CONFLICTS_TESTS)
				return 0;
			if (!evicts(context, victim, rest, nr - size)) {
				at += size;
				continue;
			}
			nr -= size;
			memcpy(pages, rest, nr * sizeof(*rest));
			is_smaller = true;
		}
	}
	return nr <= CONFLICTS_MAX_WAYS && evicts(context, victim, pages, nr) ? nr : 0;
}

/* Three tests agree. */
static bool
conflicts_surely(conflicts_test evicts, void *context, uint32_t victim, const uint32_t *pages, uint32_t nr)
{
	for (int i = 0; i < 3; i++)
		if (!evicts(context, victim, pages, nr))
			return false;
	return true;
}

/* Each of them is driven out by the others and the victim. */
static bool
conflicts_are_mutual(conflicts_test evicts, void *context, uint32_t victim, uint32_t *pages, uint32_t nr)
{
	bool are = true;

	for (uint32_t i = 0; i < nr && are; i++) {
		const uint32_t page = pages[i];

		pages[i] = victim;
		are = conflicts_surely(evicts, context, page, pages, nr);
		pages[i] = page;
	}
	return are;
}

/* Fills found with wanted pages of the same sets, at most CONFLICTS_MOST. False: none were found, as others disturbed
 * it. */
static bool
conflicts_find(conflicts_test evicts, void *context, uint32_t *found, uint32_t wanted)
{
	for (uint32_t victim = 0; victim < CONFLICTS_ATTEMPTS; victim++) {
		uint32_t pages[CONFLICTS_POOL], nr, nr_found = 1;

		for (nr = 0; nr < CONFLICTS_BEGIN; nr++)
			pages[nr] = CONFLICTS_ATTEMPTS + nr;
		if (!evicts(context, victim, pages, nr))
			continue;
		/* A test that was disturbed may have left one that is not needed. */
		for (int i = 0; i < CONFLICTS_PASSES && nr > 0; i++)
			nr = conflicts_reduce(evicts, context, victim, pages, nr);
		if (nr < 2 || !conflicts_are_mutual(evicts, context, victim, pages, nr))
			continue;
		found[0] = victim;
		for (uint32_t i = 0; i < nr && nr_found < wanted; i++)
			found[nr_found++] = pages[i];
		for (uint32_t page = CONFLICTS_ATTEMPTS; page < CONFLICTS_POOL && nr_found < wanted; page++) {
			bool is_new = true;

			for (uint32_t i = 0; i < nr; i++)
				is_new = is_new && pages[i] != page;
			if (is_new && conflicts_surely(evicts, context, page, pages, nr))
				found[nr_found++] = page;
		}
		if (nr_found == wanted)
			return true;
	}
	return false;
}
