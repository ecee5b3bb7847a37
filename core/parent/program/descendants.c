/* SPDX-License-Identifier: MIT */
/* See descendants.h. All processes are looked at, since not every kernel lists the children of one. */
#include "parent/program/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/proc.h"
#include "memory.h"

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

static bool
is_one(const struct processes *all, const struct process *process, pid_t ancestor)
{
	const struct process key = {.pid = process->parent}, *parent;

	if (process->parent == ancestor)
		return true;
	parent = bsearch(&key, all->at, all->nr, sizeof(*all->at), by_pid);
	return parent && parent->is_descendant;
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

			if (process->is_descendant || !is_one(all, process, ancestor))
				continue;
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
	for (size_t i = 0; i < all.nr; i++) {
		if (all.at[i].is_descendant && all.at[i].is_running && kill(all.at[i].pid, SIGKILL) == 0)
			nr++;
	}
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
