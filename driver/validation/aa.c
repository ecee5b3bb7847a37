/* SPDX-License-Identifier: MIT */
#include "validation/aa.h"

#include <math.h>
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
#include "support/clock.h"
#include "support/progress.h"

/* Those of these that are counted or timed here are compared. */
static const char *const quantities[] = {
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
#define NR_QUANTITIES (sizeof(quantities) / sizeof(*quantities))

struct aa_point {
	const struct measurement *measurement; /* borrowed of the controller */
	char *name;
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
	char *of = request->operation && request->border ? rot_format("%s/%s", request->operation, request->border)
		   : request->operation                  ? rot_strdup(request->operation)
		   : request->border                     ? rot_strdup(request->border)
							 : rot_strdup(request->clock ? request->clock : "");
	bool is_it = false;

	for (size_t i = 0; i < nr; i++) {
		if (strcmp(offers[i].name, request->name) == 0 && strcmp(offers[i].of, of) == 0)
			is_it |= !offers[i].may_be_stepped &&
				 (strcmp(offers[i].kind, "measured") == 0 || strcmp(offers[i].kind, "modelled") == 0);
	}
	free(of);
	return is_it;
}

static int
choose_quantities(struct comparing *comparing, struct rot_error *err)
{
	struct quantity_offer *offers;
	size_t nr = quantity_offers(comparing->rot, &offers);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < NR_QUANTITIES; i++) {
		struct quantity_request request;

		rc = quantity_parse(&request, quantities[i], err);
		if (rc < 0 || !is_measured(offers, nr, &request))
			continue;
		comparing->words[comparing->nr_requests] = quantities[i];
		comparing->requests[comparing->nr_requests++] = request;
	}
	free(offers);
	return rc;
}

static void
add_subjects(struct comparing *comparing, const struct aa_point *point)
{
	struct aa *aa = comparing->aa;

	aa->subjects = rot_realloc(aa->subjects, aa->nr_subjects + comparing->nr_requests + 1, sizeof(*aa->subjects));
	for (size_t i = 0; i < comparing->nr_requests; i++)
		aa->subjects[aa->nr_subjects++] =
			(struct aa_subject){.words = rot_strdup(comparing->words[i]), .point = rot_strdup(point->name)};
}

static void
choose_points(struct comparing *comparing)
{
	const size_t nr = xml_controller_nr_points(comparing->controller);
	struct aa *aa = comparing->aa;

	comparing->points = rot_calloc(nr + 1, sizeof(*comparing->points));
	for (size_t i = 0; i < nr; i++) {
		const char *series, *label;
		struct aa_point *point = &comparing->points[aa->nr_points];

		point->measurement = xml_controller_point(comparing->controller, i, &series, &label);
		if (!point->measurement)
			continue;
		point->name = rot_format("%s%s%s", series, *label ? " " : "", label);
		point->first = rot_calloc(comparing->nr_requests + 1, sizeof(*point->first));
		add_subjects(comparing, point);
		aa->nr_points++;
	}
}

/* All cores at once: one that cannot be built is an error when it is measured. */
static int
prepare(const struct comparing *comparing, struct rot_error *err)
{
	const size_t nr = comparing->aa->nr_points;
	struct measurement **measurements = rot_calloc(nr + 1, sizeof(*measurements));
	int rc;

	for (size_t i = 0; i < nr; i++)
		measurements[i] = (struct measurement *)comparing->points[i].measurement; /* stays as it is */
	rc = measuring_prepare(comparing->rot, measurements, nr, err);
	free(measurements);
	return rc < 0 ? -1 : 0;
}

/* As controller_run finds it, but in XML only. NULL: there is none. Fresh memory. */
static char *
find_xml(const struct rot *rot, const char *name)
{
	const size_t length = strlen(name);
	const bool is_path = strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".xml") == 0);
	char *path = is_path ? rot_strdup(name) : controller_find_file(rot->paths, name);

	if (path && strcmp(path + strlen(path) - 2, ".c") == 0) {
		free(path);
		path = NULL;
	}
	return path;
}

static int
open_work(struct comparing *comparing, struct rot_error *err)
{
	const char *name = comparing->options->controller;
	char *path = find_xml(comparing->rot, name);

	comparing->controller = path ? xml_controller_open(comparing->rot, path, err) : NULL;
	if (!path) {
		rot_error_set(err, 0, "there is no XML controller '%s'", name);
		rot_error_hint(err, "rot list controllers");
	}
	free(path);
	if (!comparing->controller || choose_quantities(comparing, err) < 0)
		return -1;
	choose_points(comparing);
	if (comparing->aa->nr_points == 0)
		return rot_error_set(err, 0, "the controller '%s' has no kernels to compare", name);
	comparing->values = rot_calloc(comparing->nr_requests + 1, sizeof(*comparing->values));
	return prepare(comparing, err);
}

/* ---- comparing ---- */

static void
clear_values(struct quantity_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		quantity_value_clear(&values[i]);
}

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
			aa_subject_add(&subjects[k], &first[k], &comparing->values[k]);
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
		clear_values(comparing->values, rc == 0 ? nr_values : 0);
	}
	for (size_t i = 0; i < nr; i++)
		clear_values(comparing->points[i].first, nr_values);
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

static void
comparing_clear(struct comparing *comparing)
{
	for (size_t i = 0; i < comparing->aa->nr_points; i++) {
		free(comparing->points[i].name);
		free(comparing->points[i].first);
	}
	free(comparing->points);
	free(comparing->values);
	xml_controller_close(comparing->controller);
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
	comparing_clear(&comparing);
	return rc;
}

void
aa_clear(struct aa *aa)
{
	for (size_t i = 0; i < aa->nr_subjects; i++) {
		struct aa_subject *subject = &aa->subjects[i];

		for (size_t k = 0; k < subject->nr_measurements; k++)
			free(subject->measurements[k].samples);
		free(subject->measurements);
		free(subject->needed);
		free(subject->words);
		free(subject->point);
	}
	free(aa->subjects);
	*aa = (struct aa){0};
}
