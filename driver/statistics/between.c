/* SPDX-License-Identifier: MIT */
/* Two estimates with intervals, compared. */
#include <math.h>

#include "statistics/sorted.h"
#include "statistics/summary.h"

/* An interval of CONFIDENCE reaches so many standard deviations of a normal distribution to each side. */
#define REACH 1.959963984540054

static bool
has_interval(const struct summary *s)
{
	return s->low > 0 && s->low <= s->value && s->value <= s->high && isfinite(s->high);
}

static double
reach_below(const struct summary *s)
{
	return log(s->value / s->low);
}

static double
reach_above(const struct summary *s)
{
	return log(s->high / s->value);
}

struct summary
summary_quotient(const struct summary *numerator, const struct summary *denominator)
{
	struct summary quotient = summary_single(numerator->value / denominator->value, "quotient");

	if (!has_interval(numerator) || !has_interval(denominator))
		return quotient;
	quotient.low = quotient.value / exp(hypot(reach_below(numerator), reach_above(denominator)));
	quotient.high = quotient.value * exp(hypot(reach_above(numerator), reach_below(denominator)));
	quotient.confidence = CONFIDENCE;
	return quotient;
}

double
summary_probability_below(const struct summary *a, const struct summary *b)
{
	double distance, spread;

	if (!has_interval(a) || !has_interval(b))
		return NAN;
	distance = log(b->value / a->value);
	spread = (distance > 0 ? hypot(reach_above(a), reach_below(b)) : hypot(reach_below(a), reach_above(b))) / REACH;
	if (spread == 0)
		return distance > 0 ? 1 : distance < 0 ? 0 : 0.5;
	return erfc(-distance / spread / sqrt(2)) / 2;
}
