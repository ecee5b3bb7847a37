/* SPDX-License-Identifier: MIT */
/* An XML controller that was planned (planning/xml_plan.h) is measured here, or its plan shown. */
#pragma once

#include <stdio.h>

#include "error.h"

struct experiment;
struct xml_controller;

/* Measures and writes everything. Interrupted: writes what is finished, then fails with "interrupted". */
int xml_controller_run(struct xml_controller *controller, const char *output_name, struct rot_error *err);

/* Prints the plan by series: points, runs, how many of these are cached, and about how long the rest takes. */
int xml_controller_print_plan(struct xml_controller *controller, FILE *out, struct rot_error *err);

/* Adds what the controller shows: plots, columns and names (xml_show.c). Every text is tried on made-up values. */
int xml_show(struct xml_controller *controller, struct experiment *experiment, struct rot_error *err);
