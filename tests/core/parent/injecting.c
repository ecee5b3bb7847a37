/* SPDX-License-Identifier: MIT */
/* See injecting.h: a tracer, an injector and their loop, as rot-core has them. */
#include "injecting.h"

#include <sys/sem.h>
#include <sys/timerfd.h>

#include "common/clock.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/loop.h"
#include "parent/tracer/remote.h"
#include "testing.h"

struct bench {
	const struct injecting *what;
	struct victim_shared *shared;
	struct launch launch;
	struct tracer tracer;
	struct injector injector;
	struct loop loop;
	int pace_fd, shared_fd;
	uint64_t trampoline, function;
	bool is_copied;
	int64_t nr_asked[VICTIM_MAX_SLOTS];
	bool is_asked[VICTIM_MAX_SLOTS];
	int64_t nr_paces;
	struct injecting_result result;
	struct asked {
		struct bench *bench;
		int slot;
	} asked[VICTIM_MAX_SLOTS];
};

static struct victim_shared *shared;

/* ---- tracer to injector ---- */

static void
on_started(void *context, struct thread *thread)
{
	(void)context, (void)thread;
}

static void
on_executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct bench *bench = context;

	injector_thread_executed(&bench->injector, thread, old_tid);
}

static void
on_exited(void *context, struct thread *thread)
{
	struct bench *bench = context;

	injector_thread_exited(&bench->injector, thread);
}

static void
die(const char *what, const struct rot_error *err)
{
	fprintf(stderr, "injecting: %s: %s\n", what, err ? err->text : strerror(errno));
	exit(1);
}

#define COPY_BYTES 4096
#define COPY_OFFSET 64

/* While the process has one thread. */
static void
make_copy(struct bench *bench, const struct thread *thread)
{
	unsigned char code[COPY_BYTES] = {0};

	if (remote_map_near(thread->tid, tracer_options(&bench->tracer), 0, COPY_BYTES, PROT_READ | PROT_EXEC,
			    &bench->trampoline, &why) < 0)
		die("map", &why);
	memcpy(code, inject_trampoline, INJECT_TRAMPOLINE_BYTES);
	if (remote_write(thread->tid, bench->trampoline, code, sizeof(code), &why) < 0)
		die("write", &why);
	bench->is_copied = true;
}

static enum tracer_answer
on_stopped(void *context, const struct tracer_stop *stop)
{
	struct bench *bench = context;

	if (bench->what->from_copy && !bench->is_copied && stop->signal == SIGURG) {
		make_copy(bench, stop->thread);
		return TRACER_DELIVER;
	}
	return injector_handle(&bench->injector, stop);
}

static bool
on_report(void *context, const struct report *report)
{
	struct bench *bench = context;
	bool is_over = tracer_handle(&bench->tracer, report);

	if (is_over)
		bench->result.status = report->status;
	return is_over;
}

/* ---- what is run ---- */

/* The victim was told by a signal where it finds the copy; here the code is put behind the trampoline. */
static void
locate(struct bench *bench)
{
	const struct victim_shared *victim = bench->shared;
	unsigned char code[COPY_BYTES];

	bench->function = *(const uint64_t *)((const char *)victim + bench->what->function);
	if (!bench->what->from_copy) {
		bench->trampoline = victim->trampoline;
		return;
	}
	if (remote_read(bench->launch.pid, bench->function, code, victim->clobber_bytes, &why) < 0 ||
	    remote_write(bench->launch.pid, bench->trampoline + COPY_OFFSET, code, victim->clobber_bytes, &why) < 0)
		die("copy", &why);
	bench->function = bench->trampoline + COPY_OFFSET;
}

static void
on_done(void *context, const struct injection_outcome *outcome)
{
	struct asked *asked = context;

	asked->bench->is_asked[asked->slot] = false;
	if (outcome->end == INJECTION_FAULTED)
		asked->bench->result.last_signal = outcome->signal;
}

static void
ask(struct bench *bench, int slot)
{
	const struct thread *thread = threads_find(&bench->tracer.threads, bench->shared->slots[slot].tid);
	const struct injection injection = {
		.trampoline = bench->trampoline,
		.function = bench->function,
		.arguments = {bench->shared->slots_address + (uint64_t)slot * sizeof(struct victim_slot),
			      bench->shared->counters_address, bench->shared->slots[slot].rseq},
	};

	if (!thread)
		return;
	bench->is_asked[slot] = true;
	bench->nr_asked[slot]++;
	bench->asked[slot] = (struct asked){bench, slot};
	injector_run(&bench->injector, thread, &injection, on_done, &bench->asked[slot]);
}

static void
disturb(struct bench *bench)
{
	bench->nr_paces++;
	if (bench->what->kill_after && bench->injector.nr_done >= bench->what->kill_after)
		kill(bench->launch.pid, SIGKILL);
	if (bench->what->exec_after && bench->injector.nr_done >= bench->what->exec_after)
		bench->shared->wants_exec = 1;
	if (bench->what->stops_and_continues && bench->nr_paces % 64 == 0)
		kill(bench->launch.pid, bench->nr_paces % 128 == 0 ? SIGSTOP : SIGCONT);
}

static void
on_pace(void *context)
{
	struct bench *bench = context;
	bool is_done = true;
	uint64_t nr;

	if (read(bench->pace_fd, &nr, sizeof(nr)) != (ssize_t)sizeof(nr) || bench->shared->is_ready != -1)
		return;
	if (bench->function == 0)
		locate(bench);
	disturb(bench);
	for (int i = 0; i < bench->shared->nr_slots; i++) {
		if (!bench->is_asked[i] && bench->nr_asked[i] < bench->what->count)
			ask(bench, i);
		is_done &= !bench->is_asked[i] && bench->nr_asked[i] == bench->what->count;
	}
	if (is_done) {
		bench->shared->is_stopping = 1;
		if (bench->what->stops_and_continues)
			kill(bench->launch.pid, SIGCONT);
	}
}

static void
on_late(void *context)
{
	struct bench *bench = context;

	injector_late(&bench->injector);
}

/* ---- from start to end ---- */

static struct launch_failure
become_victim(void *context)
{
	struct bench *bench = context;
	const char *arguments[INJECTING_MAX_NAMES + 3] = {"inject_victim", "3"};

	memcpy(arguments + 2, bench->what->names, sizeof(bench->what->names));
	loop_restore_signals(&bench->loop);
	if (dup2(bench->shared_fd, 3) == 3)
		execv(built_path("tests/core/parent/inject_victim"), (char *const *)arguments);
	return (struct launch_failure){.reason = errno};
}

static void
start(struct bench *bench)
{
	static const int no_signals[] = {0};
	const struct source sources[] = {{&bench->pace_fd, 0, on_pace}, {&bench->injector.timer_fd, 0, on_late}};
	const long pause_ns = 1000L * bench->what->pause_us;

	bench->shared_fd = memfd_create("shared", 0);
	if (shared)
		munmap(shared, sizeof(*shared));
	if (bench->shared_fd < 0 || ftruncate(bench->shared_fd, sizeof(*shared)) < 0)
		die("memory", NULL);
	bench->shared = shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, bench->shared_fd, 0);
	if (shared == MAP_FAILED)
		die("memory", NULL);
	shared->semaphores = -1;
	bench->loop.context = bench;
	bench->loop.report = on_report;
	if (loop_open(&bench->loop, no_signals, &why) < 0 ||
	    launch_fork(&bench->launch, become_victim, bench, &why) < 0)
		die("start", &why);
	bench->tracer = (struct tracer){.program = bench->launch.pid,
					.started = on_started,
					.executed = on_executed,
					.exited = on_exited,
					.stopped = on_stopped,
					.context = bench};
	if (tracer_seize(&bench->tracer, &why) < 0 || injector_open(&bench->injector, &bench->tracer, &why) < 0)
		die("trace", &why);
	bench->injector.neglects = bench->what->neglects;
	bench->pace_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(bench->pace_fd, 0, &(struct itimerspec){{0, pause_ns}, {0, pause_ns}}, NULL);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		bench->loop.sources[bench->loop.nr_sources++] = sources[i];
	launch_go(&bench->launch);
}

struct injecting_result
injecting_run(const struct injecting *what)
{
	autofree struct bench *bench = rot_calloc(1, sizeof(*bench));
	uint64_t begin_ns = clock_raw_ns();
	struct injecting_result result;

	*bench = (struct bench){.what = what, .launch = LAUNCH_NONE, .loop = LOOP_NONE, .injector = INJECTOR_NONE};
	start(bench);
	loop_run(&bench->loop);
	injector_close(&bench->injector);
	result = bench->result;
	result.shared = bench->shared;
	result.nr_asked = bench->injector.nr_asked;
	result.nr_done = bench->injector.nr_done;
	result.nr_faulted = bench->injector.nr_faulted;
	result.nr_dropped = bench->injector.nr_dropped;
	result.nr_triggers = bench->injector.nr_triggers;
	result.nr_interrupts = bench->injector.nr_interrupts;
	result.seconds = (double)(clock_raw_ns() - begin_ns) / 1e9;
	tracer_clear(&bench->tracer);
	launch_clear(&bench->launch);
	loop_close(&bench->loop);
	close(bench->pace_fd);
	close(bench->shared_fd);
	if (bench->shared->semaphores >= 0)
		semctl(bench->shared->semaphores, 0, IPC_RMID);
	return result;
}
