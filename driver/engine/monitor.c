/* SPDX-License-Identifier: MIT */
/* Where the time went: a tree of tasks with the time of the clock that never jumps. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/monitor.h"
#include "memory.h"

#define NAME_WIDTH 34 /* the whole fits into 80 columns */

struct task {
	char *name;
	struct task *parent, *first_child, *next;
	unsigned long nr_entries;
	double seconds;    /* of all finished entries, children included */
	double entered_at; /* valid while active                          */
};

struct monitor {
	struct task root;
	struct task *current;
};

struct monitor *
monitor_new(void)
{
	struct monitor *monitor = rot_calloc(1, sizeof *monitor);

	monitor->root.name = rot_strdup("total");
	monitor->root.nr_entries = 1;
	monitor->root.entered_at = clock_now_s();
	monitor->current = &monitor->root;
	return monitor;
}

static void
clear_task(struct task *task)
{
	for (struct task *child = task->first_child, *next; child; child = next) {
		next = child->next;
		clear_task(child);
		free(child);
	}
	free(task->name);
}

void
monitor_delete(struct monitor *monitor)
{
	if (!monitor)
		return;
	clear_task(&monitor->root);
	free(monitor);
}

void
monitor_enter(struct monitor *monitor, const char *task)
{
	struct task **link = &monitor->current->first_child;

	while (*link && strcmp((*link)->name, task) != 0)
		link = &(*link)->next;
	if (!*link) {
		*link = rot_calloc(1, sizeof **link);
		(*link)->name = rot_strdup(task);
		(*link)->parent = monitor->current;
	}
	monitor->current = *link;
	monitor->current->nr_entries++;
	monitor->current->entered_at = clock_now_s();
}

void
monitor_leave(struct monitor *monitor)
{
	struct task *task = monitor->current;

	if (!task->parent)
		return;
	task->seconds += clock_now_s() - task->entered_at;
	monitor->current = task->parent;
}

static double
task_seconds(const struct monitor *monitor, const struct task *task)
{
	const struct task *active = monitor->current;

	while (active && active != task)
		active = active->parent;
	return task->seconds + (active ? clock_now_s() - task->entered_at : 0);
}

static void
print_task(const struct monitor *monitor, const struct task *task, int depth, FILE *out)
{
	double total = task_seconds(monitor, task), own = total;

	for (const struct task *child = task->first_child; child; child = child->next)
		own -= task_seconds(monitor, child);
	fprintf(out, "%*s%-*s %6lu x %10.3f s total %10.3f s own\n", 2 * depth, "", NAME_WIDTH - 2 * depth, task->name,
		task->nr_entries, total, own < 0 ? 0 : own);
	for (const struct task *child = task->first_child; child; child = child->next)
		print_task(monitor, child, depth + 1, out);
}

void
monitor_print(const struct monitor *monitor, FILE *out)
{
	print_task(monitor, &monitor->root, 0, out);
}
