/* SPDX-License-Identifier: MIT */
/*
 * The measurer that has its region translated by the parent (common/step_counts.h). Begin and
 * end are traps, so nothing but a few instructions of this file is counted besides the region.
 */
#include "child/measurer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/notifier.h"
#include "common/proc.h"
#include "common/step_counts.h"
#include "memory.h"

/* plain: nothing counted yet. before: counts of region when it began. */
struct step_state {
	struct step_region plain, region;
	uint64_t before[STEP_NR_COUNTS];
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

static int
step_initialize(void *state, const void *description, struct rot_error *err)
{
	const struct step_measurer *measurer = description;
	struct step_state *own = state;
	uint64_t tracer;

	own->region = own->plain = step_region_of(measurer);
	if (step_counts_check(&measurer->base, err) < 0)
		return -1;
	if (proc_status(getpid(), "TracerPid", 10, &tracer) && tracer == (uint64_t)getppid())
		return 0;
	rot_error_set(err, 0, "cannot count by blocks: the parent of the core may not trace it");
	return rot_error_hint(err, PTRACE_HINT);
}

static void
step_start(void *state)
{
	struct step_state *own = state;

	if (!own->plain.goes_on)
		own->region = own->plain;
	memcpy(own->before, own->region.counts, sizeof(own->before));
	if (own->region.cut == STEP_WHOLE)
		steps_begin_region(&own->region);
}

static void
step_stop(void *state)
{
	struct step_state *own = state;

	steps_end_region(&own->region);
	own->is_over = true;
}

/* The counts before have what came of it. */
static bool
start_warming(void *state)
{
	const struct step_state *own = state;

	if (own->plain.goes_on)
		step_start(state);
	return own->plain.goes_on;
}

/* " (in main of ./a.out)", in fresh memory; "": nobody knows. */
static char *
place_text(uint64_t address)
{
	Dl_info info = {.dli_fname = NULL};

	if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname)
		return rot_strdup("");
	return rot_format(" (in %s%s%s)", info.dli_sname ? info.dli_sname : "", info.dli_sname ? " of " : "",
			  info.dli_fname);
}

static void
add_counts(struct perf_event_measurer_output *output, const struct perf_event_measurer *measurer,
	   const struct step_state *own)
{
	uint64_t counts[STEP_NR_COUNTS];

	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] = own->region.counts[i] - own->before[i];
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		const struct perf_event_definition *event = perf_event_measurer_events_at(measurer, i);
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, event->name);
		rot_string_set(&count->definition, event->definition);
		count->raw_count = step_counts_of_event(measurer, i, counts);
		count->time_enabled = count->time_running = 1;
		perf_event_measurer_output_event_counts_add(output, count);
	}
}

static void *
step_output(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	const struct step_state *own = state;
	struct step_measurer_output *result;

	if (!own->is_over) {
		rot_error_set(err, 0, "a region that was to be counted by blocks did not end");
		return NULL;
	}
	result = step_measurer_output_new();
	if (own->region.cut != STEP_WHOLE) {
		autofree char *text = step_cut_text(&own->region);

		rot_string_set(&result->cut, step_cut_name((enum step_cut)own->region.cut));
		rot_string_set(&result->cut_text, text);
	} else {
		add_counts(&result->base, measurer, own);
	}
	if (own->region.nr_unknown > 0) {
		autofree char *place = place_text(own->region.unknown_at);
		autofree char *text = rot_format("%s at 0x%llx%s", own->region.unknown_name,
						 (unsigned long long)own->region.unknown_at, place);

		result->unknown_instructions = own->region.nr_unknown;
		rot_string_set(&result->first_unknown, text);
	}
	return result;
}

const struct measurer_type step_measurer_type = {
	.class = &step_measurer_class,
	.state_size = sizeof(struct step_state),
	.failure_kind = FAILURE_REFUSED,
	.initialize = step_initialize,
	.start_warming = start_warming,
	.stop_warming = step_stop,
	.start = step_start,
	.stop = step_stop,
	.output = step_output,
};
