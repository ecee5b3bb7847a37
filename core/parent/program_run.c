/* SPDX-License-Identifier: MIT */
/* See program_run.h. Traced or not, it is the same run: only who counts, and what a report means, differs. */
#include "parent/program_run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ProgramRunOutput.h"
#include "ProgramThreadOutput.h"
#include "common/clock.h"
#include "entity.h"
#include "memory.h"
#include "parent/counting.h"
#include "parent/descendants.h"
#include "parent/empty_region.h"
#include "parent/image.h"
#include "parent/launch.h"
#include "parent/process_usage.h"
#include "parent/program_launch.h"
#include "parent/program_rules.h"
#include "parent/program_threads.h"
#include "parent/region_places.h"
#include "parent/regions.h"
#include "parent/tracer.h"

/* How long threads that are to be let go may take to stop. */
#define LEAVING_S 5

struct run {
	struct session *session;
	struct program_run_output *output;
	struct counting counting;
	struct launch launch;
	struct tracer tracer; /* where session->is_traced */
	struct program_threads threads;
	struct program_rules *rules; /* NULL: there are none */
	struct counts inherited;     /* where not */
	struct regions *regions;     /* NULL: none are asked for */
	bool has_places;             /* regions, or rules that answer breakpoints */
	struct images images;        /* where it has places */
	bool awaits_pause;           /* of a thread of a process that is visited, to look for its places */
	bool is_attached;
	bool is_program_over;
	bool is_leaving;
	bool is_late;
	struct program_begin *begin; /* shared with the new process, which sets it */
	uint64_t end_ns;
	int status;
	struct rusage usage, usage_before;
	struct launch_failure failure;
	bool has_failed_to_start;
};

/* ---- what all runs share ---- */

void
session_warn(struct session *session, const char *format, ...)
{
	struct program_command_output *output = session->output;
	char text[sizeof(struct rot_error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < program_command_output_nr_warnings(output); i++) {
		if (strcmp(program_command_output_warnings_at(output, i), text) == 0)
			return;
	}
	program_command_output_warnings_add(output, text);
}

void *
session_fail(struct session *session, const char *kind, const struct rot_error *err)
{
	session->failure = core_failure_new();
	rot_string_set(&session->failure->kind, kind);
	rot_string_set(&session->failure->attempted, err->text);
	rot_string_set(&session->failure->hint, err->hint);
	return NULL;
}

/* ---- what can happen ---- */

/* The threads that are left run on by themselves; some may be known to the system alone. */
static void
leave(struct run *self)
{
	struct rot_error err;

	program_rules_stop(self->rules);
	self->is_leaving = true;
	images_lift_all(&self->images);
	tracer_leave(&self->tracer);
	self->session->loop.is_draining = true;
	loop_set_time_limit(&self->session->loop, LEAVING_S, &err);
}

static void
end_visit(struct run *self)
{
	if (self->is_leaving)
		return;
	self->end_ns = clock_raw_ns();
	process_usage_read(self->tracer.program, &self->usage);
	leave(self);
}

static void
end_program(struct run *self, const struct report *report)
{
	self->is_program_over = true;
	self->status = report->status;
	if (self->end_ns != 0)
		return;
	self->end_ns = report->time_ns;
	self->usage = report->usage;
}

static bool
on_report(void *context, const struct report *report)
{
	struct run *self = context;

	if (!self->session->is_traced) {
		if (report->tid == self->launch.pid)
			end_program(self, report);
		return self->is_program_over;
	}
	self->threads.report = report;
	if (tracer_handle(&self->tracer, report) && !self->is_program_over) {
		end_program(self, report);
		if (self->tracer.threads.nr > 0)
			session_warn(self->session,
				     "processes that the program started were still running when it ended: they "
				     "were counted until then, and run on");
		leave(self);
	}
	self->threads.report = NULL;
	return false;
}

static void
on_no_children(void *context)
{
	struct run *self = context;

	self->session->loop.is_over = true;
}

/* Those whose parent has ended are children of this process where it is not traced; where it is, they are traced too.
 */
static void
kill_program(struct run *self)
{
	descendants_kill(self->session->is_traced ? self->launch.pid : getpid());
	if (self->session->is_traced)
		tracer_kill(&self->tracer);
}

static void
on_late(void *context)
{
	struct run *self = context;

	if (self->is_leaving) {
		session_warn(self->session, "some threads did not stop to be let go");
		self->session->loop.is_over = true;
	} else if (self->is_attached) {
		end_visit(self);
	} else {
		self->is_late = true;
		kill_program(self);
	}
}

/* The terminal sends its signals to the program as well; what somebody sends to this process is meant for it. */
static void
on_signal(void *context, const struct signalfd_siginfo *info)
{
	struct run *self = context;

	self->session->interrupted_by = (int)info->ssi_signo;
	if (self->is_attached)
		end_visit(self);
	else if (info->ssi_code != SI_KERNEL && !self->is_program_over)
		kill(self->launch.pid, (int)info->ssi_signo);
}

static void
on_exec(void *context)
{
	struct run *self = context;

	self->has_failed_to_start = launch_failed(&self->launch, &self->failure);
}

/* ---- threads, and the places that they come to ---- */

static void
on_started(void *context, struct thread *thread)
{
	struct run *self = context;

	if (self->has_places)
		images_started(&self->images, thread);
	program_thread_started(&self->threads, thread);
	self->tracer.cost_from_ns = clock_raw_ns();
}

static void
on_executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct run *self = context;
	bool is_begin = self->threads.start_ns == 0;

	program_thread_executed(&self->threads, thread, old_tid);
	if (is_begin) {
		self->begin->cpu_ns = process_usage_cpu_ns(thread->pid);
		self->begin->time_ns = self->tracer.cost_from_ns = self->threads.start_ns;
	}
	if (self->has_places)
		images_executed(&self->images, thread);
}

static void
on_exited(void *context, struct thread *thread)
{
	struct run *self = context;

	program_thread_exited(&self->threads, thread);
	if (self->has_places)
		images_exited(&self->images, thread);
}

/* The time that this takes while nothing else runs is none of the program's. */
static void
find_places(void *context, struct thread *thread)
{
	struct run *self = context;
	uint64_t begin_ns = clock_raw_ns();

	regions_resolve(self->regions, thread);
	program_rules_resolve(self->rules, self->session->symbols, thread);
	if (!self->is_attached && self->tracer.threads.nr == 1) {
		self->tracer.cost_from_ns = clock_raw_ns();
		self->threads.start_ns += self->tracer.cost_from_ns - begin_ns;
	}
}

/* Then what is there is all that will be found. */
static void
warn_of_objects(void *context, struct thread *thread, const struct rot_error *err)
{
	struct run *self = context;

	session_warn(self->session, "places in libraries that process %d loads are not found: %s", (int)thread->pid,
		     err->text);
	find_places(context, thread);
}

static enum tracer_answer
on_stop(void *context, const struct tracer_stop *stop)
{
	struct run *self = context;
	enum tracer_answer answer = images_stopped(&self->images, stop);
	struct rot_error err;

	if (answer == TRACER_DELIVER && self->awaits_pause && image_is_at_rest(stop->thread)) {
		self->awaits_pause = false;
		find_places(self, stop->thread);
		if (image_watch_objects(stop->thread, &err) < 0)
			warn_of_objects(self, stop->thread, &err);
	}
	return answer == TRACER_DELIVER ? regions_stopped(self->regions, stop) : answer;
}

static bool
may_go(void *context, struct thread *thread)
{
	struct run *self = context;

	return images_may_go(&self->images, thread);
}

static enum tracer_answer
on_leaving(void *context, const struct tracer_stop *stop)
{
	struct run *self = context;

	return images_leaving(&self->images, stop);
}

static void
on_samples(void *context)
{
	struct run *self = context;

	regions_drain(self->regions);
}

static void
prepare_places(struct run *self)
{
	const struct regions_setup setup = {.command = self->session->command,
					    .counting = &self->counting,
					    .tracer = &self->tracer,
					    .find = region_places_find,
					    .context = self->session->symbols};

	self->threads.regions = self->regions = regions_new(&setup);
	self->has_places = self->regions || program_rules_have_places(self->rules);
	if (!self->has_places)
		return;
	self->images = (struct images){.at_entry = find_places,
				       .objects_changed = find_places,
				       .refused = warn_of_objects,
				       .context = self,
				       .tracer = &self->tracer};
	self->tracer.stopped = on_stop;
	self->tracer.may_go = may_go;
	self->tracer.leaving = on_leaving;
}

static void
prepare_loop(struct run *self)
{
	struct loop *loop = &self->session->loop;

	loop->context = self;
	loop->report = on_report;
	loop->no_children = on_no_children;
	loop->signal = on_signal;
	loop->late = on_late;
	loop->reports = (struct reports){
		.wants_names = self->session->is_traced && self->session->command->per_thread,
		.threads = &self->tracer.threads,
	};
	loop->sources[0] = (struct source){&self->launch.exec_fd, 0, on_exec};
	loop->sources[1] = (struct source){regions_fd(self->regions), 0, on_samples};
	loop->nr_sources = self->regions ? 2 : 1;
	loop->is_over = loop->is_draining = false;
}

/* ---- starting ---- */

/*
 * Somebody killed the process before it was let go: its end is reported as that of any other. It can be neither traced
 * nor counted some time before it can be waited for.
 */
static bool
has_ended(const struct run *self)
{
	siginfo_t info = {0};

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
	if (self->rules) {
		rot_error_prefix(&refused, "rules need the threads to be traced");
		session_fail(session, "refused", &refused);
		return;
	}
	session_warn(session, "threads are not told apart: %s (%s)", refused.text, refused.hint);
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

/* The process waits to be let go afterwards. 0, or -1 and the session has the failure. */
static int
prepare_program(struct run *self)
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

/* 0, or -1 and the session has the failure. */
static int
attach(struct run *self)
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
		ptrace(PTRACE_INTERRUPT, self->tracer.program, NULL, NULL);
	return 0;
}

static int
start(struct run *self)
{
	struct rot_error err;

	if ((self->is_attached ? attach(self) : prepare_program(self)) < 0)
		return -1;
	self->session->loop.reports.usage_of = self->tracer.program;
	if (loop_set_time_limit(&self->session->loop, self->session->time_limit_s, &err) < 0) {
		session_fail(self->session, "error", &err);
		return -1;
	}
	if (!self->is_attached)
		launch_go(&self->launch);
	return 0;
}

/* ---- ending ---- */

static void
end_thread(void *context, struct thread *thread)
{
	struct run *self = context;

	on_exited(self, thread);
}

/* A program that was made and never let go, or is still there after a failure. */
static void
finish(struct run *self)
{
	struct rot_error err;

	if (self->launch.pid > 0 && !self->is_program_over) {
		kill(self->launch.pid, SIGKILL);
		while (waitpid(self->launch.pid, &self->status, __WALL) == self->launch.pid && WIFSTOPPED(self->status))
			;
	}
	threads_each(&self->tracer.threads, end_thread, self);
	images_clear(&self->images);
	tracer_clear(&self->tracer);
	counts_end(&self->inherited, &err);
	launch_clear(&self->launch);
	launch_close(&self->session->loop.timer_fd);
}

static void
add_total(struct run *self)
{
	struct program_thread_output *total = program_thread_output_new();

	total->pid = self->tracer.program;
	total->stop_time = self->output->wall_time;
	total->counts =
		counts_output(self->session->is_traced ? &self->threads.total : &self->inherited, &self->counting);
	program_run_output_threads_add(self->output, total);
}

static void
fill_output(struct run *self)
{
	struct program_run_output *output = self->output;
	uint64_t start_ns = self->session->is_traced ? self->threads.start_ns : self->begin->time_ns;

	output->wall_time = start_ns != 0 && self->end_ns > start_ns ? self->end_ns - start_ns : 0;
	if (!self->is_attached)
		process_usage_take_off(&self->usage, self->begin->cpu_ns);
	process_usage_fill(output, &self->usage_before, &self->usage);
	output->exit_status = self->is_program_over && WIFEXITED(self->status) ? WEXITSTATUS(self->status) : -1;
	output->signal = self->is_program_over && WIFSIGNALED(self->status) ? WTERMSIG(self->status) : 0;
	output->nr_stops = self->tracer.nr_stops;
	output->stopped_time = self->tracer.stopped_ns;
	if (!self->session->is_traced || !self->threads.is_per_thread)
		add_total(self);
}

/* A set-uid program takes its counters with it, which is only seen by the time that they counted. */
static void
warn_of_gaps(struct run *self)
{
	struct session *session = self->session;
	const struct program_threads *threads = &self->threads;
	uint64_t used_ns = self->output->user_time + self->output->system_time, gap_ns = used_ns / 10 + 10000000;

	if (threads->nr_uncounted > 0)
		session_warn(session, "%zu threads were not counted, or not wholly: %s (%s)", threads->nr_uncounted,
			     threads->uncounted.text, threads->uncounted.hint);
	if (!session->is_traced && self->counting.encoding && session->heirs == PERF_HEIRS_ALL &&
	    self->inherited.sum.enabled_ns + gap_ns < used_ns)
		session_warn(session,
			     "the program ran longer than it was counted: a set-uid program takes away inherited "
			     "counters; tracing (per thread) keeps them");
}

/* ---- what regions cost ---- */

static const struct empty_region_output *
find_empty_region(const struct session *session, int32_t pass, const char *backend)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(session->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(session->output, i);

		for (size_t j = 0; run->pass == pass && j < program_run_output_nr_empty_regions(run); j++) {
			if (strcmp(program_run_output_empty_regions_at(run, j)->backend, backend) == 0)
				return program_run_output_empty_regions_at(run, j);
		}
	}
	return NULL;
}

/* Found out once for each backend and pass; it is no part of the run. */
static void
add_empty_region(struct run *self, const char *backend)
{
	const struct empty_region_output *known = find_empty_region(self->session, self->output->pass, backend);
	struct empty_region_output *empty;
	struct rot_error err = {0};

	empty = known ? rot_graph_clone(known, NULL) : empty_region_measure(&self->counting, backend, &err);
	if (empty)
		program_run_output_empty_regions_add(self->output, empty);
	else
		session_warn(self->session, "what an empty region counts is not known: %s", err.text);
}

static void
add_regions(struct run *self)
{
	static const char *const names[] = {"uprobe", "breakpoint", "int3"};

	if (!self->regions)
		return;
	regions_output(self->regions, self->output, self->session->output);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (regions_use(self->regions, names[i]))
			add_empty_region(self, names[i]);
	}
}

/* What has happened, as a failure or as an output. */
static bool
conclude(struct run *self)
{
	struct session *session = self->session;
	struct rot_error err;

	if (self->has_failed_to_start) {
		session->failure = program_explain(session->command->program, &self->failure);
	} else if (self->is_late) {
		rot_error_set(&err, 0, "the program exceeded the time limit and was killed");
		rot_error_hint(&err, "if it needs longer, raise timeLimit (seconds; for all runs together)");
		session_fail(session, "timeLimit", &err);
	} else {
		fill_output(self);
		warn_of_gaps(self);
		add_regions(self);
	}
	return session->failure == NULL;
}

static void
warn_of_rules(void *context, const char *text)
{
	session_warn(context, "%s", text);
}

static int
open_rules(struct run *self, struct rot_error *err)
{
	const struct program_rules_setup setup = {.command = self->session->command,
						  .output = self->output,
						  .warn = warn_of_rules,
						  .context = self->session};
	int rc = program_rules_new(&self->rules, &setup, err);

	self->threads.rules = self->rules;
	return rc;
}

struct program_run_output *
program_run(struct session *session, int32_t pass)
{
	struct run *self = rot_calloc(1, sizeof(*self));
	struct program_run_output *output = program_run_output_new();
	const struct program_command *command = session->command;
	struct rot_error err;
	bool is_done = false;

	*self = (struct run){
		.session = session, .output = output, .launch = LAUNCH_NONE, .is_attached = command->program == NULL};
	self->threads = (struct program_threads){.counting = &self->counting,
						 .output = output,
						 .threads = &self->tracer.threads,
						 .is_per_thread = command->per_thread};
	self->tracer = (struct tracer){.follows_forks = command->follow_forks,
				       .started = on_started,
				       .executed = on_executed,
				       .exited = on_exited,
				       .context = self};
	output->pass = pass;
	if (counting_open(&self->counting, program_command_passes_at(command, (size_t)pass), &err) < 0 ||
	    open_rules(self, &err) < 0) {
		session_fail(session, "refused", &err);
		goto out;
	}
	prepare_places(self);
	prepare_loop(self);
	is_done = start(self) == 0;
	if (is_done)
		loop_run(&session->loop);
	finish(self);
	is_done = is_done && conclude(self);
	if (self->begin && self->begin != MAP_FAILED)
		munmap(self->begin, sizeof(*self->begin));
out:
	program_rules_delete(self->rules);
	regions_delete(self->regions);
	counting_close(&self->counting);
	free(self);
	if (is_done)
		return output;
	rot_graph_delete(output);
	return NULL;
}
