/* SPDX-License-Identifier: MIT */
/* A variant of a ceiling's kernel measured: on one thread or on several, run by run. For find.c only. */
#pragma once

#include "entities.h"
#include "error.h"
#include "quantities/quantity.h"
#include "roof/peak.h"

struct rot;

/* Rates of each run, in its order; not a number or infinite where a time is not known. */
struct peak_samples {
	struct pool pool;   /* of the arrays */
	double *per_cycle;  /* of a core, and of one thread */
	double *per_second; /* of all threads together */
	double *per_tsc;    /* ticks of the time stamp counter, of one thread */
	bool *is_tainted;   /* disturbed: not to be believed */
	bool *is_left_out;  /* of another mode than the one that is looked at; at first all false */
	size_t nr;
	bool has_huge_pages;         /* the kernel told that its buffer lay in such, in every process */
	const char *clock_kind;      /* how core cycles are known: "measured" or "modelled" */
	struct quantity_value value; /* per core cycle, with the times of modes.h */
};

/* The work of a run: operations if operation is not NULL, otherwise bytes over a border; or accesses, as if bytes. */
struct peak_work {
	const char *operation, *border;
	double of_thread;
};

/*
 * The first nr_runs runs of the measurement, from the cache or measured; with repeats_disturbed some more in place of
 * disturbed ones, else no others, so that what is missing of them is measured in one process. Its workloads all do the
 * same work. Errors: as quantities_measure.
 */
int peak_samples_measure(struct peak_samples *samples, struct rot *rot, const struct measurement *measurement,
			 const struct peak_work *work, int nr_runs, bool repeats_disturbed, struct rot_error *err);
void peak_samples_clear(struct peak_samples *samples);

/*
 * By what variants are compared, and what a peak is: of the runs from..to-1 that were not disturbed (of all if all
 * were) the upper quartile; or, where more than three quarters were slowed, the median of those on the plateau of rates
 * per core cycle (below). A roof is what the machine can do: runs that something else slowed, which no counter has
 * told, say nothing of it, and the single best run may owe its place to a clock that was misread. Per core cycle; NaN
 * without runs.
 */
double peak_samples_score(const struct peak_samples *samples, size_t from, size_t to);

/*
 * Sets the rates of the peak (all of the same runs, with their intervals), its clock, its pages and the numbers of
 * samples, from the samples from `from` on. A latency was measured in accesses per time and is the time of one (of
 * several threads or chains: of all their accesses together, per second; of one thread's, per cycle).
 */
void peak_samples_fill(struct pool *pool, const struct peak_samples *samples, size_t from, struct peak *peak);

/*
 * The plateau of many rates: the highest that a notable share of them agree on. Pure.
 *
 * Other users of a machine only slow it, for moments or for minutes, so its best shows as a flat top. Among 20 000
 * pieces of 0.13 ms of loads from the L1 of an EPYC 9005, in a virtual machine, a tenth got less than 119 bytes a
 * cycle, half between 127.5 and 128.0; while another guest was on the core, three quarters got less than 119, and a
 * tenth 127.9 to 128.2. A hundredth got 137 to 222: rates above the plateau are left by a misread clock.
 */

/* Rates of a plateau differ by less than this share of its highest. */
#define PLATEAU_AGREEING 0.02

/* It has at least so many of them, and at least this share of all; fewer are luck. */
#define PLATEAU_LEAST 6
#define PLATEAU_SHARE 0.1

struct plateau {
	double low, high; /* its rates lie between these, both included; NaN: there is none */
	double median;    /* of these */
	size_t nr;        /* how many these are, 0: there is none */
};

/* The rates are finite, and not changed; higher is better. */
struct plateau plateau_find(const double *rates, size_t nr);
