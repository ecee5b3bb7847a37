/* SPDX-License-Identifier: MIT */
/* See thread_measurers.h. All is done under one lock, whichever thread raises the event. */
#include "child/thread_measurers.h"

#include <stdlib.h>
#include <time.h>

#include "child/notifier.h"
#include "memory.h"

/* How long a thread that cannot be measured may take to be gone, before it is a failure: it was ending. */
#define ENDING_MS 100

enum copy_state {
	COPY_READY,   /* nothing to be read  */
	COPY_STARTED, /* counts              */
	COPY_STOPPED, /* has counted         */
};

/* A copy of a measurer set on one thread. */
struct thread_copy {
	pid_t tid;
	enum copy_state state;
	struct set_state set;
	struct thread_copy *next;
};

/* An action that was executed. nr_open: events of its start predicate that none of its stop predicate followed. */
struct thread_measurers {
	const struct create_measurer_on_thread_action *action;
	unsigned nr_open;
	struct thread_copy *copies;
	struct thread_measurers *next;
};

/* ---- copies ---- */

static void
copy_start(struct run *run, struct thread_copy *copy)
{
	(void)run;
	if (copy->state != COPY_READY)
		return;
	set_start(&copy->set);
	copy->state = COPY_STARTED;
}

static void
copy_stop(struct run *run, struct thread_copy *copy)
{
	(void)run;
	if (copy->state != COPY_STARTED)
		return;
	set_stop(&copy->set);
	copy->state = COPY_STOPPED;
}

static void
copy_read(struct run *run, struct thread_copy *copy)
{
	if (copy->state != COPY_STOPPED)
		return;
	run_add_output(run, set_output(&copy->set, run->failure));
	copy->state = COPY_READY;
}

static void
copy_finish(struct run *run, struct thread_copy *copy)
{
	copy_stop(run, copy);
	copy_read(run, copy);
}

/* Takes the copy out at the place that leads to it. */
static void
copy_dispose(struct thread_copy **at)
{
	struct thread_copy *copy = *at;

	*at = copy->next;
	set_dispose(&copy->set);
	free(copy);
}

static void
for_all(struct run *run, struct thread_measurers *own, void (*step)(struct run *, struct thread_copy *))
{
	for (struct thread_copy *copy = own->copies; copy; copy = copy->next)
		step(run, copy);
}

/* ---- making them ---- */

/* Whether the thread has ended, or is about to. */
static bool
is_ending(pid_t tid)
{
	for (int ms = 0; ms < ENDING_MS; ms++) {
		if (!thread_is_alive(tid))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return false;
}

static int
install_copy(struct run *run, struct thread_measurers *own, pid_t tid, bool start)
{
	struct failure failure = FAILURE_NONE;
	struct thread_copy *copy;

	for (copy = own->copies; copy; copy = copy->next) {
		if (copy->tid == tid)
			return 0;
	}
	copy = rot_calloc(1, sizeof(*copy));
	copy->tid = tid;
	copy->next = own->copies;
	own->copies = copy;
	if (set_initialize(&copy->set, own->action->measurer_set, tid, &failure) < 0) {
		copy_dispose(&own->copies);
		if (is_ending(tid)) {
			notifier_cover(run->notifier, tid); /* there is nothing left to measure */
			return 0;
		}
		rot_error_prefix(&failure.error, "CreateMeasurerOnThreadAction");
		return failure_record(run->failure, failure.kind, &failure.error);
	}
	notifier_cover(run->notifier, tid);
	if (start || own->nr_open > 0)
		copy_start(run, copy);
	return 0;
}

static struct thread_measurers *
find_or_add_measurers(struct run *run, const struct create_measurer_on_thread_action *action, const struct event *event)
{
	struct thread_measurers **at = &run->thread_measurers;

	while (*at && (*at)->action != action)
		at = &(*at)->next;
	if (!*at) {
		*at = rot_calloc(1, sizeof(**at));
		(*at)->action = action;
		(*at)->nr_open =
			!action->start_predicate || (event && predicate_matches(action->start_predicate, event));
	}
	return *at;
}

/* The action is there before the threads are asked for: one that starts meanwhile is met here, or by its event. */
int
thread_measurers_execute(struct run *run, const struct create_measurer_on_thread_action *action,
			 const struct event *event)
{
	struct thread_measurers *own;
	pid_t *tids;
	size_t nr;
	int rc = 0;

	pthread_mutex_lock(&run->thread_lock);
	own = find_or_add_measurers(run, action, event);
	tids = notifier_tids(run->notifier, &nr);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = install_copy(run, own, tids[i], false);
	pthread_mutex_unlock(&run->thread_lock);
	free(tids);
	return rc;
}

/* ---- events ---- */

/* Events of a thread concern the copy on it alone, those of a thread of rot none. */
static int
answer_thread(struct run *run, struct thread_measurers *own, const struct child_thread *thread,
	      const struct event *event)
{
	if (!thread->is_foreign)
		return 0;
	if (event_is(event, EVENT_THREAD, "started"))
		return install_copy(run, own, thread->tid, predicate_matches(own->action->start_predicate, event));
	/* The thread has ended; what it counted can still be read. */
	for (struct thread_copy **at = &own->copies; *at; at = &(*at)->next) {
		if ((*at)->tid == thread->tid) {
			copy_finish(run, *at);
			copy_dispose(at);
			break;
		}
	}
	return 0;
}

static int
answer_event(struct run *run, struct thread_measurers *own, const struct child_thread *thread,
	     const struct event *event)
{
	const struct create_measurer_on_thread_action *action = own->action;

	if (event->kind == EVENT_THREAD)
		return answer_thread(run, own, thread, event);
	if (predicate_matches(action->start_predicate, event) && own->nr_open++ == 0)
		for_all(run, own, copy_start);
	if (predicate_matches(action->stop_predicate, event) && own->nr_open > 0 && --own->nr_open == 0)
		for_all(run, own, copy_stop);
	if (predicate_matches(action->read_predicate, event))
		for_all(run, own, action->stop_predicate ? copy_read : copy_finish);
	while (predicate_matches(action->dispose_predicate, event) && own->copies) {
		copy_finish(run, own->copies);
		copy_dispose(&own->copies);
	}
	return 0;
}

size_t
thread_measurers_count(struct run *run)
{
	size_t nr = 0;

	pthread_mutex_lock(&run->thread_lock);
	for (const struct thread_measurers *own = run->thread_measurers; own; own = own->next)
		nr++;
	pthread_mutex_unlock(&run->thread_lock);
	return nr;
}

int
thread_measurers_answer(struct run *run, size_t nr, const struct child_thread *thread, const struct event *event)
{
	struct thread_measurers *own;
	int rc = 0;

	if (nr == 0)
		return 0;
	pthread_mutex_lock(&run->thread_lock);
	own = run->thread_measurers;
	for (size_t i = 0; i < nr && rc == 0; i++, own = own->next)
		rc = answer_event(run, own, thread, event);
	pthread_mutex_unlock(&run->thread_lock);
	return rc;
}

/* ---- the end of the run ---- */

void
thread_measurers_finish(struct run *run)
{
	for (struct thread_measurers *own = run->thread_measurers; own; own = own->next)
		for_all(run, own, copy_finish);
}

void
thread_measurers_clear(struct run *run)
{
	while (run->thread_measurers) {
		struct thread_measurers *next = run->thread_measurers->next;

		while (run->thread_measurers->copies)
			copy_dispose(&run->thread_measurers->copies);
		free(run->thread_measurers);
		run->thread_measurers = next;
	}
}
