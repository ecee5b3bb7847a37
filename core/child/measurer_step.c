/* SPDX-License-Identifier: MIT */
/*
 * The measurer that has its region executed instruction by instruction by the parent (common/step_counts.h). Begin and
 * end are traps, so nothing but a few instructions of this file is counted besides the region.
 */
#include "child/measurer.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "child/notifier.h"
#include "child/steps.h"
#include "common/proc.h"
#include "common/step_counts.h"
#include "memory.h"

struct state {
	struct step_region region;
	bool is_over;
};

/* The parent knows the end as what lies STEP_END_OFFSET behind the begin. */
extern const char steps_begin[];
void steps_begin_region(struct step_region *region) __asm__("steps_begin");
void steps_end_region(struct step_region *region) __asm__("steps_end");
__asm__(".text\n"
	".balign 16\n"
	".globl steps_begin, steps_end\n"
	".hidden steps_begin, steps_end\n"
	".type steps_begin, @function\n"
	".type steps_end, @function\n"
	"steps_begin:\n"
	"int3\n"
	"ret\n"
	".size steps_begin, .-steps_begin\n"
	"steps_end:\n"
	"int3\n"
	"ret\n"
	".size steps_end, .-steps_end\n");

int64_t
steps_place(void)
{
	return (int64_t)(uintptr_t)steps_begin;
}

/* The traps would kill a process that nobody traces; whoever traces this one is the parent. */
static int
check_tracer(struct rot_error *err)
{
	uint64_t tracer;

	if (proc_status(getpid(), "TracerPid", 10, &tracer) && tracer == (uint64_t)getppid())
		return 0;
	rot_error_set(err, 0, "cannot count by steps: the parent of the core may not trace it");
	return rot_error_hint(err, PTRACE_HINT);
}

static int
initialize(void *state, const void *description, pid_t tid, struct rot_error *err)
{
	const struct step_measurer *measurer = description;
	struct state *own = state;

	(void)tid;
	own->region = step_region_of(measurer);
	return step_counts_check(&measurer->base, err) < 0 ? -1 : check_tracer(err);
}

static void
start(void *state)
{
	struct state *own = state;

	steps_begin_region(&own->region);
}

static void
stop(void *state)
{
	struct state *own = state;

	steps_end_region(&own->region);
	own->is_over = true;
}

static int
refuse_code(const struct state *own, struct rot_error *err)
{
	Dl_info info = {.dli_fname = NULL};

	dladdr((void *)(uintptr_t)own->region.cut_at, &info);
	rot_error_set(err, 0, "cannot step through a region: what the instruction at 0x%llx (%s%s%s) does is not known",
		      (unsigned long long)own->region.cut_at, info.dli_sname ? info.dli_sname : "",
		      info.dli_sname ? " in " : "", info.dli_fname ? info.dli_fname : "no file");
	return rot_error_hint(err, "measure without counting it: -counting=expected");
}

static int
check_region(const struct state *own, struct rot_error *err)
{
	if (!own->is_over)
		return rot_error_set(err, 0, "a region that was to be counted by steps did not end");
	if (!own->region.is_cut)
		return 0;
	if (own->region.counts[STEP_INSTRUCTIONS] < own->region.limit)
		return refuse_code(own, err);
	rot_error_set(err, 0, "a region that was to be counted by steps executes more than %llu instructions",
		      (unsigned long long)own->region.limit);
	return rot_error_hint(
		err, "measure less (a smaller size), allow more (-stepLimit), or do without (-counting=expected)");
}

static void *
output(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	const struct state *own = state;
	struct perf_event_measurer_output *result;

	if (check_region(own, err) < 0)
		return NULL;
	result = perf_event_measurer_output_new();
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		const struct perf_event_definition *event = perf_event_measurer_events_at(measurer, i);
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, event->name);
		rot_string_set(&count->definition, event->definition);
		count->raw_count = step_counts_of_event(measurer, i, own->region.counts);
		count->time_enabled = count->time_running = 1;
		perf_event_measurer_output_event_counts_add(result, count);
	}
	return result;
}

const struct measurer_type step_measurer_type = {
	.class = &step_measurer_class,
	.state_size = sizeof(struct state),
	.failure_kind = FAILURE_REFUSED,
	.output_failure_kind = FAILURE_REFUSED, /* other code could be stepped */
	.not_foreign = "the thread that starts it is the one that is executed step by step",
	.initialize = initialize,
	.start = start,
	.stop = stop,
	.output = output,
};
