/* SPDX-License-Identifier: MIT */
/* See region_steps.h. */
#include "parent/regions/region_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/step_counts.h"
#include "memory.h"
#include "parent/stepping/stepper.h"
#include "parent/symbols/objects.h"

/*
 * nr_unknown, nr_gaps: of threads that have ended. first_unknown: what it is, and where, as "xsaveopt at 0x1139 of
 * ./a.out"; "": there was none.
 */
struct region_steps {
	const struct step_measurer *measurer;
	struct step_region region;
	struct stepper *stepper;
	struct rot_error failure;
	uint64_t nr_unknown, nr_gaps;
	char first_unknown[256];
};

struct region_steps *
region_steps_new(const struct step_measurer *measurer, struct tracer *tracer)
{
	struct region_steps *self;

	if (!measurer)
		return NULL;
	self = rot_calloc(1, sizeof(*self));
	self->measurer = measurer;
	self->region = step_region_of(measurer);
	self->stepper = stepper_new(tracer);
	return self;
}

void
region_steps_delete(struct region_steps *self)
{
	if (!self)
		return;
	stepper_delete(self->stepper);
	free(self);
}

bool
region_steps_read(const struct region_steps *self, const struct thread *thread, uint64_t time_ns,
		  struct perf_counts *counts)
{
	uint64_t totals[STEP_NR_COUNTS];

	if (self->failure.text[0])
		return false;
	stepper_counts(thread, totals);
	*counts = (struct perf_counts){.enabled_ns = time_ns, .running_ns = time_ns};
	for (size_t i = 0; i < perf_event_measurer_nr_events(&self->measurer->base); i++)
		counts->values[i] = step_counts_of_event(&self->measurer->base, i, totals);
	return true;
}

/* ---- what is not counted ---- */

/* "0x1139 of ./a.out", as in the file; the thread is stopped. Fresh memory. */
static char *
place_text(const struct thread *thread, uint64_t address)
{
	struct objects objects = {0};
	struct rot_error err;
	char *text = NULL;

	if (objects_read(thread->tid, &objects, &err) < 0)
		objects.nr_objects = 0;
	for (size_t i = 0; i < objects.nr_objects && !text; i++) {
		const struct object *object = &objects.objects[i];

		if (address >= object->start && address < object->end)
			text = rot_format("0x%llx of %s", (unsigned long long)(address - object->bias), object->path);
	}
	objects_clear(&objects);
	return text ? text : rot_format("0x%llx", (unsigned long long)address);
}

/* It was not followed to its end. */
static void
on_over(void *context, const struct step_end *end, struct thread *thread, const struct user_regs_struct *registers,
	const struct step_region *region)
{
	struct region_steps *self = context;
	char *place = place_text(thread, region->cut_at), *where = rot_format(" (%s)", place);
	char *text = step_cut_text(region, where);

	(void)end;
	(void)registers;
	rot_error_set(&self->failure, 0, "regions cannot be counted by steps: thread %d %s%s", (int)thread->tid, text,
		      region->cut == STEP_CUT_LIMIT
			      ? " in them: measure fewer hits (NAME#FIRST-LAST), or raise -stepLimit"
			      : "");
	free(place);
	free(where);
	free(text);
}

static void
keep_unknown(struct region_steps *self, const struct step_region *region, const char *place)
{
	if (!self->first_unknown[0])
		snprintf(self->first_unknown, sizeof(self->first_unknown), "%s at %s", region->unknown_name, place);
}

/* While the thread is stopped, and what is mapped in its process can be read. */
static void
note_unknown(struct region_steps *self, const struct thread *thread)
{
	const struct step_region *region = stepper_region(thread);
	char *place;

	if (!region || region->nr_unknown == 0 || self->first_unknown[0])
		return;
	place = place_text(thread, region->unknown_at);
	keep_unknown(self, region, place);
	free(place);
}

static void
add_doubts(struct region_steps *self, const struct thread *thread)
{
	const struct step_region *region = stepper_region(thread);
	char place[32];

	if (!region)
		return;
	self->nr_unknown += region->nr_unknown;
	self->nr_gaps += region->nr_gaps;
	snprintf(place, sizeof(place), "0x%llx", (unsigned long long)region->unknown_at);
	if (region->nr_unknown > 0)
		keep_unknown(self, region, place);
}

char *
region_steps_doubts(const struct region_steps *self)
{
	char *unknown, *text;

	if (!self || (self->nr_unknown == 0 && self->nr_gaps == 0))
		return NULL;
	unknown = self->nr_unknown == 0 ? rot_strdup("")
					: rot_format(" of %llu instructions it is not known what they do (the first: "
						     "%s), so they are counted as instructions alone;",
						     (unsigned long long)self->nr_unknown, self->first_unknown);
	text = self->nr_gaps == 0
		       ? rot_format("regions, counted by steps:%.*s", (int)strlen(unknown) - 1, unknown)
		       : rot_format("regions, counted by steps:%s threads came out of sight %llu times, and what they "
				    "did meanwhile is not counted",
				    unknown, (unsigned long long)self->nr_gaps);
	free(unknown);
	return text;
}

/* ---- threads ---- */

enum tracer_answer
region_steps_stopped(struct region_steps *self, const struct tracer_stop *stop)
{
	return self ? stepper_stopped(self->stepper, stop) : TRACER_DELIVER;
}

enum tracer_answer
region_steps_follow(struct region_steps *self, struct thread *thread, bool is_inside)
{
	const struct step_end end = {.over = on_over, .context = self};

	if (!self || self->failure.text[0])
		return TRACER_RESUME;
	note_unknown(self, thread);
	if (!is_inside)
		stepper_pause(self->stepper, thread);
	else if (stepper_has(thread))
		return stepper_go_on(self->stepper, thread);
	else
		return stepper_begin(self->stepper, thread, &self->region, end);
	return TRACER_RESUME;
}

void
region_steps_started(struct region_steps *self, struct thread *thread)
{
	if (self)
		stepper_started(self->stepper, thread);
}

bool
region_steps_may_go(struct region_steps *self, struct thread *thread)
{
	return !self || stepper_may_go(self->stepper, thread);
}

void
region_steps_exited(struct region_steps *self, struct thread *thread)
{
	if (!self)
		return;
	add_doubts(self, thread);
	stepper_exited(self->stepper, thread);
}

void
region_steps_executed(struct region_steps *self, struct thread *thread)
{
	if (!self)
		return;
	add_doubts(self, thread);
	stepper_executed(self->stepper, thread);
}

void
region_steps_stop(struct region_steps *self)
{
	if (self)
		stepper_stop(self->stepper);
}

enum tracer_answer
region_steps_leaving(struct region_steps *self, const struct tracer_stop *stop)
{
	return self ? stepper_leaving(self->stepper, stop) : TRACER_DELIVER;
}

void
region_steps_code_changed(struct region_steps *self)
{
	if (self)
		stepper_forget_code(self->stepper);
}

const char *
region_steps_failure(const struct region_steps *self)
{
	return self ? self->failure.text : "";
}
