/* SPDX-License-Identifier: MIT */
/* One run of a measurement, with everything that belongs to it alone. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "child/failure.h"
#include "child/measurer_set.h"
#include "child/thread.h"
#include "entities.h"
#include "kernel.h"

struct notifier;
struct run;
struct service;
struct thread_measurers;

/*
 * A workload in a run.
 *
 * kernel: the entity of the run's clone, which is the kernel's own struct too.
 * kernel_lock: held while another thread uses the kernel, so that it is not disposed meanwhile; not held by its run.
 * is_kernel_live: between initialize and dispose.   is_stop_wanted: a stop came before the kernel was live.
 * has_kernel_stopped: the event kernelStop was reached, or will never be.
 * output: of the measurer set, taken over by the run.
 */
struct workload_run {
	struct run *run;
	struct workload *workload;
	const struct kernel_type *type;
	void *kernel;
	struct child_thread thread;
	pthread_t pthread;
	bool is_created;
	pthread_mutex_t kernel_lock;
	bool is_kernel_live, is_stop_wanted;
	atomic_bool has_kernel_stopped;
	struct set_state set;
	struct measurer_set_output *output;
};

/* The pressure on a barrier of the description. */
struct barrier_state {
	const struct pressure_barrier *barrier;
	atomic_int pressure;
	struct barrier_state *next;
};

enum action_set_life {
	SET_IN_MAKING,
	SET_READY,    /* was never started: there is nothing to read    */
	SET_STARTED,  /* and not stopped since                          */
	SET_MEASURED, /* started and stopped, once or more: the last counts */
};

/* A set that actions initialize, start, stop, read and dispose. life: of enum action_set_life. */
struct action_set {
	const struct measurer_set *set;
	atomic_int life;
	struct set_state state;
	struct action_set *next;
};

/*
 * measurement: this run's own clone of the description.
 * lock: of everything below it.   ended: signalled when a workload's thread is about to end, or the
 * service has made the run fail.
 * nr_initialized: kernels, so far.
 * action_outputs: MeasurerSetOutputs of actions, in the order of their execution.
 * notifier: of the command.   thread_lock: of thread_measurers.
 */
struct run {
	struct measurement *measurement;
	struct failure *failure;
	struct child_thread main_thread;
	struct workload_run *workloads;
	size_t nr_workloads;
	atomic_size_t nr_initialized;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	size_t nr_running;
	struct barrier_state *barriers;
	struct action_set *sets;
	struct measurer_set_output **action_outputs;
	size_t nr_action_outputs;
	struct notifier *notifier;
	pthread_mutex_t thread_lock;
	struct thread_measurers *thread_measurers;
};

/* Records err as a failure (of kind error) of the run; returns -1. */
int run_fail(struct run *run, const struct rot_error *err);

bool run_has_failed(const struct run *run);

/* The workload's part in the run, or NULL if it has none; by kernel likewise. */
struct workload_run *run_find_workload(struct run *run, const struct workload *workload);
struct workload_run *run_find_kernel(struct run *run, const struct kernel_base *kernel);

/* The thread of that id, or NULL. */
struct child_thread *run_find_thread(struct run *run, pid_t tid);

/* Takes over an output of an action. NULL is ignored. */
void run_add_output(struct run *run, struct measurer_set_output *output);

/* The rule list of the run. add: a rule of its measurement, unless it is there. From any thread. */
size_t run_nr_rules(struct run *run);
struct rule *run_rule_at(struct run *run, size_t i);
void run_add_rule(struct run *run, struct rule *rule);

/*
 * Performs one run of the description on the calling (main) thread and threads of its own: hooks of the configurators,
 * events, overall measurer set, workloads. Adds the outputs of all measurer sets to output: workloads in their order,
 * then those of actions, then the overall set.
 *
 * service: attends to the threads that kernels create, if the measurement has rules that need it.
 * own_tids: nr workloads of the description elements, receives the ids of the workloads' threads.
 * 0, or -1 and the failure recorded; no thread of the run is left in either case.
 */
int run_perform(const struct measurement *description, struct service *service, struct failure *failure,
		struct measurement_run_output *output, pid_t *own_tids);
