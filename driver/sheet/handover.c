/* SPDX-License-Identifier: MIT */
#include "sheet/handover.h"

#include <math.h>
#include <stdbool.h>

#include "base/pool.h"
#include "sheet/survey.h"

#define ONE_CPU "cannot be told: rot may use one CPU alone"
#define BUSY "cannot be told: others had one of the CPUs whenever it was measured"

void
handover_conclude(struct handover *handover)
{
	const struct measured_curve curve = curve_undisturbed(&handover->curve);
	struct sheet_answer *answers = handover->answers;
	size_t best = 0;

	answers[HANDOVER_BEST] = sheet_no_answer("from CPU to CPU, the most", "GB/s", 0);
	answers[HANDOVER_LARGEST] = sheet_no_answer("from CPU to CPU, the largest block", "GB/s", 0);
	for (size_t i = 0; i < curve.nr; i++)
		if (fmin(curve.cycles[0][i], curve.cycles[1][i]) > fmin(curve.cycles[0][best], curve.cycles[1][best]))
			best = i;
	if (curve.nr > 0) {
		sheet_read_halves(&answers[HANDOVER_BEST], curve.cycles[0][best], curve.cycles[1][best]);
		sheet_read_halves(&answers[HANDOVER_LARGEST], curve.cycles[0][curve.nr - 1],
				  curve.cycles[1][curve.nr - 1]);
	}
	for (int i = 0; i < HANDOVER_NR_ANSWERS; i++) {
		if (handover->curve.nr > 0)
			answers[i].curve = &handover->curve;
		if (curve.nr == 0)
			answers[i].remark = handover->curve.nr > 0 ? BUSY : ONE_CPU;
		sheet_judge(&answers[i]);
	}
}

/* ---- measuring ---- */

#define LEAST_BYTES 64
#define MOST_BYTES (32 << 20)
#define WORK_BYTES (1 << 18) /* that a run hands over, if a block is not larger: some 0.1 ms */
#define MOST_TURNS 256

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct handover *handover = measured;
	struct measured_curve *curve = &handover->curve;
	struct survey *survey = survey_new(rot);
	const bool is_alone = survey_nr_cpus(survey) < 2;
	int rc = 0;

	*curve = (struct measured_curve){.parameter = "block that is written and then read, KiB", .unit = "GB/s"};
	for (int64_t bytes = LEAST_BYTES; rc == 0 && !is_alone && bytes <= MOST_BYTES; bytes *= 2) {
		const int64_t needed = WORK_BYTES / bytes, turns = needed < 1            ? 1
								   : needed > MOST_TURNS ? MOST_TURNS
											 : needed;

		curve->at[curve->nr++] = (double)bytes / 1024;
		rc = survey_add(survey, 2, "Handover", (double)(bytes * turns), err,
				"bufferSize=%lld turns=%lld warmCode=true warmData=true", (long long)bytes,
				(long long)turns) < 0
			     ? -1
			     : 0;
	}
	if (rc == 0 && !is_alone)
		rc = survey_measure(survey, err);
	for (size_t i = 0; rc == 0 && i < curve->nr; i++) {
		struct survey_times times;

		rc = survey_read(survey, (int)i, &times, err);
		curve->cycles[0][i] = 1 / times.ns[0];
		curve->cycles[1][i] = 1 / times.ns[1];
	}
	survey_delete(survey);
	if (rc < 0)
		return rot_error_prefix(err, "what CPUs hand to each other");
	handover_conclude(handover);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct handover *handover = measured;
	const struct measured_curve *curve = &handover->curve;
	const double best = handover->answers[HANDOVER_BEST].number.value;
	autopool pool = {0};
	struct plot_series series[2];
	struct series_plot plot = {
		.frame = {.title = "A block from CPU to CPU",
			  .caption = sheet_remarks(&pool, handover->answers, HANDOVER_NR_ANSWERS),
			  .x = {curve->parameter, "", true, NAN, NAN},
			  .y = {"bytes per time", curve->unit, false, 0, NAN}},
		.series = series,
	};

	if (curve->nr == 0)
		return;
	series[plot.nr_series++] = sheet_curve_series(&pool, curve);
	if (isfinite(best))
		series[plot.nr_series++] = sheet_cost_line(&pool, curve->at[0], curve->at[curve->nr - 1], best,
							   pool_format(&pool, "the most: %.3g GB/s", best));
	sheet_pictures_draw(pictures, "handover", &plot);
}

const struct sheet_part handover_part = {
	.heading = "From CPU to CPU",
	.nr_answers = HANDOVER_NR_ANSWERS,
	.bytes = sizeof(struct handover),
	.measure = measure,
	.draw = draw,
};
