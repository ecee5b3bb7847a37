/* SPDX-License-Identifier: MIT */
#include "parent/program/process_usage.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"

/* ---- descendants ---- */

#define NR_ROUNDS 100
#define ROUND_NS 10000000

struct process {
	pid_t pid, parent;
	bool is_running, is_descendant;
};

struct processes {
	struct process *at;
	size_t nr, capacity;
};

static void
read_all(struct processes *all)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	char fields[PROC_STAT_BYTES], state;
	int pid, parent;

	while (folder && (entry = readdir(folder))) {
		if (all->nr == all->capacity) {
			all->capacity = 2 * all->capacity + 256;
			all->at = rot_realloc(all->at, all->capacity, sizeof(*all->at));
		}
		pid = atoi(entry->d_name);
		if (pid > 0 && proc_stat(pid, fields) && sscanf(fields, " %c %d", &state, &parent) == 2)
			all->at[all->nr++] = (struct process){pid, parent, state != 'Z' && state != 'X', false};
	}
	if (folder)
		closedir(folder);
}

static int
by_pid(const void *left, const void *right)
{
	pid_t a = ((const struct process *)left)->pid, b = ((const struct process *)right)->pid;

	return (a > b) - (a < b);
}

/* A parent may have a higher number than its child. */
static void
mark_descendants(struct processes *all, pid_t ancestor)
{
	bool has_new = all->nr > 0;

	if (has_new)
		qsort(all->at, all->nr, sizeof(*all->at), by_pid);
	while (has_new) {
		has_new = false;
		for (size_t i = 0; i < all->nr; i++) {
			struct process *process = &all->at[i];
			const struct process key = {.pid = process->parent};
			const struct process *parent = bsearch(&key, all->at, all->nr, sizeof(key), by_pid);

			if (!process->is_descendant && (key.pid == ancestor || (parent && parent->is_descendant)))
				process->is_descendant = has_new = true;
		}
	}
}

static size_t
kill_those_there(pid_t ancestor)
{
	struct processes all = {0};
	size_t nr = 0;

	read_all(&all);
	mark_descendants(&all, ancestor);
	for (size_t i = 0; i < all.nr; i++)
		if (all.at[i].is_descendant && all.at[i].is_running && kill(all.at[i].pid, SIGKILL) == 0)
			nr++;
	free(all.at);
	return nr;
}

void
descendants_kill(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = ROUND_NS};

	for (int i = 0; i < NR_ROUNDS && kill_those_there(pid) > 0; i++)
		nanosleep(&pause, NULL);
}

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
