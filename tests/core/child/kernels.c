/* SPDX-License-Identifier: MIT */
/* The kernels of the tests, and the table of them. */
#include <linux/futex.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "PlainData.h"
#include "ProbeData.h"
#include "child/journal.h"
#include "child/kernels.h"

#define PAGE_BYTES 4096

struct probe {
	struct probe_data data;
	atomic_int is_stopped;
	atomic_int tid; /* of the workload */
	char *pages;
	long buffer[64];
};

static int
initialize(void *kernel)
{
	struct probe *probe = kernel;

	journal_add("probe initialize", -1);
	probe->tid = gettid();
	if (probe->data.failure[0])
		return kernel_fail("%s", probe->data.failure);
	if (probe->data.pages > 0)
		probe->pages = kernel_allocate((size_t)probe->data.pages, PAGE_BYTES);
	if (probe->pages) {
		madvise(probe->pages, (size_t)probe->data.pages * PAGE_BYTES, MADV_NOHUGEPAGE);
		memset(probe->pages, 1, (size_t)probe->data.pages * PAGE_BYTES);
	}
	return probe->data.pages > 0 && !probe->pages ? -1 : 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer list[KERNEL_MAX_BUFFERS])
{
	struct probe *probe = kernel;

	journal_add("probe buffers", -1);
	list[0] = (struct kernel_buffer){probe->buffer, sizeof(probe->buffer)};
	list[1] = (struct kernel_buffer){probe->pages, (size_t)probe->data.pages * PAGE_BYTES};
	return probe->pages ? 2 : 1;
}

/* Where tests have breakpoints. */
char *probe_visit(char *page, int nr);

/* clang makes no copies of functions for some of their arguments. */
#ifdef __clang__
#define IN_ONE_PLACE __attribute__((noinline))
#else
#define IN_ONE_PLACE __attribute__((noinline, noclone))
#endif

IN_ONE_PLACE char *
probe_visit(char *page, int nr)
{
	for (int i = 0; i < nr; i++, page += PAGE_BYTES)
		*(volatile char *)page = 1;
	return page;
}

/* The same place under other names. */
#define PROBE_ALIAS(n)                                                                                                 \
	char *probe_alias_##n(char *page, int nr) __attribute__((alias("probe_visit")));                               \
	char *probe_more_##n(char *page, int nr) __attribute__((alias("probe_visit")))
PROBE_ALIAS(0);
PROBE_ALIAS(1);
PROBE_ALIAS(2);
PROBE_ALIAS(3);
PROBE_ALIAS(4);
PROBE_ALIAS(5);
PROBE_ALIAS(6);
PROBE_ALIAS(7);
PROBE_ALIAS(8);
PROBE_ALIAS(9);

static void *
thread_main(void *argument)
{
	const struct probe *probe = argument;

	for (int i = 0; i < probe->data.thread_visits; i++)
		probe_visit(NULL, 0);
	return argument;
}

static void
visit(const struct probe *probe)
{
	char *page = probe->pages;

	for (int i = 1; i <= probe->data.visits; i++)
		page = probe_visit(page, i);
}

static void
start_programs(int nr)
{
	char name[] = "true", *const arguments[] = {name, NULL};
	pid_t pid;

	for (int i = 0; i < nr; i++) {
		if (posix_spawnp(&pid, name, NULL, NULL, arguments, environ) == 0)
			waitpid(pid, NULL, 0);
	}
}

/* Some systems map a page for good when it is read or flushed, as the states of the caches do: each run has new ones.
 */
static void
renew_pages(const struct probe *probe)
{
	if (probe->pages)
		madvise(probe->pages, (size_t)probe->data.pages * PAGE_BYTES, MADV_DONTNEED);
}

static void
run(void *kernel)
{
	struct probe *probe = kernel;
	pthread_t thread;

	journal_add("probe run", -1);
	renew_pages(probe);
	visit(probe);
	for (long i = 0; i < probe->data.pages && probe->data.visits == 0; i++)
		probe->pages[i * PAGE_BYTES] = 1;
	for (int i = 0; i < probe->data.threads; i++) {
		if (pthread_create(&thread, NULL, thread_main, probe) == 0)
			pthread_join(thread, NULL);
	}
	start_programs(probe->data.programs);
	while (probe->data.until_stopped && !probe->is_stopped) {
		if (probe->data.sleeps)
			syscall(SYS_futex, &probe->is_stopped, FUTEX_WAIT, 0, NULL, NULL, 0);
		else
			__builtin_ia32_pause();
	}
}

static void
warm_code(void *kernel)
{
	(void)kernel;
	journal_add("probe warm_code", -1);
}

static void
warm_data(void *kernel)
{
	(void)kernel;
	journal_add("probe warm_data", -1);
}

static void
stop(void *kernel)
{
	struct probe *probe = kernel;

	journal_add("probe stop", -1);
	if (probe->data.stop_faults)
		__builtin_trap();
	if (probe->data.stops_itself_only && probe->tid != gettid())
		return;
	probe->is_stopped = 1;
	syscall(SYS_futex, &probe->is_stopped, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void
dispose(void *kernel)
{
	struct probe *probe = kernel;

	journal_add("probe dispose", -1);
	kernel_free(probe->pages);
}

extern const size_t probe_size, plain_size;
extern const struct kernel_type kernel_probe, kernel_plain, kernel_crew;

KERNEL(probe, "Probe", .initialize = initialize, .buffers = buffers, .run = run, .warm_code = warm_code,
       .warm_data = warm_data, .stop = stop, .dispose = dispose);

struct plain {
	struct plain_data data;
};

static void
run_plain(void *kernel)
{
	(void)kernel;
	journal_add("plain run", -1);
}

KERNEL(plain, "Plain", .run = run_plain);

const struct kernel_type *const rot_kernels[] = {&kernel_probe, &kernel_plain, &kernel_crew, NULL};
