/* SPDX-License-Identifier: MIT */
#include "child/thread.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static _Thread_local struct child_thread *volatile current;

void
child_thread_init(struct child_thread *thread, const struct workload *workload)
{
	*thread = (struct child_thread){.workload = workload};
	pthread_mutex_init(&thread->lock, NULL);
}

void
child_thread_clear(struct child_thread *thread)
{
	pthread_mutex_destroy(&thread->lock);
	free(thread->queue);
	thread->queue = NULL;
	thread->nr_queued = 0;
}

void
child_thread_attach(struct child_thread *thread)
{
	thread->tid = gettid();
	current = thread;
}

void
child_thread_detach(void)
{
	current = NULL;
}

struct child_thread *
child_thread_current(void)
{
	return current;
}

bool
child_thread_queue(struct child_thread *thread, struct action_base *action)
{
	bool is_queued;

	pthread_mutex_lock(&thread->lock);
	is_queued = !thread->is_over;
	if (is_queued)
		rot_add(thread->queue, thread->nr_queued) = action;
	pthread_mutex_unlock(&thread->lock);
	return is_queued;
}

struct action_base *
child_thread_take(struct child_thread *thread, bool end)
{
	struct action_base *action = NULL;

	pthread_mutex_lock(&thread->lock);
	if (thread->nr_queued > 0) {
		action = thread->queue[0];
		thread->nr_queued--;
		memmove(thread->queue, thread->queue + 1, thread->nr_queued * sizeof(*thread->queue));
	} else if (end) {
		thread->is_over = true;
	}
	pthread_mutex_unlock(&thread->lock);
	return action;
}

int
child_thread_pin(int cpu, struct rot_error *err)
{
	size_t size = CPU_ALLOC_SIZE(cpu < CPU_SETSIZE ? CPU_SETSIZE : cpu + 1);
	autofree cpu_set_t *set = rot_calloc(1, size);
	int rc = 0;

	CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0) {
		rc = rot_error_set(err, errno, "cannot pin a thread to CPU %d", cpu);
		rot_error_hint(err,
			       "'taskset -cp $$' shows the CPUs that may be used; /sys/devices/system/cpu/online those "
			       "that are on");
	}
	return rc;
}
