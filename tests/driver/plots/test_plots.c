/* SPDX-License-Identifier: MIT */
/* Plots as files: the script says what was asked, pictures appear all together or not at all. */
#include <dirent.h>
#include <math.h>

#include "base/files.h"
#include "base/process.h"
#include "plots/gnuplot.h"
#include "plots/plot.h"
#include "plots/points.h"
#include "plots/roofline_labels.h"
#include "plots/script.h"
#include "plots/svg.h"
#include "testing.h"

static char *folder;

static bool
has_gnuplot(void)
{
	autofree char *gnuplot = process_find("gnuplot");

	if (!gnuplot)
		fprintf(stderr, "gnuplot is not installed: pictures are not tested\n");
	return gnuplot != NULL;
}

static void
enter_folder(void)
{
	folder = temporary_folder_new();
	ck_assert_int_eq(chdir(folder), 0);
}

/* Removes the folder's files; returns how many there were. */
static int
empty_folder(void)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	int nr = 0;

	ck_assert_ptr_nonnull(entries);
	while ((entry = readdir(entries))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		nr++;
		ck_assert_int_eq(remove(entry->d_name), 0);
	}
	closedir(entries);
	return nr;
}

static struct summary
spread(double value)
{
	return (struct summary){"median",    value,        value * 0.95, value * 1.05, 0.95, value * 0.9,
				value * 1.2, value * 0.97, value * 1.03, 10,           0};
}

static struct plot_point example_points[3];

static struct roofline_plot
example(void)
{
	static const struct plot_series series = {
		.name = "A \"quoted\" `series`", .points = example_points, .nr_points = 3, .style = PLOT_JOINED};
	static const struct roofline_ceiling ceilings[] = {
		{"FMA", false, 32, 31, 33, "32 flop/cycle", true, 0},
		{"DRAM", true, 9.5, NAN, NAN, "9.5 byte/cycle", false, 0},
	};

	for (int i = 0; i < 3; i++)
		example_points[i] = (struct plot_point){.x = spread(0.1 * pow(4, i)),
							.y = spread(0.5 * pow(3, i)),
							.label = i ? "large" : "small",
							.is_labelled = i != 1,
							.size = 1000.0 * (i + 1)};
	return (struct roofline_plot){.frame = {"A title",
						"first line\nsecond line",
						{"Operational intensity", "flop/byte", true, NAN, NAN},
						{"Performance", "flop/cycle", true, NAN, NAN},
						"auto",
						true,
						true,
						NULL,
						0},
				      .ceilings = ceilings,
				      .nr_ceilings = 2,
				      .series = &series,
				      .nr_series = 1,
				      .same_size = SAME_SIZE_NONE};
}

static struct distribution_plot
example_distribution(void)
{
	const struct roofline_plot source = example();

	return (struct distribution_plot){source.frame, source.series, 1};
}

/* The script of a plot that was written as "plot". */
static char *
script_of(int rc)
{
	ck_assert_ok(rc);
	return file_text("plot.gnuplot");
}

/* A point of the value at x, of no size. */
static struct plot_point
point_at(double x, struct summary y)
{
	return (struct plot_point){.x = summary_single(x, ""), .y = y, .label = "", .size = NAN};
}

static const struct {
	const char *text, *quoted;
} strings[] = {
	{"plain", "\"plain\""},           {"a\"b\\c", "\"a\\\"b\\\\c\""},
	{"`date`", "\"\\140date\\140\""}, {"two\nlines", "\"two\\nlines\""},
	{"tab\there", "\"tabhere\""},
};

TEST_OF(strings_are_never_interpreted, NR_ELEMENTS(strings))
{
	autofree char *buffer = NULL;
	size_t size;
	FILE *out = open_memstream(&buffer, &size);

	script_write_string(out, strings[_i].text);
	fclose(out);
	ck_assert_str_eq(buffer, strings[_i].quoted);
}

static const double numbers[] = {0.1, 1.0 / 3, 1e-300, 123456789.125, -2, INFINITY};

TEST_OF(numbers_read_back, NR_ELEMENTS(numbers))
{
	autofree char *text = script_number(numbers[_i]);

	ck_assert(isinf(numbers[_i]) ? strcmp(text, "NaN") == 0 : strtod(text, NULL) == numbers[_i]);
}

TEST_OF(roofline_writes_four_files, has_gnuplot())
{
	struct roofline_plot plot = example();
	struct stat status;

	ck_assert_ok(roofline_plot_write(&plot, "example", &why));
	ck_assert(stat("example.pdf", &status) == 0 && status.st_size > 1000);
	ck_assert(stat("example.svg", &status) == 0 && status.st_size > 1000);
	char *script = file_text("example.gnuplot"), *data = file_text("example.data"), *svg = file_text("example.svg");

	ck_assert_has(script, "\"Operational intensity [flop/byte]\"");
	ck_assert_has(script, "\"FMA (32 flop/cycle)\"");
	ck_assert_has(script, "\"DRAM (9.5 byte/cycle)\"");
	ck_assert_has(script, "with boxxyerror");
	ck_assert_has(script, "with xyerrorbars");
	ck_assert_has(script, "second line");
	ck_assert_has(data, "\n0.1 0.5 ");
	ck_assert_has(svg, "large");
	ck_assert_int_eq(empty_folder(), 4);
}

/* Lines that are too close for labels between them go on behind these. */
TEST(turned_labels_on_lines_have_a_ground)
{
	struct roofline_plot plot = example();
	struct roofline_ceiling ceilings[6];
	char *script;

	ceilings[0] = plot.ceilings[0];
	for (size_t i = 1; i < NR_ELEMENTS(ceilings); i++)
		ceilings[i] = (struct roofline_ceiling){
			"a level of caches", true, 9.5 * pow(1.1, (double)i), NAN, NAN, "9.5 byte/cycle", false, 0};
	plot.ceilings = ceilings;
	for (plot.nr_ceilings = 2; plot.nr_ceilings <= NR_ELEMENTS(ceilings); plot.nr_ceilings += 4) {
		roofline_plot_write(&plot, "example", &why); /* without gnuplot the script is there */
		script = file_text("example.gnuplot");
		ck_assert_int_eq(strstr(script, "set object polygon from graph ") != NULL, plot.nr_ceilings > 2);
	}
}

TEST_OF(an_infinite_intensity_is_drawn_at_the_edge, has_gnuplot())
{
	struct roofline_plot plot = example();

	example_points[2].x = summary_empty();
	example_points[2].x.value = INFINITY;
	char *script = script_of(roofline_plot_write(&plot, "plot", &why));

	ck_assert_has(script, "large (no bytes)");
	ck_assert_has(script, "\u221e");
}

/* In the corner there is no sign of 0: the label says what it is. */
TEST(a_point_without_operations_says_so)
{
	struct roofline_plot plot = example();
	struct roofline_shape shape;
	cleared_by(roofline_labels_clear) struct roofline_labels labels = {0};
	bool is_there = false;

	example_points[0].x = example_points[0].y = summary_single(0, "exact");
	shape = roofline_shape_of(&plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	labels = roofline_labels_of(&shape);
	for (size_t i = 0; i < labels.nr; i++)
		is_there = is_there || strcmp(labels.items[i].text, "small (no operations)") == 0;
	ck_assert(is_there);
}

/* The same over size: at the upper edge, marked, and the line goes there. */
TEST_OF(an_infinite_value_is_drawn_at_the_upper_edge, has_gnuplot())
{
	struct distribution_plot plot = example_distribution();

	example_points[1].y = summary_empty();
	example_points[1].y.value = INFINITY;
	plot.frame.y.low = 0;
	plot.frame.y.high = 77;
	ck_assert_has(script_of(distribution_plot_write(&plot, "plot", &why)), "\u221e");
	ck_assert_has(file_text("plot.data"), " 77 ");
}

/* A number that a logarithmic axis does not have is drawn at its lower end, and marked. */
TEST_OF(zero_is_drawn_at_the_lower_edge, has_gnuplot() * 2)
{
	static const struct {
		double value;
		const char *sign;
	} values[] = {{0, "set label \"0\""}, {-3, "set label \"< 0\""}};
	struct distribution_plot plot = example_distribution();

	example_points[1].y = summary_single(values[_i].value, "given");
	plot.frame.y.low = 0.0625;
	ck_assert_has(script_of(distribution_plot_write(&plot, "plot", &why)), values[_i].sign);
	ck_assert_has(file_text("plot.data"), " 0.0625 ");
}

/* Which they are is in a column of the data; where there is none, nothing is drawn for it. */
TEST_OF(marks_of_what_is_expected_are_hollow, has_gnuplot() * 2)
{
	struct roofline_plot plot = example();
	char *data;

	example_points[1].is_expected = _i;
	ck_assert_ok(roofline_plot_write(&plot, "hollow", &why));
	data = file_text("hollow.data");
	ck_assert_int_eq(strstr(file_text("hollow.gnuplot"), "$13 > 0 ? $2 : NaN") != NULL, _i);
	ck_assert_has(data, _i ? " 2000 1 \"large\"" : " 2000 0 \"large\"");
	ck_assert_has(data, " 3000 0 \"large\"");
}

/* A line at x with its label; none where the axis does not reach. */
TEST_OF(markers_are_drawn, has_gnuplot())
{
	static const struct plot_marker markers[] = {{0.5, "inside"}, {1e9, "beyond"}, {0, "unknown"}};
	struct distribution_plot plot = example_distribution();
	char *script = NULL;

	plot.frame.markers = markers;
	plot.frame.nr_markers = 3;
	script = script_of(distribution_plot_write(&plot, "plot", &why));
	ck_assert_has(script, "set arrow from 0.5,graph 0 to 0.5,graph 1");
	ck_assert_has(script, "inside");
	ck_assert_lacks(script, "beyond");
	ck_assert_lacks(script, "unknown");
}

/* How far up the label stands, of 1. */
static double
label_height(const char *script, const char *label)
{
	const char *at = strstr(script, label), *graph = at ? strstr(at, ", graph ") : NULL;

	ck_assert_msg(graph != NULL, "%s", script);
	return strtod(graph + strlen(", graph "), NULL);
}

TEST_OF(labels_of_markers_keep_off_points, has_gnuplot())
{
	static struct plot_point points[2];
	static const struct plot_series series = {.name = "s", .points = points, .nr_points = 2, .style = PLOT_JOINED};
	static const struct plot_marker markers[] = {{10, "free"}, {105, "taken"}};
	struct roofline_plot source = example();
	struct distribution_plot plot = {source.frame, &series, 1};
	char *script = NULL;

	points[0] = point_at(1, spread(0.01));
	points[1] = point_at(100, spread(1));
	points[1].y.value = INFINITY; /* at the top, with its sign */
	plot.frame.x.high = 1000;
	plot.frame.markers = markers;
	plot.frame.nr_markers = 2;
	script = script_of(distribution_plot_write(&plot, "plot", &why));
	ck_assert_double_lt(label_height(script, "\"taken\""), label_height(script, "\"free\"") - 0.05);
}

TEST(labels_of_markers_keep_off_each_other)
{
	static const struct plot_marker markers[] = {{10, "a level"}, {10.1, "another"}, {1e9, "beyond"}};
	struct roofline_plot source = example();
	const struct point_set set = {&source.frame, NULL, 0, false};
	const struct point_edges edges = {{.low = 0, .high = 20, .length = LAYOUT_PANEL_WIDTH},
					  {.low = 0, .high = 1, .length = LAYOUT_PANEL_HEIGHT}};
	autofree struct layout_box *labels = NULL;

	source.frame.markers = markers;
	source.frame.nr_markers = NR_ELEMENTS(markers);
	labels = points_marker_labels(&set, &edges);
	ck_assert_double_le(labels[1].y + labels[1].width / 2, labels[0].y - labels[0].width / 2);
	ck_assert_double_eq(labels[2].width, 0);
}

/* In as large a font as names of axes have. */
TEST_OF(a_long_title_is_folded, has_gnuplot() * 2)
{
	struct roofline_plot plot = example();
	char *script, *title;

	plot.frame.title =
		_i ? "what it costs to move a thread to another processor, and to read what was in the caches "
		     "of the one that it came from, less the time of a thread that stays there"
		   : "a title that is not long";
	script = script_of(roofline_plot_write(&plot, "plot", &why));
	title = strstr(script, "set label \"") + strlen("set label \"");
	title[strcspn(title, "\"")] = '\0';
	ck_assert_int_eq(strstr(title, "\\n") != NULL, _i);
	title[strlen(title)] = '"';
	ck_assert_int_eq(strstr(script, "left noenhanced font \",9\"\n") != NULL, _i);
}

/* The axes are those of the boxes; what is beyond them has an arrow, and is counted in the caption. */
TEST_OF(far_ends_of_whiskers_are_arrows, has_gnuplot() * 2)
{
	struct roofline_plot plot = example();
	char *script;

	if (_i)
		example_points[0].y.minimum = 1e-6;
	script = script_of(roofline_plot_write(&plot, "plot", &why));
	ck_assert_int_eq(strstr(script, "head filled") != NULL, _i);
	ck_assert_int_eq(strstr(script, "second line\\nbeyond the edges (arrows): 1 end of a whisker\"") != NULL, _i);
}

/* Also what a range that somebody asks for leaves out. */
TEST_OF(points_beyond_a_range_are_told, has_gnuplot())
{
	struct distribution_plot plot = example_distribution();
	char *script = NULL;

	plot.frame.y.high = 4;
	script = script_of(distribution_plot_write(&plot, "plot", &why));
	ck_assert_has(script, "beyond the edges (arrows): 1 point\"");
}

/*
 * Points on one x, and the ridges, take most of the width: at the left there is room for names of bandwidths, at the
 * right for those of performances. Likewise where the points are behind the last ridge, and before the first. Points
 * far behind it have arrows instead of room.
 */
TEST_OF(the_range_of_a_roofline_is_that_of_its_points_and_ridges, 4)
{
	static const double at[] = {0.083, 20, 1, 1e6};
	static const struct roofline_ceiling ceilings[] = {
		{"FMA", false, 200, NAN, NAN, "", true, 0},
		{"L1", true, 542, NAN, NAN, "", false, 0},
		{"DRAM", true, 42, NAN, NAN, "", true, 0},
	};
	const double first = fmin(at[_i], 200.0 / 542), last = fmax(at[_i] < 1e6 ? at[_i] : 0, 200.0 / 42);
	struct roofline_plot plot = example();
	struct plot_series series = plot.series[0];
	struct plot_point points[3];
	autofree char *caption = NULL;
	struct roofline_shape shape;

	for (int i = 0; i < 3; i++) {
		points[i] = series.points[i];
		points[i].x = summary_single(at[_i], "median");
	}
	series.points = points;
	plot.series = &series;
	plot.ceilings = ceilings;
	plot.nr_ceilings = NR_ELEMENTS(ceilings);
	shape = roofline_shape_of(&plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	ck_assert_double_lt(shape.x.low, first);
	ck_assert_double_gt(shape.x.low, first / 3);
	ck_assert_double_gt(shape.x.high, last);
	ck_assert_double_lt(shape.x.high, last * 3);
	const struct point_set set = roofline_points_of(&plot);
	caption = points_caption(&set, &(struct point_edges){shape.x, shape.y});
	ck_assert_int_eq(strstr(caption, "beyond the edges (arrows): 3 points") != NULL, at[_i] == 1e6);
}

/* The minimum and the maximum of a value are not drawn, and need no room. */
TEST_OF(a_series_plot_has_the_range_of_its_values, has_gnuplot())
{
	struct roofline_plot source = example();
	struct series_plot plot = {source.frame, source.series, 1};
	char *script;

	example_points[0].y.minimum = 1e-6;
	example_points[2].y.maximum = 1e6;
	script = script_of(series_plot_write(&plot, "plot", &why));
	ck_assert_msg(strstr(script, "set yrange [0.4") && !strstr(script, "beyond the edges"), "%s", script);
}

/* Neither the same colour and mark twice, nor a colour within the first seven, or a mark within six. */
TEST(looks_do_not_repeat)
{
	const struct plot_series series = {.name = ""};

	for (size_t i = 0; i < 42; i++)
		for (size_t k = 0; k < i; k++) {
			const bool same_colour = strcmp(script_colour(&series, i), script_colour(&series, k)) == 0;
			const bool same_mark = script_mark(&series, i) == script_mark(&series, k);

			ck_assert(!same_colour || !same_mark);
			ck_assert(i >= 7 || !same_colour);
			ck_assert(i >= 6 || !same_mark);
		}
}

/*
 * How linear red, green and blue look to everybody, and without one kind of cones: protanopia, deuteranopia,
 * tritanopia. Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency,
 * 2009, table of severity 1.0.
 */
static const double sights[][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};

static double
row_of(const double row[3], const double vector[3])
{
	return row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2];
}

/* CIE L*a*b* (white D65) of an sRGB colour "#RRGGBB", as it is seen. */
static void
seen_as(const char *colour, const double sight[3][3], double lab[3])
{
	static const double to_xyz[3][3] = {/* divided by the white */
					    {0.433953, 0.376219, 0.189828},
					    {0.212673, 0.715152, 0.072175},
					    {0.017758, 0.109477, 0.872766}};
	const unsigned long code = strtoul(colour + 1, NULL, 16); /* what follows a colour of CSS is no digit */
	double linear[3], seen[3], f[3];

	for (int i = 0; i < 3; i++) {
		const double c = (double)(code >> (16 - 8 * i) & 255) / 255;

		linear[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
	}
	for (int i = 0; i < 3; i++)
		seen[i] = fmin(1, fmax(0, row_of(sight[i], linear)));
	for (int i = 0; i < 3; i++) {
		const double t = row_of(to_xyz[i], seen);

		f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
	}
	lab[0] = 116 * f[1] - 16;
	lab[1] = 500 * (f[0] - f[1]);
	lab[2] = 200 * (f[1] - f[2]);
}

/* Distances of CIE 1976; 2.3 is just noticed. Neighbours are farther apart than others, also the last and the first. */
static void
assert_apart(const char *const colours[SCRIPT_NR_COLOURS], const double sight[3][3])
{
	double lab[SCRIPT_NR_COLOURS][3];

	for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++)
		seen_as(colours[i], sight, lab[i]);
	for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++)
		for (size_t k = 0; k < i; k++) {
			const bool are_neighbours = i - k == 1 || i - k == SCRIPT_NR_COLOURS - 1;
			const double distance =
				hypot(lab[i][0] - lab[k][0], hypot(lab[i][1] - lab[k][1], lab[i][2] - lab[k][2]));

			ck_assert_msg(distance >= (are_neighbours ? 20 : 15), "%.7s and %.7s: %g", colours[k],
				      colours[i], distance);
		}
}

TEST_OF(colour_blind_readers_tell_colours_apart, NR_ELEMENTS(sights))
{
	const struct plot_series series = {.name = ""};
	const char *colours[SCRIPT_NR_COLOURS];

	for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++)
		colours[i] = script_colour(&series, i);
	assert_apart(colours, sights[_i]);
}

/* Pages have colours of their own: on white, on black, and on paper. */
TEST_OF(colour_blind_readers_tell_colours_of_pages_apart, NR_ELEMENTS(sights))
{
	autofree char *path = rot_format("%s/driver/plots/page.css", getenv("top_srcdir"));
	autofree char *css = file_read(path, NULL, &why);
	const char *colours[SCRIPT_NR_COLOURS];
	int nr_palettes = 0;

	ck_assert_ptr_nonnull(css);
	for (const char *from = css; (from = strstr(from, "--s0: ")); nr_palettes++) {
		for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++) {
			from = strchr(from, '#');
			ck_assert_ptr_nonnull(from);
			colours[i] = from++;
		}
		assert_apart(colours, sights[_i]);
	}
	ck_assert_int_eq(nr_palettes, 3);
}

TEST(a_series_has_the_look_that_is_said)
{
	char own[8];
	const struct plot_series series = {.name = "",
					   .colour = script_colour_of("#a0b1c2", own, &why),
					   .shape = script_shape_of("diamond", &why)};

	ck_assert_str_eq(script_colour(&series, 3), "#A0B1C2");
	ck_assert_int_eq(script_mark(&series, 0), 13);
	ck_assert_str_eq(script_colour_of("skyBlue", own, &why), "#56B4E9");
	ck_assert_ptr_null(script_colour_of("#12", own, &why));
	ck_assert_has(why.hint, "#RRGGBB");
	ck_assert_int_eq(script_shape_of("squares", &why), 0);
	ck_assert_has(why.hint, "did you mean 'square'");
}

TEST_OF(pictures_are_png_too_where_that_is_wanted, has_gnuplot() * 2)
{
	struct roofline_plot plot = example();

	script_has_png = _i;
	ck_assert_ok(roofline_plot_write(&plot, "example", &why));
	script_has_png = false;
	if (_i) {
		ck_assert_int_eq(strncmp(file_text("example.png"), "\x89PNG", 4), 0);
	}
	ck_assert_int_eq(empty_folder(), 4 + _i);
}

/* Grey and slant, from beside a label to shortly before its point, and across no mark, so that none reads as data. */
TEST(leaders_are_no_whiskers)
{
	static struct plot_point points[6];
	static const struct plot_series series = {.name = "s", .points = points, .nr_points = 6, .style = PLOT_MARKS};
	struct roofline_plot plot = example();
	struct roofline_shape shape;
	cleared_by(roofline_labels_clear) struct roofline_labels labels = {0};
	size_t nr_leaders = 0;

	for (size_t i = 0; i < 6; i++)
		points[i] = (struct plot_point){.x = summary_single(1 + 0.02 * (double)i, ""),
						.y = summary_single(1, ""),
						.label = "a long name",
						.is_labelled = true,
						.size = NAN};
	plot.series = &series;
	shape = roofline_shape_of(&plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	labels = roofline_labels_of(&shape);
	for (size_t i = 0; i < labels.nr; i++) {
		double x1, y1, x2, y2;

		if (labels.items[i].ceiling || !labels.items[i].has_leader)
			continue;
		roofline_leader_of(&labels.items[i], &x1, &y1, &x2, &y2);
		ck_assert(fabs(x1 - x2) > 1 && fabs(y1 - y2) > 1);
		for (size_t k = 0; k < 6; k++) {
			const double x = layout_position(&shape.x, points[k].x.value),
				     y = layout_position(&shape.y, points[k].y.value);

			ck_assert(hypot(x2 - x, y2 - y) > 3);
		}
		nr_leaders++;
	}
	ck_assert_uint_ge(nr_leaders, 1);
}

/* Do the labels' boxes touch each other? */
static bool
some_labels_touch(const struct roofline_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		struct layout_box box = labels->items[i].box;
		const struct layout taken = {&box, 1, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT};

		for (size_t k = 0; k < i; k++)
			if (!layout_is_free(&taken, &labels->items[k].box))
				return true;
	}
	return false;
}

static const struct roofline_label *
label_of(const struct roofline_labels *labels, const struct roofline_ceiling *ceiling)
{
	for (size_t i = 0; i < labels->nr; i++)
		if (labels->items[i].ceiling == ceiling)
			return &labels->items[i];
	return NULL;
}

/* So that each line that is seen can be told, however many there are and however small the picture is. */
TEST_OF(lines_without_room_for_names_have_letters, 2)
{
	struct roofline_plot plot = example();
	struct roofline_ceiling ceilings[12];
	struct roofline_shape shape;
	cleared_by(roofline_labels_clear) struct roofline_labels labels = {0};
	size_t nr_letters = 0;
	autofree char *caption = NULL;

	for (size_t i = 0; i < NR_ELEMENTS(ceilings); i++)
		ceilings[i] =
			(struct roofline_ceiling){i < 6 ? "a long name of a computation" : "a long name of a level",
						  i >= 6,
						  32 * pow(0.9, (double)i),
						  NAN,
						  NAN,
						  "9.5 units",
						  i % 6 == 0,
						  0};
	plot.ceilings = ceilings;
	plot.nr_ceilings = NR_ELEMENTS(ceilings);
	layout_zoom = _i ? 2 : 1;
	shape = roofline_shape_of(&plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	labels = roofline_labels_of(&shape);
	ck_assert(!some_labels_touch(&labels));
	caption = roofline_labels_caption(&labels, rot_strdup("a machine"));
	ck_assert_int_eq(strncmp(caption, "a machine\na:\u00a0a long name of a ", 31), 0);
	for (size_t i = 0; i < NR_ELEMENTS(ceilings); i++) {
		const struct roofline_label *label = label_of(&labels, &ceilings[i]);
		char *letter;

		ck_assert_msg(label != NULL, "%zu", i);
		if (!label->stands_for)
			continue;
		letter = rot_format("%s:\u00a0%s (9.5 units)", label->text, ceilings[i].name);
		ck_assert_msg(strstr(caption, letter) != NULL, "%s: %s", letter, caption);
		free(letter);
		nr_letters++;
	}
	ck_assert_uint_ge(nr_letters, 2);
	layout_zoom = 1;
}

/* Points have letters where a key does not name them. */
TEST_OF(points_without_room_for_names_have_letters, 2)
{
	static struct plot_point points[26];
	static const struct plot_series series = {.name = "s", .points = points, .nr_points = 26, .style = PLOT_MARKS};
	struct roofline_plot plot = example();
	struct roofline_shape shape;
	cleared_by(roofline_labels_clear) struct roofline_labels labels = {0};
	size_t nr_letters = 0;

	for (size_t i = 0; i < 26; i++)
		points[i] =
			(struct plot_point){.x = summary_single(1 + 0.01 * (double)i, ""),
					    .y = summary_single(1, ""),
					    .label = "a name that is as long as the panel is wide, or nearly so: it "
						     "takes two thirds of that",
					    .is_labelled = true,
					    .size = NAN};
	plot.series = &series;
	plot.frame.key_position = _i ? "none" : "auto";
	shape = roofline_shape_of(&plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	labels = roofline_labels_of(&shape);
	ck_assert(!some_labels_touch(&labels));
	for (size_t i = 0; i < labels.nr; i++)
		nr_letters += !labels.items[i].ceiling && labels.items[i].stands_for;
	ck_assert_int_eq(nr_letters > 0, _i);
}

/* A line that has neither a mark of its own nor a colour of its own has its own dashes. */
TEST_OF(lines_that_look_alike_differ_in_dashes, 2)
{
	const struct roofline_plot source = example();
	struct plot_series series[9];
	char *dashes[NR_ELEMENTS(series)];

	for (size_t i = 0; i < NR_ELEMENTS(series); i++) {
		char *command, *at;

		series[i] = source.series[0];
		series[i].style = _i ? PLOT_MODEL : PLOT_JOINED;
		command = rot_strdup("plot ");
		points_add_commands(&command, &series[i], i, &source.frame, true, "1");
		at = strstr(command, "dashtype ");
		ck_assert_ptr_nonnull(at);
		dashes[i] = rot_strndup(at, strcspn(at, "c"));
		free(command);
	}
	if (_i) {
		for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++)
			for (size_t k = 0; k < i; k++)
				ck_assert_str_ne(dashes[i], dashes[k]);
	} else {
		ck_assert_str_eq(dashes[0], dashes[6]);
		ck_assert_str_ne(dashes[0], dashes[7]);
		ck_assert_str_eq(dashes[7], dashes[8]);
	}
	for (size_t i = 0; i < NR_ELEMENTS(series); i++)
		free(dashes[i]);
}

/* Boxes that would cover each other stand side by side; those that are apart stay at their x. */
TEST_OF(boxes_stand_side_by_side, 3)
{
	static struct plot_point points[2];
	const enum plot_style style = _i == 2 ? PLOT_MARKS : PLOT_JOINED;
	const struct plot_series series[] = {{.name = "a", .points = &points[0], .nr_points = 1, .style = style},
					     {.name = "b", .points = &points[1], .nr_points = 1, .style = style}};
	struct roofline_plot source = example();
	const struct point_set set = {&source.frame, series, 2, false};
	struct point_edges edges;

	points[0] = point_at(10, spread(1));
	points[1] = point_at(10, spread(_i == 1 ? 2 : 1.01));
	edges = points_edges_of(&set);
	if (_i == 1) {
		ck_assert_double_eq(beside_shift_of(&set, &edges, 0), 0);
		ck_assert_double_eq(beside_shift_of(&set, &edges, 1), 0);
	} else {
		ck_assert_double_lt(beside_shift_of(&set, &edges, 0), -2);
		ck_assert_double_eq(beside_shift_of(&set, &edges, 0), -beside_shift_of(&set, &edges, 1));
	}
}

TEST_OF(distribution_says_how_many_samples, has_gnuplot())
{
	struct distribution_plot plot = example_distribution();

	char *script = script_of(distribution_plot_write(&plot, "plot", &why));

	ck_assert_has(script, "A title (n=10)");
	ck_assert_has(script, "with candlesticks");
}

/* The first at the top; what has no value has its words alone. */
TEST_OF(bars_have_names_and_values, has_gnuplot())
{
	static const struct plot_bar bars[] = {
		{"short_one", "2", 2, 2.5}, {"none", "cannot be told", NAN, NAN}, {"long", "500", 500, 600}};
	const struct bar_plot plot = {.frame = {.title = "Costs",
						.caption = "",
						.x = {"cost", "cycles", true, 0.1, NAN},
						.y = {"", "", false, NAN, NAN},
						.key_position = "none"},
				      .bars = bars,
				      .nr = 3};
	char *script = script_of(bar_plot_write(&plot, "plot", &why)), *data = file_text("plot.data");

	ck_assert_has(script, "\"short_one\" 2, \"none\" 1, \"long\" 0");
	ck_assert_has(script, "\"cannot be told\" at first 0.1, first 1 left");
	ck_assert_has(script, "\"500\" at first 600, first 0 left");
	ck_assert_has(data, "0.1 2 2 2.5\n0.1 0 500 600\n");
}

/* Another class could be one of the page's texts, whose colour they would have then. */
TEST_OF(marks_of_a_page_are_of_their_series_alone, 2)
{
	const struct roofline_plot source = example();
	struct plot_series series = source.series[0];
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr out = xmlNewTextWriterMemory(buffer, 0);
	const char *text;
	size_t nr = 0;

	series.style = _i ? PLOT_MARKS : PLOT_JOINED;
	free(series_svg_write(&source.frame, &series, 1, false, "id", out));
	xmlFreeTextWriter(out);
	text = (const char *)xmlBufferContent(buffer);
	ck_assert_has(text, "<g class=\"series s0\" id=\"id-0\">");
	while ((text = strstr(text, "<path class=\"mark\""))) {
		text++;
		nr++;
	}
	ck_assert_uint_gt(nr, 0);
	ck_assert_uint_eq(nr, series.nr_points);
	xmlBufferFree(buffer);
}

TEST_OF(long_names_of_axes_fit_a_narrow_page, 2)
{
	struct roofline_plot source = example();
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr out = xmlNewTextWriterMemory(buffer, 0);
	const char *text;

	source.frame.x.label = "Operational intensity (double precision, LLC-RAM)";
	source.frame.y.label = "P";
	layout_zoom = _i ? 1.7 : 1;
	free(series_svg_write(&source.frame, source.series, 1, false, "id", out));
	layout_zoom = 1;
	xmlFreeTextWriter(out);
	text = (const char *)xmlBufferContent(buffer);
	ck_assert_has(text, "<g style=\"font-size:9px\"><text class=\"name y\"");
	ck_assert_int_eq(strstr(text, "<g style=\"font-size:9px\"><text class=\"name x\"") != NULL, !_i);
	xmlBufferFree(buffer);
}

TEST(without_gnuplot_the_script_is_left)
{
	struct roofline_plot plot = example();

	setenv("PATH", "/nonexistent", 1);
	ck_assert_int_eq(roofline_plot_write(&plot, "example", &why), -1);
	ck_assert_has(why.text, "gnuplot");
	ck_assert_has(why.hint, "apt-get install");
	ck_assert_has(why.hint, "gnuplot example.gnuplot");
	ck_assert_int_eq(access("example.gnuplot", F_OK), 0);
	ck_assert_int_eq(access("example.data", F_OK), 0);
	ck_assert_int_eq(empty_folder(), 2);
}

TEST(a_failing_gnuplot_is_reported_with_its_words)
{
	struct roofline_plot plot = example();

	file_fill("gnuplot", "#!/bin/sh\necho 'no such terminal'\nexit 1\n");
	ck_assert_int_eq(chmod("gnuplot", 0755), 0);
	setenv("PATH", folder, 1);
	ck_assert_int_eq(roofline_plot_write(&plot, "example", &why), -1);
	ck_assert_has(why.text, "no such terminal");
	ck_assert_int_eq(empty_folder(), 3);
}

TEST(an_unwritable_place_is_an_error)
{
	struct roofline_plot plot = example();

	file_fill("file", "");
	ck_assert_int_eq(roofline_plot_write(&plot, "file/example", &why), -1);
	ck_assert_has(why.text, "file/example");
	ck_assert(*why.hint);
}

UNIT_TESTS(.set_up = enter_folder);
