/* SPDX-License-Identifier: MIT */
/*
 * The service thread: hears from the parent of threads that kernels and libraries make, and raises their events on
 * their behalf. It is there only if a measurement has rules that need it, measures nothing and is measured by nobody.
 *
 * During runs that need it, the parent holds each new thread until the service has dealt with it. The service never
 * waits for another thread, so that one that waits for a new thread to run cannot wait for ever.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "child/failure.h"
#include "child/notifier.h"

struct run;

/*
 * Zeroed but for notifier: there is none, and all functions but service_open do nothing.
 *
 * run_lock: held while events of a thread are raised; of run, whose events they are.
 * lock: of the rest.   nr_asked, nr_answered: questions to the parent.   answer: the last one.
 * is_holding: new threads wait for the service.
 */
struct service {
	struct notifier *notifier;
	pthread_t pthread;
	bool is_there;
	pthread_mutex_t run_lock;
	struct run *run;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	unsigned nr_asked, nr_answered;
	int64_t answer;
	bool is_holding, is_closing, is_parent_gone;
};

/* Starts the thread. 0, or -1 and the failure recorded: refused if there is no parent or it does not trace. */
int service_open(struct service *service, struct notifier *notifier, struct failure *failure);

/* Waits until all news that are on their way have been dealt with. From then on new threads are held, or not. */
int service_hold(struct service *service, bool hold, struct failure *failure);

/* From now on (NULL: no more) events of threads are the run's. */
void service_set_run(struct service *service, struct run *run);

void service_close(struct service *service);
