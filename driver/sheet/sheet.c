/* SPDX-License-Identifier: MIT */
#include "sheet/sheet.h"

#include <math.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/text_table.h"
#include "memory.h"

struct sheet_answer
sheet_no_answer(const char *name, const char *unit, double told)
{
	return (struct sheet_answer){
		.name = name, .unit = unit, .number = {NAN, NAN, NAN}, .told = told, .confidence = NAN};
}

void
sheet_read_step(struct sheet_answer *answer, const struct measured_curve *curve, const struct curve_step *step,
		bool is_behind)
{
	const double before = curve->at[step->at], behind = curve->at[step->at + 1];

	answer->confidence = step->confidence;
	if (isnan(step->rise))
		return;
	answer->number = is_behind ? (struct sheet_number){behind, before + 1, behind}
				   : (struct sheet_number){before, before, behind - 1};
}

void
sheet_read_halves(struct sheet_answer *answer, double a, double b)
{
	answer->number = (struct sheet_number){.value = fmin(a, b), .low = fmin(a, b), .high = fmax(a, b)};
	answer->confidence = fmax(0, 1 - 4 * fabs(a - b) / fmin(a, b));
}

void
sheet_judge(struct sheet_answer *answer)
{
	if (answer->remark)
		return;
	if (!isfinite(answer->number.value))
		answer->remark = "cannot be told: the curve has no such step";
	else if (answer->confidence < CURVE_SURE)
		answer->remark = "not sure: others disturbed the runs, or the step is not sharp";
	else if (answer->told > 0 && (answer->told < answer->number.low || answer->told > answer->number.high))
		answer->remark = "not as told: what a guest is told may be that of another processor";
}

/* ---- what is shown ---- */

/* Less of a cycle is none. */
#define NOTHING 0.005

static const struct text_table_column columns[] = {
	{"quantity", true}, {"measured", false}, {"unit", true}, {"range", false}, {"told", false},
};

char *
sheet_number_text(double value)
{
	if (!isfinite(value))
		return rot_strdup("-");
	if (fabs(value) < NOTHING)
		return rot_strdup("0");
	return value == floor(value) || fabs(value) >= 1000 ? rot_format("%.0f", value) : rot_format("%.4g", value);
}

static char *
range_text(const struct sheet_number *number)
{
	autofree char *low = sheet_number_text(number->low), *high = sheet_number_text(number->high);

	if (!isfinite(number->value) || strcmp(low, high) == 0)
		return rot_strdup("-");
	return isfinite(number->high) ? rot_format("%s..%s", low, high) : rot_format(">= %s", low);
}

/* Once, beside the first of the answers that have it. */
static void
print_remark(const struct sheet_answer *answers, size_t nr, size_t of, FILE *out)
{
	autofree char *line = rot_strdup(answers[of].name);

	for (size_t i = 0; i < nr; i++) {
		if (i == of || !answers[i].remark || strcmp(answers[i].remark, answers[of].remark) != 0)
			continue;
		if (i < of)
			return;
		rot_append(&line, "; %s", answers[i].name);
	}
	rot_append(&line, ": %s\n", answers[of].remark);
	text_print_fitting(line, out);
}

void
sheet_print(const struct sheet_answer *answers, size_t nr, FILE *out)
{
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 1};

	for (size_t i = 0; i < nr; i++) {
		char *const cells[] = {rot_strdup(answers[i].name), sheet_number_text(answers[i].number.value),
				       rot_strdup(answers[i].unit), range_text(&answers[i].number),
				       sheet_number_text(answers[i].told > 0 ? answers[i].told : NAN)};

		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	text_table_clear(&table);
	for (size_t i = 0; i < nr; i++)
		if (answers[i].remark)
			print_remark(answers, nr, i, out);
}

json_t *
sheet_number_json(const struct sheet_number *number)
{
	return json_pack("{s:o, s:o, s:o}", "value", json_real_or_null(number->value), "low",
			 json_real_or_null(number->low), "high", json_real_or_null(number->high));
}

json_t *
sheet_curve_json(const struct measured_curve *curve)
{
	json_t *points = json_array();

	for (size_t i = 0; i < curve->nr; i++)
		json_array_append_new(points, json_pack("{s:o, s:[o, o]}", "at", json_real_or_null(curve->at[i]),
							"values", json_real_or_null(curve->cycles[0][i]),
							json_real_or_null(curve->cycles[1][i])));
	return json_pack("{s:s, s:s, s:o}", "parameter", curve->parameter, "unit", curve->unit ? curve->unit : "cycles",
			 "points", points);
}

json_t *
sheet_json(const struct sheet_answer *answers, size_t nr)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++) {
		const struct sheet_answer *answer = &answers[i];
		json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:s*}", "name", answer->name, "unit", answer->unit,
					 "number", sheet_number_json(&answer->number), "told",
					 json_real_or_null(answer->told > 0 ? answer->told : NAN), "confidence",
					 json_real_or_null(answer->confidence), "remark", answer->remark);

		if (answer->curve)
			json_object_set_new(json, "curve", sheet_curve_json(answer->curve));
		json_array_append_new(array, json);
	}
	return array;
}
