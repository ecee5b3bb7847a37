/* SPDX-License-Identifier: MIT */
/* See perf_event.h. libpfm4 turns names into perf_event_attr, the kernel counts. */
#include "common/perf_event.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/perf_hint.h"
#include "memory.h"

#define SCRUB_TURNS 100

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_status;

static void
library_initialize(void)
{
	/* lets events of processors other than this one be encoded */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	library_status = pfm_initialize();
}

int
perf_library_open(struct rot_error *err)
{
	pthread_once(&library_once, library_initialize);
	if (library_status == PFM_SUCCESS)
		return 0;
	return rot_error_set(err, 0, "cannot initialize libpfm4: %s", pfm_strerror(library_status));
}

/* libpfm4 leaves the code out of the names of raw events ("perf_raw:::u=1"): put it back. Takes over name. */
static char *
qualified_name(char *name, const struct perf_event_attr *attr)
{
	static const char raw[] = "perf_raw::";
	char *full;

	if (!name || strncmp(name, raw, sizeof(raw) - 1) != 0 || name[sizeof(raw) - 1] != ':')
		return name;
	full = rot_format("%sr%llx%s", raw, (unsigned long long)attr->config, name + sizeof(raw) - 1);
	free(name);
	return full;
}

static int
encode(const char *event, struct perf_modes modes, struct perf_event_attr *attr, char **name, struct rot_error *err)
{
	int plm = (modes.user ? PFM_PLM3 : 0) | (modes.kernel ? PFM_PLM0 : 0);
	pfm_perf_encode_arg_t arg = {.attr = attr, .fstr = name, .size = sizeof(arg)};
	int status;

	*name = NULL;
	*attr = (struct perf_event_attr){.size = sizeof(*attr)};
	if (perf_library_open(err) < 0)
		return -1;
	if (!*event) {
		rot_error_set(err, 0, "cannot count '': an event needs a definition");
		return rot_error_hint(
			err, "in XML: <event definition=\"page-faults\"/>; 'rot list events' shows what there is");
	}
	if (!plm)
		return rot_error_set(err, 0, "cannot count '%s': neither user nor kernel mode is wanted", event);
	status = pfm_get_os_event_encoding(event, plm, PFM_OS_PERF_EVENT, &arg);
	if (status == PFM_SUCCESS) {
		attr->size = sizeof(*attr);
		*name = qualified_name(*name, attr);
		return 0;
	}
	free(*name);
	*name = NULL;
	rot_error_set(err, 0, "cannot count '%s': libpfm4 says: %s", event, pfm_strerror(status));
	return rot_error_hint(err,
			      "'rot list events' shows what this machine counts; codes of the processor's manual are "
			      "written perf_raw::rXXXX");
}

int
perf_event_encode(const char *event, struct perf_modes modes, uint32_t *type, uint64_t *config, struct rot_error *err)
{
	struct perf_event_attr attr;
	char *name;

	if (encode(event, modes, &attr, &name, err) < 0)
		return -1;
	*type = attr.type;
	*config = attr.config;
	free(name);
	return 0;
}

static int
open_one(struct perf_group *group, const char *event, struct perf_modes modes, pid_t tid, struct rot_error *err)
{
	struct perf_event_attr attr;
	char *name;
	int fd;

	if (encode(event, modes, &attr, &name, err) < 0)
		return -1;
	attr.disabled = group->nr == 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, group->nr ? group->fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		int error = errno;

		if (tid == 0)
			tid = gettid();
		rot_error_set(err, error,
			      "cannot count '%s' (%s, type %u, config 0x%llx) as event %zu of its group on thread %d",
			      event, name, attr.type, (unsigned long long)attr.config, group->nr + 1, (int)tid);
		free(name);
		return perf_hint(err, error, !attr.exclude_kernel, group->nr + 1);
	}
	group->fds[group->nr] = fd;
	group->names[group->nr++] = name ? name : rot_strdup(event);
	return 0;
}

int
perf_group_open(struct perf_group *group, const char *const *events, size_t nr, struct perf_modes modes, pid_t tid,
		struct rot_error *err)
{
	*group = (struct perf_group){0};
	if (nr == 0)
		return rot_error_set(err, 0, "cannot count a group without events");
	if (nr > PERF_MAX_EVENTS)
		return rot_error_set(err, 0, "cannot count %zu events in one group, %d at most", nr, PERF_MAX_EVENTS);
	for (size_t i = 0; i < nr; i++) {
		if (open_one(group, events[i], modes, tid, err) < 0) {
			perf_group_close(group);
			return -1;
		}
	}
	return 0;
}

void
perf_group_close(struct perf_group *group)
{
	while (group->nr > 0) {
		group->nr--;
		close(group->fds[group->nr]);
		free(group->names[group->nr]);
	}
}

int
perf_group_start(const struct perf_group *group)
{
	if (ioctl(group->fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP) < 0 ||
	    ioctl(group->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0)
		return errno;
	return 0;
}

int
perf_group_stop(const struct perf_group *group)
{
	return ioctl(group->fds[0], PERF_EVENT_IOC_DISABLE, 0) < 0 ? errno : 0;
}

int
perf_group_read(const struct perf_group *group, struct perf_counts *counts, struct rot_error *err)
{
	struct {
		uint64_t nr, enabled, running, values[PERF_MAX_EVENTS];
	} data;
	size_t expected = (3 + group->nr) * sizeof(uint64_t);
	ssize_t bytes = read(group->fds[0], &data, sizeof(data));

	if (bytes < 0)
		return rot_error_set(err, errno, "cannot read the counts of '%s' and its group", group->names[0]);
	if ((size_t)bytes != expected || data.nr != group->nr)
		return rot_error_set(err, 0,
				     "cannot read the counts of '%s' and its group: got %zd bytes instead of %zu",
				     group->names[0], bytes, expected);
	*counts = (struct perf_counts){.enabled_ns = data.enabled, .running_ns = data.running};
	memcpy(counts->values, data.values, group->nr * sizeof(uint64_t));
	return 0;
}

/* ---- scrub ---- */

static int
scrub_here(const char *const *events, size_t nr, struct rot_error *err)
{
	struct perf_group group;

	if (perf_group_open(&group, events, nr, (struct perf_modes){.user = true}, 0, err) < 0)
		return -1;
	perf_group_start(&group);
	for (volatile int i = 0; i < SCRUB_TURNS; i++)
		;
	perf_group_stop(&group);
	perf_group_close(&group);
	return 0;
}

static int
scrub_cpus(const cpu_set_t *allowed, cpu_set_t *one, size_t size, const char *const *events, size_t nr,
	   struct rot_error *err)
{
	for (size_t cpu = 0; cpu < size * 8; cpu++) {
		if (!CPU_ISSET_S(cpu, size, allowed))
			continue;
		CPU_ZERO_S(size, one);
		CPU_SET_S(cpu, size, one);
		if (sched_setaffinity(0, size, one) < 0)
			return rot_error_set(err, errno, "cannot move to CPU %zu to clear its counters", cpu);
		if (scrub_here(events, nr, err) < 0)
			return rot_error_prefix(err, "clearing the counters of CPU %zu", cpu);
	}
	return 0;
}

int
perf_scrub(const char *event, size_t nr, struct rot_error *err)
{
	const char *events[PERF_MAX_EVENTS];
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	size_t size = CPU_ALLOC_SIZE(nr_cpus > CPU_SETSIZE ? nr_cpus : CPU_SETSIZE);
	cpu_set_t *allowed = rot_calloc(2, size), *one = (cpu_set_t *)((char *)allowed + size);
	int rc = -1;

	if (nr == 0 || nr > PERF_MAX_EVENTS) {
		rot_error_set(err, 0, "cannot clear %zu counters, 1 to %d", nr, PERF_MAX_EVENTS);
		goto out;
	}
	for (size_t i = 0; i < nr; i++)
		events[i] = event;
	if (sched_getaffinity(0, size, allowed) < 0) {
		rot_error_set(err, errno, "cannot read on which CPUs to clear the counters");
		goto out;
	}
	rc = scrub_cpus(allowed, one, size, events, nr, err);
	if (sched_setaffinity(0, size, allowed) < 0 && rc == 0)
		rc = rot_error_set(err, errno, "cannot restore the CPUs of thread %d", (int)gettid());
out:
	free(allowed);
	return rc;
}
