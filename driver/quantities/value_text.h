/* SPDX-License-Identifier: MIT */
/* Values for people: no finer than they are known, and marked when they are not measured. */
#pragma once

#include "quantities/quantity.h"

/*
 * In the unit shown: "20000", "51.3 ±0.2", "51.3 [51.2, 52.0]", "20000 (e)". Exact whole values are printed in full;
 * with an interval, to the first digit of its width (the second if the first is small), and as ± where both halves
 * round to the same; without one, with four digits. "-" if there is no value, "no bytes" (without a unit) for an
 * intensity without any. Fresh memory.
 */
char *value_text(const struct quantity_value *value);

/* Units that are too small for people: a value times factor is in the unit shown. Results keep base units. */
struct shown_unit {
	const char *shown;
	double factor;
};
struct shown_unit shown_unit(const char *unit);

/* The same for rates of that size, which may be too small for it: "MB/s", "kflop/s". */
struct shown_unit shown_unit_for(const char *unit, double size);
char *value_text_in(const struct quantity_value *value, struct shown_unit unit);

/* Every value in it times the factor. */
struct summary summary_scaled(struct summary summary, double factor);

/*
 * Doubts that its runs raise: "time: two modes: 3.1 and 4.2 us, 6 and 4 runs; drifts by -5 % from the first to
 * the last run; the first run differs by +30 % from the others". NULL if nothing. Fresh memory.
 */
char *value_doubts_text(const struct quantity_value *value);

/* "operationalIntensity" -> "operational intensity". Fresh memory. */
char *camel_case_words(const char *name);

/* Marks a value of which every run was disturbed. */
#define VALUE_DISTURBED "(d)"

/* An operational intensity that is infinite. */
#define VALUE_NO_BYTES "no bytes"

/* Before a share of a roof that the machine reaches at least. */
#define VALUE_AT_MOST "≤"

/* Name and what it is of, as tables have it: "bytes (LLC-RAM read)", "core cycles". Fresh memory. */
char *value_label(const struct quantity_value *value);

/* The value's "of" in words: "doublePrecisionFlop/llcRam.read" -> "double precision, LLC-RAM read"; clocks are
 * left out. Fresh memory. */
char *value_of_words(const struct quantity_value *value);

/* Rounded to so many digits, and never with an exponent: "1000" for 1001.2, "62.4" for 62.41 and 3. Fresh memory. */
char *digits_text(double value, int nr_digits);

/*
 * A verdict with how sure it is: "memory-bound (99 % sure)"; below 95 % "rather memory-bound than compute-bound (62 %
 * sure)"; the verdict alone where that is NaN. Fresh memory.
 */
char *verdict_text(const char *verdict, const char *other, double probability);

/* Below this share of the roof nothing is called bound by it: something else takes most of the time. */
#define VERDICT_FAR_BELOW (1.0 / 3)

/* The number alone, by the rules of value_text. Fresh memory. */
char *summary_text(const struct summary *summary);
