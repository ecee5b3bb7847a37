/* SPDX-License-Identifier: MIT */
#include "child/notifier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "memory.h"

void
notifier_init(struct notifier *notifier, int fd)
{
	*notifier = (struct notifier){.fd = fd};
	pthread_mutex_init(&notifier->lock, NULL);
}

void
notifier_clear(struct notifier *notifier)
{
	pthread_mutex_destroy(&notifier->lock);
	free(notifier->threads);
	free(notifier->ended);
	*notifier = (struct notifier){.fd = -1};
}

int
notifier_send(struct notifier *notifier, enum wire_kind kind, int64_t argument, struct rot_error *err)
{
	struct wire_message message = {.kind = kind, .argument = argument};

	if (notifier->fd < 0 || wire_send(notifier->fd, &message, true) == 0)
		return 0;
	return rot_error_set(err, errno, "cannot tell the parent of the core how far the measurement is");
}

/* ---- the threads that are known; called with the lock held ---- */

static struct known_thread *
find_thread(struct notifier *notifier, pid_t tid)
{
	for (size_t i = notifier->nr_threads; i-- > 0;)
		if (notifier->threads[i].tid == tid)
			return &notifier->threads[i];
	return NULL;
}

static void
add_thread(struct notifier *notifier, pid_t tid)
{
	rot_add(notifier->threads, notifier->nr_threads) =
		(struct known_thread){.tid = tid, .index = notifier->nr_started++};
}

static void
take_out_thread(struct notifier *notifier, struct known_thread *thread)
{
	*thread = notifier->threads[--notifier->nr_threads];
}

static bool
thread_ended(struct notifier *notifier, pid_t tid)
{
	struct known_thread *thread = find_thread(notifier, tid);

	if (!thread)
		return false;
	if (!thread->is_covered)
		rot_add(notifier->ended, notifier->nr_ended) = tid;
	take_out_thread(notifier, thread);
	return true;
}

static bool
contains(const pid_t *tids, size_t nr, pid_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

static void
learn(struct notifier *notifier, const struct wire_message *message)
{
	if (message->kind == WIRE_THREAD_STARTED)
		add_thread(notifier, message->tid);
	else if (message->kind == WIRE_THREAD_EXITED)
		thread_ended(notifier, message->tid);
}

/* The news that have come. */
static void
drain_wire(struct notifier *notifier)
{
	struct wire_message message;

	while (notifier->fd >= 0 && !notifier->is_read_by_service && wire_receive(notifier->fd, &message, false) == 0)
		learn(notifier, &message);
}

bool
thread_is_alive(pid_t tid)
{
	char folder[64], fields[PROC_STAT_BYTES], state;

	snprintf(folder, sizeof(folder), "/proc/self/task/%d", (int)tid);
	return proc_stat_in(folder, fields) && sscanf(fields, " %c", &state) == 1 && state != 'Z' && state != 'X';
}

/* The parent's news of a thread's end may come a little later than the end itself. */
static void
forget_ended(struct notifier *notifier)
{
	drain_wire(notifier);
	for (size_t i = notifier->nr_threads; i-- > 0;)
		if (!thread_is_alive(notifier->threads[i].tid))
			take_out_thread(notifier, &notifier->threads[i]);
	notifier->nr_ended = 0;
}

/* ---- what others call ---- */

int
notifier_await(struct notifier *notifier, enum wire_kind kind, int64_t *argument, struct rot_error *err)
{
	struct wire_message message;

	while (wire_receive(notifier->fd, &message, true) == 0) {
		*argument = message.argument;
		if (message.kind == kind)
			return 0;
		pthread_mutex_lock(&notifier->lock);
		learn(notifier, &message);
		pthread_mutex_unlock(&notifier->lock);
	}
	return rot_error_set(err, errno, "the parent of the core is gone");
}

void
notifier_begin_run(struct notifier *notifier)
{
	pthread_mutex_lock(&notifier->lock);
	forget_ended(notifier);
	for (size_t i = 0; i < notifier->nr_threads; i++) {
		notifier->threads[i].is_covered = false;
		notifier->threads[i].index = -1;
	}
	notifier->nr_started = 0;
	pthread_mutex_unlock(&notifier->lock);
}

void
notifier_run_is_prepared(struct notifier *notifier)
{
	pthread_mutex_lock(&notifier->lock);
	forget_ended(notifier);
	pthread_mutex_unlock(&notifier->lock);
}

/* An own thread is not kept, so it does not matter when the news of its end comes. */
size_t
notifier_end_run(struct notifier *notifier, const pid_t *own_tids, size_t nr_own_tids)
{
	size_t nr = 0;

	pthread_mutex_lock(&notifier->lock);
	drain_wire(notifier);
	for (size_t i = notifier->nr_threads; i-- > 0;)
		if (contains(own_tids, nr_own_tids, notifier->threads[i].tid))
			take_out_thread(notifier, &notifier->threads[i]);
		else if (!notifier->threads[i].is_covered)
			nr++;
	for (size_t i = 0; i < notifier->nr_ended; i++)
		if (!contains(own_tids, nr_own_tids, notifier->ended[i]))
			nr++;
	pthread_mutex_unlock(&notifier->lock);
	return nr;
}

void
notifier_thread_started(struct notifier *notifier, pid_t tid)
{
	pthread_mutex_lock(&notifier->lock);
	add_thread(notifier, tid);
	pthread_mutex_unlock(&notifier->lock);
}

bool
notifier_thread_exited(struct notifier *notifier, pid_t tid)
{
	bool was_known;

	pthread_mutex_lock(&notifier->lock);
	was_known = thread_ended(notifier, tid);
	pthread_mutex_unlock(&notifier->lock);
	return was_known;
}

int
notifier_index(struct notifier *notifier, pid_t tid)
{
	struct known_thread *thread;
	int index;

	pthread_mutex_lock(&notifier->lock);
	thread = find_thread(notifier, tid);
	index = thread ? thread->index : -1;
	pthread_mutex_unlock(&notifier->lock);
	return index;
}

void
notifier_cover(struct notifier *notifier, pid_t tid)
{
	struct known_thread *thread;

	pthread_mutex_lock(&notifier->lock);
	thread = find_thread(notifier, tid);
	if (thread)
		thread->is_covered = true;
	for (size_t i = notifier->nr_ended; !thread && i-- > 0;)
		if (notifier->ended[i] == tid)
			notifier->ended[i] = notifier->ended[--notifier->nr_ended];
	pthread_mutex_unlock(&notifier->lock);
}

pid_t *
notifier_tids(struct notifier *notifier, size_t *nr)
{
	pid_t *tids;

	pthread_mutex_lock(&notifier->lock);
	*nr = notifier->nr_threads;
	tids = rot_calloc(*nr + 1, sizeof(*tids));
	for (size_t i = 0; i < *nr; i++)
		tids[i] = notifier->threads[i].tid;
	pthread_mutex_unlock(&notifier->lock);
	return tids;
}
