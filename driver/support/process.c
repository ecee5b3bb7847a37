/* SPDX-License-Identifier: MIT */
/* Running another program to its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "rot.h"
#include "support/process.h"

#define OUTPUT_LIMIT 65536

static bool
is_executable(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *
process_find(const char *program)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/'))
		return is_executable(program) ? rot_strdup(program) : NULL;
	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; path; path = strchr(path, ':')) {
		path += *path == ':';
		char *candidate = rot_format("%.*s/%s", (int)strcspn(path, ":"), path, program);

		if (is_executable(candidate))
			return candidate;
		free(candidate);
	}
	return NULL;
}

static const int ignored[] = {SIGPIPE, SIGXFSZ};
enum { NR_IGNORED = sizeof(ignored) / sizeof(*ignored) };
static void (*found[NR_IGNORED])(int); /* SIG_DFL until we ignore them */

void
process_ignore_signals(void)
{
	for (int i = 0; i < NR_IGNORED; i++)
		found[i] = signal(ignored[i], SIG_IGN);
}

void
process_restore_signals(void)
{
	for (int i = 0; i < NR_IGNORED; i++)
		signal(ignored[i], found[i] ? found[i] : SIG_DFL);
}

void
process_settle_child(pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	process_restore_signals();
}

/* In the child: never returns. exec's errno goes back through report. */
static void
run_child(const char *path, const char *const *argv, const char *folder, int output, int report, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	process_settle_child(parent);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0 &&
	    (!folder || chdir(folder) == 0))
		execv(path, (char *const *)argv);
	int reason = errno;

	if (write(report, &reason, sizeof reason) < 0)
		_exit(126);
	_exit(127);
}

/* Appends what can be read; keeps the tail. False at the end of file. */
static bool
read_output(int fd, char *output, size_t *length)
{
	if (*length > OUTPUT_LIMIT / 2) {
		size_t drop = *length - OUTPUT_LIMIT / 2;

		memmove(output, output + drop, *length - drop);
		*length -= drop;
	}
	ssize_t nr = read(fd, output + *length, OUTPUT_LIMIT - *length);

	if (nr < 0)
		return errno == EINTR;
	*length += (size_t)nr;
	output[*length] = '\0';
	return nr > 0;
}

/* Reads until the program closes its output; passes an interruption on once, if it comes meanwhile. */
static void
follow(pid_t pid, int fd, struct process_result *result)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t length = 0;
	bool passed_on = rot_interrupted();

	result->output = rot_calloc(1, OUTPUT_LIMIT + 1);
	for (;;) {
		int ready = poll(&poll_fd, 1, 200);

		if (rot_interrupted() && !passed_on) {
			kill(pid, SIGTERM);
			passed_on = true;
		}
		if (ready > 0 && !read_output(fd, result->output, &length))
			return;
	}
}

static int
wait_for_end(pid_t pid, struct process_result *result)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	result->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return 0;
}

static int
start_and_follow(const char *path, const char *const *argv, const char *folder, struct process_result *result,
		 struct rot_error *err)
{
	int output[2], report[2], reason = 0;
	pid_t parent = getpid(), pid;

	if (pipe2(output, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot start '%s'", path);
	if (pipe2(report, O_CLOEXEC) < 0) {
		rot_error_set(err, errno, "cannot start '%s'", path);
		close(output[0]);
		close(output[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		run_child(path, argv, folder, output[1], report[1], parent);
	close(output[1]);
	close(report[1]);
	if (pid < 0) {
		rot_error_set(err, errno, "cannot start '%s'", path);
	} else {
		follow(pid, output[0], result);
		if (wait_for_end(pid, result) < 0)
			rot_error_set(err, errno, "cannot wait for '%s'", path);
		if (read(report[0], &reason, sizeof reason) == sizeof reason) {
			rot_error_set(err, reason, "cannot start '%s' in '%s'", path, folder ? folder : ".");
			pid = -1;
		}
	}
	close(output[0]);
	close(report[0]);
	return pid < 0 ? -1 : 0;
}

int
process_run(const char *const *argv, const char *folder, struct process_result *result, bool *not_found,
	    struct rot_error *err)
{
	bool was_interrupted = rot_interrupted();
	char *path = process_find(argv[0]);
	int rc;

	*result = (struct process_result){0};
	if (not_found)
		*not_found = !path;
	if (!path)
		return rot_error_set(err, 0, "cannot find the program '%s' in PATH", argv[0]);
	rc = start_and_follow(path, argv, folder, result, err);
	free(path);
	if (rc == 0 && rot_interrupted() && !was_interrupted)
		rc = rot_error_set(err, 0, "interrupted");
	if (rc < 0)
		process_result_clear(result);
	return rc;
}

size_t
process_output_length(const struct process_result *result)
{
	size_t length = result->output ? strlen(result->output) : 0;

	while (length > 0 && strchr(" \t\r\n", result->output[length - 1]))
		length--;
	return length;
}

void
process_result_clear(struct process_result *result)
{
	free(result->output);
	*result = (struct process_result){0};
}
