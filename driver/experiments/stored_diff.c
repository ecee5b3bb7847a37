/* SPDX-License-Identifier: MIT */
/* Two stored results compared. */
#include "experiments/stored_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/titles.h"
#include "memory.h"
#include "number.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"

/* The confidence of all differences together, after the correction. */
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

/* A part with many threads is "threads", one with few has the name and number of each. */
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

/* By rot run. */
static bool
are_runs(const struct stored_result *first, const struct stored_result *second)
{
	return json_object_get(first->json, "program") && json_object_get(second->json, "program");
}

static bool
is_thread_part(const json_t *point)
{
	return strcmp(series_of_part(point), "threads") == 0;
}

static size_t
count_named(const struct stored_result *result, const json_t *like)
{
	const json_t *point;
	size_t i, nr = 0;

	json_array_foreach(stored_result_points(result), i, point)
		nr += same_name(point, like);
	return nr;
}

/*
 * Sets what each point of the first result is in the second one, NULL for nothing, and which of these are one of the
 * first. Of several that are the same the first one is the first one there, and so on.
 */
static void
pair_points(const struct stored_result *first, const struct stored_result *second, const json_t **others,
	    bool *is_paired)
{
	enum { SAME, NAMED, THREADS, NR_WAYS };
	const bool of_runs = are_runs(first, second);
	const json_t *point, *other;
	size_t i, k;

	for (int way = SAME; way < NR_WAYS; way++)
		json_array_foreach(stored_result_points(first), i, point) {
			bool is_open = !others[i];

			/* Coordinates of a name that only one has may differ: an axis has other values elsewhere. */
			if (way == NAMED)
				is_open = is_open && count_named(first, point) == 1 && count_named(second, point) == 1;
			/* Threads often have the name of their program, and are compared in their order then. */
			if (way == THREADS)
				is_open = is_open && of_runs && is_thread_part(point);
			json_array_foreach(stored_result_points(second), k, other) {
				const bool fits = way == NAMED     ? same_name(point, other)
						  : way == THREADS ? is_thread_part(other)
						  : of_runs        ? same_part_of_run(point, other)
								   : same_point(point, other);

				if (!is_open || is_paired[k] || !fits)
					continue;
				others[i] = other;
				is_paired[k] = true;
				is_open = false;
			}
		}
}

static bool
has_value(const json_t *quantity)
{
	return json_is_number(json_object_get(quantity, "value")) ||
	       json_is_true(json_object_get(quantity, "infinite"));
}

static const json_t *
find_quantity(const json_t *point, const char *words)
{
	const json_t *quantity = stored_quantity(point, stored_value_words, words);

	return has_value(quantity) ? quantity : NULL;
}

/* ---- the table ---- */

/* One quantity at a point of both; without words the point itself. */
struct diff_row {
	const json_t *point, *other;
	const char *words;
	struct quantity_value a, b;
	struct shift shift;
};

struct comparison {
	struct pool pool;
	FILE *out;
	size_t width; /* of its lines */
	bool everything, are_runs;
	double limit;              /* NaN: none */
	size_t nr_held, nr_beyond; /* rows held to it, and those that differ by more */
	struct diff_row *rows;
	size_t nr_rows;
	const json_t **only[2]; /* points of one result alone */
	size_t nr_points, nr_only[2], nr_verdicts[NR_DIFF_VERDICTS];
	size_t nr_folded; /* rows that are told of with --all alone */
	size_t nr_tests, nr_shown,
		nr_chance;    /* comparisons by chance; differences they show, and of these doubtful ones */
	struct texts lone[2]; /* quantities that only one of the results has at a point of both */
};

/* Quantities of the point that the other one does not have: "time [us]". */
static void
note_lone(struct comparison *comparison, size_t side, const json_t *point, const json_t *other)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		const struct quantity_value value = {.name = json_text_at(quantity, "name"),
						     .of = json_text_at(quantity, "of")};
		const char *unit = shown_unit(json_text_at(quantity, "unit")).shown;
		autofree char *words = stored_value_words(quantity), *label = value_label(&value);

		if (has_value(quantity) && !find_quantity(other, words))
			texts_add(&comparison->pool, &comparison->lone[side],
				  pool_format(&comparison->pool, "%s%s%s%s", label, *unit ? " [" : "", unit,
					      *unit ? "]" : ""));
	}
}

static void
print_lone(const struct texts *lone, const struct stored_result *of, FILE *out)
{
	autofree char *text = rot_format("quantities only in %s: ", of->path);

	for (size_t i = 0; i < lone->nr; i++)
		rot_append(&text, "%s%s", i ? ", " : "", lone->items[i]);
	rot_append(&text, "\n");
	if (lone->nr)
		text_print_fitting(text, out);
}

static bool
is_measured(const struct quantity_value *value)
{
	return strcmp(value->kind, "measured") == 0 || strcmp(value->kind, "modelled") == 0;
}

/* A value expected on one side says nothing of a difference to the other. */
static bool
are_measured(const struct diff_row *row)
{
	return is_measured(&row->a) && is_measured(&row->b);
}

static void
compare_quantity(struct comparison *comparison, const json_t *quantity, const json_t *other)
{
	struct pool *pool = &comparison->pool;
	struct diff_row row = {.words = pool_own(pool, stored_value_words(quantity), free)};
	const json_t *of_other = find_quantity(other, row.words);

	if (!of_other || stored_value(quantity, &row.a) < 0 || stored_value(of_other, &row.b) < 0)
		return;
	row.shift = diff_shift_of(quantity, of_other, &row.a, &row.b);
	if (comparison->everything || is_measured(&row.a) || is_measured(&row.b) || row.shift.ratio.value != 1)
		pool_add(pool, comparison->rows, comparison->nr_rows) = row;
}

/* Rows that are not measured are no tests of anything. */
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
		autofree char *text = NULL, *other_text = NULL;

		if (!other_value || json_equal(value, other_value))
			continue;
		text = json_dumps(value, JSON_ENCODE_ANY);
		other_text = json_dumps(other_value, JSON_ENCODE_ANY);
		fprintf(out, "%s%s: %s -> %s", separator, axis, text, other_text);
		separator = ", ";
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

/* A run has all that could be counted: is there a row of the same quantity before it at its point? */
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
}

static void
compare_points(struct comparison *comparison, const struct stored_result *first, const struct stored_result *second)
{
	struct pool *pool = &comparison->pool;
	const size_t nr_second = json_array_size(stored_result_points(second));
	const json_t **others = pool_calloc(pool, json_array_size(stored_result_points(first)), sizeof(*others));
	bool *is_paired = pool_calloc(pool, nr_second, sizeof(*is_paired));
	const json_t *point, *quantity;
	size_t i, j;

	pair_points(first, second, others, is_paired);
	json_array_foreach(stored_result_points(first), i, point) {
		if (!others[i]) {
			pool_add(pool, comparison->only[0], comparison->nr_only[0]) = point;
			continue;
		}
		comparison->nr_points++;
		pool_add(pool, comparison->rows, comparison->nr_rows) =
			(struct diff_row){.point = point, .other = others[i]};
		json_array_foreach(json_object_get(point, "quantities"), j, quantity)
			compare_quantity(comparison, quantity, others[i]);
		note_lone(comparison, 0, point, others[i]);
		note_lone(comparison, 1, others[i], point);
	}
	json_array_foreach(stored_result_points(second), i, point) {
		if (!is_paired[i])
			pool_add(pool, comparison->only[1], comparison->nr_only[1]) = point;
	}
}

static void
print_only(FILE *out, const struct stored_result *of, const json_t *const *points, size_t nr)
{
	if (nr > 0)
		fprintf(out, "only in %s", of->path);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ", " : ": ", out);
		print_name(out, points[i]);
	}
	if (nr > 0)
		fputc('\n', out);
}

/* ---- the whole ---- */

static void
print_summary(const struct comparison *comparison, FILE *out)
{
	static const char *const words[NR_DIFF_VERDICTS] = {
		"faster", "slower", "more", "less", "no difference shown", "not known (6 undisturbed runs tell)",
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
		comparison->nr_only[0] + comparison->nr_only[1] + comparison->lone[0].nr + comparison->lone[1].nr;

	if (isnan(comparison->limit) || (comparison->nr_beyond == 0 && nr_lone == 0 && comparison->nr_held > 0))
		return 0;
	if (comparison->nr_beyond > 0)
		return rot_error_set(err, 0, "'%s': %zu of %zu values differ by more than %.6g %%", second->path,
				     comparison->nr_beyond, comparison->nr_held, 100 * comparison->limit);
	if (nr_lone > 0)
		return rot_error_set(err, 0, "'%s': points or quantities are in one of the files alone", second->path);
	rot_error_set(err, 0, "'%s': no value can be held to the limit", second->path);
	return rot_error_hint(err, "times need intervals (6 undisturbed runs); counts do not: rot run --counts-only");
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
		pool_clear(&comparison.pool);
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
	print_only(out, first, comparison.only[0], comparison.nr_only[0]);
	print_only(out, second, comparison.only[1], comparison.nr_only[1]);
	print_lone(&comparison.lone[0], first, out);
	print_lone(&comparison.lone[1], second, out);
	fputc('\n', out);
	stored_diff_print_environment(out, first, second);
	pool_clear(&comparison.pool);
	return check_limit(&comparison, second, err);
}
