/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of the child: describe a measurement, run the child on it, look at what it gave. */
#pragma once

#include <check.h>

#include "PlainData.h"
#include "ProbeData.h"
#include "entities.h"
#include "kernel_entities.h"

/* The outcome of a start of the child. output: a MeasurementCommandOutput or a CoreFailure, NULL if there is no (whole)
 * file. */
struct outcome {
	int status;
	void *output;
	char *journal;
};

extern struct outcome outcome; /* of the last start */

/* Runs the child in a folder of its own, which is removed; the command is deleted with all it reaches. The outcome is
 * there until the test ends. */
void runner_run(struct measurement_command *command);

/* Starts the child with these files (NULL: without the option) and waits: its exit status, or minus the signal. */
int runner_start(const char *command, const char *output, const char *journal);

/* From now on (in this test) the child is started by rot-core, which traces it; there is no journal then. */
void runner_trace(void);

/* Is there a library of that name? NULL: true. */
bool runner_has_library(const char *name);

/* From now on (in this test) the child finds a system call failing with errnum, as in a container with a seccomp
 * filter. */
void runner_forbid(int syscall_number, int errnum);

/* The run of a measurement; the test fails if the child did, with its message. */
struct measurement_run_output *outcome_run(size_t measurement, size_t run);

/* The set's output in the run, or NULL. */
struct measurer_set_output *run_set(const struct measurement_run_output *run, int set_id);

/* The child must have failed with status 1, this kind and this part of the text (and of the hint, if not NULL). */
void outcome_expect_failure(const char *kind, const char *text, const char *hint);

/* Lines of the journal that begin with "THREAD: ", without that, in fresh memory. */
char *journal_of(const char *thread);

/* ---- descriptions ---- */

/* A command with one measurement, of runs runs. */
struct measurement_command *make_command(int runs);
struct measurement *command_measurement(struct measurement_command *command);

/* Adds a workload with a Probe of the same id, all warm. */
struct workload *add_workload(struct measurement *measurement, int id);
struct probe_data *workload_probe(struct workload *workload);

/* A set with a main measurer of that class (NULL: none), which gets the id 10 * id. */
struct measurer_set *make_set(int id, const struct rot_class *main);

/* An action of that class on the set. */
struct action_base *on_set(const struct rot_class *class, struct measurer_set *set);

void add_rule(struct measurement *measurement, void *predicate, void *action);
struct workload_event_predicate *on_workload(struct workload *workload, const char *event);
struct measurement_run_event_predicate *on_run(const char *event);

/* Stops the workload's kernel. */
struct stop_kernel_action *stop_of(struct workload *workload);

/* A command "sh -c SCRIPT". */
struct run_command *shell(const char *script);
