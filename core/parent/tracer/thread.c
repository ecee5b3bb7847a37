/* SPDX-License-Identifier: MIT */
/* See thread.h. A hash table with chains; tids of one program are neighbours, so they spread by themselves. */
#include "parent/tracer/thread.h"

#include <stdlib.h>

#include "memory.h"

/* Where the pointer to the thread of that tid is, or the end of its chain. */
static struct thread **
slot(struct thread **buckets, pid_t tid)
{
	struct thread **at = &buckets[(unsigned)tid % THREAD_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

struct thread *
threads_find(const struct threads *threads, pid_t tid)
{
	return *slot((struct thread **)threads->buckets, tid);
}

struct thread *
threads_add(struct threads *threads, pid_t pid, pid_t tid)
{
	struct thread *thread = rot_calloc(1, sizeof(*thread));

	thread->pid = pid;
	thread->tid = tid;
	*slot(threads->buckets, tid) = thread;
	threads->nr++;
	return thread;
}

void
threads_make_main(struct threads *threads, struct thread *thread)
{
	*slot(threads->buckets, thread->tid) = thread->next;
	thread->next = NULL;
	thread->tid = thread->pid;
	*slot(threads->buckets, thread->tid) = thread;
}

void
threads_each(struct threads *threads, void (*visit)(void *context, struct thread *thread), void *context)
{
	for (size_t i = 0; i < THREAD_BUCKETS; i++) {
		for (struct thread *thread = threads->buckets[i], *next; thread; thread = next) {
			next = thread->next;
			visit(context, thread);
		}
	}
}

void
threads_remove(struct threads *threads, pid_t tid)
{
	struct thread **at = slot(threads->buckets, tid);
	struct thread *thread = *at;

	if (!thread)
		return;
	*at = thread->next;
	free(thread);
	threads->nr--;
}

void
threads_clear(struct threads *threads)
{
	for (size_t i = 0; i < THREAD_BUCKETS; i++)
		while (threads->buckets[i])
			threads_remove(threads, threads->buckets[i]->tid);
}
