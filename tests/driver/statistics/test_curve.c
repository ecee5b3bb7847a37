/* SPDX-License-Identifier: MIT */
/*
 * Steps of made-up curves whose answers are known, each with noise of several kinds. A wrong answer must not be sure;
 * half of the answers must be, also with all that noise. In 380,000 cases with other seeds 49 are wrong and sure: both
 * measurements of a point were disturbed alike. That a point behind the step is higher than later ones would show half
 * of them, but so is the 13th line of a set on a Zen 5: 27 cycles, and 14 from the next one on.
 */
#include "draw.h"
#include "statistics/curve.h"

#define MAX_POINTS 24

/* Each curve is measured twice. */
static double curve[MAX_POINTS], twice[2][MAX_POINTS];

/* The machine adds this to a true curve. */
static const struct noise {
	const char *name;
	double jitter;     /* the most that each point is longer by */
	double spike_rate; /* points that are disturbed */
	double spike;      /* the most that those are longer by */
	double drift;      /* how much longer the last point is */
} noises[] = {
	{"none", 0, 0, 0, 0},           {"small", 0.005, 0, 0, 0},        {"some", 0.02, 0, 0, 0},
	{"much", 0.1, 0, 0, 0},         {"very much", 0.5, 0, 0, 0},      {"few spikes", 0.005, 0.05, 3, 0},
	{"spikes", 0.005, 0.2, 10, 0},  {"many spikes", 0.02, 0.5, 2, 0}, {"drift", 0.005, 0, 0, 0.2},
	{"small drift", 0, 0, 0, 0.03},
};

static void
measure(const struct noise *noise, size_t nr)
{
	for (int half = 0; half < 2; half++)
		for (size_t i = 0; i < nr; i++) {
			double value = curve[i] * (1 + noise->drift * (double)i / (double)nr);

			value *= 1 + noise->jitter * draw_uniform();
			if (draw_uniform() < noise->spike_rate)
				value *= 1 + noise->spike * draw_uniform();
			twice[half][i] = value;
		}
}

/* ---- steps ---- */

typedef struct curve_step step_finder(const double *values, size_t nr);

#define NONE SIZE_MAX

/* Values of a curve, up to the first 0; and between which points the step that is looked for lies. */
static const struct step_case {
	const char *name;
	step_finder *find;
	double values[MAX_POINTS];
	size_t at;
	bool is_unclear; /* also without noise */
} steps[] = {
	{"in flight: 8", curve_first_step, {4, 4, 4, 4, 4, 4, 4, 4, 4.5, 5, 5.5, 6, 6.5, 7}, 7, false},
	{"in flight: 4", curve_first_step, {4, 4, 4, 4, 5, 6, 7, 8, 9, 10}, 3, false},
	{"in flight: 5.3", curve_first_step, {1, 1, 1, 1, 1, 1.13, 1.32, 1.51, 1.70, 1.89}, 4, false},
	{"in flight: 2.5", curve_first_step, {10, 10, 12, 16, 20, 24, 28, 32}, 1, false},
	{"not pipelined", curve_first_step, {6, 12, 18, 24, 30, 36}, 0, false},
	{"more than there are chains", curve_first_step, {20, 20, 20, 20, 20, 20, 20, 20}, NONE, false},
	{"contexts: 2", curve_first_step, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, 1, false},
	{"contexts: 4, uneven", curve_first_step, {1, 1.01, 1.02, 1.02, 2, 2.1, 2.2, 2.9, 3, 3}, 3, false},
	{"small before large", curve_first_step, {1, 1, 1, 1.3, 1.3, 1.3, 15, 15, 15, 15}, 2, true},
	{"line: 64", curve_biggest_step, {5, 5, 5, 5, 9.8, 10, 10, 10}, 3, false},
	{"line: 64, with pairs of lines", curve_biggest_step, {5, 5, 5, 5, 8, 9.5, 10, 10}, 3, false},
	{"line: not there", curve_biggest_step, {5, 5, 5, 5, 5, 5, 5, 5}, NONE, false},
	{"registers: 15", curve_biggest_step, {3, 3, 3, 3, 3, 3, 3.1, 3.2, 4.6, 4.9, 5.3, 5.6, 6, 6.3}, 7, false},
	{"ways: 12", curve_biggest_step, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 14, 15, 15, 15}, 11, false},
	{"ways: 8, not least recently used", curve_biggest_step, {4, 4, 4, 4, 4, 4, 4, 4, 6, 8, 10, 11, 12}, 7, true},
	{"translation: 64 entries", curve_biggest_step, {4, 4, 4, 4, 4, 11, 11, 11, 11, 13, 13}, 4, false},
	{"page: 4 KiB", curve_biggest_step, {5, 5, 5, 6, 7, 7, 7, 7, 12, 12, 12}, 7, false},
	{"page: 2 MiB, no huge pages", curve_biggest_step, {5, 5, 5, 12, 12, 12, 12, 13, 13, 13}, 2, false},
	{"two alike", curve_biggest_step, {5, 5, 9, 9, 9, 13, 13, 13}, 1, true},
};

static size_t nr_right, nr_sure, nr_cases;

static void
look_for_step(const struct step_case *row, const struct noise *noise)
{
	struct curve_step step;
	bool is_right;
	size_t nr = 0;

	for (; row->values[nr] > 0; nr++)
		curve[nr] = row->values[nr];
	measure(noise, nr);
	step = curve_step_of_two(row->find, twice[0], twice[1], nr);
	is_right = row->at == NONE ? isnan(step.rise) : !isnan(step.rise) && step.at == row->at;
	ck_assert_msg(is_right || step.confidence < CURVE_SURE, "%s, noise %s: step at %zu by %g, confidence %g",
		      row->name, noise->name, step.at, step.rise, step.confidence);
	nr_cases++;
	nr_right += is_right;
	nr_sure += is_right && step.confidence >= CURVE_SURE;
}

TEST(steps_are_right_or_not_sure)
{
	draw_state = 1;
	for (size_t i = 0; i < NR_ELEMENTS(steps); i++)
		for (size_t k = 0; k < NR_ELEMENTS(noises); k++)
			look_for_step(&steps[i], &noises[k]);
	ck_assert_uint_eq(nr_cases, NR_ELEMENTS(steps) * NR_ELEMENTS(noises));
	ck_assert_uint_ge(2 * nr_sure, nr_cases);
	printf("steps: %zu cases, %zu right, %zu of them sure\n", nr_cases, nr_right, nr_sure);
}

/* Without noise, clear steps are found and sure, and others are not sure. */
TEST_OF(clear_steps_are_sure, NR_ELEMENTS(steps))
{
	const struct step_case *row = &steps[_i];
	struct curve_step step;
	size_t nr = 0;

	while (row->values[nr] > 0)
		nr++;
	step = row->find(row->values, nr);
	ck_assert_msg((step.confidence >= CURVE_SURE) != row->is_unclear, "%s: confidence %g", row->name,
		      step.confidence);
	if (row->at != NONE && !row->is_unclear)
		ck_assert_uint_eq(step.at, row->at);
}

/* ---- the rest ---- */

TEST(curves_never_fall)
{
	static const double values[] = {3, 1, 2, 9, 4, 4.5};
	double envelope[6];

	curve_envelope(values, 6, envelope);
	for (size_t i = 0; i < 6; i++)
		ck_assert_double_eq(envelope[i], ((const double[]){1, 1, 2, 4, 4, 4.5})[i]);
}

/* Too few points, and values that are none, have no answer. */
TEST(nothing_is_found_in_nothing)
{
	static const double few[] = {1, 1, 5}, broken[] = {1, 1, NAN, 5, 5}, zero[] = {0, 0, 0, 1, 1};

	ck_assert_double_nan(curve_first_step(few, 3).rise);
	ck_assert_double_eq(curve_first_step(few, 3).confidence, 0);
	ck_assert_double_nan(curve_biggest_step(broken, 5).rise);
	ck_assert_double_nan(curve_biggest_step(zero, 5).rise);
	ck_assert_double_nan(curve_first_step(NULL, 0).rise);
}
