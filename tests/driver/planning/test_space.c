/* SPDX-License-Identifier: MIT */
/* Parameter spaces: which points, in which order, and what is refused. */
#include "number.h"
#include "planning/space.h"
#include "testing.h"

static struct pool pool; /* of a test, which is a process of its own */

/* "a=1 b=x; a=1 b=y": all points as a text. */
static const char *
points_text(const struct point *points, size_t nr)
{
	char *all = pool_strdup(&pool, "");

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < points[i].nr_coordinates; j++) {
			const struct coordinate *c = &points[i].coordinates[j];

			all = pool_format(&pool, "%s%s%s=%s", all, j ? " " : i ? "; " : "", c->axis, c->text);
		}
	return all;
}

static void
assert_points(struct space *space, const char *expected)
{
	struct point *points;
	size_t nr;

	ck_assert_ok(space_points(space, NULL, &points, &nr, &why));
	ck_assert_str_eq(points_text(points, nr), expected);
}

static struct space *
space_with(const char *axis)
{
	struct space *space = space_new(&pool);

	ck_assert_int_eq(space_add_axis(space, axis, NULL), 0);
	return space;
}

TEST(no_axis_is_one_point)
{
	struct space *space = space_new(&pool);
	struct point *points;
	size_t nr;

	ck_assert_int_eq(space_points(space, NULL, &points, &nr, NULL), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(points[0].nr_coordinates, 0);
}

static const struct {
	const char *from, *to, *step, *expected;
	bool is_geometric;
} progressions[] = {
	{"10000", "30000", "10000", "n=10000; n=20000; n=30000", false},
	{"1", "2", "0.4", "n=1; n=1.4; n=1.8", false},
	{"0", "0.3", "0.1", "n=0; n=0.1; n=0.2; n=0.30000000000000004", false},
	{"3", "1", "-1", "n=3; n=2; n=1", false},
	{"5", "5", "1", "n=5", false},
	{"1", "8", "2", "n=1; n=2; n=4; n=8", true},
	{"100", "1", "0.1", "n=100; n=10; n=1", true},
	{"500", "4000", "2", "n=500; n=1000; n=2000; n=4000", true},
	{"{2 + 2}", "{5 + 1}", "{1}", "n=4; n=5; n=6", false},
};

TEST_OF(progression, NR_ELEMENTS(progressions))
{
	struct space *space = space_with("n");

	space_add_values(space, progressions[_i].is_geometric ? SPACE_GEOMETRIC : SPACE_RANGE,
			 (const char *[3]){progressions[_i].from, progressions[_i].to, progressions[_i].step}, NULL,
			 NULL);
	assert_points(space, progressions[_i].expected);
}

TEST(first_axis_is_slowest)
{
	struct space *space = space_with("a");

	space_add_values(space, SPACE_LIST, (const char *[3]){" 1\t2 "}, NULL, NULL);
	space_add_axis(space, "b", NULL);
	space_add_values(space, SPACE_VALUE, (const char *[3]){"x y"}, NULL, NULL);
	space_add_values(space, SPACE_VALUE, (const char *[3]){"z"}, NULL, NULL);
	assert_points(space, "a=1 b=x y; a=1 b=z; a=2 b=x y; a=2 b=z");
}

TEST(later_axes_depend_on_earlier_ones)
{
	struct space *space = space_with("a");

	space_add_values(space, SPACE_LIST, (const char *[3]){"1 2 3"}, NULL, NULL);
	space_add_axis(space, "b", NULL);
	space_add_values(space, SPACE_RANGE, (const char *[3]){"1", "{$a}", "1"}, NULL, NULL);
	space_add_axis(space, "c", NULL);
	space_add_values(space, SPACE_VALUE, (const char *[3]){"odd"}, "$b mod 2 = 1", NULL);
	space_add_values(space, SPACE_VALUE, (const char *[3]){"even"}, "$b mod 2 = 0", NULL);
	space_add_skip(space, "$a = 2 and $c = 'odd'", NULL);
	assert_points(space, "a=1 b=1 c=odd; a=2 b=2 c=even; a=3 b=1 c=odd; a=3 b=2 c=even; a=3 b=3 c=odd");
}

TEST(coordinates_are_found)
{
	struct space *space = space_with("a");
	struct point *points;
	size_t nr;

	space_add_values(space, SPACE_LIST, (const char *[3]){"1 2"}, NULL, NULL);
	space_add_axis(space, "b", NULL);
	space_add_values(space, SPACE_LIST, (const char *[3]){"x y"}, NULL, NULL);
	ck_assert_int_eq(space_points(space, NULL, &points, &nr, NULL), 0);
	ck_assert_ptr_null(point_coordinate(&points[0], "c"));
	ck_assert_double_eq(point_coordinate(&points[3], "a")->number, 2);
	ck_assert(isnan(point_coordinate(&points[3], "b")->number));
}

/* Values of axis n, after an axis a with the value 1; what the message must hold. */
static const struct {
	const char *from, *to, *step, *message;
	bool is_geometric;
} refusals[] = {
	{"1", "5", "0", "f.xml:3: axis 'n': step is 0", false},
	{"5", "1", "1", "has no value", false},
	{"1", "1e9", "1", "more than 1000000 values", false},
	{"x", "5", "1", "from is 'x', which is no number", false},
	{"1", "{$n}", "1", "f.xml:3: axis 'n': to: ", false},
	{"1", "{1 div 0}", "1", "f.xml:3: axis 'n': to: ", false},
	{"0", "8", "2", "same sign", true},
	{"1", "8", "1", "not 1", true},
	{"1", "8", "0.5", "has no value", true},
};

TEST_OF(refused, NR_ELEMENTS(refusals))
{
	struct space *space = space_with("a");
	struct point *points;
	size_t nr;

	space_add_values(space, SPACE_LIST, (const char *[3]){"1"}, NULL, NULL);
	space_add_axis(space, "n", NULL);
	space_add_values(space, refusals[_i].is_geometric ? SPACE_GEOMETRIC : SPACE_RANGE,
			 (const char *[3]){refusals[_i].from, refusals[_i].to, refusals[_i].step}, NULL, "f.xml:3");
	ck_assert_int_eq(space_points(space, NULL, &points, &nr, &why), -1);
	ck_assert_has(why.text, refusals[_i].message);
}

TEST(nothing_left_or_too_much)
{
	struct space *space = space_with("a");
	struct point *points;
	size_t nr;

	ck_assert_int_eq(space_add_axis(space, "a", &why), -1);
	space_add_values(space, SPACE_RANGE, (const char *[3]){"1", "2000", "1"}, NULL, NULL);
	space_add_axis(space, "b", NULL);
	space_add_values(space, SPACE_RANGE, (const char *[3]){"1", "501", "1"}, NULL, NULL);
	ck_assert_int_eq(space_points(space, NULL, &points, &nr, &why), -1);
	ck_assert_has(why.text, "span more than 1000000");
	space = space_with("a");
	space_add_values(space, SPACE_LIST, (const char *[3]){"1 2"}, NULL, NULL);
	space_add_skip(space, "$a > 0", "f.xml:9");
	ck_assert_int_eq(space_points(space, NULL, &points, &nr, &why), -1);
	ck_assert_str_eq(why.text, "no point to measure is left");
	space_add_skip(space, "$b > 0", "f.xml:10");
	space_add_axis(space, "c", NULL);
	space_add_values(space, SPACE_LIST, (const char *[3]){"{"}, NULL, "f.xml:11");
	ck_assert_int_eq(space_points(space, NULL, &points, &nr, &why), -1);
	ck_assert_has(why.text, "f.xml:11: axis 'c'");
}

TEST(numbers_read_back)
{
	static const double numbers[] = {0, -0.0, 1, -3, 0.1, 1e15, 1e-300, 123456789012, 1.0 / 3, 1e300};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		autofree char *text = rot_number_in_full(numbers[i]);

		ck_assert_double_eq(strtod(text, NULL), numbers[i]);
	}
}
