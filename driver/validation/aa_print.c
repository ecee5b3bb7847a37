/* SPDX-License-Identifier: MIT */
/* Comparisons of equal work, for people and for programs. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "support/json.h"
#include "support/text_table.h"
#include "validation/aa.h"

/* Starts differ by more than so many times what is due to their runs: worth saying. */
#define WORTH_SAYING 1.5

static char *
times_text(double factor)
{
	return isnan(factor) ? rot_strdup("-") : rot_format("%.2f", factor);
}

static char *
percent_text(double share)
{
	return isnan(share) ? rot_strdup("-") : rot_format("%.3f %%", 100 * share);
}

static char *
rate_text(const struct summary *rate)
{
	if (isnan(rate->value))
		return rot_strdup("-");
	return rot_format("%.1f %% [%.1f, %.1f]", 100 * rate->value, 100 * rate->low, 100 * rate->high);
}

static void
print_table(const struct aa_row *rows, size_t nr, FILE *out)
{
	static const struct text_table_column columns[] = {
		{"quantity", true},
		{"compared", false},
		{"different", false},
		{"false alarms", false},
		{"too few runs", false},
		{"intervals need\nto be so\nmany times\nas wide", false},
		{"spread of\nthe runs of a\nmeasurement", false},
		{"of the\nmedians of\nmeasurements", false},
		{"if it did not\nmatter which", false},
	};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 1};

	for (size_t i = 0; i < nr; i++) {
		const struct aa_row *row = &rows[i];

		text_table_add(&table, (char *[]){
					       rot_strdup(row->words),
					       rot_format("%zu", row->nr_compared),
					       rot_format("%zu", row->nr_different),
					       rate_text(&row->rate),
					       row->nr_unknown ? rot_format("%zu", row->nr_unknown) : rot_strdup("-"),
					       times_text(row->widening),
					       percent_text(row->within),
					       percent_text(row->between),
					       percent_text(row->by_chance),
				       });
	}
	text_table_print(&table, out);
	text_table_clear(&table);
}

static void
print_verdict(const struct aa_row *row, FILE *out)
{
	if (aa_is_too_often(row)) {
		fprintf(out,
			"! %s: at least %.1f %% of equal work is called different, and 5 %% would be right: "
			"intervals are too narrow here",
			row->words, 100 * row->rate.low);
		if (row->widening > 1)
			fprintf(out, ", and must be %.2f times as wide", row->widening);
		fputs("\n", out);
	}
	if (row->between > WORTH_SAYING * row->by_chance)
		fprintf(out,
			"! %s: medians of measurements differ %.1f times as much as their runs do by chance: something "
			"that lasts longer than a measurement differs from one to the next\n",
			row->words, row->between / row->by_chance);
}

static bool
any_too_often(const struct aa_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (aa_is_too_often(&rows[i]))
			return true;
	}
	return false;
}

void
aa_print(const struct aa *aa, FILE *out)
{
	size_t nr;
	struct aa_row *rows = aa_rows(aa, &nr);

	fprintf(out,
		"%zu points of '%s', each measured twice with %d runs and compared as rot diff does: %d round%s in "
		"%.0f s%s\n\n",
		aa->nr_points, aa->options.controller, aa->options.nr_runs, aa->nr_rounds,
		aa->nr_rounds == 1 ? "" : "s", aa->elapsed_s, aa->is_interrupted ? ", then interrupted" : "");
	print_table(rows, nr, out);
	fputc('\n', out);
	for (size_t i = 0; i < nr; i++)
		print_verdict(&rows[i], out);
	if (!any_too_often(rows, nr))
		fputs("No quantity is shown to be called different more often than in 5 % of comparisons; the interval "
		      "of "
		      "false\nalarms says how sure that is\n",
		      out);
	free(rows);
}

static json_t *
row_json(const struct aa_row *row)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "quantity", row->words,
			 "compared", (json_int_t)row->nr_compared, "different", (json_int_t)row->nr_different,
			 "tooFewRuns", (json_int_t)row->nr_unknown, "rate", json_number(row->rate.value), "low",
			 json_number(row->rate.low), "high", json_number(row->rate.high), "isTooOften",
			 aa_is_too_often(row), "widening", json_number(row->widening), "spreadWithin",
			 json_number(row->within), "spreadBetween", json_number(row->between), "spreadByChance",
			 json_number(row->by_chance));
}

static json_t *
subject_json(const struct aa_subject *subject)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I}", "quantity", subject->words, "point", subject->point, "compared",
			 (json_int_t)(subject->nr_measurements / 2 - subject->nr_unknown), "different",
			 (json_int_t)subject->nr_different, "tooFewRuns", (json_int_t)subject->nr_unknown);
}

json_t *
aa_json(const struct aa *aa)
{
	json_t *quantities = json_array(), *points = json_array();
	size_t nr;
	struct aa_row *rows = aa_rows(aa, &nr);

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(quantities, row_json(&rows[i]));
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (aa->subjects[i].nr_measurements > 0)
			json_array_append_new(points, subject_json(&aa->subjects[i]));
	}
	free(rows);
	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "schema", "rot.aa/1", "controller",
			 aa->options.controller, "rounds", aa->nr_rounds, "runs", aa->options.nr_runs, "seconds",
			 json_number(aa->elapsed_s), "quantities", quantities, "points", points);
}
