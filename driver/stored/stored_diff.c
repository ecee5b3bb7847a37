/* SPDX-License-Identifier: MIT */
/* Two stored results compared. */
#include "stored/stored_diff.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "support/entry.h"
#include "support/json.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "support/titles.h"

/* Of all differences together, after the correction. */
#define DIFF_CONFIDENCE 0.95

/* A row in a line; and, where a line has fewer characters than most of these, in one or two. */
#define WIDE_ROW "    %-48s %22s %22s %s  %s\n"
#define WIDE 140

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

/* Up to the number of a thread, " 123" at the end, which is another one in each run. */
static size_t
length_without_number(const char *name)
{
	size_t length = strlen(name), end = length;

	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 0 && end < length && name[end - 1] == ' ' ? end : length;
}

/* Of many threads that is "threads", of few the name and number of each. */
static const char *
series_of_part(const json_t *point)
{
	const char *series = json_text_at(point, "series"), *label = json_text_at(point, "label");
	const bool is_thread = strcmp(series, label) == 0 && series[length_without_number(series)];

	return is_thread ? "threads" : series;
}

/* Points of two "rot run": the programs may have different names, ./solver.old and ./solver. */
static bool
same_part_of_run(const json_t *a, const json_t *b)
{
	const char *series = series_of_part(a), *of_a = json_text_at(a, "label"), *of_b = json_text_at(b, "label");
	const size_t length = length_without_number(of_a);

	if (strcmp(series, series_of_part(b)) != 0)
		return false;
	return strcmp(series, "program") == 0 ||
	       (length == length_without_number(of_b) && strncmp(of_a, of_b, length) == 0);
}

typedef bool same_function(const json_t *a, const json_t *b);

/* How many points like that one stand before this one in the result; before its end for NULL. */
static size_t
count_before(const struct stored_result *result, const json_t *before, const json_t *like, same_function *is_same)
{
	const json_t *point;
	size_t i, nr = 0;

	json_array_foreach(stored_result_points(result), i, point) {
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

	json_array_foreach(stored_result_points(result), i, point) {
		if (is_same(point, like) && n-- == 0)
			return point;
	}
	return NULL;
}

/* By rot run. */
static bool
are_runs(const struct stored_result *first, const struct stored_result *second)
{
	return json_object_get(first->json, "program") && json_object_get(second->json, "program");
}

/*
 * What a point of one result is in the other one: the first of several that are the same is the first one there, and so
 * on. Where only one has that name, its coordinates may differ: on another machine an axis may have another value.
 */
static const json_t *
find_named(const struct stored_result *of, const json_t *point, const struct stored_result *other)
{
	same_function *is_same = are_runs(of, other) ? same_part_of_run : same_point;
	const json_t *found = find_nth(other, point, is_same, count_before(of, point, point, is_same));

	if (!found && count_before(of, NULL, point, same_name) == 1 && count_before(other, NULL, point, same_name) == 1)
		found = find_nth(other, point, same_name, 0);
	return found;
}

static bool
is_thread_part(const json_t *point)
{
	return strcmp(series_of_part(point), "threads") == 0;
}

/* The n-th thread without one of its name in the other result; the number of those before the point in *n. */
static const json_t *
find_nameless(const struct stored_result *of, const json_t *before, const struct stored_result *other, size_t *n)
{
	const size_t wanted = *n;
	const json_t *point;
	size_t i;

	*n = 0;
	json_array_foreach(stored_result_points(of), i, point) {
		if (point == before)
			break;
		if (is_thread_part(point) && !find_named(of, point, other) && (*n)++ == wanted)
			return point;
	}
	return NULL;
}

/* Threads often have the name of their program: those that have another name there are compared in their order. */
static const json_t *
find_counterpart(const struct stored_result *of, const json_t *point, const struct stored_result *other)
{
	const json_t *found = find_named(of, point, other);
	size_t n = SIZE_MAX;

	if (found || !are_runs(of, other) || !is_thread_part(point))
		return found;
	find_nameless(of, point, other, &n);
	return find_nameless(other, NULL, of, &n);
}

static bool
has_value(const json_t *quantity)
{
	return json_is_number(json_object_get(quantity, "value")) ||
	       json_is_true(json_object_get(quantity, "infinite"));
}

/* Words of one that has a value. */
static char *
words_with_value(const json_t *quantity)
{
	return has_value(quantity) ? stored_value_words(quantity) : rot_strdup("");
}

static const json_t *
find_quantity(const json_t *point, const char *words)
{
	return json_with_key(json_object_get(point, "quantities"), words_with_value, words);
}

/* ---- the table ---- */

/* One quantity at a point of both; without words the point itself. */
struct diff_row {
	const json_t *point, *other;
	char *words;
	struct quantity_value a, b;
	struct shift shift;
};

struct comparison {
	FILE *out;
	size_t width; /* of its lines */
	bool everything, are_runs;
	double limit;              /* NaN: none */
	size_t nr_held, nr_beyond; /* rows held to it, and those that differ by more */
	struct diff_row *rows;
	size_t nr_rows;
	size_t nr_points, nr_only[2], nr_verdicts[NR_DIFF_VERDICTS];
	size_t nr_folded; /* rows that are told of with --all alone */
	size_t nr_tests, nr_shown,
		nr_chance; /* comparisons by chance; differences they show, and of these doubtful ones */
	char **lone[2];    /* quantities that only one of the results has at a point of both; each once */
	size_t nr_lone[2];
};

/* "time [us]" */
static char *
name_of(const json_t *quantity)
{
	struct quantity_value value = {.name = json_text_at(quantity, "name"), .of = json_text_at(quantity, "of")};
	const char *unit = shown_unit(json_text_at(quantity, "unit")).shown;
	autofree char *label = value_label(&value);

	return rot_format("%s%s%s%s", label, *unit ? " [" : "", unit, *unit ? "]" : "");
}

/* Quantities of the point that the other one does not have. */
static void
note_lone(struct comparison *comparison, size_t side, const json_t *point, const json_t *other)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		autofree char *words = stored_value_words(quantity);
		char *name;
		char ***lone = &comparison->lone[side];
		size_t *nr = &comparison->nr_lone[side], k = 0;
		const bool is_lone = has_value(quantity) && !find_quantity(other, words);

		if (!is_lone)
			continue;
		name = name_of(quantity);
		while (k < *nr && strcmp((*lone)[k], name) != 0)
			k++;
		if (k < *nr) {
			free(name);
			continue;
		}
		rot_add(*lone, *nr) = name;
	}
}

/* Prints them, and forgets them. */
static void
print_lone(struct comparison *comparison, size_t side, const struct stored_result *of)
{
	autofree char **lone = comparison->lone[side];
	autofree char *text = rot_format("quantities only in %s: ", of->path);

	for (size_t i = 0; i < comparison->nr_lone[side]; i++) {
		rot_append(&text, "%s%s", i ? ", " : "", lone[i]);
		free(lone[i]);
	}
	rot_append(&text, "\n");
	if (comparison->nr_lone[side])
		text_print_fitting(text, comparison->out);
}

static bool
is_measured(const struct quantity_value *value)
{
	return strcmp(value->kind, "measured") == 0 || strcmp(value->kind, "modelled") == 0;
}

/* Of what is expected on one side a difference says nothing of the other. */
static bool
are_measured(const struct diff_row *row)
{
	return is_measured(&row->a) && is_measured(&row->b);
}

/* Takes the row over. */
static void
add_compared(struct comparison *comparison, const struct diff_row *row)
{
	rot_add(comparison->rows, comparison->nr_rows) = *row;
}

static void
compare_quantity(struct comparison *comparison, const json_t *quantity, const json_t *other)
{
	struct diff_row row = {.words = stored_value_words(quantity)};
	const json_t *of_other = find_quantity(other, row.words);
	bool is_shown = false;

	if (of_other && stored_value(quantity, &row.a) == 0 && stored_value(of_other, &row.b) == 0) {
		row.shift = diff_shift_of(quantity, of_other, &row.a, &row.b);
		is_shown = comparison->everything || is_measured(&row.a) || is_measured(&row.b) ||
			   row.shift.ratio.value != 1;
	}
	if (is_shown)
		add_compared(comparison, &row);
	else
		free(row.words);
}

/* What is not measured is no test of anything. */
static void
correct_for_many(struct comparison *comparison)
{
	autofree double *p = rot_calloc(comparison->nr_rows + 1, sizeof(*p));

	for (size_t i = 0; i < comparison->nr_rows; i++) {
		const struct diff_row *row = &comparison->rows[i];

		p[i] = row->words && are_measured(row) ? row->shift.p : NAN;
		comparison->nr_tests += !isnan(p[i]);
	}
	statistics_holm(p, comparison->nr_rows);
	for (size_t i = 0; i < comparison->nr_rows; i++)
		comparison->rows[i].shift.p = p[i];
}

static void
print_name(FILE *out, const json_t *point)
{
	autofree char *title = point_title(json_text_at(point, "series"), " ", json_text_at(point, "label"));

	fputs(title, out);
}

/* " (core: \"Haswell\" -> \"SkylakeX\")" */
static void
print_other_coordinates(FILE *out, const json_t *point, const json_t *other)
{
	json_t *coordinates = json_object_get(point, "coordinates"), *value;
	const json_t *of_other = json_object_get(other, "coordinates");
	const char *axis, *separator = " (";

	json_object_foreach(coordinates, axis, value) {
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

/* A difference that one of so many comparisons would show by chance. */
static bool
is_chance(struct comparison *comparison, const struct diff_row *row, enum diff_verdict verdict)
{
	bool is_it;

	if (isnan(row->shift.p) || verdict == DIFF_NONE || verdict == DIFF_UNKNOWN)
		return false;
	is_it = row->shift.p > 1 - DIFF_CONFIDENCE;
	comparison->nr_shown++;
	comparison->nr_chance += is_it;
	return is_it;
}

/* Does it differ by more than the limit? */
static bool
is_beyond(struct comparison *comparison, const struct diff_row *row)
{
	const struct summary *ratio = &row->shift.ratio;
	const bool has_interval = !isnan(ratio->low);
	bool is_it;

	if (isnan(comparison->limit) || !are_measured(row) || (diff_is_speed(row->a.name) && !has_interval))
		return false;
	is_it = (has_interval ? ratio->low : ratio->value) > 1 + comparison->limit ||
		!((has_interval ? ratio->high : ratio->value) >= 1 - comparison->limit);
	comparison->nr_held++;
	comparison->nr_beyond += is_it;
	return is_it;
}

/* The time stands for all that is the same at its point. */
static bool
is_told(const struct comparison *comparison, const struct diff_row *row, enum diff_verdict verdict)
{
	return comparison->everything || verdict != DIFF_NONE || strcmp(row->a.name, "time") == 0 ||
	       strcmp(row->a.kind, row->b.kind) != 0;
}

/* Of a run, which has all that could be counted: is there one of the same quantity before it at its point? */
static bool
is_further(const struct comparison *comparison, const struct diff_row *row)
{
	const struct diff_row *before = row;

	if (!comparison->are_runs || comparison->everything)
		return false;
	while ((--before)->words)
		if (strcmp(before->a.name, row->a.name) == 0)
			return true;
	return false;
}

/* The values behind the name, and the verdict behind them, if they fit there; else each below. */
static void
print_narrow(const struct comparison *comparison, const char *name, char *const texts[2], const char *unit,
	     const char *verdict)
{
	static const char *const before[] = {" ", "  "}, *const below = "\n        ";
	autofree char *values = rot_format("%s -> %s %s", texts[0], texts[1], unit);
	const char *const parts[] = {values, verdict};
	size_t column = (size_t)fprintf(comparison->out, "    %s:", name);

	for (size_t i = 0; i < 2; i++) {
		const size_t width = text_width(parts[i]), end = column + strlen(before[i]) + width;
		const bool fits = end <= comparison->width;

		fprintf(comparison->out, "%s%s", fits ? before[i] : below, parts[i]);
		column = fits ? end : strlen(below) - 1 + width;
	}
	fputc('\n', comparison->out);
}

/* title: of the row's point, if nothing of it was printed yet; else NULL. True if it is printed. */
static bool
print_row(struct comparison *comparison, const struct diff_row *row, const struct diff_row *title)
{
	const struct shown_unit unit = shown_unit_for(row->a.unit ? row->a.unit : "",
						      fmax(fabs(row->a.summary.value), fabs(row->b.summary.value)));
	char *texts[2] = {value_text_in(&row->a, unit), value_text_in(&row->b, unit)};
	autofree char *verdict = NULL, *kinds = NULL, *told = NULL, *name = value_label(&row->a);
	const size_t nr_runs = row->a.summary.n > row->b.summary.n ? row->a.summary.n : row->b.summary.n;
	const enum diff_verdict found = diff_verdict_of(row->a.name, &row->shift.ratio, nr_runs, &verdict);
	/* a difference that the digits shown do not have */
	const bool is_hidden = isnan(row->shift.p) && found != DIFF_NONE && strcmp(texts[0], texts[1]) == 0;
	const enum diff_verdict kind = is_hidden ? DIFF_NONE : found;
	const bool is_by_chance = is_chance(comparison, row, kind), is_of_kind = strcmp(row->a.kind, row->b.kind) == 0,
		   is_too_much = is_of_kind && is_beyond(comparison, row),
		   is_worth_it = is_too_much || is_told(comparison, row, kind),
		   is_shown = is_worth_it && (is_too_much || !is_further(comparison, row));

	comparison->nr_folded += is_worth_it && !is_shown;
	kinds = is_of_kind ? rot_strdup(is_too_much ? ", beyond the limit" : "")
			   : rot_format(" (%s -> %s)", row->a.kind, row->b.kind);
	told = rot_format("%s%s%s", is_hidden && !is_too_much ? "the same in the digits shown" : verdict,
			  is_by_chance ? ", or chance" : "", kinds);
	if (is_shown && title) {
		autofree char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		print_name(out, title->point);
		if (!same_name(title->point, title->other))
			fprintf(out, " -> %s", json_text_at(title->other, "label"));
		print_other_coordinates(out, title->point, title->other);
		fclose(out);
		text_print_within(text, comparison->width, comparison->out);
	}
	if (is_shown && comparison->width < WIDE)
		print_narrow(comparison, name, texts, unit.shown, told);
	else if (is_shown)
		fprintf(comparison->out, WIDE_ROW, name, texts[0], texts[1], unit.shown, told);
	if (are_measured(row))
		comparison->nr_verdicts[kind]++;
	free(texts[0]);
	free(texts[1]);
	return is_shown;
}

/* Prints the rows, and forgets them. */
static void
print_rows(struct comparison *comparison)
{
	const struct diff_row *title = NULL;

	for (size_t i = 0; i < comparison->nr_rows; i++) {
		const struct diff_row *row = &comparison->rows[i];

		if (!row->words)
			title = row;
		else if (print_row(comparison, row, title))
			title = NULL;
	}
	if (comparison->nr_folded > 0)
		fprintf(comparison->out, "    %zu differences of other operations and borders: --all\n",
			comparison->nr_folded);
	for (size_t i = 0; i < comparison->nr_rows; i++)
		free(comparison->rows[i].words);
	free(comparison->rows);
}

static void
compare_points(struct comparison *comparison, const struct stored_result *first, const struct stored_result *second)
{
	const json_t *point, *quantity;
	size_t i, j;

	json_array_foreach(stored_result_points(first), i, point) {
		const json_t *other = find_counterpart(first, point, second);

		if (!other) {
			comparison->nr_only[0]++;
			continue;
		}
		comparison->nr_points++;
		add_compared(comparison, &(struct diff_row){.point = point, .other = other});
		json_array_foreach(json_object_get(point, "quantities"), j, quantity)
			compare_quantity(comparison, quantity, other);
		note_lone(comparison, 0, point, other);
		note_lone(comparison, 1, other, point);
	}
	json_array_foreach(stored_result_points(second), i, point) {
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
	json_array_foreach(stored_result_points(of), i, point) {
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
print_summary(const struct comparison *comparison, FILE *out)
{
	static const char *const words[NR_DIFF_VERDICTS] = {
		"faster", "slower", "more", "less", "no difference shown", "not known (-runs=6 or more tells)",
	};
	autofree char *counts = rot_strdup("");

	for (size_t i = 0; i < NR_DIFF_VERDICTS; i++)
		if (comparison->nr_verdicts[i] > 0)
			rot_append(&counts, "%s%zu %s", *counts ? ", " : "", comparison->nr_verdicts[i], words[i]);
	rot_append(&counts, "%s in %zu point%s\n", *counts ? "" : "nothing measured", comparison->nr_points,
		   rot_plural((double)comparison->nr_points));
	text_print_fitting(counts, out);
	if (comparison->nr_chance) {
		autofree char *text =
			rot_format("or chance: %zu of the %zu differences, since %zu comparisons were made "
				   "(Holm's correction)",
				   comparison->nr_chance, comparison->nr_shown, comparison->nr_tests);

		text_print_fitting(text, out);
	}
}

static int
check_limit(const struct comparison *comparison, const struct stored_result *second, struct rot_error *err)
{
	const size_t nr_lone =
		comparison->nr_only[0] + comparison->nr_only[1] + comparison->nr_lone[0] + comparison->nr_lone[1];

	if (isnan(comparison->limit) || (comparison->nr_beyond == 0 && nr_lone == 0 && comparison->nr_held > 0))
		return 0;
	if (comparison->nr_beyond > 0)
		return rot_error_set(err, 0, "'%s': %zu of %zu values differ by more than %.6g %%", second->path,
				     comparison->nr_beyond, comparison->nr_held, 100 * comparison->limit);
	if (nr_lone > 0)
		return rot_error_set(err, 0, "'%s': points or quantities are in one of the files alone", second->path);
	rot_error_set(err, 0, "'%s': no value can be held to the limit", second->path);
	return rot_error_hint(err, "times need intervals (--runs=6 or more); counts do not: rot run --counts-only");
}

int
stored_diff_print(FILE *out, const struct stored_result *first, const struct stored_result *second, bool everything,
		  double limit, struct rot_error *err)
{
	struct comparison comparison = {
		.width = terminal_width(out),
		.everything = everything,
		.are_runs = are_runs(first, second),
		.limit = limit,
	};
	autofree char *rows = NULL;
	size_t length;

	comparison.out = open_memstream(&rows, &length);
	compare_points(&comparison, first, second);
	correct_for_many(&comparison);
	print_rows(&comparison);
	fclose(comparison.out);
	comparison.out = out;
	if (comparison.nr_points == 0) {
		rot_error_set(err, 0, "'%s' and '%s' have no point in common", first->path, second->path);
		return rot_error_hint(err, "points are compared whose series, label and coordinates are the same");
	}
	fprintf(out, "%s -> %s\n", first->path, second->path);
	print_summary(&comparison, out);
	stored_diff_print_functions(out, first, second, everything);
	fprintf(out, "\n%s", rows);
	/* The marks that the rows have. */
	for (const struct remark *mark = remark_next(REMARK_MARK, NULL); mark; mark = remark_next(REMARK_MARK, mark)) {
		autofree char *before = rot_format("  %s:", mark->mark);

		if (strstr(rows, mark->mark))
			text_print_behind(before, mark->text, out);
	}
	print_only(out, first, second, comparison.nr_only[0]);
	print_only(out, second, first, comparison.nr_only[1]);
	print_lone(&comparison, 0, first);
	print_lone(&comparison, 1, second);
	fputc('\n', out);
	stored_diff_print_environment(out, first, second);
	return check_limit(&comparison, second, err);
}
