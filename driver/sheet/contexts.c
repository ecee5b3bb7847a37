/* SPDX-License-Identifier: MIT */
#include "sheet/contexts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/pool.h"
#include "machine/machine.h"
#include "memory.h"
#include "quantities/quantity.h"
#include "sheet/cores.h"
#include "sheet/survey.h"

#define SHARED "threads of one core share what does this"
#define ONE_CPU "cannot be told: rot may use one CPU alone"
#define CONTRADICTED "not sure: the times of pairs of CPUs tell fewer cores"

/* work: of what the kernel repeats, some 2 million cycles, which are seldom interrupted. */
static const struct {
	const char *name, *kernel, *fields, *repeated;
	int work;
} kinds[CONTEXTS_NR_ANSWERS] = {
	[CONTEXTS_WAITING] = {"that wait for results", "Operation",
			      "operation=ADD precision=DOUBLE instructionSet=SSE chains=1", "turns", 120000},
	[CONTEXTS_FLOAT] = {"that multiply numbers", "Operation",
			    "operation=MUL precision=DOUBLE instructionSet=SSE chains=12", "turns", 40000},
	[CONTEXTS_INTEGER] = {"that add integers", "Operation",
			      "operation=ADD precision=INT64 instructionSet=SCALAR chains=12", "turns", 100000},
	[CONTEXTS_L1] = {"that read L1", "Chase", "chains=12 bufferSize=16384", "accesses", 500000},
};

/* Threads that share CPUs work so many times as long: several time slots. */
#define LONGER 30

/* ---- what curves say ---- */

/* More threads than that share CPUs as the system likes; how long they take then says nothing. */
#define CLEARLY_LONGER 1.5

void
contexts_conclude(struct contexts *contexts, size_t nr_cpus, size_t told_cores, size_t nr_cores)
{
	const double *all = &contexts->answers[CONTEXTS_WAITING].number.value;

	for (int i = 0; i < CONTEXTS_NR_ANSWERS; i++) {
		struct measured_curve curve = curve_undisturbed(&contexts->curves[i]);
		struct sheet_answer *answer = &contexts->answers[i];
		struct curve_step step;

		for (size_t k = 0; k < curve.nr; k++)
			for (int half = 0; half < 2; half++)
				curve.cycles[half][k] = fmin(curve.cycles[half][k], CLEARLY_LONGER);
		step = curve_step_of_two(curve_first_step, curve.cycles[0], curve.cycles[1], curve.nr);
		*answer = sheet_no_answer(kinds[i].name, "threads",
					  (double)(i == CONTEXTS_WAITING ? nr_cpus : told_cores));
		if (contexts->curves[i].nr > 0)
			answer->curve = &contexts->curves[i];
		if (nr_cpus < 2)
			answer->remark = ONE_CPU;
		sheet_read_step(answer, &curve, &step, false);
		if (answer->number.high < *all && answer->confidence >= CURVE_SURE)
			answer->remark = SHARED;
		if (i != CONTEXTS_WAITING && answer->number.value > (double)nr_cores)
			answer->remark = CONTRADICTED;
		sheet_judge(answer);
	}
}

/* ---- measuring ---- */

/* All numbers up to this, then those around shares of all CPUs. */
#define MAX_DENSE 16

static void
add_count(struct measured_curve *curve, size_t nr)
{
	if (nr > 0 && (curve->nr == 0 || (double)nr > curve->at[curve->nr - 1]))
		curve->at[curve->nr++] = (double)nr;
}

static struct measured_curve
counts_of(size_t nr_cpus)
{
	struct measured_curve curve = {.parameter = "threads at once", .unit = "times as long as one"};

	for (size_t nr = 1; nr <= 2 * nr_cpus && nr <= MAX_DENSE; nr++)
		add_count(&curve, nr);
	for (size_t quarters = 1; quarters <= 8; quarters++) {
		add_count(&curve, quarters * nr_cpus / 4);
		add_count(&curve, quarters * nr_cpus / 4 + 1);
	}
	return curve;
}

static int
add_points(struct survey *survey, int kind, struct measured_curve *curve, struct rot_error *err)
{
	*curve = counts_of(survey_nr_cpus(survey));
	for (size_t i = 0; i < curve->nr; i++) {
		const size_t nr = (size_t)curve->at[i];
		const bool share = nr > survey_nr_cpus(survey);
		const int work = kinds[kind].work * (share ? LONGER : 1);
		const int point =
			survey_add(survey, nr, kinds[kind].kernel, work, err, "%s %s=%d warmCode=true warmData=true",
				   kinds[kind].fields, kinds[kind].repeated, work);

		if (point < 0)
			return -1;
		if (share)
			survey_allow(survey, point, TAINT_CONTEXT_SWITCH | TAINT_CLOCK | TAINT_STEAL);
	}
	return 0;
}

static int
measure_kind(struct survey *survey, int kind, struct measured_curve *curve, struct rot_error *err)
{
	double alone;

	if (add_points(survey, kind, curve, err) < 0 || survey_measure(survey, err) < 0 ||
	    survey_read_curve(survey, 0, curve, err) < 0)
		return -1;
	alone = fmin(curve->cycles[0][0], curve->cycles[1][0]);
	for (size_t i = 0; i < curve->nr; i++)
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] /= alone;
	return 0;
}

/* CPUs are spread over cores as their contention tells, whatever a hypervisor does; the system where they are many. */
static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct contexts *contexts = measured;
	autofree struct cores *cores = rot_calloc(1, sizeof(*cores));
	autofree int *cpus = NULL;
	size_t told_cores, nr_cpus = allowed_cpus(&cpus, &told_cores), nr_cores = nr_cpus;
	int rc = cores_measure(rot, cores, err);

	if (rc == 0 && cores->nr == cores->nr_allowed)
		nr_cores = cores_spread(cores);
	for (int kind = 0; rc == 0 && nr_cpus > 1 && kind < CONTEXTS_NR_ANSWERS; kind++) {
		struct survey *survey = survey_new(rot);

		if (cores->nr == cores->nr_allowed)
			survey_set_cpus(survey, cores->cpus, cores->nr);
		rc = measure_kind(survey, kind, &contexts->curves[kind], err);
		survey_delete(survey);
	}
	if (rc < 0)
		return rot_error_prefix(err, "how many threads work at once");
	contexts_conclude(contexts, nr_cpus, told_cores, nr_cores);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct contexts *contexts = measured;
	autopool pool = {0};
	struct plot_series series[CONTEXTS_NR_ANSWERS];
	struct plot_marker marks[CONTEXTS_NR_ANSWERS];
	struct series_plot plot = {.frame = {.title = "Threads until one of them is delayed",
					     .caption = sheet_remarks(&pool, contexts->answers, CONTEXTS_NR_ANSWERS),
					     .x = {contexts->curves[0].parameter, "", false, NAN, NAN},
					     .y = {"time of the slowest", contexts->curves[0].unit, false, 0, NAN},
					     .markers = marks},
				   .series = series};

	if (contexts->curves[0].nr == 0)
		return;
	for (int i = 0; i < CONTEXTS_NR_ANSWERS; i++) {
		series[plot.nr_series] = sheet_curve_series(&pool, &contexts->curves[i]);
		series[plot.nr_series++].name = kinds[i].name;
	}
	plot.frame.nr_markers = sheet_marks(&pool, marks, contexts->answers, CONTEXTS_NR_ANSWERS);
	sheet_pictures_draw(pictures, "contexts", &plot);
}

const struct sheet_part contexts_part = {
	.heading = "Threads until one is delayed",
	.nr_answers = CONTEXTS_NR_ANSWERS,
	.bytes = sizeof(struct contexts),
	.measure = measure,
	.draw = draw,
};
