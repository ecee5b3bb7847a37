/* SPDX-License-Identifier: MIT */
/* See permits.h: found out by trying. */
#include "permits.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"

bool
permits_tracing(void)
{
	pid_t pid = fork();
	bool is_permitted;

	if (pid == 0) {
		while (true)
			pause();
	}
	is_permitted = pid > 0 && ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
	if (!is_permitted)
		perror("SKIP: cannot trace a process");
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return is_permitted;
}

bool
permits_preloading(void)
{
#ifdef ROT_SANITIZED
	fputs("SKIP: sanitizers must be the first library of a program\n", stderr);
	return false;
#else
	return true;
#endif
}

bool
permits_counting(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		perror("SKIP: cannot count page faults");
	else
		close(fd);
	return fd >= 0;
}
