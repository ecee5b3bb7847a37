/* SPDX-License-Identifier: MIT */
/* Answers of curves of instructions: recorded ones of a Zen 5 whose latencies are known, and some that say less. */
#include "sheet/operations.h"
#include "testing.h"

/* Documents that allow so many per cycle. */
#define TOLD(rate) (&(const struct operation_told){NAN, rate, "", "a manual"})

#define CHAINS(count) .parameter = "chains", .at = {1, 2, 3, 4, 6, 8, 12}, .nr = (count)

/* Recorded in a guest on a busy host; latencies and throughputs as the documents and uops.info tell them. */
/* clang-format off */
static const struct recorded {
	struct operation_curve curve;
	double extra, told, latency, per_cycle, in_flight;
} recorded[] = {
	{{"FMA", "AVX2", "DOUBLE",
	  {CHAINS(7), .cycles = {{4.005, 4.003, 4.004, 4.005, 4.005, 4.338, 6.024},
			     {4.005, 4.001, 4.005, 4.004, 4.003, 4.009, 6.005}}}}, 0, 2, 4, 2, 8},
	{{"ADD", "SCALAR", "INT32",
	  {CHAINS(7), .cycles = {{1.003, 1.002, 1.006, 1.081, 1.296, 1.541, 2.285},
			     {1.002, 1.005, 1.007, 1.079, 1.293, 1.543, 2.287}}}}, 0, NAN, 1, 5.25, 5.25},
	{{"DIV", "SCALAR", "INT64",
	  {CHAINS(5), .cycles = {{16.03, 20, 29.09, 40.37, 57.14}, {16.04, 20.03, 29.09, 39.62, 57.81}}}},
	 1, NAN, 15, 0.105, 1.58},
	{{"SQRT", "SSE", "DOUBLE",
	  {CHAINS(7), .cycles = {{22.03, 22.02, 27.03, 30.02, 45.04, 60.04, 90.05},
			     {22.06, 22.02, 27.04, 29.99, 45.02, 60.07, 90.17}}}}, 2, NAN, 20, 0.1333, 2.667},
	{{"ADD", "AVX512", "FLOAT",
	  {CHAINS(7), .cycles = {{2.002, 2.006, 2.132, 2.007, 3.009, 4.007, 6.029},
			     {1.999, 2.002, 2.192, 2.015, 3.006, 4.008, 6.002}}}}, 0, 2, 2, 2, 4},
};
/* clang-format on */

TEST_OF(known_instructions_are_told, NR_ELEMENTS(recorded))
{
	const struct recorded *row = &recorded[_i];
	struct operation_answer answer = operation_conclude(&row->curve.cycles, row->extra, TOLD(row->told));

	ck_assert_double_eq_tol(answer.latency.value, row->latency, 0.01 * row->latency);
	ck_assert_double_eq_tol(answer.per_cycle.value, row->per_cycle, 0.01 * row->per_cycle);
	ck_assert_double_eq_tol(answer.in_flight.value, row->in_flight, 0.015 * row->in_flight);
	ck_assert_double_le(answer.latency.low, answer.latency.value);
	ck_assert_double_ge(answer.latency.high, answer.latency.value);
	ck_assert(!answer.is_least);
	ck_assert_str_eq(answer.remark, "");
}

/* The first step of the curve. With one point behind it, that of FMA is not sure. */
TEST(free_chains_have_a_confidence)
{
	const struct measured_curve clear = {CHAINS(7),
					     .cycles = {{4, 4, 4, 4, 6, 8, 12}, {4.01, 4, 4, 4, 6, 8.01, 12}}};
	struct operation_answer of_fma = operation_conclude(&recorded[0].curve.cycles, 0, TOLD(NAN)),
				of_clear = operation_conclude(&clear, 0, TOLD(NAN));

	ck_assert_int_eq(of_fma.free_chains, 8);
	ck_assert_double_lt(of_fma.confidence, CURVE_SURE);
	ck_assert_int_eq(of_clear.free_chains, 4);
	ck_assert_double_ge(of_clear.confidence, CURVE_SURE);
}

TEST(more_chains_than_there_are_would_be_needed)
{
	const struct measured_curve curve = {
		.at = {1, 2, 4, 8, 12}, .cycles = {{8, 8, 8, 8, 8}, {8, 8, 8, 8, 8}}, .nr = 5};
	struct operation_answer answer = operation_conclude(&curve, 0, TOLD(NAN));

	ck_assert(answer.is_least);
	ck_assert_double_eq(answer.per_cycle.value, 1.5);
	ck_assert_int_eq(answer.free_chains, 0);
	ck_assert_has(answer.remark, "at least");
}

/* A point that was always disturbed is left out; without the first, or with few, nothing is told. */
TEST(disturbed_points_are_left_out)
{
	struct measured_curve curve = recorded[0].curve.cycles;
	struct operation_answer answer;

	curve.cycles[0][4] = NAN;
	answer = operation_conclude(&curve, 0, TOLD(2));
	ck_assert_double_eq_tol(answer.per_cycle.value, 2, 0.02);
	curve.cycles[1][0] = NAN;
	answer = operation_conclude(&curve, 0, TOLD(2));
	ck_assert_double_nan(answer.latency.value);
	ck_assert_double_nan(answer.in_flight.value);
	ck_assert_has(answer.remark, "cannot be told");
	answer = operation_conclude(&recorded[3].curve.cycles, NAN, TOLD(NAN));
	ck_assert_double_nan(answer.latency.value);
}

TEST(documents_are_compared)
{
	const struct operation_told right = {4, 2, "", ""}, wrong = {5, 2, "", ""};

	ck_assert_has(operation_conclude(&recorded[0].curve.cycles, 0, TOLD(1)).remark, "above what documents allow");
	ck_assert_has(operation_conclude(&recorded[0].curve.cycles, 0, TOLD(4)).remark, "below what documents allow");
	ck_assert_str_eq(operation_conclude(&recorded[0].curve.cycles, 0, TOLD(2.05)).remark, "");
	ck_assert_str_eq(operation_conclude(&recorded[0].curve.cycles, 0, &right).remark, "");
	ck_assert_has(operation_conclude(&recorded[0].curve.cycles, 0, &wrong).remark, "not the latency");
}

/* The sheet of the recorded curves, and of one of which nothing is told. */
static void
make_sheet(struct operation_sheet *sheet)
{
	sheet->nr = NR_ELEMENTS(recorded) + 1;
	sheet->curves = rot_calloc(sheet->nr, sizeof(*sheet->curves));
	sheet->answers = rot_calloc(sheet->nr, sizeof(*sheet->answers));
	for (size_t i = 0; i < sheet->nr; i++) {
		const struct recorded *row = &recorded[i % NR_ELEMENTS(recorded)];

		sheet->curves[i] = row->curve;
		if (i == NR_ELEMENTS(recorded))
			sheet->curves[i].cycles.nr = 2;
		sheet->answers[i] = operation_conclude(&sheet->curves[i].cycles, row->extra, TOLD(row->told));
	}
}

TEST(sheet_is_80_columns_wide)
{
	struct operation_sheet sheet = {0};
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	make_sheet(&sheet);
	operations_print(&sheet, out);
	fclose(out);
	operations_clear(&sheet);
	ck_assert_has(text, "DOUBLE   FMA        AVX2             4      4..4          2     2          8");
	ck_assert_has(text, "DOUBLE   FMA        AVX2             -         -");
	ck_assert_has(text, "DOUBLE FMA AVX2: cannot be told");
	ck_assert_uint_le(strcspn(text, "\n"), 80);
}

TEST(each_answer_has_its_curve)
{
	struct operation_sheet sheet = {0};
	json_t *json, *fma, *points;

	make_sheet(&sheet);
	json = operations_json(&sheet);
	ck_assert_uint_eq(json_array_size(json), sheet.nr);
	fma = json_array_get(json, 0);
	ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(fma, "latencyCycles"), "value")), 4,
				0.01);
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(fma, "told"), "source")), "a manual");
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(fma, "curve"), "parameter")), "chains");
	points = json_object_get(json_object_get(fma, "curve"), "points");
	ck_assert_uint_eq(json_array_size(points), 7);
	ck_assert_double_eq(json_number_value(json_object_get(json_array_get(points, 6), "at")), 12);
	fma = json_array_get(json, sheet.nr - 1);
	ck_assert(json_is_null(json_object_get(json_object_get(fma, "latencyCycles"), "value")));
	json_decref(json);
	operations_clear(&sheet);
}
