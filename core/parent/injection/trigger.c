/* SPDX-License-Identifier: MIT */
#include "parent/injection/trigger.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux knows it since 5.13, newer than some headers are. */
#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

/* "rot" in front of the thread's id: nobody else's event. */
#define MARK 0x726f7400000000ULL

/* The beginning of siginfo_t with what the C library leaves out of it. */
struct perf_signal {
	int number, error, code, padding;
	uint64_t address, data;
};

#ifdef PERF_ATTR_SIZE_VER7
static int
open_event(pid_t tid, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.sig_data = MARK | (unsigned)tid,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
#else
static int
open_event(pid_t tid, uint64_t period_ns)
{
	(void)tid;
	(void)period_ns;
	errno = ENOSYS;
	return -1;
}
#endif

int
trigger_arm(struct trigger *trigger, pid_t tid, uint64_t period_ns)
{
	if (trigger->period_ns != period_ns)
		trigger_close(trigger);
	if (trigger->is_armed)
		return 0;
	if (trigger->fd < 0)
		trigger->fd = open_event(tid, period_ns);
	trigger->period_ns = period_ns;
	if (trigger->fd < 0 || ioctl(trigger->fd, PERF_EVENT_IOC_REFRESH, 1) < 0)
		return errno;
	trigger->is_armed = true;
	return 0;
}

bool
trigger_raised(const siginfo_t *signal, pid_t tid)
{
	struct perf_signal raw;

	memcpy(&raw, signal, sizeof(raw));
	return raw.number == SIGTRAP && raw.code == TRAP_PERF && raw.data == (MARK | (unsigned)tid);
}

void
trigger_close(struct trigger *trigger)
{
	if (trigger->fd >= 0)
		close(trigger->fd);
	*trigger = TRIGGER_NONE;
}
