/* SPDX-License-Identifier: MIT */
/* See failure.h. */
#include "parent/supervisor/failure.h"

#include <signal.h>
#include <stdlib.h>
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

static const char *
signal_hint(int number)
{
	for (size_t i = 0; i < sizeof(signal_hints) / sizeof(signal_hints[0]); i++) {
		if (signal_hints[i].signal == number)
			return signal_hints[i].hint;
	}
	return "";
}

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
not_started(const struct request *request, const struct outcome *outcome, struct core_failure *failure)
{
	failure->number = outcome->exec_errno;
	return rot_format("cannot start the measuring core '%s': %s", request->child, strerror(outcome->exec_errno));
}

static const char *
late_hint(const struct outcome *outcome)
{
	if (outcome->was_stopped)
		return "it was stopped by a signal, as by SIGSTOP, and nobody continued it";
	if (outcome->was_counting)
		return "counting without counters takes 2 to 50 times as long as the kernel: choose smaller sizes, do "
		       "without (-counting=expected), or raise timeLimit (seconds)";
	return "if the measurement needs longer, raise timeLimit (seconds)";
}

static char *
late(const struct request *request, const struct outcome *outcome, const char *time, struct core_failure *failure)
{
	rot_string_set(&failure->kind, "timeLimit");
	rot_string_set(&failure->hint, late_hint(outcome));
	if (outcome->was_counting && !outcome->was_stopped)
		return rot_format("the measuring core exceeded the time limit of %g s %s and was killed: it was "
				  "counting a region without counters",
				  request->time_limit_s, time);
	return rot_format("the measuring core exceeded the time limit of %g s %s and was killed", request->time_limit_s,
			  time);
}

static char *
killed(int number, const char *time, const char *fault, struct core_failure *failure)
{
	rot_string_set(&failure->kind, "killed");
	rot_string_set(&failure->hint, signal_hint(number));
	failure->number = number;
	return rot_format("the measuring core was killed by signal %d (%s) %s%s%s", number, strsignal(number), time,
			  fault ? ", " : "", fault ? fault : "");
}

static char *
exited(int status, const char *time, bool is_in_run, struct core_failure *failure)
{
	rot_string_set(&failure->kind, "exited");
	rot_string_set(&failure->hint, is_in_run ? "a kernel must not end the process" : "");
	failure->number = status;
	return rot_format("the measuring core exited with status %d %s, without a result", status, time);
}

static char *
printed(const struct outcome *outcome)
{
	if (!*outcome->output)
		return rot_strdup(outcome->errors);
	return rot_format("%s%s[standard output]\n%s", outcome->errors, *outcome->errors ? "\n" : "", outcome->output);
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
	char *time = when(outcome), *what, *text = printed(outcome);

	if (outcome->exec_errno)
		what = not_started(request, outcome, failure);
	else if (WIFEXITED(outcome->status))
		what = exited(WEXITSTATUS(outcome->status), time, outcome->is_in_run, failure);
	else if (outcome->is_late)
		what = late(request, outcome, time, failure);
	else
		what = killed(WTERMSIG(outcome->status), time, outcome->fault, failure);
	rot_string_set(&failure->attempted, what);
	rot_string_set(&failure->standard_error, text);
	free(time);
	free(what);
	free(text);
	return failure;
}
