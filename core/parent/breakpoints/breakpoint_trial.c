/* SPDX-License-Identifier: MIT */
/* See breakpoint_trial.h. */
#include "parent/breakpoints/breakpoint_trial.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int
breakpoint_trial(struct rot_error *err)
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
