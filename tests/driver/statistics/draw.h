/* SPDX-License-Identifier: MIT */
/* Random numbers for simulations, of a fixed seed; and values for summaries. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "statistics/summary.h"
#include "testing.h"

/* Values that each stand for themselves. */
#define EACH(values, n) (&(const struct grouped){values, NULL, n})

/* Values as two arguments. */
#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

/* All of a summary: "median 3 [1, 6] 0.96875; 1 2 5 6; n 6", where the numbers in the middle are range and quartiles.
 */
#define ck_assert_summary(summary, text) ck_assert_str_eq(summary_told(summary), text)

static inline const char *
summary_told(struct summary s)
{
	static char text[320];
	double *const all[] = {&s.value,      &s.low,        &s.high,    &s.minimum,
			       &s.quartile25, &s.quartile75, &s.maximum, &s.confidence};

	for (size_t i = 0; i < NR_ELEMENTS(all); i++)
		*all[i] = isnan(*all[i]) ? NAN : *all[i]; /* of which some have a sign */
	snprintf(text, sizeof(text), "%s %.10g [%.10g, %.10g] %.6g; %.10g %.10g %.10g %.10g; n %zu", s.estimator,
		 s.value, s.low, s.high, s.confidence, s.minimum, s.quartile25, s.quartile75, s.maximum, s.n);
	return text;
}

static uint64_t draw_state;

/*
 * How many trials a simulation makes: half of those that prove it, all with ROT_SLOW_TESTS, or ROT_TEST_TRIALS (2, or
 * more) halves.
 */
static inline int
trials(int nr)
{
	const char *halves = getenv("ROT_TEST_TRIALS");

	return (halves ? atoi(halves) : all_are_tested() ? 2 : 1) * nr / 2;
}

/* SplitMix64; uniform in (0, 1). */
static inline double
draw_uniform(void)
{
	uint64_t z = (draw_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static inline double
draw_standard_normal(void)
{
	const double radius = sqrt(-2 * log(draw_uniform()));

	return radius * cos(2 * M_PI * draw_uniform());
}

static inline double
draw_lognormal(void)
{
	return 100 * exp(0.5 * draw_standard_normal());
}

static inline double
draw_normal(void)
{
	return 100 + draw_standard_normal();
}

/* Work that always takes 100, and a delay. */
static inline double
draw_delayed(void)
{
	return 100 - 5 * log(draw_uniform());
}

/* Two modes; the median of the mixture lies in the lower one: F(m) = 0.7 * Phi(m - 100) = 1/2. */
static inline double
draw_bimodal(void)
{
	return (draw_uniform() < 0.7 ? 100 : 130) + draw_standard_normal();
}

/* A die: values with ties, whose median is any from 3 to 4. */
static inline double
draw_die(void)
{
	return floor(6 * draw_uniform()) + 1;
}

static const struct drawn {
	const char *name;
	double (*draw)(void);
	double low, high;  /* the true median, or where it may lie */
	double quartile75; /* the true one */
} drawn[] = {
	{"normal", draw_normal, 100, 100, 100.6744898},
	{"lognormal", draw_lognormal, 100, 100, 140.1105},
	{"delayed", draw_delayed, 103.4657359, 103.4657359, 106.9314718},
	{"bimodal", draw_bimodal, 100.5659488, 100.5659488, 129.0325783},
	{"die", draw_die, 3, 4, 5},
};

static inline void
draw_all(double (*draw)(void), double factor, double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = factor * draw();
}

/* The interval holds what is true. */
static inline bool
summary_holds(const struct summary *s, double low, double high)
{
	return s->low <= high * (1 + 1e-9) && s->high >= low * (1 - 1e-9);
}
