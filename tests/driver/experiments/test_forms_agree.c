/* SPDX-License-Identifier: MIT */
/*
 * Random results in all their forms: the text, CSV, JSON, page and plot of one result show the same values, by the
 * names and units that each form tells.
 */
#include <jansson.h>

#include "base/configuration.h"
#include "base/process.h"
#include "base/utf8.h"
#include "draw.h"
#include "experiment_fixture.h"
#include "forms.h"
#include "json_schema.h"
#include "number.h"
#include "testing.h"

/* Points of one thread and of two, each under its own roof; series and labels have the name in them. */
#define CONTROLLER                                                                                                     \
	"<controller name='random' comment='' runs='10'><axis name='n'><list values='1 2 3 4'/></axis>"                \
	"<axis name='threads'><list values='1 2'/></axis>"                                                             \
	"<point series='%s of {$threads}' label='p{$n} %s' threads='{$threads}'><workload><kernel type='Triad' "       \
	"bufferSize='{$n}'/></workload></point><quantity is='time'/>"                                                  \
	"<plot type='roofline' x='operationalIntensity:doublePrecisionFlop:llcRam' "                                   \
	"y='performance:doublePrecisionFlop'><defaultPeaks/></plot></controller>"

/* Names that forms have to escape, as a controller has them and as they are. */
static const struct {
	const char *xml, *text;
} names[] = {
	{"plain", "plain"},
	{"a, &quot;b&quot;", "a, \"b\""},
	{"&lt;i&gt; &amp;amp;", "<i> &amp;"},
	{"µ 漢字", "µ 漢字"},
	{"`x` \\n $HOME", "`x` \\n $HOME"},
	{"&#x9b;31m", "\xc2\x9b"
		      "31m"},
	{"two&#10;lines&#9;x", "two\nlines\tx"},
	{"=1+1", "=1+1"},
};

static const struct {
	const char *name, *of, *unit;
} quantities[] = {
	{"time", "microSeconds", "us"},
	{"performance", "doublePrecisionFlop", "flop/s"},
	{"operationalIntensity", "doublePrecisionFlop/llcRam", "flop/byte"},
};

enum { NR_QUANTITIES = NR_ELEMENTS(quantities) };

/* Over several decades, or over many in a result of extremes; zero and infinite ones there, too. */
static bool is_extreme;
static uint64_t seed;

static double
draw_middle(size_t quantity)
{
	static const double lowest[] = {0, 8, -2}, decades[] = {6, 3, 3};
	const double kind = draw_uniform();

	if (is_extreme && kind < 0.05)
		return 0;
	if (is_extreme && kind < 0.1 && quantity == 2)
		return INFINITY;
	return pow(10, is_extreme ? lowest[quantity] - 8 + (decades[quantity] + 16) * draw_uniform()
				  : lowest[quantity] + decades[quantity] * draw_uniform());
}

/* Samples scatter like runs of a busy machine; some are of the definition alone, of a single run, or missing. */
static void
draw_value(struct quantity_value *value, size_t quantity, int nr_runs)
{
	const double middle = draw_middle(quantity), scatter = pow(10, -4 * draw_uniform()), kind = draw_uniform();
	const bool is_expected = quantity == 2 && kind<0.3, is_missing = kind> 0.9;

	value->name = quantities[quantity].name;
	value->of = quantities[quantity].of;
	value->unit = quantities[quantity].unit;
	value->source = "random";
	value->kind = is_expected ? "expected" : "measured";
	value->grade = "";
	value->expected = NAN;
	value->nr_samples = is_expected || is_missing ? 0 : kind > 0.8 ? 1 : (size_t)nr_runs;
	value->samples = rot_calloc((size_t)nr_runs, sizeof(double));
	value->taints = rot_calloc((size_t)nr_runs, sizeof(unsigned));
	for (int k = 0; k < nr_runs; k++)
		value->samples[k] = middle * (1 + scatter * draw_uniform());
	value->summary = is_missing    ? summary_empty()
			 : is_expected ? summary_single(middle, "expected")
				       : summary_median(value->samples, value->nr_samples);
}

static void
measure_randomly(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		 int nr_runs, struct quantity_value *values)
{
	(void)measurement;
	for (size_t i = 0; i < nr_requests; i++) {
		size_t quantity = 0;

		while (strcmp(requests[i].name, quantities[quantity].name) != 0)
			ck_assert_uint_lt(++quantity, NR_QUANTITIES);
		values[i] = (struct quantity_value){.request = requests[i]};
		draw_value(&values[i], quantity, nr_runs);
		values[i].request.clock = quantity < 2 ? "microSeconds" : NULL;
	}
}

/* ---- what was written ---- */

static json_t *json;

static const json_t *
quantity_of(const json_t *point, const char *name)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		if (strcmp(json_string_value(json_object_get(quantity, "name")), name) == 0)
			return quantity;
	}
	ck_abort_msg("no %s", name);
}

/* ---- the forms ---- */

/* The first row of that series and label. */
static const char *
row_of(const char *table, const json_t *point)
{
	autofree char *series = utf8_printable(member_text(point, "series")), *begin = rot_format("\n%s  ", series);
	autofree char *label = utf8_printable(member_text(point, "label"));

	for (const char *row = table; (row = strstr(row, begin));) {
		autofree char *found = text_cell(++row, 1);

		if (strcmp(found, label) == 0)
			return row;
	}
	ck_abort_msg("no row of %s %s in %s", series, label, table);
}

/* Columns behind series and label are found by their units. */
static void
check_table(const char *table, const json_t *point)
{
	const char *row = row_of(table, point), *unit = strstr(table, "  [%]") + 2;

	for (int i = 2; unit && *unit == '['; i++) {
		autofree char *cell = text_cell(row, i);
		const char *name = strncmp(unit, "[us]", 4) == 0           ? "time"
				   : strncmp(unit, "[flop/byte]", 11) == 0 ? "operationalIntensity"
									   : "performance";
		const double share = 100 * member_number(point, "roofShare");

		ck_assert_msg(strncmp(unit, "[%]", 3) != 0 ? is_value(cell, unit_of(unit + 1), quantity_of(point, name))
			      : isnan(share)               ? strcmp(cell, "-") == 0
							   : is_rounded(cell, share),
			      "%s of %.9s in %s", cell, unit, table);
		unit += strcspn(unit, " \n");
		unit += strspn(unit, " ");
	}
}

/* A narrow table has the same rows, with fewer columns. */
static void
check_narrow(const char *narrow, const char *table, const json_t *point)
{
	const char *row = row_of(narrow, point);

	ck_assert_msg(strncmp(row, row_of(table, point), strcspn(row, "\n")) == 0, "%s is not of %s", narrow, table);
}

static void
expect_text(const char *csv, size_t row, const char *column, const char *text)
{
	autofree char *found = field(csv, row, column);

	ck_assert_str_eq(found, text ? text : "");
}

/* By the names of doc/RESULTS.md. */
static void
check_csv(const char *csv, size_t row, const json_t *point)
{
	static const char *const columns[] = {"time_us", "performance_dp_per_s", "intensity_dp_ram"};

	for (size_t i = 0; i < NR_QUANTITIES; i++)
		expect_quantity(csv, row, columns[i], quantity_of(point, quantities[i].name));
	expect_field(csv, row, "roof_share", member_number(point, "roofShare"));
	expect_text(csv, row, "bound_by", member_text(point, "boundBy"));
	expect_text(csv, row, "series", member_text(point, "series"));
	expect_text(csv, row, "label", member_text(point, "label"));
}

/* Value and interval stand below the heading. */
static void
check_page_row(const char *page, const char *series, const char *label, const json_t *point)
{
	static const char *const headings[] = {"time", "performance", "operational intensity"};
	const double share = 100 * member_number(point, "roofShare");
	const char *row = page_row(page, series, label),
		   *cell = page_form_cell(row, page_column(page, "of its roof", NULL));

	ck_assert_msg(isnan(share) ? *cell == '-' : is_rounded(cell, share), "%.20s is not %g %%", cell, share);
	for (size_t i = 0; i < NR_QUANTITIES; i++) {
		const size_t column = page_column(page, headings[i], NULL);
		const json_t *quantity = quantity_of(point, quantities[i].name);

		cell = page_form_cell(row, column);
		ck_assert_msg(is_value(cell, page_unit(page, column), quantity), "%.30s is not the %s of %s %s, %.17g",
			      cell, headings[i], series, label, member_number(quantity, "value"));
	}
}

/* The text of the mark has its values in the units behind them, and the line that bounds it. */
static void
check_told(const char *told, const json_t *point)
{
	static const char *const begins[] = {NULL, "\nperformance (", "\noperational intensity ("};
	autofree char *text = rot_strndup(told, (size_t)(strstr(told, "</title>") - told));
	const char *bound = member_text(point, "boundBy"), *share = strstr(text, " % of the roof");

	for (size_t i = 1; i < NR_QUANTITIES; i++) {
		const json_t *quantity = quantity_of(point, quantities[i].name);
		const char *value = strstr(text, begins[i]);
		autofree char *line = NULL;

		ck_assert_msg(value != NULL, "no %s in %s", begins[i], text);
		value = strstr(value, "): ") + strlen("): ");
		line = rot_strndup(value, strcspn(value, "\n"));
		ck_assert_msg(is_value(line, strstr(line, "no bytes") ? 1 : unit_of(strrchr(line, ' ') + 1), quantity),
			      "%s is not %.17g", line, member_number(quantity, "value"));
	}
	ck_assert_int_eq(share != NULL, bound != NULL);
	if (!share)
		return;
	ck_assert_msg(strncmp(strchr(share, '(') + 1, bound, strlen(bound)) == 0, "%.90s is not %s", share, bound);
	while (share[-1] != '\n')
		share--;
	ck_assert_msg(is_rounded(share, 100 * member_number(point, "roofShare")), "%.20s is not %g %%", share,
		      100 * member_number(point, "roofShare"));
}

static bool
is_drawn(const json_t *point)
{
	const double x = member_number(quantity_of(point, "operationalIntensity"), "value"),
		     y = member_number(quantity_of(point, "performance"), "value");

	return isfinite(x) && isfinite(y) && x > 0 && y > 0;
}

/* Where the mark is: logarithm of the value, and position. */
struct placed {
	double value[2], at[2];
};

static struct placed
placed_of(const char *told, const json_t *point)
{
	struct placed placed = {{log10(member_number(quantity_of(point, "operationalIntensity"), "value")),
				 log10(member_number(quantity_of(point, "performance"), "value"))},
				{NAN, NAN}};

	ck_assert_int_eq(sscanf(strstr(told, "translate("), "translate(%lf %lf)", &placed.at[0], &placed.at[1]), 2);
	return placed;
}

/* All marks on axes that are logarithmic: their distances are in the proportion of those of the values. */
static void
check_places(const struct placed *placed, size_t nr)
{
	for (int axis = 0; axis < 2 && nr > 0; axis++) {
		const struct placed *low = placed, *high = placed;
		double scale;

		for (size_t i = 0; i < nr; i++) {
			low = placed[i].value[axis] < low->value[axis] ? &placed[i] : low;
			high = placed[i].value[axis] > high->value[axis] ? &placed[i] : high;
		}
		if (high->value[axis] - low->value[axis] < 0.1)
			continue;
		scale = (high->at[axis] - low->at[axis]) / (high->value[axis] - low->value[axis]);
		ck_assert_msg(axis == 0 ? scale > 0 : scale < 0, "the axis %d runs backwards", axis);
		for (size_t i = 0; i < nr; i++)
			ck_assert_double_eq_tol(placed[i].at[axis],
						low->at[axis] + scale * (placed[i].value[axis] - low->value[axis]),
						0.1);
	}
}

static void
check_page(const char *page, const json_t *points)
{
	autofree struct placed *placed = rot_calloc(json_array_size(points), sizeof(*placed));
	size_t nr_placed = 0;

	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *point = json_array_get(points, i);
		autofree char *series = escaped(member_text(point, "series")),
			      *label = escaped(member_text(point, "label"));
		autofree char *title = rot_format("<title>%s, %s\n", series, label);
		const char *told = strstr(page, title);

		check_page_row(page, series, label, point);
		ck_assert_msg(told || !is_drawn(point), "nothing is told of %s", title);
		if (told)
			check_told(told, point);
		if (is_drawn(point))
			placed[nr_placed++] = placed_of(told, point);
	}
	check_places(placed, nr_placed);
}

/* The plot has the points of both series, each in its order; values beyond the axes are at their ends. */
static void
check_plot(const char *text, const json_t *points)
{
	for (size_t first = 0; first < 2; first++) {
		const char *series = member_text(json_array_get(points, first), "series");
		autofree char *name = utf8_printable(series);
		const char *at = plot_data(text, name);

		ck_assert_msg(at != NULL, "no %s in %s", name, text);
		for (size_t i = 0; i < json_array_size(points); i++) {
			const json_t *point = json_array_get(points, i);

			if (strcmp(member_text(point, "series"), series) != 0)
				continue;
			if (is_drawn(point))
				expect_mark(at, member_number(quantity_of(point, "operationalIntensity"), "value"),
					    member_number(quantity_of(point, "performance"), "value"));
			at = strchr(at, '\n') + 1;
		}
	}
}

static void
configure(const char *key, const char *value)
{
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, key, value, NULL);
}

static char *
measure_in_columns(const char *columns, const char *plots)
{
	setenv("COLUMNS", columns, 1);
	configure("plots", plots);
	draw_state = seed;
	ck_assert_ok(run_into("table", "random", "out", &why));
	return file_text("table");
}

/* The names are those of the controller, with control characters written out. */
static void
check_names(const json_t *points, const char *name)
{
	autofree char *printable = utf8_printable(name), *series = rot_format("%s of 1", printable),
		      *label = rot_format("p1 %s", printable);

	ck_assert_str_eq(member_text(json_array_get(points, 0), "series"), series);
	ck_assert_str_eq(member_text(json_array_get(points, 0), "label"), label);
}

TEST_OF(forms_show_the_same, all_are_tested() ? 400 : 16)
{
	const int name = _i / 2 % NR_ELEMENTS(names);
	autofree char *gnuplot = process_find("gnuplot"), *text = NULL;
	const char *table, *narrow, *csv, *page;
	const json_t *points;

	is_extreme = _i % 2 == 1;
	seed = (uint64_t)_i;
	text = rot_format(CONTROLLER, names[name].xml, names[name].xml);
	file_fill("random.xml", text);
	store_peaks();
	fake_measure = measure_randomly;
	narrow = measure_in_columns("80", "terminal");
	configure("writeCsv", "true");
	table = measure_in_columns("200", gnuplot ? "files,html" : "html"); /* which has all columns */
	json = json_file("out.json");
	expect_schema("driver/schemas/result-1.json", json);
	points = json_object_get(json, "points");
	ck_assert_uint_eq(json_array_size(points), 8);
	check_names(points, names[name].text);
	csv = file_text("out.csv");
	page = file_text("out.html");
	expect_clean("the narrow table", narrow, has_infinite(points));
	expect_clean("the table", table, has_infinite(points));
	expect_clean("the page", page, has_infinite(points));
	expect_clean("the CSV", csv, has_infinite(points));
	for (size_t i = 0; i < json_array_size(points); i++) {
		check_table(table, json_array_get(points, i));
		check_narrow(narrow, table, json_array_get(points, i));
		check_csv(csv, i + 1, json_array_get(points, i));
	}
	check_page(page, points);
	if (gnuplot)
		check_plot(file_text("out.data"), points);
}

UNIT_TESTS(.set_up = setup);
