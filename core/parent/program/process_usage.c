/* SPDX-License-Identifier: MIT */
/* See process_usage.h. */
#include "parent/program/process_usage.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/proc.h"

static struct timeval
from_ticks(unsigned long long ticks)
{
	unsigned long long per_s = (unsigned long long)sysconf(_SC_CLK_TCK);

	return (struct timeval){.tv_sec = (time_t)(ticks / per_s),
				.tv_usec = (suseconds_t)(ticks % per_s * 1000000 / per_s)};
}

/* "STATE ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime ..." */
void
process_usage_read(pid_t pid, struct rusage *usage)
{
	unsigned long long user, system;
	char fields[PROC_STAT_BYTES];
	uint64_t kib;

	*usage = (struct rusage){.ru_nvcsw = -1, .ru_nivcsw = -1};
	if (proc_status(pid, "VmHWM", 10, &kib))
		usage->ru_maxrss = (long)kib;
	if (proc_stat(pid, fields) && sscanf(fields, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %ld %*u %llu %llu",
					     &usage->ru_majflt, &user, &system) == 3) {
		usage->ru_utime = from_ticks(user);
		usage->ru_stime = from_ticks(system);
	}
}

uint64_t
process_usage_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Returns what is left to be taken off. */
static uint64_t
take_off(struct timeval *time, uint64_t us)
{
	uint64_t has_us = (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
	uint64_t taken_us = us < has_us ? us : has_us;

	has_us -= taken_us;
	*time = (struct timeval){.tv_sec = (time_t)(has_us / 1000000), .tv_usec = (suseconds_t)(has_us % 1000000)};
	return us - taken_us;
}

void
process_usage_take_off(struct rusage *usage, uint64_t cpu_ns)
{
	take_off(&usage->ru_utime, take_off(&usage->ru_stime, cpu_ns / 1000));
}

static uint64_t
between_ns(struct timeval from, struct timeval to)
{
	int64_t us = (int64_t)(to.tv_sec - from.tv_sec) * 1000000 + (to.tv_usec - from.tv_usec);

	return us > 0 ? (uint64_t)us * 1000 : 0;
}

static int64_t
switches_between(long from, long to)
{
	return from < 0 || to < 0 ? -1 : to - from;
}

void
process_usage_fill(struct program_run_output *output, const struct rusage *before, const struct rusage *after)
{
	output->user_time = between_ns(before->ru_utime, after->ru_utime);
	output->system_time = between_ns(before->ru_stime, after->ru_stime);
	output->voluntary_context_switches = switches_between(before->ru_nvcsw, after->ru_nvcsw);
	output->involuntary_context_switches = switches_between(before->ru_nivcsw, after->ru_nivcsw);
	output->major_faults = after->ru_majflt - before->ru_majflt;
	output->maximum_resident_bytes = after->ru_maxrss > 0 ? (int64_t)after->ru_maxrss * 1024 : -1;
}
