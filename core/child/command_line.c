/* SPDX-License-Identifier: MIT */
/* See command_line.h. */
#include "child/command_line.h"

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
#include <unistd.h>

#include "memory.h"

/* Bytes of output shown in an error. */
#define SHOWN_BYTES 2048

/* Exit status of the new process when the command could not be executed; errno went into the pipe. */
#define EXEC_FAILED 127

static void
execute(char **arguments, int output, int error_pipe, pid_t parent)
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

/* The end of what was printed into output, in fresh memory, without trailing newlines. */
static char *
printed(int output)
{
	char *text = rot_calloc(1, SHOWN_BYTES + 1);
	off_t length = lseek(output, 0, SEEK_END);
	ssize_t bytes = pread(output, text, SHOWN_BYTES, length > SHOWN_BYTES ? length - SHOWN_BYTES : 0);

	for (bytes = bytes > 0 ? bytes : 0; bytes > 0 && text[bytes - 1] == '\n'; bytes--)
		;
	text[bytes] = '\0';
	return text;
}

static int
judge(const char *name, int status, int output, struct rot_error *err)
{
	char *text;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		rot_error_set(err, 0, "the command '%s' was killed by signal %d (%s)", name, WTERMSIG(status),
			      strsignal(WTERMSIG(status)));
	else
		rot_error_set(err, 0, "the command '%s' failed with exit status %d", name, WEXITSTATUS(status));
	text = printed(output);
	if (text[0])
		rot_error_append(err, ": %s", text);
	free(text);
	return -1;
}

static int
run(char **arguments, int output, struct rot_error *err)
{
	int pipe_ends[2], status = 0, error = 0;
	pid_t parent = getpid(), pid;
	ssize_t bytes;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot run the command '%s'", arguments[0]);
	pid = (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid == 0)
		execute(arguments, output, pipe_ends[1], parent);
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

int
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
	rc = run(arguments, output, err);
	free(arguments);
	close(output);
	return rc;
}
