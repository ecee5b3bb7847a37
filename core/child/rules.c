/* SPDX-License-Identifier: MIT */
/* See rules.h. What events match is in events.c, what actions do in actions.c. */
#include "child/rules.h"

#include <string.h>

#include "child/actions.h"
#include "child/interruption.h"
#include "child/journal.h"
#include "child/thread_measurers.h"
#include "memory.h"

bool
measurement_needs_service(const struct measurement *measurement)
{
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(measurement, &nr);

	for (size_t i = 0; i < nr; i++)
		if (rot_is_a(parts[i], &create_measurer_on_thread_action_class))
			return true;
	return false;
}

static const char *const journal_texts[][4] = {
	[EVENT_RUN] = {"event run start", "event run stop"},
	[EVENT_WORKLOAD] = {"event workload start", "event workload kernelStart", "event workload kernelStop",
			    "event workload stop"},
	[EVENT_THREAD] = {"event thread started", "event thread exiting"},
};

static int
execute_queued(struct run *run, struct child_thread *thread, bool end)
{
	struct action_base *action;

	while (!run_has_failed(run) && (action = child_thread_take(thread, end)) != NULL)
		action_execute(run, thread, action);
	return run_has_failed(run) ? -1 : 0;
}

/* Or queues it to the thread that it names. */
static int
perform_action(struct run *run, struct child_thread *thread, struct action_base *action)
{
	struct child_thread *target = thread;
	struct rot_error error;

	if (action->workload) {
		struct workload_run *work = run_find_workload(run, action->workload);

		target = work ? &work->thread : NULL;
	} else if (action->tid >= 0) {
		target = run_find_thread(run, action->tid);
	}
	if (target == thread)
		return action_execute(run, thread, action);
	if (!target) {
		rot_error_set(&error, 0, "cannot execute a %s in thread %d: it is not a thread of this run",
			      ROT_ENTITY(action)->class->name, action->tid);
		return run_fail(run, &error);
	}
	if (!child_thread_queue(target, action)) {
		rot_error_set(&error, 0, "cannot execute a %s in thread %d: it has ended",
			      ROT_ENTITY(action)->class->name, (int)target->tid);
		return run_fail(run, &error);
	}
	if (action_is_executed_inside(action))
		interruption_ask(target);
	return 0;
}

int
event_raise(struct run *run, struct child_thread *thread, const struct event *event)
{
	size_t nr_thread_measurers = thread_measurers_count(run), nr = run_nr_rules(run);

	for (size_t i = 0; i < 4 && journal_texts[event->kind][i]; i++) {
		const char *text = journal_texts[event->kind][i];

		if (strcmp(strrchr(text, ' ') + 1, event->name) == 0)
			journal_add(text, -1);
	}
	thread->is_raising = true;
	thread->event = event;
	if (execute_queued(run, thread, false) == 0) {
		for (size_t i = 0; i < nr && !run_has_failed(run); i++) {
			struct rule *rule = run_rule_at(run, i);

			if (predicate_matches(rule->predicate, event) &&
			    (!thread->is_foreign || action_works_on_behalf(rule->action)))
				perform_action(run, thread, rule->action);
		}
		thread_measurers_answer(run, nr_thread_measurers, thread, event);
	}
	thread->event = NULL;
	thread->is_raising = false;
	interruption_catch_up();
	return run_has_failed(run) ? -1 : 0;
}

int
thread_end(struct run *run, struct child_thread *thread)
{
	thread->is_raising = true;
	return execute_queued(run, thread, true);
}
