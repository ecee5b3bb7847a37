/* SPDX-License-Identifier: MIT */
#include "sheet/sharing.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/pool.h"
#include "machine/caches.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "rot.h"
#include "sheet/survey.h"

#define ONE_CPU "cannot be told: rot may use one CPU alone"
#define NO_SIZE "cannot be told: its size is not known"
#define DISTURBED "cannot be told: the clock changed, or others ran, whenever it was measured"
#define NO_DIFFERENCE "cannot be told: a buffer that does not fit takes about as long as one that does"

static const char *const levels[SHARING_NR_ANSWERS] = {"L1 data", "L2", "last level"};
static const char *const names[SHARING_NR_ANSWERS] = {"CPUs of an L1 data", "CPUs of an L2", "CPUs of a last level"};

/* ---- what curves say ---- */

/* Buffers that do not fit must take so many times as long, or nothing is told. */
#define LEAST_RATIO 1.3

/* Shared, if it takes more than this part of what both buffers on one CPU add; private, below the other. */
#define SHARED_PART 0.5
#define PRIVATE_PART 0.25

enum verdict { PRIVATE, SHARED, UNSURE };

static enum verdict
verdict_of(const struct measured_curve *curve, size_t i)
{
	const double added = fmin(curve->cycles[0][0], curve->cycles[1][0]) - 1;
	const double low = fmin(curve->cycles[0][i], curve->cycles[1][i]) - 1,
		     high = fmax(curve->cycles[0][i], curve->cycles[1][i]) - 1;

	if (low > SHARED_PART * added)
		return SHARED;
	return high < PRIVATE_PART * added ? PRIVATE : UNSURE;
}

/* "L2 of CPU 0: shared with CPUs 1 8, as the system says". */
static void
describe(const struct measured_curve *curve, const struct sheet_answer *answer, char *remark, size_t size)
{
	autofree char *text = NULL;
	int nr = 0;

	for (size_t i = 1; i < curve->nr; i++)
		if (verdict_of(curve, i) == SHARED)
			rot_append(&text, nr++ ? " %d" : "%d", (int)curve->at[i]);
	snprintf(remark, size, "CPU %d shares it with %s%s%s", (int)curve->at[0],
		 nr == 0  ? "none of the others"
		 : nr > 1 ? "CPUs "
			  : "CPU ",
		 nr ? text : "",
		 answer->number.high > answer->number.low ? "; not sure: of some, the times lie in between"
		 : answer->told > 0 && answer->told != answer->number.value
			 ? "; not as told: a hypervisor may tell something else, or moves CPUs"
			 : "");
}

static void
conclude(struct sharing *sharing, enum sharing_answer which, double told)
{
	struct sheet_answer *answer = &sharing->answers[which];
	const struct measured_curve curve = curve_undisturbed(&sharing->curves[which]);
	int nr_shared = 1, nr_unsure = (int)(sharing->curves[which].nr - curve.nr);

	*answer = sheet_no_answer(names[which], "CPUs", told);
	if (sharing->curves[which].nr == 0) {
		answer->remark = NO_SIZE;
		return;
	}
	answer->curve = &sharing->curves[which];
	if (sharing->curves[which].nr == 1) {
		answer->remark = ONE_CPU;
		return;
	}
	if (curve.nr < 2 || curve.at[0] != sharing->curves[which].at[0]) {
		answer->remark = DISTURBED;
		return;
	}
	if (fmin(curve.cycles[0][0], curve.cycles[1][0]) < LEAST_RATIO) {
		answer->remark = NO_DIFFERENCE;
		return;
	}
	for (size_t i = 1; i < curve.nr; i++) {
		nr_shared += verdict_of(&curve, i) == SHARED;
		nr_unsure += verdict_of(&curve, i) == UNSURE;
	}
	answer->number = (struct sheet_number){nr_shared, nr_shared, nr_shared + nr_unsure};
	answer->confidence = nr_unsure ? 0 : 1;
	describe(&curve, answer, sharing->remarks[which], sizeof(sharing->remarks[which]));
	answer->remark = sharing->remarks[which];
}

void
sharing_conclude(struct sharing *sharing, const int told[SHARING_NR_ANSWERS])
{
	for (int i = 0; i < SHARING_NR_ANSWERS; i++)
		conclude(sharing, i, told[i]);
}

/* ---- measuring ---- */

/* Fits alone, and clearly not twice. */
#define SHARE_OF_LEVEL 0.6

/* Some 30 microseconds in L1, or a millisecond from memory: seldom interrupted. What is warmed goes on from there. */
#define ACCESSES 32768
#define FAR_ACCESSES 8192

struct level_points {
	int64_t bytes;                                       /* of a buffer */
	int alone[SHARING_MAX_CPUS], both[SHARING_MAX_CPUS]; /* points; both[0]: the first CPU, both sizes */
};

/* The measured size may be less than the told one; 0: not known. */
static int64_t
size_of(const struct rot *rot, int level)
{
	const int64_t told[] = {rot->machine->l1_data_bytes, rot->machine->l2_bytes, rot->machine->llc_bytes};
	const struct measured_level *found = measured_level_of(rot->measured, rot->machine, level);

	if (level == SHARING_LAST && told[level] <= told[SHARING_L2])
		return 0; /* the second is the last */
	return found && found->bytes && found->bytes < told[level] ? found->bytes : told[level];
}

static int
add(struct survey *survey, const int *cpus, size_t nr, int64_t bytes, struct rot_error *err)
{
	const int64_t lines = bytes / 64;
	const int accesses = lines > ACCESSES ? FAR_ACCESSES : ACCESSES;

	survey_set_cpus(survey, cpus, nr);
	return survey_add(survey, nr, "Chase", accesses, err,
			  "accesses=%d warmAccesses=%lld warmCode=true warmData=true bufferSize=%lld", accesses,
			  (long long)(4 * lines), (long long)(64 * lines));
}

static int
add_level(struct survey *survey, struct level_points *points, const int *cpus, size_t nr, struct rot_error *err)
{
	for (size_t i = 0; i < nr; i++) {
		const int pair[] = {cpus[0], cpus[i]};

		points->alone[i] = add(survey, &cpus[i], 1, points->bytes, err);
		points->both[i] =
			i ? add(survey, pair, 2, points->bytes, err) : add(survey, cpus, 1, 2 * points->bytes, err);
		if (points->alone[i] < 0 || points->both[i] < 0)
			return -1;
	}
	return 0;
}

/* CPUs of different cores may differ, so the slower one of a pair counts. */
static int
read_level(struct survey *survey, const struct level_points *points, const int *cpus, size_t nr,
	   struct measured_curve *curve, struct rot_error *err)
{
	double first = NAN;

	*curve = (struct measured_curve){.parameter = "CPU", .unit = "times as long as alone", .nr = nr};
	for (size_t i = 0; i < nr; i++) {
		struct survey_times alone, both;

		if (survey_read(survey, points->alone[i], &alone, err) < 0 ||
		    survey_read(survey, points->both[i], &both, err) < 0)
			return -1;
		curve->at[i] = cpus[i];
		if (i == 0)
			first = fmin(alone.cycles[0], alone.cycles[1]);
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] =
				both.cycles[half] / fmax(first, fmin(alone.cycles[0], alone.cycles[1]));
	}
	return 0;
}

/* Counts the taken CPUs that share each level with the first. */
static void
read_told(const int *cpus, size_t nr, int told[SHARING_NR_ANSWERS])
{
	const struct cache_owners first = cache_owners_of(cpus[0], "/");

	for (size_t i = 0; i < nr; i++) {
		const struct cache_owners owners = cache_owners_of(cpus[i], "/");

		told[SHARING_L1] += owners.l1_data == first.l1_data;
		told[SHARING_L2] += owners.l2 == first.l2;
		told[SHARING_LAST] += owners.llc == first.llc;
	}
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct sharing *sharing = measured;
	struct survey *survey = survey_new(rot);
	struct level_points points[SHARING_NR_ANSWERS] = {0};
	autofree int *all = NULL;
	int cpus[SHARING_MAX_CPUS], told[SHARING_NR_ANSWERS] = {0}, rc = 0;
	const size_t nr_all = allowed_cpus(&all, NULL), nr = nr_all < SHARING_MAX_CPUS ? nr_all : SHARING_MAX_CPUS;

	for (size_t i = 0; i < nr; i++)
		cpus[i] = all[i * nr_all / nr];
	read_told(cpus, nr, told);
	for (int i = 0; rc == 0 && i < SHARING_NR_ANSWERS; i++) {
		points[i].bytes = (int64_t)(SHARE_OF_LEVEL * (double)size_of(rot, i)) / 64 * 64;
		if (points[i].bytes)
			rc = add_level(survey, &points[i], cpus, nr, err);
	}
	if (rc == 0)
		rc = survey_measure(survey, err);
	for (int i = 0; rc == 0 && i < SHARING_NR_ANSWERS; i++)
		if (points[i].bytes)
			rc = read_level(survey, &points[i], cpus, nr, &sharing->curves[i], err);
	survey_delete(survey);
	if (rc < 0)
		return rot_error_prefix(err, "which CPUs share caches");
	sharing_conclude(sharing, told);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct sharing *sharing = measured;
	autopool pool = {0};
	struct plot_series series[SHARING_NR_ANSWERS];
	struct plot_marker marks[SHARING_NR_ANSWERS * SHARING_MAX_CPUS];
	struct series_plot plot = {
		.frame = {.title = "Two CPUs, each with a buffer of 60 % of a level",
			  .caption = sheet_remarks(&pool, sharing->answers, SHARING_NR_ANSWERS),
			  .x = {"CPU beside the first (the first: alone, with both buffers)", "", false, NAN, NAN},
			  .y = {"time of an access", "times as long as alone", false, 0, NAN},
			  .markers = marks},
		.series = series};

	for (int i = 0; i < SHARING_NR_ANSWERS; i++) {
		const struct measured_curve curve = curve_undisturbed(&sharing->curves[i]);

		if (curve.nr == 0)
			continue;
		series[plot.nr_series] = sheet_curve_series(&pool, &sharing->curves[i]);
		series[plot.nr_series++].name = levels[i];
		for (size_t k = 1; k < curve.nr && isfinite(sharing->answers[i].number.value); k++)
			if (verdict_of(&curve, k) == SHARED)
				marks[plot.frame.nr_markers++] =
					(struct plot_marker){curve.at[k], pool_format(&pool, "%s: shared", levels[i])};
	}
	if (plot.nr_series)
		sheet_pictures_draw(pictures, "sharing", &plot);
}

const struct sheet_part sharing_part = {
	.heading = "CPUs that share caches",
	.nr_answers = SHARING_NR_ANSWERS,
	.bytes = sizeof(struct sharing),
	.measure = measure,
	.draw = draw,
};
