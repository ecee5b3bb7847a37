/* SPDX-License-Identifier: MIT */
/* Parts of the child by themselves: caches, kernel.h, threads' queues, the notifier. */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "child/caches.h"
#include "child/clock_chains.h"
#include "child/kernels.h"
#include "child/notifier.h"
#include "child/thread.h"
#include "testing.h"

/* ---- caches ---- */

/* Files of sysfs: "" for one that is not there. */
static const struct {
	const char *level[4], *size[4];
	size_t expected;
} machines[] = {
	{{"1\n", "1\n", "2\n", "3\n"}, {"48K\n", "32K\n", "1024K\n", "32768K\n"}, 32 << 20},
	{{"1\n", "2\n", "", ""}, {"32K\n", "2M\n", "", ""}, 2 << 20},
	{{"", "", "", ""}, {"", "", "", ""}, 32 << 20},
	{{"1\n", "3\n", "", ""}, {"32K\n", "", "", ""}, 32 << 10},
};

static void
write_value(const char *folder, int index, const char *name, const char *value)
{
	autofree char *relative = rot_format("cache/index%d/%s", index, name);

	if (value[0])
		folder_write(folder, relative, value);
}

TEST_OF(last_level_is_read, NR_ELEMENTS(machines))
{
	char *folder = temporary_folder_new();
	size_t found;

	for (int i = 0; i < 4; i++) {
		write_value(folder, i, "level", machines[_i].level[i]);
		write_value(folder, i, "size", machines[_i].size[i]);
	}
	found = cache_last_level_read(folder);
	ck_assert_uint_eq(found, machines[_i].expected);
}

/* Whatever is done to lines, their content stays, and nothing beside them is touched. */
TEST(flushing_and_reading_keep_the_content)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = pages + 4096;
	struct rot_error error;

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory, 4096, PROT_READ | PROT_WRITE), 0);
	memset(memory, 7, 4096);
	ck_assert_msg(caches_open(0, 0, &error) == 0, "%s", error.text);
	ck_assert_int_eq(caches_open(0, 0, &error), 0);
	cache_flush(memory, 4096);
	cache_read(memory, 4096);
	cache_flush(memory + 100, 1);
	cache_read(memory + 4095, 1);
	cache_flush(memory, 0);
	caches_clear();
	cache_flush_text();
	for (size_t i = 0; i < 4096; i++)
		ck_assert_int_eq(memory[i], 7);
	caches_close();
	caches_close();
	munmap(pages, 3 * 4096);
}

static const void *const in_text[] = {text_visit, strtol};
static bool is_visited[sizeof(in_text) / sizeof(*in_text)];

static void
note_text(const void *start, size_t bytes)
{
	for (size_t i = 0; i < sizeof(in_text) / sizeof(*in_text); i++)
		is_visited[i] |= (uintptr_t)in_text[i] - (uintptr_t)start < bytes;
	cache_read(start, bytes);
}

/* Cold code includes the libraries: a function of the program and one of the C library. */
TEST(text_of_libraries_is_visited)
{
	text_visit(note_text);
	ck_assert(is_visited[0]);
	ck_assert(is_visited[1]);
}

/* The size that the driver knows counts if it is more than sysfs tells. */
TEST(larger_size_of_the_last_level_counts)
{
	size_t told;
	struct rot_error error;

	ck_assert_int_eq(caches_open(0, 0, &error), 0);
	told = cache_last_level_bytes();
	ck_assert_uint_gt(told, 0);
	caches_close();
	ck_assert_int_eq(caches_open(told / 2, 0, &error), 0);
	ck_assert_uint_eq(cache_last_level_bytes(), told);
	caches_close();
	ck_assert_int_eq(caches_open(told + 4096, 0, &error), 0);
	ck_assert_uint_eq(cache_last_level_bytes(), told + 4096);
	caches_clear();
	caches_close();
}

static size_t
mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A quarter of the memory that may be used, whatever the machine has: more is forbidden here. */
TEST(little_memory_is_not_filled_with_what_clears)
{
	enum { MEMORY = 8 << 20 };
	struct rlimit room = {.rlim_cur = mapped_bytes() + MEMORY, .rlim_max = RLIM_INFINITY};
	struct rot_error error;

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &room), 0);
	ck_assert_int_eq(caches_open(0, 0, &error), -1);
	ck_assert_msg(caches_open(0, MEMORY, &error) == 0, "%s", error.text);
	caches_clear();
	caches_close();
}

/* ---- kernel.h ---- */

static const struct {
	size_t nr, size, alignment;
} allocations[] = {{0, 8, 64}, {1, 1, 64}, {1000, 8, 64}, {262143, 8, 64}, {262144, 8, 2 << 20}, {1000000, 8, 2 << 20}};

/* Nothing has been touched: no page is in memory yet. */
TEST_OF(memory_of_kernels_is_aligned_and_fresh, NR_ELEMENTS(allocations))
{
	size_t bytes = allocations[_i].nr * allocations[_i].size;
	char *memory = kernel_allocate(allocations[_i].nr, allocations[_i].size);
	char *other = kernel_allocate(allocations[_i].nr, allocations[_i].size);
	unsigned char present;

	ck_assert_ptr_nonnull(memory);
	ck_assert_ptr_nonnull(other);
	ck_assert_ptr_ne(memory, other);
	ck_assert_uint_eq((uintptr_t)memory % allocations[_i].alignment, 0);
	ck_assert_int_eq(mincore(memory, 1, &present), 0);
	ck_assert_int_eq(present & 1, 0);
	memset(memory, 1, bytes);
	memset(other, 2, bytes);
	ck_assert(bytes == 0 || (memory[0] == 1 && memory[bytes - 1] == 1));
	kernel_free(memory);
	ck_assert(bytes == 0 || other[bytes - 1] == 2);
	kernel_free(other);
	kernel_free(NULL);
}

static const struct {
	size_t nr, size;
	const char *reason;
} impossible[] = {
	{SIZE_MAX, 2, "more than there are addresses"},
	{SIZE_MAX / 2, 1, "bytes of memory are available"},
	{(size_t)1 << 50, 1, "bytes of memory are available"},
};

TEST_OF(memory_that_cannot_be_is_refused_with_a_reason, NR_ELEMENTS(impossible))
{
	kernel_reason_clear();
	ck_assert_str_eq(kernel_reason(), "");
	ck_assert_ptr_null(kernel_allocate(impossible[_i].nr, impossible[_i].size));
	ck_assert_has(kernel_reason(), impossible[_i].reason);
}

TEST(values_are_reproducible_and_never_zero)
{
	enum { NR = 10000 };
	double a[NR], b[NR], sum = 0;
	float f[NR];

	kernel_fill(a, NR, 1);
	kernel_fill(b, NR, 1);
	ck_assert_int_eq(memcmp(a, b, sizeof(a)), 0);
	kernel_fill(b, NR, 2);
	ck_assert_int_ne(memcmp(a, b, sizeof(a)), 0);
	kernel_fill_float(f, NR, 1);
	for (size_t i = 0; i < NR; i++) {
		ck_assert(a[i] >= 1 && a[i] < 2);
		ck_assert(f[i] >= 1 && f[i] < 2);
		sum += a[i] + (double)f[i];
	}
	ck_assert_double_eq_tol(sum / NR, 3, 0.05);
}

/* ---- queues ---- */

TEST(actions_are_taken_in_order_until_the_thread_is_over)
{
	struct stop_kernel_action *actions[2] = {stop_kernel_action_new(), stop_kernel_action_new()};
	cleared_by(child_thread_clear) struct child_thread thread = {0};

	child_thread_init(&thread, NULL);
	ck_assert_ptr_null(child_thread_take(&thread, false));
	ck_assert(child_thread_queue(&thread, &actions[0]->base));
	ck_assert(child_thread_queue(&thread, &actions[1]->base));
	ck_assert_ptr_eq(child_thread_take(&thread, true), actions[0]);
	ck_assert_ptr_eq(child_thread_take(&thread, true), actions[1]);
	ck_assert(child_thread_queue(&thread, &actions[1]->base));
	ck_assert_ptr_eq(child_thread_take(&thread, true), actions[1]);
	ck_assert_ptr_null(child_thread_take(&thread, true));
	ck_assert(!child_thread_queue(&thread, &actions[0]->base));
	stop_kernel_action_delete(actions[0]);
	stop_kernel_action_delete(actions[1]);
}

/* ---- notifier ---- */

static void
tell(int fd, enum wire_kind kind, pid_t tid)
{
	struct wire_message message = {.kind = kind, .tid = tid};

	ck_assert_int_eq(wire_send(fd, &message, true), 0);
}

TEST(threads_without_measurers_are_counted)
{
	const pid_t own[] = {10, 11}, later[] = {12};
	cleared_by(notifier_clear) struct notifier notifier = {0};
	struct wire_message message;
	struct rot_error error;
	int ends[2];

	ck_assert_int_eq(wire_open(ends, &error), 0);
	notifier_init(&notifier, ends[1]);

	/* a run with two own threads, one foreign that ends, one that stays (this one) */
	notifier_begin_run(&notifier);
	tell(ends[0], WIRE_THREAD_STARTED, 10);
	tell(ends[0], WIRE_THREAD_STARTED, 20);
	tell(ends[0], WIRE_THREAD_STARTED, 11);
	tell(ends[0], WIRE_THREAD_EXITED, 20);
	tell(ends[0], WIRE_THREAD_STARTED, gettid());
	tell(ends[0], WIRE_THREAD_EXITED, 10);
	ck_assert_uint_eq(notifier_end_run(&notifier, own, 2), 2);

	/* the one that stayed is alive in the next run; the end of an own one may be told late */
	tell(ends[0], WIRE_THREAD_EXITED, 11);
	notifier_begin_run(&notifier);
	tell(ends[0], WIRE_THREAD_STARTED, 12);
	ck_assert_uint_eq(notifier_end_run(&notifier, later, 1), 1);

	/* and none is left once it has ended */
	tell(ends[0], WIRE_THREAD_EXITED, gettid());
	notifier_begin_run(&notifier);
	tell(ends[0], WIRE_THREAD_STARTED, INT32_MAX);
	ck_assert_uint_eq(notifier_end_run(&notifier, NULL, 0), 1);

	/* one that has ended without news is not counted */
	notifier_begin_run(&notifier);
	ck_assert_uint_eq(notifier_end_run(&notifier, NULL, 0), 0);

	ck_assert_int_eq(notifier_send(&notifier, WIRE_RUN_FINISHED, 3, &error), 0);
	ck_assert_int_eq(wire_receive(ends[0], &message, true), 0);
	ck_assert_uint_eq(message.kind, WIRE_RUN_FINISHED);
	ck_assert_int_eq(message.argument, 3);
	close(ends[0]);
	ck_assert_int_eq(notifier_send(&notifier, WIRE_RUN_FINISHED, 4, &error), -1);
	close(ends[1]);
}

/* The file of a thread begins with its name, in which anything may stand. */
TEST(threads_of_any_name_are_alive)
{
	static const char *const names[] = {"plain", "", "a) Z b", ")", "(("};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i]);
		ck_assert_msg(thread_is_alive(gettid()), "'%s'", names[i]);
	}
	ck_assert(!thread_is_alive(1));
}

/* Covered ones are not counted, alive or ended, and only in the run in which they were covered. */
TEST(covered_threads_are_not_counted)
{
	const pid_t own[] = {1};
	cleared_by(notifier_clear) struct notifier notifier = {0};
	pid_t *tids;
	size_t nr;

	notifier_init(&notifier, -1);
	notifier_begin_run(&notifier);
	for (pid_t tid = 1; tid <= 4; tid++)
		notifier_thread_started(&notifier, tid);
	notifier_thread_started(&notifier, gettid());
	notifier_cover(&notifier, 2);
	notifier_cover(&notifier, gettid());
	notifier_cover(&notifier, 99);
	notifier_thread_exited(&notifier, 2);
	notifier_thread_exited(&notifier, 3);
	notifier_thread_exited(&notifier, 99);
	tids = notifier_tids(&notifier, &nr);
	ck_assert_uint_eq(nr, 3);
	free(tids);
	ck_assert_uint_eq(notifier_end_run(&notifier, own, 1), 2);
	tids = notifier_tids(&notifier, &nr);
	ck_assert_uint_eq(nr, 2);
	free(tids);

	notifier_begin_run(&notifier);
	ck_assert_uint_eq(notifier_end_run(&notifier, NULL, 0), 1);
}

TEST(without_a_parent_nothing_is_known)
{
	cleared_by(notifier_clear) struct notifier notifier = {0};
	struct rot_error error;

	notifier_init(&notifier, -1);
	notifier_begin_run(&notifier);
	ck_assert_int_eq(notifier_send(&notifier, WIRE_STARTUP, 1, &error), 0);
	ck_assert_uint_eq(notifier_end_run(&notifier, NULL, 0), 0);
}

/* ---- the clock ---- */

static const struct {
	uint64_t addition_ticks, multiplication_ticks;
	unsigned latency;
} chains[] = {
	{1000, 3000, 3}, {1024, 2999, 3}, /* additions lost some cycles, as beside a busy hardware thread */
	{1170, 3000, 3}, {1000, 3300, 3}, {1000, 4020, 4},
	{1000, 5000, 5}, {1000, 1000, 0}, /* no processor: an emulator */
	{1000, 9000, 0}, {0, 3000, 0},    {0, 0, 0},
};

TEST_OF(latency_of_multiplications_follows_from_chains, NR_ELEMENTS(chains))
{
	ck_assert_uint_eq(clock_chain_latency(chains[_i].addition_ticks, chains[_i].multiplication_ticks),
			  chains[_i].latency);
}

/* Both kinds of chains, and additions alone: as many cycles, a clock near that of the time stamp counter. */
TEST_OF(chains_are_long_enough, 4)
{
	struct clock_reading reading = clock_chain_read(_i == 0 ? 0 : _i + 2);

	ck_assert_uint_gt(reading.cycles, 60000);
	ck_assert_uint_le(reading.cycles, 65536);
	ck_assert_uint_gt(reading.ticks, 0);
}
