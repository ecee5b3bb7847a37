/* SPDX-License-Identifier: MIT */
/* See sampling.h. Layout of the rings and their records: linux/perf_event.h. */
#include "parent/regions/sampling.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/perf_event.h"
#include "common/perf_ring.h"
#include "memory.h"

/* The rings of the first threads; those of many are smaller, so that all together stay below 100 MiB. */
#define RING_BYTES ((size_t)4 << 20)
#define RING_FULL_THREADS 8
#define RING_LEAST_BYTES ((size_t)16 << 10)

struct member {
	int fd;
	uint64_t key;
	uint64_t id;      /* the system's                               */
	uint64_t nr_seen; /* hits that were told of, or known to be lost */
};

/* A thread with its ring; own[] of the region_thread. */
struct sampled {
	struct region_thread *thread;
	struct member *members;
	size_t nr_members;
	struct perf_ring ring; /* its size is that wanted before it is mapped */
};

void
sampling_prepare(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->sample_type =
		PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = 1u << PERF_REG_X86_CX | 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_FLAGS;
	attr->read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
}

/* ---- opening ---- */

/* A ring gets one part in so many of what a user may lock in memory; the rest is for other threads. */
#define RING_SHARE 16

static struct sampled *
sampled_new(struct sampling *sampling, struct region_thread *thread)
{
	struct sampled *sampled = rot_calloc(1, sizeof(*sampled));
	size_t bytes = RING_BYTES;

	/* A power of two; with twice as many threads a quarter. */
	for (size_t nr = RING_FULL_THREADS; nr <= sampling->nr && bytes > RING_LEAST_BYTES; nr *= 2)
		bytes /= 4;
	if (sampling->ring_limit > 0 && bytes > sampling->ring_limit)
		bytes = sampling->ring_limit;
	sampled->thread = thread;
	sampled->ring.bytes = bytes;
	sampling->nr++;
	thread->own[sampling->backend->number] = sampled;
	return sampled;
}

/* The bytes that one ring may take of the memory that an ordinary user may lock, a power of two. */
static size_t
fair_ring_bytes(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
	unsigned long kib = 0;
	size_t bytes = RING_BYTES, share;

	if (!file || fscanf(file, "%lu", &kib) != 1)
		kib = 516; /* the system's default */
	if (file)
		fclose(file);
	share = kib * 1024 * (size_t)sysconf(_SC_NPROCESSORS_ONLN) / RING_SHARE;
	while (bytes > share)
		bytes /= 2;
	return bytes;
}

/* A user who may lock little memory gets a small ring. 0, or -1 with errno: not even a page. */
static int
map_largest(struct sampling *sampling, struct perf_ring *ring, int fd)
{
	size_t bytes = ring->bytes;

	while (bytes >= (size_t)sysconf(_SC_PAGESIZE)) {
		if (perf_ring_map(ring, fd, bytes) == 0)
			return 0;
		if (errno != EPERM && errno != ENOMEM)
			break;
		if (sampling->ring_limit == 0)
			sampling->ring_limit = fair_ring_bytes();
		bytes = bytes / 2 > sampling->ring_limit ? sampling->ring_limit : bytes / 2;
	}
	return -1;
}

static int
map_ring(struct sampling *sampling, struct sampled *sampled, int fd, struct rot_error *err)
{
	int tid = (int)sampled->thread->thread->tid;

	if (map_largest(sampling, &sampled->ring, fd) < 0) {
		rot_error_set(err, errno, "cannot get memory for the samples of thread %d", tid);
		return rot_error_hint(err, "raise /proc/sys/kernel/perf_event_mlock_kb, or 'ulimit -l'");
	}
	if (regions_watch(sampled->thread, fd) < 0) {
		rot_error_set(err, errno, "cannot wait for the samples of thread %d", tid);
		perf_ring_unmap(&sampled->ring);
		return -1;
	}
	return 0;
}

static int
connect_ring(struct sampling *sampling, struct sampled *sampled, int fd, struct rot_error *err)
{
	if (!sampled->ring.page)
		return map_ring(sampling, sampled, fd, err);
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, sampled->members[0].fd) < 0)
		return rot_error_set(err, errno, "cannot share a ring of samples");
	return 0;
}

static int
open_member(const struct sampled *sampled, const struct perf_event_attr *attr)
{
	const struct perf_group *group = &sampled->thread->counts->group;
	struct perf_event_attr own = *attr;
	int leader = group->nr > 0 ? group->fds[0] : sampled->nr_members > 0 ? sampled->members[0].fd : -1;

	own.wakeup_watermark = (uint32_t)(sampled->ring.bytes / 4);
	return (int)syscall(SYS_perf_event_open, &own, sampled->thread->thread->tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static int
explain(pid_t tid, int error, struct rot_error *err)
{
	rot_error_set(err, error, "cannot sample thread %d", (int)tid);
	perf_hint(err, error, PERF_PARANOID_USER, 1);
	errno = error;
	return -1;
}

/* Without counters, an event that never happens leads the group and has the ring, so all others can be closed. */
#define LEADER_KEY (UINT64_MAX - 1)

/* Unless it is open already. */
static int
add_member(struct sampling *sampling, struct region_thread *thread, const struct perf_event_attr *attr, uint64_t key,
	   struct rot_error *err)
{
	struct sampled *sampled = thread->own[sampling->backend->number];
	struct perf_group *group = &thread->counts->group;
	struct perf_event_attr leader = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	struct member member = {.key = key};

	if (!sampled) {
		sampled = sampled_new(sampling, thread);
		sampling_prepare(&leader);
		if (group->nr == 0 && add_member(sampling, thread, &leader, LEADER_KEY, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < sampled->nr_members; i++)
		if (sampled->members[i].key == key)
			return 0;
	/* A reading of a group has room for so many. */
	if (group->nr > 0 ? group->nr_others >= PERF_MAX_OTHERS : sampled->nr_members > PERF_MAX_OTHERS) {
		rot_error_set(err, 0, "more than %d regions cannot be sampled at once", PERF_MAX_OTHERS);
		return rot_error_hint(err, "--region-backend=int3 observes any number");
	}
	member.fd = open_member(sampled, attr);
	if (member.fd < 0)
		return errno == ESRCH ? 0 : explain(thread->thread->tid, errno, err);
	if (ioctl(member.fd, PERF_EVENT_IOC_ID, &member.id) < 0 ||
	    connect_ring(sampling, sampled, member.fd, err) < 0) {
		close(member.fd);
		return -1;
	}
	if (group->nr > 0)
		group->nr_others++;
	rot_add(sampled->members, sampled->nr_members) = member;
	return 0;
}

int
sampling_join(void *self, struct region_thread *thread, struct rot_error *err)
{
	struct sampling *sampling = self;
	const struct region_image *image = thread->image;

	for (size_t i = 0; i < image->nr_points; i++) {
		const struct region_point *point = image->points[i];
		struct perf_event_attr attr;
		uint64_t key;

		if (point->backend == sampling->backend && sampling->event(sampling->context, point, &attr, &key) &&
		    add_member(sampling, thread, &attr, key, err) < 0)
			return -1;
	}
	return 0;
}

static bool
is_needed(const struct sampling *sampling, const struct region_image *image, uint64_t wanted)
{
	for (size_t i = 0; i < image->nr_points; i++) {
		struct perf_event_attr attr;
		uint64_t key;

		if (image->points[i]->backend == sampling->backend &&
		    sampling->event(sampling->context, image->points[i], &attr, &key) && key == wanted)
			return true;
	}
	return wanted == LEADER_KEY;
}

void
sampling_prune(void *self, struct region_thread *thread)
{
	struct sampling *sampling = self;
	struct sampled *sampled = thread->own[sampling->backend->number];
	size_t nr = 0;

	sampling_drain(self, thread);
	for (size_t i = 0; sampled && i < sampled->nr_members; i++)
		if (is_needed(sampling, thread->image, sampled->members[i].key))
			sampled->members[nr++] = sampled->members[i];
		else
			close(sampled->members[i].fd);
	if (sampled)
		sampled->nr_members = nr;
}

/* ---- samples ---- */

/* A part of a record that is read from its beginning on. */
struct cursor {
	const uint8_t *next, *end;
};

static uint64_t
take_number(struct cursor *cursor)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->next) < sizeof(value))
		cursor->next = cursor->end;
	else {
		memcpy(&value, cursor->next, sizeof(value));
		cursor->next += sizeof(value);
	}
	return value;
}

static void
take_raw(struct cursor *cursor, struct sample *sample)
{
	uint32_t bytes = 0;

	if ((size_t)(cursor->end - cursor->next) < sizeof(bytes))
		return;
	memcpy(&bytes, cursor->next, sizeof(bytes));
	sample->raw = cursor->next + sizeof(bytes);
	if (bytes > (size_t)(cursor->end - sample->raw))
		bytes = (uint32_t)(cursor->end - sample->raw);
	sample->raw_bytes = bytes;
	cursor->next = sample->raw + bytes;
}

/* The count of an event of the group. */
struct reading {
	uint64_t value, id;
};

static uint64_t
value_of(const struct member *member, const struct reading *readings, size_t nr)
{
	while (nr-- > 0)
		if (readings[nr].id == member->id)
			return readings[nr].value;
	return 0;
}

/* Hits that a member counted and did not sample were lost for want of room. key: of the member that sampled now. */
static void
compare_counts(struct sampling *sampling, struct sampled *sampled, const struct reading *readings, size_t nr,
	       uint64_t key)
{
	for (size_t i = 0; i < sampled->nr_members; i++) {
		struct member *member = &sampled->members[i];
		uint64_t value = value_of(member, readings, nr);

		member->nr_seen += member->key == key;
		if (value <= member->nr_seen)
			continue;
		sampling->lose(sampling->context, sampled->thread, member->key, value - member->nr_seen);
		member->nr_seen = value;
	}
}

#define MAX_READINGS (PERF_MAX_EVENTS + PERF_MAX_OTHERS)

static void
handle_sample(struct sampling *sampling, struct sampled *sampled, struct cursor cursor)
{
	size_t nr_counters = sampled->thread->counts->group.nr, nr;
	struct sample sample = {0};
	struct perf_counts counts = {0};
	struct region_hit hit = {0};
	struct reading readings[MAX_READINGS];
	uint64_t abi, key;

	sample.address = take_number(&cursor);
	hit.time_ns = take_number(&cursor);
	nr = take_number(&cursor);
	counts.enabled_ns = take_number(&cursor);
	counts.running_ns = take_number(&cursor);
	if (nr > MAX_READINGS || nr < nr_counters)
		return;
	for (size_t i = 0; i < nr; i++) {
		readings[i].value = take_number(&cursor);
		readings[i].id = take_number(&cursor);
		if (i < nr_counters)
			counts.values[i] = readings[i].value;
	}
	take_raw(&cursor, &sample);
	abi = take_number(&cursor);
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		hit.rcx = take_number(&cursor);
		hit.stack_pointer = take_number(&cursor);
		hit.flags = take_number(&cursor);
	}
	hit.counts = nr_counters > 0 ? &counts : NULL;
	key = sampling->key(sampling->context, &sample);
	compare_counts(sampling, sampled, readings, nr, key);
	if (key != UINT64_MAX)
		sampling->hit(sampling->context, sampled->thread, &sample, &hit);
}

/* A ring that is read, and whose it is. */
struct reader {
	struct sampling *sampling;
	struct sampled *sampled;
};

static void
handle_record(void *context, const struct perf_event_header *record)
{
	const struct reader *reader = context;
	const uint8_t *bytes = (const uint8_t *)record;

	if (record->type == PERF_RECORD_SAMPLE)
		handle_sample(reader->sampling, reader->sampled,
			      (struct cursor){bytes + sizeof(*record), bytes + record->size});
}

static void
drain_ring(struct sampling *sampling, struct sampled *sampled)
{
	struct reader reader = {sampling, sampled};

	perf_ring_read(&sampled->ring, handle_record, &reader);
}

void
sampling_drain(void *self, struct region_thread *thread)
{
	struct sampling *sampling = self;

	if (thread->own[sampling->backend->number])
		drain_ring(sampling, thread->own[sampling->backend->number]);
}

/* ---- the end ---- */

/*
 * Reads what the members counted in all, also those of a thread that is gone. They count with their group alone: hits
 * while it waits for counters that somebody else has are seen by nobody, and not known as lost.
 */
static void
read_rest(struct sampling *sampling, struct sampled *sampled)
{
	struct {
		uint64_t nr, enabled, running;
		struct reading readings[MAX_READINGS];
	} data;

	if (sampled->nr_members == 0 || read(sampled->members[0].fd, &data, sizeof(data)) <= 0)
		return;
	compare_counts(sampling, sampled, data.readings, data.nr, UINT64_MAX);
	if (data.running < data.enabled)
		regions_warn(
			sampling->regions,
			"hits of regions may be missing: the counters that they are observed with did not count all "
			"the time, because others use them as well");
}

void
sampling_leave(void *self, struct region_thread *thread)
{
	struct sampling *sampling = self;
	struct sampled *sampled = thread->own[sampling->backend->number];

	if (!sampled)
		return;
	drain_ring(sampling, sampled);
	read_rest(sampling, sampled);
	if (sampled->ring.page) {
		regions_unwatch(thread, sampled->members[0].fd);
		perf_ring_unmap(&sampled->ring);
	}
	for (size_t i = 0; i < sampled->nr_members; i++)
		close(sampled->members[i].fd);
	if (thread->counts->group.nr > 0)
		thread->counts->group.nr_others -= sampled->nr_members;
	sampling->nr--;
	free(sampled->members);
	free(sampled);
	thread->own[sampling->backend->number] = NULL;
}
