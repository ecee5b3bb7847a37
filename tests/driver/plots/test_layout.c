/* SPDX-License-Identifier: MIT */
/* Geometry of plots: ranges, ticks, labels that do not overlap. */
#include "plots/layout.h"
#include "testing.h"

static const struct plot_axis automatic_log = {"x", "", true, NAN, NAN};
static const struct plot_axis automatic_linear = {"x", "", false, NAN, NAN};

TEST(positions_are_points_from_the_edge)
{
	struct layout_axis logarithmic = {.is_log = true, .low = 0.01, .high = 1000, .length = 400},
			   linear = {.is_log = false, .low = -5, .high = 20, .length = 300};

	ck_assert_double_eq_tol(layout_position(&logarithmic, 0.01), 0, 1e-9);
	ck_assert_double_eq_tol(layout_position(&logarithmic, 1), 160, 1e-9);
	ck_assert_double_eq_tol(layout_position(&logarithmic, 1000), 400, 1e-9);
	ck_assert(!isfinite(layout_position(&logarithmic, 0)));
	ck_assert_double_eq_tol(layout_position(&linear, -5), 0, 1e-9);
	ck_assert_double_eq_tol(layout_position(&linear, 7.5), 150, 1e-9);
	ck_assert_double_eq_tol(layout_position(&linear, 20), 300, 1e-9);
}

TEST(what_has_no_place_is_at_an_end)
{
	struct layout_axis logarithmic = {.is_log = true, .low = 0.01, .high = 1000, .length = 400},
			   linear = {.is_log = false, .low = -5, .high = 20, .length = 300};

	ck_assert_int_eq(layout_end_of(&linear, INFINITY), LAYOUT_HIGH_END);
	ck_assert_int_eq(layout_end_of(&linear, -INFINITY), LAYOUT_NO_END);
	ck_assert_int_eq(layout_end_of(&linear, 0), LAYOUT_NO_END);
	ck_assert_int_eq(layout_end_of(&logarithmic, INFINITY), LAYOUT_HIGH_END);
	ck_assert_int_eq(layout_end_of(&logarithmic, 0), LAYOUT_LOW_END);
	ck_assert_int_eq(layout_end_of(&logarithmic, 1e-300), LAYOUT_NO_END);
}

TEST(range_shows_all_usable_values)
{
	double values[] = {NAN, 3, INFINITY, -2, 50, 0};
	struct layout_axis log_range = layout_range(&automatic_log, values, 6, 100);
	struct layout_axis linear_range = layout_range(&automatic_linear, values, 6, 100);

	ck_assert(log_range.low > 0 && log_range.low < 3 && log_range.high > 50);
	ck_assert(linear_range.low < -2 && linear_range.high > 50);
}

TEST(range_keeps_the_sides_that_are_given)
{
	struct plot_axis axis = {"x", "", true, 0.5, NAN};
	double values[] = {3, 50};
	struct layout_axis range = layout_range(&axis, values, 2, 100);

	ck_assert_double_eq(range.low, 0.5);
	ck_assert(range.high > 50);
}

TEST(range_without_values_is_still_a_range)
{
	double values[] = {NAN, 7};

	for (int nr = 0; nr <= 2; nr++) {
		struct layout_axis range =
			layout_range(nr == 2 ? &automatic_linear : &automatic_log, values, (size_t)nr, 100);

		ck_assert(isfinite(range.low) && range.low < range.high);
	}
}

TEST(ticks_have_labels_at_powers_of_ten_or_more_often_when_short)
{
	struct layout_axis long_axis = {.is_log = true, .low = 0.01, .high = 1000, .length = 400},
			   short_axis = {.is_log = true, .low = 2, .high = 30, .length = 400};
	struct layout_axis small_axis = {.is_log = true, .low = 0.125, .high = 0.95, .length = 400};
	autofree char *wide = layout_ticks(&long_axis), *narrow = layout_ticks(&short_axis),
		      *small = layout_ticks(&small_axis);

	ck_assert_has(small, "\"0.3\" 0.3 0");
	ck_assert_has(wide, "\"100\" 100 0");
	ck_assert_has(wide, "\"\" 200 1");
	ck_assert_has(narrow, "\"2\" 2 0");
	ck_assert_has(narrow, "\"20\" 20 0");
	ck_assert_lacks(narrow, " 100 ");
}

static bool
has_tick(const char *ticks, const char *tick)
{
	return strstr(ticks, tick) != NULL;
}

/* Without any other one, and with labels where there is room. */
TEST(few_whole_values_have_the_ticks)
{
	static const double sizes[] = {512, 64, 128, 256, 64, 100000000}, halves[] = {0.5, 1, 2};
	struct layout_axis axis = layout_range(&automatic_log, sizes, 5, 400), linear;
	char *ticks;

	layout_suit_ticks(&axis, sizes, 5, true);
	ticks = layout_ticks(&axis);
	ck_assert_str_eq(ticks, "(\"64\" 64 0, \"128\" 128 0, \"256\" 256 0, \"512\" 512 0)");
	free(ticks);
	linear = layout_range(&automatic_linear, sizes, 6, 400);
	layout_suit_ticks(&linear, sizes, 6, true);
	ticks = layout_ticks(&linear);
	ck_assert_msg(has_tick(ticks, "(\"64\" 64 0, \"\" 128 0") && has_tick(ticks, "\"10⁸\" 1e+08 0"), "%s", ticks);
	free(ticks);
	layout_suit_ticks(&linear, halves, 3, true);
	ck_assert_uint_eq(linear.nr_ticks, 0);
}

TEST(whole_values_have_no_ticks_between_them)
{
	static const double threads[] = {1, 2}, many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	struct layout_axis axis = layout_range(&automatic_linear, threads, 2, 400);
	char *ticks = layout_ticks(&axis);

	ck_assert_msg(has_tick(ticks, "\"1.2\""), "%s", ticks);
	free(ticks);
	layout_suit_ticks(&axis, threads, 2, false);
	ticks = layout_ticks(&axis);
	ck_assert_str_eq(ticks, "(\"1\" 1 0, \"2\" 2 0)");
	free(ticks);
	axis = layout_range(&automatic_linear, threads, 1, 400);
	layout_suit_ticks(&axis, threads, 1, false);
	ticks = layout_ticks(&axis);
	ck_assert_msg(has_tick(ticks, "\"0.95\"") && has_tick(ticks, "\"1\""), "%s", ticks); /* else a single one */
	free(ticks);
	axis = layout_range(&automatic_linear, many, NR_ELEMENTS(many), 400);
	layout_suit_ticks(&axis, many, NR_ELEMENTS(many), true);
	ck_assert(axis.is_whole && axis.nr_ticks == 0);
}

TEST(ranges_are_widened_a_little_alone)
{
	static const double boxes[] = {1, 100}, ends[] = {0.7, 0.001, 150, 1e6, -5};
	struct layout_axis log_axis = layout_range(&automatic_log, boxes, 2, 400),
			   linear = layout_range(&automatic_linear, boxes, 2, 400);

	layout_widen(&log_axis, &automatic_log, ends, NR_ELEMENTS(ends));
	ck_assert(log_axis.low > 0.6 && log_axis.low < 0.7 && log_axis.high > 150 && log_axis.high < 170);
	ck_assert_int_eq(layout_beyond(&log_axis, 0.001), LAYOUT_LOW_END);
	ck_assert_int_eq(layout_beyond(&log_axis, 1e6), LAYOUT_HIGH_END);
	ck_assert_int_eq(layout_beyond(&log_axis, 150), LAYOUT_NO_END);
	ck_assert_int_eq(layout_beyond(&log_axis, -5), LAYOUT_LOW_END);
	layout_widen(&linear, &automatic_linear, ends, NR_ELEMENTS(ends));
	ck_assert(linear.low == 0 && linear.high < 110);
	log_axis = layout_range(&(struct plot_axis){"x", "", true, 1, 100}, boxes, 2, 400);
	layout_widen(&log_axis, &(struct plot_axis){"x", "", true, 1, 100}, ends, NR_ELEMENTS(ends));
	ck_assert(log_axis.low == 1 && log_axis.high == 100);
}

TEST(boxes_touch_only_when_they_overlap)
{
	cleared_by(layout_clear) struct layout layout = {.width = 100, .height = 100};
	struct layout_box taken = {50, 50, 20, 10, 45};

	layout_take(&layout, &taken);
	ck_assert(!layout_is_free(&layout, &(struct layout_box){50, 50, 5, 5, 0}));
	ck_assert(!layout_is_free(&layout, &(struct layout_box){56, 56, 4, 4, 0}));
	/* inside the bounding rectangle of the rotated box, but beside it */
	ck_assert(layout_is_free(&layout, &(struct layout_box){58, 42, 4, 4, 0}));
	ck_assert(layout_is_free(&layout, &(struct layout_box){80, 80, 10, 10, 0}));
	/* beyond the panel */
	ck_assert(!layout_is_free(&layout, &(struct layout_box){98, 20, 10, 10, 0}));
}

TEST(text_width_counts_characters_not_bytes)
{
	ck_assert_double_eq(layout_text_width("\xc2\xb5s"), layout_text_width("us"));
	ck_assert(layout_text_width("longer") > layout_text_width("long"));
}

TEST(ticks_of_many_digits_are_powers)
{
	autofree char *large = layout_ticks(
			      &(struct layout_axis){.is_log = true, .low = 1e5, .high = 1e13, .length = 400}),
		      *small = layout_ticks(
			      &(struct layout_axis){.is_log = true, .low = 1e-4, .high = 1e-3, .length = 400});

	ck_assert_msg(strstr(large, "\"100000\" 100000 0, ") && strstr(large, "\"10⁶\" 1e+06 0, ") &&
			      strstr(large, "\"10¹³\""),
		      "%s", large);
	ck_assert_msg(strstr(small, "\"10⁻⁴\"") && strstr(small, "\"2·10⁻⁴\"") && strstr(small, "\"0.001\""), "%s",
		      small);
}

/* The panel stays as large as it is: the picture grows. */
TEST(page_has_room_for_all_its_text)
{
	static const struct plot_series names[] = {
		{.name = "a series with quite a long name"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"},
	};
	struct plot_frame frame = {.title = "a title", .caption = "one line", .key_position = "auto"};
	struct layout_page small = layout_page_of(&frame, names, 2), more = layout_page_of(&frame, names, 5);

	ck_assert_uint_ge(small.key_columns, 2);
	ck_assert_uint_lt(small.key_columns, 5);
	ck_assert(more.height > small.height && more.title > small.title && more.bottom == small.bottom);
	frame.caption = "one\ntwo\nthree";
	more = layout_page_of(&frame, names, 2);
	ck_assert(more.height > small.height && more.bottom > small.bottom);
	ck_assert_double_eq_tol(more.top - more.bottom, LAYOUT_PANEL_HEIGHT, 1e-9);
	frame.key_position = "topLeft"; /* in the panel */
	more = layout_page_of(&frame, names, 5);
	ck_assert_double_eq_tol(more.title - more.top, small.title - small.top, 1e-9);
	frame.title = "a title\nof two lines";
	ck_assert_double_gt(layout_page_of(&frame, names, 5).title, more.title + LAYOUT_FONT);
}

/* gnuplot would make fewer columns of wide names, whose rows would reach into the title: "w" is as wide as 0.64 em. */
TEST(keys_have_no_more_columns_than_gnuplot_makes)
{
	static const struct plot_series names[] = {{.name = "mmm: MMM-OpenBlas-Threaded"}, {.name = "b"}};
	const struct plot_frame frame = {.title = "", .caption = "", .key_position = "auto"};

	layout_zoom = 1.4;
	ck_assert_uint_eq(layout_page_of(&frame, names, 2).key_columns, 1);
	layout_zoom = 1;
	ck_assert_uint_eq(layout_page_of(&frame, names, 2).key_columns, 2);
}

TEST(long_lines_are_folded)
{
	char text[] = "one two three\nfour é five six-and-seven";

	layout_fold(text, 8 * LAYOUT_SMALL_FONT * 0.58 + 1);
	ck_assert_str_eq(text, "one two\nthree\nfour é\nfive\nsix-and-seven");
	layout_fold(text, 1000);
	ck_assert_str_eq(text, "one two\nthree\nfour é\nfive\nsix-and-seven");
}
