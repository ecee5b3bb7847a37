/* SPDX-License-Identifier: MIT */
#include "parent/tracer/reports.h"

#include <fcntl.h>
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

/* Whoever has something to tell, in one step. */
static enum taken
take_any(struct reports *reports, struct report *report)
{
	(void)reports;
	*report->name = '\0';
	report->tid = waitpid(-1, &report->status, __WALL | WNOHANG);
	report->time_ns = clock_raw_ns();
	return report->tid > 0 ? TAKEN_REPORT : report->tid < 0 ? TAKEN_NOBODY : TAKEN_NOTHING;
}

/*
 * Takes a stop of tid, or of whoever has stopped if that is 0. Stops of children that are not traced are passed over,
 * and ends are not looked at.
 */
static enum taken
take_stop(pid_t tid, struct report *report)
{
	siginfo_t stop;

	do {
		stop.si_pid = 0;
		if (waitid(tid == 0 ? P_ALL : P_PID, (id_t)tid, &stop, WSTOPPED | WNOHANG | __WALL) < 0 ||
		    stop.si_pid == 0)
			return TAKEN_NOTHING;
	} while (stop.si_code != CLD_TRAPPED);
	*report->name = '\0';
	report->tid = stop.si_pid;
	report->status = stop.si_status << 8 | 0x7f;
	report->time_ns = clock_raw_ns();
	return TAKEN_REPORT;
}

static bool
wants_name(struct reports *reports, pid_t tid)
{
	const struct thread *thread;

	if (reports->names != REPORTS_NAMES)
		return reports->names == REPORTS_ALL_NAMES;
	if (reports->nr_names++ < REPORTS_MANY_NAMES || !reports->threads)
		return true;
	thread = threads_find(reports->threads, tid);
	return !thread || clock_raw_ns() - thread->since_ns >= REPORTS_SHORT_LIFE_NS;
}

/* A name can be read until the end is taken. */
static enum taken
take_end(struct reports *reports, pid_t tid, struct report *report)
{
	struct rusage *usage = tid == reports->usage_of ? &report->usage : NULL;

	*report->name = '\0';
	if (wants_name(reports, tid))
		thread_read_name(tid, report->name);
	report->tid = wait4(tid, &report->status, __WALL | WNOHANG, usage);
	report->time_ns = clock_raw_ns();
	return report->tid > 0 ? TAKEN_REPORT : TAKEN_NOTHING;
}

static enum taken
take_any_stop(struct reports *reports, struct report *report)
{
	(void)reports;
	return take_stop(0, report);
}

/* Takes a stop or an end of tid, or of any thread if that is 0. The system tells of stops here in any case. */
static enum taken
look_and_take(struct reports *reports, pid_t tid, struct report *report)
{
	enum taken answer = TAKEN_NOTHING;
	siginfo_t info;

	while (answer == TAKEN_NOTHING) {
		info.si_pid = 0;
		if (waitid(tid == 0 ? P_ALL : P_PID, (id_t)tid, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0)
			return TAKEN_NOBODY;
		if (info.si_pid == 0)
			return TAKEN_NOTHING;
		answer = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED
				 ? take_stop(info.si_pid, report)
				 : take_end(reports, info.si_pid, report);
	}
	return answer;
}

static enum taken
take_any_rest(struct reports *reports, struct report *report)
{
	return look_and_take(reports, 0, report);
}

/* Until there is nothing more (last says why), or there are most. */
static size_t
take_while(enum taken (*take)(struct reports *, struct report *), struct reports *reports, struct report *taken,
	   size_t nr, size_t most, enum taken *last)
{
	for (*last = TAKEN_REPORT; nr < most; nr++) {
		*last = take(reports, &taken[nr]);
		if (*last != TAKEN_REPORT)
			break;
	}
	return nr;
}

/*
 * From all. An end is looked at before it is taken, which a stop need not be: so stops come first, as many as there
 * were the last time, in order not to ask for one more. They get no more than half of the room, so that threads that
 * stop over and over keep no end waiting.
 */
static size_t
take_from_all(struct reports *reports, struct report *taken, size_t nr, size_t most, enum taken *last)
{
	size_t from = nr, most_stops = from + (reports->nr_stops > 0 ? reports->nr_stops : 1);

	if (reports->names == REPORTS_NO_NAMES && reports->usage_of == 0)
		return take_while(take_any, reports, taken, nr, most, last);
	if (most_stops > (from + most + 1) / 2)
		most_stops = (from + most + 1) / 2;
	nr = take_while(take_any_stop, reports, taken, nr, most_stops, last);
	nr = take_while(take_any_rest, reports, taken, nr, most, last);
	reports->nr_stops = 0;
	for (size_t i = from; i < nr; i++)
		reports->nr_stops += WIFSTOPPED(taken[i].status);
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
	for (size_t i = 0; i < nr; i++)
		if (taken[i].tid == child)
			return;
	reports->expected[reports->nr_expected++ % REPORTS_NR_EXPECTED] = child;
}

/* One of each: a thread that has stopped has no more to tell until that was handled. */
static size_t
take_from_these(struct reports *reports, pid_t *tids, size_t nr_tids, bool is_once, struct report *taken, size_t nr,
		size_t most)
{
	for (size_t i = 0; i < nr_tids && nr < most; i++) {
		enum taken answer = tids[i] == 0 ? TAKEN_NOTHING : look_and_take(reports, tids[i], &taken[nr]);

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
	/* New threads are told of only if no other signal is pending, and wait until their first stop is seen. */
	for (size_t i = 0; i < nr; i++) {
		unsigned long child;

		reports_announce(reports, taken[i].tid);
		if (report_is_creation(&taken[i]) && ptrace(PTRACE_GETEVENTMSG, taken[i].tid, NULL, &child) == 0)
			expect(reports, (pid_t)child, taken, nr);
	}
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
