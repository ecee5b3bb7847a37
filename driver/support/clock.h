/* SPDX-License-Identifier: MIT */
/* The driver's own clock: for progress, time limits and where the time went. */
#ifndef SUPPORT_CLOCK_H
#define SUPPORT_CLOCK_H

#include <time.h>

/* Seconds since some moment; never goes back. May be called in a signal handler. */
static inline double
clock_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
