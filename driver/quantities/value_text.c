/* SPDX-License-Identifier: MIT */
/* Values for people: no finer than they are known, and marked when they are not measured. */
#include "quantities/value_text.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "quantities/remarks.h"
#include "quantities/vocabulary.h"

/* Rounded to 10^exponent: "12300" for 12345 and 2; "1.23" for 1.2345 and -2. */
static char *
rounded(double value, int exponent)
{
	double unit = pow(10, exponent);

	if (exponent <= -12 || exponent >= 15)
		return rot_format("%.3g", value);
	if (exponent < 0)
		return rot_format("%.*f", -exponent, value);
	return rot_format("%.0f", round(value / unit) * unit);
}

static int
exponent_of(double value)
{
	return (int)floor(log10(fabs(value)) + 1e-12);
}

/* Where a value with this uncertainty ends: two digits of 1.0 to 3.4, else one, so that rounding never costs much (as
 * the PDG does). */
static int
last_digit_of(double uncertainty)
{
	int exponent = exponent_of(uncertainty);

	return uncertainty < 3.5 * pow(10, exponent) ? exponent - 1 : exponent;
}

/*
 * Where a value, or an end of its interval, ends at the latest, if it is to have so many digits: one end may be a
 * hundred times as far away as the other, and what is known must not be rounded to 0 for it.
 */
static int
last_of_digits(double value, int nr_digits)
{
	return value == 0 ? INT_MAX : exponent_of(value) - (nr_digits - 1);
}

/* Smaller numbers have an exponent with %g. */
#define LEAST_OF_G 1e-4

char *
digits_text(double value, int nr_digits)
{
	const double size = fabs(value);

	if (!isfinite(value) || value == 0 || (size >= LEAST_OF_G && size < pow(10, nr_digits) - 0.5))
		return rot_format("%.*g", nr_digits, value);
	return rounded(value, last_of_digits(value, nr_digits));
}

static int
lower(int a, int b)
{
	return a < b ? a : b;
}

static char *
with_interval(const struct summary *s)
{
	double below = s->value - s->low, above = s->high - s->value, wider = fmax(below, above);
	int exponent = lower(last_digit_of(wider), lower(last_of_digits(s->value, 2), last_of_digits(s->low, 1)));
	autofree char *value = rounded(s->value, exponent), *low = rounded(s->low, exponent);
	autofree char *high = rounded(s->high, exponent), *down = rounded(below, exponent);
	autofree char *up = rounded(above, exponent);
	char *text;

	if (strcmp(down, up) == 0)
		text = rot_format("%s ±%s", value, up);
	else
		text = rot_format("%s [%s, %s]", value, low, high);
	return text;
}

/* Known as it is, not an estimate. */
static bool
is_exact(const struct summary *s)
{
	static const char *const exact[] = {"exact", "expected", "given"};

	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		if (s->estimator && strcmp(s->estimator, exact[i]) == 0)
			return true;
	return s->low == s->high;
}

/* The number alone. */
char *
summary_text(const struct summary *s)
{
	if (isnan(s->value))
		return rot_strdup("-");
	if (isinf(s->value))
		return rot_strdup(s->value > 0 ? "inf" : "-inf");
	if (isfinite(s->low) && isfinite(s->high) && s->low < s->high)
		return with_interval(s);
	if (s->value == floor(s->value) && fabs(s->value) < 1e15 && is_exact(s))
		return rot_number_in_full(s->value);
	return s->value == 0 ? rot_strdup("0") : rounded(s->value, exponent_of(s->value) - 3);
}

/* In a unit there are no smaller numbers, if there is a smaller unit. */
#define LEAST_SHOWN 0.01

struct shown_unit
shown_unit_for(const char *unit, double size)
{
	enum { NR_SIZES = 4 };
	static const struct {
		const char *unit;
		struct shown_unit shown[NR_SIZES];
	} rows[] = {
		{"flop/s", {{"Gflop/s", 1e-9}, {"Mflop/s", 1e-6}, {"kflop/s", 1e-3}, {"flop/s", 1}}},
		{"byte/s", {{"GB/s", 1e-9}, {"MB/s", 1e-6}, {"kB/s", 1e-3}, {"B/s", 1}}},
	};
	size_t k = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].unit, unit) != 0)
			continue;
		while (size != 0 && k + 1 < NR_SIZES && fabs(size) * rows[i].shown[k].factor < LEAST_SHOWN)
			k++;
		return rows[i].shown[k];
	}
	return (struct shown_unit){unit, 1};
}

struct shown_unit
shown_unit(const char *unit)
{
	return shown_unit_for(unit, INFINITY);
}

struct summary
summary_scaled(struct summary s, double factor)
{
	double *const values[] = {&s.value, &s.low, &s.high, &s.minimum, &s.maximum, &s.quartile25, &s.quartile75};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		*values[i] *= factor;
	return s;
}

char *
value_text(const struct quantity_value *value)
{
	return value_text_in(value, shown_unit(value->unit ? value->unit : ""));
}

char *
value_text_in(const struct quantity_value *value, struct shown_unit unit)
{
	struct summary summary = summary_scaled(value->summary, unit.factor);
	const bool is_whole =
		quantity_is_counted_once(value) && summary.value == floor(summary.value) && fabs(summary.value) < 1e15;
	const bool has_no_bytes =
		isinf(summary.value) && value->name && strcmp(value->name, "operationalIntensity") == 0;
	autofree char *number = has_no_bytes ? rot_strdup(VALUE_NO_BYTES)
				: is_whole   ? rot_number_in_full(summary.value)
					     : summary_text(&summary);
	const struct remark *kind = value->kind ? remark_find(REMARK_MARK, value->kind) : NULL;
	const char *disturbed = quantity_is_of_tainted(value) ? " " VALUE_DISTURBED : "";

	return rot_format("%s%s%s%s", number, kind ? " " : "", kind ? kind->mark : "", disturbed);
}

/* ---- doubts ---- */

/* Digits behind the point of a share in percent: two that count, and never an exponent. */
static int
percent_digits(double share)
{
	const double percent = fabs(100 * share);

	return percent >= 10 ? 0 : percent >= 1 ? 1 : 2;
}

static void
add_outliers(char **text, const struct series_outliers *outliers)
{
	rot_append(text,
		   "%s%zu run%s differ%s by %+.*f %%%s from the others for no cause that was seen, and %s in the value",
		   *text ? "; " : "", outliers->nr, rot_plural((double)outliers->nr), outliers->nr == 1 ? "s" : "",
		   percent_digits(outliers->difference), 100 * outliers->difference,
		   outliers->nr == 1 ? "" : " or more", outliers->nr == 1 ? "is" : "are");
}

char *
value_doubts_text(const struct quantity_value *value)
{
	const struct quantity_doubts doubts = quantity_doubts_of(value);
	autofree char *text = NULL, *words = NULL;
	struct shown_unit unit;

	if (!quantity_doubts_any(&doubts))
		return NULL;
	unit = shown_unit(value->unit);
	if (doubts.modes.finding == SERIES_YES)
		rot_append(&text, "two modes: %.4g and %.4g %s, %zu and %zu runs", doubts.modes.low * unit.factor,
			   doubts.modes.high * unit.factor, unit.shown, doubts.modes.nr_low, doubts.modes.nr_high);
	if (doubts.drift.finding == SERIES_YES)
		rot_append(&text, "%sdrifts by %+.*f %% from the first to the last run", text ? "; " : "",
			   percent_digits(doubts.drift.change), 100 * doubts.drift.change);
	if (doubts.first.finding == SERIES_YES)
		rot_append(&text, "%sthe first run differs by %+.*f %% from the others", text ? "; " : "",
			   percent_digits(doubts.first.difference), 100 * doubts.first.difference);
	/* The first run is told of as such. */
	if (doubts.outliers.finding == SERIES_YES && !(doubts.outliers.nr == 1 && doubts.first.finding == SERIES_YES))
		add_outliers(&text, &doubts.outliers);
	words = camel_case_words(value->name);
	return rot_format("%s: %s", words, text);
}

/* ---- words ---- */

char *
camel_case_words(const char *name)
{
	char *words = rot_calloc(2 * strlen(name) + 1, 1);
	size_t nr = 0;

	for (; *name; name++) {
		bool is_upper = *name >= 'A' && *name <= 'Z';

		if (is_upper)
			words[nr++] = ' ';
		words[nr++] = is_upper ? (char)(*name - 'A' + 'a') : *name;
	}
	return words;
}

/* Operations and borders have names of their own; "" for what the unit says already. */
static const char *
word_for(const char *part)
{
	static const char *const words[][2] = {
		{"doublePrecisionFlop", "double precision"},
		{"singlePrecisionFlop", "single precision"},
		{"flop", ""},
		{"compInstr", "x87"},
		{"integerOperation", "integers"},
		{"cpuL1", "CPU-L1"},
		{"l1l2", "L1-L2"},
		{"l2l3", "L2-L3"},
		{"llcRam", "LLC-RAM"},
		{"memoryBus", "memory bus"},
		{"coreCycles", ""},
		{"referenceCycles", ""},
		{"tsc", ""},
		{"microSeconds", ""},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(part, words[i][0]) == 0)
			return words[i][1];
	return part;
}

char *
value_of_words(const struct quantity_value *value)
{
	autofree char *copy = rot_strdup(value->of);
	char *rest = copy, *all = rot_strdup("");

	for (char *part = strsep(&rest, "/"); part; part = strsep(&rest, "/")) {
		char *direction = strchr(part, '.');
		const char *word;

		if (direction)
			*direction++ = '\0';
		word = word_for(part);
		rot_append(&all, "%s%s%s%s", all[0] && word[0] ? ", " : "", word, direction ? " " : "",
			   direction ? direction : "");
	}
	return all;
}

char *
value_label(const struct quantity_value *value)
{
	const struct quantity_kind *kind = quantity_kind_find(value->name);
	autofree char *name = NULL, *of = NULL;

	if (strcmp(value->name, "time") == 0 && strcmp(value->of, "coreCycles") == 0)
		return rot_strdup("core cycles");
	name = kind ? rot_strdup(kind->short_name) : camel_case_words(value->name);
	of = value_of_words(value);
	return rot_format("%s%s%s%s", name, *of ? " (" : "", of, *of ? ")" : "");
}

/* A verdict that is as probable as this holds. */
#define SURE 0.95

char *
verdict_text(const char *verdict, const char *other, double probability)
{
	autofree char *sure = NULL;

	if (isnan(probability))
		return rot_strdup(verdict);
	if (probability > 0.999)
		sure = rot_strdup("over 99.9");
	else
		sure = rot_format("%.*f", probability >= 0.99, 100 * probability);
	return probability < SURE ? rot_format("rather %s than %s (%s %% sure)", verdict, other, sure)
				  : rot_format("%s (%s %% sure)", verdict, sure);
}
