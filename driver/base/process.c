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

#include "base/process.h"
#include "memory.h"
#include "rot.h"

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
		autofree char *candidate = rot_format("%.*s/%s", (int)strcspn(path, ":"), path, program);

		if (is_executable(candidate))
			return rot_keep(&candidate);
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

/* ---- one program ---- */

struct running {
	struct process_job *job; /* NULL: none */
	pid_t pid;
	int output, report; /* what it prints; the errno of an exec that failed */
	size_t length;      /* of its output */
};

/* Two pipes, or -1 and errno. */
static int
open_pipes(int output[2], int report[2])
{
	int reason;

	if (pipe2(output, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(report, O_CLOEXEC) == 0)
		return 0;
	reason = errno;
	close(output[0]);
	close(output[1]);
	errno = reason;
	return -1;
}

static int
start(struct running *running, struct process_job *job, struct rot_error *err)
{
	autofree char *path = process_find(job->argv[0]);
	int output[2], report[2], rc = -1;
	pid_t parent = getpid();

	*running = (struct running){.job = NULL};
	job->result = (struct process_result){0};
	job->is_not_found = !path;
	if (!path)
		return rot_error_set(err, 0, "cannot find the program '%s' in PATH", job->argv[0]);
	if (open_pipes(output, report) < 0)
		return rot_error_set(err, errno, "cannot start '%s'", path);
	running->pid = fork();
	if (running->pid == 0)
		run_child(path, job->argv, job->folder, output[1], report[1], parent);
	if (running->pid < 0)
		rot_error_set(err, errno, "cannot start '%s'", path);
	close(output[1]);
	close(report[1]);
	running->output = output[0];
	running->report = report[0];
	if (running->pid > 0) {
		running->job = job;
		job->result.output = rot_calloc(1, OUTPUT_LIMIT + 1);
		rc = 0;
	} else {
		close(output[0]);
		close(report[0]);
	}
	return rc;
}

/* After the end of its output: waits for its own. */
static int
finish(struct running *running, struct rot_error *err)
{
	struct process_job *job = running->job;
	int status, reason = 0, rc;

	while ((rc = waitpid(running->pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (rc < 0) {
		rot_error_set(err, errno, "cannot wait for '%s'", job->argv[0]);
	} else {
		job->result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		job->result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
	if (read(running->report, &reason, sizeof reason) == sizeof reason)
		rc = rot_error_set(err, reason, "cannot start '%s' in '%s'", job->argv[0],
				   job->folder ? job->folder : ".");
	close(running->output);
	close(running->report);
	running->job = NULL;
	return rc < 0 ? -1 : 0;
}

/* ---- several at a time ---- */

struct crew {
	const struct process_source *source;
	struct running *members;
	size_t nr; /* places */
	size_t nr_running;
	bool was_interrupted; /* before the first program */
	bool is_stopping;
};

static bool
is_interrupted(const struct crew *crew)
{
	return rot_interrupted() && !crew->was_interrupted;
}

static void
end_job(struct crew *crew, struct process_job *job, int rc, struct rot_error *err)
{
	if (rc == 0 && is_interrupted(crew))
		rc = rot_error_set(err, 0, "interrupted");
	if (rc < 0)
		process_result_clear(&job->result);
	crew->source->ended(crew->source->context, job, rc, err);
}

/* Puts programs into empty places as long as there are some. */
static void
fill_crew(struct crew *crew)
{
	for (size_t i = 0; i < crew->nr && !is_interrupted(crew); i++) {
		struct process_job *job = NULL;
		struct rot_error err = {0};

		while (!crew->members[i].job && (job = crew->source->next(crew->source->context)))
			if (start(&crew->members[i], job, &err) == 0)
				crew->nr_running++;
			else
				end_job(crew, job, -1, &err);
	}
}

/* Reads output that is there, and waits for programs that close theirs. */
static void
follow(struct crew *crew, struct pollfd *fds)
{
	for (size_t i = 0; i < crew->nr; i++)
		fds[i] = (struct pollfd){.fd = crew->members[i].job ? crew->members[i].output : -1, .events = POLLIN};
	int ready = poll(fds, crew->nr, 200);

	if (is_interrupted(crew) && !crew->is_stopping) {
		for (size_t i = 0; i < crew->nr; i++)
			if (crew->members[i].job)
				kill(crew->members[i].pid, SIGTERM);
		crew->is_stopping = true;
	}
	for (size_t i = 0; ready > 0 && i < crew->nr; i++) {
		struct running *running = &crew->members[i];
		struct process_job *job = running->job;
		struct rot_error err = {0};

		if (!fds[i].revents || read_output(running->output, job->result.output, &running->length))
			continue;
		crew->nr_running--;
		end_job(crew, job, finish(running, &err), &err);
	}
}

void
process_run_all(const struct process_source *source, size_t nr_at_once)
{
	struct crew crew = {.source = source, .nr = nr_at_once, .was_interrupted = rot_interrupted()};
	autofree struct pollfd *fds = rot_calloc(nr_at_once, sizeof(*fds));

	crew.members = rot_calloc(nr_at_once, sizeof(*crew.members));
	for (fill_crew(&crew); crew.nr_running > 0; fill_crew(&crew))
		follow(&crew, fds);
	free(crew.members);
}

/* ---- one, to its end ---- */

struct single {
	struct process_job job;
	bool is_taken;
	int rc;
	struct rot_error *err;
};

static struct process_job *
next_of_single(void *context)
{
	struct single *single = context;
	bool was_taken = single->is_taken;

	single->is_taken = true;
	return was_taken ? NULL : &single->job;
}

static void
single_ended(void *context, struct process_job *job, int rc, const struct rot_error *err)
{
	struct single *single = context;

	(void)job;
	single->rc = rc;
	if (rc < 0 && single->err)
		*single->err = *err;
}

int
process_run(const char *const *argv, const char *folder, struct process_result *result, bool *not_found,
	    struct rot_error *err)
{
	struct single single = {.job = {.argv = argv, .folder = folder}, .rc = -1, .err = err};
	const struct process_source source = {.context = &single, .next = next_of_single, .ended = single_ended};

	process_run_all(&source, 1);
	if (!single.is_taken)
		rot_error_set(err, 0, "interrupted");
	*result = single.job.result;
	if (not_found)
		*not_found = single.job.is_not_found;
	return single.rc;
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
