/* SPDX-License-Identifier: MIT */
#include "sheet/ranges.h"

#include <math.h>
#include <stdlib.h>

#include "base/configuration.h"
#include "base/pool.h"
#include "base/process.h"
#include "memory.h"
#include "rot.h"
#include "sheet/survey.h"

/* Registers as the architecture has them: of 16 for integers one is the stack pointer (System V ABI, x86-64). */
static const struct {
	const char *name, *compiler, *precision;
	double told;
} kinds[RANGES_NR_ANSWERS] = {
	{"integers, gcc", "gcc", "INT64", 15},
	{"floating point, gcc", "gcc", "DOUBLE", 16},
	{"integers, clang", "clang", "INT64", 15},
	{"floating point, clang", "clang", "DOUBLE", 16},
};

#define UNCLEAR "not sure: spilled variables take no clear time here, or others disturbed the runs"
#define NO_COMPILER "cannot be told: there is no such compiler in PATH"

/* ---- what curves say ---- */

/* Spilled variables take longer; how much longer depends on where they lie, and says nothing. */
#define CLEARLY_LONGER 1.25

/* Few variables wait for each other. Begins where an addition takes nearly as little as anywhere. */
static struct measured_curve
without_waiting(const struct measured_curve *curve)
{
	struct measured_curve left = curve_undisturbed(curve);
	double least = INFINITY;
	size_t first = 0;

	for (size_t i = 0; i < left.nr; i++)
		least = fmin(least, fmin(left.cycles[0][i], left.cycles[1][i]));
	while (first < left.nr && fmin(left.cycles[0][first], left.cycles[1][first]) > (1 + CURVE_LEAST_RISE) * least)
		first++;
	left.nr -= first;
	for (size_t i = 0; i < left.nr; i++) {
		left.at[i] = left.at[first + i];
		for (int half = 0; half < 2; half++)
			left.cycles[half][i] = fmin(left.cycles[half][first + i], CLEARLY_LONGER * least);
	}
	return left;
}

void
ranges_conclude(struct ranges *ranges)
{
	for (int i = 0; i < RANGES_NR_ANSWERS; i++) {
		const struct measured_curve curve = without_waiting(&ranges->curves[i]);
		const struct curve_step step =
			curve_step_of_two(curve_first_step, curve.cycles[0], curve.cycles[1], curve.nr);
		struct sheet_answer *answer = &ranges->answers[i];

		*answer = sheet_no_answer(kinds[i].name, "variables", kinds[i].told);
		if (ranges->curves[i].nr > 0)
			answer->curve = &ranges->curves[i];
		else
			answer->remark = NO_COMPILER;
		sheet_read_step(answer, &curve, &step, false);
		if (answer->curve && answer->confidence < CURVE_SURE)
			answer->remark = UNCLEAR;
		sheet_judge(answer);
	}
}

/* ---- measuring ---- */

#define FEWEST 3
#define MOST 24
/* Vectorized, several variables would be in one register. */
#define FLAGS "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize"

#define ADDITIONS 200000 /* of a run: some 0.05 ms */

static int
measure_kind(struct rot *rot, int kind, struct measured_curve *curve, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int rc = 0;

	*curve = (struct measured_curve){.parameter = "variables"};
	for (int nr = FEWEST; rc == 0 && nr <= MOST; nr++) {
		const int turns = ADDITIONS / (8 * nr);
		const int point = survey_add(survey, 1, "LiveRanges", 8.0 * nr * turns, err,
					     "warmCode=true warmData=true precision=%s variables=%d turns=%d",
					     kinds[kind].precision, nr, turns);

		curve->at[curve->nr++] = nr;
		if (point < 0)
			rc = -1;
		else
			survey_set_flags(survey, point, FLAGS);
	}
	if (rc == 0)
		rc = survey_measure(survey, err);
	if (rc == 0)
		rc = survey_read_curve(survey, 0, curve, err);
	survey_delete(survey);
	return rc;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct ranges *ranges = measured;
	struct configuration *configuration = rot->configuration;
	const enum configuration_source source = configuration_origin(configuration, "compiler");
	autofree char *configured = rot_strdup(configuration_string(configuration, "compiler"));
	int rc = 0;

	for (int kind = 0; rc == 0 && kind < RANGES_NR_ANSWERS; kind++) {
		autofree char *path = process_find(kinds[kind].compiler);

		if (!path)
			continue;
		rc = configuration_set(configuration, source, "compiler", kinds[kind].compiler, err);
		if (rc == 0)
			rc = measure_kind(rot, kind, &ranges->curves[kind], err);
	}
	configuration_set(configuration, source, "compiler", configured, NULL);
	if (rc < 0)
		return rot_error_prefix(err, "variables in registers");
	ranges_conclude(ranges);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct ranges *ranges = measured;
	autopool pool = {0};
	struct plot_series series[RANGES_NR_ANSWERS];
	struct plot_marker marks[RANGES_NR_ANSWERS];
	struct series_plot plot = {.frame = {.title = "Variables that compiled code keeps in registers",
					     .caption = sheet_remarks(&pool, ranges->answers, RANGES_NR_ANSWERS),
					     .x = {"variables", "", false, NAN, NAN},
					     .y = {"time of an addition", "cycles", false, 0, NAN},
					     .markers = marks},
				   .series = series};

	for (int i = 0; i < RANGES_NR_ANSWERS; i++) {
		if (ranges->curves[i].nr == 0)
			continue;
		series[plot.nr_series] = sheet_curve_series(&pool, &ranges->curves[i]);
		series[plot.nr_series++].name = kinds[i].name;
	}
	plot.frame.nr_markers = sheet_marks(&pool, marks, ranges->answers, RANGES_NR_ANSWERS);
	sheet_pictures_draw(pictures, "ranges", &plot);
}

const struct sheet_part ranges_part = {
	.heading = "Variables in registers, with -O2",
	.nr_answers = RANGES_NR_ANSWERS,
	.bytes = sizeof(struct ranges),
	.measure = measure,
	.draw = draw,
};
