/* SPDX-License-Identifier: MIT */
/* "rot run" on a program of known work, with this machine's counters: in total and by thread. */
#include "json_schema.h"
#include "machine/machine.h"
#include "testing.h"

#define NR_ADDITIONS 20000000.0
#define TOLERANCE 1e-3 /* what the C library does besides */

/* The JSON of a run with that option. */
static json_t *
run(const char *option)
{
	char *folder = temporary_folder_new(), *rot = built_path("driver/rot");
	char *command = rot_format("XDG_CACHE_HOME='%s' '%s' run -q %s -j '%s/x.json' '%s' %.0f", folder, rot, option,
				   folder, built_path("tests/driver/programs/known_work"), NR_ADDITIONS);
	char *path = rot_format("%s/x.json", folder);
	json_t *json;

	ck_assert_int_eq(system(command), 0);
	json = json_file(path);
	free(path);
	free(command);
	return json;
}

/* Operations of a point, of all precisions; NaN if they are not counted on this processor. */
static double
operations(const json_t *json, size_t point)
{
	const json_t *quantities =
		json_object_get(json_array_get(json_object_get(json, "points"), point), "quantities");
	const json_t *quantity;
	size_t i;

	json_array_foreach(quantities, i, quantity) {
		if (strcmp(json_string_value(json_object_get(quantity, "name")), "operationCount") == 0 &&
		    strcmp(json_string_value(json_object_get(quantity, "of")), "flop") == 0)
			return json_number_value(json_object_get(quantity, "value"));
	}
	return NAN;
}

/* The first points: the total, then threads with half of the work each. The last one that is wrong, or -1. */
static int
wrong_point(const char *option, size_t nr_points, double *counted)
{
	json_t *json = run(option);
	int wrong = -1;

	ck_assert_uint_ge(json_array_size(json_object_get(json, "points")), nr_points);
	for (size_t i = 0; i < nr_points; i++) {
		double count = operations(json, i), expected = i == 0 ? 2 * NR_ADDITIONS : NR_ADDITIONS;

		if (isnan(count) || fabs(count - expected) <= expected * TOLERANCE)
			continue;
		wrong = (int)i;
		*counted = count;
	}
	return wrong;
}

/* Programs that count on the same CPU meanwhile can disturb a count: all has to be right once. */
static void
check_points(const char *option, size_t nr_points)
{
	double counted = NAN;
	int wrong = 0;

	for (int attempt = 0; attempt < 5 && wrong >= 0; attempt++)
		wrong = wrong_point(option, nr_points, &counted);
	ck_assert_msg(wrong < 0, "point %d: %.0f operations", wrong, counted);
}

TEST(operations_in_total)
{
	check_points("", 1);
}

TEST(operations_by_thread)
{
	check_points("-t", 3);
}

static bool
can_count(void)
{
	const bool can = machine_can_count(&why);

	if (!can)
		fprintf(stderr, "SKIP: %s\n", why.text);
	return can;
}

UNIT_TESTS(.needs = {can_count});
