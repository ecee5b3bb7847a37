/* SPDX-License-Identifier: MIT */
/* The tree of tasks and the progress line, by which a user sees time. */
#include <pty.h>

#include "base/progress.h"
#include "engine/monitor.h"
#include "testing.h"

/* Not inlined: gcc 12 takes the stream's pointer to the text for one to a variable that is gone. */
static char *__attribute__((noinline)) printed(const struct monitor *monitor)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	monitor_print(monitor, out);
	fclose(out);
	return text;
}

TEST(monitor_nests_and_adds_up)
{
	struct monitor *monitor = monitor_new();
	char *text, *measure, *build, *plot;

	for (int i = 0; i < 3; i++) {
		monitor_enter(monitor, "measure");
		monitor_enter(monitor, "build");
		monitor_leave(monitor);
		monitor_leave(monitor);
	}
	monitor_enter(monitor, "plot");
	text = printed(monitor);
	measure = strstr(text, "\n  measure ");
	build = strstr(text, "\n    build ");
	plot = strstr(text, "\n  plot ");
	ck_assert_msg(measure && build && plot, "%s", text);
	ck_assert(measure < build && build < plot);
	ck_assert_has(measure, " 3 x ");
	ck_assert_has(plot, " 1 x ");
	ck_assert_lacks(text, "-0.");
	ck_assert_uint_lt(strcspn(text, "\n"), 80);
	free(text);
	monitor_delete(monitor);
}

TEST(monitor_survives_one_leave_too_many)
{
	struct monitor *monitor = at_end(monitor_delete, monitor_new());

	monitor_leave(monitor);
	monitor_enter(monitor, "a");
	monitor_leave(monitor);
	monitor_leave(monitor);
	autofree char *text = printed(monitor);

	ck_assert_has(text, "\n  a ");
}

static const struct {
	const char *title;
	struct progress_place place;
	const char *task;
	double elapsed_s;
	const char *text;
} lines[] = {
	{NULL, {0, 0, 3, 9, 4, 10, 0}, NULL, 12, "point 3 of 9, run 4 of 10, about 33 s left"},
	{NULL, {0, 0, 1, 9, 0, 10, 0}, NULL, 5, "point 1 of 9, run 0 of 10"},
	{NULL, {0, 0, 1, 2, 1, 10, 0}, NULL, 0.5, "point 1 of 2, run 1 of 10"},
	{NULL, {0, 0, 2, 0, 1, 10, 0}, NULL, 60, "point 2, run 1 of 10"},
	{NULL, {0, 0, 2, 3, 0, 0, 0}, "building the core", 30, "point 2 of 3, building the core, about 60 s left"},
	{NULL, {0, 0, 2, 101, 0, 0, 0}, "building the core", 60, "point 2 of 101, building the core, about 1.7 h left"},
	{NULL, {0, 0, 2, 4, 0, 0, 0}, "building the core", 120, "point 2 of 4, building the core, about 6 min left"},
	{NULL, {0, 0, 9, 9, 10, 10, 0}, NULL, 90, "point 9 of 9, run 10 of 10, about 1 s left"},
	{NULL, {1, 10, 2, 4, 1, 2, 0}, NULL, 3, "block 1 of 10, point 2 of 4, run 1 of 2, about 77 s left"},
	{NULL, {10, 10, 4, 4, 1, 2, 0}, NULL, 79, "block 10 of 10, point 4 of 4, run 1 of 2, about 1 s left"},
	{NULL, {0, 0, 3, 9, 4, 10, 0}, NULL, NAN, "point 3 of 9, run 4 of 10"},
	{"roof", {0, 0, 1, 2, 1, 10, 0}, NULL, 0.5, "roof: point 1 of 2, run 1 of 10"},
	{NULL, {0, 0, 3, 9, 4, 10, 40}, NULL, 12, "point 3 of 9, run 4 of 10, about 40 s left"},
	{NULL, {0, 0, 3, 9, 4, 10, 30}, NULL, 12, "point 3 of 9, run 4 of 10, about 33 s left"},
	{NULL, {0, 0, 1, 9, 0, 10, 30}, NULL, 12, "point 1 of 9, run 0 of 10"},
};

TEST_OF(progress_says_where_it_is, NR_ELEMENTS(lines))
{
	autofree char *text = progress_text(lines[_i].title, &lines[_i].place, lines[_i].task, lines[_i].elapsed_s);

	ck_assert_str_eq(text, lines[_i].text);
}

/* Into that as standard error. */
static void
show_progress(FILE *capture)
{
	FILE *old = stderr;
	int old_fd = dup(2);

	dup2(fileno(capture), 2);
	stderr = capture;
	progress_begin(2, false);
	progress_begin(7, false);
	progress_point();
	progress_run(1, 1);
	progress_task("building");
	progress_end();
	progress_end();
	progress_end();
	stderr = old;
	dup2(old_fd, 2);
	close(old_fd);
}

/* In a test standard error is a file: nothing may come in the first minute. */
TEST(progress_is_short_without_a_terminal)
{
	FILE *capture = tmpfile();

	show_progress(capture);
	ck_assert_int_eq(ftell(capture), 0);
	fclose(capture);
}

/* Where a line cannot be written anew, as in an editor, as little comes as into a file. */
TEST_OF(progress_is_a_line_that_changes_where_there_can_be_one, 2)
{
	static const char *const terminals[] = {"dumb", "xterm"};
	char text[1024];
	int master, slave;
	FILE *out;

	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		return; /* there are systems without */
	ck_assert_int_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
	setenv("TERM", terminals[_i], 1);
	out = fdopen(slave, "w");
	show_progress(out);
	ck_assert_int_eq(read(master, text, sizeof(text)) > 0, _i);
	fclose(out);
	close(master);
}
