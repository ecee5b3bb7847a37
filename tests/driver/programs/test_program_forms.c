/* SPDX-License-Identifier: MIT */
/*
 * Random results of programs in all their forms: table, CSV files, JSON, page and plot of one run show the same values
 * of the program, its regions and its functions.
 */
#include <jansson.h>

#include "base/process.h"
#include "base/utf8.h"
#include "forms.h"
#include "json_schema.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "run_fixture.h"
#include "testing.h"

static json_t *json;

/* The points: the program first, then the regions. */
static const json_t *
points(void)
{
	return json_object_get(json, "points");
}

/* ---- the table ---- */

/* The part of the table about the region, behind its title; NULL: about the program. */
static const char *
section_of(const char *region)
{
	autofree char *title = region ? rot_format("\n  region %s\n", region) : rot_strdup(" runs)\n");
	const char *at = strstr(err, title);

	ck_assert_msg(at != NULL, "no part '%s' in %.900s", title, err);
	return at + strlen(title) - 1;
}

/* The value in the row with that label, before the next part; NULL: there is no such row. */
static const char *
in_row(const char *section, const char *label)
{
	autofree char *begin = rot_format("\n  %s  ", label);
	const char *row = strstr(section, begin), *end = strstr(section, "\n\n  region ");

	if (!row || (end && row > end))
		return NULL;
	row += strlen(begin);
	return row + strspn(row, " ");
}

/* A row without unit is of cycles, instructions and the like. */
static double
unit_of_row(const char *value)
{
	autofree char *line = rot_strndup(value, strcspn(value, "\n"));
	const char *last = strrchr(line, ' ');

	return last && last[1] != '(' && last[1] > '9' && !strchr(last, ']') && !strchr(last, ')') ? unit_of(last + 1)
												   : 1;
}

/* Each value that is known has a row where all are shown; times are in seconds. */
static void
check_rows(const char *section, const json_t *point)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		struct quantity_value value;
		const bool is_known = stored_value(quantity, &value) == 0;
		const bool is_wall = strcmp(value.name, "time") == 0 && strcmp(value.of, "coreCycles") != 0;
		autofree char *label = value_label(&value);
		const char *row = in_row(section, is_wall ? "time" : label);

		if (is_wall && !row)
			row = in_row(section, "time with any thread in it");
		/* most programs mask nothing, which is not told */
		if (strcmp(value.name, "maskedOperations") == 0 && value.summary.value == 0)
			continue;
		ck_assert_msg(row || !is_known || !is_all, "no %s in %.900s", label, section);
		ck_assert_msg(!row || is_value(row, unit_of_row(row), quantity), "%s %.30s is not %.17g in %.900s",
			      label, row, member_number(quantity, "value"), section);
	}
}

/* of_point: as CSV, page and plot have it, which know it by other borders than memory, too. */
static void
check_roof_share(const char *section, double share, double of_point)
{
	const char *row = in_row(section, "share of the roof");

	ck_assert_msg(!row || is_rounded(row, 100 * share), "%.20s is not %.17g %%", row, 100 * share);
	ck_assert(row || isnan(share) || !is_all);
	ck_assert_msg(isnan(share) || fabs(share / of_point - 1) < 1e-9, "%.17g is not %.17g of the roof", share,
		      of_point);
}

/* Regions that nobody could observe have no part. */
static void
check_region(const json_t *region)
{
	const char *name = member_text(region, "name");
	const json_t *point;
	const char *section, *hits;
	size_t i;

	if (strcmp(member_text(region, "backend"), "none") == 0)
		return;
	section = section_of(name);
	hits = in_row(section, "hits");
	ck_assert_msg(!hits || is_rounded(hits, member_number(region, "hits")), "%.20s hits", hits);
	json_array_foreach(points(), i, point) {
		if (i == 0 || strcmp(member_text(point, "label"), name) != 0)
			continue;
		check_rows(section, point);
		check_roof_share(section, member_number(region, "roofShare"), member_number(point, "roofShare"));
	}
}

static void
check_table(void)
{
	const json_t *region;
	size_t i;

	check_rows(section_of(NULL), json_array_get(points(), 0));
	check_roof_share(section_of(NULL), member_number(json, "roofShare"),
			 member_number(json_array_get(points(), 0), "roofShare"));
	json_array_foreach(json_object_get(json, "regions"), i, region)
		check_region(region);
}

static double
intensity_of(const json_t *function)
{
	return json_object_get(function, "infiniteIntensity") ? INFINITY
							      : member_number(function, "operationalIntensity");
}

/* Columns by their headings; in a row what they show of that function. Halves of an interval are told as the larger
 * one. */
static void
check_function_row(const char *head, const char *row, const json_t *function)
{
	enum { ROOF = 1 };
	const struct {
		const char *heading;
		double value;
	} columns[] = {
		{"total", 100 * member_number(function, "totalShare")},
		{"of roof", 100 * member_number(function, "roofShare")},
		{"Gflop/s", member_number(function, "performance") / 1e9},
		{"flop/byte", intensity_of(function)},
	};
	const double value = 100 * member_number(function, "share"), low = 100 * member_number(function, "low"),
		     high = 100 * member_number(function, "high"), half = fmax(value - low, high - value);
	autofree char *share = text_cell(row, 0);

	ck_assert_msg(strstr(share, "±") ? is_interval(share, value, value - half, value + half)
					 : is_interval(share, value, low, high),
		      "%s is not the share %.17g [%.17g, %.17g]", share, value, low, high);
	for (size_t number = 1;; number++) {
		autofree char *heading = text_cell(head, number), *cell = text_cell(row, number);

		if (strcmp(heading, "function") == 0)
			return;
		for (int i = 0; i < NR_ELEMENTS(columns); i++) {
			const bool is_least = strncmp(cell, "≤", strlen("≤")) == 0;
			const char *digits = is_least ? cell + strlen("≤") : cell;

			/* without bytes of memory only files have a share of the roof, that of the first level */
			ck_assert_msg(strcmp(heading, columns[i].heading) != 0 ||
					      is_interval(digits, columns[i].value, NAN, NAN) ||
					      (i == ROOF && *cell == '-'),
				      "%s %s is not %.17g in %.900s", heading, cell, columns[i].value, row);
		}
	}
}

static const json_t *
functions(void)
{
	return json_object_get(json_object_get(json, "functions"), "functions");
}

/* Beside threads and regions functions are shown with --all alone: a row for each that has samples, in their order. */
static void
check_functions(void)
{
	const char *head = strstr(err, "  CPU time  "), *row = head;
	const json_t *function;
	size_t i;

	ck_assert_int_eq(head != NULL, is_all);
	json_array_foreach(functions(), i, function) {
		if (!head || !(member_number(function, "samples") > 0))
			break;
		row = strchr(row, '\n') + 1;
		check_function_row(head, row, function);
	}
}

/* ---- files ---- */

static void
check_csv(const char *csv)
{
	const json_t *point, *quantity;
	size_t i, k;

	json_array_foreach(points(), i, point) {
		json_array_foreach(json_object_get(point, "quantities"), k, quantity) {
			struct quantity_value value;
			autofree char *column = NULL;

			stored_value(quantity, &value);
			column = quantity_column_name(&value.request, value.unit);
			expect_quantity(csv, i + 1, column, quantity);
		}
		expect_field(csv, i + 1, "roof_share", member_number(point, "roofShare"));
	}
}

static void
check_functions_csv(const char *csv)
{
	static const char *const columns[][2] = {
		{"share", "share"},
		{"low", "share_low"},
		{"high", "share_high"},
		{"totalShare", "total_share"},
		{"samples", "samples"},
		{"performance", "performance"},
		{"operationalIntensity", "operational_intensity"},
		{"roofShare", "roof_share"},
	};
	const json_t *function;
	size_t i;

	json_array_foreach(functions(), i, function)
		for (int k = 0; k < NR_ELEMENTS(columns); k++)
			expect_field(csv, i + 1, columns[k][1], member_number(function, columns[k][0]));
}

/* The table of points has all values below words that tell which they are. */
static void
check_page_points(const char *page)
{
	const json_t *point, *quantity;
	size_t i, k;

	json_array_foreach(points(), i, point) {
		autofree char *series = escaped(member_text(point, "series")),
			      *label = escaped(member_text(point, "label"));
		const char *row = page_row(page, series, label), *table = strstr(page, ">point</th>");

		while (strncmp(table, "<table", strlen("<table")) != 0)
			table--;
		json_array_foreach(json_object_get(point, "quantities"), k, quantity) {
			struct quantity_value value;
			autofree char *name = NULL, *of = NULL;
			const char *cell;
			size_t column;

			stored_value(quantity, &value);
			name = camel_case_words(value.name);
			of = value_of_words(&value);
			column = page_column(table, name, of);
			cell = page_form_cell(row, column);
			if (strcmp(value.of, "coreCycles") == 0)
				continue; /* has the same words as time */
			ck_assert_msg(is_value(cell,
					       *value.unit && strcmp(value.name, "instructions") != 0
						       ? page_unit(table, column)
						       : 1,
					       quantity),
				      "%.30s is not the %s of %s, %.17g", cell, name, series,
				      member_number(quantity, "value"));
		}
	}
}

/* The cell of a row of the page's table below that heading is that number, and interval. */
static void
expect_cell(const char *table, const char *row, const char *heading, double value, double low, double high)
{
	const char *cell = page_form_cell(row, page_column(table, heading, NULL));

	ck_assert_msg(is_interval(cell, value, low, high), "%s %.60s is not %.17g in %.400s", heading, cell, value,
		      row);
}

static void
check_page_functions(const char *page)
{
	const char *part = strstr(page, ">Functions<");
	const char *rates = part ? strstr(part, ">performance<") : NULL;
	const bool has_rates = rates && rates < strstr(part, "</thead>");
	const json_t *function;
	size_t i;

	json_array_foreach(functions(), i, function) {
		const char *row;

		if (!part || !(member_number(function, "samples") > 0))
			break;
		row = nth(part, "<td class=\"stays\"", i);
		ck_assert_ptr_nonnull(row);
		expect_cell(part, row, "CPU time", 100 * member_number(function, "share"),
			    100 * member_number(function, "low"), 100 * member_number(function, "high"));
		if (!has_rates) {
			ck_assert(!(member_number(function, "performance") > 0));
			continue;
		}
		expect_cell(part, row, "performance", member_number(function, "performance") / 1e9,
			    member_number(function, "performanceLow") / 1e9,
			    member_number(function, "performanceHigh") / 1e9);
		expect_cell(part, row, "operational intensity", intensity_of(function), NAN, NAN);
	}
}

static void
check_page_regions(const char *page)
{
	const char *part = strstr(page, ">Regions<");
	const json_t *region;
	size_t i;

	json_array_foreach(json_object_get(json, "regions"), i, region) {
		const char *row = nth(part, "<td class=\"stays\"", i);

		expect_cell(part, row, "hits", member_number(region, "hits"), NAN, NAN);
		expect_cell(part, row, "of roof", 100 * member_number(region, "roofShare"), NAN, NAN);
	}
}

/* Performance over intensity of each point that has both, in a series of its own. */
static void
check_plot(const char *data)
{
	const json_t *point;
	size_t i;

	json_array_foreach(points(), i, point) {
		const char *at = plot_data(data, member_text(point, "series"));
		double value[2] = {NAN, NAN};
		const json_t *quantity;
		size_t k;

		json_array_foreach(json_object_get(point, "quantities"), k, quantity) {
			const char *name = member_text(quantity, "name");
			double *to = strcmp(name, "operationalIntensity") == 0 ? &value[0]
				     : strcmp(name, "performance") == 0        ? &value[1]
									       : &(double){0};

			*to = isnan(*to) ? member_number(quantity, "value") : *to;
		}
		if (!at || !(value[0] > 0 && value[1] > 0) || isinf(value[0]) || isinf(value[1]))
			continue;
		expect_mark(at, value[0], value[1]);
	}
}

TEST_OF(forms_of_programs_show_the_same, all_are_tested() ? 60 : 8)
{
	static const char *const architectures[] = {"blocks", "zen5", "none", "blocks beside events"};
	static const char *const regions[] = {"solve",  "setUp", "throwing", "fast", "deep",
					      "shared", "brief", "last",     "idle", "late"};
	static const char *const names[] = {"a, \"b\"", "<i> &amp;", "µ 漢字", "\033[31mred\xff", "two\nlines"};
	autofree char *gnuplot = process_find("gnuplot"), *mode = rot_format("random %d", _i);
	const char *const name = names[_i % NR_ELEMENTS(names)];
	autofree char *first = rot_format("-R=one=%s", regions[_i % NR_ELEMENTS(regions)]),
		      *second = rot_format("-R=%s", regions[(_i + 3) % NR_ELEMENTS(regions)]),
		      *missing = rot_format("-R=%s", name);
	const char *csv, *page;

	setenv("FAKE_CORE", mode, 1);
	has_csv = has_page = true;
	is_all = _i % 3 != 0;
	is_narrow = _i % 3 == 1;
	has_peaks = _i % 5 < 3; /* with each of the architectures */
	RUN(architectures[_i / 2 % NR_ELEMENTS(architectures)], "-t", "--runs=7", "-o", "x", first, second, missing,
	    "true", name);
	json = json_file("x.json");
	expect_schema("driver/schemas/result-1.json", json);
	csv = file_text("x.csv");
	page = file_text("x.html");
	check_table();
	check_functions();
	check_csv(csv);
	check_functions_csv(file_text("x-functions.csv"));
	check_page_points(page);
	check_page_functions(page);
	check_page_regions(page);
	if (gnuplot && access("x.data", F_OK) == 0)
		check_plot(file_text("x.data"));
	expect_clean("the table", err, true); /* threads in regions are there alone */
	expect_clean("the CSV", csv, has_infinite(points()));
	expect_clean("the CSV of functions", file_text("x-functions.csv"), false);
	expect_clean("the page", page, has_infinite(points()));
}

UNIT_TESTS(.set_up = run_setup, .tear_down = run_teardown);
