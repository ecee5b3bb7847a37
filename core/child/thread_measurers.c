/* SPDX-License-Identifier: MIT */
/* See thread_measurers.h. All is done under one lock, whichever thread raises the event. */
#include "child/thread_measurers.h"

#include <stdlib.h>
#include <time.h>

#include "child/notifier.h"
#include "common/thread_set.h"
#include "memory.h"

/* How long a thread that cannot be measured may take to be gone, before it is a failure: it was ending. */
#define ENDING_MS 100

/* A copy of a measurer set on one thread. nr_open: as of its action, with the events of the thread itself. */
struct thread_copy {
	pid_t tid;
	unsigned nr_open;
	struct thread_set *set;
	struct thread_copy *next;
};

/* An action that was executed. nr_open: events of its start predicate that none of its stop predicate followed. */
struct thread_measurers {
	const struct create_measurer_on_thread_action *action;
	struct set_plan *plan;
	unsigned nr_open;
	struct thread_copy *copies;
	struct thread_measurers *next;
};

static int
fail(struct run *run, enum failure_kind kind, struct rot_error *err)
{
	rot_error_prefix(err, "CreateMeasurerOnThreadAction");
	return failure_record(run->failure, kind, err);
}

/* ---- copies ---- */

static void
copy_switch(struct thread_copy *copy)
{
	if (copy->nr_open > 0)
		thread_set_start(copy->set);
	else
		thread_set_stop(copy->set);
}

static void
copy_read(struct run *run, struct thread_copy *copy)
{
	struct measurer_set_output *output;
	struct rot_error error;

	if (thread_set_read(copy->set, &output, &error) < 0)
		fail(run, FAILURE_ERROR, &error);
	else
		run_add_output(run, output);
}

static void
copy_finish(struct run *run, struct thread_copy *copy)
{
	thread_set_stop(copy->set);
	copy_read(run, copy);
}

/* Takes the copy out at the place that leads to it. */
static void
copy_dispose(struct thread_copy **at)
{
	struct thread_copy *copy = *at;

	*at = copy->next;
	thread_set_delete(copy->set);
	free(copy);
}

static void
for_all(struct run *run, struct thread_measurers *own, void (*step)(struct run *, struct thread_copy *))
{
	for (struct thread_copy *copy = own->copies; copy; copy = copy->next)
		step(run, copy);
}

static void
switch_copies(struct thread_measurers *own, bool is_start)
{
	thread_set_count_open(&own->nr_open, is_start);
	for (struct thread_copy *copy = own->copies; copy; copy = copy->next) {
		thread_set_count_open(&copy->nr_open, is_start);
		copy_switch(copy);
	}
}

/* ---- making them ---- */

/* True if the thread has ended, or is about to. */
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
	struct thread_copy *copy;
	struct thread_set *set;
	struct rot_error error;

	for (copy = own->copies; copy; copy = copy->next)
		if (copy->tid == tid)
			return 0;
	set = thread_set_new(own->plan, tid, &error);
	if (!set && !is_ending(tid))
		return fail(run, FAILURE_REFUSED, &error);
	notifier_cover(run->notifier, tid);
	if (!set)
		return 0; /* there is nothing left to measure */
	copy = rot_calloc(1, sizeof(*copy));
	*copy = (struct thread_copy){.tid = tid, .nr_open = own->nr_open + start, .set = set, .next = own->copies};
	own->copies = copy;
	copy_switch(copy);
	return 0;
}

/* NULL and the failure recorded: an event of the set is not known. */
static struct thread_measurers *
find_or_add_measurers(struct run *run, const struct create_measurer_on_thread_action *action, const struct event *event)
{
	struct thread_measurers **at = &run->thread_measurers;
	struct rot_error error;
	struct set_plan *plan;

	while (*at && (*at)->action != action)
		at = &(*at)->next;
	if (*at)
		return *at;
	plan = set_plan_new(action->measurer_set, &error);
	if (!plan) {
		fail(run, FAILURE_REFUSED, &error);
		return NULL;
	}
	*at = rot_calloc(1, sizeof(**at));
	(*at)->action = action;
	(*at)->plan = plan;
	(*at)->nr_open = !action->start_predicate || (event && predicate_matches(action->start_predicate, event));
	return *at;
}

/* The action is there before the threads are asked for: one that starts meanwhile is met here, or by its event. */
int
thread_measurers_execute(struct run *run, const struct create_measurer_on_thread_action *action,
			 const struct event *event)
{
	struct thread_measurers *own;
	autofree pid_t *tids = NULL;
	size_t nr;
	int rc;

	pthread_mutex_lock(&run->thread_lock);
	own = find_or_add_measurers(run, action, event);
	rc = own ? 0 : -1;
	tids = notifier_tids(run->notifier, &nr);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = install_copy(run, own, tids[i], false);
	pthread_mutex_unlock(&run->thread_lock);
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
	if (predicate_matches(action->start_predicate, event))
		switch_copies(own, true);
	if (predicate_matches(action->stop_predicate, event))
		switch_copies(own, false);
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
		set_plan_delete(run->thread_measurers->plan);
		free(run->thread_measurers);
		run->thread_measurers = next;
	}
}
