/* SPDX-License-Identifier: MIT */
/*
 * What every controller does: collect points with their quantities and ceilings, then write the table, OUTPUT.json and plots.
 * The thesis' RooflineController, for C and XML controllers alike.
 */
#ifndef CONTROLLERS_EXPERIMENT_H
#define CONTROLLERS_EXPERIMENT_H

#include "entities.h"
#include "error.h"
#include "quantities/quantity.h"

struct rot;
struct experiment;

/* controller_name and output_name are copied. nr_points_expected (0: unknown) is for the progress line. */
struct experiment *experiment_new(struct rot *rot, const char *controller_name, const char *output_name, size_t nr_points_expected);
void experiment_delete(struct experiment *experiment);

struct experiment_coordinate {
	const char *axis;
	double number;     /* NaN: text is the value */
	const char *text;
};

/*
 * Measures one point and adds it. Interrupted: returns -1 with the points so far kept, so that experiment_write still writes
 * them.
 */
int experiment_add_point(struct experiment *experiment, const char *series, const char *label,
			 const struct experiment_coordinate *coordinates, size_t nr_coordinates,
			 const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
			 int nr_runs, struct rot_error *err);

/* The machine's default ceilings (driver/controllers/default-peaks.xml), measured once and cached. */
int experiment_add_default_peaks(struct experiment *experiment, struct rot_error *err);

size_t experiment_nr_points(const struct experiment *experiment);

#endif
