/* SPDX-License-Identifier: MIT */
/* XML controllers: opened with all their points planned and checked, then measured. How they are written:
 * doc/CONTROLLERS.md. */
#ifndef CONTROLLERS_XML_CONTROLLER_H
#define CONTROLLERS_XML_CONTROLLER_H

#include <stddef.h>

#include "error.h"
#include "experiment/experiment.h"

struct rot;
struct measurement;
struct xml_controller;

/*
 * Reads and validates the file and plans every point and ceiling: all kernels, fields, values, quantities and texts are
 * checked, and nothing is measured or built. NULL on error; messages begin with file and line.
 */
struct xml_controller *xml_controller_open(struct rot *rot, const char *path, struct rot_error *err);
/* That which describes the ceilings of the machine, the user's or rot's own. */
struct xml_controller *xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err);

void xml_controller_close(struct xml_controller *controller);

/* Measures and writes everything. Interrupted: writes what is finished, then fails with "interrupted". */
int xml_controller_run(struct xml_controller *controller, const char *output_name, struct rot_error *err);

/* What would be measured, by series: points, runs, what of them is cached, and about how long it takes. */
int xml_controller_print_plan(struct xml_controller *controller, FILE *out, struct rot_error *err);

/* Points that are planned: programs and kernels, without those that are left out. */
size_t xml_controller_nr_points(const struct xml_controller *controller);

/* The i-th point as it would be measured, without measurers; NULL: it is a program. All borrowed. */
const struct measurement *
xml_controller_point(const struct xml_controller *controller, size_t i, const char **series, const char **label);

/* The comment of the controller in that file, without validating it; NULL: the file is no XML controller. Fresh memory.
 */
char *xml_controller_comment(const char *path);

#endif
