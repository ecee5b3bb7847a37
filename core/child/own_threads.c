/* SPDX-License-Identifier: MIT */
#include "child/own_threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "common/proc.h"

/*
 * A thread inherits the name of its creator, and has it until it runs. Any other mark would need the thread to run, or
 * its creator to have got its id, for which creators wait in different ways.
 */
static const char own_name[] = "rot-own-thread";
static char usual_name[16];

void
own_threads_begin(void)
{
	prctl(PR_GET_NAME, usual_name);
	prctl(PR_SET_NAME, own_name);
}

void
own_threads_end(void)
{
	prctl(PR_SET_NAME, usual_name);
}

void
own_thread_runs(void)
{
	prctl(PR_SET_NAME, "rot-workload");
}

static struct {
	pthread_mutex_t lock;
	pid_t tids[OWN_THREADS_MAX];
	size_t nr;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
own_threads_tell(pid_t tid)
{
	pthread_mutex_lock(&told.lock);
	if (told.nr < OWN_THREADS_MAX)
		told.tids[told.nr++] = tid;
	pthread_mutex_unlock(&told.lock);
}

size_t
own_threads_take(pid_t *tids, size_t max)
{
	size_t nr;

	pthread_mutex_lock(&told.lock);
	nr = told.nr < max ? told.nr : max;
	memcpy(tids, told.tids, nr * sizeof(*tids));
	told.nr = 0;
	pthread_mutex_unlock(&told.lock);
	return nr;
}

bool
own_threads_has(pid_t tid)
{
	char name[THREAD_NAME_BYTES];

	thread_read_name(tid, name);
	return strcmp(name, own_name) == 0;
}
