/* SPDX-License-Identifier: MIT */
/* Counts and clocks of the runs of a pass, and the causes that disturbed them. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "error.h"
#include "quantities/architecture.h"
#include "quantities/pass.h"
#include "quantities/quantity.h"

/*
 * One run of a pass. Counts are sums over all threads, but of the whole machine, which each workload sees, the maximum;
 * so are times.
 */
struct pass_run {
	double counts[PASS_MAX_EVENTS]; /* in the order of the pass's events */
	double others[PASS_MAX_EVENTS]; /* of the whole machine: what others caused, which is not in counts */
	double tsc_ticks;
	double wall_ns;
	double core_cycles;        /* ticks times cycles per tick, as probed; 0 without a clock probe */
	double context_switches;   /* voluntary and involuntary */
	double migrations;         /* threads of workloads that ended on another CPU than they began on */
	struct nearness nearness;  /* as a PingPongMeasurer of the overall set told; zeroed without one */
	double unknown_steps;      /* instructions that were stepped, and of which nobody knows what they do */
	const char *first_unknown; /* of unknown_steps: name and place; of the result; NULL: there is none */
	size_t start;              /* of the core (of a program: of itself) that the run is of, from 0 */
	unsigned taints;           /* enum sample_taint */
	struct pass_run
		*threads; /* with several workloads that are measured: what each gave, in their order; or NULL */
};

/*
 * Did a hypervisor take so much of that time that the run is tainted? ticks: stolen from all CPUs meanwhile, < 0: not
 * known. Where the work is shorter than a tick, no one can say whether it was stolen from that: false.
 */
bool sample_is_stolen(int64_t ticks, double ns);

/* Widens it by what more tells. */
void nearness_add(struct nearness *nearness, const struct nearness *more);

struct pass_samples {
	struct pass_run *runs;
	size_t nr_runs;
	size_t nr_threads; /* of each run; 0 with one workload */
};

/*
 * Reads the runs of a result of measured (made by pass_measurement; measuring has set its ids). Counts are taken modulo
 * the architecture's counter width, unless the time that they were counted in is enough for more. One of no time at all
 * is of a thread that slept. Errors: a set's output or an event is missing. Clear also after an error.
 */
int
pass_samples_read(struct pass_samples *samples, const struct architecture *architecture, const struct pass *pass,
		  const struct measurement *measured, const struct measurement_result *result, struct rot_error *err);
/*
 * Adds what one thread's group counted to the run, by the same rules. Events are found by name, since the output may be
 * of a pass that counted more (programs/comparison.h). seen (may be NULL) has an element per event of
 * the pass: how many outputs had it.
 */
void pass_run_add_counts(struct pass_run *run, const struct architecture *architecture, const struct pass *pass,
			 const struct perf_event_measurer_output *output, unsigned *seen);

void pass_samples_clear(struct pass_samples *samples);
