/* SPDX-License-Identifier: MIT */
/* The driver's own clocks: for progress, time limits and where the time went, and the date of results. */
#pragma once

#include <time.h>

/* Seconds since some moment; never goes back. May be called in a signal handler. */
static inline double
clock_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum { CLOCK_DATE_SIZE = sizeof("2026-11-22T20:31:02Z") };

/* Date and time in UTC, as ISO 8601 writes them. "": that is no time. */
static inline void
clock_date_of(time_t moment, char text[CLOCK_DATE_SIZE])
{
	struct tm utc;

	if (!gmtime_r(&moment, &utc) || strftime(text, CLOCK_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		text[0] = '\0';
}

static inline void
clock_date(char text[CLOCK_DATE_SIZE])
{
	clock_date_of(time(NULL), text);
}
