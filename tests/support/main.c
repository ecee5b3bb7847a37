/* SPDX-License-Identifier: MIT */
/*
 * unit-tests               prints the source files whose tests it holds
 * unit-tests --has FILE    succeeds if it holds the tests of this one
 * unit-tests FILE          runs them; libcheck's CK_FORK=no and CK_RUN_CASE serve as usual
 */
#include "testing.h"

/* For what hangs, not for what is slow on a busy machine. */
#define TIMEOUT_S 600

static struct listed_test *tests, **end_of_tests = &tests;
static const struct suite *suites;

void
test_add(struct listed_test *test)
{
	*end_of_tests = test;
	end_of_tests = &test->next;
}

void
suite_add(struct suite *suite)
{
	suite->next = suites;
	suites = suite;
}

/* The path within the source tree, whatever way leads to it. */
static const char *
path_in_tree(const char *path)
{
	const char *found = path;

	for (const char *next = path; (next = strstr(next, "tests/")); next++)
		found = next;
	return found;
}

/* The path as the compiler was told it; NULL: there are no tests of it. FILE may be its end, as test_paths.c. */
static const char *
path_of(const char *file)
{
	const char *end = path_in_tree(file);

	for (const struct listed_test *listed = tests; listed; listed = listed->next) {
		const char *path = listed->test->file;
		const size_t length = strlen(path), nr = strlen(end);

		if (length >= nr && strcmp(path + length - nr, end) == 0 &&
		    (length == nr || path[length - nr - 1] == '/'))
			return path;
	}
	return NULL;
}

static const struct suite *
suite_of(const char *path)
{
	static const struct suite without_needs;

	for (const struct suite *suite = suites; suite; suite = suite->next)
		if (strcmp(suite->path, path) == 0)
			return suite;
	return &without_needs;
}

/* Returns 0 if there are such tests, and all pass. */
static int
run_tests(const char *path, const struct suite *suite, const char *only)
{
	Suite *checked = suite_create(path_in_tree(path));
	SRunner *runner = srunner_create(checked);
	TCase *tcase = tcase_create(path_in_tree(path));
	bool all_passed;

	tcase_set_timeout(tcase, suite->timeout_s ? suite->timeout_s : TIMEOUT_S);
	tcase_add_checked_fixture(tcase, test_begin, test_end);
	tcase_add_checked_fixture(tcase, suite->set_up, suite->tear_down);
	for (const struct listed_test *listed = tests; listed; listed = listed->next)
		if (strcmp(listed->test->file, path) == 0 && (!only || strcmp(listed->test->name, only) == 0))
			tcase_add_loop_test(tcase, listed->test, 0, listed->times());
	suite_add_tcase(checked, tcase);
	if (suite->is_in_one_process)
		srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	all_passed = srunner_ntests_run(runner) > 0 && srunner_ntests_failed(runner) == 0;
	srunner_free(runner);
	return all_passed ? 0 : 1;
}

int
test_run_alone(const char *path, const char *name)
{
	return run_tests(path, suite_of(path), name);
}

static bool
can_run(const struct suite *suite)
{
	for (int i = 0; i < NR_ELEMENTS(suite->needs) && suite->needs[i]; i++)
		if (!suite->needs[i]())
			return false;
	return true;
}

/* The exit status: 0 when all passed, TEST_SKIPPED, otherwise 1. */
static int
run_file(const char *path)
{
	const struct suite *suite = suite_of(path);
	int status = can_run(suite) ? run_tests(path, suite, NULL) : TEST_SKIPPED;

	if (suite->close)
		suite->close();
	return status;
}

int
main(int argc, char **argv)
{
	const char *path = argc > 1 ? path_of(argv[argc - 1]) : NULL;

	if (argc == 1) {
		for (const struct listed_test *listed = tests; listed; listed = listed->next) {
			if (!path || strcmp(listed->test->file, path) != 0)
				printf("%s\n", path_in_tree(listed->test->file));
			path = listed->test->file;
		}
		return 0;
	}
	if (strcmp(argv[1], "--has") == 0)
		return path ? 0 : 1;
	if (!path) {
		fprintf(stderr, "%s: no tests of '%s'; without an argument it prints the files that it has\n", argv[0],
			argv[1]);
		return 2;
	}
	return run_file(path);
}
