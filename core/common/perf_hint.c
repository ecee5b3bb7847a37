/* SPDX-License-Identifier: MIT */
/* See perf_hint.h. Meanings of the errors: perf_event_open(2). */
#include "common/perf_hint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

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
hint_permission(struct rot_error *err, bool wants_kernel)
{
	int level = paranoid_level(), needed = wants_kernel ? 1 : 2;

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
perf_hint(struct rot_error *err, int errnum, bool wants_kernel, size_t nr)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return hint_permission(err, wants_kernel);
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
