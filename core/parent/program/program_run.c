/* SPDX-License-Identifier: MIT */
/* See program_run.h. Traced or not, it is the same run: only who counts, and what a report means, differs. */
#include "parent/program/program_run_internal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "common/steal_time.h"
#include "entity.h"
#include "memory.h"
#include "parent/program/descendants.h"
#include "parent/program/process_usage.h"
#include "parent/regions/region_places.h"

/* How long threads that are to be let go may take to stop, and how often as long those that have not waited for it. */
#define LEAVING_S 5
#define LEAVING_TIMES 12

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

/*
 * The shell that waits for our parent is to see the program stop, when it has stopped: after it has set the terminal
 * right, for instance.
 */
static void
lead_parent(struct run *self, bool is_stopped)
{
	if (!self->session->leads_parent || self->is_stopped == is_stopped)
		return;
	self->is_stopped = is_stopped;
	kill(getppid(), is_stopped ? SIGSTOP : SIGCONT);
}

/* Nothing was planted that a process which is not followed could come to. */
static void
refuse_places(struct run *self)
{
	const pid_t tid = tracer_unsettled(&self->tracer);
	struct rot_error err;

	if (tid)
		rot_error_set(&err, 0, "thread %d did not stop once in the time: what it starts might not be followed",
			      (int)tid);
	else
		rot_error_set(&err, 0, "no thread of process %d came to rest in the time", (int)self->tracer.program);
	rot_error_hint(&err, "look on for longer");
	regions_refuse(self->regions, &err);
}

static void
end_visit(struct run *self)
{
	if (self->is_leaving)
		return;
	lead_parent(self, false);
	self->end_ns = clock_raw_ns();
	process_usage_read(self->tracer.program, &self->usage);
	if (self->awaits_pause)
		refuse_places(self);
	leave(self);
}

static void
on_exec(void *context)
{
	struct run *self = context;

	self->has_failed_to_start = launch_failed(&self->launch, &self->failure);
}

/* The end may be reported before the reason why the program could not be executed is read. */
static void
end_program(struct run *self, const struct report *report)
{
	lead_parent(self, false);
	if (self->launch.exec_fd >= 0)
		on_exec(self);
	self->is_program_over = true;
	self->status = report->status;
	if (self->end_ns != 0)
		return;
	self->end_ns = report->time_ns;
	self->usage = report->usage;
	if (report->tid != self->tracer.program)
		process_usage_read(self->tracer.program, &self->usage);
}

/* Of a process that is not traced nobody reports it. */
static bool
has_stopped(const struct run *self)
{
	char fields[PROC_STAT_BYTES], state = '?';

	if (self->session->is_traced)
		return tracer_is_stopped(&self->tracer);
	return proc_stat(self->launch.pid, fields) && sscanf(fields, " %c", &state) == 1 && state == 'T';
}

/*
 * Places are looked for in a process that is visited when nobody can start anything unseen any more. Then whoever has
 * told something is asked to pause, until one does where its registers are its own.
 */
static void
await_pause(struct run *self, pid_t tid)
{
	const struct thread *thread = threads_find(&self->tracer.threads, tid);

	if (!self->awaits_pause || self->is_leaving)
		return;
	/* Settled but for another tracer, there may be no other report that asks again. */
	if (!tracer_is_settled(&self->tracer) && self->tracer.nr_unsettled > 0)
		return;
	if (!thread)
		tracer_settle(&self->tracer);
	else if (thread->pid == self->tracer.program && thread->state == THREAD_RUNNING)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
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
		leave(self);
	}
	await_pause(self, report->tid);
	if (!self->is_attached)
		lead_parent(self, has_stopped(self));
	self->threads.report = NULL;
	return false;
}

static void
on_child_signal(void *context)
{
	struct run *self = context;

	if (self->session->leads_parent && !self->session->is_traced && !self->is_program_over)
		lead_parent(self, has_stopped(self));
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

/* One that waits in the kernel stands at no breakpoint; any other may have met one that was taken out since. */
static void
find_late(void *context, struct thread *thread)
{
	char fields[PROC_STAT_BYTES], state;

	*(bool *)context |= proc_stat(thread->tid, fields) && sscanf(fields, " %c", &state) == 1 && state != 'D';
}

static bool
may_be_trapped(struct run *self)
{
	bool is_late = false;

	if (self->has_places)
		threads_each(&self->tracer.threads, find_late, &is_late);
	return is_late;
}

static void
on_late(void *context)
{
	struct run *self = context;
	struct rot_error err;

	if (self->is_leaving && ++self->nr_waits < LEAVING_TIMES && may_be_trapped(self)) {
		loop_set_time_limit(&self->session->loop, LEAVING_S, &err);
	} else if (self->is_leaving) {
		session_warn(self->session, "some threads did not stop to be let go");
		self->session->loop.is_over = true;
	} else if (self->is_attached) {
		end_visit(self);
	} else {
		self->is_late = true;
		kill_program(self);
	}
}

/* Of a visit. */
static void
on_driver_end(void *context)
{
	struct run *self = context;

	launch_close(&self->session->driver_fd);
	self->session->leads_parent = false;
	end_visit(self);
}

/* Those that stop a program, and let it go on. */
static bool
is_of_jobs(const struct signalfd_siginfo *info)
{
	const int number = (int)info->ssi_signo;

	return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU || number == SIGCONT;
}

/*
 * The program gets them itself: to stop it once more would do that to one which has gone on meanwhile. Who lets its
 * parents alone go on means it. A visit goes on, whoever stops.
 */
static void
on_signal_of_jobs(struct run *self, const struct signalfd_siginfo *info)
{
	const bool goes_on = info->ssi_signo == SIGCONT;

	if (self->is_attached)
		lead_parent(self, !goes_on);
	else if (goes_on && !self->is_program_over && has_stopped(self))
		kill(self->launch.pid, SIGCONT);
}

/*
 * The terminal sends its signals to the program as well; what somebody sends to this process is meant for it. Before
 * the new process is let go, nobody knows whether the terminal's came to it. It has them blocked, and one that is
 * pending and comes again is one.
 */
static void
on_signal(void *context, const struct signalfd_siginfo *info)
{
	struct run *self = context;
	const bool is_early = !self->is_attached && !self->has_gone;

	if (!is_of_jobs(info))
		self->session->interrupted_by = (int)info->ssi_signo;
	else if (!is_early)
		on_signal_of_jobs(self, info);
	if (self->is_attached && !is_of_jobs(info))
		end_visit(self);
	else if (is_early || (!is_of_jobs(info) && info->ssi_code != SI_KERNEL && !self->is_program_over))
		kill(self->launch.pid, (int)info->ssi_signo);
}

/* ---- threads, and the places that they come to ---- */

static void
on_started(void *context, struct thread *thread)
{
	struct run *self = context;

	if (self->has_places)
		images_started(&self->images, thread);
	region_steps_started(self->steps, thread);
	translator_started(self->translator, thread);
	program_thread_started(&self->threads, thread);
	self->tracer.cost_from_ns = clock_raw_ns();
}

static void
on_forked(void *context, struct thread *thread, pid_t child)
{
	struct run *self = context;

	regions_thread_forked(self->regions, thread, child);
}

static void
on_created(void *context, struct thread *thread, pid_t child)
{
	struct run *self = context;

	region_steps_created(self->steps, thread, child);
	if (self->translator)
		translator_created(self->translator, thread, child);
}

static void
on_executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct run *self = context;
	bool is_begin = self->threads.start_ns == 0;

	keep_off_process(&self->keep_off, thread->pid);
	region_steps_exited(self->steps, thread);
	translator_executed(self->translator, thread);
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
	translator_exited(self->translator, thread);
	region_steps_exited(self->steps, thread);
	if (self->has_places)
		images_exited(&self->images, thread);
}

/* The time that this takes while nothing else runs is none of the program's. */
static void
find_places(void *context, struct thread *thread)
{
	struct run *self = context;
	uint64_t begin_ns = clock_raw_ns();

	region_steps_code_changed(self->steps);
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
	enum tracer_answer answer = region_steps_stopped(self->steps, stop);
	struct rot_error err;

	if (answer != TRACER_DELIVER)
		return answer;
	answer = images_stopped(&self->images, stop);
	if (answer == TRACER_RESUME)
		return region_steps_follow(self->steps, stop->thread, regions_have(self->regions, stop->thread));
	if (answer == TRACER_DELIVER && self->awaits_pause && stop->thread->pid == self->tracer.program &&
	    tracer_is_settled(&self->tracer) && image_bring_to_rest(stop->thread)) {
		self->awaits_pause = false;
		find_places(self, stop->thread);
		if (image_watch_objects(stop->thread, &err) < 0)
			warn_of_objects(self, stop->thread, &err);
	}
	return answer == TRACER_DELIVER ? regions_stopped(self->regions, stop) : answer;
}

static enum tracer_answer
on_stop_of_translated(void *context, const struct tracer_stop *stop)
{
	return translator_stopped(((struct run *)context)->translator, stop);
}

static enum tracer_answer
on_leaving_of_translated(void *context, const struct tracer_stop *stop)
{
	return translator_leaving(((struct run *)context)->translator, stop);
}

/* A pass that counts instructions, and no regions: whole threads are translated. */
static void
prepare_translation(struct run *self)
{
	const struct program_command *command = self->session->command;
	struct translator_options options;
	struct step_region caches;

	if (!self->counting.steps || program_command_nr_regions(command) > 0 || self->is_attached ||
	    !self->session->is_traced)
		return;
	self->counting.is_translated = true;
	caches = step_region_of(self->counting.steps);
	options = (struct translator_options){.caches = caches.has_lines ? &caches : NULL,
					      .has_pages = caches.has_pages,
					      .sampling = (unsigned)command->cache_sampling,
					      .foreseen = self->session->foreseen};
	self->threads.translator = self->translator = translator_new(&self->tracer, &options);
	self->tracer.stopped = on_stop_of_translated;
	self->tracer.leaving = on_leaving_of_translated;
}

/* Whether it shares the memory of its parent is known when there are breakpoints in it. */
static bool
may_go(void *context, struct thread *thread)
{
	struct run *self = context;
	bool may_of_steps = region_steps_may_go(self->steps, thread);

	if (self->awaits_pause && !thread->image) {
		images_started(&self->images, thread);
		return false;
	}
	return images_may_go(&self->images, thread) && may_of_steps;
}

static enum tracer_answer
on_leaving(void *context, const struct tracer_stop *stop)
{
	struct run *self = context;
	const enum tracer_answer of_steps = region_steps_leaving(self->steps, stop);
	struct tracer_stop shown = *stop;
	enum tracer_answer answer;

	if (of_steps == TRACER_KEEP)
		return TRACER_KEEP;
	if (of_steps == TRACER_RESUME)
		shown.signal = 0;
	answer = images_leaving(&self->images, &shown);
	return answer == TRACER_DELIVER ? of_steps : answer;
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
	const struct regions_setup setup = {.steps = self->steps,
					    .command = self->session->command,
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
	if (self->regions && self->tracer.follows_forks)
		self->tracer.forked = on_forked;
}

static bool
on_idle(void *context)
{
	const struct run *self = context;

	return self->translator ? translator_idle(self->translator) : region_steps_idle(self->steps);
}

static void
prepare_loop(struct run *self)
{
	struct loop *loop = &self->session->loop;

	loop->context = self;
	loop->report = on_report;
	loop->no_children = on_no_children;
	loop->signal = on_signal;
	loop->child_signal = on_child_signal;
	loop->late = on_late;
	loop->idle = on_idle;
	loop->reports = (struct reports){
		.names = !self->session->is_traced || !self->session->command->per_thread ? REPORTS_NO_NAMES
			 : self->rules                                                    ? REPORTS_ALL_NAMES
											  : REPORTS_NAMES,
		.threads = &self->tracer.threads,
	};
	loop->sources[0] = (struct source){&self->launch.exec_fd, 0, on_exec};
	loop->sources[1] = (struct source){&self->session->driver_fd, 0, on_driver_end};
	loop->sources[2] = (struct source){regions_fd(self->regions), 0, on_samples};
	loop->nr_sources = self->regions ? 3 : 2;
	loop->is_over = loop->is_draining = false;
}

/* ---- from beginning to end ---- */

static int
start(struct run *self)
{
	struct rot_error err;

	if ((self->is_attached ? program_run_attach(self) : program_run_prepare(self)) < 0)
		return -1;
	self->session->loop.reports.usage_of = self->tracer.program;
	if (loop_set_time_limit(&self->session->loop, self->session->time_limit_s, &err) < 0) {
		session_fail(self->session, "error", &err);
		return -1;
	}
	self->steal_before = steal_time_now();
	if (!self->is_attached) {
		loop_take_signals(&self->session->loop);
		self->has_gone = true;
		launch_go(&self->launch);
	}
	return 0;
}

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
	keep_off_end(&self->keep_off);
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
				       .created = on_created,
				       .context = self};
	output->pass = pass;
	clock_now(&output->start_time, &output->start_microseconds);
	if (counting_open(&self->counting, program_command_passes_at(command, (size_t)pass), &err) < 0 ||
	    open_rules(self, &err) < 0) {
		session_fail(session, "refused", &err);
		goto out;
	}
	prepare_translation(self);
	self->steps = region_steps_new(self->translator ? NULL : self->counting.steps, &self->tracer);
	prepare_places(self);
	prepare_loop(self);
	is_done = start(self) == 0;
	if (is_done)
		loop_run(&session->loop);
	finish(self);
	is_done = is_done && program_run_conclude(self);
	if (self->begin && self->begin != MAP_FAILED)
		munmap(self->begin, sizeof(*self->begin));
out:
	program_rules_delete(self->rules);
	regions_delete(self->regions);
	region_steps_delete(self->steps);
	translator_delete(self->translator);
	counting_close(&self->counting);
	free(self);
	if (is_done)
		return output;
	rot_graph_delete(output);
	return NULL;
}
