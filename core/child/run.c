/* SPDX-License-Identifier: MIT */
/* See run.h. The order of a run is that of the thesis, appendix "Measurement Tool Architecture". */
#include "child/run.h"

#include <stdlib.h>
#include <time.h>

#include "child/configurator.h"
#include "child/journal.h"
#include "child/notifier.h"
#include "child/rules.h"
#include "child/service.h"
#include "child/thread_measurers.h"
#include "child/watches.h"
#include "child/workload.h"
#include "memory.h"

int
run_fail(struct run *run, const struct rot_error *err)
{
	return failure_record(run->failure, FAILURE_ERROR, err);
}

bool
run_has_failed(const struct run *run)
{
	return run->failure->happened;
}

struct workload_run *
run_find_workload(struct run *run, const struct workload *workload)
{
	for (size_t i = 0; i < run->nr_workloads; i++)
		if (run->workloads[i].workload == workload)
			return &run->workloads[i];
	return NULL;
}

struct workload_run *
run_find_kernel(struct run *run, const struct kernel_base *kernel)
{
	for (size_t i = 0; i < run->nr_workloads; i++)
		if (run->workloads[i].kernel == kernel)
			return &run->workloads[i];
	return NULL;
}

struct child_thread *
run_find_thread(struct run *run, pid_t tid)
{
	if (run->main_thread.tid == tid)
		return &run->main_thread;
	for (size_t i = 0; i < run->nr_workloads; i++)
		if (run->workloads[i].thread.tid == tid)
			return &run->workloads[i].thread;
	return NULL;
}

void
run_add_output(struct run *run, struct measurer_set_output *output)
{
	if (!output)
		return;
	pthread_mutex_lock(&run->lock);
	rot_add(run->action_outputs, run->nr_action_outputs) = output;
	pthread_mutex_unlock(&run->lock);
}

/* ---- the rule list: rules are only ever added, at the end ---- */

size_t
run_nr_rules(struct run *run)
{
	size_t nr;

	pthread_mutex_lock(&run->lock);
	nr = measurement_nr_rules(run->measurement);
	pthread_mutex_unlock(&run->lock);
	return nr;
}

struct rule *
run_rule_at(struct run *run, size_t i)
{
	struct rule *rule;

	pthread_mutex_lock(&run->lock);
	rule = measurement_rules_at(run->measurement, i);
	pthread_mutex_unlock(&run->lock);
	return rule;
}

void
run_add_rule(struct run *run, struct rule *rule)
{
	size_t nr, i = 0;

	pthread_mutex_lock(&run->lock);
	nr = measurement_nr_rules(run->measurement);
	while (i < nr && measurement_rules_at(run->measurement, i) != rule)
		i++;
	if (i == nr)
		measurement_rules_add(run->measurement, rule);
	pthread_mutex_unlock(&run->lock);
}

/* How often kernels are told again to stop, once the run has failed. */
#define STOP_AGAIN_NS 10000000L

/* ---- making and ending ---- */

static void
run_init(struct run *run, const struct measurement *description, const struct service *service, struct failure *failure)
{
	*run = (struct run){
		.failure = failure, .measurement = rot_graph_clone(description, NULL), .notifier = service->notifier};
	pthread_mutex_init(&run->thread_lock, NULL);
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->ended, NULL);
	child_thread_init(&run->main_thread, NULL);
	run->main_thread.run = run;
	child_thread_attach(&run->main_thread);
	run->nr_workloads = measurement_nr_workloads(run->measurement);
	run->workloads = rot_calloc(run->nr_workloads + 1, sizeof(*run->workloads));
	for (size_t i = 0; i < run->nr_workloads; i++)
		workload_init(&run->workloads[i], run, measurement_workloads_at(run->measurement, i));
}

static void
run_clear(struct run *run)
{
	child_thread_detach();
	thread_measurers_clear(run);
	pthread_mutex_destroy(&run->thread_lock);
	while (run->barriers) {
		struct barrier_state *next = run->barriers->next;

		free(run->barriers);
		run->barriers = next;
	}
	while (run->sets) {
		struct action_set *next = run->sets->next;

		set_dispose(&run->sets->state);
		free(run->sets);
		run->sets = next;
	}
	for (size_t i = 0; i < run->nr_workloads; i++)
		workload_clear(&run->workloads[i]);
	free(run->workloads);
	for (size_t i = 0; i < run->nr_action_outputs; i++)
		rot_graph_delete(run->action_outputs[i]);
	free(run->action_outputs);
	child_thread_clear(&run->main_thread);
	pthread_cond_destroy(&run->ended);
	pthread_mutex_destroy(&run->lock);
	rot_graph_delete(run->measurement);
}

/* ---- workloads ---- */

static void
join_workloads(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	while (run->nr_running > 0 && !run_has_failed(run))
		pthread_cond_wait(&run->ended, &run->lock);
	/* Until all have ended, tells kernels that go on until they are stopped to do so. */
	while (run->nr_running > 0) {
		struct timespec until;

		for (size_t i = 0; i < run->nr_workloads; i++)
			workload_stop_kernel(&run->workloads[i]);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += STOP_AGAIN_NS;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&run->ended, &run->lock, &until);
	}
	pthread_mutex_unlock(&run->lock);
	for (size_t i = 0; i < run->nr_workloads; i++)
		if (run->workloads[i].is_created)
			pthread_join(run->workloads[i].pthread, NULL);
}

/* ---- the run ---- */

/* From the overall set's initialization to its disposal. */
static void
run_measured(struct run *run, struct service *service, struct measurement_run_output *output)
{
	struct measurer_set_output *overall = NULL;
	struct set_state set = {0};

	if (set_initialize(&set, run->measurement->overall_measurer_set, run->failure) < 0 ||
	    event_raise(run, &run->main_thread, &(struct event){.kind = EVENT_RUN, .name = "start"}) < 0)
		goto out;
	notifier_run_is_prepared(run->notifier);
	watches_set_run(run);
	set_start(&set);
	for (size_t i = 0; i < run->nr_workloads && !run_has_failed(run); i++)
		workload_create(&run->workloads[i]);
	join_workloads(run);
	set_stop(&set);
	watches_set_run(NULL);
	if (run_has_failed(run) || watches_check(run) < 0 ||
	    event_raise(run, &run->main_thread, &(struct event){.kind = EVENT_RUN, .name = "stop"}) < 0 ||
	    thread_end(run, &run->main_thread) < 0)
		goto out;
	service_set_run(service, NULL);
	thread_measurers_finish(run);
	overall = set_output(&set, run->failure);
	for (size_t i = 0; i < run->nr_workloads; i++) {
		if (run->workloads[i].output)
			measurement_run_output_measurer_set_outputs_add(output, run->workloads[i].output);
		run->workloads[i].output = NULL;
	}
	for (size_t i = 0; i < run->nr_action_outputs; i++)
		measurement_run_output_measurer_set_outputs_add(output, run->action_outputs[i]);
	run->nr_action_outputs = 0;
	if (overall)
		measurement_run_output_measurer_set_outputs_add(output, overall);
out:
	set_dispose(&set);
}

int
run_perform(const struct measurement *description, struct service *service, struct failure *failure,
	    struct measurement_run_output *output, pid_t *own_tids)
{
	size_t nr_entered;
	struct rot_error error;
	struct run run;

	journal_add("run begins", -1);
	if (configurators_enter(description, CONFIGURATOR_RUN, &nr_entered, &error) < 0) {
		failure_record(failure, FAILURE_ERROR, &error);
	} else {
		run_init(&run, description, service, failure);
		service_set_run(service, &run);
		run_measured(&run, service, output);
		service_set_run(service, NULL);
		for (size_t i = 0; i < run.nr_workloads; i++)
			own_tids[i] = run.workloads[i].thread.tid;
		run_clear(&run);
	}
	if (configurators_leave(description, CONFIGURATOR_RUN, nr_entered, &error) < 0)
		failure_record(failure, FAILURE_ERROR, &error);
	journal_add("run ends", -1);
	return failure->happened ? -1 : 0;
}
