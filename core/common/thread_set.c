/* SPDX-License-Identifier: MIT */
/* See thread_set.h: one row for each class of measurers. */
#include "common/thread_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/counting.h"
#include "entities.h"
#include "memory.h"

/* A measurer of a plan. */
struct planned {
	const struct measurer_base *description;
	const struct work_type *type;
	struct counting counting; /* of perf events */
};

struct set_plan {
	const struct measurer_set *set;
	struct planned *measurers; /* in the order of their start: validation, additional, main */
	size_t nr, nr_validation, nr_additional;
};

/* A measurer at work. */
struct set_work {
	const struct planned *planned;
	struct counts counts;      /* of perf events                                 */
	struct perf_counts before; /* likewise, as read at the start                 */
	struct counts sum;         /* between starts and stops                       */
	uint64_t start, time;      /* of clocks: the last start; between starts and stops */
	uint64_t first_start;
	int error; /* errno of a reading that failed */
};

struct thread_set {
	const struct set_plan *plan;
	pid_t tid;
	bool is_started;
	bool has_sum;           /* started and stopped since it was read */
	struct set_work *works; /* as the measurers of the plan */
};

struct work_type {
	const struct rot_class *class;
	bool counts; /* has counters on the thread */
	void (*start)(struct set_work *work);
	void (*stop)(struct set_work *work);
	void *(*output)(const struct set_work *work);
};

/* ---- perf events ---- */

/* All pieces together. */
static void
read_counts(struct set_work *work, struct perf_counts *counts)
{
	struct perf_counts piece = {0};

	*counts = work->counts.sum;
	if (work->counts.group.nr == 0)
		return;
	if (perf_group_read(&work->counts.group, &piece, NULL) < 0) {
		work->error = errno ? errno : EIO;
		return;
	}
	counts->enabled_ns += piece.enabled_ns;
	counts->running_ns += piece.running_ns;
	for (size_t i = 0; i < work->counts.group.nr; i++)
		counts->values[i] += piece.values[i];
}

static void
start_events(struct set_work *work)
{
	read_counts(work, &work->before);
	if (work->counts.group.nr > 0 && !work->error)
		work->error = perf_group_resume(&work->counts.group);
}

static void
stop_events(struct set_work *work)
{
	struct perf_counts now, *sum = &work->sum.sum;

	if (work->counts.group.nr > 0 && !work->error)
		work->error = perf_group_stop(&work->counts.group);
	read_counts(work, &now);
	sum->enabled_ns += now.enabled_ns - work->before.enabled_ns;
	sum->running_ns += now.running_ns - work->before.running_ns;
	for (size_t i = 0; i < PERF_MAX_EVENTS; i++)
		sum->values[i] += now.values[i] - work->before.values[i];
}

static void *
output_events(const struct set_work *work)
{
	return counts_output(&work->sum, &work->planned->counting);
}

/* ---- clocks ---- */

static void
start_tsc(struct set_work *work)
{
	work->start = tsc_start();
}

static void
stop_tsc(struct set_work *work)
{
	work->time += tsc_stop() - work->start;
}

static void *
output_tsc(const struct set_work *work)
{
	struct tsc_measurer_output *output = tsc_measurer_output_new();

	output->tics = work->time;
	return output;
}

static void
start_time(struct set_work *work)
{
	work->start = clock_raw_ns();
	if (work->first_start == 0)
		work->first_start = work->start;
}

static void
stop_time(struct set_work *work)
{
	work->time += clock_raw_ns() - work->start;
}

static void *
output_time(const struct set_work *work)
{
	struct execution_time_measurer_output *output = execution_time_measurer_output_new();

	output->nano_seconds = work->time;
	output->start_time = work->first_start;
	return output;
}

static const struct work_type types[] = {
	{&perf_event_measurer_class, true, start_events, stop_events, output_events},
	{&tsc_measurer_class, false, start_tsc, stop_tsc, output_tsc},
	{&execution_time_measurer_class, false, start_time, stop_time, output_time},
};

/* ---- plans ---- */

static int
plan_measurer(struct set_plan *plan, const struct measurer_base *description, struct rot_error *err)
{
	struct planned *planned = &plan->measurers[plan->nr];

	planned->description = description;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rot_is_a(description, types[i].class))
			planned->type = &types[i];
	if (!planned->type)
		return rot_error_set(err, 0, "a %s cannot measure a thread on its behalf",
				     ROT_ENTITY(description)->class->name);
	plan->nr++;
	if (!planned->type->counts)
		return 0;
	return counting_open(&planned->counting, (const struct perf_event_measurer *)description, err);
}

static int
plan_list(struct set_plan *plan, const struct rot_list *list, size_t *nr, struct rot_error *err)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct measurer_base *description = ((struct measurer_base **)list->items)[i];

		if (description && plan_measurer(plan, description, err) < 0)
			return -1;
		*nr += description != NULL;
	}
	return 0;
}

struct set_plan *
set_plan_new(const struct measurer_set *set, struct rot_error *err)
{
	struct set_plan *plan = rot_calloc(1, sizeof(*plan));

	plan->set = set;
	plan->measurers =
		rot_calloc(set->validation_measurers.nr + set->additional_measurers.nr + 1, sizeof(*plan->measurers));
	if (plan_list(plan, &set->validation_measurers, &plan->nr_validation, err) == 0 &&
	    plan_list(plan, &set->additional_measurers, &plan->nr_additional, err) == 0 &&
	    (!set->main_measurer || plan_measurer(plan, set->main_measurer, err) == 0))
		return plan;
	set_plan_delete(plan);
	return NULL;
}

void
set_plan_delete(struct set_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->nr; i++)
		counting_close(&plan->measurers[i].counting);
	free(plan->measurers);
	free(plan);
}

const struct measurer_set *
set_plan_set(const struct set_plan *plan)
{
	return plan->set;
}

/* ---- on a thread ---- */

void
thread_set_end(struct thread_set *set)
{
	for (size_t i = 0; i < set->plan->nr; i++)
		if (counts_end(&set->works[i].counts, NULL) < 0)
			set->works[i].error = EIO;
}

int
thread_set_reopen(struct thread_set *set, pid_t tid, struct rot_error *err)
{
	enum perf_begin begin = set->is_started ? PERF_BEGIN_NOW : PERF_BEGIN_LATER;

	thread_set_end(set);
	for (size_t i = 0; i < set->plan->nr; i++) {
		struct set_work *work = &set->works[i];

		if (work->planned->type->counts &&
		    counts_begin(&work->counts, &work->planned->counting, PERF_HEIRS_NONE, begin, tid, err) < 0)
			return -1;
	}
	return 0;
}

struct thread_set *
thread_set_new(const struct set_plan *plan, pid_t tid, struct rot_error *err)
{
	struct thread_set *set = rot_calloc(1, sizeof(*set));
	int error;

	set->plan = plan;
	set->tid = tid;
	set->works = rot_calloc(plan->nr + 1, sizeof(*set->works));
	for (size_t i = 0; i < plan->nr; i++)
		set->works[i].planned = &plan->measurers[i];
	if (thread_set_reopen(set, tid, err) == 0)
		return set;
	error = errno;
	thread_set_delete(set);
	errno = error;
	return NULL;
}

void
thread_set_delete(struct thread_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->plan->nr; i++)
		perf_group_close(&set->works[i].counts.group);
	free(set->works);
	free(set);
}

void
thread_set_start(struct thread_set *set)
{
	if (set->is_started)
		return;
	set->is_started = true;
	for (size_t i = 0; i < set->plan->nr; i++)
		set->works[i].planned->type->start(&set->works[i]);
}

void
thread_set_stop(struct thread_set *set)
{
	if (!set->is_started)
		return;
	for (size_t i = set->plan->nr; i-- > 0;)
		set->works[i].planned->type->stop(&set->works[i]);
	set->is_started = false;
	set->has_sum = true;
}

static void
forget_sums(struct thread_set *set)
{
	for (size_t i = 0; i < set->plan->nr; i++) {
		struct set_work *work = &set->works[i];

		work->sum = (struct counts){0};
		work->time = work->first_start = 0;
		work->error = 0;
	}
	set->has_sum = false;
}

static int
first_error(const struct thread_set *set)
{
	for (size_t i = 0; i < set->plan->nr; i++)
		if (set->works[i].error)
			return set->works[i].error;
	return 0;
}

int
thread_set_read(struct thread_set *set, struct measurer_set_output **result, struct rot_error *err)
{
	const struct set_plan *plan = set->plan;
	struct measurer_set_output *output;

	*result = NULL;
	if (!set->has_sum)
		return 0;
	if (first_error(set)) {
		rot_error_set(err, first_error(set), "cannot read the counters of measurer set %d", plan->set->id);
		forget_sums(set);
		return -1;
	}
	*result = output = measurer_set_output_new();
	output->set_id = plan->set->id;
	output->tid = set->tid;
	for (size_t i = 0; i < plan->nr; i++) {
		struct measurer_output_base *of_measurer = plan->measurers[i].type->output(&set->works[i]);

		if (of_measurer)
			of_measurer->measurer_id = plan->measurers[i].description->id;
		if (i < plan->nr_validation)
			measurer_set_output_validation_measurer_outputs_add(output, of_measurer);
		else if (i < plan->nr_validation + plan->nr_additional)
			measurer_set_output_additional_measurer_outputs_add(output, of_measurer);
		else
			output->main_measurer_output = of_measurer;
	}
	forget_sums(set);
	return 0;
}
