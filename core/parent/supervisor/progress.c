/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/progress.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void
progress_report(int fd, int64_t run, int64_t nr_runs)
{
	struct pollfd progress = {.fd = fd, .events = POLLOUT};
	char line[64];
	int length = snprintf(line, sizeof(line), "run %lld of %lld\n", (long long)run, (long long)nr_runs);

	if (poll(&progress, 1, 0) == 1 && (progress.revents & POLLOUT) && write(progress.fd, line, (size_t)length) < 0)
		return;
}
