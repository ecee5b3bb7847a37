/* SPDX-License-Identifier: MIT */
/* What stands below the tables of an experiment: what marks mean, how runs ended, notes, and ceilings. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "machine/machine.h"
#include "memory.h"
#include "quantities/value_text.h"
#include "rot.h"
#include "support/entry.h"
#include "support/json.h"
#include "support/point_title.h"
#include "support/text_table.h"

/* Why no more runs were made, for how many points: nothing about those that got as many as were asked for. */
static void
print_runs_ends(const struct experiment *experiment, FILE *out)
{
	static const struct {
		const char *end, *meaning;
	} ends[] = {
		{"disturbed", "too many runs were disturbed to have as many as were asked for"},
		{"narrow", "runs were added until the intervals were as narrow as the key precision wants"},
		{"most", "the intervals are wider than the key precision wants, with as many runs as are made at most"},
		{"budget", "more runs would have taken longer than the key timeBudget allows"},
		{"noInterval", "the estimator has no interval that the key precision could be compared with"},
	};

	for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
		size_t nr = 0;

		for (size_t i = 0; i < experiment->nr_points; i++) {
			const struct experiment_point *point = &experiment->points[i];
			const char *end = point->nr_values ? point->values[0].runs_end : NULL;

			nr += end && strcmp(end, ends[k].end) == 0;
		}
		if (nr)
			fprintf(out, "%zu of %zu points: %s\n", nr, experiment->nr_points, ends[k].meaning);
	}
}

/* Disturbed runs of points, and by what. */
struct disturbed {
	size_t nr_points, most_runs;
	unsigned taints;
};

static void
disturbed_add(struct disturbed *disturbed, const struct quantity_value *value)
{
	size_t nr = 0;

	for (size_t i = 0; i < value->nr_samples; i++) {
		nr += value->taints[i] != 0;
		disturbed->taints |= value->taints[i];
	}
	disturbed->nr_points++;
	disturbed->most_runs = nr > disturbed->most_runs ? nr : disturbed->most_runs;
}

/* The value of the point that says most of its disturbed runs, or NULL: all are of the same runs. */
static const struct quantity_value *
most_disturbed(const struct experiment_point *point)
{
	const struct quantity_value *most = NULL;

	for (size_t i = 0; i < point->nr_values; i++) {
		const struct quantity_value *value = &point->values[i];
		bool is_disturbed = false;

		for (size_t k = 0; value->taints && k < value->nr_samples; k++)
			is_disturbed = is_disturbed || value->taints[k];
		if (is_disturbed && (!most || value->summary.tainted > most->summary.tainted))
			most = value;
	}
	return most;
}

static void
print_disturbed(const struct experiment *experiment, FILE *out)
{
	enum { LEFT_OUT, ALL, KEPT, NR_FATES };
	struct disturbed disturbed[NR_FATES] = {{0}};
	char *causes[NR_FATES];

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct quantity_value *value = most_disturbed(&experiment->points[i]);

		if (value)
			disturbed_add(&disturbed[quantity_is_of_tainted(value) ? ALL
						 : value->summary.tainted == 0 ? KEPT
									       : LEFT_OUT],
				      value);
	}
	for (int i = 0; i < NR_FATES; i++)
		causes[i] = sample_taints_text(disturbed[i].taints);
	if (disturbed[LEFT_OUT].nr_points)
		fprintf(out,
			"up to %zu run%s of a point disturbed (%s) and left out; OUTPUT.json says which, and why\n",
			disturbed[LEFT_OUT].most_runs, disturbed[LEFT_OUT].most_runs == 1 ? " was" : "s were",
			causes[LEFT_OUT]);
	if (disturbed[ALL].nr_points)
		fprintf(out,
			"%s: %zu of %zu points had no run that was not disturbed (%s), their values are of these\n",
			VALUE_DISTURBED, disturbed[ALL].nr_points, experiment->nr_points, causes[ALL]);
	if (disturbed[KEPT].nr_points)
		fprintf(out,
			"up to %zu runs of a point were disturbed (%s) and are in the values, which are about that; "
			"OUTPUT.json says which\n",
			disturbed[KEPT].most_runs, causes[KEPT]);
	for (int i = 0; i < NR_FATES; i++)
		free(causes[i]);
}

/* Runs of so few starts say nothing of how starts differ. */
static bool
has_few_starts(const struct quantity_value *value)
{
	size_t nr = value->starts && value->nr_samples ? 1 : SUMMARY_LEAST;

	for (size_t i = 1; value->starts && i < value->nr_samples; i++)
		nr += value->starts[i] != value->starts[i - 1];
	return nr < SUMMARY_LEAST && value->summary.low < value->summary.high;
}

static void
print_few_starts(const struct experiment *experiment, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		bool is_it = false;

		for (size_t j = 0; j < experiment->points[i].nr_values; j++)
			is_it = is_it || has_few_starts(&experiment->points[i].values[j]);
		nr += is_it;
	}
	if (nr)
		fprintf(out,
			"%zu of %zu points: runs of fewer than %d starts of the measuring core, so intervals know "
			"nothing of what differs between starts (rot remeasure, and the key starts)\n",
			nr, experiment->nr_points, SUMMARY_LEAST);
}

/* What kept steps from counting some of the point; "": nothing did. */
static const char *
why_expected(const struct experiment_point *point)
{
	const char *why = "";

	for (size_t i = 0; i < point->nr_values && !why[0]; i++)
		why = point->values[i].why_expected ? point->values[i].why_expected : "";
	return why;
}

/* Each reason once, with the number of points that have it. */
static void
print_why_expected(const struct experiment *experiment, FILE *out)
{
	for (size_t i = 0; i < experiment->nr_points; i++) {
		const char *why = why_expected(&experiment->points[i]);
		size_t nr = 0, first = 0;

		for (size_t k = experiment->nr_points; k-- > 0;) {
			const bool is_same = strcmp(why_expected(&experiment->points[k]), why) == 0;

			nr += is_same;
			first = is_same ? k : first;
		}
		if (why[0] && first == i)
			fprintf(out, "%zu of %zu points: not all is counted by blocks: %s\n", nr, experiment->nr_points,
				why);
	}
}

/* Their sizes decide how many bytes cross each border. */
static void
print_modelled_caches(const struct experiment *experiment, FILE *out)
{
	char *caches;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			if (!strstr(experiment->points[i].values[j].source, "modelled caches"))
				continue;
			caches = machine_caches_text(experiment->rot->machine);
			fprintf(out, "modelled caches: %s\n", caches);
			free(caches);
			return;
		}
}

/* What the marks mean, as far as they are in the table. */
static void
print_marks(const struct experiment *experiment, FILE *out)
{
	bool has_interval = false;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_value *value = &experiment->points[i].values[j];

			has_interval = has_interval || value->summary.low < value->summary.high;
		}
	if (has_interval)
		fprintf(out, "±, [low, high]: interval of at least 95 %% for the estimate\n");
	print_few_starts(experiment, out);
	for (size_t k = 0; k < value_nr_kinds; k++) {
		bool is_there = false;

		for (size_t i = 0; i < experiment->nr_points && !is_there; i++)
			for (size_t j = 0; j < experiment->points[i].nr_values && !is_there; j++)
				is_there = strcmp(experiment->points[i].values[j].kind, value_kinds[k].kind) == 0;
		if (is_there)
			fprintf(out, "%s: %s\n", value_kinds[k].mark, value_kinds[k].meaning);
	}
	print_modelled_caches(experiment, out);
	print_why_expected(experiment, out);
	print_disturbed(experiment, out);
	print_runs_ends(experiment, out);
}

/* What was counted, once, and how well that is known to count here. */
static void
print_grades(const struct experiment *experiment, FILE *out)
{
	char *known = rot_strdup("");

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_values; j++) {
			const struct quantity_value *value = &experiment->points[i].values[j];
			char *name = rot_format("%s%s%s", value->name, value->of[0] ? ":" : "", value->of);
			char *text = rot_format("%s %s", name, value->grade), *longer;

			if (value->grade[0] && !strstr(known, text)) {
				longer = rot_format("%s%s%s", known, known[0] ? ", " : "", text);
				free(known);
				known = longer;
			}
			free(text);
			free(name);
		}
	if (known[0])
		fprintf(out, "validated on known work: %s\n", known);
	free(known);
}

/* They say the same, maybe of other numbers; not of L1 and L2. */
static bool
are_alike(const char *a, const char *b)
{
	static const char of_numbers[] = "0123456789.,+-";
	bool is_in_word = false;

	for (;; a++, b++) {
		if (!is_in_word) {
			a += strspn(a, of_numbers);
			b += strspn(b, of_numbers);
		}
		if (*a != *b || !*a)
			return *a == *b;
		is_in_word = isalnum((unsigned char)*a);
	}
}

/* How many points of these have a note like that. */
static size_t
nr_like(const struct experiment *experiment, size_t from, size_t to, const char *note)
{
	size_t nr = 0;

	for (size_t i = from; i < to; i++) {
		bool has_one = false;

		for (size_t j = 0; j < experiment->points[i].nr_notes; j++)
			has_one = has_one || are_alike(experiment->points[i].notes[j], note);
		nr += has_one;
	}
	return nr;
}

/* Each once, of the first point that has one like it. */
static void
print_notes(const struct experiment *experiment, FILE *out)
{
	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t j = 0; j < experiment->points[i].nr_notes; j++) {
			const struct experiment_point *point = &experiment->points[i];
			const size_t nr_more = nr_like(experiment, i + 1, experiment->nr_points, point->notes[j]);
			char *title = point_title(point->series, " ", point->label), *more = rot_strdup("");

			if (nr_more > 0) {
				free(more);
				more = rot_format(" and %zu more point%s", nr_more, nr_more == 1 ? "" : "s");
			}
			if (nr_like(experiment, 0, i, point->notes[j]) == 0)
				fprintf(out, "%s%s: %s\n", title, more, point->notes[j]);
			free(title);
			free(more);
		}
}

/* In a roofline. */
static bool
is_shown(const struct experiment *experiment, const struct experiment_own_ceiling *ceiling)
{
	bool is_found = false;

	for (size_t i = 0; i < experiment->nr_plots && !is_found; i++) {
		const struct experiment_own_ceiling **shown;
		size_t nr;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		nr = experiment_ceilings_of(experiment, &experiment->plots[i], &shown);
		for (size_t k = 0; k < nr; k++)
			is_found = is_found || shown[k] == ceiling;
		free(shown);
	}
	return is_found;
}

/* Of a peak its interval; else of how many runs it is the best. */
static char *
ceiling_text(const struct experiment_own_ceiling *ceiling)
{
	struct shown_unit unit = shown_unit(ceiling->value.unit);
	struct summary summary = ceiling->value.summary;
	char *number, *of, *text;

	if (experiment_ceiling_is_least(ceiling))
		return rot_format("at least %.4g %s: its runs were disturbed, 'rot peaks' finds it anew",
				  ceiling->best * unit.factor, unit.shown);
	if (ceiling->is_peak) {
		summary.low = ceiling->low;
		summary.high = ceiling->high;
		summary = summary_scaled(summary, unit.factor);
		number = summary_text(&summary);
		text = rot_format("%s %s", number, unit.shown);
		free(number);
		return text;
	}
	of = ceiling->operation[0] ? value_of_words(&ceiling->value) : rot_strdup("");
	text = rot_format("%.4g %s%s%s (best of %zu)", ceiling->best * unit.factor, unit.shown, of[0] ? ", " : "", of,
			  ceiling->value.nr_samples);
	free(of);
	return text;
}

/* Those that were measured for this, and with_peaks those of the machine's roof that plots show. */
static void
print_ceilings(const struct experiment *experiment, bool with_peaks, FILE *out)
{
	bool is_first = true;
	size_t width = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		width = text_width(experiment->ceilings[i].name) > width ? text_width(experiment->ceilings[i].name)
									 : width;
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct experiment_own_ceiling *ceiling = &experiment->ceilings[i];
		char *text;

		if (ceiling->is_peak && (!with_peaks || !is_shown(experiment, ceiling)))
			continue;
		text = ceiling_text(ceiling);
		fprintf(out, "%s%s%*s%s\n", is_first ? "ceiling " : "        ", ceiling->name,
			(int)(width - text_width(ceiling->name) + 2), "", text);
		free(text);
		is_first = false;
	}
}

/* "core SkylakeX: SkylakeX 104 Gflop/s, Haswell 60.1 Gflop/s" */
static void
print_choices(const struct experiment *experiment, FILE *out)
{
	const json_t *choice;
	size_t i;

	json_array_foreach(experiment->choices, i, choice)
	{
		fprintf(out, "%s %s: %s\n", json_text_at(choice, "name"), json_text_at(choice, "value"),
			json_text_at(choice, "text"));
	}
}

static void
print_legend(const struct experiment *experiment, bool is_all, FILE *out)
{
	if (experiment->nr_points > 0) {
		print_marks(experiment, out);
		if (is_all)
			experiment_print_own_costs(experiment, out);
		print_grades(experiment, out);
		print_notes(experiment, out);
	}
	print_choices(experiment, out);
	print_ceilings(experiment, is_all, out);
	if (experiment->roof_note)
		fprintf(out, "%s\n", experiment->roof_note);
}

void
experiment_print_legend(const struct experiment *experiment, FILE *out)
{
	const bool is_all = configuration_bool(experiment->rot->configuration, "showAll");
	char *text = NULL;
	size_t length = 0;
	FILE *legend = open_memstream(&text, &length);

	if (experiment->nr_points > 0 && is_all)
		experiment_print_bytes(experiment, out);
	if (!legend)
		return;
	print_legend(experiment, is_all, legend);
	fclose(legend);
	text_print_fitting(text, out);
	free(text);
}
