/* SPDX-License-Identifier: MIT */
/* Two stored results compared. */
#include "stored/stored_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"
#include "support/json.h"

/* ---- verdicts ---- */

/* Of the change in percent, "12" or "0.3". */
static char *
percent(double change)
{
	return fabs(change) < 10 ? rot_format("%.2g", change) : rot_format("%.0f", change);
}

/* "a factor of 3.1 [2.9, 3.2]": of a change in percent to more than twice as much, or to less than half. */
static char *
factor(double value, double low, double high)
{
	double a = 1 + value / 100, b = 1 + low / 100, c = 1 + high / 100;

	if (value < 0) {
		double swap = 1 / b;

		a = 1 / a;
		b = 1 / c;
		c = swap;
	}
	return isnan(low) ? rot_format("a factor of %.3g", a) : rot_format("a factor of %.3g [%.3g, %.3g]", a, b, c);
}

/* "12 % [9, 15]", turned around where less is meant; of rates and counts the change is that of the value. */
static char *
amount(double value, double low, double high)
{
	if (value >= 100 || value < -50)
		return factor(value, low, high);

	double a = fabs(value), b = fmin(fabs(low), fabs(high)), c = fmax(fabs(low), fabs(high));
	char *texts[3] = {percent(a), percent(b), percent(c)};
	char *text =
		isnan(low) ? rot_format("%s %%", texts[0]) : rot_format("%s %% [%s, %s]", texts[0], texts[1], texts[2]);

	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	return text;
}

/* Of the time, speed counts: half the time is 100 % faster. */
static struct summary
change_of(const char *name, const struct summary *ratio)
{
	struct summary change = *ratio;
	bool is_time = strcmp(name, "time") == 0;

	change.value = 100 * ((is_time ? 1 / ratio->value : ratio->value) - 1);
	change.low = 100 * ((is_time ? 1 / ratio->high : ratio->low) - 1);
	change.high = 100 * ((is_time ? 1 / ratio->low : ratio->high) - 1);
	return change;
}

static bool
is_speed(const char *name)
{
	return strcmp(name, "time") == 0 || strcmp(name, "performance") == 0 || strcmp(name, "throughput") == 0;
}

enum diff_verdict
diff_verdict_of(const char *name, const struct summary *ratio, char **text)
{
	struct summary change = change_of(name, ratio);
	bool is_exact = ratio->estimator && strcmp(ratio->estimator, "exact") == 0, is_more = change.value > 0;
	char *by;

	if (change.value == 0 && (is_exact || isnan(change.low))) {
		*text = rot_strdup("the same");
		return DIFF_NONE;
	}
	by = amount(change.value, is_exact ? NAN : change.low, change.high);
	if (!is_exact && isnan(change.low)) {
		*text = rot_format("%s by %s, but too few runs for an interval",
				   is_speed(name) ? is_more ? "faster" : "slower"
				   : is_more      ? "more"
						  : "less",
				   by);
		free(by);
		return DIFF_UNKNOWN;
	}
	if (!is_exact && change.low <= 0 && change.high >= 0) {
		char *low = percent(change.low), *high = percent(change.high);

		*text = rot_format("no difference shown [%s, %s] %%", low, high);
		free(low);
		free(high);
		free(by);
		return DIFF_NONE;
	}
	*text = rot_format("%s by %s", is_speed(name) ? is_more ? "faster" : "slower" : is_more ? "more" : "less", by);
	free(by);
	if (is_speed(name))
		return is_more ? DIFF_BETTER : DIFF_WORSE;
	return is_more ? DIFF_MORE : DIFF_LESS;
}

/* ---- points ---- */

static bool
same_name(const json_t *a, const json_t *b)
{
	return strcmp(json_text_at(a, "series"), json_text_at(b, "series")) == 0 &&
	       strcmp(json_text_at(a, "label"), json_text_at(b, "label")) == 0;
}

static bool
same_point(const json_t *a, const json_t *b)
{
	const json_t *of_a = json_object_get(a, "coordinates"), *of_b = json_object_get(b, "coordinates");

	return same_name(a, b) && (!of_a || !of_b || json_equal(of_a, of_b));
}

typedef bool same_function(const json_t *a, const json_t *b);

/* How many points like that one stand before this one in the result; before its end for NULL. */
static size_t
count_before(const struct stored_result *result, const json_t *before, const json_t *like, same_function *is_same)
{
	const json_t *point;
	size_t i, nr = 0;

	json_array_foreach(stored_result_points(result), i, point)
	{
		if (point == before)
			break;
		nr += is_same(point, like);
	}
	return nr;
}

/* The n-th of the points like that one, from 0 on; NULL if there are not so many. */
static const json_t *
find_nth(const struct stored_result *result, const json_t *like, same_function *is_same, size_t n)
{
	const json_t *point;
	size_t i;

	json_array_foreach(stored_result_points(result), i, point)
	{
		if (is_same(point, like) && n-- == 0)
			return point;
	}
	return NULL;
}

/*
 * What a point of one result is in the other one: the first of several that are the same is the first one there, and so
 * on. Where only one has that name, its coordinates may differ: on another machine an axis may have another value.
 */
static const json_t *
find_counterpart(const struct stored_result *of, const json_t *point, const struct stored_result *other)
{
	const json_t *found = find_nth(other, point, same_point, count_before(of, point, point, same_point));

	if (!found && count_before(of, NULL, point, same_name) == 1 && count_before(other, NULL, point, same_name) == 1)
		found = find_nth(other, point, same_name, 0);
	return found;
}

static const json_t *
find_quantity(const json_t *point, const char *words)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity)
	{
		char *own = stored_value_words(quantity);
		bool is_it = strcmp(own, words) == 0;

		free(own);
		if (is_it)
			return quantity;
	}
	return NULL;
}

static bool
is_disturbed(const json_t *disturbed, size_t run)
{
	const json_t *item;
	size_t i;

	json_array_foreach(disturbed, i, item)
	{
		if (json_is_integer(item) && json_integer_value(item) == (json_int_t)run)
			return true;
	}
	return false;
}

struct runs {
	double *values;
	size_t *starts; /* that they are of */
	size_t nr;
};

/* Those that the summary is of: the undisturbed ones, if there are any, and all where none was left out. Results of
 * before "starts" have one a run. */
static struct runs
runs_of(const json_t *quantity)
{
	const json_t *samples = json_object_get(quantity, "samples"), *starts = json_object_get(quantity, "starts");
	const json_t *disturbed = json_object_get(quantity, "taintedSamples"), *sample;
	const bool use_all =
		json_array_size(disturbed) >= json_array_size(samples) || json_number_at(quantity, "tainted") == 0;
	struct runs runs = {.values = rot_calloc(json_array_size(samples) + 1, sizeof(*runs.values)),
			    .starts = rot_calloc(json_array_size(samples) + 1, sizeof(*runs.starts))};
	size_t i;

	json_array_foreach(samples, i, sample)
	{
		const json_t *start = json_array_get(starts, i);

		if (!json_is_number(sample) || (!use_all && is_disturbed(disturbed, i)))
			continue;
		runs.values[runs.nr] = json_number_value(sample);
		runs.starts[runs.nr++] = json_is_integer(start) ? (size_t)json_integer_value(start) : i;
	}
	return runs;
}

static void
runs_clear(struct runs *runs)
{
	free(runs->values);
	free(runs->starts);
}

struct summary
diff_ratio_of(const json_t *first, const json_t *second, const struct quantity_value *a, const struct quantity_value *b)
{
	struct summary ratio = summary_single(b->summary.value / a->summary.value, "exact");
	struct runs before = runs_of(first), after = runs_of(second);
	const struct grouped below = {before.values, before.starts, before.nr};
	const struct grouped above = {after.values, after.starts, after.nr};
	bool is_exact = a->summary.low == a->summary.high && b->summary.low == b->summary.high;

	if (a->summary.value == b->summary.value && (is_exact || below.n < 2 || above.n < 2))
		ratio.value = 1;
	else if (below.n > 0 && above.n > 0 && !is_exact)
		ratio = summary_ratio(&above, &below, 1, false, 1);
	if (isnan(ratio.value))
		ratio.value = a->summary.value == b->summary.value ? 1 : NAN;
	runs_clear(&before);
	runs_clear(&after);
	return ratio;
}

/* ---- the table ---- */

struct comparison {
	FILE *out;
	bool everything;
	size_t nr_points, nr_only[2], nr_verdicts[NR_DIFF_VERDICTS];
	char **lone[2]; /* quantities that only one of the results has at a point of both; each once */
	size_t nr_lone[2];
};

/* Quantities of the point that the other one does not have. */
static void
note_lone(struct comparison *comparison, size_t side, const json_t *point, const json_t *other)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity)
	{
		char *words = stored_value_words(quantity), ***lone = &comparison->lone[side];
		size_t *nr = &comparison->nr_lone[side], k = 0;

		while (k < *nr && strcmp((*lone)[k], words) != 0)
			k++;
		if (k < *nr || find_quantity(other, words)) {
			free(words);
			continue;
		}
		*lone = rot_realloc(*lone, *nr + 1, sizeof(**lone));
		(*lone)[(*nr)++] = words;
	}
}

/* Prints them, and forgets them. */
static void
print_lone(struct comparison *comparison, size_t side, const struct stored_result *of)
{
	char **lone = comparison->lone[side];

	for (size_t i = 0; i < comparison->nr_lone[side]; i++) {
		if (i == 0)
			fprintf(comparison->out, "quantities only in %s: ", of->path);
		fprintf(comparison->out, "%s%s", i ? ", " : "", lone[i]);
		free(lone[i]);
	}
	if (comparison->nr_lone[side])
		fputc('\n', comparison->out);
	free(lone);
}

static bool
is_measured(const struct quantity_value *value)
{
	return strcmp(value->kind, "measured") == 0 || strcmp(value->kind, "modelled") == 0;
}

static void
print_row(struct comparison *comparison, const char *words, const struct quantity_value *a,
	  const struct quantity_value *b, const struct summary *ratio)
{
	char *texts[2] = {value_text(a), value_text(b)}, *verdict;
	enum diff_verdict kind = diff_verdict_of(a->name, ratio, &verdict);

	fprintf(comparison->out, "    %-48s %22s %22s %s  %s\n", words, texts[0], texts[1],
		a->unit ? shown_unit(a->unit).shown : "", verdict);
	if (is_measured(a))
		comparison->nr_verdicts[kind]++;
	free(verdict);
	free(texts[0]);
	free(texts[1]);
}

static void
compare_quantity(struct comparison *comparison, const json_t *quantity, const json_t *other)
{
	char *words = stored_value_words(quantity);
	const json_t *of_other = find_quantity(other, words);
	struct quantity_value a = {0}, b = {0};
	struct summary ratio;

	if (of_other && stored_value(quantity, &a) == 0 && stored_value(of_other, &b) == 0) {
		ratio = diff_ratio_of(quantity, of_other, &a, &b);
		if (comparison->everything || is_measured(&a) || ratio.value != 1)
			print_row(comparison, words, &a, &b, &ratio);
	}
	quantity_value_clear(&a);
	quantity_value_clear(&b);
	free(words);
}

static void
print_name(FILE *out, const json_t *point)
{
	fprintf(out, "%s%s%s", json_text_at(point, "series"), json_text_at(point, "label")[0] ? " " : "",
		json_text_at(point, "label"));
}

/* " (core: \"Haswell\" -> \"SkylakeX\")" */
static void
print_other_coordinates(FILE *out, const json_t *point, const json_t *other)
{
	json_t *coordinates = json_object_get(point, "coordinates"), *value;
	const json_t *of_other = json_object_get(other, "coordinates");
	const char *axis, *separator = " (";

	json_object_foreach(coordinates, axis, value)
	{
		const json_t *other_value = json_object_get(of_other, axis);
		char *texts[2];

		if (!other_value || json_equal(value, other_value))
			continue;
		texts[0] = json_dumps(value, JSON_ENCODE_ANY);
		texts[1] = json_dumps(other_value, JSON_ENCODE_ANY);
		fprintf(out, "%s%s: %s -> %s", separator, axis, texts[0], texts[1]);
		separator = ", ";
		free(texts[0]);
		free(texts[1]);
	}
	fputs(*separator == ',' ? ")\n" : "\n", out);
}

static void
compare_points(struct comparison *comparison, const struct stored_result *first, const struct stored_result *second)
{
	const json_t *point, *quantity;
	size_t i, j;

	json_array_foreach(stored_result_points(first), i, point)
	{
		const json_t *other = find_counterpart(first, point, second);

		if (!other) {
			comparison->nr_only[0]++;
			continue;
		}
		comparison->nr_points++;
		print_name(comparison->out, point);
		print_other_coordinates(comparison->out, point, other);
		json_array_foreach(json_object_get(point, "quantities"), j, quantity)
			compare_quantity(comparison, quantity, other);
		note_lone(comparison, 0, point, other);
		note_lone(comparison, 1, other, point);
	}
	json_array_foreach(stored_result_points(second), i, point)
	{
		if (!find_counterpart(second, point, first))
			comparison->nr_only[1]++;
	}
}

static void
print_only(FILE *out, const struct stored_result *of, const struct stored_result *other, size_t nr)
{
	const char *separator = ": ";
	const json_t *point;
	size_t i;

	if (nr == 0)
		return;
	fprintf(out, "only in %s", of->path);
	json_array_foreach(stored_result_points(of), i, point)
	{
		if (find_counterpart(of, point, other))
			continue;
		fputs(separator, out);
		print_name(out, point);
		separator = ", ";
	}
	fputc('\n', out);
}

/* ---- the whole ---- */

static void
print_summary(const struct comparison *comparison)
{
	static const char *const words[NR_DIFF_VERDICTS] = {
		"faster", "slower", "more", "less", "no difference shown", "too few runs to say",
	};
	const char *separator = "";

	for (size_t i = 0; i < NR_DIFF_VERDICTS; i++) {
		if (comparison->nr_verdicts[i] == 0)
			continue;
		fprintf(comparison->out, "%s%zu %s", separator, comparison->nr_verdicts[i], words[i]);
		separator = ", ";
	}
	fprintf(comparison->out, "%s in %zu points\n", *separator ? "" : "nothing measured", comparison->nr_points);
}

int
stored_diff_print(FILE *out, const struct stored_result *first, const struct stored_result *second, bool everything,
		  struct rot_error *err)
{
	struct comparison comparison = {.out = out, .everything = everything};

	fprintf(out, "%s -> %s\n", first->path, second->path);
	compare_points(&comparison, first, second);
	if (comparison.nr_points == 0) {
		rot_error_set(err, 0, "'%s' and '%s' have no point in common", first->path, second->path);
		return rot_error_hint(err,
				      "points are the same when series and label are, and of several the coordinates");
	}
	print_only(out, first, second, comparison.nr_only[0]);
	print_only(out, second, first, comparison.nr_only[1]);
	print_lone(&comparison, 0, first);
	print_lone(&comparison, 1, second);
	fputc('\n', out);
	stored_diff_print_environment(out, first, second);
	fputc('\n', out);
	print_summary(&comparison);
	return 0;
}
