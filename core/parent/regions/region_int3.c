/* SPDX-License-Identifier: MIT */
/*
 * Regions observed by breakpoints in the code: they work wherever code can be written, in any number and without
 * privileges, and cost a stop of the thread for each hit, in which its counters are read. The breakpoints go the way of
 * the address space (image.h): nothing is to be done for threads and for processes that are forked.
 */
#include <stdlib.h>

#include "common/clock.h"
#include "memory.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/regions/regions.h"

struct int3 {
	struct regions *regions;
};

static void *
int3_open(struct regions *regions, struct rot_error *err)
{
	struct int3 *self = rot_calloc(1, sizeof(*self));

	(void)err;
	self->regions = regions;
	return self;
}

/* A thread of a process that is not followed only shares the code. */
static void
int3_hit(void *context, const struct breakpoint_hit *breakpoint)
{
	struct region_thread *thread = breakpoint->thread->in_regions;
	struct region_hit hit = {.stack_pointer = breakpoint->registers->rsp,
				 .flags = breakpoint->registers->eflags,
				 .rcx = breakpoint->registers->rcx};
	struct perf_counts counts;
	struct rot_error err;

	(void)context;
	if (!thread || !thread->image)
		return;
	if (thread->counts && thread->counts->group.nr > 0 &&
	    perf_group_read(&thread->counts->group, &counts, &err) == 0)
		hit.counts = &counts;
	hit.time_ns = clock_raw_ns();
	regions_hit_address(thread, &region_int3, breakpoint->address, &hit);
}

static void
int3_refused(void *context, uint64_t address, const struct rot_error *err)
{
	struct int3 *self = context;

	regions_warn(self->regions, "a region is not observed any more at 0x%llx: %s", (unsigned long long)address,
		     err->text);
}

static struct breakpoint_user
user_of(void *context)
{
	return (struct breakpoint_user){.hit = int3_hit, .refused = int3_refused, .context = context};
}

static void
int3_lift(void *context, struct region_thread *witness, const struct region_point *point)
{
	breakpoint_lift(witness->thread->image, point->address, user_of(context));
}

static int
int3_install(void *context, struct region_image *image, struct region_thread *witness,
	     struct region_point *const *points, size_t nr, struct rot_error *err)
{
	size_t i = 0;

	(void)image;
	while (i < nr && breakpoint_set(witness->thread, points[i]->address, user_of(context), err) == 0)
		i++;
	if (i == nr)
		return 0;
	while (i > 0)
		int3_lift(context, witness, points[--i]);
	return -1;
}

const struct region_backend region_int3 = {
	.name = "int3", .number = 2, .open = int3_open, .install = int3_install, .lift = int3_lift, .close = free};
