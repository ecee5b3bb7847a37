/* SPDX-License-Identifier: MIT */
#include "parent/tracer/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/proc.h"
#include "common/wire.h"
#include "config.h"

enum { READ, WRITE };

/* Pairs of which the child has the second end. */
struct child_ends {
	int wire, output, errors;
};

#define CHILD_ENDS_NONE ((struct child_ends){-1, -1, -1})

/* A measuring core that is to be. */
struct core {
	struct child_ends ends;
	char *const *arguments;
};

void
launch_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ours: READ or WRITE, the end that this process keeps. */
static int
open_pipe(int *mine, int *childs, int ours, struct rot_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot make a pipe to the child");
	*mine = ends[ours];
	*childs = ends[!ours];
	return 0;
}

static int
open_ends(struct launch *launch, struct child_ends *ends, struct rot_error *err)
{
	int wire[2];

	if (wire_open(wire, err) < 0)
		return -1;
	launch->wire = wire[0];
	ends->wire = wire[1];
	if (open_pipe(&launch->output, &ends->output, READ, err) < 0 ||
	    open_pipe(&launch->errors, &ends->errors, READ, err) < 0)
		return -1;
	fcntl(launch->output, F_SETFL, O_NONBLOCK);
	fcntl(launch->errors, F_SETFL, O_NONBLOCK);
	return 0;
}

static void
close_at_exec(int fd)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static struct launch_failure
become_core(void *context)
{
	const struct core *core = context;
	sigset_t none;
	int null;

	setpgid(0, 0);
	/* The child gets the signals as a fresh program expects them: none blocked, none ignored. */
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	proc_each_descriptor(STDERR_FILENO + 1, close_at_exec);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(core->ends.output, STDOUT_FILENO) >= 0 &&
	    dup2(core->ends.errors, STDERR_FILENO) >= 0 && fcntl(core->ends.wire, F_SETFD, 0) == 0)
		execv(core->arguments[0], core->arguments);
	return (struct launch_failure){.reason = errno};
}

/* Between fork and exec. The parent's ends close by themselves at exec, but the go pipe must be able to end before. */
static void
become_child(struct launch *launch, int exec_fd, int go_fd, struct launch_failure (*become)(void *), void *context)
{
	struct launch_failure failure;
	char byte;

	launch_close(&launch->go_fd);
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	failure = become(context);
	if (write(exec_fd, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

int
launch_fork(struct launch *launch, struct launch_failure (*become)(void *context), void *context, struct rot_error *err)
{
	pid_t parent = getpid();
	int exec_fd = -1, go_fd = -1, rc = -1;

	if (open_pipe(&launch->exec_fd, &exec_fd, READ, err) < 0 || open_pipe(&launch->go_fd, &go_fd, WRITE, err) < 0)
		goto out;
	launch->pid = fork();
	if (launch->pid == 0) {
		/* The parent may have ended before the kernel was asked to watch it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		become_child(launch, exec_fd, go_fd, become, context);
	}
	if (launch->pid < 0) {
		launch->pid = 0;
		rot_error_set(err, errno, "cannot make a process");
		goto out;
	}
	rc = 0;
out:
	launch_close(&exec_fd);
	launch_close(&go_fd);
	if (rc < 0)
		launch_clear(launch);
	return rc;
}

bool
launch_failed(struct launch *launch, struct launch_failure *failure)
{
	ssize_t bytes = read(launch->exec_fd, failure, sizeof(*failure));

	launch_close(&launch->exec_fd);
	return bytes == (ssize_t)sizeof(*failure);
}

int
launch_prepare(struct launch *launch, const char *program, const char *command, const char *output,
	       struct rot_error *err)
{
	char wire[16];
	const char *arguments[] = {program, "--command", command, "--output", output, "--wire", wire, NULL};
	struct core core = {CHILD_ENDS_NONE, (char *const *)arguments};
	int rc = -1;

	*launch = LAUNCH_NONE;
	if (open_ends(launch, &core.ends, err) < 0)
		goto out;
	snprintf(wire, sizeof(wire), "%d", core.ends.wire);
#ifdef ROT_SANITIZED
	/* The search for leaks uses ptrace, which a traced process cannot. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
#endif
	rc = launch_fork(launch, become_core, &core, err);
	if (rc < 0)
		rot_error_prefix(err, "measuring core '%s'", program);
	else
		setpgid(launch->pid, launch->pid);
out:
	launch_close(&core.ends.wire);
	launch_close(&core.ends.output);
	launch_close(&core.ends.errors);
	if (rc < 0)
		launch_clear(launch);
	return rc;
}

void
launch_go(struct launch *launch)
{
	if (write(launch->go_fd, "", 1) == 1)
		launch_close(&launch->go_fd);
}

void
launch_clear(struct launch *launch)
{
	launch_close(&launch->wire);
	launch_close(&launch->output);
	launch_close(&launch->errors);
	launch_close(&launch->exec_fd);
	launch_close(&launch->go_fd);
}
