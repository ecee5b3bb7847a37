/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/failure.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

static const struct {
	int signal;
	const char *hint;
} signal_hints[] = {
	{SIGKILL,
	 "if nobody else killed it, the system was out of memory: see the end of dmesg, or measure less data at once"},
	{SIGILL, "the code uses instructions that this processor lacks: look at the flags the kernel is compiled with"},
	{SIGSEGV, "most likely the kernel reads or writes outside of its buffers"},
	{SIGBUS,
	 "most likely the kernel reads or writes outside of its buffers; or a file that it maps has become shorter, "
	 "or huge pages ran out"},
	{SIGFPE, "an integer division by zero, most likely in the kernel"},
};

/* "in run 3 of 10", in fresh memory. */
static char *
when(const struct outcome *outcome)
{
	long long run = (long long)outcome->run, of = (long long)outcome->nr_runs;

	if (of == 0)
		return rot_strdup("before it was ready to measure");
	if (outcome->is_in_run)
		return rot_format("in run %lld of %lld", run, of);
	return run == 0 ? rot_strdup("before its first run") : rot_format("after run %lld of %lld", run, of);
}

static char *
late(const struct request *request, const struct outcome *outcome, const char *time, struct core_failure *failure)
{
	const bool was_counting = outcome->was_counting && !outcome->was_stopped;
	const char *hint = "if the measurement needs longer, raise timeLimit (seconds)";

	if (outcome->was_stopped)
		hint = "it was stopped by a signal, as by SIGSTOP, and nobody continued it";
	else if (was_counting)
		hint = "counting without counters takes 2 to 50 times as long as the kernel: choose smaller sizes, do "
		       "without (-counting=expected), or raise timeLimit (seconds)";
	rot_string_set(&failure->kind, "timeLimit");
	rot_string_set(&failure->hint, hint);
	return rot_format("the measuring core exceeded the time limit of %g s %s and was killed%s",
			  request->time_limit_s, time,
			  was_counting ? ": it was counting a region without counters" : "");
}

enum verdict
failure_judge(const struct request *request, const struct outcome *outcome)
{
	bool has_output = access(request->output, F_OK) == 0;

	if (outcome->exec_errno)
		return VERDICT_FAILED;
	if (WIFEXITED(outcome->status) && has_output && WEXITSTATUS(outcome->status) == 0)
		return VERDICT_DONE;
	if (WIFEXITED(outcome->status) && has_output && WEXITSTATUS(outcome->status) == 1)
		return VERDICT_REPORTED;
	return outcome->interrupted_by ? VERDICT_INTERRUPTED : VERDICT_FAILED;
}

struct core_failure *
failure_new(const struct request *request, const struct outcome *outcome)
{
	struct core_failure *failure = core_failure_new();
	autofree char *time = when(outcome), *what = NULL, *text = NULL;

	if (outcome->exec_errno) {
		failure->number = outcome->exec_errno;
		what = rot_format("cannot start the measuring core '%s': %s", request->child,
				  strerror(outcome->exec_errno));
	} else if (WIFEXITED(outcome->status)) {
		failure->number = WEXITSTATUS(outcome->status);
		rot_string_set(&failure->kind, "exited");
		rot_string_set(&failure->hint, outcome->is_in_run ? "a kernel must not end the process" : "");
		what = rot_format("the measuring core exited with status %d %s, without a result",
				  WEXITSTATUS(outcome->status), time);
	} else if (outcome->is_late) {
		what = late(request, outcome, time, failure);
	} else {
		failure->number = WTERMSIG(outcome->status);
		rot_string_set(&failure->kind, "killed");
		for (size_t i = 0; i < sizeof(signal_hints) / sizeof(signal_hints[0]); i++)
			if (signal_hints[i].signal == WTERMSIG(outcome->status))
				rot_string_set(&failure->hint, signal_hints[i].hint);
		what = rot_format("the measuring core was killed by signal %d (%s) %s%s%s", WTERMSIG(outcome->status),
				  strsignal(WTERMSIG(outcome->status)), time, outcome->fault ? ", " : "",
				  outcome->fault ? outcome->fault : "");
	}
	text = rot_format("%s%s%s%s", outcome->errors, *outcome->errors && *outcome->output ? "\n" : "",
			  *outcome->output ? "[standard output]\n" : "", outcome->output);
	rot_string_set(&failure->attempted, what);
	rot_string_set(&failure->standard_error, text);
	return failure;
}
