/* SPDX-License-Identifier: MIT */
/*
 * Regions observed by uprobe events of tracefs (tracepoints.h). Each region is one event, for all its places; places
 * are of files, so what was defined for one process serves others that execute the same. An event that is open all the
 * time keeps the kernel from taking the probes out and putting them in again, which takes tens of milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "parent/regions/regions.h"
#include "parent/regions/sampling.h"
#include "parent/regions/tracepoints.h"
#include "parent/tracer/launch.h"

/* An instruction, wherever it is mapped. */
struct spot {
	dev_t device;
	ino_t inode;
	const struct region_point *point; /* the first that was there */
};

/* An event, for one region. */
struct event {
	struct tracepoint tracepoint;
	size_t region;
	struct spot *spots;
	size_t nr_spots;
	int keeper; /* a perf event of it, disabled */
};

struct uprobe {
	struct sampling sampling;
	struct tracepoints tracepoints;
	struct event *events;
	size_t nr_events;
	size_t *event_of; /* a point, by its id; SIZE_MAX: none */
	size_t nr_points;
};

/* ---- samples ---- */

static const struct region_point *
point_of(const struct uprobe *self, const struct sample *sample)
{
	uint32_t id;

	if (sample->raw_bytes < TRACEPOINT_RAW_BYTES)
		return NULL;
	memcpy(&id, sample->raw + TRACEPOINT_ID_OFFSET, sizeof(id));
	return regions_point(self->sampling.regions, id);
}

static size_t
event_of(const struct uprobe *self, const struct region_point *point)
{
	return point && point->id < self->nr_points ? self->event_of[point->id] : SIZE_MAX;
}

static uint64_t
key_of(void *context, const struct sample *sample)
{
	const struct uprobe *self = context;
	size_t event = event_of(self, point_of(self, sample));

	return event == SIZE_MAX ? UINT64_MAX : event;
}

static void
hit_of(void *context, struct region_thread *thread, const struct sample *sample, const struct region_hit *hit)
{
	regions_hit(thread, point_of(context, sample), hit);
}

static void
lose(void *context, struct region_thread *thread, uint64_t key, uint64_t nr)
{
	const struct uprobe *self = context;

	regions_lose(thread, self->events[key].region, nr);
}

/* ---- events ---- */

static void
spots_close(int *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		launch_close(&files[i]);
	free(files);
}

/* The files of the points, open; NULL: not all are in files. */
static int *
spots_open(struct region_point *const *points, struct spot *spots, size_t nr, struct rot_error *err)
{
	int *files = rot_calloc(nr, sizeof(*files));

	for (size_t i = 0; i < nr; i++) {
		const struct region_point *point = points[i];
		struct stat status = {0};

		files[i] = point->file ? open(point->file, O_RDONLY | O_CLOEXEC) : -1;
		if (files[i] < 0 || fstat(files[i], &status) < 0) {
			if (point->file)
				rot_error_set(err, errno, "cannot open '%s'", point->file);
			else
				rot_error_set(err, 0, "%s is in no file", point->text);
			spots_close(files, i + 1);
			return NULL;
		}
		spots[i] = (struct spot){status.st_dev, status.st_ino, point};
	}
	return files;
}

static bool
is_same(const struct event *event, const struct event *other)
{
	if (event->region != other->region || event->nr_spots != other->nr_spots)
		return false;
	for (size_t i = 0; i < event->nr_spots; i++) {
		const struct spot *a = &event->spots[i], *b = &other->spots[i];

		if (a->device != b->device || a->inode != b->inode || a->point->file_offset != b->point->file_offset ||
		    a->point->begins != b->point->begins || a->point->ends != b->point->ends)
			return false;
	}
	return true;
}

/* SIZE_MAX: none. */
static size_t
find_same(const struct uprobe *self, const struct event *wanted)
{
	for (size_t i = 0; i < self->nr_events; i++) {
		if (is_same(&self->events[i], wanted))
			return i;
	}
	return SIZE_MAX;
}

static struct perf_event_attr
attr_of(const struct event *event)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = event->tracepoint.type};

	sampling_prepare(&attr);
	return attr;
}

/* Here the kernel puts the probes in, and looks at the instructions. */
static int
keep(struct event *event, pid_t tid, struct rot_error *err)
{
	struct perf_event_attr attr = attr_of(event);

	attr.disabled = 1;
	event->keeper = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event->keeper >= 0)
		return 0;
	rot_error_set(err, errno, "cannot put probes at the places of the region");
	if (errno == EACCES || errno == EPERM)
		return rot_error_hint(err, "it needs root, in a container also --cap-add=SYS_ADMIN,PERFMON");
	return rot_error_hint(err, "the kernel has no probes for some instructions: another backend has");
}

static int
define(struct uprobe *self, struct event *event, const int *files, pid_t tid, struct rot_error *err)
{
	struct tracepoint_probe *probes = rot_calloc(event->nr_spots, sizeof(*probes));
	int rc;

	for (size_t i = 0; i < event->nr_spots; i++) {
		const struct region_point *point = event->spots[i].point;

		probes[i] = (struct tracepoint_probe){files[i], point->file_offset, (uint32_t)point->id};
	}
	rc = tracepoints_define(&self->tracepoints, &event->tracepoint, probes, event->nr_spots, err);
	if (rc == 0) {
		rc = keep(event, tid, err);
		if (rc < 0)
			tracepoints_remove(&self->tracepoints, &event->tracepoint);
	}
	free(probes);
	return rc;
}

static void
assign(struct uprobe *self, struct region_point *const *points, size_t nr, size_t event)
{
	for (size_t i = 0; i < nr; i++) {
		size_t id = points[i]->id;

		if (id >= self->nr_points)
			self->event_of = rot_realloc(self->event_of, id + 1, sizeof(*self->event_of));
		for (; self->nr_points <= id; self->nr_points++)
			self->event_of[self->nr_points] = SIZE_MAX;
		self->event_of[id] = event;
	}
}

static int
install(void *context, struct region_image *image, struct region_thread *witness, struct region_point *const *points,
	size_t nr, struct rot_error *err)
{
	struct uprobe *self = context;
	struct event event = {.region = points[0]->region, .nr_spots = nr, .keeper = -1};
	int *files;
	size_t same;
	int rc = 0;

	(void)image;
	event.spots = rot_calloc(nr, sizeof(*event.spots));
	files = spots_open(points, event.spots, nr, err);
	same = files ? find_same(self, &event) : SIZE_MAX;
	if (!files) {
		rc = -1;
	} else if (same != SIZE_MAX) {
		assign(self, points, nr, same);
	} else {
		rc = define(self, &event, files, witness->thread->tid, err);
	}
	if (rc == 0 && same == SIZE_MAX) {
		self->events = rot_realloc(self->events, self->nr_events + 1, sizeof(*self->events));
		self->events[self->nr_events++] = event;
		assign(self, points, nr, self->nr_events - 1);
	} else {
		free(event.spots);
	}
	if (files)
		spots_close(files, nr);
	return rc;
}

static bool
needed(void *context, const struct region_point *point, struct perf_event_attr *attr, uint64_t *key)
{
	struct uprobe *self = context;
	size_t event = event_of(self, point);

	if (event == SIZE_MAX)
		return false;
	*attr = attr_of(&self->events[event]);
	*key = event;
	return true;
}

/* ---- a run ---- */

static void *
open_backend(struct regions *regions, struct rot_error *err)
{
	struct uprobe *self = rot_calloc(1, sizeof(*self));

	self->sampling = (struct sampling){.regions = regions,
					   .backend = &region_uprobe,
					   .context = self,
					   .event = needed,
					   .key = key_of,
					   .hit = hit_of,
					   .lose = lose};
	if (tracepoints_open(&self->tracepoints, err) == 0)
		return self;
	free(self);
	return NULL;
}

static void
close_backend(void *context)
{
	struct uprobe *self = context;

	for (size_t i = 0; i < self->nr_events; i++)
		launch_close(&self->events[i].keeper);
	for (size_t i = 0; i < self->nr_events; i++) {
		tracepoints_remove(&self->tracepoints, &self->events[i].tracepoint);
		free(self->events[i].spots);
	}
	tracepoints_close(&self->tracepoints);
	free(self->events);
	free(self->event_of);
	free(self);
}

const struct region_backend region_uprobe = {
	.name = "uprobe",
	.number = 0,
	.is_in_files = true,
	.open = open_backend,
	.install = install,
	.join = sampling_join,
	.leave = sampling_leave,
	.drain = sampling_drain,
	.close = close_backend,
};
