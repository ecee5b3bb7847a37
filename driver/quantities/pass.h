/* SPDX-License-Identifier: MIT */
/* A pass as a Measurement. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "entities.h"
#include "quantities/architecture.h"
#include "quantities/plan.h"

/*
 * A workload with a measurer set of its own that has no main measurer: it runs beside the others as a load, and no
 * quantity is of it.
 */
bool workload_is_load(const struct workload *workload);

/*
 * A copy of the measurement whose workloads (but loads) carry a measurer set for the pass. Main: the group of events,
 * or the time stamp counter in the pass of the clocks. Additional: the clock probe if the pass has one (first, so that
 * it lies outside the others), resource usage (which tells disturbed runs), wall time and time stamp counter.
 * Validation: resource usage with the steal time, over the whole run; kept for people. Free with rot_graph_delete.
 *
 * A pass that is stepped has its main measurer alone: stepping takes a switch to another process and back for each
 * instruction, so times and switches of context would be those of rot. Kernels with threads of their own are not
 * counted by steps (enum step_obstacle). A pass of the whole machine has a unit's counter for each of its events as its
 * main measurer, and no rule.
 *
 * If a kernel declares more than one thread (numThreads), a pass with events gets a rule as its last one: a copy of the
 * group on every thread that kernels or libraries make, counting from kernelStart to kernelStop. The pass of the clocks
 * does without: threads need not be held then, and their work is over when the kernel is.
 *
 * If a rule has a MeasureActionExecution without a measurer set, the pass is of that action: it gets the set, and the
 * workloads get none. So what flushing the buffers after a kernel transfers is measured as the kernel is.
 */
struct measurement *pass_measurement(const struct measurement *measurement, const struct architecture *architecture,
				     const struct pass *pass);

/* Does a kernel that is no load declare more than one thread? */
bool measurement_has_own_threads(const struct measurement *measurement);

/* The set of the rule that pass_measurement added for them; NULL: it added none. */
const struct measurer_set *
pass_thread_set(const struct architecture *architecture, const struct measurement *measured, const struct pass *pass);

/* The action that the passes of the measurement are of; NULL: they are of its kernels. */
const struct action_base *measured_action(const struct measurement *measurement);

/*
 * The group of a pass as a measurer, with the architecture's scrubbing; without events it counts nothing. A
 * StepMeasurer with the machine's caches where the architecture counts by steps, a MachineEventMeasurer for events of
 * the machine.
 */
struct perf_event_measurer *pass_measurer(const struct architecture *architecture, const struct pass *pass);

/* The caches of the architecture as text changes them (cache_shapes_parse). NULL: it does not say so.
 */
struct step_measurer *
what_if_measurer(const struct architecture *architecture, const char *text, struct rot_error *err);

/* ---- when the runs of a pass were measured, as OUTPUT.json tells ---- */

/* us since 1970 (UTC), or null where seconds is 0: nobody knows. New reference. */
json_t *run_began_json(int64_t seconds, int32_t microseconds);

/* {"hash", "began", "starts"}, of which the latter two have an element a run; still without runs. hash: of the
 * description. New reference. */
json_t *pass_runs_new(const char *hash);

/* The next run, of that start of the core (of a program: of itself). */
void pass_runs_add(json_t *pass, int64_t seconds, int32_t microseconds, size_t start);

/* number: of the set, for readers. */
json_t *set_output_json(const struct measurer_set_output *set, int number);

/*
 * Adds to array an object for each run of a pass over kernels: "pass" and "measurerSets", the sets that the first
 * nr_rules rules of measured (those that the description has) read. Sets are numbered from 1, in the order in which
 * rules name them first.
 */
void rule_outputs_add(json_t *array, const struct measurement *measured, size_t nr_rules,
		      const struct measurement_result *result, size_t pass);
