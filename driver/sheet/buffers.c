/* SPDX-License-Identifier: MIT */
#include "sheet/buffers.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "base/entry.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "roof/peak.h"
#include "rot.h"
#include "sheet/survey.h"

/*
 * field: of the kernel CoreBuffer. from, to: entries that are measured, each ratio times those before. A run has so
 * many entries in all, but no more turns than that. is_of_turn: the time of a turn is shown, else that of an entry.
 * is_gradual: what does not fit costs more with each entry.
 */
static const struct buffer {
	const char *field, *name, *unit, *file;
	struct curve_step (*find)(const double *values, size_t nr);
	double from, to, ratio;
	int entries, most_turns;
	bool is_of_turn, is_in_window, is_gradual;
} rows[BUFFERS_NR] = {
#define IN_WINDOW curve_biggest_step, 16, 640, 1.12, INT_MAX, 500, .is_of_turn = true, .is_in_window = true
	[BUFFERS_WINDOW] = {"WINDOW", "reorder window", "instructions", "window", curve_biggest_step, 24, 1100, 1.12,
			    INT_MAX, 500, .is_of_turn = true},
	[BUFFERS_INTEGER] = {"INTEGER", "integer registers", "results", "integer-registers", IN_WINDOW},
	[BUFFERS_VECTOR] = {"VECTOR", "vector registers", "results", "vector-registers", IN_WINDOW},
	[BUFFERS_LOAD] = {"LOAD", "load queue", "loads", "load-queue", IN_WINDOW},
	[BUFFERS_STORE] = {"STORE", "store queue", "stores", "store-queue", IN_WINDOW},
	[BUFFERS_MISS] = {"MISS", "outstanding L1 misses", "lines", "misses", NULL, 1, 64, 1.25, 4096, 500,
			  .is_of_turn = true},
	[BUFFERS_RETURN] = {"RETURN", "return stack", "calls", "return-stack", curve_first_step, 4, 128, 1.12, 200000,
			    50000, .is_gradual = true},
	[BUFFERS_TARGET] = {"TARGET", "targets of an indirect call", "targets", "targets", curve_first_step, 8, 2048,
			    1.25, 200000, 50000, .is_gradual = true},
	[BUFFERS_OPERATION] = {"OPERATION", "micro-op cache", "instructions", "micro-op-cache", curve_biggest_step, 256,
			       16384, 1.12, 800000, 10000, .is_of_turn = false},
};

/* ---- what curves say ---- */

/* A neighbour of a step that rises by more than this share of it is a part of the step. */
#define SAME_STEP 0.2

/* So is its first point if one half of the runs rose there by this share. */
#define STEP_BEGINS 0.1

/* Entries fit until the time has gone up by the first share of the step, and surely do not from the other one on. */
#define BEGINS 0.15
#define ENDS 0.85

/* A buffer of more than this share of the entries of a larger one is not full before that one is. */
#define FILLS_OTHER 0.93

/* Registers hold what the program had before, too: the least share of what is told that is as told. */
#define LEAST_TOLD 0.8

/* The predictor of a Zen 5 begins to miss between 79 and 455 targets, from start to start. */
#define GRADUAL "not sure: within the range, ever more are mispredicted, which depends on more than their number"

/* Where there is no sharp step, entries fit until the time has grown by the first factor, and clearly do not from the
 * other one on. */
#define STILL_FITS 1.1
#define CLEARLY_MISSES 2.0

/* The step of a coarse curve, and the entries between which it is. */
struct bounds {
	struct curve_step step;
	double before, behind;
};

static double
shorter_at(const struct measured_curve *curve, size_t i)
{
	return fmin(curve->cycles[0][i], curve->cycles[1][i]);
}

/* The point of the curve within the step that begins at the given one: only some turns had room there. 0: none. */
static size_t
point_within(const struct measured_curve *curve, size_t at)
{
	const double rise = shorter_at(curve, at + 1) - shorter_at(curve, at);

	if (at + 2 < curve->nr && shorter_at(curve, at + 2) - shorter_at(curve, at + 1) > SAME_STEP * rise)
		return at + 1;
	return at > 0 && fmax(curve->cycles[0][at], curve->cycles[1][at]) - shorter_at(curve, at - 1) >
				       STEP_BEGINS * rise
		       ? at
		       : 0;
}

static struct bounds
bounds_of(const struct buffer *row, const struct measured_curve *coarse)
{
	struct measured_curve curve = curve_undisturbed(coarse);
	struct bounds bounds = {.step = curve_step_of_two(row->find, curve.cycles[0], curve.cycles[1], curve.nr)};
	size_t within;

	if (isnan(bounds.step.rise))
		return bounds;
	within = point_within(&curve, bounds.step.at);
	if (within) {
		curve.nr--;
		for (size_t i = within; i < curve.nr; i++) {
			curve.at[i] = curve.at[i + 1];
			for (int half = 0; half < 2; half++)
				curve.cycles[half][i] = curve.cycles[half][i + 1];
		}
		bounds.step = curve_step_of_two(row->find, curve.cycles[0], curve.cycles[1], curve.nr);
	}
	if (isfinite(bounds.step.rise)) {
		bounds.before = curve.at[bounds.step.at];
		bounds.behind = curve.at[bounds.step.at + 1];
	}
	return bounds;
}

/* The first point from which on all cost at least so much; the last one if there is none. */
static size_t
first_above(const double *envelope, size_t nr, double cycles)
{
	size_t i = 0;

	while (i + 1 < nr && envelope[i] < cycles)
		i++;
	return i;
}

/*
 * The most entries that fit, and the least that surely do not. In between, it depends on what lies beside them in the
 * core. Each half is read on its own.
 */
static void
read_bounds(struct sheet_answer *answer, const struct measured_curve *measured, const struct bounds *bounds)
{
	const struct measured_curve curve = curve_undisturbed(measured);
	double fits[2], misses[2];

	for (int half = 0; half < 2; half++) {
		double envelope[CURVE_MAX_POINTS];
		size_t before, behind, first;

		curve_envelope(curve.cycles[half], curve.nr, envelope);
		for (before = 0; before + 1 < curve.nr && curve.at[before] < bounds->before;)
			before++;
		for (behind = before; behind + 1 < curve.nr && curve.at[behind] < bounds->behind;)
			behind++;
		first = first_above(envelope, curve.nr,
				    envelope[before] + BEGINS * (envelope[behind] - envelope[before]));
		fits[half] = curve.at[first > before ? first - 1 : before];
		misses[half] = curve.at[first_above(envelope, curve.nr,
						    envelope[before] + ENDS * (envelope[behind] - envelope[before]))];
	}
	answer->number =
		(struct sheet_number){fmax(fits[0], fits[1]), fmin(fits[0], fits[1]), fmax(misses[0], misses[1]) - 1};
	answer->confidence = bounds->step.confidence;
}

/*
 * Where there is no sharp step: all entries fit as long as the time stays near the least one, and clearly do not from
 * twice that on. Prediction has moods that make a run longer, which say nothing, as more entries took less. Where fewer
 * entries clearly did not fit in both halves, it depends on more than their number.
 */
static void
read_gradual(struct sheet_answer *answer, const struct measured_curve *measured)
{
	const struct measured_curve curve = curve_undisturbed(measured);
	size_t fits[2], misses = 0;

	if (curve.nr < CURVE_LEAST_POINTS)
		return;
	for (int half = 0; half < 2; half++) {
		double envelope[CURVE_MAX_POINTS];
		size_t clearly;

		curve_envelope(curve.cycles[half], curve.nr, envelope);
		fits[half] = first_above(envelope, curve.nr, STILL_FITS * envelope[0]);
		clearly = first_above(envelope, curve.nr, CLEARLY_MISSES * envelope[0]);
		if (fits[half] == 0 || envelope[clearly] < CLEARLY_MISSES * envelope[0])
			return;
		misses = clearly > misses ? clearly : misses;
	}
	for (size_t i = 1; i < fits[0] && i < fits[1]; i++)
		if (shorter_at(&curve, i) >= CLEARLY_MISSES * fmin(curve.cycles[0][0], curve.cycles[1][0]))
			fits[0] = i;
	answer->number.low = curve.at[(fits[0] < fits[1] ? fits[0] : fits[1]) - 1];
	answer->number.value = curve.at[(fits[0] > fits[1] ? fits[0] : fits[1]) - 1];
	answer->number.high = curve.at[misses] - 1;
	/* An answer that is not known within a factor of two is not sure. */
	answer->confidence =
		fmin(1 - 4 * (answer->number.value / answer->number.low - 1), answer->number.low / answer->number.high);
	answer->confidence = fmax(0, fmin(1, answer->confidence));
	if (answer->confidence < CURVE_SURE)
		answer->remark = GRADUAL;
}

/*
 * Little's law: as many are under way as end while one is waited for. Where memory delivers fewer than the buffers of
 * L1 would hold, those are not seen.
 */
static void
read_misses(struct sheet_answer *answer, const struct measured_curve *measured)
{
	const struct measured_curve curve = curve_undisturbed(measured);
	double most[2] = {0, 0};

	if (curve.nr < CURVE_LEAST_POINTS || curve.at[0] != 1)
		return;
	for (int half = 0; half < 2; half++) {
		double envelope[CURVE_MAX_POINTS];

		curve_envelope(curve.cycles[half], curve.nr, envelope);
		for (size_t i = 0; i < curve.nr; i++)
			most[half] = fmax(most[half], curve.at[i] * envelope[0] / curve.cycles[half][i]);
	}
	answer->number = (struct sheet_number){fmin(most[0], most[1]), fmin(most[0], most[1]), INFINITY};
	answer->confidence = fmax(0, 1 - 4 * fabs(most[0] - most[1]) / fmin(most[0], most[1]));
	if (answer->confidence >= CURVE_SURE)
		answer->remark = "at least: so many were under way, which memory may limit";
}

static void
read_curve(struct sheet_answer *answer, const struct buffer *row, const struct measured_curve *coarse)
{
	struct bounds bounds;

	if (!row->find) {
		read_misses(answer, answer->curve);
	} else if (row->is_gradual) {
		read_gradual(answer, answer->curve);
	} else {
		bounds = bounds_of(row, coarse);
		answer->confidence = bounds.step.confidence;
		if (isfinite(bounds.step.rise))
			read_bounds(answer, answer->curve, &bounds);
	}
}

/* Where both are equal, the other buffer is what was filled. */
static void
compare_with(struct sheet_answer *answer, const struct sheet_answer *other, const char *remark)
{
	if (answer->confidence < CURVE_SURE || !(answer->number.value > FILLS_OTHER * other->number.value))
		return;
	answer->number.high = INFINITY;
	answer->remark = remark;
}

/* Which buffer was full must be known, so none in a window that is not known is sure. */
static void
compare_in_window(struct buffers *buffers, enum buffers_answer which)
{
	struct sheet_answer *answer = &buffers->answers[which];
	const struct sheet_answer *window = &buffers->answers[BUFFERS_WINDOW],
				  *vector = &buffers->answers[BUFFERS_VECTOR];

	answer->confidence = fmin(answer->confidence, isfinite(window->number.value) ? window->confidence : 0);
	compare_with(answer, window, "at least: the reorder window is full before");
	if (which == BUFFERS_LOAD && isfinite(vector->number.high))
		compare_with(answer, vector, "at least: the vector registers are full before");
}

static void
judge(struct sheet_answer *answer)
{
	const double told = answer->told, share = answer->number.value / told;

	if (share >= LEAST_TOLD && share <= 1)
		answer->told = NAN;
	else if (share >= LEAST_TOLD / 2 && share <= 1.0 / 2 && answer->confidence >= CURVE_SURE)
		answer->remark = "half of what is told: another thread of this core may have the other half";
	sheet_judge(answer);
	answer->told = told;
}

void
buffers_conclude(struct buffers *buffers, const double told[BUFFERS_NR])
{
	for (int i = 0; i < BUFFERS_NR; i++) {
		const struct buffer *row = &rows[i];
		struct sheet_answer *answer = &buffers->answers[i];

		*answer = (struct sheet_answer){.name = row->name,
						.unit = row->unit,
						.number = {NAN, NAN, NAN},
						.told = told[i],
						.confidence = NAN,
						.curve = &buffers->curves[i]};
		read_curve(answer, row, &buffers->coarse[i]);
		if (row->is_in_window)
			compare_in_window(buffers, (enum buffers_answer)i);
		judge(answer);
	}
}

/* ---- where curves have points ---- */

/* The closer look at a step. */
#define CLOSER_POINTS 24

void
buffers_plan(struct buffers *buffers)
{
	for (int i = 0; i < BUFFERS_NR; i++) {
		struct measured_curve *curve = &buffers->coarse[i];

		*curve = (struct measured_curve){.parameter = rows[i].unit,
						 .unit = rows[i].is_of_turn ? "cycles of a turn" : "cycles of each"};
		for (double at = rows[i].from; at <= rows[i].to; at = fmax(at + 1, round(at * rows[i].ratio)))
			curve->at[curve->nr++] = at;
	}
}

void
buffers_plan_closer(const struct buffers *buffers, struct measured_curve closer[BUFFERS_NR])
{
	for (int i = 0; i < BUFFERS_NR; i++) {
		struct bounds bounds = {.step.rise = NAN};
		double distance;

		closer[i].nr = 0;
		if (rows[i].find)
			bounds = bounds_of(&rows[i], &buffers->coarse[i]);
		if (isnan(bounds.step.rise))
			continue;
		distance = ceil((bounds.behind - bounds.before) / (CLOSER_POINTS + 1));
		for (double at = bounds.before + distance; at < bounds.behind; at += distance)
			closer[i].at[closer[i].nr++] = at;
	}
}

/* The points of both curves, in order of their places. */
static void
merge(struct measured_curve *merged, const struct measured_curve *a, const struct measured_curve *b)
{
	*merged = (struct measured_curve){.parameter = a->parameter, .unit = a->unit};
	for (size_t i = 0, k = 0; i < a->nr || k < b->nr; merged->nr++) {
		const bool is_of_a = k == b->nr || (i < a->nr && a->at[i] < b->at[k]);
		const struct measured_curve *from = is_of_a ? a : b;
		const size_t at = is_of_a ? i++ : k++;

		i += !is_of_a && i < a->nr && a->at[i] <= from->at[at];
		merged->at[merged->nr] = from->at[at];
		for (int half = 0; half < 2; half++)
			merged->cycles[half][merged->nr] = from->cycles[half][at];
	}
}

void
buffers_merge(struct buffers *buffers, const struct measured_curve closer[BUFFERS_NR])
{
	for (int i = 0; i < BUFFERS_NR; i++)
		merge(&buffers->curves[i], &buffers->coarse[i], &closer[i]);
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct buffers *buffers = measured;
	for (int i = 0; i < BUFFERS_NR; i++) {
		autofree char *title = rot_format("%c%s", toupper(rows[i].name[0]), rows[i].name + 1);

		if (buffers->curves[i].nr > 0)
			sheet_pictures_draw_answers(pictures, rows[i].file, title, &buffers->answers[i], 1);
	}
}

/* ---- measuring ---- */

static int
add_points(struct survey *survey, const struct buffer *row, const struct measured_curve *curve, struct rot_error *err)
{
	for (size_t i = 0; i < curve->nr; i++) {
		const double entries = curve->at[i];
		const int turns = (int)fmin(row->most_turns, fmax(4, row->entries / entries));

		if (survey_add(survey, 1, "CoreBuffer", row->is_of_turn ? turns : turns * entries, err,
			       "buffer=%s entries=%.0f turns=%d warmCode=true warmData=true", row->field, entries,
			       turns) < 0)
			return -1;
	}
	return 0;
}

/* Measures all curves, whose points are given. */
static int
measure_curves(struct rot *rot, struct measured_curve curves[BUFFERS_NR], struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int rc = 0, point = 0;

	for (int i = 0; rc == 0 && i < BUFFERS_NR; i++)
		rc = add_points(survey, &rows[i], &curves[i], err);
	if (rc == 0)
		rc = survey_measure(survey, err);
	for (int i = 0; rc == 0 && i < BUFFERS_NR; i++) {
		rc = survey_read_curve(survey, point, &curves[i], err);
		point += (int)curves[i].nr;
	}
	survey_delete(survey);
	return rc;
}

static int
measure_all(struct rot *rot, struct buffers *buffers, struct rot_error *err)
{
	autofree struct measured_curve *closer = rot_calloc(BUFFERS_NR, sizeof(*closer));

	buffers_plan(buffers);
	if (measure_curves(rot, buffers->coarse, err) < 0)
		return -1;
	buffers_plan_closer(buffers, closer);
	if (measure_curves(rot, closer, err) < 0)
		return -1;
	buffers_merge(buffers, closer);
	return 0;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct buffers *buffers = measured;
	struct architecture *documents = limits_load(rot, err);
	double told[BUFFERS_NR];

	if (!documents)
		return -1;
	for (int i = 0; i < BUFFERS_NR; i++)
		told[i] = architecture_buffer_entries(documents, rows[i].field);
	architecture_delete(documents);
	if (measure_all(rot, buffers, err) < 0)
		return rot_error_prefix(err, "the buffers of a core");
	buffers_conclude(buffers, told);
	return 0;
}

const struct sheet_part buffers_part = {
	.heading = "Buffers of a core",
	.nr_answers = BUFFERS_NR,
	.bytes = sizeof(struct buffers),
	.measure = measure,
	.draw = draw,
};
