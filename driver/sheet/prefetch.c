/* SPDX-License-Identifier: MIT */
#include "sheet/prefetch.h"

#include <math.h>
#include <stdbool.h>

#include "base/pool.h"
#include "memory.h"
#include "sheet/survey.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#define ALL_FORESEEN "at least: all distances that were measured are foreseen"
#define NONE_FORESEEN "none is: lines in order take as long as at random"
#define ALL_COME "at least: all distances that were measured come along"
#define NONE_COMES "none comes along: another line takes as long at any distance"

/* ---- what curves say ---- */

/* A line is fetched before if it takes less than this share of the time of one that is not. */
#define FETCHED 0.5

/* How many points from the first on are fetched before. */
static size_t
nr_fetched(const struct measured_curve *share, int half)
{
	size_t nr = 0;

	while (nr < share->nr && share->cycles[half][nr] < FETCHED)
		nr++;
	return nr;
}

/* The surer, the farther what is fetched is from what is not. Both halves must agree about the place. */
static void
conclude(struct sheet_answer *answer, const struct measured_curve *share, const char *all, const char *none)
{
	const size_t nr = nr_fetched(share, 0);
	double most = 0, least = 1;

	for (int half = 0; half < 2; half++) {
		for (size_t i = 0; i < nr; i++)
			most = fmax(most, share->cycles[half][i]);
		if (nr < share->nr)
			least = fmin(least, share->cycles[half][nr]);
	}
	if (share->nr > 0) {
		const double last = nr > 0 ? share->at[nr - 1] : 0;
		const bool is_all = nr == share->nr;

		answer->number = (struct sheet_number){last, last, is_all ? INFINITY : nr > 0 ? share->at[nr] - 1 : 0};
		answer->confidence = nr_fetched(share, 1) == nr ? 1 - (nr > 0 ? most : FETCHED) / least : 0;
		if (answer->confidence >= CURVE_SURE / (nr > 0 ? 1 : 2))
			answer->remark = is_all ? all : nr > 0 ? NULL : none;
	}
	sheet_judge(answer);
}

/* The share of the second access of a pair: within a line, both take as long as the first one alone. */
static struct measured_curve
share_of_second(const struct measured_curve *pairs)
{
	struct measured_curve share = {.parameter = pairs->parameter};
	const double alone = fmin(pairs->cycles[0][0], pairs->cycles[1][0]);

	for (size_t i = 1; i < pairs->nr; i++, share.nr++) {
		share.at[share.nr] = pairs->at[i];
		for (int half = 0; half < 2; half++)
			share.cycles[half][share.nr] = pairs->cycles[half][i] / alone - 1;
	}
	return share;
}

void
prefetch_conclude(struct prefetch *prefetch)
{
	struct sheet_answer *answers = prefetch->answers;
	const struct measured_curve *at_random = &prefetch->curves[PREFETCH_AT_RANDOM];
	struct measured_curve *shares = prefetch->shares, share;

	shares[PREFETCH_STRIDE] = prefetch->curves[PREFETCH_IN_ORDER];
	for (size_t i = 0; i < shares[PREFETCH_STRIDE].nr; i++)
		for (int half = 0; half < 2; half++)
			shares[PREFETCH_STRIDE].cycles[half][i] /=
				fmin(at_random->cycles[0][i], at_random->cycles[1][i]);
	shares[PREFETCH_BESIDE] = share_of_second(&prefetch->curves[PREFETCH_PAIRS]);
	answers[PREFETCH_STRIDE] = sheet_no_answer("distance that is foreseen", "bytes", 0);
	answers[PREFETCH_BESIDE] = sheet_no_answer("distance of a line that comes along", "bytes", 0);
	for (int i = 0; i < PREFETCH_NR_ANSWERS; i++) {
		shares[i].unit = "of the time of a line that is not fetched before";
		answers[i].curve = &shares[i];
		share = curve_undisturbed(&shares[i]);
		conclude(&answers[i], &share, i == PREFETCH_STRIDE ? ALL_FORESEEN : ALL_COME,
			 i == PREFETCH_STRIDE ? NONE_FORESEEN : NONE_COMES);
	}
}

/* ---- measuring ---- */

#define LINES 2048 /* some 0.3 ms from memory */
#define PAIR_BYTES 4160

static const int distances[] = {64,  128,  192,  256,  320,  384,  448,  512,  640,
				768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384};
static const int pair_distances[] = {8, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024, 2048};

static int
add(struct survey *survey, struct measured_curve *curve, int at, int distance, int pair, const char *order,
    struct rot_error *err)
{
	curve->at[curve->nr++] = at;
	return survey_add(survey, 1, "Chase", pair ? 2 * LINES : LINES, err,
			  "accesses=%d warmCode=true bufferSize=%lld distance=%d pairDistance=%d order=%s",
			  pair ? 2 * LINES : LINES, (long long)LINES * distance, distance, pair, order) < 0
		       ? -1
		       : 0;
}

static int
add_points(struct survey *survey, struct prefetch *prefetch, struct rot_error *err)
{
	struct measured_curve *curves = prefetch->curves;
	int rc = 0;

	curves[PREFETCH_IN_ORDER].parameter = curves[PREFETCH_AT_RANDOM].parameter = "bytes from line to line";
	curves[PREFETCH_PAIRS].parameter = "bytes between the two accesses of a pair";
	for (size_t i = 0; rc == 0 && i < NR(distances); i++)
		rc = add(survey, &curves[PREFETCH_IN_ORDER], distances[i], distances[i], 0, "ASCENDING", err);
	for (size_t i = 0; rc == 0 && i < NR(distances); i++)
		rc = add(survey, &curves[PREFETCH_AT_RANDOM], distances[i], distances[i], 0, "RANDOM", err);
	for (size_t i = 0; rc == 0 && i < NR(pair_distances); i++)
		rc = add(survey, &curves[PREFETCH_PAIRS], pair_distances[i], PAIR_BYTES, pair_distances[i], "RANDOM",
			 err);
	return rc;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct prefetch *prefetch = measured;
	struct survey *survey = survey_new(rot);
	int rc, first = 0;

	rc = add_points(survey, prefetch, err);
	if (rc == 0)
		rc = survey_measure(survey, err);
	for (int i = 0; rc == 0 && i < PREFETCH_NR_CURVES; i++) {
		rc = survey_read_curve(survey, first, &prefetch->curves[i], err);
		first += (int)prefetch->curves[i].nr;
	}
	survey_delete(survey);
	if (rc < 0)
		return rot_error_prefix(err, "what is fetched before it is asked for");
	prefetch_conclude(prefetch);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct prefetch *prefetch = measured;
	static const char *const names[] = {"lines in order", "the same at random", "pairs at random places"};
	autopool pool = {0};
	struct plot_series series[PREFETCH_NR_CURVES];
	struct plot_marker marks[PREFETCH_NR_ANSWERS];
	struct series_plot plot = {.frame = {.title = "What is fetched before it is asked for",
					     .caption = sheet_remarks(&pool, prefetch->answers, PREFETCH_NR_ANSWERS),
					     .x = {"distance", "bytes", true, NAN, NAN},
					     .y = {"time of an access", "cycles", true, NAN, NAN},
					     .markers = marks},
				   .series = series,
				   .nr_series = PREFETCH_NR_CURVES};

	for (int i = 0; i < PREFETCH_NR_CURVES; i++) {
		series[i] = sheet_curve_series(&pool, &prefetch->curves[i]);
		series[i].name = names[i];
	}
	for (int i = 0; i < PREFETCH_NR_ANSWERS; i++) {
		const struct sheet_answer *answer = &prefetch->answers[i];
		autofree char *text = sheet_number_text(answer->number.value);

		if (answer->number.value > 0)
			marks[plot.frame.nr_markers++] = (struct plot_marker){
				answer->number.value, pool_format(&pool, "%s: %s%s", answer->name,
								  isinf(answer->number.high) ? "at least " : "", text)};
	}
	sheet_pictures_draw(pictures, "prefetch", &plot);
}

const struct sheet_part prefetch_part = {
	.heading = "Prefetching",
	.nr_answers = PREFETCH_NR_ANSWERS,
	.bytes = sizeof(struct prefetch),
	.measure = measure,
	.draw = draw,
};
