/* SPDX-License-Identifier: MIT */
/*
 * Regions observed by uprobe events of tracefs. Each region is one event, for all its places; places
 * are of files, so what was defined for one process serves others that execute the same. An event that is open all the
 * time keeps the kernel from taking the probes out and putting them in again, which takes tens of milliseconds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "memory.h"
#include "parent/regions/regions.h"
#include "parent/regions/sampling.h"
#include "parent/tracer/launch.h"

/* ---- uprobe events of tracefs ---- */

/*
 * Probes at instructions of files, defined in tracefs as uprobe events of a group that carries the number of this
 * process. Nothing is mounted where others could see it. Linux (6.18) crashes when a probe is added to an event that is
 * in use, and its tracing hangs from then on: no name is ever used twice.
 */

/* Closed: {.folder = -1, .events = -1}. */
struct tracepoints {
	int folder; /* of tracefs        */
	int events; /* its uprobe_events */
};

#define TRACEPOINTS_CLOSED ((struct tracepoints){.folder = -1, .events = -1})

/* An instruction at an offset in an open file; id is in the samples. */
struct tracepoint_probe {
	int file;
	uint64_t file_offset;
	uint32_t id;
};

/* One event, for any number of probes. */
struct tracepoint {
	char name[64];
	uint64_t type; /* config of a perf event of type PERF_TYPE_TRACEPOINT */
};

/* Where a sample of such an event has the id, in its raw data, and the bytes that must be there. */
#define TRACEPOINT_ID_OFFSET 16
#define TRACEPOINT_RAW_BYTES 20

#define GROUP "rot"

/* How long it may take the kernel to let somebody look at its tracing. */
#define STUCK_MS 2000
#define STUCK_LOOK_MS 50

/* ---- tracefs ---- */

/* A mount that no name space has, or -1. */
static int
mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), folder = -1;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		folder = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return folder;
}

static int
open_mounted(const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), events;

	if (folder < 0)
		return -1;
	events = openat(folder, "uprobe_events", O_PATH | O_CLOEXEC);
	if (events < 0) {
		close(folder);
		return -1;
	}
	close(events);
	return folder;
}

static int
open_folder(void)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int folder = mount_detached(), error = errno;

	for (size_t i = 0; folder < 0 && i < sizeof(paths) / sizeof(paths[0]); i++)
		folder = open_mounted(paths[i]);
	if (errno == ENOENT)
		errno = error;
	return folder;
}

static int
tracefs_refused(struct rot_error *err, int error, const char *what)
{
	rot_error_set(err, error, "cannot %s uprobe events in tracefs", what);
	return rot_error_hint(err, "%s",
			      error == ENOENT ? "the kernel needs CONFIG_UPROBE_EVENTS"
					      : "they need root, in a container also --cap-add=SYS_ADMIN,PERFMON");
}

/* ---- a system whose tracing hangs ---- */

/* Where processes wait for whoever changes events (Linux 6.18). */
static const char *const waiting_places[] = {"dyn_event_seq_start", "perf_trace_destroy", "perf_trace_init",
					     "create_or_delete_trace_uprobe", "dyn_event_release"};

static bool
waits_for_tracing(const char *pid)
{
	char *path = rot_format("/proc/%s/wchan", pid), place[64] = "";
	FILE *file = fopen(path, "re");
	bool waits = false;

	if (file && fgets(place, sizeof(place), file))
		for (size_t i = 0; i < sizeof(waiting_places) / sizeof(waiting_places[0]); i++)
			waits |= strcmp(place, waiting_places[i]) == 0;
	if (file)
		fclose(file);
	free(path);
	return waits;
}

static pid_t
find_waiting(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *process;
	pid_t found = 0;

	while (processes && found == 0 && (process = readdir(processes)))
		if (process->d_name[0] >= '1' && process->d_name[0] <= '9' && waits_for_tracing(process->d_name))
			found = (pid_t)atoi(process->d_name);
	if (processes)
		closedir(processes);
	return found;
}

/* Somebody who has been waiting for long, or 0. */
static pid_t
find_stuck(void)
{
	const struct timespec pause = {.tv_nsec = STUCK_LOOK_MS * 1000000L};
	pid_t waiting = find_waiting();
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)waiting);
	for (int i = 0; waiting != 0 && i < STUCK_MS / STUCK_LOOK_MS; i++) {
		nanosleep(&pause, NULL);
		if (!waits_for_tracing(number))
			waiting = 0;
	}
	return waiting;
}

static void
close_one(int fd)
{
	close(fd);
}

/* In a process of its own, which holds nothing of this one's: it may never end. */
static void
read_and_answer(int events, int answer)
{
	char byte;

	dup2(events, STDIN_FILENO);
	dup2(answer, STDOUT_FILENO);
	close(STDERR_FILENO);
	proc_each_descriptor(STDERR_FILENO + 1, close_one);
	if (read(STDIN_FILENO, &byte, 1) >= 0 && write(STDOUT_FILENO, "", 1) == 1)
		_exit(0);
	_exit(1);
}

/* The process is nobody's child here, so that nobody waits for it. */
static bool
answers(int events)
{
	struct pollfd answer = {.events = POLLIN};
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return true;
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			read_and_answer(events, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	answer.fd = ends[0];
	while (poll(&answer, 1, STUCK_MS) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return answer.revents != 0;
}

/* A thread that waits for it as others do can never be killed, so a way that is known to work comes first. */
static int
check_not_stuck(const struct tracepoints *tracepoints, struct rot_error *err)
{
	pid_t stuck = find_stuck();
	int events = openat(tracepoints->folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	bool is_stuck = stuck != 0 || (events >= 0 && !answers(events));

	launch_close(&events);
	if (!is_stuck)
		return 0;
	if (stuck)
		rot_error_set(err, 0, "tracefs does not answer: process %d waits for it as well", (int)stuck);
	else
		rot_error_set(err, 0, "tracefs does not answer within %d s", STUCK_MS / 1000);
	return rot_error_hint(err, "the kernel's log (dmesg) may say why; only a restart of the system helps");
}

/* ---- what others left ---- */

static void
remove_named(const struct tracepoints *tracepoints, const char *name)
{
	autofree char *line = rot_format("-:%s\n", name);

	if (write(tracepoints->events, line, strlen(line)) < 0) {
		/* in use, or gone */
	}
}

/* One line of uprobe_events: "p:rotPID_RANDOM/NAME FILE:OFFSET ...". */
static void
remove_if_stale(const struct tracepoints *tracepoints, char *line)
{
	char *name = line + strlen("p:"), *end;
	long pid;

	if (strncmp(line, "p:" GROUP, strlen("p:" GROUP)) != 0)
		return;
	pid = strtol(name + strlen(GROUP), &end, 10);
	if (pid <= 0 || *end != '_' || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return;
	end[strcspn(end, " ")] = '\0';
	remove_named(tracepoints, name);
}

/* A definition of several probes is several lines; it goes with the first. */
static void
remove_stale(const struct tracepoints *tracepoints)
{
	int fd = openat(tracepoints->folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	autofree char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		remove_if_stale(tracepoints, line);
	if (file)
		fclose(file);
	else
		launch_close(&fd);
}

/* Closing what is closed is allowed. */
static void
tracepoints_close(struct tracepoints *tracepoints)
{
	launch_close(&tracepoints->folder);
	launch_close(&tracepoints->events);
}

/* Removes what processes that are gone have left there. 0, or -1: this user may not define events, or they hang. */
static int
tracepoints_open(struct tracepoints *tracepoints, struct rot_error *err)
{
	*tracepoints = TRACEPOINTS_CLOSED;
	tracepoints->folder = open_folder();
	if (tracepoints->folder < 0)
		return tracefs_refused(err, errno, "find");
	tracepoints->events = openat(tracepoints->folder, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (tracepoints->events < 0) {
		int error = errno;

		tracepoints_close(tracepoints);
		return tracefs_refused(err, error, "define");
	}
	if (check_not_stuck(tracepoints, err) < 0) {
		tracepoints_close(tracepoints);
		return -1;
	}
	remove_stale(tracepoints);
	return 0;
}

/* ---- definitions ---- */

/*
 * The file is named by its descriptor: a path may contain blanks. The id is a constant argument, whose values may
 * differ among the probes of an event.
 */
static int
define_one(const struct tracepoints *tracepoints, const char *name, const struct tracepoint_probe *probe,
	   struct rot_error *err)
{
	autofree char *line = rot_format("p:%s /proc/self/fd/%d:0x%llx id=\\%u:u32\n", name, probe->file,
					 (unsigned long long)probe->file_offset, probe->id);
	int rc = write(tracepoints->events, line, strlen(line)) < 0 ? tracefs_refused(err, errno, "define") : 0;

	if (rc < 0 && errno == EINVAL)
		rot_error_hint(err, "the kernel cannot put a probe at offset 0x%llx of that file",
			       (unsigned long long)probe->file_offset);
	return rc;
}

static int
read_type(const struct tracepoints *tracepoints, struct tracepoint *tracepoint, struct rot_error *err)
{
	char *path = rot_format("events/%s/id", tracepoint->name), text[32];
	int fd = openat(tracepoints->folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int rc = 0;

	if (bytes <= 0)
		rc = rot_error_set(err, errno, "cannot read '%s' of tracefs", path);
	else
		text[bytes] = '\0';
	tracepoint->type = rc == 0 ? strtoull(text, NULL, 10) : 0;
	launch_close(&fd);
	free(path);
	return rc;
}

/* 0, or -1 and nothing is defined. */
static int
tracepoints_define(struct tracepoints *tracepoints, struct tracepoint *tracepoint,
		   const struct tracepoint_probe *probes, size_t nr, struct rot_error *err)
{
	static uint64_t nr_made;
	uint64_t random = 0;
	int rc = 0;

	/* Process ids are not unique where there are several name spaces. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = clock_raw_ns();
	snprintf(tracepoint->name, sizeof(tracepoint->name), GROUP "%d_%016llx/at%llu", (int)getpid(),
		 (unsigned long long)random, (unsigned long long)nr_made++);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = define_one(tracepoints, tracepoint->name, &probes[i], err);
	if (rc == 0)
		rc = read_type(tracepoints, tracepoint, err);
	if (rc < 0)
		remove_named(tracepoints, tracepoint->name);
	return rc;
}

/* No perf event may use it any more. */
static void
tracepoints_remove(struct tracepoints *tracepoints, const struct tracepoint *tracepoint)
{
	remove_named(tracepoints, tracepoint->name);
}

/* An instruction, wherever it is mapped. */
struct spot {
	dev_t device;
	ino_t inode;
	const struct region_point *point; /* the first that was there */
};

/* An event, for one region. */
struct uprobe_event {
	struct tracepoint tracepoint;
	size_t region;
	struct spot *spots;
	size_t nr_spots;
	int keeper; /* a perf event of it, disabled */
};

struct uprobe {
	struct sampling sampling;
	struct tracepoints tracepoints;
	struct uprobe_event *events;
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
uprobe_lose(void *context, struct region_thread *thread, uint64_t key, uint64_t nr)
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
is_same_event(const struct uprobe_event *event, const struct uprobe_event *other)
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

static struct perf_event_attr
attr_of(const struct uprobe_event *event)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = event->tracepoint.type};

	sampling_prepare(&attr);
	return attr;
}

/* Here the kernel puts the probes in, and looks at the instructions. */
static int
uprobe_keep(struct uprobe_event *event, pid_t tid, struct rot_error *err)
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
uprobe_define(struct uprobe *self, struct uprobe_event *event, const int *files, pid_t tid, struct rot_error *err)
{
	autofree struct tracepoint_probe *probes = rot_calloc(event->nr_spots, sizeof(*probes));
	int rc;

	for (size_t i = 0; i < event->nr_spots; i++) {
		const struct region_point *point = event->spots[i].point;

		probes[i] = (struct tracepoint_probe){files[i], point->file_offset, (uint32_t)point->id};
	}
	rc = tracepoints_define(&self->tracepoints, &event->tracepoint, probes, event->nr_spots, err);
	if (rc == 0) {
		rc = uprobe_keep(event, tid, err);
		if (rc < 0)
			tracepoints_remove(&self->tracepoints, &event->tracepoint);
	}
	return rc;
}

static void
uprobe_assign(struct uprobe *self, struct region_point *const *points, size_t nr, size_t event)
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
uprobe_install(void *context, struct region_image *image, struct region_thread *witness,
	       struct region_point *const *points, size_t nr, struct rot_error *err)
{
	struct uprobe *self = context;
	struct uprobe_event event = {.region = points[0]->region, .nr_spots = nr, .keeper = -1};
	int *files;
	size_t same = 0;
	int rc = 0;

	(void)image;
	event.spots = rot_calloc(nr, sizeof(*event.spots));
	files = spots_open(points, event.spots, nr, err);
	while (files && same < self->nr_events && !is_same_event(&self->events[same], &event))
		same++;
	if (!files)
		rc = -1;
	else if (same < self->nr_events)
		uprobe_assign(self, points, nr, same);
	else
		rc = uprobe_define(self, &event, files, witness->thread->tid, err);
	if (rc == 0 && same == self->nr_events) {
		rot_add(self->events, self->nr_events) = event;
		uprobe_assign(self, points, nr, same);
	} else {
		free(event.spots);
	}
	if (files)
		spots_close(files, nr);
	return rc;
}

static bool
uprobe_event(void *context, const struct region_point *point, struct perf_event_attr *attr, uint64_t *key)
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
uprobe_open(struct regions *regions, struct rot_error *err)
{
	struct uprobe *self = rot_calloc(1, sizeof(*self));

	self->sampling = (struct sampling){.regions = regions,
					   .backend = &region_uprobe,
					   .context = self,
					   .event = uprobe_event,
					   .key = key_of,
					   .hit = hit_of,
					   .lose = uprobe_lose};
	if (tracepoints_open(&self->tracepoints, err) == 0)
		return self;
	free(self);
	return NULL;
}

/* Threads have closed their events. */
static void
uprobe_forget(void *context, size_t region)
{
	struct uprobe *self = context;

	for (size_t i = 0; i < self->nr_events; i++) {
		if (self->events[i].region != region || self->events[i].keeper < 0)
			continue;
		launch_close(&self->events[i].keeper);
		tracepoints_remove(&self->tracepoints, &self->events[i].tracepoint);
	}
}

static void
uprobe_close(void *context)
{
	struct uprobe *self = context;

	for (size_t i = 0; i < self->nr_events; i++) {
		uprobe_forget(self, self->events[i].region);
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
	.open = uprobe_open,
	.install = uprobe_install,
	.join = sampling_join,
	.leave = sampling_leave,
	.drain = sampling_drain,
	.prune = sampling_prune,
	.forget = uprobe_forget,
	.close = uprobe_close,
};
