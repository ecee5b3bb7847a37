/* SPDX-License-Identifier: MIT */
#include "sheet/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/pool.h"
#include "base/text_table.h"
#include "engine/origin.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "roof/peak.h"
#include "rot.h"
#include "sheet/survey.h"

/* ---- what a curve says ---- */

/* Below what documents allow by more than this, a throughput has a remark; above it, it is not believed. */
#define NOTABLE 0.05

/* A step that takes longer than one of one chain by less than this leaves room for further chains. */
#define STILL_FREE 0.06

static bool
is_integer(const struct operation_curve *curve)
{
	return strncmp(curve->precision, "INT", 3) == 0;
}

/* Chains that advance in a cycle. */
static double
best_rate(const struct measured_curve *curve, const double *cycles)
{
	double best = 0;

	for (size_t i = 0; i < curve->nr; i++)
		best = fmax(best, curve->at[i] / cycles[i]);
	return best;
}

static struct sheet_number
number_of(double a, double b, double value)
{
	return (struct sheet_number){.value = value, .low = fmin(a, b), .high = fmax(a, b)};
}

static const char *
remark_of(const struct operation_answer *answer)
{
	if (answer->is_least)
		return "at least: the most chains that were measured take no longer than one";
	if (answer->per_cycle.value > (1 + NOTABLE) * answer->told.per_cycle)
		return "above what documents allow: the clock was misread, or they are";
	if (answer->per_cycle.value < (1 - NOTABLE) * answer->told.per_cycle)
		return "below what documents allow, for a reason that is not known";
	if (fabs(answer->latency.value / answer->told.latency - 1) > NOTABLE)
		return "not the latency that documents tell";
	return "";
}

struct operation_answer
operation_conclude(const struct measured_curve *measured, double extra, const struct operation_told *told)
{
	struct operation_answer answer = {.told = *told, .remark = ""};
	const struct measured_curve curve = curve_undisturbed(measured);
	double shortest[CURVE_MAX_POINTS], rate[2], latency[2];
	struct curve_step step;

	if (curve.nr < CURVE_LEAST_POINTS || curve.at[0] > 1 || !isfinite(extra)) {
		answer.latency = answer.per_cycle = answer.in_flight = number_of(NAN, NAN, NAN);
		answer.remark = "cannot be told: the clock changed, or others ran, whenever it was measured";
		return answer;
	}
	for (size_t i = 0; i < curve.nr; i++)
		shortest[i] = fmin(curve.cycles[0][i], curve.cycles[1][i]);
	for (int half = 0; half < 2; half++) {
		latency[half] = curve.cycles[half][0] - extra;
		rate[half] = best_rate(&curve, curve.cycles[half]);
	}
	answer.latency = number_of(latency[0], latency[1], shortest[0] - extra);
	answer.per_cycle = number_of(rate[0], rate[1], best_rate(&curve, shortest));
	answer.in_flight =
		number_of(latency[0] * rate[0], latency[1] * rate[1], answer.latency.value * answer.per_cycle.value);
	answer.is_least = shortest[curve.nr - 1] < (1 + STILL_FREE) * shortest[0];
	step = curve_step_of_two(curve_first_step, curve.cycles[0], curve.cycles[1], curve.nr);
	answer.free_chains = isnan(step.rise) ? 0 : (int)curve.at[step.at];
	answer.confidence = step.confidence;
	answer.remark = remark_of(&answer);
	return answer;
}

/* ---- measuring ---- */

/* Steps of every chain in a turn of the kernel's loop. */
#define STEPS 8

/* Each run is some 0.1 to 0.4 ms: seldom interrupted, and long beside what starting and stopping the clock takes. */
#define TURNS 16000
#define SLOW_TURNS 3000

static const char *const operations[] = {
	"OR",  "ADD",     "MUL",     "FMA",     "DIV",    "SQRT",     "SHIFT",    "POPCNT",    "LEA",
	"MAX", "COMPARE", "SHUFFLE", "PERMUTE", "GATHER", "TO_INT32", "TO_FLOAT", "TO_DOUBLE",
};

static const char *const precisions[] = {"INT32", "INT64", "FLOAT", "DOUBLE"};
static const char *const instruction_sets[] = {"SCALAR", "SSE", "AVX2", "AVX512"};
static const int chain_counts[] = {1, 2, 3, 4, 6, 8, 12};

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_CURVES (NR(operations) * NR(precisions) * NR(instruction_sets))

static int
add_curve(struct survey *survey, struct operation_sheet *sheet, struct operation_curve curve, struct rot_error *err)
{
	static const char *const slow[] = {"DIV", "SQRT", "GATHER"};
	int turns = TURNS;

	for (size_t i = 0; i < NR(slow); i++)
		if (strcmp(curve.operation, slow[i]) == 0)
			turns = SLOW_TURNS;
	for (size_t i = 0; i < NR(chain_counts); i++) {
		int point = survey_add(
			survey, 1, "Operation", (double)STEPS * turns, err,
			"operation=%s instructionSet=%s precision=%s chains=%d turns=%d warmCode=true warmData=true",
			curve.operation, curve.instruction_set, curve.precision, chain_counts[i], turns);

		if (point == SURVEY_HAS_NONE)
			break;
		if (point < 0)
			return -1;
		curve.cycles.at[curve.cycles.nr++] = chain_counts[i];
	}
	if (curve.cycles.nr > 0)
		sheet->curves[sheet->nr++] = curve;
	return 0;
}

static int
add_curves(struct survey *survey, struct operation_sheet *sheet, struct rot_error *err)
{
	for (size_t p = 0; p < NR(precisions); p++)
		for (size_t k = 0; k < NR(operations); k++)
			for (size_t i = 0; i < NR(instruction_sets); i++)
				if (add_curve(survey, sheet,
					      (struct operation_curve){.operation = operations[k],
								       .instruction_set = instruction_sets[i],
								       .precision = precisions[p],
								       .cycles.parameter = "chains"},
					      err) < 0)
					return -1;
	return 0;
}

/*
 * Cycles by which an OR, which keeps numbers irregular, lengthens a chain of the kernel. That of vectors was measured
 * before, of the same registers: it takes one cycle, or two (Zen 5). That of integers takes as long as an addition.
 */
static double
extra_cycles(const struct operation_sheet *sheet, const struct operation_curve *curve)
{
	if (is_integer(curve))
		return strcmp(curve->operation, "DIV") == 0;
	if (strcmp(curve->operation, "SQRT") != 0)
		return 0;
	for (size_t i = 0; i < sheet->nr && &sheet->curves[i] != curve; i++)
		if (strcmp(sheet->curves[i].operation, "OR") == 0 &&
		    strcmp(sheet->curves[i].instruction_set, curve->instruction_set) == 0 &&
		    strcmp(sheet->curves[i].precision, curve->precision) == 0)
			return sheet->answers[i].latency.value;
	return NAN;
}

static struct operation_told
told_of(const struct rot *rot, const struct operation_sheet *sheet, const struct operation_curve *curve)
{
	const struct architecture_latency *latency =
		architecture_latency(sheet->documents, curve->operation, curve->precision, curve->instruction_set);
	const struct architecture_limit *limit = NULL;
	struct operation_told told = {NAN, NAN, "", ""};

	/* Limits are those of floating point. */
	if (!is_integer(curve) && strcmp(curve->operation, "OR") != 0)
		limit = architecture_limit(sheet->documents, (int)rot->machine->cpu_model, "", curve->operation,
					   curve->instruction_set);
	if (limit) {
		told.per_cycle = limit->per_cycle;
		told.source = limit->source;
	} else if (latency && latency->per_cycle) {
		told.per_cycle = latency->per_cycle;
		told.source = latency->source;
	}
	if (latency) {
		told.latency = latency->cycles;
		told.latency_source = latency->source;
	}
	return told;
}

static int
conclude(struct rot *rot, struct survey *survey, struct operation_sheet *sheet, struct rot_error *err)
{
	int point = 0;

	sheet->documents = limits_load(rot, err);
	if (!sheet->documents)
		return -1;
	for (size_t k = 0; k < sheet->nr; k++) {
		struct operation_curve *curve = &sheet->curves[k];
		const struct operation_told told = told_of(rot, sheet, curve);

		if (survey_read_curve(survey, point, &curve->cycles, err) < 0)
			return -1;
		point += (int)curve->cycles.nr;
		sheet->answers[k] = operation_conclude(&curve->cycles, extra_cycles(sheet, curve), &told);
	}
	return 0;
}

/* Numbers that can be told replace what was kept. */
static int
keep(const struct rot *rot, const struct survey *survey, const struct operation_sheet *sheet, struct rot_error *err)
{
	autofree struct measured_levels *kept = rot_calloc(1, sizeof(*kept));
	json_auto_t *origin = origin_new();

	survey_add_origin(survey, origin);
	measured_levels_load(kept, rot->paths->cache, rot->machine);
	kept->nr_operations = 0;
	kept->operations_when = measured_on(rot->machine, json_text_at(origin, "first"));
	for (size_t i = 0; i < sheet->nr && kept->nr_operations < MEASURED_OPERATIONS_MAX; i++) {
		const struct operation_curve *curve = &sheet->curves[i];
		const struct operation_answer *answer = &sheet->answers[i];
		struct measured_operation *found = &kept->operations[kept->nr_operations];

		if (!isfinite(answer->latency.value) || answer->is_least)
			continue;
		snprintf(found->operation, sizeof(found->operation), "%s", curve->operation);
		snprintf(found->instruction_set, sizeof(found->instruction_set), "%s", curve->instruction_set);
		snprintf(found->precision, sizeof(found->precision), "%s", curve->precision);
		found->latency = answer->latency.value;
		found->per_cycle = answer->per_cycle.value;
		kept->nr_operations++;
	}
	return measured_levels_store(kept, rot->paths->cache, rot->machine, err);
}

int
operations_measure(struct rot *rot, struct operation_sheet *sheet, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int rc;

	*sheet = (struct operation_sheet){.curves = rot_calloc(MAX_CURVES, sizeof(*sheet->curves)),
					  .answers = rot_calloc(MAX_CURVES, sizeof(*sheet->answers))};
	rc = add_curves(survey, sheet, err);
	if (rc == 0)
		rc = survey_measure(survey, err);
	if (rc == 0)
		rc = conclude(rot, survey, sheet, err);
	if (rc == 0)
		rc = keep(rot, survey, sheet, err);
	survey_delete(survey);
	return rc < 0 ? rot_error_prefix(err, "the latencies of instructions") : 0;
}

void
operations_clear(struct operation_sheet *sheet)
{
	architecture_delete(sheet->documents);
	free(sheet->curves);
	free(sheet->answers);
	*sheet = (struct operation_sheet){0};
}

/* ---- what is shown ---- */

/* Numbers of registers of several widths that differ by less are shown once. */
#define SAME 0.02

static const struct text_table_column columns[] = {
	{"numbers", true}, {"operation", true},  {"registers", true}, {"latency", false},   {"range", false},
	{"told", false},   {"per cycle", false}, {"told", false},     {"in flight", false},
};

static char *
number_text(double value)
{
	return isfinite(value) ? rot_format("%.3g", value) : rot_strdup("-");
}

static bool
is_alike(double a, double b)
{
	return fabs(a / b - 1) < SAME || (isnan(a) && isnan(b));
}

/* The last one that is shown together with the first: the next wider registers give the same numbers. */
static size_t
last_alike(const struct operation_sheet *sheet, size_t first)
{
	for (; first + 1 < sheet->nr; first++) {
		const struct operation_answer *answer = &sheet->answers[first];
		const struct operation_curve *curve = &sheet->curves[first];

		if (strcmp(curve->operation, curve[1].operation) != 0 ||
		    strcmp(curve->precision, curve[1].precision) != 0 || answer->remark[0] || answer[1].remark[0] ||
		    !is_alike(answer->latency.value, answer[1].latency.value) ||
		    !is_alike(answer->per_cycle.value, answer[1].per_cycle.value) ||
		    !is_alike(answer->told.per_cycle, answer[1].told.per_cycle) ||
		    !is_alike(answer->told.latency, answer[1].told.latency))
			break;
	}
	return first;
}

static char *
registers_text(const struct operation_sheet *sheet, size_t first, size_t last)
{
	return first == last ? rot_strdup(sheet->curves[first].instruction_set)
			     : rot_format("%s..%s", sheet->curves[first].instruction_set,
					  sheet->curves[last].instruction_set);
}

static void
add_row(struct text_table *table, const struct operation_sheet *sheet, size_t first, size_t last)
{
	const struct operation_curve *curve = &sheet->curves[first];
	const struct operation_answer *answer = &sheet->answers[first];
	const char *least = answer->is_least ? ">=" : "";
	autofree char *per_cycle = number_text(answer->per_cycle.value),
		      *in_flight = number_text(answer->in_flight.value);
	char *const cells[] = {
		rot_strdup(curve->precision),
		rot_strdup(curve->operation),
		registers_text(sheet, first, last),
		number_text(answer->latency.value),
		isfinite(answer->latency.low) ? rot_format("%.3g..%.3g", answer->latency.low, answer->latency.high)
					      : rot_strdup("-"),
		number_text(answer->told.latency),
		rot_format("%s%s", least, per_cycle),
		number_text(answer->told.per_cycle),
		rot_format("%s%s", least, in_flight),
	};

	text_table_add(table, cells);
}

void
operations_print(const struct operation_sheet *sheet, FILE *out)
{
	struct text_table table = {.columns = columns, .nr_columns = NR(columns), .nr_keys = 3};

	for (size_t first = 0, last; first < sheet->nr; first = last + 1) {
		last = last_alike(sheet, first);
		add_row(&table, sheet, first, last);
	}
	text_table_print(&table, out);
	text_table_clear(&table);
	fputs("\nlatency: core cycles until the next instruction of a chain can begin\n"
	      "range: the latency in each half of the runs\n"
	      "per cycle: instructions of independent chains that end in a core cycle\n"
	      "told: what the processor's documents say of the column before\n"
	      "in flight: latency times per cycle: so many independent instructions are needed\n"
	      "DIV of integers is that of a large number by 12345\n"
	      "PERMUTE crosses 128 bits, SHUFFLE does not; GATHER reads one line of L1\n",
	      out);
	for (size_t i = 0; i < sheet->nr; i++) {
		const struct operation_curve *curve = &sheet->curves[i];
		autofree char *line = rot_format("%s %s %s: %s\n", curve->precision, curve->operation,
						 curve->instruction_set, sheet->answers[i].remark);

		if (sheet->answers[i].remark[0])
			text_print_fitting(line, out);
	}
}

/* More curves than those would hide each other. */
static bool
is_arithmetic(const struct operation_curve *curve)
{
	static const char *const arithmetic[] = {"OR", "ADD", "MUL", "FMA", "DIV", "SQRT"};

	for (size_t i = 0; i < NR(arithmetic); i++)
		if (strcmp(curve->operation, arithmetic[i]) == 0)
			return true;
	return false;
}

/* Curves from first to end - 1. Where latency and throughput meet is what is in flight. */
static void
draw_together(const struct operation_sheet *sheet, size_t first, size_t end, const struct sheet_pictures *pictures)
{
	const char *precision = sheet->curves[first].precision;
	autopool pool = {0};
	const bool is_other = !is_arithmetic(&sheet->curves[first]);
	const char *name = pool_format(&pool, "operations-%s%s", precision, is_other ? "-other" : ""),
		   *title = pool_format(&pool, "%s of %s numbers", is_other ? "Other instructions" : "Arithmetic",
					precision);
	struct plot_series *series = pool_calloc(&pool, end - first + 1, sizeof(*series));
	struct plot_point *met = pool_calloc(&pool, end - first, sizeof(*met));
	struct series_plot plot = {.frame = {.title = title,
					     .caption = "In flight: latency times instructions per cycle.",
					     .x = {"independent chains", "", true, NAN, NAN},
					     .y = {"instructions", "per cycle", true, NAN, NAN}},
				   .series = series};
	size_t nr_met = 0;

	for (size_t last; first < end; first = last + 1) {
		const struct operation_curve *curve = &sheet->curves[first];
		const struct operation_answer *answer = &sheet->answers[first];
		struct plot_point *points = pool_calloc(&pool, curve->cycles.nr, sizeof(*points));
		autofree char *registers = NULL;

		last = last_alike(sheet, first);
		registers = registers_text(sheet, first, last);
		for (size_t i = 0; i < curve->cycles.nr; i++)
			points[i] = sheet_point(
				curve->cycles.at[i],
				curve->cycles.at[i] / fmin(curve->cycles.cycles[0][i], curve->cycles.cycles[1][i]),
				curve->cycles.at[i] / fmax(curve->cycles.cycles[0][i], curve->cycles.cycles[1][i]));
		series[plot.nr_series++] =
			(struct plot_series){.name = pool_format(&pool, "%s %s", curve->operation, registers),
					     .points = points,
					     .nr_points = curve->cycles.nr};
		if (isfinite(answer->in_flight.value))
			met[nr_met++] =
				sheet_point(answer->in_flight.value, answer->per_cycle.value, answer->per_cycle.value);
	}
	series[plot.nr_series++] = (struct plot_series){.name = "in flight",
							.points = met,
							.nr_points = nr_met,
							.style = PLOT_MARKS,
							.colour = "#000000",
							.shape = PLOT_DIAMOND};
	sheet_pictures_draw(pictures, name, &plot);
}

void
operations_draw(const struct operation_sheet *sheet, const struct sheet_pictures *pictures)
{
	for (size_t first = 0, end; first < sheet->nr; first = end) {
		for (end = first; end < sheet->nr &&
				  strcmp(sheet->curves[end].precision, sheet->curves[first].precision) == 0 &&
				  is_arithmetic(&sheet->curves[end]) == is_arithmetic(&sheet->curves[first]);)
			end++;
		draw_together(sheet, first, end, pictures);
	}
}

json_t *
operations_json(const struct operation_sheet *sheet)
{
	json_t *array = json_array();

	for (size_t i = 0; i < sheet->nr; i++) {
		const struct operation_curve *curve = &sheet->curves[i];
		const struct operation_answer *answer = &sheet->answers[i];

		json_array_append_new(
			array,
			json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:{s:i, s:o}, s:{s:o, s:s, s:o, s:s}, s:s, s:o}",
				  "operation", curve->operation, "instructionSet", curve->instruction_set, "precision",
				  curve->precision, "latencyCycles", sheet_number_json(&answer->latency), "perCycle",
				  sheet_number_json(&answer->per_cycle), "inFlight",
				  sheet_number_json(&answer->in_flight), "isAtLeast", answer->is_least, "freeChains",
				  "value", answer->free_chains, "confidence", json_real_or_null(answer->confidence),
				  "told", "perCycle", json_real_or_null(answer->told.per_cycle), "source",
				  answer->told.source, "latencyCycles", json_real_or_null(answer->told.latency),
				  "latencySource", answer->told.latency_source, "remark", answer->remark, "curve",
				  sheet_curve_json(&curve->cycles)));
	}
	return array;
}
