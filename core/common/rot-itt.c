/* SPDX-License-Identifier: MIT */
/*
 * The collector of ITT tasks: programs with ittnotify load the library that INTEL_LIBITTNOTIFY64 names when they call
 * it first, and take from it the functions that it has. The functions of tasks pass the task's marker.
 *
 * Source: ittnotify_static.c (github.com/intel/ittapi), __itt_init_ittlib: a library with __itt_api_version and
 * without __itt_api_init is asked for each function by name; ittnotify.h has their arguments.
 */
#include "rot-itt.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rot-marker.h"

#define EXPORT __attribute__((visibility("default")))

/* Their prototypes are in ittnotify.h. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct itt_id {
	unsigned long long parts[3];
};

struct itt_string {
	const char *text;
};

#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define BEGIN(number)                                                                                                  \
	case number:                                                                                                   \
		ROT_REGION_BEGIN(itt_task_##number);                                                                   \
		break;
#define END(number)                                                                                                    \
	case number:                                                                                                   \
		ROT_REGION_END(itt_task_##number);                                                                     \
		break;

/* The tasks of a thread that have not ended; deeper ones have no place and are not seen. -1: not wanted. */
#define MAX_DEPTH 256

static __thread int open_tasks[MAX_DEPTH], nr_open;

static int
number_of(const char *name)
{
	const char *line = getenv(ROT_ITT_TASKS);
	const size_t length = strlen(name);

	for (int number = 0; line && number < ROT_ITT_MAX_TASKS; number++) {
		const size_t length_of_line = strcspn(line, "\n");

		if (length_of_line == length && strncmp(line, name, length) == 0)
			return number;
		line = line[length_of_line] ? line + length_of_line + 1 : NULL;
	}
	return -1;
}

static void
begin(const struct itt_string *name)
{
	const int number = name && name->text ? number_of(name->text) : -1;

	if (nr_open++ >= MAX_DEPTH)
		return;
	open_tasks[nr_open - 1] = number;
	switch (number) {
		EACH(BEGIN)
	default:
		break;
	}
}

static void
end(void)
{
	if (nr_open == 0 || --nr_open >= MAX_DEPTH)
		return;
	switch (open_tasks[nr_open]) {
		EACH(END)
	default:
		break;
	}
}

EXPORT const char *
__itt_api_version(void)
{
	return "3.0";
}

EXPORT void
__itt_task_begin(const void *domain, struct itt_id task, struct itt_id parent, const struct itt_string *name)
{
	(void)domain, (void)task, (void)parent;
	begin(name);
}

EXPORT void
__itt_task_begin_fn(const void *domain, struct itt_id task, struct itt_id parent, void *function)
{
	(void)domain, (void)task, (void)parent, (void)function;
	begin(NULL);
}

EXPORT void
__itt_task_end(const void *domain)
{
	(void)domain;
	end();
}

EXPORT void
__itt_task_begin_ex(const void *domain, void *clock, unsigned long long time, struct itt_id task, struct itt_id parent,
		    const struct itt_string *name)
{
	(void)domain, (void)clock, (void)time, (void)task, (void)parent;
	begin(name);
}

EXPORT void
__itt_task_begin_fn_ex(const void *domain, void *clock, unsigned long long time, struct itt_id task,
		       struct itt_id parent, void *function)
{
	(void)domain, (void)clock, (void)time, (void)task, (void)parent, (void)function;
	begin(NULL);
}

EXPORT void
__itt_task_end_ex(const void *domain, void *clock, unsigned long long time)
{
	(void)domain, (void)clock, (void)time;
	end();
}
