/* SPDX-License-Identifier: MIT */
/* XML controllers: opened with all their points planned and checked. How they are written: doc/CONTROLLERS.md. */
#pragma once

#include <stddef.h>

#include "error.h"

struct rot;
struct measurement;
struct xml_controller; /* planning/xml_plan.h */

/*
 * Reads and validates the file and plans every point and ceiling: all kernels, fields, values, quantities and texts are
 * checked, and nothing is measured or built. NULL on error; messages begin with file and line.
 */
struct xml_controller *xml_controller_open(struct rot *rot, const char *path, struct rot_error *err);
/* That which describes the ceilings of the machine, the user's or rot's own. */
struct xml_controller *xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err);

void xml_controller_close(void *controller);

/* Plans once more where choices were guessed: their candidates are measured now. -1 also: interrupted. */
int xml_controller_plan_again(struct xml_controller *controller, struct rot_error *err);

/* Points that are planned: programs and kernels, without those that are left out. */
size_t xml_controller_nr_points(const struct xml_controller *controller);

/* The i-th point as it would be measured, without measurers; NULL: it is a program. All borrowed. */
const struct measurement *
xml_controller_point(const struct xml_controller *controller, size_t i, const char **series, const char **label);

/* The comment of the controller in that file, without validating it; NULL: the file is no XML controller. Fresh memory.
 */
char *xml_controller_comment(const char *path);
