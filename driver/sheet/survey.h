/* SPDX-License-Identifier: MIT */
/*
 * Many points of the data sheet, measured together: each is a kernel on one or more CPUs, timed in core cycles. The
 * runs of all points are interleaved, so what changes with time changes all of them.
 *
 *	survey_new(rot)                          begins
 *	survey_add(survey, nr_cpus, ...)         a point; its number is its place in the order
 *	survey_measure(survey, err)              all points, or takes them from the result cache
 *	survey_read(survey, point, ...)          what it says
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "error.h"
#include "statistics/curve.h"

struct rot;
struct survey;

struct survey *survey_new(struct rot *rot);
void survey_delete(struct survey *survey);

/* CPUs that this process may use. */
size_t survey_nr_cpus(const struct survey *survey);

/* These instead, in this order. */
void survey_set_cpus(struct survey *survey, const int *cpus, size_t nr);

/*
 * The kernel begins at once on the first nr_cpus of them, and times are those of the slowest; more threads than CPUs
 * share them. steps: what a run is divided by. fields: "bufferSize=128 accesses=8", after printf. Returns the point's
 * number, or a negative one where err tells why; SURVEY_HAS_NONE: this CPU has no such loop.
 */
#define SURVEY_HAS_NONE (-2)
__attribute__((format(printf, 6, 7))) int survey_add(struct survey *survey, size_t nr_cpus, const char *kernel,
						     double steps, struct rot_error *err, const char *fields, ...);

/* These taints of runs (enum sample_taint) belong to the point, and disturb none. */
void survey_allow(struct survey *survey, int point, unsigned taints);

/* The flags of the compiler. */
void survey_set_flags(struct survey *survey, int point, const char *flags);

/* Each run has a start of its own: for what differs from start to start. */
void survey_spread(struct survey *survey);

int survey_measure(struct survey *survey, struct rot_error *err);

/*
 * cycles, ns: of a step, the shortest undisturbed run of each half; ghz: core cycles of each nanosecond, the highest;
 * median, most: cycles of all undisturbed runs. NaN: there is none, also after more runs.
 */
struct survey_times {
	double cycles[2], ns[2], ghz[2], median, most;
};
int survey_read(struct survey *survey, int point, struct survey_times *times, struct rot_error *err);

/* Adds what the results of all points say of themselves (engine/origin.h). */
void survey_add_origin(const struct survey *survey, json_t *origin);

/* Fills the cycles of the curve from the points that begin with first. */
int survey_read_curve(struct survey *survey, int first, struct measured_curve *curve, struct rot_error *err);
