/* SPDX-License-Identifier: MIT */
/* See testing.h. */
#include "testing.h"

#include <ftw.h>
#include <stdarg.h>

/* For what hangs, not for what is slow on a busy machine. */
#define TIMEOUT_S 600

bool
all_are_tested(void)
{
	const char *wanted = getenv("ROT_SLOW_TESTS");

	return wanted && *wanted && strcmp(wanted, "0") != 0;
}

/* Around each test, in its process. */
static TCase *
case_of(const struct suite *suite)
{
	TCase *tcase = tcase_create(suite->name);

	tcase_set_timeout(tcase, suite->timeout_s ? suite->timeout_s : TIMEOUT_S);
	tcase_add_checked_fixture(tcase, suite->set_up, suite->tear_down);
	for (int i = 0; i < suite->nr_tests; i++)
		tcase_add_loop_test(tcase, *suite->tests[i].test, 0, suite->tests[i].times);
	return tcase;
}

static bool
can_run(const struct suite *suite)
{
	for (int i = 0; i < NR_ELEMENTS(suite->needs) && suite->needs[i]; i++)
		if (!suite->needs[i]())
			return false;
	return true;
}

static int
run_all(const struct suite *suite)
{
	Suite *checked = suite_create(suite->name);
	SRunner *runner = srunner_create(checked);
	int nr_failed;

	suite_add_tcase(checked, case_of(suite));
	if (suite->is_in_one_process)
		srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	nr_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return nr_failed ? 1 : 0;
}

int
suite_run(const struct suite *suite)
{
	int status = can_run(suite) ? run_all(suite) : TEST_SKIPPED;

	if (suite->close)
		suite->close();
	return status;
}

static char *
path_below(const char *variable, const char *format, va_list arguments)
{
	const char *folder = getenv(variable);
	char *relative, *path;

	if (vasprintf(&relative, format, arguments) < 0)
		abort();
	path = rot_format("%s/%s", folder ? folder : ".", relative);

	free(relative);
	return path;
}

char *
source_path(const char *format, ...)
{
	va_list arguments;
	char *path;

	va_start(arguments, format);
	path = path_below("top_srcdir", format, arguments);
	va_end(arguments);
	return path;
}

char *
built_path(const char *format, ...)
{
	va_list arguments;
	char *path;

	va_start(arguments, format);
	path = path_below("top_builddir", format, arguments);
	va_end(arguments);
	return path;
}

static void
end(const char *path)
{
	perror(path);
	exit(1);
}

char *
temporary_folder_new(void)
{
	const char *parent = getenv("TMPDIR");
	char *folder = rot_format("%s/rot-test-XXXXXX", parent && *parent ? parent : "/tmp");

	if (!mkdtemp(folder))
		end(folder);
	return folder;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status, (void)type, (void)position;
	return remove(path);
}

void
temporary_folder_delete(char *folder)
{
	if (folder)
		nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

char *
file_text(const char *path)
{
	FILE *file = fopen(path, "re"), *copy;
	char *text = NULL;
	size_t length;
	int c;

	if (!file)
		end(path);
	copy = open_memstream(&text, &length);
	while ((c = getc(file)) != EOF)
		putc(c, copy);
	if (ferror(file) || fclose(copy) != 0)
		end(path);
	fclose(file);
	return text;
}

void
file_fill(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		end(path);
}

void
expect_golden(const char *path, const char *text)
{
	const char *wish = getenv("GOLDEN");
	char *file = source_path("%s", path), *expected;

	if (wish && strcmp(wish, "write") == 0)
		file_fill(file, text);
	expected = file_text(file);
	if (strcmp(text, expected) != 0) {
		fprintf(stderr, "%s:\n%s\nbut it is:\n%s\n", path, expected, text);
		ck_abort_msg("the text is not that of %s", path);
	}
	free(expected);
	free(file);
}

char *
folder_write(const char *folder, const char *name, const char *text)
{
	char *path = rot_format("%s/%s", folder, name);

	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file_fill(path, text);
	return path;
}
