/* SPDX-License-Identifier: MIT */
/* Rooflines as text, against golden files; and where they are narrow, empty or without ceilings. */
#include "base/text_table.h"
#include "plots/roofline_text.h"
#include "testing.h"

static const struct roofline_ceiling ceilings[] = {
	{"AVX-512 FMA", false, 120, 119, 121, "120 Gflop/s", true, 0},
	{"scalar FMA", false, 15, NAN, NAN, "15 Gflop/s", false, 0},
	{"scalar ADD", false, 14.5, NAN, NAN, "14.5 Gflop/s", false, 0}, /* in the same row: there is room for both */
	{"L1 load", true, 480, NAN, NAN, "480 GB/s", false, 0},
	{"memory load", true, 40, NAN, NAN, "40 GB/s", true, 0},
};

static struct plot_point
point(double x, double y, const char *label)
{
	return (struct plot_point){.x = summary_single(x, "given"),
				   .y = summary_single(y, "given"),
				   .label = label,
				   .is_labelled = label != NULL,
				   .size = NAN};
}

static struct roofline_plot
example(void)
{
	static struct plot_point triad[3], warm[2], model[1];
	static const struct plot_series series[] = {
		{.name = "Triad", .points = triad, .nr_points = NR_ELEMENTS(triad), .style = PLOT_JOINED},
		{.name = "warm", .points = warm, .nr_points = NR_ELEMENTS(warm), .style = PLOT_JOINED},
		{.name = "a model", .points = model, .nr_points = NR_ELEMENTS(model), .style = PLOT_MODEL}};

	triad[0] = point(0.08, 2, "1000");
	triad[1] = point(0.09, 2.5, NULL);
	triad[2] = point(0.1, 3, "100000");
	warm[0] = point(INFINITY, 20, "warm"); /* at the right edge */
	warm[1] = point(NAN, 20, "nowhere");
	model[0] = point(1, 20, "never");
	return (struct roofline_plot){.frame = {.title = "A title",
						.caption = "a machine\na note that is longer than a narrow "
							   "terminal is wide, as notes on runs, clocks and roofs are",
						.x = {"Operational intensity", "flop/byte", true, NAN, NAN},
						.y = {"Performance", "Gflop/s", true, NAN, NAN},
						.key_position = "auto"},
				      .ceilings = ceilings,
				      .nr_ceilings = NR_ELEMENTS(ceilings),
				      .series = series,
				      .nr_series = NR_ELEMENTS(series)};
}

/* Fresh memory. */
static char *
print(const struct roofline_plot *plot, size_t columns, bool is_utf8)
{
	const struct roofline_text_options options = {columns, is_utf8};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	roofline_text_print(plot, &options, out);
	fclose(out);
	return text;
}

static const struct {
	size_t columns;
	bool is_utf8;
	const char *golden;
} looks[] = {{90, true, "tests/driver/plots/golden/roofline-utf8.txt"},
	     {90, false, "tests/driver/plots/golden/roofline-ascii.txt"},
	     {10, true, "tests/driver/plots/golden/roofline-narrow.txt"}};

TEST_OF(looks_are_golden, NR_ELEMENTS(looks))
{
	const struct roofline_plot plot = example();
	autofree char *text = print(&plot, looks[_i].columns, looks[_i].is_utf8);

	expect_golden(looks[_i].golden, text);
}

/* Whatever the width, no line is longer, and none ends with a blank. */
TEST_OF(lines_fit, 2)
{
	const struct roofline_plot plot = example();

	for (size_t columns = 48; columns < 250; columns += 7) {
		char *text = print(&plot, columns, _i == 0), *rest = NULL;

		for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			ck_assert_uint_le(text_width(line), columns);
			ck_assert_int_ne(line[strlen(line) - 1], ' ');
		}
		free(text);
	}
}

/* Without ceilings, without points, without both: axes at least. */
TEST_OF(little_is_drawn_too, 4)
{
	struct roofline_plot plot = example();
	autofree char *text = NULL;

	plot.nr_ceilings = _i & 1 ? plot.nr_ceilings : 0;
	plot.nr_series = _i & 2 ? plot.nr_series : 0;
	text = print(&plot, 80, true);
	ck_assert_has(text, "└");
	ck_assert_int_eq(strstr(text, "a L1 load 480 GB/s") != NULL, _i & 1);
	ck_assert_int_eq(strstr(text, "● Triad") != NULL, (_i & 2) != 0);
	ck_assert_lacks(text, "model");
}

/* More bandwidths than letters: the others are drawn without. */
TEST(letters_run_out)
{
	struct roofline_ceiling many[40];
	struct roofline_plot plot = example();
	autofree char *text = NULL;

	for (size_t i = 0; i < NR_ELEMENTS(many); i++) {
		many[i] = ceilings[3];
		many[i].value = 480 / (1 + 0.1 * (double)i);
	}
	plot.ceilings = many;
	plot.nr_ceilings = NR_ELEMENTS(many);
	text = print(&plot, 100, true);
	ck_assert_has(text, "z L1 load");
	ck_assert_lacks(text, "{ L1 load");
}
