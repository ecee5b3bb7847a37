/* SPDX-License-Identifier: MIT */
/* How a run begins: a program is made, which waits to be let go, or a running one is attached to. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "parent/program/process_usage.h"
#include "parent/program/program_run_internal.h"

/*
 * Somebody killed the process before it was let go: its end is reported as that of any other. It can be neither traced
 * nor counted some time before it can be waited for.
 */
static bool
has_ended(const struct run *self)
{
	siginfo_t info = {0};

	if (!proc_is_ending(self->launch.pid))
		return false;
	for (int ms = 0; ms < 100; ms++) {
		if (waitid(P_PID, (id_t)self->launch.pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info.si_pid != 0)
			return true;
		usleep(1000);
	}
	return false;
}

/* Without ptrace the total can still be had. */
static void
seize(struct run *self)
{
	struct session *session = self->session;
	struct rot_error refused;

	if (!session->is_traced || tracer_seize(&self->tracer, &refused) == 0 || has_ended(self))
		return;
	session->is_traced = false;
	if (self->rules || self->translator) {
		rot_error_prefix(&refused, self->rules ? "rules need the threads to be traced"
						       : "blocks are counted by a tracer");
		session_fail(session, "refused", &refused);
		return;
	}
	session_warn(session, "threads are not told apart: %s", rot_error_line(&refused));
	regions_refuse(self->regions, &refused);
}

/* A kernel before 5.13 cannot leave out the processes that a program starts. */
static int
count_inherited(struct run *self, struct rot_error *err)
{
	struct session *session = self->session;
	int rc = counts_begin(&self->inherited, &self->counting, session->heirs, PERF_BEGIN_AT_EXEC, self->launch.pid,
			      err);

	if (rc == 0 || session->heirs == PERF_HEIRS_ALL || errno != EINVAL)
		return rc;
	if (counts_begin(&self->inherited, &self->counting, PERF_HEIRS_ALL, PERF_BEGIN_AT_EXEC, self->launch.pid, err) <
	    0)
		return -1;
	session->heirs = PERF_HEIRS_ALL;
	session_warn(session,
		     "this kernel cannot leave the processes that the program starts out of a total: they are counted");
	return 0;
}

/* Each thread's counters are opened when it is there; that they can be is found out before. */
static int
try_to_count(struct run *self, struct rot_error *err)
{
	struct counts trial = {0};

	if (counts_begin(&trial, &self->counting, PERF_HEIRS_NONE, PERF_BEGIN_LATER, self->launch.pid, err) < 0 ||
	    counts_end(&trial, err) < 0)
		return -1;
	return program_rules_try(self->rules, self->launch.pid, err);
}

int
program_run_prepare(struct run *self)
{
	struct session *session = self->session;
	struct rot_error err;

	self->begin = mmap(NULL, sizeof(*self->begin), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (self->begin == MAP_FAILED || program_prepare(&self->launch, session->command->program, &session->loop,
							 &session->files, self->begin, &err) < 0) {
		if (self->begin == MAP_FAILED)
			rot_error_set(&err, errno, "cannot share memory with the program");
		session_fail(session, "error", &err);
		return -1;
	}
	self->tracer.program = self->launch.pid;
	seize(self);
	if (session->failure)
		return -1;
	prctl(PR_SET_CHILD_SUBREAPER, !session->is_traced && session->time_limit_s > 0);
	if ((session->is_traced ? try_to_count(self, &err) : count_inherited(self, &err)) < 0 && !has_ended(self)) {
		session_fail(session, "refused", &err);
		return -1;
	}
	return 0;
}

int
program_run_attach(struct run *self)
{
	struct session *session = self->session;
	struct rot_error err;

	self->tracer.program = session->command->process_id;
	process_usage_read(self->tracer.program, &self->usage_before);
	self->threads.start_ns = clock_raw_ns();
	if (tracer_attach(&self->tracer, &err) < 0)
		session_fail(session, "refused", &err);
	else if (self->threads.nr_uncounted > 0 && self->threads.nr_uncounted == self->tracer.threads.nr)
		session_fail(session, "refused", &self->threads.uncounted);
	else if (program_rules_try(self->rules, self->tracer.program, &err) < 0)
		session_fail(session, "refused", &err);
	else
		program_rules_visit(self->rules);
	if (session->failure)
		return -1;
	self->awaits_pause = self->has_places;
	if (self->awaits_pause)
		tracer_settle(&self->tracer);
	return 0;
}
