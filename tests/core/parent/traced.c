/* SPDX-License-Identifier: MIT */
/* See traced.h. */
#include "traced.h"

#include <sys/ptrace.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "testing.h"

/* Also outside of tests, where check's own are not allowed. */
#define REQUIRE(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

static void
started(void *context, struct thread *thread)
{
	struct traced *traced = context;

	images_started(&traced->images, thread);
}

static void
executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct traced *traced = context;

	(void)old_tid;
	images_executed(&traced->images, thread);
}

static void
exited(void *context, struct thread *thread)
{
	struct traced *traced = context;

	images_exited(&traced->images, thread);
}

static enum tracer_answer
stopped(void *context, const struct tracer_stop *stop)
{
	struct traced *traced = context;

	if (traced->stopped)
		traced->stopped(traced, stop->thread);
	return images_stopped(&traced->images, stop);
}

static bool
may_go(void *context, struct thread *thread)
{
	struct traced *traced = context;

	traced->nr_bystanders++;
	return images_may_go(&traced->images, thread);
}

static enum tracer_answer
leaving(void *context, const struct tracer_stop *stop)
{
	struct traced *traced = context;

	return images_leaving(&traced->images, stop);
}

static void
prepare(struct traced *traced, pid_t pid)
{
	bool follows_forks = traced->tracer.follows_forks;

	traced->tracer = (struct tracer){.program = pid,
					 .follows_forks = follows_forks,
					 .started = started,
					 .executed = executed,
					 .exited = exited,
					 .stopped = stopped,
					 .may_go = may_go,
					 .leaving = leaving,
					 .context = traced};
	traced->images.context = traced;
	traced->images.tracer = &traced->tracer;
}

int
traced_begin(struct traced *traced, const char *const *arguments)
{
	int go[2];
	pid_t pid;
	char byte;

	REQUIRE(pipe2(go, O_CLOEXEC) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		close(go[1]);
		dup2(null, STDOUT_FILENO);
		if (read(go[0], &byte, 1) == 1)
			execv(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	close(go[0]);
	prepare(traced, pid);
	if (tracer_seize(&traced->tracer, &why) < 0) {
		fprintf(stderr, "%s (%s)\n", why.text, why.hint);
		close(go[1]);
		waitpid(pid, NULL, 0);
		return -1;
	}
	REQUIRE(write(go[1], "", 1) == 1);
	close(go[1]);
	return 0;
}

int
traced_attach(struct traced *traced, pid_t pid)
{
	prepare(traced, pid);
	if (tracer_attach(&traced->tracer, &why) < 0)
		return -1;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	return 0;
}

void
traced_run(struct traced *traced)
{
	struct report report = {0};

	while ((report.tid = waitpid(-1, &report.status, __WALL)) > 0) {
		report.time_ns = clock_raw_ns();
		if (tracer_handle(&traced->tracer, &report))
			traced->status = report.status;
		if (!traced->leaves && traced->turn && traced->turn(traced)) {
			traced->leaves = true;
			images_lift_all(&traced->images);
			tracer_leave(&traced->tracer);
		}
		if (traced->tracer.is_attached && traced->tracer.threads.nr == 0)
			break;
	}
	REQUIRE(traced->tracer.threads.nr == 0);
	images_clear(&traced->images);
	tracer_clear(&traced->tracer);
}

bool
traced_probe(void)
{
	static const char *const arguments[] = {"/bin/true", NULL};
	struct traced traced = {0};
	struct rlimit no_core = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	if (traced_begin(&traced, arguments) < 0) {
		fprintf(stderr, "SKIP: this machine does not let processes be traced\n");
		return false;
	}
	traced_run(&traced);
	return true;
}
