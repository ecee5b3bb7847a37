/* SPDX-License-Identifier: MIT */
/* See perf_event.h. libpfm4 turns names into perf_event_attr, the kernel counts. */
#include "common/perf_event.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/pfm.h"
#include "memory.h"

#define SCRUB_TURNS 100

/* ---- hints. Meanings of the errors: perf_event_open(2) ---- */

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* INT_MIN if it cannot be read. */
static int
paranoid_level(void)
{
	FILE *file = fopen(PARANOID, "re");
	int level;

	if (!file)
		return INT_MIN;
	if (fscanf(file, "%d", &level) != 1)
		level = INT_MIN;
	fclose(file);
	return level;
}

static int
hint_permission(struct rot_error *err, int needed)
{
	int level = paranoid_level();

	if (level == INT_MIN)
		return rot_error_hint(
			err, "this system has no %s: its kernel was built without perf events, or they are hidden",
			PARANOID);
	if (level <= needed)
		return rot_error_hint(
			err,
			"kernel.perf_event_paranoid is %d, which would allow it: a container's seccomp filter or a "
			"security module forbids perf_event_open; start the container with '--cap-add PERFMON' and a "
			"seccomp profile that allows it, or give the capability CAP_PERFMON",
			level);
	return rot_error_hint(
		err,
		"kernel.perf_event_paranoid is %d: run 'sudo sysctl kernel.perf_event_paranoid=%d', or give "
		"the capability CAP_PERFMON",
		level, needed);
}

int
perf_hint(struct rot_error *err, int errnum, int paranoid, size_t nr)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return hint_permission(err, paranoid);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return rot_error_hint(
			err, "there is no PMU here that counts this event: in a virtual machine, switch the virtual "
			     "PMU on in its host; otherwise choose an event of 'rot list events'");
	case EINVAL:
		return rot_error_hint(
			err,
			nr > 1 ? "the counters cannot hold these %zu events at once: measure fewer together"
			       : "this processor does not know the event, or not with these modifiers "
				 "(group of %zu)",
			nr);
	case EMFILE:
	case ENFILE:
		return rot_error_hint(err, "too many open files: run 'ulimit -n 4096'");
	case EBUSY:
		return rot_error_hint(err, "another program holds the counters exclusively: end it");
	case ENOSYS:
		return rot_error_hint(err, "the kernel has no perf events, or a seccomp filter hides them");
	default:
		return -1;
	}
}

/* ---- names of events ---- */

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
	const struct pfm *pfm = pfm_open(err);
	int status;

	*name = NULL;
	*attr = (struct perf_event_attr){.size = sizeof(*attr)};
	if (!pfm)
		return -1;
	if (!*event) {
		rot_error_set(err, 0, "cannot count '': an event needs a definition");
		return rot_error_hint(
			err, "in XML: <event definition=\"page-faults\"/>; 'rot list events' shows what there is");
	}
	if (!plm)
		return rot_error_set(err, 0, "cannot count '%s': neither user nor kernel mode is wanted", event);
	status = pfm->get_os_event_encoding(event, plm, PFM_OS_PERF_EVENT, &arg);
	if (status == PFM_SUCCESS) {
		attr->size = sizeof(*attr);
		*name = qualified_name(*name, attr);
		return 0;
	}
	free(*name);
	*name = NULL;
	rot_error_set(err, 0, "cannot count '%s': libpfm4 says: %s", event, pfm->strerror(status));
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

struct perf_encoding {
	size_t nr;
	struct perf_event_attr attrs[PERF_MAX_EVENTS];
	char *names[PERF_MAX_EVENTS];
};

struct perf_encoding *
perf_encoding_new(const char *const *events, size_t nr, struct perf_modes modes, struct rot_error *err)
{
	struct perf_encoding *encoding;

	if (nr == 0) {
		rot_error_set(err, 0, "cannot count a group without events");
		return NULL;
	}
	if (nr > PERF_MAX_EVENTS) {
		rot_error_set(err, 0, "cannot count %zu events in one group, %d at most", nr, PERF_MAX_EVENTS);
		return NULL;
	}
	encoding = rot_calloc(1, sizeof(*encoding));
	for (; encoding->nr < nr; encoding->nr++) {
		char **name = &encoding->names[encoding->nr];

		if (encode(events[encoding->nr], modes, &encoding->attrs[encoding->nr], name, err) < 0) {
			perf_encoding_delete(encoding);
			return NULL;
		}
		if (!*name)
			*name = rot_strdup(events[encoding->nr]);
	}
	return encoding;
}

void
perf_encoding_delete(struct perf_encoding *encoding)
{
	if (!encoding)
		return;
	for (size_t i = 0; i < encoding->nr; i++)
		free(encoding->names[i]);
	free(encoding);
}

const char *
perf_encoding_name(const struct perf_encoding *encoding, size_t i)
{
	return encoding->names[i];
}

/* ---- groups ---- */

static int
open_next(struct perf_group *group, const struct perf_encoding *encoding, enum perf_heirs heirs, enum perf_begin begin,
	  pid_t tid)
{
	struct perf_event_attr attr = encoding->attrs[group->nr];
	bool is_leader = group->nr == 0;

	attr.disabled = is_leader && begin != PERF_BEGIN_NOW;
	attr.enable_on_exec = is_leader && begin == PERF_BEGIN_AT_EXEC;
	attr.inherit = heirs != PERF_HEIRS_NONE;
	attr.inherit_thread = heirs == PERF_HEIRS_THREADS;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (heirs == PERF_HEIRS_NONE)
		attr.read_format |= PERF_FORMAT_GROUP;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, is_leader ? -1 : group->fds[0], PERF_FLAG_FD_CLOEXEC);
}

static int
give_up(struct perf_group *group, const struct perf_encoding *encoding, size_t i, pid_t tid, struct rot_error *err)
{
	const struct perf_event_attr *attr = &encoding->attrs[i];
	const int error = errno;

	rot_error_set(err, error, "cannot count '%s' (type %u, config 0x%llx) as event %zu of its group on thread %d",
		      encoding->names[i], attr->type, (unsigned long long)attr->config, i + 1,
		      (int)(tid == 0 ? gettid() : tid));
	perf_hint(err, error, attr->exclude_kernel ? PERF_PARANOID_USER : PERF_PARANOID_KERNEL, i + 1);
	perf_group_close(group);
	errno = error;
	return -1;
}

/*
 * A group is started when it is complete. A software event that joined one led by another PMU on a running thread would
 * not count before the thread is scheduled anew (seen on Linux 6.18). And each event that joins a group which counts
 * interrupts the CPU that the thread was on last, and waits for it; of one that does not count yet only the first does,
 * and the start (since Linux 5.5).
 */
int
perf_group_open_encoded(struct perf_group *group, const struct perf_encoding *encoding, enum perf_heirs heirs,
			enum perf_begin begin, pid_t tid, struct rot_error *err)
{
	bool is_started_last = begin == PERF_BEGIN_NOW && encoding->nr > 1;

	*group = (struct perf_group){.names = (const char *const *)encoding->names,
				     .has_heirs = heirs != PERF_HEIRS_NONE};
	for (; group->nr < encoding->nr; group->nr++) {
		int fd = open_next(group, encoding, heirs, is_started_last ? PERF_BEGIN_LATER : begin, tid);

		if (fd < 0)
			return give_up(group, encoding, group->nr, tid, err);
		group->fds[group->nr] = fd;
	}
	if (is_started_last && ioctl(group->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0)
		return give_up(group, encoding, 0, tid, err);
	return 0;
}

int
perf_group_open(struct perf_group *group, const char *const *events, size_t nr, struct perf_modes modes, pid_t tid,
		struct rot_error *err)
{
	struct perf_encoding *encoding = perf_encoding_new(events, nr, modes, err);

	*group = (struct perf_group){0};
	if (!encoding)
		return -1;
	if (perf_group_open_encoded(group, encoding, PERF_HEIRS_NONE, PERF_BEGIN_LATER, tid, err) < 0) {
		perf_encoding_delete(encoding);
		return -1;
	}
	group->own = encoding;
	return 0;
}

void
perf_group_close(struct perf_group *group)
{
	while (group->nr > 0)
		close(group->fds[--group->nr]);
	perf_encoding_delete(group->own);
	group->own = NULL;
}

int
perf_group_start(const struct perf_group *group)
{
	if (ioctl(group->fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP) < 0)
		return errno;
	return perf_group_resume(group);
}

int
perf_group_resume(const struct perf_group *group)
{
	return ioctl(group->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0 ? errno : 0;
}

int
perf_group_stop(const struct perf_group *group)
{
	return ioctl(group->fds[0], PERF_EVENT_IOC_DISABLE, 0) < 0 ? errno : 0;
}

static int
check_size(const struct perf_group *group, size_t i, ssize_t bytes, size_t expected, struct rot_error *err)
{
	if (bytes < 0)
		return rot_error_set(err, errno, "cannot read the counts of '%s' and its group", group->names[i]);
	if ((size_t)bytes != expected)
		return rot_error_set(err, 0,
				     "cannot read the counts of '%s' and its group: got %zd bytes instead of %zu",
				     group->names[i], bytes, expected);
	return 0;
}

static int
read_together(const struct perf_group *group, struct perf_counts *counts, struct rot_error *err)
{
	struct {
		uint64_t nr, enabled, running, values[PERF_MAX_EVENTS + PERF_MAX_OTHERS];
	} data;
	ssize_t bytes = read(group->fds[0], &data, sizeof(data));

	if (check_size(group, 0, bytes, (3 + group->nr + group->nr_others) * sizeof(uint64_t), err) < 0)
		return -1;
	*counts = (struct perf_counts){.enabled_ns = data.enabled, .running_ns = data.running};
	memcpy(counts->values, data.values, group->nr * sizeof(uint64_t));
	return 0;
}

/* One that was not always counted speaks for all. */
static int
read_one_by_one(const struct perf_group *group, struct perf_counts *counts, struct rot_error *err)
{
	*counts = (struct perf_counts){0};
	for (size_t i = 0; i < group->nr; i++) {
		struct {
			uint64_t value, enabled, running;
		} data;
		ssize_t bytes = read(group->fds[i], &data, sizeof(data));

		if (check_size(group, i, bytes, sizeof(data), err) < 0)
			return -1;
		counts->values[i] = data.value;
		if (i == 0 || data.enabled - data.running > counts->enabled_ns - counts->running_ns) {
			counts->enabled_ns = data.enabled;
			counts->running_ns = data.running;
		}
	}
	return 0;
}

int
perf_group_read(const struct perf_group *group, struct perf_counts *counts, struct rot_error *err)
{
	return (group->has_heirs ? read_one_by_one : read_together)(group, counts, err);
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
scrub_cpus(const cpu_set_t *cleared, cpu_set_t *one, size_t size, const char *const *events, size_t nr,
	   struct rot_error *err)
{
	for (size_t cpu = 0; cpu < size * 8; cpu++) {
		if (!CPU_ISSET_S(cpu, size, cleared))
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
perf_scrub(const char *event, size_t nr, pid_t whose, struct rot_error *err)
{
	const char *events[PERF_MAX_EVENTS];
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	size_t size = CPU_ALLOC_SIZE(nr_cpus > CPU_SETSIZE ? nr_cpus : CPU_SETSIZE);
	cpu_set_t *own = rot_calloc(3, size), *cleared = (cpu_set_t *)((char *)own + size),
		  *one = (cpu_set_t *)((char *)cleared + size);
	int rc = -1;

	if (nr == 0 || nr > PERF_MAX_EVENTS) {
		rot_error_set(err, 0, "cannot clear %zu counters, 1 to %d", nr, PERF_MAX_EVENTS);
		goto out;
	}
	for (size_t i = 0; i < nr; i++)
		events[i] = event;
	if (sched_getaffinity(0, size, own) < 0 || sched_getaffinity(whose, size, cleared) < 0) {
		rot_error_set(err, errno, "cannot read on which CPUs to clear the counters");
		goto out;
	}
	rc = scrub_cpus(cleared, one, size, events, nr, err);
	if (sched_setaffinity(0, size, own) < 0 && rc == 0)
		rc = rot_error_set(err, errno, "cannot restore the CPUs of thread %d", (int)gettid());
out:
	free(own);
	return rc;
}

/* ---- the PMUs, events and attributes that libpfm4 knows ---- */

static const char *
text(const char *s)
{
	return s ? s : "";
}

static const char *
attribute_type(pfm_attr_t type)
{
	static const char *const names[] = {
		[PFM_ATTR_NONE] = "none",          [PFM_ATTR_UMASK] = "umask",
		[PFM_ATTR_MOD_BOOL] = "modBool",   [PFM_ATTR_MOD_INTEGER] = "modInteger",
		[PFM_ATTR_RAW_UMASK] = "rawUmask",
	};

	return (size_t)type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "none";
}

static void
visit_event(const struct pfm *pfm, int index, const struct perf_visitor *visitor)
{
	pfm_event_info_t event = {.size = sizeof(event)};

	if (pfm->get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return;
	visitor->event(&(struct perf_event_name){.name = text(event.name),
						 .description = text(event.desc),
						 .equivalent = text(event.equiv)},
		       visitor->context);
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t info = {.size = sizeof(info)};

		if (pfm->get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
			continue;
		visitor->attribute(&(struct perf_attribute){.name = text(info.name),
							    .description = text(info.desc),
							    .type = attribute_type(info.type)},
				   visitor->context);
	}
}

int
perf_list(bool only_present, const struct perf_visitor *visitor, struct rot_error *err)
{
	const struct pfm *pfm = pfm_open(err);

	if (!pfm)
		return -1;
	for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

		if (pfm->get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || (only_present && !pmu.is_present))
			continue;
		visitor->pmu(&(struct perf_pmu){.name = text(pmu.name),
						.description = text(pmu.desc),
						.nr_counters = pmu.num_cntrs,
						.nr_fixed_counters = pmu.num_fixed_cntrs,
						.is_present = pmu.is_present,
						.is_default = pmu.is_dfl},
			     visitor->context);
		for (int event = pmu.first_event; event != -1; event = pfm->get_event_next(event))
			visit_event(pfm, event, visitor);
	}
	return 0;
}
