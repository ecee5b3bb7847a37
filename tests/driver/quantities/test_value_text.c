/* SPDX-License-Identifier: MIT */
/* Values for people: units, digits, words and doubts. */
#include "quantities/value_text.h"
#include "testing.h"

TEST(units_for_people)
{
	struct quantity_value value = {
		.kind = "measured", .unit = (char *)"flop/s", .summary = summary_single(2.5e9, "median")};
	autofree char *text = value_text(&value);

	ck_assert_str_eq(text, "2.500");
	ck_assert_str_eq(shown_unit("byte/s").shown, "GB/s");
	ck_assert_str_eq(shown_unit("flop/cycle").shown, "flop/cycle");
	ck_assert_double_eq(shown_unit("flop/cycle").factor, 1);
}

/* No number is a row of zeros. */
TEST(units_of_small_rates)
{
	static const struct {
		const char *unit;
		double size;
		const char *shown;
	} rows[] = {{"flop/s", 2e7, "Gflop/s"}, {"flop/s", 9e6, "Mflop/s"}, {"byte/s", 366.8, "kB/s"},
		    {"byte/s", -2, "B/s"},      {"byte/s", 0, "GB/s"},      {"flop/cycle", 1e-9, "flop/cycle"}};
	struct quantity_value value = {
		.kind = "measured", .unit = (char *)"byte/s", .summary = summary_single(366.8, "median")};
	autofree char *text = value_text_in(&value, shown_unit_for("byte/s", 366.8));

	ck_assert_str_eq(text, "0.3668");
	for (size_t i = 0; i < NR_ELEMENTS(rows); i++)
		ck_assert_str_eq(shown_unit_for(rows[i].unit, rows[i].size).shown, rows[i].shown);
}

TEST(labels_of_tables)
{
	static const char *const rows[][3] = {
		{"time", "coreCycles", "core cycles"},
		{"time", "microSeconds", "time"},
		{"performance", "flop", "performance"},
		{"operationCount", "doublePrecisionFlop", "operations (double precision)"},
		{"transferredBytes", "llcRam.read", "bytes (LLC-RAM read)"},
		{"ofALaterRot", "", "of a later rot"}};

	for (size_t i = 0; i < NR_ELEMENTS(rows); i++) {
		const struct quantity_value value = {.name = (char *)rows[i][0], .of = (char *)rows[i][1]};
		autofree char *label = value_label(&value);

		ck_assert_str_eq(label, rows[i][2]);
	}
}

static const struct {
	double value, low, high;
	const char *kind, *text;
} numbers[] = {
	{20000, 20000, 20000, "measured", "20000"},
	{20000, NAN, NAN, "expected", "20000 (e)"},
	{1.23456, NAN, NAN, "modelled", "1.235 (m)"},
	{51.34, 51.13, 51.55, "measured", "51.34 ±0.21"},
	{51.34, 51.3, 52.9, "measured", "51.3 [51.3, 52.9]"},
	{1234567, 1233000, 1236000, "measured", "1234600 [1233000, 1236000]"},
	{100, 90, 120, "measured", "100 [90, 120]"},
	{0.001234, 0.001233, 0.001235, "measured", "0.0012340 ±0.0000010"},
	/* one end far away, as of one slow run among six */
	{12.34, 12.11, 3988, "measured", "12 [12, 3988]"},
	{1499, 1402, 8920, "measured", "1500 [1400, 8900]"},
	{150, 2.2, 8920, "measured", "150 [2, 8920]"},
	{31, 0, 4000, "measured", "31 [0, 4000]"},
	{0, 0, 4000, "measured", "0 [0, 4000]"},
	{0.000123, 0.000121, 51, "measured", "0.00012 [0.00012, 51.00000]"},
	{0, 0, 0, "measured", "0"},
	{0, NAN, NAN, "expected", "0 (e)"},
	{INFINITY, NAN, NAN, "measured", "inf"},
	{NAN, NAN, NAN, "measured", "-"},
	{123456.7, NAN, NAN, "measured", "123500"},
	{27122732, NAN, NAN, "measured", "27120000"},
	{27122732, NAN, NAN, "given", "27122732 (g)"},
};

TEST_OF(digits_follow_the_interval, NR_ELEMENTS(numbers))
{
	struct quantity_value value = {
		.kind = numbers[_i].kind,
		.summary = {.estimator = numbers[_i].kind,
			    .value = numbers[_i].value,
			    .low = numbers[_i].low,
			    .high = numbers[_i].high},
	};
	autofree char *text = value_text(&value);

	ck_assert_str_eq(text, numbers[_i].text);
}

TEST(words_for_people)
{
	struct quantity_value value = {.of = (char *)"doublePrecisionFlop/llcRam.read"};
	autofree char *of = value_of_words(&value), *name = camel_case_words("operationalIntensity");

	ck_assert_str_eq(of, "double precision, LLC-RAM read");
	ck_assert_str_eq(name, "operational intensity");
}

TEST(doubts_are_told)
{
	double samples[] = {4.2, 3.1, 3.1, 4.2, 3.1, 4.2, 3.1, 3.1, 3.1, 4.2}, rising[10];
	unsigned taints[10] = {0};
	struct quantity_value value = {
		.name = (char *)"time", .unit = (char *)"us", .samples = samples, .taints = taints, .nr_samples = 10};
	char *text = value_doubts_text(&value);

	ck_assert_str_eq(text, "time: two modes: 3.1 and 4.2 us, 6 and 4 runs");
	free(text);
	for (int i = 0; i < 10; i++)
		rising[i] = (i == 0 ? 40e9 : 100e9 - i * 1e9);
	value.name = (char *)"throughput";
	value.unit = (char *)"byte/s";
	value.samples = rising;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: the first run differs by -58 % from the others");
	free(text);
	rising[0] = 270e9;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: drifts by -9.4 % from the first to the last run; "
			       "the first run differs by +184 % from the others");
	free(text);
	rising[0] = 100e9;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: drifts by -9.4 % from the first to the last run");
	free(text);
	value.nr_samples = 5;
	ck_assert_ptr_null(value_doubts_text(&value));
}

static const struct {
	double value;
	const char *text;
} digits[] = {
	{62.41, "62.4"},  {30, "30"},       {999.4, "999"},      {999.6, "1000"}, {1001.2, "1000"},
	{12345, "12300"}, {-1234, "-1230"}, {0.01234, "0.0123"}, {0, "0"},        {INFINITY, "inf"},
};

TEST_OF(numbers_have_some_digits, NR_ELEMENTS(digits))
{
	autofree char *text = digits_text(digits[_i].value, 3);

	ck_assert_str_eq(text, digits[_i].text);
}

UNIT_TESTS(.is_in_one_process = true);
