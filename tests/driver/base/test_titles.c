/* SPDX-License-Identifier: MIT */
/* Texts of trips. */
#include "base/titles.h"

#include "memory.h"
#include "testing.h"

static const struct {
	size_t first, last;
	const char *text;
} trips[] = {
	{0, 0, "1"},           {0, 3, "1-15"}, {5, 5, "32-63"}, {18, 18, "262144-524287"}, {19, 19, "524288 and more"},
	{4, 19, "16 and more"}};

TEST_OF(turns_of_entries, NR_ELEMENTS(trips))
{
	autofree char *text = trips_text(trips[_i].first, trips[_i].last);

	ck_assert_str_eq(text, trips[_i].text);
}
