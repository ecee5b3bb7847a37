/* SPDX-License-Identifier: MIT */
/*
 * A process that loses its CPU right after poll. Preloaded (LD_PRELOAD), each poll that does not wait returns 50 ms
 * later than it looked: whatever happens meanwhile, the caller finds out by other means first.
 */
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

int
poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	static int (*real_poll)(struct pollfd * fds, nfds_t nr, int timeout_ms);
	int rc;

	if (!real_poll)
		*(void **)&real_poll = dlsym(RTLD_NEXT, "poll");
	rc = real_poll(fds, nr, timeout_ms);
	if (timeout_ms == 0)
		usleep(50000);
	return rc;
}
