/* SPDX-License-Identifier: MIT */
/* Tests of experiments share this, besides the driver of xml_fixture.h. */
#pragma once

#include "experiments/experiment_internal.h"
#include "xml_fixture.h"

/* A checked fixture: setup, and test.xml, a controller of four points with three quantities and two ceilings. */
void setup_with_test(void);

/* Measures the controller of that name, its standard output into a file. */
int run_into(const char *output, const char *name, const char *output_name, struct rot_error *err);

/* A measurement of one workload, with a kernel as it is by default; rot_graph_delete deletes all. */
struct measurement *measurement_of(const char *kernel);

/* The machine's profile: a roof by hand, of one thread and of two. */
void store_peaks(void);

/* An experiment whose one plot is a roofline of that operation, with the machine's peaks. */
struct experiment *experiment_with_roofline(const char *operation, const char *clock);

/* For fake_measure: values as if they had been measured beside an empty region; bytes break a rule. */
void measure_doubtful(const struct measurement *measurement, const struct quantity_request *requests,
		      size_t nr_requests, int nr_runs, struct quantity_value *values);
