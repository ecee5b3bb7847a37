/* SPDX-License-Identifier: MIT */
/* A point as quantities_measure sees it, with the core's part played by the test. */
#pragma once

#include "quantities/compute.h"
#include "quantities/plan.h"
#include "quantities/resolve.h"
#include "quantities/samples.h"

#define MAX_PASSES 8
#define MAX_REQUESTS 8

/* machine: with caches of 48 KiB, 1 MiB and 32 MiB, which steps model. */
struct stage {
	struct architecture *architecture;
	struct machine *machine;
	struct measurement *measurement;
	struct quantity_resolution resolutions[MAX_REQUESTS];
	size_t nr_requests;
	struct pass_plan plan;
	struct measurement *passes[MAX_PASSES];
	struct measurement_result *results[MAX_PASSES];
	struct pass_samples samples[MAX_PASSES];
};

extern struct stage stage;

/* requests: separated by blanks. nr_threads: of each kernel; 0: without kernels. The stage stands until the
 * next one is opened or the test ends. */
void stage_open_threads(const char *architecture, size_t nr_workloads, int nr_threads, const char *requests);

void stage_open(const char *architecture, size_t nr_workloads, const char *requests);

/*
 * One more run of the pass; every workload's set with its clocks, resource usage and, in a pass with events, counts of
 * 0, for each unit of the machine in 1000 ns and in 10000 ns without the work. The context switches of the validation
 * measurer, while the caches were prepared, must not matter.
 */
struct measurement_run_output *add_run(size_t pass, uint64_t ticks, uint64_t ns);

/* One more run of a pass that is stepped: counts of 0 and nothing else. */
struct measurement_run_output *add_steps(size_t pass);

/* The clock probe of a workload in a run: cycles per tick before and after. */
void probe_clock(struct measurement_run_output *run, size_t workload, double before, double after);

struct perf_event_count *count_of(struct measurement_run_output *run, size_t workload, const char *event);

/* Sets counts: "packedDouble=20000 l1Fills=10". Returns the run. */
struct measurement_run_output *counted(struct measurement_run_output *run, size_t workload, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct resource_usage_measurer_output *usage_of(struct measurement_run_output *run, size_t workload);

size_t pass_with(const char *event);

/* The value is the stage's. */
struct quantity_value stage_compute(size_t request, bool use_minimum);

/* The value as "20000 [19000, 21000] flop, median of 10 runs without 2, measured". The text is valid until the next
 * call. */
const char *stage_told(size_t request, bool use_minimum);

/* The set that the last rule puts on threads. */
struct measurer_set *rule_set(const struct measurement *measurement);
