/* SPDX-License-Identifier: MIT */
/* See lines_crossed.h. */
#include "lines_crossed.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(STEP_L1_FILLS + MEMORY_WRITES == STEP_MEMORY_WRITES, "the counts of caches follow each other");

struct crossed
crossed_of(const struct cache_model *model)
{
	uint64_t counts[STEP_NR_COUNTS] = {0};
	struct crossed crossed;

	cache_model_add_counts(model, counts);
	for (int i = 0; i < STEP_NR_COUNTS; i++)
		if (counts[i] && (i < STEP_L1_FILLS || i > STEP_MEMORY_WRITES) && i != STEP_TLB_MISSES)
			ck_abort_msg("count %d is not of caches", i);
	memcpy(crossed.lines, counts + STEP_L1_FILLS, sizeof(crossed.lines));
	return crossed;
}

static void
write_crossed(char text[], size_t size, const struct crossed *crossed)
{
	size_t nr = 0;

	for (int i = 0; i <= MEMORY_WRITES; i++)
		nr += (size_t)snprintf(text + nr, size - nr, " %llu", (unsigned long long)crossed->lines[i]);
}

void
expect_crossed(const struct cache_model *model, const struct crossed *expected, const char *format, ...)
{
	const struct crossed got = crossed_of(model);
	char got_text[200], expected_text[200], where[200];
	va_list arguments;

	if (memcmp(&got, expected, sizeof(got)) == 0)
		return;
	va_start(arguments, format);
	vsnprintf(where, sizeof(where), format, arguments);
	va_end(arguments);
	write_crossed(got_text, sizeof(got_text), &got);
	write_crossed(expected_text, sizeof(expected_text), expected);
	ck_abort_msg("%s:%s instead of%s", where, got_text, expected_text);
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t
random_below(uint64_t *state, uint64_t limit)
{
	return next_random(state) % limit;
}
