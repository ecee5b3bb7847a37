/* SPDX-License-Identifier: MIT */
/*
 * A program with tasks of ITT, three times: "outer task" with 1000 multiplications and a call of "inner" with 500, and
 * an unnamed one of 100. As the static part of ittnotify does, it takes the functions out of the library that the
 * environment names, if its groups are wanted; without a library it does the same work.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct id {
	unsigned long long parts[3];
};

struct string_handle {
	const char *text;
	void *unused[4];
};

static void (*task_begin)(const void *, struct id, struct id, const struct string_handle *);
static void (*task_begin_fn)(const void *, struct id, struct id, void *);
static void (*task_end)(const void *);

static const struct string_handle outer = {"outer task", {NULL}}, inner = {"inner", {NULL}};
static const struct id none;
static volatile double number = 1;

static void
load(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64"), *groups = getenv("INTEL_ITTNOTIFY_GROUPS");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;

	if (!library || !groups || strcmp(groups, "all") != 0 || dlsym(library, "__itt_api_init") ||
	    !dlsym(library, "__itt_api_version"))
		return;
	*(void **)&task_begin = dlsym(library, "__itt_task_begin");
	*(void **)&task_begin_fn = dlsym(library, "__itt_task_begin_fn");
	*(void **)&task_end = dlsym(library, "__itt_task_end");
}

static void
multiply(int nr)
{
	for (int i = 0; i < nr; i++)
		number *= 1.5;
}

static void
run_inner(void)
{
	if (task_begin)
		task_begin("domain", none, none, &inner);
	multiply(500);
	if (task_end)
		task_end("domain");
}

int
main(void)
{
	load();
	for (int i = 0; i < 3; i++) {
		if (task_begin)
			task_begin("domain", none, none, &outer);
		multiply(1000);
		run_inner();
		if (task_begin_fn)
			task_begin_fn("domain", none, none, NULL);
		multiply(100);
		if (task_end)
			task_end("domain");
		if (task_end)
			task_end("domain");
		multiply(50);
	}
	return 0;
}
