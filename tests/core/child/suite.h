/* SPDX-License-Identifier: MIT */
/* Runs the table of tests that a test program ends with. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>

#include "testing.h"

/* times: how often, with _i counting from 0. */
struct listed_test {
	const TTest **test;
	int times;
};

static inline int
run_suite(const char *name, const struct listed_test *tests, size_t nr)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 120);
	for (size_t i = 0; i < nr; i++)
		tcase_add_loop_test(tcase, *tests[i].test, 0, tests[i].times);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}

#endif
