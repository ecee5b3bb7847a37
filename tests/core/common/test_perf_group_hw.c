/* SPDX-License-Identifier: MIT */
/* A group counts the same each time it is started, all its members for the same time. Skipped where even software
 * events are refused. */
#include <check.h>
#include <stdio.h>
#include <sys/mman.h>

#include "common/perf_event.h"
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

START_TEST(every_start_counts_anew)
{
	struct perf_counts counts;
	struct perf_group group;
	struct rot_error err;

	ck_assert_msg(open_group(&group, (size_t)_i, &err) == 0, "%s", err.text);
	for (int start = 0; start < NR_STARTS; start++) {
		volatile char *pages =
			mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ck_assert_ptr_ne((void *)pages, MAP_FAILED);
		madvise((void *)pages, NR_PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
		ck_assert_int_eq(perf_group_start(&group), 0);
		for (size_t i = 0; i < NR_PAGES; i++)
			pages[i * PAGE_BYTES] = 1;
		ck_assert_int_eq(perf_group_stop(&group), 0);
		ck_assert_msg(perf_group_read(&group, &counts, &err) == 0, "%s", err.text);
		munmap((void *)pages, NR_PAGES * PAGE_BYTES);
		/* a sanitizer's own pages may come in addition, for all members alike */
		ck_assert_uint_ge(counts.values[1], NR_PAGES);
		ck_assert_uint_eq(counts.values[2], counts.values[1]);
		ck_assert_uint_eq(counts.values[3], counts.values[1]);
		ck_assert_uint_lt(counts.values[1], 2 * NR_PAGES);
	}
	perf_group_close(&group);
}
END_TEST

int
main(void)
{
	struct perf_group group;
	struct rot_error err;
	Suite *suite;
	TCase *tcase;

	if (open_group(&group, 0, &err) < 0) {
		fprintf(stderr, "SKIP: %s\n", err.text);
		return TEST_SKIPPED;
	}
	perf_group_close(&group);
	suite = suite_create("perf groups");
	tcase = tcase_create("perf groups");
	tcase_add_loop_test(tcase, every_start_counts_anew, 0, NR_ELEMENTS(groups));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
