/* SPDX-License-Identifier: MIT */
/* Measures the points of an XML controller: those of which runs are missing in blocks, then all of them in order. */
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/xml_plan.h"
#include "experiment/experiment_internal.h"
#include "measuring/measuring.h"
#include "measuring/order.h"
#include "memory.h"
#include "quantities/effort.h"
#include "support/progress.h"

struct measuring_points {
	const struct xml_controller *controller;
	struct experiment *experiment;
	size_t at;      /* the point that is measured: those before it are finished */
	size_t failing; /* the one that fails if one does: that, or another one in a block */
	bool *is_over;  /* of each point: it is not measured */

	size_t *in_blocks; /* points that are measured in blocks */
	size_t nr_in_blocks;
	int nr_blocks;
	int *nr_visits; /* of each point: the blocks of which it has the runs */
};

static int
measure_point(const struct measuring_points *of, size_t i, struct rot_error *err)
{
	const struct planned_point *p = &of->controller->planned[i];
	const struct point *at = p->at;

	if (p->program)
		return experiment_add_program(of->experiment, p->series, p->label, at->coordinates, at->nr_coordinates,
					      p->program, p->requests, p->nr_requests, p->nr_runs, p->max_passes, err);
	return experiment_add_point(of->experiment, p->series, p->label, at->coordinates, at->nr_coordinates,
				    p->measurement, p->requests, p->nr_requests, p->nr_runs, err);
}

/* ---- in blocks ---- */

static int
visit(void *context, size_t k, int block, struct rot_error *err)
{
	struct measuring_points *of = context;
	const size_t i = of->in_blocks[k];

	progress_block(block, of->nr_blocks, of->nr_in_blocks);
	experiment_set_block(of->experiment, block, of->nr_blocks, true);
	of->failing = i;
	if (measure_point(of, i, err) < 0)
		return -1;
	of->nr_visits[i] = block;
	return 0;
}

/* Whether there are points behind one that may end its series is known when that was measured. */
static void
choose_for_blocks(struct measuring_points *of)
{
	const int64_t nr_starts = configuration_long(of->controller->rot->configuration, "starts");
	int most_runs = 0;

	of->nr_in_blocks = 0;
	for (size_t i = of->at; i < of->controller->nr_planned; i++) {
		const struct planned_point *p = &of->controller->planned[i];
		const struct quantity_effort effort = experiment_effort(of->experiment, p->nr_runs);
		const int nr_runs = effort_first_runs(&effort);

		if (p->until[0])
			continue;
		of->in_blocks[of->nr_in_blocks++] = i;
		most_runs = nr_runs > most_runs ? nr_runs : most_runs;
	}
	of->nr_blocks = nr_starts < most_runs ? (int)nr_starts : most_runs;
}

static int
measure_in_blocks(void *context, struct rot_error *err)
{
	struct measuring_points *of = context;
	int rc;

	choose_for_blocks(of);
	if (of->nr_in_blocks < 2 || of->nr_blocks < 2)
		return 0;
	rc = order_blocks(of->nr_in_blocks, of->nr_blocks, visit, of, err);
	experiment_set_block(of->experiment, 0, 0, false);
	progress_block(0, 0, 0);
	return rc;
}

/* Interrupted: what blocks have measured of the points that are not finished. */
static void
keep_blocks(struct measuring_points *of)
{
	struct rot_error ignored = {0};

	for (size_t i = of->at; i < of->controller->nr_planned; i++) {
		if (of->nr_visits[i] == 0)
			continue;
		experiment_set_block(of->experiment, of->nr_visits[i], of->nr_blocks, false);
		measure_point(of, i, &ignored);
	}
}

/* ---- one after the other ---- */

/* The error of measuring a point, with the place of its element and where it is in the space. */
static int
failed_at(const struct planned_point *planned, struct rot_error *err)
{
	char *place = point_text(planned->at);

	if (*place)
		rot_error_prefix(err, "at %s", place);
	free(place);
	return xml_error_at(planned->element, err);
}

/* If the point that was just measured ends its series: those of the same element that follow in it are not measured. */
static int
end_series(struct measuring_points *of, struct rot_error *err)
{
	const struct planned_point *planned = of->controller->planned, *p = &planned[of->at];
	bool ends = false;

	if (p->until[0] && experiment_last_holds(of->experiment, p->until, &ends, err) < 0)
		return rot_error_prefix(err, "<point until>");
	for (size_t k = of->at + 1; ends && k < of->controller->nr_planned; k++)
		of->is_over[k] = of->is_over[k] ||
				 (planned[k].element == p->element && strcmp(planned[k].series, p->series) == 0);
	return 0;
}

static int
measure_in_order(struct measuring_points *of, struct rot_error *err)
{
	int rc = 0;

	for (; rc == 0 && of->at < of->controller->nr_planned; of->at += rc == 0) {
		if (of->is_over[of->at])
			continue;
		of->failing = of->at;
		rc = measure_point(of, of->at, err);
		if (rc == 0)
			rc = end_series(of, err);
		if (rc < 0 && !rot_interrupted())
			failed_at(&of->controller->planned[of->failing], err);
	}
	return rc;
}

int
xml_points_measure(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	const size_t nr = controller->nr_planned + 1;
	struct measuring_points of = {
		.controller = controller,
		.experiment = experiment,
		.is_over = rot_calloc(nr, sizeof(*of.is_over)),
		.in_blocks = rot_calloc(nr, sizeof(*of.in_blocks)),
		.nr_visits = rot_calloc(nr, sizeof(*of.nr_visits)),
	};
	int rc;

	measuring_set_ahead(controller->rot, measure_in_blocks, &of);
	rc = measure_in_order(&of, err);
	measuring_set_ahead(controller->rot, NULL, NULL);
	if (rc < 0 && rot_interrupted())
		keep_blocks(&of);
	free(of.nr_visits);
	free(of.in_blocks);
	free(of.is_over);
	return rc;
}
