/* SPDX-License-Identifier: MIT */
/* See reports.h. */
#include "parent/reports.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

/* Threads up to which asking for any of them costs no more than asking for some by number. */
#define FEW 512

/* Asking all takes at most this share of the time: one part of. */
#define SHARE 10
#define LATER_NS ((uint64_t)REPORTS_LATER_MS * 1000000)

enum taken { TAKEN_NOTHING, TAKEN_REPORT, TAKEN_NOBODY };

void
thread_read_name(pid_t tid, char name[NAME_BYTES])
{
	char path[32];
	int fd;
	ssize_t bytes;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	bytes = read(fd, name, NAME_BYTES);
	name[bytes > 0 ? bytes - 1 : 0] = '\0';
	close(fd);
}

/* Whoever has something to tell, in one step. */
static enum taken
take_any(struct report *report)
{
	report->tid = waitpid(-1, &report->status, __WALL | WNOHANG);
	return report->tid > 0 ? TAKEN_REPORT : report->tid < 0 ? TAKEN_NOBODY : TAKEN_NOTHING;
}

/* False: it was a stop that is none any more, or one of a child that is not traced. */
static bool
take_stop(pid_t tid, struct report *report)
{
	siginfo_t stop = {0};

	if (waitid(P_PID, (id_t)tid, &stop, WSTOPPED | WNOHANG | __WALL) < 0 || stop.si_code != CLD_TRAPPED)
		return false;
	report->status = stop.si_status << 8 | 0x7f;
	return true;
}

static bool
take_end(const struct reports *reports, pid_t tid, struct report *report)
{
	if (reports->wants_names)
		thread_read_name(tid, report->name);
	return wait4(tid, &report->status, __WALL | WNOHANG, tid == reports->usage_of ? &report->usage : NULL) > 0;
}

/* Of tid, or of all if that is 0. Looks before it takes, since a name can be read until the end is taken. */
static enum taken
look_and_take(const struct reports *reports, pid_t tid, struct report *report)
{
	siginfo_t info;
	bool is_taken;

	do {
		info.si_pid = 0;
		if (waitid(tid == 0 ? P_ALL : P_PID, (id_t)tid, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
			return TAKEN_NOBODY;
		if (info.si_pid == 0)
			return TAKEN_NOTHING;
		report->tid = info.si_pid;
		is_taken = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED
				   ? take_stop(info.si_pid, report)
				   : take_end(reports, info.si_pid, report);
	} while (!is_taken);
	return TAKEN_REPORT;
}

static enum taken
take_one(const struct reports *reports, pid_t tid, struct report *report)
{
	bool is_simple = tid == 0 && !reports->wants_names && reports->usage_of == 0;
	enum taken answer;

	*report->name = '\0';
	answer = is_simple ? take_any(report) : look_and_take(reports, tid, report);
	if (answer == TAKEN_REPORT)
		report->time_ns = clock_raw_ns();
	return answer;
}

/* From all, until there is nothing more, or there are most. */
static size_t
take_from_all(const struct reports *reports, struct report *taken, size_t nr, size_t most, enum taken *last)
{
	for (*last = TAKEN_REPORT; nr < most; nr++) {
		*last = take_one(reports, 0, &taken[nr]);
		if (*last != TAKEN_REPORT)
			break;
	}
	return nr;
}

/* ---- many threads ---- */

void
reports_announce(struct reports *reports, pid_t tid)
{
	size_t i = 0;

	while (i + 1 < REPORTS_NR_RECENT && reports->recent[i] != tid)
		i++;
	for (; i > 0; i--)
		reports->recent[i] = reports->recent[i - 1];
	reports->recent[0] = tid;
}

bool
report_is_creation(const struct report *report)
{
	int event = report->status >> 16;

	return WIFSTOPPED(report->status) &&
	       (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK);
}

/* A number that is not that of a thread does no harm. */
static void
expect(struct reports *reports, pid_t child, const struct report *taken, size_t nr)
{
	if (threads_find(reports->threads, child))
		return;
	for (size_t i = 0; i < nr; i++) {
		if (taken[i].tid == child)
			return;
	}
	reports->expected[reports->nr_expected++ % REPORTS_NR_EXPECTED] = child;
}

/* New threads are told of only if no other signal is pending, and wait until their first stop is seen. */
static void
remember(struct reports *reports, const struct report *taken, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned long child;

		reports_announce(reports, taken[i].tid);
		if (report_is_creation(&taken[i]) && ptrace(PTRACE_GETEVENTMSG, taken[i].tid, NULL, &child) == 0)
			expect(reports, (pid_t)child, taken, nr);
	}
}

/* One of each: a thread that has stopped has no more to tell until that was handled. */
static size_t
take_from_these(struct reports *reports, pid_t *tids, size_t nr_tids, bool is_once, struct report *taken, size_t nr,
		size_t most)
{
	for (size_t i = 0; i < nr_tids && nr < most; i++) {
		enum taken answer = tids[i] == 0 ? TAKEN_NOTHING : take_one(reports, tids[i], &taken[nr]);

		nr += answer == TAKEN_REPORT;
		if (answer == TAKEN_NOBODY || (answer == TAKEN_REPORT && is_once))
			tids[i] = 0;
	}
	return nr;
}

static size_t
take_of_many(struct reports *reports, struct report *taken, size_t most, enum reports_rest *rest)
{
	size_t nr = take_from_these(reports, reports->recent, REPORTS_NR_RECENT, false, taken, 0, most), nr_recent;
	uint64_t now = clock_raw_ns();
	enum taken last = TAKEN_REPORT;

	nr = nr_recent = take_from_these(reports, reports->expected, REPORTS_NR_EXPECTED, true, taken, nr, most);
	*rest = nr > 0 ? REPORTS_MORE : REPORTS_LATER;
	if (now >= reports->ask_all_ns) {
		nr = take_from_all(reports, taken, nr, most, &last);
		reports->ask_all_ns = clock_raw_ns() + LATER_NS + SHARE * (clock_raw_ns() - now);
		if (last == TAKEN_REPORT)
			reports->ask_all_ns = 0;
		else if (nr_recent == 0 && nr == 0)
			*rest = last == TAKEN_NOBODY ? REPORTS_NO_CHILDREN : REPORTS_NONE;
		else
			*rest = REPORTS_MORE;
	}
	remember(reports, taken, nr);
	return nr;
}

/* ---- all of it ---- */

size_t
reports_take(struct reports *reports, struct report *taken, size_t most, enum reports_rest *rest)
{
	enum taken last;
	size_t nr;

	if (reports->threads && reports->threads->nr > FEW) {
		nr = take_of_many(reports, taken, most, rest);
	} else {
		nr = take_from_all(reports, taken, 0, most, &last);
		*rest = last == TAKEN_REPORT              ? REPORTS_MORE
			: last == TAKEN_NOBODY && nr == 0 ? REPORTS_NO_CHILDREN
							  : REPORTS_NONE;
	}
	return nr;
}
