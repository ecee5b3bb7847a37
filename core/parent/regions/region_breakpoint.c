/* SPDX-License-Identifier: MIT */
/*
 * Regions observed by hardware execute breakpoints of perf: a thread has few of them, for all regions together, but
 * they need no file and change no code. An address is one event, whichever regions begin or end there.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/perf_event.h"
#include "memory.h"
#include "parent/regions/regions.h"
#include "parent/regions/sampling.h"
#include "parent/tracer/launch.h"

/* Debug registers DR0 to DR3. Source: Intel SDM vol. 3, 18.2; AMD64 APM vol. 2, 13.1. */
#define MAX_ADDRESSES 4

struct breakpoint {
	struct sampling sampling;
};

struct addresses {
	uint64_t at[MAX_ADDRESSES];
	size_t nr;
	bool is_full; /* there are more */
};

static void
add_address(struct addresses *addresses, uint64_t address)
{
	for (size_t i = 0; i < addresses->nr; i++)
		if (addresses->at[i] == address)
			return;
	if (addresses->nr < MAX_ADDRESSES)
		addresses->at[addresses->nr++] = address;
	else
		addresses->is_full = true;
}

static struct perf_event_attr
attr_of(uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_X, .bp_addr = address, .bp_len = sizeof(long)};

	sampling_prepare(&attr);
	return attr;
}

/* ---- events and samples ---- */

static bool
event_of(void *context, const struct region_point *point, struct perf_event_attr *attr, uint64_t *key)
{
	(void)context;
	*attr = attr_of(point->address);
	*key = point->address;
	return true;
}

static uint64_t
key_of(void *context, const struct sample *sample)
{
	(void)context;
	return sample->address;
}

static void
hit_of(void *context, struct region_thread *thread, const struct sample *sample, const struct region_hit *hit)
{
	(void)context;
	regions_hit_address(thread, &region_breakpoint, sample->address, hit);
}

static void
breakpoint_lose(void *context, struct region_thread *thread, uint64_t key, uint64_t nr)
{
	const struct region_image *image = thread->image;

	(void)context;
	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->address == key && image->points[i]->backend == &region_breakpoint)
			regions_lose(thread, image->points[i]->region, nr);
}

/* ---- threads ---- */

/* All at once, on the thread itself: others may use some. */
static int
try_all(const struct addresses *addresses, pid_t tid, struct rot_error *err)
{
	int fds[MAX_ADDRESSES], rc = 0, error;

	for (size_t i = 0; i < addresses->nr; i++) {
		struct perf_event_attr attr = attr_of(addresses->at[i]);

		attr.disabled = 1;
		fds[i] = rc < 0 ? -1 : (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[i] >= 0 || rc < 0)
			continue;
		error = errno;
		rc = rot_error_set(err, error, "cannot set hardware breakpoints");
		if (error == ENOSPC)
			rot_error_hint(err, "somebody else uses them: a debugger, or another rot");
		else
			perf_hint(err, error, PERF_PARANOID_USER, 1);
	}
	for (size_t i = 0; i < addresses->nr; i++)
		launch_close(&fds[i]);
	return rc;
}

static int
breakpoint_install(void *context, struct region_image *image, struct region_thread *witness,
		   struct region_point *const *points, size_t nr, struct rot_error *err)
{
	struct addresses addresses = {.nr = 0};

	(void)context;
	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->backend == &region_breakpoint)
			add_address(&addresses, image->points[i]->address);
	for (size_t i = 0; i < nr; i++)
		add_address(&addresses, points[i]->address);
	if (addresses.is_full)
		return rot_error_set(err, 0, "the processor has hardware breakpoints for %d addresses of all regions",
				     MAX_ADDRESSES);
	return try_all(&addresses, witness->thread->tid, err);
}

/* All that threads have open: the rest is opened anew. */
static void
breakpoint_lift_point(void *context, struct region_thread *witness, const struct region_point *point)
{
	(void)point;
	for (struct region_thread *thread = witness->image->threads; thread; thread = thread->next)
		sampling_leave(context, thread);
}

/* ---- do they work? ---- */

/* The breakpoint is at its first instruction, wherever the compiler begins it. */
void breakpoint_trial_place(void);

__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl breakpoint_trial_place\n.hidden breakpoint_trial_place\n.type breakpoint_trial_place, @function\n"
	"breakpoint_trial_place:\nnop\nret\n"
	".size breakpoint_trial_place, . - breakpoint_trial_place\n"
	".popsection");

/* How often a breakpoint was hit by one call; -1: it cannot be set, or read. */
static int64_t
count_one_call(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_X,
				       .bp_addr = (uintptr_t)breakpoint_trial_place,
				       .bp_len = sizeof(long),
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int64_t nr = 0;

	if (fd < 0)
		return -1;
	breakpoint_trial_place();
	if (read(fd, &nr, sizeof(nr)) != (ssize_t)sizeof(nr))
		nr = -1;
	close(fd);
	return nr;
}

/*
 * Tries whether hardware breakpoints of perf do what they should. Some hypervisors do not hand the debug registers
 * on to their guests: then the system sets breakpoints without an error, and nothing ever happens. So one is set at a
 * function of our own, which is called; once in a process. 0, or -1: they are accepted and count wrong. If none can be
 * set the answer is 0: why, the system says again when one is needed.
 */
static int
try_breakpoint(struct rot_error *err)
{
	static bool is_known;
	static int64_t nr;

	if (!is_known) {
		nr = count_one_call();
		is_known = nr >= 0;
	}
	if (nr < 0 || nr == 1)
		return 0;
	if (nr == 0)
		rot_error_set(err, 0, "breakpoints are accepted but do not fire here, as under some hypervisors");
	else
		rot_error_set(err, 0, "a breakpoint counts one hit as %lld here", (long long)nr);
	return rot_error_hint(err, "in a virtual machine its host would have to hand on the debug registers");
}

/* ---- a run ---- */

static void *
breakpoint_open(struct regions *regions, struct rot_error *err)
{
	struct breakpoint *self;

	if (try_breakpoint(err) < 0)
		return NULL;
	self = rot_calloc(1, sizeof(*self));
	self->sampling = (struct sampling){.regions = regions,
					   .backend = &region_breakpoint,
					   .context = self,
					   .event = event_of,
					   .key = key_of,
					   .hit = hit_of,
					   .lose = breakpoint_lose};
	return self;
}

static void
breakpoint_close(void *context)
{
	free(context);
}

const struct region_backend region_breakpoint = {
	.name = "breakpoint",
	.number = 1,
	.open = breakpoint_open,
	.install = breakpoint_install,
	.lift = breakpoint_lift_point,
	.join = sampling_join,
	.leave = sampling_leave,
	.drain = sampling_drain,
	.prune = sampling_prune,
	.close = breakpoint_close,
};
