/* SPDX-License-Identifier: MIT */
/* Random results in all their forms: the text, CSV, JSON, page and plot of one result show the same values. */
#include <jansson.h>

#include "configuration/configuration.h"
#include "draw.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "number.h"
#include "quantities/value_text.h"
#include "support/process.h"
#include "testing.h"

#define NR_RESULTS 12

/* Points of one thread and of two, each under its own roof. */
static const char controller[] =
	"<controller name='random' comment='' runs='10'><axis name='n'><list values='1 2 3 4'/></axis>"
	"<axis name='threads'><list values='1 2'/></axis>"
	"<point series='of {$threads}' label='p{$n}' threads='{$threads}'><workload><kernel type='Triad' "
	"bufferSize='{$n}'/></workload></point><quantity is='time'/>"
	"<plot type='roofline' x='operationalIntensity:doublePrecisionFlop:llcRam' "
	"y='performance:doublePrecisionFlop'><defaultPeaks/></plot></controller>";

/* Over several decades, and as scattered as runs of a busy machine; some intensities are of the definition alone. */
static void
measure_randomly(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		 int nr_runs, struct quantity_value *values)
{
	(void)measurement;
	for (size_t i = 0; i < nr_requests; i++) {
		const bool is_time = strcmp(requests[i].name, "time") == 0,
			   is_rate = strcmp(requests[i].name, "performance") == 0;
		const double middle = pow(10, is_time   ? 6 * draw_uniform()
					      : is_rate ? 8 + 3 * draw_uniform()
							: 3 * draw_uniform() - 2);
		const double scatter = pow(10, -4 * draw_uniform());
		const bool is_expected = !is_time && !is_rate && draw_uniform() < 0.3;
		struct quantity_value *value = &values[i];

		*value = (struct quantity_value){
			.request = requests[i],
			.name = requests[i].name,
			.of = is_time   ? "microSeconds"
			      : is_rate ? "doublePrecisionFlop"
					: "doublePrecisionFlop/llcRam",
			.unit = is_time   ? "us"
				: is_rate ? "flop/s"
					  : "flop/byte",
			.source = "random",
			.kind = is_expected ? "expected" : "measured",
			.grade = "",
			.expected = NAN,
			.nr_samples = is_expected ? 0 : (size_t)nr_runs,
			.samples = rot_calloc((size_t)nr_runs, sizeof(double)),
			.taints = rot_calloc((size_t)nr_runs, sizeof(unsigned)),
		};
		for (int k = 0; k < nr_runs; k++)
			value->samples[k] = middle * (1 + scatter * draw_uniform());
		value->summary = is_expected ? summary_single(middle, "expected")
					     : summary_median(value->samples, value->nr_samples);
		value->request.clock = is_time || is_rate ? "microSeconds" : NULL;
	}
}

/* ---- what was written ---- */

static json_t *json;

static const json_t *
quantity_of(const json_t *point, const char *name)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity)
	{
		if (strcmp(json_string_value(json_object_get(quantity, "name")), name) == 0)
			return quantity;
	}
	ck_abort_msg("no %s", name);
}

static double
number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Is the text the number, rounded to the digits that it has: "1200" to hundreds at the most? */
static bool
is_rounded(const char *text, double number)
{
	const size_t length = strspn(text, "-0123456789."), whole = strcspn(text, ".");
	const bool has_point = whole < length;
	size_t zeros = 0;

	while (!has_point && zeros < length && text[length - 1 - zeros] == '0')
		zeros++;
	return length > 0 && fabs(strtod(text, NULL) - number) <=
				     0.5001 * pow(10, has_point ? -(double)(length - whole - 1) : (double)zeros);
}

/* Is "7.4 [7.1, 7.9]", "53.7 ±2.3" or "1500", maybe with a mark behind, that quantity? */
static bool
is_value(const char *text, const json_t *quantity)
{
	const double factor = shown_unit(json_string_value(json_object_get(quantity, "unit"))).factor;
	const double value = factor * number_of(quantity, "value"), low = factor * number_of(quantity, "low"),
		     high = factor * number_of(quantity, "high");
	const bool is_expected = strcmp(json_string_value(json_object_get(quantity, "kind")), "expected") == 0;
	const size_t length = strcspn(text, "<\n");
	char *cell = rot_strndup(text, length), *bracket = strchr(cell, '['), *half = strstr(cell, "±");
	bool is_it = is_rounded(cell, value) && (strstr(cell, "(e)") != NULL) == is_expected;

	if (bracket)
		is_it = is_it && is_rounded(bracket + 1, low) && is_rounded(strchr(bracket, ',') + 2, high);
	else if (half)
		is_it = is_it && is_rounded(half + strlen("±"), value - low) &&
			is_rounded(half + strlen("±"), high - value);
	else
		is_it = is_it && !(low < high);
	free(cell);
	return is_it;
}

/* ---- the forms ---- */

/* The cell of that number in a row of text: cells are two blanks and more apart. Fresh memory. */
static char *
cell_of(const char *row, int number)
{
	for (; number > 0 && row; number--) {
		row = strstr(row, "  ");
		row = row ? row + strspn(row, " ") : NULL;
	}
	ck_assert_ptr_nonnull(row);
	return rot_strndup(row, strstr(row, "  ") && strstr(row, "  ") < strchr(row, '\n')
					? (size_t)(strstr(row, "  ") - row)
					: strcspn(row, "\n"));
}

/* series, label, share, time, and x and y of the plot */
static void
check_table(const char *table, const json_t *point)
{
	static const char *const names[] = {[3] = "time", [4] = "operationalIntensity", [5] = "performance"};
	autofree char *begin = rot_format("\n%s  ", json_string_value(json_object_get(point, "series")));
	const char *label = json_string_value(json_object_get(point, "label")), *row = table;
	char *found, *cell;

	for (;;) {
		row = strstr(row, begin);
		ck_assert_msg(row != NULL, "%s", table);
		found = cell_of(++row, 1);
		cell = strcmp(found, label) == 0 ? found : NULL;
		free(found);
		if (cell)
			break;
	}
	for (int i = 2; i < 6; i++) {
		cell = cell_of(row, i);
		ck_assert_msg(names[i] ? is_value(cell, quantity_of(point, names[i]))
				       : is_rounded(cell, 100 * number_of(point, "roofShare")),
			      "%s in %s", cell, table);
		free(cell);
	}
}

/* The field of a column of the CSV in that row, from 1; none before it has a comma in it. Fresh memory. */
static char *
field(const char *csv, size_t row, const char *column)
{
	size_t number = 0;
	const char *at = csv;

	for (; strcspn(at, ",\n") != strlen(column) || strncmp(at, column, strlen(column)) != 0; number++) {
		at += strcspn(at, ",\n");
		ck_assert_msg(*at == ',', "no column %s", column);
		at++;
	}
	for (at = csv; row > 0; row--)
		at = strchr(at, '\n') + 1;
	for (; number > 0; number--)
		at = strchr(at, ',') + 1;
	return *at == '"' ? rot_strndup(at + 1, strcspn(at + 1, "\"")) : rot_strndup(at, strcspn(at, ",\n"));
}

static void
expect_field(const char *csv, size_t row, const char *column, double number)
{
	autofree char *text = field(csv, row, column);

	if (isnan(number))
		ck_assert_str_eq(text, "");
	else
		ck_assert_double_eq_tol(strtod(text, NULL) / number, 1, 1e-15);
}

/* By the names of doc/RESULTS.md. */
static void
check_csv(const char *csv, size_t row, const json_t *point)
{
	static const char *const names[][2] = {{"time", "time_us"},
					       {"performance", "performance_dp_per_s"},
					       {"operationalIntensity", "intensity_dp_ram"}};
	static const char *const parts[][2] = {{"value", ""}, {"low", "_low"}, {"high", "_high"}, {"n", "_n"}};
	autofree char *bound = field(csv, row, "bound_by");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
			const json_t *quantity = quantity_of(point, names[i][0]);
			char *column = rot_format("%s%s", names[i][1], parts[k][1]);

			if (strcmp(parts[k][0], "n") != 0 || number_of(quantity, "n") > 0)
				expect_field(csv, row, column, number_of(quantity, parts[k][0]));
			free(column);
		}
	expect_field(csv, row, "roof_share", number_of(point, "roofShare"));
	ck_assert_str_eq(bound, json_string_value(json_object_get(point, "boundBy")));
}

/* One of the numbers of the row of the page's table that has these words, wherever the columns are. */
static void
expect_in_row(const char *page, const char *series, const char *label, const json_t *quantity)
{
	char *cells[] = {rot_format(">%s<", series), rot_format(">%s<", label)};
	bool is_there = false;

	for (const char *row = page; !is_there && (row = strstr(row, "<tr")); row++) {
		const size_t length = (size_t)(strstr(row, "</tr>") - row);
		char *text = rot_strndup(row, length), *at = text;

		if (strstr(text, cells[0]) && strstr(text, cells[1]))
			while (!is_there && (at = strstr(at, "class=\"number"))) {
				at = strchr(at, '>') + 1;
				is_there = is_value(at, quantity);
			}
		free(text);
	}
	ck_assert_msg(is_there, "%s of %s %s, %.17g, is not in the page",
		      json_string_value(json_object_get(quantity, "name")), series, label,
		      number_of(quantity, "value"));
	free(cells[0]);
	free(cells[1]);
}

/* The row of the page's table, and what is said to who points at the mark. */
static void
check_page(const char *page, const json_t *point)
{
	static const char *const names[] = {"time", "performance", "operationalIntensity"};
	const char *series = json_string_value(json_object_get(point, "series")),
		   *label = json_string_value(json_object_get(point, "label"));
	char *title = rot_format(">%s, %s\n", series, label),
	     *bound = rot_format("(%s)", json_string_value(json_object_get(point, "boundBy")));
	const char *told = strstr(page, title), *share = told ? strstr(told, " % of the roof") : NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		expect_in_row(page, series, label, quantity_of(point, names[i]));
	ck_assert_msg(share != NULL, "nothing is told of %s", title);
	ck_assert_msg(strncmp(strchr(share, '('), bound, strlen(bound)) == 0, "%.90s is not %s", share, bound);
	while (share[-1] != '\n')
		share--;
	ck_assert_msg(is_rounded(share, 100 * number_of(point, "roofShare")), "%.20s is not %g %%", share,
		      100 * number_of(point, "roofShare"));
	free(bound);
	free(title);
}

/* x and y of the mark, in the order of the points of a series. */
static void
check_data(const char **data, const json_t *point)
{
	double x, y;

	ck_assert_int_eq(sscanf(*data, "%lf %lf", &x, &y), 2);
	ck_assert_double_eq_tol(x / number_of(quantity_of(point, "operationalIntensity"), "value"), 1, 1e-14);
	ck_assert_double_eq_tol(1e9 * y / number_of(quantity_of(point, "performance"), "value"), 1, 1e-14);
	*data = strchr(*data, '\n') + 1;
}

/* The plot has the points of both series. */
static void
check_plot(const json_t *points)
{
	static const char *const series[] = {"of 1", "of 2"};
	char *text = file_text("out.data");

	for (size_t s = 0; s < 2; s++) {
		autofree char *head = rot_format("# %s\n", series[s]);
		const char *at = strstr(text, head);

		ck_assert_msg(at != NULL, "%s", text);
		at = strchr(strchr(at, '\n') + 1, '\n') + 1;
		for (size_t i = 0; i < json_array_size(points); i++) {
			const json_t *point = json_array_get(points, i);

			if (strcmp(json_string_value(json_object_get(point, "series")), series[s]) == 0)
				check_data(&at, point);
		}
	}
}

TEST_OF(forms_show_the_same, NR_RESULTS)
{
	autofree char *gnuplot = process_find("gnuplot"), *table = NULL, *csv = NULL, *page = NULL;
	const json_t *points;

	draw_state = (uint64_t)_i;
	setenv("COLUMNS", "200", 1); /* the table has all columns */
	file_fill("random.xml", controller);
	store_peaks();
	fake_measure = measure_randomly;
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "writeCsv", "true", NULL);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "plots", gnuplot ? "files,html" : "html",
			  NULL);
	ck_assert_ok(run_into("table", "random", "out", &why));
	json = json_file("out.json");
	expect_schema("driver/schemas/result-1.json", json);
	points = json_object_get(json, "points");
	ck_assert_uint_eq(json_array_size(points), 8);
	table = file_text("table");
	csv = file_text("out.csv");
	page = file_text("out.html");
	for (size_t i = 0; i < json_array_size(points); i++) {
		check_table(table, json_array_get(points, i));
		check_csv(csv, i + 1, json_array_get(points, i));
		check_page(page, json_array_get(points, i));
	}
	if (gnuplot)
		check_plot(points);
}

UNIT_TESTS(.set_up = setup);
