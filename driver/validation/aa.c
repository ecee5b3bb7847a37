/* SPDX-License-Identifier: MIT */
/* Comparisons of equal work: how they are measured, what they say of a quantity, and that in words. */
#include "validation/aa.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "entities.h"
#include "measuring/measuring.h"
#include "measuring/order.h"
#include "memory.h"
#include "planning/controller_places.h"
#include "planning/xml_controller.h"
#include "quantities/quantity.h"
#include "rot.h"
#include "stored/stored_diff.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/progress.h"
#include "support/text_table.h"

/* Those of these that are counted or timed here are compared. */
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

struct aa_point {
	const struct measurement *measurement; /* borrowed of the controller */
	const char *name;
	struct quantity_value *first; /* the values of the first of two measurements */
};

struct comparing {
	struct rot *rot;
	const struct aa_options *options;
	struct xml_controller *controller;
	struct quantity_request requests[NR_QUANTITIES];
	const char *words[NR_QUANTITIES];
	size_t nr_requests;
	struct aa_point *points;
	struct quantity_value *values; /* of the second measurement */
	int nr_blocks;                 /* starts of the core for each measurement of a point */
	struct aa *aa;
};

/* ---- what is compared ---- */

/* What nobody measures here is the same twice, which says nothing. */
static bool
is_measured(const struct quantity_offer *offers, size_t nr, const struct quantity_request *request)
{
	autofree char *of = request->operation && request->border
				    ? rot_format("%s/%s", request->operation, request->border)
			    : request->operation ? rot_strdup(request->operation)
			    : request->border    ? rot_strdup(request->border)
						 : rot_strdup(request->clock ? request->clock : "");
	bool is_it = false;

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(offers[i].name, request->name) == 0 && strcmp(offers[i].of, of) == 0)
			is_it |= !offers[i].may_be_stepped &&
				 (strcmp(offers[i].kind, "measured") == 0 || strcmp(offers[i].kind, "modelled") == 0);
	}
	return is_it;
}

static int
choose_quantities(struct comparing *comparing, struct rot_error *err)
{
	autofree struct quantity_offer *offers = NULL;
	size_t nr = quantity_offers(comparing->rot, &offers);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < NR_QUANTITIES; i++) {
		struct quantity_request request;

		rc = quantity_parse(&request, compared_quantities[i], err);
		if (rc < 0 || !is_measured(offers, nr, &request))
			continue;
		comparing->words[comparing->nr_requests] = compared_quantities[i];
		comparing->requests[comparing->nr_requests++] = request;
	}
	return rc;
}

static void
add_subjects(struct comparing *comparing, const struct aa_point *point)
{
	struct aa *aa = comparing->aa;

	for (size_t i = 0; i < comparing->nr_requests; i++) {
		aa->subjects = pool_grow(&aa->pool, aa->subjects, aa->nr_subjects, sizeof(*aa->subjects));
		aa->subjects[aa->nr_subjects++] =
			(struct aa_subject){.words = comparing->words[i], .point = point->name};
	}
}

static void
choose_points(struct comparing *comparing)
{
	const size_t nr = xml_controller_nr_points(comparing->controller);
	struct aa *aa = comparing->aa;

	comparing->points = pool_calloc(&aa->pool, nr, sizeof(*comparing->points));
	for (size_t i = 0; i < nr; i++) {
		const char *series, *label;
		struct aa_point *point = &comparing->points[aa->nr_points];

		point->measurement = xml_controller_point(comparing->controller, i, &series, &label);
		if (!point->measurement)
			continue;
		point->name = pool_format(&aa->pool, "%s%s%s", series, *label ? " " : "", label);
		point->first = pool_calloc(&aa->pool, comparing->nr_requests, sizeof(*point->first));
		add_subjects(comparing, point);
		aa->nr_points++;
	}
}

/* All cores at once: one that cannot be built is an error when it is measured. */
static int
prepare(const struct comparing *comparing, struct rot_error *err)
{
	const size_t nr = comparing->aa->nr_points;
	autofree struct measurement **measurements = rot_calloc(nr + 1, sizeof(*measurements));

	for (size_t i = 0; i < nr; i++)
		measurements[i] = (struct measurement *)comparing->points[i].measurement; /* stays as it is */
	return measuring_prepare(comparing->rot, measurements, nr, err) < 0 ? -1 : 0;
}

/* As controller_run finds it, but in XML only. NULL: there is none. Fresh memory. */
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
	comparing->values = pool_calloc(&comparing->aa->pool, comparing->nr_requests, sizeof(*comparing->values));
	return prepare(comparing, err);
}

/* ---- comparing ---- */

static int
measure_point(const struct comparing *comparing, const struct aa_point *point, const struct quantity_effort *effort,
	      struct quantity_value *values, struct rot_error *err)
{
	if (rot_interrupted())
		return rot_error_set(err, 0, "interrupted");
	if (quantities_measure_with(comparing->rot, point->measurement, comparing->requests, comparing->nr_requests,
				    effort, values, NULL, err) == 0)
		return 0;
	return rot_error_prefix(err, "%s", point->name);
}

static int
visit_point(void *context, size_t i, int block, struct rot_error *err)
{
	struct comparing *comparing = context;
	const struct quantity_effort effort = {
		.nr_runs = order_runs_after(comparing->options->nr_runs, block, comparing->nr_blocks),
		.only_measures = true,
	};

	progress_point();
	return measure_point(comparing, &comparing->points[i], &effort, comparing->values, err);
}

/* As "rot measure" does: all points in blocks, anew. */
static int
measure_blocks(struct comparing *comparing, struct rot_error *err)
{
	measuring_forget(comparing->rot);
	return order_blocks(comparing->aa->nr_points, comparing->nr_blocks, visit_point, comparing, err);
}

/* Of what the blocks measured, and again what was disturbed. */
static int
evaluate_point(const struct comparing *comparing, size_t i, struct quantity_value *values, struct rot_error *err)
{
	const struct quantity_effort effort = {
		.nr_runs = comparing->options->nr_runs,
		.budget_s = configuration_double(comparing->rot->configuration, "timeBudget"),
		.nr_starts = comparing->nr_blocks,
	};

	return measure_point(comparing, &comparing->points[i], &effort, values, err);
}

static bool
has_value(const struct quantity_value *value)
{
	return isfinite(value->summary.value) && value->summary.value != 0;
}

static void
compare_point(struct comparing *comparing, size_t i)
{
	struct aa_subject *subjects = &comparing->aa->subjects[i * comparing->nr_requests];
	const struct quantity_value *first = comparing->points[i].first;

	for (size_t k = 0; k < comparing->nr_requests; k++) {
		if (has_value(&first[k]) && has_value(&comparing->values[k]))
			aa_subject_add(&comparing->aa->pool, &subjects[k], &first[k], &comparing->values[k]);
	}
}

/* All points, then all points again: as two results that somebody compares. */
static int
compare_round(struct comparing *comparing, struct rot_error *err)
{
	const size_t nr = comparing->aa->nr_points, nr_values = comparing->nr_requests;
	int rc = measure_blocks(comparing, err);

	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = evaluate_point(comparing, i, comparing->points[i].first, err);
	if (rc == 0)
		rc = measure_blocks(comparing, err);
	for (size_t i = 0; rc == 0 && i < nr; i++) {
		rc = evaluate_point(comparing, i, comparing->values, err);
		if (rc == 0)
			compare_point(comparing, i);
		quantity_values_clear(comparing->values, rc == 0 ? nr_values : 0);
	}
	for (size_t i = 0; i < nr; i++)
		quantity_values_clear(comparing->points[i].first, nr_values);
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

/* Of fewer, the 95th percentile is the largest. */
#define LEAST_FOR_WIDENING 20
/* Deals of runs to measurements; their mean is known to a few percent. */
#define NR_DEALS 20
/* Of a normal distribution, the distance of the quartiles in standard deviations. */
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
static struct aa_measurement
measurement_of(struct pool *pool, const struct quantity_value *value)
{
	struct aa_measurement measurement = {
		.samples = pool_calloc(pool, value->nr_samples, sizeof(*measurement.samples)),
	};
	const bool use_all = value->summary.tainted >= value->nr_samples;

	for (size_t i = 0; i < value->nr_samples; i++) {
		if (use_all || !value->taints[i])
			measurement.samples[measurement.nr++] = value->samples[i];
	}
	return measurement;
}

static bool
is_constant(const struct aa_measurement *measurement, double value)
{
	for (size_t i = 0; i < measurement->nr; i++) {
		if (measurement->samples[i] != value)
			return false;
	}
	return true;
}

static void
add_measurement(struct pool *pool, struct aa_subject *subject, const struct quantity_value *value)
{
	struct aa_measurement *measurement;

	subject->measurements =
		pool_grow(pool, subject->measurements, subject->nr_measurements, sizeof(*subject->measurements));
	measurement = &subject->measurements[subject->nr_measurements++];
	*measurement = measurement_of(pool, value);
	if (subject->nr_measurements == 1)
		subject->is_exact = true;
	if (subject->measurements[0].nr == 0 || !is_constant(measurement, subject->measurements[0].samples[0]))
		subject->is_exact = false;
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
	enum diff_verdict verdict = diff_verdict_of(first->name, &ratio, &text);

	add_measurement(pool, subject, first);
	add_measurement(pool, subject, second);
	subject->nr_unknown += verdict == DIFF_UNKNOWN;
	subject->nr_different += verdict != DIFF_UNKNOWN && verdict != DIFF_NONE;
	if (isnan(needed))
		return;
	subject->needed = pool_grow(pool, subject->needed, subject->nr_needed, sizeof(*subject->needed));
	subject->needed[subject->nr_needed++] = needed;
}

/* ---- spreads ---- */

static double
relative_spread(const double *values, size_t n)
{
	const double quartiles = statistics_percentile(values, n, 75) - statistics_percentile(values, n, 25);

	return quartiles == 0 ? 0 : quartiles / QUARTILES_OF_NORMAL / fabs(statistics_percentile(values, n, 50));
}

static double
spread_within(const struct aa_subject *subject)
{
	autofree double *spreads = rot_calloc(subject->nr_measurements + 1, sizeof(*spreads));
	size_t nr = 0;

	for (size_t i = 0; i < subject->nr_measurements; i++) {
		if (subject->measurements[i].nr > 1)
			spreads[nr++] = relative_spread(subject->measurements[i].samples, subject->measurements[i].nr);
	}
	return statistics_percentile(spreads, nr, 50);
}

/* Of the medians of measurements, whose samples lie one after the other in pool. */
static double
spread_of_medians(const struct aa_subject *subject, const double *pool)
{
	autofree double *medians = rot_calloc(subject->nr_measurements + 1, sizeof(*medians));
	size_t nr = 0;

	for (size_t i = 0; i < subject->nr_measurements; pool += subject->measurements[i++].nr) {
		if (subject->measurements[i].nr > 0)
			medians[nr++] = statistics_percentile(pool, subject->measurements[i].nr, 50);
	}
	return nr > 1 ? relative_spread(medians, nr) : NAN;
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

static void
spreads_between(const struct aa_subject *subject, double *between, double *by_chance)
{
	unsigned short seed[3] = {1, 2, 3};
	size_t nr = 0, at = 0;
	autofree double *pool = NULL;

	for (size_t i = 0; i < subject->nr_measurements; i++)
		nr += subject->measurements[i].nr;
	pool = rot_calloc(nr + 1, sizeof(*pool));
	for (size_t i = 0; i < subject->nr_measurements; at += subject->measurements[i++].nr)
		memcpy(&pool[at], subject->measurements[i].samples, subject->measurements[i].nr * sizeof(*pool));
	*between = spread_of_medians(subject, pool);
	*by_chance = 0;
	for (int i = 0; i < NR_DEALS; i++) {
		deal(pool, nr, seed);
		*by_chance += spread_of_medians(subject, pool) / NR_DEALS;
	}
}

/* ---- a quantity ---- */

/* Of those subjects that are the quantity's; of three spreads each, those that are not exact. */
struct gathered {
	double *needed;
	size_t nr_needed;
	double *within, *between, *by_chance;
	size_t nr_spreads;
};

static void
gather(struct pool *pool, struct gathered *gathered, struct aa_row *row, const struct aa_subject *subject)
{
	const size_t k = gathered->nr_spreads;

	row->nr_compared += subject->nr_measurements / 2 - subject->nr_unknown;
	row->nr_different += subject->nr_different;
	row->nr_unknown += subject->nr_unknown;
	for (size_t i = 0; i < subject->nr_needed; i++) {
		gathered->needed = pool_grow(pool, gathered->needed, gathered->nr_needed, sizeof(*gathered->needed));
		gathered->needed[gathered->nr_needed++] = subject->needed[i];
	}
	if (subject->is_exact)
		return;
	gathered->within[k] = spread_within(subject);
	spreads_between(subject, &gathered->between[k], &gathered->by_chance[k]);
	gathered->nr_spreads++;
}

static struct aa_row
row_of(const struct aa *aa, const char *words)
{
	struct aa_row row = {.words = words, .rate = summary_empty()};
	autopool pool = {0};
	struct gathered gathered = {
		.within = pool_calloc(&pool, aa->nr_subjects, sizeof(double)),
		.between = pool_calloc(&pool, aa->nr_subjects, sizeof(double)),
		.by_chance = pool_calloc(&pool, aa->nr_subjects, sizeof(double)),
	};

	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (strcmp(aa->subjects[i].words, words) == 0)
			gather(&pool, &gathered, &row, &aa->subjects[i]);
	}
	if (row.nr_compared > 0)
		row.rate = summary_share(row.nr_different, row.nr_compared);
	row.widening = gathered.nr_needed >= LEAST_FOR_WIDENING
			       ? statistics_percentile(gathered.needed, gathered.nr_needed, 95)
			       : NAN;
	row.within = statistics_percentile(gathered.within, gathered.nr_spreads, 50);
	row.between = statistics_percentile(gathered.between, gathered.nr_spreads, 50);
	row.by_chance = statistics_percentile(gathered.by_chance, gathered.nr_spreads, 50);
	return row;
}

static bool
is_known(const struct aa_row *rows, size_t nr, const char *words)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(rows[i].words, words) == 0)
			return true;
	}
	return false;
}

struct aa_row *
aa_rows(struct pool *pool, const struct aa *aa, size_t *nr)
{
	struct aa_row *rows = pool_calloc(pool, aa->nr_subjects, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (!is_known(rows, *nr, aa->subjects[i].words))
			rows[(*nr)++] = row_of(aa, aa->subjects[i].words);
	}
	return rows;
}

bool
aa_is_too_often(const struct aa_row *row)
{
	return row->nr_compared > 0 && row->rate.low > AA_NOMINAL_RATE;
}

/* ---- in words ---- */

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
	autopool pool = {0};
	size_t nr;
	struct aa_row *rows = aa_rows(&pool, aa, &nr);

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
	autopool pool = {0};
	size_t nr;
	struct aa_row *rows = aa_rows(&pool, aa, &nr);

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(quantities, row_json(&rows[i]));
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		if (aa->subjects[i].nr_measurements > 0)
			json_array_append_new(points, subject_json(&aa->subjects[i]));
	}
	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o}", "schema", "rot.aa/1", "controller",
			 aa->options.controller, "rounds", aa->nr_rounds, "runs", aa->options.nr_runs, "seconds",
			 json_number(aa->elapsed_s), "quantities", quantities, "points", points);
}
