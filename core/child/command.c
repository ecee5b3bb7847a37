/* SPDX-License-Identifier: MIT */
#include "child/command.h"

#include <stdlib.h>
#include <string.h>

#include "child/actions.h"
#include "child/caches.h"
#include "child/configurator.h"
#include "child/interruption.h"
#include "child/kernels.h"
#include "child/measurer.h"
#include "child/own_threads.h"
#include "child/rules.h"
#include "child/run.h"
#include "child/service.h"
#include "child/watches.h"
#include "common/clock.h"
#include "common/watch.h"
#include "memory.h"
#include "rule_check.h"

/* ---- what can be seen to be wrong with a command before it runs ---- */

static int
check_workload(const struct measurement *measurement, size_t i, struct rot_error *err)
{
	const struct workload *workload = measurement_workloads_at(measurement, i);
	const struct kernel_type *type;

	if (!workload)
		return rot_error_set(err, 0, "the workload at place %zu is missing", i);
	if (!workload->kernel)
		return rot_error_set(err, 0, "workload %d has no kernel", workload->id);
	type = kernel_type_of(workload->kernel);
	if (!type) {
		rot_error_set(err, 0, "workload %d wants kernel %s, which this core was built without", workload->id,
			      workload->kernel->entity.class->name);
		return rot_error_hint(err, "the name in the KERNEL line of its C file must be \"%s\"",
				      workload->kernel->entity.class->name);
	}
	if (!type->run) {
		rot_error_set(err, 0, "kernel %s of workload %d has no function run", type->class_name, workload->id);
		return rot_error_hint(err, "name it in the KERNEL line of its C file: .run = run");
	}
	if (workload->cpu < -1) {
		rot_error_set(err, 0, "workload %d cannot be pinned to CPU %d", workload->id, workload->cpu);
		return rot_error_hint(err, "CPUs count from 0; -1 means any");
	}
	for (size_t j = 0; j < i; j++) {
		const struct workload *earlier = measurement_workloads_at(measurement, j);

		if (earlier == workload || earlier->kernel == workload->kernel)
			return rot_error_set(
				err, 0, "the workloads at places %zu and %zu share a kernel; each needs its own", j, i);
	}
	return 0;
}

/* At a breakpoint an action is executed by the thread that comes there, whatever it is doing. */
static int
check_pair(const struct rule *rule, struct rot_error *err)
{
	const struct breakpoint_event_predicate *place = rot_cast(rule->predicate, &breakpoint_event_predicate_class);
	const char *name = ROT_ENTITY(rule->action)->class->name;

	if (!place)
		return 0;
	if (strlen(place->place) >= WATCH_PLACE_BYTES)
		return rot_error_set(err, 0, "BreakpointEventPredicate: the place is longer than %d characters",
				     WATCH_PLACE_BYTES - 1);
	if (rule->action->workload || rule->action->tid >= 0)
		return rot_error_set(
			err, 0,
			"%s: it names another thread, and a thread at a breakpoint may hold the locks that "
			"this takes",
			name);
	if (action_is_executed_inside(rule->action))
		return 0;
	rot_error_set(err, 0,
		      "%s: it allocates memory or waits, and a thread at a breakpoint may hold the locks that this "
		      "takes",
		      name);
	return rot_error_hint(err, "answer a WorkloadEventPredicate with it; breakpoints start and stop measurer sets, "
				   "stop kernels and flush their buffers");
}

/* The rule and all that it reaches: rule_check knows what no core can do, the rest is of this one. */
static int
check_rule(const struct rule *rule, const struct measurement *measurement, enum failure_kind *kind,
	   struct rot_error *err)
{
	autofree struct rot_entity **parts = NULL;
	const void *culprit;
	size_t nr;

	if (rule_check(rule, measurement, false, &culprit, err) < 0) {
		*kind = rot_is_a(culprit, &measurer_base_class) ? FAILURE_REFUSED : FAILURE_ERROR;
		return -1;
	}
	parts = rot_graph_collect(rule, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct measure_action_execution *measure = rot_cast(parts[i], &measure_action_execution_class);
		const struct stop_kernel_action *stop = rot_cast(parts[i], &stop_kernel_action_class);

		if (rot_is_a(parts[i], &rule_class) && check_pair((struct rule *)parts[i], err) < 0)
			return -1;
		if (measure && !measure->measurer_set)
			return rot_error_set(err, 0, "MeasureActionExecution: no measurer set is named");
		if (stop && !kernel_type_of(stop->kernel)->stop)
			return rot_error_set(err, 0, "StopKernelAction: kernel %s cannot be stopped, it ends by itself",
					     stop->kernel->entity.class->name);
	}
	return 0;
}

/* Checks that this core can carry out the command. */
static int
check_command(const struct measurement_command *command, struct failure *failure)
{
	size_t nr = measurement_command_nr_measurements(command);
	enum failure_kind kind = FAILURE_ERROR;
	struct rot_error error;

	if (nr == 0 || command->run_count < 1) {
		rot_error_set(&error, 0, "the command asks for %d runs of %zu measurements: nothing to do",
			      command->run_count, nr);
		return failure_record(failure, FAILURE_ERROR, &error);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct measurement *measurement = measurement_command_measurements_at(command, i);
		bool needs_clearing = false;

		if (!measurement) {
			rot_error_set(&error, 0, "measurement %zu of the command is missing", i);
			return failure_record(failure, FAILURE_ERROR, &error);
		}
		for (size_t k = 0; k < measurement_nr_workloads(measurement); k++) {
			const struct kernel_base *kernel;

			if (check_workload(measurement, k, &error) < 0)
				return failure_record(failure, FAILURE_ERROR, &error);
			kernel = measurement_workloads_at(measurement, k)->kernel;
			needs_clearing |= !kernel->warm_code || !kernel->warm_data;
		}
		for (size_t k = 0; k < measurement_nr_rules(measurement); k++)
			if (check_rule(measurement_rules_at(measurement, k), measurement, &kind, &error) < 0) {
				rot_error_prefix(&error, "rule at place %zu", k);
				return failure_record(failure, kind, &error);
			}
		if (needs_clearing &&
		    caches_open((size_t)command->last_level_bytes, (size_t)command->memory_bytes, &error) < 0)
			return failure_record(failure, FAILURE_ERROR, &error);
	}
	return 0;
}

/* ---- the command at work ---- */

/* The command at work. nr_entered: per measurement, the configurators to leave. */
struct command_work {
	const struct measurement_command *command;
	struct notifier *notifier;
	struct service service;
	struct failure *failure;
	struct measurement_command_output *output;
	size_t *nr_entered;
	int nr_done;
};

static int
perform_run(struct command_work *work, size_t i)
{
	const struct measurement *measurement = measurement_command_measurements_at(work->command, i);
	size_t nr_workloads = measurement_nr_workloads(measurement), nr_own;
	struct measurement_run_output *output = measurement_run_output_new();
	pid_t *own_tids = rot_calloc(nr_workloads + OWN_THREADS_MAX, sizeof(*own_tids));
	struct rot_error error;
	int rc = -1;

	measurement_run_output_collection_outputs_add(measurement_command_output_collections_at(work->output, i),
						      output);
	output->order = work->nr_done;
	clock_now(&output->start_time, &output->start_microseconds);
	if (notifier_send(work->notifier, WIRE_RUN_STARTED, work->nr_done + 1, &error) < 0) {
		failure_record(work->failure, FAILURE_ERROR, &error);
		goto out;
	}
	if (service_hold(&work->service, measurement_needs_service(measurement), work->failure) < 0)
		goto out;
	notifier_begin_run(work->notifier);
	if (run_perform(measurement, &work->service, work->failure, output, own_tids) < 0 ||
	    service_hold(&work->service, false, work->failure) < 0)
		goto out;
	kernel_facts(output);
	nr_own = nr_workloads + own_threads_take(own_tids + nr_workloads, OWN_THREADS_MAX);
	output->unmeasured_threads = (int32_t)notifier_end_run(work->notifier, own_tids, nr_own);
	work->nr_done++;
	rc = 0;
	if (notifier_send(work->notifier, WIRE_RUN_FINISHED, work->nr_done, &error) < 0)
		rc = failure_record(work->failure, FAILURE_ERROR, &error);
out:
	free(own_tids);
	return rc;
}

static int
enter_measurements(struct command_work *work)
{
	struct rot_error error;

	for (size_t i = 0; i < measurement_command_nr_measurements(work->command); i++)
		if (configurators_enter(measurement_command_measurements_at(work->command, i), CONFIGURATOR_MEASUREMENT,
					&work->nr_entered[i], &error) < 0)
			return failure_record(work->failure, FAILURE_ERROR, &error);
	return 0;
}

static void
leave_measurements(struct command_work *work)
{
	struct rot_error error;

	for (size_t i = measurement_command_nr_measurements(work->command); i-- > 0;)
		if (configurators_leave(measurement_command_measurements_at(work->command, i), CONFIGURATOR_MEASUREMENT,
					work->nr_entered[i], &error) < 0)
			failure_record(work->failure, FAILURE_ERROR, &error);
}

static int
tell_all(struct command_work *work, struct rot_error *err)
{
	size_t nr = measurement_command_nr_measurements(work->command);

	interruption_open(work->notifier->fd);
	if (notifier_send(work->notifier, WIRE_STEP, steps_place(), err) < 0 ||
	    notifier_send(work->notifier, WIRE_BUFFERS, kernel_buffer_table(), err) < 0)
		return -1;
	for (size_t i = 0; i < nr; i++) {
		const struct measurement *measurement = measurement_command_measurements_at(work->command, i);

		for (size_t j = 0; j < measurement_nr_workloads(measurement); j++) {
			int cpu = measurement_workloads_at(measurement, j)->cpu;

			if (cpu >= 0 && notifier_send(work->notifier, WIRE_PINNED, cpu, err) < 0)
				return -1;
		}
	}
	return notifier_send(work->notifier, WIRE_STARTUP, (int64_t)nr * work->command->run_count, err);
}

static void
perform_runs(struct command_work *work)
{
	size_t nr = measurement_command_nr_measurements(work->command);
	struct rot_error error;

	if (tell_all(work, &error) < 0) {
		failure_record(work->failure, FAILURE_ERROR, &error);
		return;
	}
	for (int run = 0; run < work->command->run_count; run++) {
		for (size_t i = 0; i < nr; i++)
			if (perform_run(work, i) < 0)
				return;
	}
}

static int
open_service(struct command_work *work)
{
	for (size_t i = 0; i < measurement_command_nr_measurements(work->command); i++)
		if (measurement_needs_service(measurement_command_measurements_at(work->command, i)))
			return service_open(&work->service, work->notifier, work->failure);
	return 0;
}

struct measurement_command_output *
command_perform(const struct measurement_command *command, struct notifier *notifier, struct failure *failure)
{
	size_t nr = measurement_command_nr_measurements(command);
	struct command_work work = {
		.command = command, .notifier = notifier, .service.notifier = notifier, .failure = failure};

	if (check_command(command, failure) < 0)
		return NULL;
	work.nr_entered = rot_calloc(nr, sizeof(*work.nr_entered));
	work.output = measurement_command_output_new();
	for (size_t i = 0; i < nr; i++)
		measurement_command_output_collections_add(work.output, measurement_run_output_collection_new());
	if (watches_open(command, notifier, failure) == 0 && open_service(&work) == 0 && enter_measurements(&work) == 0)
		perform_runs(&work);
	leave_measurements(&work);
	service_close(&work.service);
	watches_close();
	free(work.nr_entered);
	caches_close();
	if (!failure->happened)
		return work.output;
	rot_graph_delete(work.output);
	return NULL;
}
