/* SPDX-License-Identifier: MIT */
/* A group counts the same each time it is started, all its members for the same time. Skipped where even software
 * events are refused. */
#include "common/perf_event.h"
#include "common/thread_set.h"
#include "entities.h"
#include "testing.h"

#define NR_STARTS 3
#define NR_PAGES 10
#define PAGE_BYTES 4096

/* Members of the leader's PMU, and members of another one. */
static const char *const groups[][4] = {
	{"perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS_MIN",
	 "perf::PERF_COUNT_SW_PAGE_FAULTS"},
	{"perf::PERF_COUNT_SW_TASK_CLOCK", "perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS_MIN",
	 "perf::PERF_COUNT_SW_PAGE_FAULTS"},
};

static int
open_group(struct perf_group *group, size_t i, struct rot_error *err)
{
	return perf_group_open(group, groups[i], 4, (struct perf_modes){.user = true}, 0, err);
}

static volatile char *
fresh_pages(void)
{
	char *pages = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	madvise(pages, NR_PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	return pages;
}

static void
touch(volatile char *pages)
{
	for (size_t i = 0; i < NR_PAGES; i++)
		pages[i * PAGE_BYTES] = 1;
}

/* A sanitizer's own pages may come in addition, for all members alike. */
static void
check_pages(const struct perf_counts *counts, size_t nr)
{
	ck_assert_uint_ge(counts->values[1], NR_PAGES);
	ck_assert_uint_lt(counts->values[1], 2 * NR_PAGES);
	for (size_t i = 2; i < nr; i++)
		ck_assert_uint_eq(counts->values[i], counts->values[1]);
}

TEST_OF(every_start_counts_anew, NR_ELEMENTS(groups))
{
	struct perf_counts counts;
	struct perf_group group;

	ck_assert_ok(open_group(&group, (size_t)_i, &why));
	for (int start = 0; start < NR_STARTS; start++) {
		volatile char *pages = fresh_pages();

		ck_assert_int_eq(perf_group_start(&group), 0);
		touch(pages);
		ck_assert_int_eq(perf_group_stop(&group), 0);
		ck_assert_ok(perf_group_read(&group, &counts, &why));
		munmap((void *)pages, NR_PAGES * PAGE_BYTES);
		check_pages(&counts, 4);
	}
	perf_group_close(&group);
}

/* Its events may count one after the other, or start when the last one is there. */
TEST_OF(a_group_counts_as_soon_as_it_is_open, 3)
{
	const size_t nr = (size_t)_i + 2;
	volatile char *pages = fresh_pages();
	struct perf_encoding *encoding;
	struct perf_counts counts;
	struct perf_group group;

	encoding = perf_encoding_new(groups[1], nr, (struct perf_modes){.user = true}, &why);
	ck_assert_msg(encoding != NULL, "%s", why.text);
	ck_assert_ok(perf_group_open_encoded(&group, encoding, PERF_HEIRS_NONE, PERF_BEGIN_NOW, 0, &why));
	touch(pages);
	ck_assert_ok(perf_group_read(&group, &counts, &why));
	check_pages(&counts, nr);
	ck_assert_uint_gt(counts.running_ns, 0);
	ck_assert_uint_eq(counts.running_ns, counts.enabled_ns);
	perf_group_close(&group);
	perf_encoding_delete(encoding);
	munmap((void *)pages, NR_PAGES * PAGE_BYTES);
}

static void *
touch_fresh(void *pages)
{
	touch(pages);
	return pages;
}

/* The work of a thread that is made later is in it, in all members alike; the stack that it gets as well. */
TEST_OF(heirs_are_counted, NR_ELEMENTS(groups))
{
	volatile char *pages = fresh_pages();
	struct perf_encoding *encoding;
	struct perf_counts counts;
	struct perf_group group;
	pthread_t heir;

	encoding = perf_encoding_new(groups[_i], 4, (struct perf_modes){.user = true}, &why);
	ck_assert_msg(encoding != NULL, "%s", why.text);
	ck_assert_ok(perf_group_open_encoded(&group, encoding, PERF_HEIRS_ALL, PERF_BEGIN_NOW, 0, &why));
	ck_assert_int_eq(pthread_create(&heir, NULL, touch_fresh, (void *)pages), 0);
	ck_assert_int_eq(pthread_join(heir, NULL), 0);
	ck_assert_int_eq(perf_group_stop(&group), 0);
	ck_assert_ok(perf_group_read(&group, &counts, &why));
	ck_assert_uint_ge(counts.values[1], NR_PAGES);
	ck_assert_uint_eq(counts.values[3], counts.values[1]);
	ck_assert_uint_gt(counts.running_ns, 0);
	ck_assert_uint_eq(counts.running_ns, counts.enabled_ns);
	perf_group_close(&group);
	perf_encoding_delete(encoding);
	munmap((void *)pages, NR_PAGES * PAGE_BYTES);
}

/* The second number that the system gives of a group: how long it was enabled. */
static uint64_t
enabled_ns(int fd)
{
	uint64_t data[4];

	ck_assert_int_eq(read(fd, data, sizeof(data)), sizeof(data));
	return data[1];
}

/* A set that was stopped, or not started yet, leaves the counters to others. */
TEST(a_set_of_a_thread_counts_only_between_start_and_stop)
{
	struct perf_event_definition *definition = perf_event_definition_new();
	struct perf_event_measurer *measurer = perf_event_measurer_new();
	struct measurer_set *description = measurer_set_new();
	int fd = dup(STDERR_FILENO); /* the number of the next descriptor */
	struct set_plan *plan;
	struct thread_set *set;
	uint64_t stopped_ns;

	rot_string_set(&definition->definition, "perf::PERF_COUNT_SW_PAGE_FAULTS");
	perf_event_measurer_events_add(measurer, definition);
	description->main_measurer = &measurer->base;
	plan = set_plan_new(description, &why);
	ck_assert_msg(plan != NULL, "%s", why.text);
	close(fd);
	set = thread_set_new(plan, gettid(), &why);
	ck_assert_msg(set != NULL, "%s", why.text);
	ck_assert_uint_eq(enabled_ns(fd), 0);
	thread_set_start(set);
	ck_assert_uint_gt(enabled_ns(fd), 0);
	thread_set_stop(set);
	stopped_ns = enabled_ns(fd);
	ck_assert_uint_eq(enabled_ns(fd), stopped_ns);
	thread_set_delete(set);
	set_plan_delete(plan);
	rot_graph_delete(description);
}

static bool
groups_can_be_opened(void)
{
	struct perf_group group;

	if (open_group(&group, 0, &why) < 0) {
		fprintf(stderr, "SKIP: %s\n", why.text);
		return false;
	}
	perf_group_close(&group);
	return true;
}

UNIT_TESTS(.needs = {groups_can_be_opened});
