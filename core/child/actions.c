/* SPDX-License-Identifier: MIT */
/* See actions.h: one row per class. */
#include "child/actions.h"

#include <stdlib.h>

#include "child/journal.h"
#include "child/kernels.h"
#include "child/spin.h"
#include "child/thread_measurers.h"
#include "child/workload.h"
#include "common/set_action.h"
#include "memory.h"

/* ---- kernels ---- */

static int
execute_stop_kernel(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct stop_kernel_action *own = action;

	(void)thread;
	(void)err;
	workload_stop_kernel(run_find_kernel(run, own->kernel));
	return 0;
}

static enum action_attempt
stop_kernel_inside(struct run *run, void *action)
{
	const struct stop_kernel_action *own = action;

	return workload_stop_kernel_inside(run_find_kernel(run, own->kernel));
}

static int
execute_flush_buffers(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct flush_kernel_buffers_action *own = action;

	(void)thread;
	return workload_flush_buffers(run_find_kernel(run, own->kernel), err);
}

static enum action_attempt
flush_buffers_inside(struct run *run, void *action)
{
	const struct flush_kernel_buffers_action *own = action;

	return workload_flush_buffers_inside(run_find_kernel(run, own->kernel));
}

/* ---- waiting; a run that has failed releases all who wait ---- */

static int
execute_wait_for_workload(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct wait_for_workload_action *own = action;
	struct workload_run *other = run_find_workload(run, own->wait_for_workload);
	struct spin spin = {0};

	if (&other->thread == thread && !other->has_kernel_stopped)
		return rot_error_set(err, 0, "workload %d would wait for itself", own->wait_for_workload->id);
	while (!other->has_kernel_stopped && !run_has_failed(run))
		spin_once(&spin);
	return 0;
}

static struct barrier_state *
barrier_of(struct run *run, const struct pressure_barrier *barrier)
{
	struct barrier_state *state;

	pthread_mutex_lock(&run->lock);
	for (state = run->barriers; state && state->barrier != barrier; state = state->next)
		;
	if (!state) {
		state = rot_calloc(1, sizeof(*state));
		state->barrier = barrier;
		state->next = run->barriers;
		run->barriers = state;
	}
	pthread_mutex_unlock(&run->lock);
	return state;
}

static int
execute_barrier(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct wait_for_pressure_barrier_action *own = action;
	struct barrier_state *state = barrier_of(run, own->barrier);
	struct spin spin = {0};

	(void)thread;
	(void)err;
	atomic_fetch_add(&state->pressure, own->pressure);
	while (state->pressure < own->barrier->threshold && !run_has_failed(run))
		spin_once(&spin);
	return 0;
}

/* ---- measurer sets ---- */

/* The link to the set's state (so that it can be taken out), or to NULL. Called with the lock held. */
static struct action_set **
find_set(struct run *run, const struct measurer_set *set)
{
	struct action_set **at = &run->sets;

	while (*at && (*at)->set != set)
		at = &(*at)->next;
	return at;
}

/* The state of an initialized set; take: out of the run. NULL and err if there is none. */
static struct action_set *
get_set(struct run *run, const struct set_action *action, bool take, struct rot_error *err)
{
	struct action_set **at, *found;

	pthread_mutex_lock(&run->lock);
	at = find_set(run, action->measurer_set);
	found = *at && (*at)->life != SET_IN_MAKING ? *at : NULL;
	if (found && take)
		*at = found->next;
	pthread_mutex_unlock(&run->lock);
	if (!found)
		rot_error_set(err, 0, "measurer set %d is not initialized", action->measurer_set->id);
	return found;
}

static int
execute_initialize_set(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct set_action *own = action;
	struct action_set *added = rot_calloc(1, sizeof(*added)), *present;

	(void)thread;
	added->set = own->measurer_set;
	pthread_mutex_lock(&run->lock);
	present = *find_set(run, own->measurer_set);
	if (!present) {
		added->next = run->sets;
		run->sets = added;
	}
	pthread_mutex_unlock(&run->lock);
	if (present) {
		free(added);
		return rot_error_set(err, 0, "measurer set %d is initialized already", own->measurer_set->id);
	}
	if (set_initialize(&added->state, own->measurer_set, run->failure) < 0)
		return -1;
	added->life = SET_READY;
	return 0;
}

static void
start_set(struct action_set *set)
{
	set_start(&set->state);
	set->life = SET_STARTED;
}

/* A measurer set that was never started has no beginning to measure from. */
static void
stop_set(struct action_set *set)
{
	if (set->life == SET_READY)
		return;
	set_stop(&set->state);
	set->life = SET_MEASURED;
}

static int
execute_start_set(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	struct action_set *set = get_set(run, action, false, err);

	(void)thread;
	if (!set)
		return -1;
	start_set(set);
	return 0;
}

static int
execute_stop_set(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	struct action_set *set = get_set(run, action, false, err);

	(void)thread;
	if (!set)
		return -1;
	stop_set(set);
	return 0;
}

/* The lock is held all the time, so that nobody disposes the set meanwhile. */
static enum action_attempt
switch_set_inside(struct run *run, const struct set_action *action, void (*perform)(struct action_set *set))
{
	struct action_set *set;
	enum action_attempt attempt = ATTEMPT_IMPOSSIBLE;

	if (pthread_mutex_trylock(&run->lock) != 0)
		return ATTEMPT_BUSY;
	set = *find_set(run, action->measurer_set);
	if (set && set->life == SET_IN_MAKING) {
		attempt = ATTEMPT_BUSY;
	} else if (set && set_is_signal_safe(&set->state)) {
		perform(set);
		attempt = ATTEMPT_DONE;
	}
	pthread_mutex_unlock(&run->lock);
	return attempt;
}

static enum action_attempt
start_set_inside(struct run *run, void *action)
{
	return switch_set_inside(run, action, start_set);
}

static enum action_attempt
stop_set_inside(struct run *run, void *action)
{
	return switch_set_inside(run, action, stop_set);
}

static int
execute_read_set(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	struct action_set *set = get_set(run, action, false, err);

	(void)thread;
	if (!set)
		return -1;
	if (set->life == SET_STARTED)
		return rot_error_set(err, 0, "measurer set %d was started and not stopped", set->set->id);
	if (set->life == SET_MEASURED)
		run_add_output(run, set_output(&set->state, run->failure));
	return 0;
}

static int
execute_dispose_set(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	struct action_set *set = get_set(run, action, true, err);

	(void)thread;
	if (!set)
		return -1;
	set_dispose(&set->state);
	free(set);
	return 0;
}

/* ---- measurers on other threads ---- */

static int
execute_create(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	(void)err;
	return thread_measurers_execute(run, action, thread->event);
}

/* ---- rules ---- */

static int
execute_add_rule(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct add_rule_action *own = action;

	(void)thread;
	(void)err;
	run_add_rule(run, own->rule);
	return 0;
}

/* ---- actions on actions ---- */

static int
execute_measure(struct run *run, struct child_thread *thread, void *action, struct rot_error *err)
{
	const struct measure_action_execution *own = action;
	struct set_state set;
	int rc;

	(void)err;
	rc = set_initialize(&set, own->measurer_set, run->failure);
	if (rc == 0) {
		set_start(&set);
		rc = action_execute(run, thread, own->action);
		set_stop(&set);
	}
	if (rc == 0)
		run_add_output(run, set_output(&set, run->failure));
	set_dispose(&set);
	return rc;
}

/* ---- the table ---- */

/*
 * execute: -1 with err set, or with the failure recorded already.
 * execute_inside: the same in a thread that is interrupted, see action_execute_inside; NULL: not possible, as it
 * allocates memory, waits, or makes and deletes what others use.
 * works_on_behalf: does not depend on the thread that executes it, and waits for nothing.
 */
static const struct action_type {
	const struct rot_class *class;
	const char *journal_text;
	int (*execute)(struct run *run, struct child_thread *thread, void *action, struct rot_error *err);
	enum action_attempt (*execute_inside)(struct run *run, void *action);
	bool works_on_behalf;
} types[] = {
	{&stop_kernel_action_class, "action StopKernel", execute_stop_kernel, stop_kernel_inside, true},
	{&flush_kernel_buffers_action_class, "action FlushKernelBuffers", execute_flush_buffers, flush_buffers_inside,
	 true},
	{&wait_for_workload_action_class, "action WaitForWorkload", execute_wait_for_workload, NULL, false},
	{&wait_for_pressure_barrier_action_class, "action WaitForPressureBarrier", execute_barrier, NULL, false},
	{&initialize_measurer_set_action_class, "action InitializeMeasurerSet", execute_initialize_set, NULL, false},
	{&start_measurer_set_action_class, "action StartMeasurerSet", execute_start_set, start_set_inside, false},
	{&stop_measurer_set_action_class, "action StopMeasurerSet", execute_stop_set, stop_set_inside, false},
	{&read_measurer_set_action_class, "action ReadMeasurerSet", execute_read_set, NULL, false},
	{&dispose_measurer_set_action_class, "action DisposeMeasurerSet", execute_dispose_set, NULL, false},
	{&add_rule_action_class, "action AddRule", execute_add_rule, NULL, true},
	{&measure_action_execution_class, "action MeasureActionExecution", execute_measure, NULL, false},
	{&create_measurer_on_thread_action_class, "action CreateMeasurerOnThread", execute_create, NULL, true},
};

static const struct action_type *
action_type_of(const struct action_base *action)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rot_is_a(action, types[i].class))
			return &types[i];
	return NULL;
}

int
action_execute(struct run *run, struct child_thread *thread, struct action_base *action)
{
	const struct action_type *type = action_type_of(action);
	struct rot_error error = {0};

	journal_add(type->journal_text, -1);
	if (type->execute(run, thread, action, &error) == 0)
		return 0;
	rot_error_prefix(&error, "%s", ROT_ENTITY(action)->class->name);
	return run_fail(run, &error);
}

enum action_attempt
action_execute_inside(struct run *run, struct action_base *action)
{
	const struct action_type *type = action_type_of(action);
	enum action_attempt attempt = ATTEMPT_IMPOSSIBLE;

	if (type->execute_inside && !run_has_failed(run))
		attempt = type->execute_inside(run, action);
	if (attempt == ATTEMPT_DONE) {
		journal_add("interrupted", -1);
		journal_add(type->journal_text, -1);
	}
	return attempt;
}

bool
action_is_executed_inside(const struct action_base *action)
{
	const struct action_type *type = action_type_of(action);

	return type->execute_inside;
}

bool
action_works_on_behalf(const struct action_base *action)
{
	return action_type_of(action)->works_on_behalf;
}
