/* SPDX-License-Identifier: MIT */
/* See run.h. */
#include "child/run.h"

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
	for (size_t i = 0; i < run->nr_workloads; i++) {
		if (run->workloads[i].workload == workload)
			return &run->workloads[i];
	}
	return NULL;
}

struct workload_run *
run_find_kernel(struct run *run, const struct kernel_base *kernel)
{
	for (size_t i = 0; i < run->nr_workloads; i++) {
		if (run->workloads[i].kernel == kernel)
			return &run->workloads[i];
	}
	return NULL;
}

struct child_thread *
run_find_thread(struct run *run, pid_t tid)
{
	if (run->main_thread.tid == tid)
		return &run->main_thread;
	for (size_t i = 0; i < run->nr_workloads; i++) {
		if (run->workloads[i].thread.tid == tid)
			return &run->workloads[i].thread;
	}
	return NULL;
}

void
run_add_output(struct run *run, struct measurer_set_output *output)
{
	if (!output)
		return;
	pthread_mutex_lock(&run->lock);
	run->action_outputs =
		rot_realloc(run->action_outputs, run->nr_action_outputs + 1, sizeof(*run->action_outputs));
	run->action_outputs[run->nr_action_outputs++] = output;
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
