/* SPDX-License-Identifier: MIT */
/* Comparisons of equal work: how they are measured, what they say of a quantity, and that in words. */
#include "check/aa.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text_table.h"
#include "engine/measuring.h"
#include "engine/order.h"
#include "entities.h"
#include "experiments/stored_diff.h"
#include "memory.h"
#include "number.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "quantities/quantity.h"
#include "rot.h"

/* Quantities that are compared if they are counted or timed here. */
static const char *const compared_quantities[] = {
	"time:coreCycles",
	"time:referenceCycles",
	"time:tsc",
	"time:microSeconds",
	"operationCount:doublePrecisionFlop",
	"transferredBytes:llcRam",
	"transferredBytes:l2l3",
	"performance:doublePrecisionFlop",
	"throughput:llcRam",
	"operationalIntensity:doublePrecisionFlop:llcRam",
};
#define NR_QUANTITIES (sizeof(compared_quantities) / sizeof(*compared_quantities))

/* The requests lie in the order of the subjects of a point. */
struct comparing {
	struct rot *rot;
	const struct aa_options *options;
	struct xml_controller *controller;
	struct quantity_request requests[NR_QUANTITIES];
	const char *words[NR_QUANTITIES];
	size_t nr_requests;
	const struct measurement **points; /* borrowed of the controller */
	struct quantity_value *first;      /* of all points, in the order of the subjects */
	int nr_blocks;                     /* starts of the core for each measurement of a point */
	struct aa *aa;
};

/* ---- what is compared ---- */

/* A value that nobody measures is the same twice, which says nothing. */
static bool
is_measured(const struct quantity_offer *offers, size_t nr, const char *words)
{
	for (size_t i = 0; i < nr; i++) {
		autofree char *of = rot_format("%s:%s", offers[i].name, offers[i].of);

		for (char *c = of; *c; c++)
			*c = *c == '/' ? ':' : *c;
		if (strcmp(of, words) == 0 && !offers[i].may_be_stepped &&
		    (strcmp(offers[i].kind, "measured") == 0 || strcmp(offers[i].kind, "modelled") == 0))
			return true;
	}
	return false;
}

static int
choose_quantities(struct comparing *comparing, struct rot_error *err)
{
	autofree struct quantity_offer *offers = NULL;
	size_t nr = quantity_offers(comparing->rot, &offers);

	for (size_t i = 0; i < NR_QUANTITIES; i++) {
		if (!is_measured(offers, nr, compared_quantities[i]))
			continue;
		comparing->words[comparing->nr_requests] = compared_quantities[i];
		if (quantity_parse(&comparing->requests[comparing->nr_requests++], compared_quantities[i], err) < 0)
			return -1;
	}
	return 0;
}

static void
choose_points(struct comparing *comparing)
{
	const size_t nr = comparing->controller->nr_planned, nr_requests = comparing->nr_requests;
	struct aa *aa = comparing->aa;

	comparing->points = pool_calloc(&aa->pool, nr, sizeof(*comparing->points));
	comparing->first = pool_calloc(&aa->pool, nr * nr_requests, sizeof(*comparing->first));
	aa->subjects = pool_calloc(&aa->pool, nr * nr_requests, sizeof(*aa->subjects));
	for (size_t i = 0; i < nr; i++) {
		const struct planned_point *point = &comparing->controller->planned[i];
		const char *name;

		if (!point->measurement)
			continue;
		comparing->points[aa->nr_points++] = point->measurement;
		name = pool_format(&aa->pool, "%s%s%s", point->series, *point->label ? " " : "", point->label);
		for (size_t k = 0; k < nr_requests; k++)
			aa->subjects[aa->nr_subjects++] =
				(struct aa_subject){.words = comparing->words[k], .point = name};
	}
}

/* The file that controller_run finds, if it is XML; else NULL. Fresh memory. */
static char *
find_xml(const struct rot *rot, const char *name)
{
	const size_t length = strlen(name);
	const bool is_path = strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".xml") == 0);
	autofree char *path = is_path ? rot_strdup(name) : controller_find_file(rot->paths, name);

	return path && strcmp(path + strlen(path) - 2, ".c") == 0 ? NULL : rot_keep(&path);
}

static int
open_work(struct comparing *comparing, struct rot_error *err)
{
	const char *name = comparing->options->controller;
	autofree char *path = find_xml(comparing->rot, name);

	comparing->controller = path ? xml_controller_open(comparing->rot, path, err) : NULL;
	if (!path) {
		rot_error_set(err, 0, "there is no XML controller '%s'", name);
		rot_error_hint(err, "rot list controllers");
	}
	if (!comparing->controller || choose_quantities(comparing, err) < 0)
		return -1;
	choose_points(comparing);
	if (comparing->aa->nr_points == 0)
		return rot_error_set(err, 0, "the controller '%s' has no kernels to compare", name);
	/* The points stay as they are. */
	return measuring_prepare(comparing->rot, (struct measurement *const *)comparing->points,
				 comparing->aa->nr_points, err) < 0
		       ? -1
		       : 0;
}

/* ---- comparing ---- */

static int
measure_point(const struct comparing *comparing, size_t i, const struct quantity_effort *effort,
	      struct quantity_value *values, struct rot_error *err)
{
	if (rot_interrupted())
		return rot_error_set(err, 0, "interrupted");
	if (quantities_measure_with(comparing->rot, comparing->points[i], comparing->requests, comparing->nr_requests,
				    effort, values, NULL, err) == 0)
		return 0;
	return rot_error_prefix(err, "%s", comparing->aa->subjects[i * comparing->nr_requests].point);
}

static int
visit_point(void *context, size_t i, int block, struct rot_error *err)
{
	struct comparing *comparing = context;
	const struct quantity_effort effort = {
		.nr_runs = order_runs_after(comparing->options->nr_runs, block, comparing->nr_blocks),
		.only_measures = true,
	};

	struct quantity_value none[NR_QUANTITIES];

	progress_point();
	return measure_point(comparing, i, &effort, none, err);
}

static bool
has_value(const struct quantity_value *value)
{
	return isfinite(value->summary.value) && value->summary.value != 0;
}

/* The values of one point, and again what was disturbed. The second ones are compared with the first. */
static int
take_values(struct comparing *comparing, size_t i, bool is_second, struct rot_error *err)
{
	struct quantity_value values[NR_QUANTITIES], *first = &comparing->first[i * comparing->nr_requests];
	struct aa_subject *subjects = &comparing->aa->subjects[i * comparing->nr_requests];
	const struct quantity_effort effort = {
		.nr_runs = comparing->options->nr_runs,
		.budget_s = configuration_double(comparing->rot->configuration, "timeBudget"),
		.nr_starts = comparing->nr_blocks,
	};

	if (measure_point(comparing, i, &effort, is_second ? values : first, err) < 0)
		return -1;
	for (size_t k = 0; is_second && k < comparing->nr_requests; k++)
		if (has_value(&first[k]) && has_value(&values[k]))
			aa_subject_add(&comparing->aa->pool, &subjects[k], &first[k], &values[k]);
	quantity_values_clear(values, is_second ? comparing->nr_requests : 0);
	return 0;
}

/* All points anew in blocks, as "rot measure" does, then all points again: as two results that somebody compares. */
static int
compare_round(struct comparing *comparing, struct rot_error *err)
{
	const size_t nr = comparing->aa->nr_points;
	int rc = 0;

	for (int turn = 0; rc == 0 && turn < 2; turn++) {
		measuring_forget(comparing->rot->measuring);
		rc = order_blocks(nr, comparing->nr_blocks, visit_point, comparing, err);
		for (size_t i = 0; rc == 0 && i < nr; i++)
			rc = take_values(comparing, i, turn == 1, err);
	}
	quantity_values_clear(comparing->first, nr * comparing->nr_requests);
	return rc;
}

static int
compare_all(struct comparing *comparing, struct rot_error *err)
{
	const struct aa_options *options = comparing->options;
	struct aa *aa = comparing->aa;
	const double begin = clock_now_s();
	double last = 0;
	int rc = 0;

	while (rc == 0 && (options->nr_rounds == 0 || aa->nr_rounds < options->nr_rounds) &&
	       (aa->nr_rounds == 0 || aa->elapsed_s + last <= options->budget_s)) {
		rc = compare_round(comparing, err);
		aa->nr_rounds += rc == 0;
		last = clock_now_s() - begin - aa->elapsed_s;
		aa->elapsed_s += last;
	}
	aa->is_interrupted = rc < 0 && rot_interrupted();
	return aa->is_interrupted && aa->nr_rounds > 0 ? 0 : rc;
}

int
aa_measure(struct rot *rot, const struct aa_options *options, struct aa *aa, struct rot_error *err)
{
	const int nr_starts = configuration_count(rot->configuration, "starts");
	struct comparing comparing = {.rot = rot, .options = options, .aa = aa};
	int rc;

	*aa = (struct aa){.options = *options};
	comparing.nr_blocks = nr_starts < 1 ? 1 : nr_starts < options->nr_runs ? nr_starts : options->nr_runs;
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", NULL);
	rc = open_work(&comparing, err);
	progress_begin(2 * aa->nr_points * (size_t)comparing.nr_blocks * (size_t)options->nr_rounds,
		       configuration_bool(rot->configuration, "quiet"));
	if (rc == 0)
		rc = compare_all(&comparing, err);
	progress_end();
	configuration_pop(rot->configuration);
	xml_controller_close(comparing.controller);
	return rc;
}

/* ---- figures ---- */

/* The 95th percentile of fewer comparisons is the largest. */
#define LEAST_FOR_WIDENING 20
/* Deals of runs to measurements; their mean is known to a few percent. */
#define NR_DEALS 20
/* The distance of a normal distribution's quartiles in standard deviations. */
#define QUARTILES_OF_NORMAL 1.3489795

/* ---- one comparison ---- */

double
aa_needed(const struct summary *ratio)
{
	const double off = fabs(log(ratio->value)), reach = ratio->value > 1 ? log(ratio->value) - log(ratio->low)
									     : log(ratio->high) - log(ratio->value);

	if (isnan(ratio->low) || isnan(ratio->value))
		return NAN;
	return off > 0 ? off / reach : 0;
}

/* The undisturbed runs, or all if every one is disturbed: as those the summary is of. */
static void
add_measurement(struct pool *pool, struct aa_subject *subject, const struct quantity_value *value)
{
	const bool use_all = value->summary.tainted >= value->nr_samples;

	for (size_t i = 0; i < value->nr_samples; i++) {
		if (!use_all && value->taints[i])
			continue;
		pool_add(pool, subject->samples, subject->nr_samples) = value->samples[i];
	}
	pool_add(pool, subject->ends, subject->nr_measurements) = subject->nr_samples;
}

void
aa_subject_add(struct pool *pool, struct aa_subject *subject, const struct quantity_value *first,
	       const struct quantity_value *second)
{
	json_auto_t *a = quantity_value_json(first);
	json_auto_t *b = quantity_value_json(second);
	const struct summary ratio = diff_shift_of(a, b, first, second).ratio;
	const double needed = aa_needed(&ratio);
	autofree char *text = NULL;
	enum diff_verdict verdict = diff_verdict_of(first->name, &ratio, first->summary.n, &text);

	add_measurement(pool, subject, first);
	add_measurement(pool, subject, second);
	subject->nr_unknown += verdict == DIFF_UNKNOWN;
	subject->nr_different += verdict != DIFF_UNKNOWN && verdict != DIFF_NONE;
	if (isnan(needed))
		return;
	pool_add(pool, subject->needed, subject->nr_needed) = needed;
}

/* ---- spreads ---- */

static double
relative_spread(const double *values, size_t n)
{
	const double quartiles = statistics_percentile(values, n, 75) - statistics_percentile(values, n, 25);

	return quartiles == 0 ? 0 : quartiles / QUARTILES_OF_NORMAL / fabs(statistics_percentile(values, n, 50));
}

/*
 * The samples lie in the order of the subject's. The median spread of the runs of a measurement, and the spread of the
 * medians of measurements.
 */
static void
spreads_of(const struct aa_subject *subject, const double *samples, double *within, double *between)
{
	const size_t most = subject->nr_measurements + 1;
	autofree double *spreads = rot_calloc(most, sizeof(*spreads)), *medians = rot_calloc(most, sizeof(*medians));
	size_t nr_spreads = 0, nr_medians = 0, begin = 0;

	for (size_t i = 0; i < subject->nr_measurements; begin = subject->ends[i++]) {
		const size_t nr = subject->ends[i] - begin;

		if (nr > 1)
			spreads[nr_spreads++] = relative_spread(&samples[begin], nr);
		if (nr > 0)
			medians[nr_medians++] = statistics_percentile(&samples[begin], nr, 50);
	}
	*within = statistics_percentile(spreads, nr_spreads, 50);
	*between = nr_medians > 1 ? relative_spread(medians, nr_medians) : NAN;
}

/* Fisher and Yates. */
static void
deal(double *pool, size_t nr, unsigned short seed[3])
{
	for (size_t i = nr; i > 1; i--) {
		size_t k = (size_t)(erand48(seed) * (double)i);
		double other = pool[k];

		pool[k] = pool[i - 1];
		pool[i - 1] = other;
	}
}

/* The spread that medians would have if it did not matter which measurement a run is of. */
static double
spread_by_chance(const struct aa_subject *subject)
{
	autofree double *samples = rot_calloc(subject->nr_samples + 1, sizeof(*samples));
	unsigned short seed[3] = {1, 2, 3};
	double sum = 0, within, between;

	memcpy(samples, subject->samples, subject->nr_samples * sizeof(*samples));
	for (int i = 0; i < NR_DEALS; i++) {
		deal(samples, subject->nr_samples, seed);
		spreads_of(subject, samples, &within, &between);
		sum += between;
	}
	return sum / NR_DEALS;
}

static bool
spreads_nowhere(const struct aa_subject *subject)
{
	for (size_t i = 1; i < subject->nr_samples; i++)
		if (subject->samples[i] != subject->samples[0])
			return false;
	return true;
}

/* ---- a quantity ---- */

/* Adds up all subjects of the quantity; spreads are those of the ones that have any. */
static struct aa_row
row_of(const struct aa *aa, const char *words)
{
	struct aa_row row = {.words = words, .rate = summary_empty(), .widening = NAN};
	autopool pool = {0};
	double *within = pool_calloc(&pool, aa->nr_subjects, sizeof(double)), *needed = NULL;
	double *between = pool_calloc(&pool, aa->nr_subjects, sizeof(double));
	double *by_chance = pool_calloc(&pool, aa->nr_subjects, sizeof(double));
	size_t nr_spreads = 0, nr_needed = 0;

	for (size_t i = 0; i < aa->nr_subjects; i++) {
		const struct aa_subject *subject = &aa->subjects[i];

		if (strcmp(subject->words, words) != 0)
			continue;
		row.nr_compared += subject->nr_measurements / 2 - subject->nr_unknown;
		row.nr_different += subject->nr_different;
		row.nr_unknown += subject->nr_unknown;
		for (size_t k = 0; k < subject->nr_needed; k++)
			pool_add(&pool, needed, nr_needed) = subject->needed[k];
		if (spreads_nowhere(subject))
			continue;
		spreads_of(subject, subject->samples, &within[nr_spreads], &between[nr_spreads]);
		by_chance[nr_spreads++] = spread_by_chance(subject);
	}
	if (row.nr_compared > 0)
		row.rate = summary_share(row.nr_different, row.nr_compared);
	if (nr_needed >= LEAST_FOR_WIDENING)
		row.widening = statistics_percentile(needed, nr_needed, 95);
	row.within = statistics_percentile(within, nr_spreads, 50);
	row.between = statistics_percentile(between, nr_spreads, 50);
	row.by_chance = statistics_percentile(by_chance, nr_spreads, 50);
	return row;
}

struct aa_row *
aa_rows(struct pool *pool, const struct aa *aa, size_t *nr)
{
	struct aa_row *rows = pool_calloc(pool, aa->nr_subjects, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		size_t k = 0;

		while (k < *nr && strcmp(rows[k].words, aa->subjects[i].words) != 0)
			k++;
		if (k == *nr)
			rows[(*nr)++] = row_of(aa, aa->subjects[i].words);
	}
	return rows;
}

bool
aa_is_too_often(const struct aa_row *row)
{
	return row->nr_compared > 0 && row->rate.low > AA_NOMINAL_RATE;
}

bool
aa_is_any_too_often(const struct aa *aa)
{
	autopool pool = {0};
	size_t nr;
	const struct aa_row *rows = aa_rows(&pool, aa, &nr);
	bool is_any = false;

	for (size_t i = 0; i < nr; i++)
		is_any |= aa_is_too_often(&rows[i]);
	return is_any;
}

/* ---- in words ---- */

/* Starts differ by more than so many times what is due to their runs: worth saying. */
#define WORTH_SAYING 1.5

static char *
percent_text(double share)
{
	return isnan(share) ? rot_strdup("-") : rot_format("%.3f %%", 100 * share);
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

		text_table_add(&table,
			       (char *[]){
				       rot_strdup(row->words),
				       rot_format("%zu", row->nr_compared),
				       rot_format("%zu", row->nr_different),
				       isnan(row->rate.value)
					       ? rot_strdup("-")
					       : rot_format("%.1f %% [%.1f, %.1f]", 100 * row->rate.value,
							    100 * row->rate.low, 100 * row->rate.high),
				       row->nr_unknown ? rot_format("%zu", row->nr_unknown) : rot_strdup("-"),
				       isnan(row->widening) ? rot_strdup("-") : rot_format("%.2f", row->widening),
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

void
aa_print(const struct aa *aa, FILE *out)
{
	autopool pool = {0};
	size_t nr;
	struct aa_row *rows = aa_rows(&pool, aa, &nr);

	fprintf(out,
		"%zu point%s of '%s', each measured twice with %d run%s and compared as rot diff does: %d round%s in "
		"%.0f s%s\n\n",
		aa->nr_points, rot_plural((double)aa->nr_points), aa->options.controller, aa->options.nr_runs,
		rot_plural(aa->options.nr_runs), aa->nr_rounds, rot_plural((double)aa->nr_rounds), aa->elapsed_s,
		aa->is_interrupted ? ", then interrupted" : "");
	print_table(rows, nr, out);
	fputc('\n', out);
	for (size_t i = 0; i < nr; i++)
		print_verdict(&rows[i], out);
	if (!aa_is_any_too_often(aa))
		fputs("No quantity is shown to be called different more often than in 5 % of comparisons; the interval "
		      "of "
		      "false\nalarms says how sure that is\n",
		      out);
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

json_t *
aa_json(const struct aa *aa)
{
	json_t *quantities = json_array(), *points = json_array();
	autopool pool = {0};
	size_t nr;
	struct aa_row *rows = aa_rows(&pool, aa, &nr);

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(quantities, row_json(&rows[i]));
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		const struct aa_subject *subject = &aa->subjects[i];
		const size_t nr_compared = subject->nr_measurements / 2 - subject->nr_unknown;

		if (subject->nr_measurements > 0)
			json_array_append_new(points,
					      json_pack("{s:s, s:s, s:I, s:I, s:I}", "quantity", subject->words,
							"point", subject->point, "compared", (json_int_t)nr_compared,
							"different", (json_int_t)subject->nr_different, "tooFewRuns",
							(json_int_t)subject->nr_unknown));
	}
	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "schema", "rot.aa/1", "controller",
			 aa->options.controller, "rounds", aa->nr_rounds, "runs", aa->options.nr_runs, "seconds",
			 json_number(aa->elapsed_s), "quantities", quantities, "points", points);
}
