/* SPDX-License-Identifier: MIT */
#include "child/configurator.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/journal.h"
#include "memory.h"

/* ---- commands of the system that surround runs ---- */

/* Bytes of output shown in an error. */
#define SHOWN_BYTES 2048

/* Exit status of the new process when the command could not be executed; errno went into the pipe. */
#define EXEC_FAILED 127

static void
become_command(char **arguments, int output, int error_pipe, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXEC_FAILED);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0)
		execvp(arguments[0], arguments);
	error = errno;
	if (write(error_pipe, &error, sizeof(error)) < 0)
		_exit(EXEC_FAILED);
	_exit(EXEC_FAILED);
}

static int
judge(const char *name, int status, int output, struct rot_error *err)
{
	char *text;
	off_t length;
	ssize_t bytes;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		rot_error_set(err, 0, "the command '%s' was killed by signal %d (%s)", name, WTERMSIG(status),
			      strsignal(WTERMSIG(status)));
	else
		rot_error_set(err, 0, "the command '%s' failed with exit status %d", name, WEXITSTATUS(status));
	/* The end of what it printed, without trailing newlines. */
	text = rot_calloc(1, SHOWN_BYTES + 1);
	length = lseek(output, 0, SEEK_END);
	bytes = pread(output, text, SHOWN_BYTES, length > SHOWN_BYTES ? length - SHOWN_BYTES : 0);
	for (bytes = bytes > 0 ? bytes : 0; bytes > 0 && text[bytes - 1] == '\n'; bytes--)
		;
	text[bytes] = '\0';
	if (text[0])
		rot_error_append(err, ": %s", text);
	free(text);
	return -1;
}

static int
run_arguments(char **arguments, int output, struct rot_error *err)
{
	int pipe_ends[2], status = 0, error = 0;
	pid_t parent = getpid(), pid;
	ssize_t bytes;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot run the command '%s'", arguments[0]);
	pid = (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid == 0)
		become_command(arguments, output, pipe_ends[1], parent);
	if (pid < 0)
		rot_error_set(err, errno, "cannot run the command '%s'", arguments[0]);
	close(pipe_ends[1]);
	bytes = pid < 0 ? 0 : read(pipe_ends[0], &error, sizeof(error));
	close(pipe_ends[0]);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (bytes == (ssize_t)sizeof(error))
		return rot_error_set(err, error, "cannot run the command '%s'", arguments[0]);
	return judge(arguments[0], status, output, err);
}

/*
 * Runs command and waits for its end. It is not traced and dies with this process. Its input is empty; what it prints
 * is kept and its end shown in the error. 0, or -1: it could not be started, was killed, or its exit status is not 0.
 */
static int
command_line_run(const struct run_command *command, struct rot_error *err)
{
	size_t nr = run_command_nr_arguments(command);
	char **arguments;
	int output, rc;

	if (!command->executable[0])
		return rot_error_set(err, 0, "cannot run a command without a name");
	output = memfd_create("rot-command", MFD_CLOEXEC);
	if (output < 0)
		return rot_error_set(err, errno, "cannot keep the output of the command '%s'", command->executable);
	arguments = rot_calloc(nr + 2, sizeof(*arguments));
	arguments[0] = command->executable;
	for (size_t i = 0; i < nr; i++)
		arguments[1 + i] = (char *)run_command_arguments_at(command, i);
	rc = run_arguments(arguments, output, err);
	free(arguments);
	close(output);
	return rc;
}

/* ---- configurators ---- */

enum hook {
	BEFORE_MEASUREMENT,
	AFTER_MEASUREMENT,
	BEFORE_RUN,
	AFTER_RUN,
};

static const char *const hook_names[] = {
	[BEFORE_MEASUREMENT] = "configurator beforeMeasurement",
	[AFTER_MEASUREMENT] = "configurator afterMeasurement",
	[BEFORE_RUN] = "configurator beforeRun",
	[AFTER_RUN] = "configurator afterRun",
};

static int
call_run_command(const void *configurator, enum hook hook, struct rot_error *err)
{
	const struct run_command_configurator *own = configurator;
	const struct rot_list *const lists[] = {
		[BEFORE_MEASUREMENT] = &own->before_measurement,
		[AFTER_MEASUREMENT] = &own->after_measurement,
		[BEFORE_RUN] = &own->before_run,
		[AFTER_RUN] = &own->after_run,
	};
	struct run_command *const *commands = lists[hook]->items;

	for (size_t i = 0; i < lists[hook]->nr; i++)
		if (command_line_run(commands[i], err) < 0)
			return -1;
	return 0;
}

static int
call_sleep(const void *configurator, enum hook hook, struct rot_error *err)
{
	const struct sleep_configurator *own = configurator;
	const int32_t ms[] = {
		[BEFORE_MEASUREMENT] = own->before_measurement,
		[AFTER_MEASUREMENT] = own->after_measurement,
		[BEFORE_RUN] = own->before_run,
		[AFTER_RUN] = own->after_run,
	};
	struct timespec left = {.tv_sec = ms[hook] / 1000, .tv_nsec = ms[hook] % 1000 * 1000000L};

	if (ms[hook] < 0)
		return rot_error_set(err, 0, "cannot sleep for %d ms", ms[hook]);
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
	return 0;
}

static const struct {
	const struct rot_class *class;
	int (*call)(const void *configurator, enum hook hook, struct rot_error *err);
} types[] = {
	{&run_command_configurator_class, call_run_command},
	{&sleep_configurator_class, call_sleep},
};

static int
call(const struct configurator_base *configurator, enum hook hook, struct rot_error *err)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!rot_is_a(configurator, types[i].class))
			continue;
		journal_add(hook_names[hook], -1);
		return types[i].call(configurator, hook, err);
	}
	return rot_error_set(err, 0, "cannot use a configurator of class %s: the core has none",
			     configurator ? configurator->entity.class->name : "<null>");
}

int
configurators_enter(const struct measurement *measurement, enum configurator_scope scope, size_t *nr_entered,
		    struct rot_error *err)
{
	size_t nr = measurement_nr_configurators(measurement);

	for (*nr_entered = 0; *nr_entered < nr; ++*nr_entered)
		if (call(measurement_configurators_at(measurement, *nr_entered),
			 scope == CONFIGURATOR_RUN ? BEFORE_RUN : BEFORE_MEASUREMENT, err) < 0)
			return -1;
	return 0;
}

int
configurators_leave(const struct measurement *measurement, enum configurator_scope scope, size_t nr_entered,
		    struct rot_error *err)
{
	struct rot_error later;
	int rc = 0;

	for (size_t i = nr_entered; i-- > 0;)
		if (call(measurement_configurators_at(measurement, i),
			 scope == CONFIGURATOR_RUN ? AFTER_RUN : AFTER_MEASUREMENT, rc < 0 ? &later : err) < 0)
			rc = -1;
	return rc;
}
