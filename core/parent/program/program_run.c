/* SPDX-License-Identifier: MIT */
/* See program_run.h. Traced or not, it is the same run: only who counts, and what a report means, differs. */
#include "parent/program/program_run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "MissCurve.h"
#include "MissKinds.h"
#include "ProgramRegionOutput.h"
#include "ProgramRunOutput.h"
#include "ProgramThreadOutput.h"
#include "Region.h"
#include "WhatIf.h"
#include "common/clock.h"
#include "common/counting.h"
#include "common/proc.h"
#include "common/steal_time.h"
#include "entity.h"
#include "memory.h"
#include "parent/breakpoints/image.h"
#include "parent/profile/counted_code.h"
#include "parent/profile/profile.h"
#include "parent/program/allocations.h"
#include "parent/program/miss_report.h"
#include "parent/program/process_usage.h"
#include "parent/program/program_launch.h"
#include "parent/program/program_rules.h"
#include "parent/program/program_threads.h"
#include "parent/regions/empty_region.h"
#include "parent/regions/regions.h"
#include "parent/stepping/cache_model.h"
#include "parent/supervisor/keep_off.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/tracer.h"
#include "parent/translate/contents.h"
#include "parent/translate/edges.h"
#include "parent/translate/process_curves.h"
#include "parent/translate/what_ifs.h"

/* How long threads that are to be let go may take to stop, and how often as long those that have not waited for it. */
#define LEAVING_S 5
#define LEAVING_TIMES 12

/* One run of a program, or one visit. */
struct program_run {
	struct session *session;
	struct program_run_output *output;
	struct counting counting;
	struct launch launch;
	struct tracer tracer; /* where session->is_traced */
	struct keep_off keep_off;
	struct program_threads threads;
	struct program_rules *rules;   /* NULL: there are none */
	struct counts inherited;       /* where not */
	struct regions *regions;       /* NULL: none are asked for */
	struct translator *translator; /* NULL: code is not translated */
	struct frames_rule *rules_of_regions;
	struct counted_code *counted;    /* NULL: what code did is not asked for by function */
	struct data *data;               /* NULL: misses are not told apart */
	struct allocations *allocations; /* likewise */
	struct profile *profile;         /* NULL: CPU time is not sampled */
	struct watched *watched;         /* regions that are sampled, not observed any more */
	size_t nr_watched;
	bool has_cost[REGION_NR_BACKENDS]; /* what a hit costs was looked for */
	bool has_places;                   /* regions, or rules that answer breakpoints */
	struct images images;              /* where it has places */
	bool awaits_pause;                 /* of a thread of a process that is visited, to look for its places */
	bool is_attached;
	bool has_gone;         /* the new process was let go */
	bool has_told_missing; /* see tell_missing           */
	bool is_program_over;
	bool is_leaving;
	unsigned nr_waits; /* for threads that did not stop to be let go */
	bool is_stopped;   /* the program, or a visit, and so the parent */
	bool is_late;
	struct program_begin *begin; /* shared with the new process, which sets it */
	uint64_t end_ns;
	int status;
	struct rusage usage, usage_before;
	int64_t steal_before; /* steal_time_now */
	struct launch_failure failure;
	bool has_failed_to_start;
};

/* ---- what can happen ---- */

/* The threads that are left run on by themselves; some may be known to the system alone. */
static void
let_threads_go(struct program_run *self)
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
lead_parent(struct program_run *self, bool is_stopped)
{
	if (!self->session->leads_parent || self->is_stopped == is_stopped)
		return;
	self->is_stopped = is_stopped;
	kill(getppid(), is_stopped ? SIGSTOP : SIGCONT);
}

static void
end_visit(struct program_run *self)
{
	pid_t tid;
	struct rot_error err;

	if (self->is_leaving)
		return;
	lead_parent(self, false);
	self->end_ns = clock_raw_ns();
	process_usage_read(self->tracer.program, &self->usage);
	/* Nothing was planted that a process which is not followed could come to. */
	if (self->awaits_pause) {
		tid = tracer_unsettled(&self->tracer);
		if (tid)
			rot_error_set(&err, 0,
				      "thread %d did not stop once in the time: what it starts might not be followed",
				      (int)tid);
		else
			rot_error_set(&err, 0, "no thread of process %d came to rest in the time",
				      (int)self->tracer.program);
		rot_error_hint(&err, "look on for longer");
		regions_refuse(self->regions, &err);
	}
	let_threads_go(self);
}

static void
on_exec(void *context)
{
	struct program_run *self = context;

	self->has_failed_to_start = launch_failed(&self->launch, &self->failure);
}

/* The end may be reported before the reason why the program could not be executed is read. */
static void
end_program(struct program_run *self, const struct report *report)
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

/* A process that is not traced must be looked at: nobody reports its stops. */
static bool
has_stopped(const struct program_run *self)
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
await_pause(struct program_run *self, pid_t tid)
{
	const struct thread *thread = threads_find(&self->tracer.threads, tid);

	if (!self->awaits_pause || self->is_leaving)
		return;
	/* Settled but for another tracer, there may be no other report that asks again. */
	if (!tracer_is_settled(&self->tracer) && self->tracer.nr_unsettled > 0)
		return;
	if (!thread)
		tracer_settle(&self->tracer);
	else if (thread->pid == self->tracer.program && thread->state == THREAD_RUNNING && !thread->awaits_return)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
}

/* Their times are told by samples from now on. */
static void
sample_short_regions(struct program_run *self)
{
	uint64_t time_ns;
	size_t region;

	while (regions_give_up(self->regions, &region, &time_ns)) {
		const struct region *definition = program_command_regions_at(self->session->command, region);

		self->watched = rot_grow(self->watched, self->nr_watched, sizeof(*self->watched));
		self->watched[self->nr_watched++] =
			(struct watched){.region = region,
					 .name = definition->name,
					 .epoch = profile_begin_epoch(self->profile, time_ns)};
	}
}

static bool
on_report(void *context, const struct report *report)
{
	struct program_run *self = context;

	if (!self->session->is_traced) {
		if (report->tid == self->launch.pid)
			end_program(self, report);
		return self->is_program_over;
	}
	self->threads.report = report;
	if (tracer_handle(&self->tracer, report) && !self->is_program_over) {
		end_program(self, report);
		let_threads_go(self);
	}
	sample_short_regions(self);
	await_pause(self, report->tid);
	if (self->translator && self->is_attached && !self->is_leaving)
		tracer_is_settled(&self->tracer);
	if (!self->is_attached)
		lead_parent(self, has_stopped(self));
	self->threads.report = NULL;
	return false;
}

static void
on_child_signal(void *context)
{
	struct program_run *self = context;

	if (self->session->leads_parent && !self->session->is_traced && !self->is_program_over)
		lead_parent(self, has_stopped(self));
}

static void
on_no_children(void *context)
{
	struct program_run *self = context;

	self->session->loop.is_over = true;
}

static void
find_translated(void *context, struct thread *thread)
{
	*(bool *)context |= translator_has(thread);
}

/* It could not go on without this process. */
static bool
has_translated(struct program_run *self)
{
	bool has = false;

	if (self->translator)
		threads_each(&self->tracer.threads, find_translated, &has);
	return has;
}

/* One that waits in the kernel stands at no breakpoint; any other may have met one that was taken out since. */
static void
find_late(void *context, struct thread *thread)
{
	char fields[PROC_STAT_BYTES], state;

	*(bool *)context |= proc_stat(thread->tid, fields) && sscanf(fields, " %c", &state) == 1 && state != 'D';
}

static bool
may_be_trapped(struct program_run *self)
{
	bool is_late = false;

	if (self->has_places)
		threads_each(&self->tracer.threads, find_late, &is_late);
	return is_late;
}

static void
on_late(void *context)
{
	struct program_run *self = context;
	struct rot_error err;

	if (self->is_leaving && (has_translated(self) || (++self->nr_waits < LEAVING_TIMES && may_be_trapped(self)))) {
		loop_set_time_limit(&self->session->loop, LEAVING_S, &err);
	} else if (self->is_leaving) {
		session_warn(self->session, "some threads did not stop to be let go");
		self->session->loop.is_over = true;
	} else if (self->is_attached) {
		end_visit(self);
	} else {
		/* Where it is not traced, those whose parent has ended are children of this process. */
		self->is_late = true;
		descendants_kill(self->session->is_traced ? self->launch.pid : getpid());
		if (self->session->is_traced)
			tracer_kill(&self->tracer);
	}
}

static void
on_driver_end(void *context)
{
	struct program_run *self = context;

	launch_close(&self->session->driver_fd);
	self->session->leads_parent = false;
	end_visit(self);
}

/*
 * The terminal sends its signals to the program as well; what somebody sends to this process is meant for it. Before
 * the new process is let go, nobody knows whether the terminal's came to it. It has them blocked, and one that is
 * pending and comes again is one.
 *
 * The program gets the signals of job control itself: to stop it once more would do that to one which has gone on
 * meanwhile. Only SIGCONT that came to this process alone is passed on. A visit goes on, also when its parents stop.
 */
static void
on_signal(void *context, const struct signalfd_siginfo *info)
{
	struct program_run *self = context;
	const int number = (int)info->ssi_signo;
	const bool is_of_jobs = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU || number == SIGCONT;

	if (!is_of_jobs)
		self->session->interrupted_by = number;
	if (!self->is_attached && !self->has_gone) {
		kill(self->launch.pid, number);
	} else if (is_of_jobs && self->is_attached) {
		lead_parent(self, number != SIGCONT);
	} else if (is_of_jobs) {
		if (number == SIGCONT && !self->is_program_over && has_stopped(self))
			kill(self->launch.pid, SIGCONT);
	} else if (self->is_attached) {
		end_visit(self);
	} else if (info->ssi_code != SI_KERNEL && !self->is_program_over) {
		kill(self->launch.pid, number);
	}
}

/* ---- threads, and the places that they come to ---- */

static void
on_started(void *context, struct thread *thread)
{
	struct program_run *self = context;

	if (self->has_places)
		images_started(&self->images, thread);
	translator_started(self->translator, thread);
	program_thread_started(&self->threads, thread);
	self->tracer.cost_from_ns = clock_raw_ns();
}

static void
on_forked(void *context, struct thread *thread, pid_t child)
{
	struct program_run *self = context;

	regions_thread_forked(self->regions, thread, child);
}

static void
on_created(void *context, struct thread *thread, pid_t child)
{
	struct program_run *self = context;

	if (self->translator)
		translator_created(self->translator, thread, child);
}

static void
on_executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct program_run *self = context;
	bool is_begin = self->threads.start_ns == 0;

	keep_off_process(&self->keep_off, thread->pid);
	translator_executed(self->translator, thread);
	allocations_forget(self->allocations, thread->pid);
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
	struct program_run *self = context;

	program_thread_exited(&self->threads, thread);
	translator_exited(self->translator, thread);
	if (thread->tid == thread->pid)
		allocations_forget(self->allocations, thread->pid);
	if (self->has_places)
		images_exited(&self->images, thread);
}

/* A region is nowhere, and nothing that the program may load or start can bring it: the program need not run. */
static bool
is_in_vain(const struct program_run *self, pid_t tid, struct rot_error *err)
{
	const struct program_command *command = self->session->command;
	struct objects objects = {0};
	const char *why = NULL;

	if (self->is_attached || !self->regions || objects_read(tid, &objects, err) < 0)
		return false;
	for (size_t i = 0; i < program_command_nr_regions(command) && !why; i++) {
		const struct region *region = program_command_regions_at(command, i);

		why = regions_not_found(self->regions, i);
		if (why && places_may_come(self->session->symbols, &objects, region->begin, region->end))
			why = NULL;
		if (why)
			rot_error_set(err, 0, "region %s: %s", region->name, why);
	}
	if (why)
		rot_error_hint(err, "the program was not run: as far as its functions say, it loads and starts nothing "
				    "else; --region=LIBRARY:NAME waits for a library");
	objects_clear(&objects);
	return why != NULL;
}

/* Before the program begins to run, and not again. The run for the counts of code was preceded by a timed one. */
static void
tell_missing(struct program_run *self, const struct thread *thread)
{
	struct session *session = self->session;
	const bool is_first = program_command_output_nr_outputs(session->output) == 0 &&
			      !(self->translator && session->command->counts_functions);
	struct rot_error err;

	if (self->has_told_missing)
		return;
	self->has_told_missing = true;
	if (is_in_vain(self, thread->tid, &err)) {
		session_fail(session, "refused", &err);
		tracer_kill(&self->tracer);
	} else if (is_first) {
		regions_tell_missing(self->regions);
	}
}

/* ---- what regions cost ---- */

static const struct empty_region_output *
find_empty_region(const struct session *session, int32_t pass, const char *backend)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(session->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(session->output, i);

		for (size_t j = 0; run->pass == pass && j < program_run_output_nr_empty_regions(run); j++)
			if (strcmp(program_run_output_empty_regions_at(run, j)->backend, backend) == 0)
				return program_run_output_empty_regions_at(run, j);
	}
	return NULL;
}

/* Found out once for each backend and pass; it is no part of the run. */
static void
add_empty_region(struct program_run *self, size_t i)
{
	const char *backend = region_backends[i]->name;
	const struct empty_region_output *known = find_empty_region(self->session, self->output->pass, backend);
	struct empty_region_output *empty;
	struct rot_error err = {0};

	self->has_cost[i] = true;
	empty = known ? rot_graph_clone(known, NULL) : empty_region_measure(&self->counting, backend, &err);
	if (!empty) {
		session_warn(self->session, "what an empty region counts is not known: %s", err.text);
		return;
	}
	program_run_output_empty_regions_add(self->output, empty);
	regions_set_cost(self->regions, backend, empty->cost);
}

/* A region of translated code counts nothing where it is empty, and is not timed. */
static void
find_costs(struct program_run *self)
{
	for (size_t i = 0; self->regions && !self->translator && i < REGION_NR_BACKENDS; i++)
		if (regions_use(self->regions, region_backends[i]->name) && !self->has_cost[i])
			add_empty_region(self, i);
}

/* The time that this takes while nothing else runs is none of the program's. */
static void
find_places(void *context, struct thread *thread)
{
	struct program_run *self = context;
	uint64_t begin_ns = clock_raw_ns();

	regions_resolve(self->regions, thread);
	tell_missing(self, thread);
	if (self->session->failure)
		return;
	/* Before the program begins it is known which hits are short, where samples can tell the time of these. */
	if (profile_has_stacks(self->profile) && !self->counting.encoding &&
	    strcmp(self->session->command->region_backend, "auto") == 0)
		find_costs(self);
	program_rules_resolve(self->rules, self->session->symbols, thread);
	allocations_find(self->allocations, thread);
	if (!self->is_attached && self->tracer.threads.nr == 1) {
		self->tracer.cost_from_ns = clock_raw_ns();
		self->threads.start_ns += self->tracer.cost_from_ns - begin_ns;
	}
}

/* Then what is there is all that will be found. */
static void
warn_of_objects(void *context, struct thread *thread, const struct rot_error *err)
{
	struct program_run *self = context;

	session_warn(self->session, "places in libraries that process %d loads are not found: %s", (int)thread->pid,
		     err->text);
	find_places(context, thread);
}

static enum tracer_answer
on_stop(void *context, const struct tracer_stop *stop)
{
	struct program_run *self = context;
	enum tracer_answer answer = translator_stopped(self->translator, stop);
	struct rot_error err;

	if (answer != TRACER_DELIVER)
		return answer;
	answer = images_stopped(&self->images, stop);
	if (answer == TRACER_DELIVER && self->awaits_pause && stop->thread->pid == self->tracer.program &&
	    tracer_is_settled(&self->tracer) && (!self->translator || translator_has(stop->thread)) &&
	    image_bring_to_rest(stop->thread)) {
		self->awaits_pause = false;
		find_places(self, stop->thread);
		if (image_watch_objects(stop->thread, &err) < 0)
			warn_of_objects(self, stop->thread, &err);
	}
	return answer == TRACER_DELIVER ? regions_stopped(self->regions, stop) : answer;
}

/* Breakpoints in it tell whether it shares the memory of its parent. */
static bool
may_go(void *context, struct thread *thread)
{
	struct program_run *self = context;

	if (self->translator)
		translator_let_go(self->translator, thread);
	if (self->awaits_pause && !thread->image) {
		images_started(&self->images, thread);
		return false;
	}
	return !self->has_places || images_may_go(&self->images, thread);
}

static enum tracer_answer
on_leaving(void *context, const struct tracer_stop *stop)
{
	struct program_run *self = context;
	const enum tracer_answer of_translated = translator_leaving(self->translator, stop);
	struct tracer_stop shown = *stop;
	enum tracer_answer answer;

	if (of_translated == TRACER_KEEP)
		return TRACER_KEEP;
	if (of_translated == TRACER_RESUME)
		shown.signal = 0;
	answer = images_leaving(&self->images, &shown);
	return answer == TRACER_DELIVER ? of_translated : answer;
}

/* Where code is translated a place is an edge, at which the thread stops. */
static int
set_edge(void *context, struct thread *thread, uint64_t address, const struct breakpoint_user *user, bool is_once,
	 struct rot_error *err)
{
	const struct program_run *self = context;

	return translator_set_edge(self->translator, thread,
				   &(struct edge){.address = address,
						  .kind = EDGE_STOP,
						  .condition = CODE_ALWAYS,
						  .is_once = is_once,
						  .user = *user},
				   err);
}

/* A pass that counts instructions: whole threads are translated. */
static void
prepare_translation(struct program_run *self)
{
	const struct program_command *command = self->session->command;
	const size_t nr_regions = program_command_nr_regions(command);
	const size_t nr_what_ifs = program_command_nr_what_ifs(command);
	autofree struct step_caches *what_ifs = rot_calloc(nr_what_ifs + 1, sizeof(*what_ifs));
	struct translator_options options;
	struct step_region asked;

	if (!self->counting.steps || !self->session->is_traced)
		return;
	self->counting.is_translated = true;
	self->rules_of_regions = rot_calloc(nr_regions + 1, sizeof(*self->rules_of_regions));
	for (size_t i = 0; i < nr_regions; i++) {
		const struct region *region = program_command_regions_at(command, i);

		self->rules_of_regions[i] =
			(struct frames_rule){.first_hit = region->first_hit, .last_hit = region->last_hit};
	}
	asked = step_region_of(self->counting.steps);
	if (!asked.has_lines)
		memset(asked.caches.levels, 0, sizeof(asked.caches.levels));
	for (size_t i = 0; i < nr_what_ifs; i++)
		what_ifs[i] = step_caches_of(program_command_what_ifs_at(command, i));
	if (command->miss_kinds && asked.has_lines)
		self->data = data_new(self->session->symbols);
	self->counted = command->counts_functions || self->data ? counted_code_new() : NULL;
	options = (struct translator_options){
		.caches = asked.has_lines || asked.has_pages || command->miss_curve ? &asked.caches : NULL,
		.has_pages = asked.has_pages || nr_what_ifs > 0,
		.has_curve = command->miss_curve,
		.has_kinds = command->miss_kinds && asked.has_lines,
		.what_ifs = what_ifs,
		.nr_what_ifs = nr_what_ifs,
		.sampling = (unsigned)command->cache_sampling,
		.counted = self->counted,
		.counts_trips = command->tells_trips && self->counted,
		.data = self->data,
		.foreseen = self->session->foreseen,
		.regions = self->rules_of_regions,
		.nr_regions = nr_regions};
	self->threads.translator = self->translator = translator_new(&self->tracer, &options);
	if (self->data)
		self->allocations = allocations_new(self->data, self->session->symbols, self->translator);
	self->tracer.stopped = on_stop;
	self->tracer.leaving = on_leaving;
	self->tracer.may_go = may_go;
}

static void
on_samples(void *context)
{
	struct program_run *self = context;

	regions_drain(self->regions);
	sample_short_regions(self);
}

static void
on_full_rings(void *context)
{
	struct program_run *self = context;

	profile_drain(self->profile);
}

static void
prepare_places(struct program_run *self)
{
	const struct regions_setup setup = {.translator = self->translator,
					    .command = self->session->command,
					    .counting = &self->counting,
					    .tracer = &self->tracer,
					    .find = regions_find_places,
					    .context = self->session->symbols};

	self->threads.regions = self->regions = regions_new(&setup);
	self->has_places = self->regions || self->allocations || program_rules_have_places(self->rules);
	if (!self->has_places)
		return;
	self->images = (struct images){.at_entry = find_places,
				       .objects_changed = find_places,
				       .refused = warn_of_objects,
				       .set = self->translator ? set_edge : NULL,
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
	const struct program_run *self = context;

	return translator_idle(self->translator);
}

static void
prepare_loop(struct program_run *self)
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
	loop->sources[2] = (struct source){profile_fd(self->profile), 0, on_full_rings};
	loop->sources[3] = (struct source){regions_fd(self->regions), 0, on_samples};
	loop->nr_sources = self->regions ? 4 : 3;
	loop->is_over = loop->is_draining = false;
}

/* ---- the begin: a program is made, which waits to be let go; or a running one is attached to ---- */

/*
 * Somebody killed the process before it was let go: its end is reported as that of any other. It can be neither traced
 * nor counted some time before it can be waited for.
 */
static bool
has_ended(const struct program_run *self)
{
	siginfo_t info = {0};

	if (!proc_is_ending(self->launch.pid))
		return false;
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
seize(struct program_run *self)
{
	struct session *session = self->session;
	struct rot_error refused;

	if (!session->is_traced || tracer_seize(&self->tracer, &refused) == 0 || has_ended(self))
		return;
	session->is_traced = false;
	if (self->rules || self->translator) {
		rot_error_prefix(&refused, self->rules ? "rules need the threads to be traced"
						       : "blocks are counted by a tracer");
		session_fail(session, "refused", &refused);
		return;
	}
	session_warn(session, "threads are not told apart: %s", rot_error_line(&refused));
	regions_refuse(self->regions, &refused);
}

/* A kernel before 5.13 cannot leave out the processes that a program starts. */
static int
count_inherited(struct program_run *self, struct rot_error *err)
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
try_to_count(struct program_run *self, struct rot_error *err)
{
	struct counts trial = {0};

	if (counts_begin(&trial, &self->counting, PERF_HEIRS_NONE, PERF_BEGIN_LATER, self->launch.pid, err) < 0 ||
	    counts_end(&trial, err) < 0)
		return -1;
	return program_rules_try(self->rules, self->launch.pid, err);
}

static int
prepare_program(struct program_run *self)
{
	struct session *session = self->session;
	autofree char *path = program_path(session->command->program);
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
	profile_begin(self->profile, self->launch.pid, path, session->command->sample_period,
		      session->command->follow_forks, session->command->samples_stacks);
	return 0;
}

static int
attach_program(struct program_run *self)
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
	if (self->awaits_pause || self->translator)
		tracer_settle(&self->tracer);
	return 0;
}

static int
begin_run(struct program_run *self)
{
	struct rot_error err;

	if ((self->is_attached ? attach_program(self) : prepare_program(self)) < 0)
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

/* ---- the end: an output, with warnings of gaps; or a failure ---- */

static void
fill_output(struct program_run *self)
{
	struct program_run_output *output = self->output;
	struct program_thread_output *total;
	uint64_t start_ns = self->session->is_traced ? self->threads.start_ns : self->begin->time_ns;

	output->wall_time = start_ns != 0 && self->end_ns > start_ns ? self->end_ns - start_ns : 0;
	if (!self->is_attached)
		process_usage_take_off(&self->usage, self->begin->cpu_ns);
	process_usage_fill(output, &self->usage_before, &self->usage);
	output->steal_ticks = steal_time_between(self->steal_before, steal_time_now());
	output->exit_status = self->is_program_over && WIFEXITED(self->status) ? WEXITSTATUS(self->status) : -1;
	output->signal = self->is_program_over && WIFSIGNALED(self->status) ? WTERMSIG(self->status) : 0;
	output->interrupted_by = self->session->interrupted_by;
	output->nr_stops = self->tracer.nr_stops;
	output->stopped_time = self->tracer.stopped_ns;
	if (self->session->is_traced && self->threads.is_per_thread)
		return;
	/* One total of all threads. */
	total = program_thread_output_new();
	total->pid = self->tracer.program;
	total->stop_time = output->wall_time;
	total->counts =
		counts_output(self->session->is_traced ? &self->threads.total : &self->inherited, &self->counting);
	program_run_output_threads_add(output, total);
}

/* A set-uid program takes its counters with it, which is only seen by the time that they counted. */
static void
warn_of_gaps(struct program_run *self)
{
	struct session *session = self->session;
	struct program_threads *threads = &self->threads;
	uint64_t used_ns = self->output->user_time + self->output->system_time, gap_ns = used_ns / 10 + 10000000;

	if (self->tracer.has_left && !self->is_attached)
		session_warn(session, "processes that the program started were still running when it ended: they were "
				      "counted until then, and run on");
	if (threads->nr_uncounted > 0)
		session_warn(session, "%zu threads were not counted, or not wholly: %s", threads->nr_uncounted,
			     rot_error_line(&threads->uncounted));
	if (!session->is_traced && self->counting.encoding && session->heirs == PERF_HEIRS_ALL &&
	    self->inherited.sum.enabled_ns + gap_ns < used_ns)
		session_warn(session,
			     "the program ran longer than it was counted: a set-uid program takes away inherited "
			     "counters; tracing (per thread) keeps them");
}

/* ---- regions ---- */

static void
warn_of_doubts(struct program_run *self, char *doubts)
{
	if (doubts)
		session_warn(self->session, "%s", doubts);
	free(doubts);
}

static void
add_regions(struct program_run *self)
{
	if (!self->regions)
		return;
	regions_output(self->regions, self->output, self->session->output);
	if (self->translator && *translator_why_incomplete(self->translator)) {
		const char *why = translator_why_incomplete(self->translator);

		/* Sums over a part of what was done would be no counts. */
		session_warn(self->session, "%s", why);
		for (size_t i = 0; i < program_run_output_nr_regions(self->output); i++) {
			struct program_region_output *region = program_run_output_regions_at(self->output, i);

			rot_graph_delete(region->counts);
			region->counts = NULL;
		}
	}
	find_costs(self);
}

/* Where the regions begin that are sampled, in all programs that were executed. */
static struct program_profile *
end_profile(struct program_run *self)
{
	const struct region_point *point;
	struct program_profile *profile;

	for (size_t i = 0; i < self->nr_watched; i++) {
		struct watched *watched = &self->watched[i];

		for (size_t id = 0; (point = regions_point(self->regions, id)); id++) {
			if (point->region != watched->region || !point->begins)
				continue;
			watched->places = rot_grow(watched->places, watched->nr_places, sizeof(*watched->places));
			watched->places[watched->nr_places++] =
				(struct watched_place){point->inode, point->file_offset};
		}
	}
	profile = profile_end(self->profile, self->watched, self->nr_watched);
	for (size_t i = 0; i < self->nr_watched; i++)
		free(self->watched[i].places);
	return profile;
}

static void
set_errors(struct miss_curve *output, const struct process_curves *curves)
{
	output->is_sampled = curves->is_sampled;
	if (!curves->is_sampled || curves->off_uses <= 0)
		return;
	output->largest_error = output->mean_error = 0;
	for (int i = 0; i < REUSE_NR; i++) {
		const double error = curves->off[i] / curves->off_uses;

		output->largest_error = fmax(output->largest_error, error);
		output->mean_error += error / REUSE_NR;
	}
}

/* Levels that are not there have no lines. */
static void
add_kinds(struct program_run_output *output, const struct cache_kinds *kinds)
{
	for (int i = 0; kinds && i < STEP_NR_LEVELS; i++) {
		const uint64_t *lines = kinds->lines[i];
		struct miss_kinds *level;

		if (lines[CACHE_COMPULSORY] == 0)
			continue;
		level = miss_kinds_new();
		level->level = i + 1;
		level->compulsory = lines[CACHE_COMPULSORY];
		level->capacity = lines[CACHE_CAPACITY];
		level->conflict = lines[CACHE_CONFLICT];
		program_run_output_miss_kinds_add(output, level);
	}
}

static void
report_misses(struct program_run *self)
{
	struct step_caches caches;

	if (!self->data)
		return;
	caches = step_caches_of(self->counting.steps);
	miss_report_add(self->output, &(struct miss_report){.translator = self->translator,
							    .counted = self->counted,
							    .data = self->data,
							    .files = self->session->symbols,
							    .caches = &caches});
	self->output->allocations_are_missed = allocations_are_missed(self->allocations);
}

static struct what_if *
what_if_of(const struct step_measurer *measurer, const uint64_t lines[STEP_NR_COUNTS], uint64_t line_bytes)
{
	const struct step_caches caches = step_caches_of(measurer);
	const uint64_t read[] = {lines[STEP_L1_FILLS], lines[STEP_L2_FILLS], lines[STEP_MEMORY_READS]};
	const uint64_t written[] = {lines[STEP_L1_WRITE_BACKS], lines[STEP_L2_WRITE_BACKS], lines[STEP_MEMORY_WRITES]};
	struct what_if *output = what_if_new();
	uint64_t above = line_bytes;

	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		if (caches.levels[i].bytes > 0)
			above = caches.line_bytes[i];
		what_if_read_bytes_add(output, read[i] * line_bytes);
		what_if_written_bytes_add(output, written[i] * line_bytes);
		what_if_misses_add(output, read[i] * line_bytes / above);
	}
	output->tlb_misses = lines[STEP_TLB_MISSES];
	return output;
}

/* The caches of the pass first. */
static void
add_what_ifs(struct program_run *self, const struct what_ifs *what_ifs)
{
	const struct program_command *command = self->session->command;

	for (size_t i = 0; what_ifs && what_ifs->nr > 0 && i <= what_ifs->nr; i++)
		program_run_output_what_ifs_add(
			self->output,
			what_if_of(i == 0 ? self->counting.steps : program_command_what_ifs_at(command, i - 1),
				   what_ifs->sums[i], what_ifs->line_bytes));
}

static struct miss_curve *
miss_curve_of(const struct process_curves *curves)
{
	struct miss_curve *output;

	if (!curves)
		return NULL;
	output = miss_curve_new();
	output->line_bytes = UINT64_C(1) << curves->line_shift;
	output->lines = (uint64_t)llround(curves->sum.lines);
	output->streamed_bytes = (uint64_t)llround(curves->sum.streamed_bytes);
	output->shrinks = (int32_t)curves->sum.shrinks;
	for (int i = 0; i < REUSE_NR; i++) {
		miss_curve_capacities_add(output, reuse_lines(i, curves->line_shift));
		miss_curve_misses_add(output, (uint64_t)llround(curves->sum.misses[i]));
		miss_curve_write_backs_add(output, (uint64_t)llround(curves->sum.write_backs[i]));
	}
	set_errors(output, curves);
	return output;
}

static struct parts_wanted
parts_wanted(const struct program_command *command)
{
	return (struct parts_wanted){.has_lines = command->tells_lines, .of_all = command->divides_all};
}

static bool
conclude_run(struct program_run *self)
{
	struct session *session = self->session;
	struct rot_error err;

	if (session->failure)
		return false;
	if (self->has_failed_to_start) {
		session->failure = program_explain(session->command->program, &self->failure);
	} else if (self->is_late) {
		rot_error_set(&err, 0, "the program exceeded the time limit%s and was killed",
			      self->translator ? " while its blocks were counted" : "");
		if (self->translator)
			rot_error_hint(&err,
				       "a program takes longer when it is counted: raise timeLimit (seconds; for all "
				       "runs together), or time it alone (-counting=expected)");
		else
			rot_error_hint(&err, "if it needs longer, raise timeLimit (seconds; for all runs together)");
		session_fail(session, "timeLimit", &err);
	} else {
		fill_output(self);
		if (self->counted)
			translator_count_lines(self->translator);
		self->output->profile =
			session->command->counts_functions && self->counted
				? counted_code_take(self->counted, session->symbols, self->counting.measurer,
						    contents_count, parts_wanted(session->command))
				: end_profile(self);
		warn_of_gaps(self);
		warn_of_doubts(self, translator_doubts(self->translator));
		warn_of_doubts(self, translator_sample_text(self->translator));
		add_kinds(self->output, translator_kinds(self->translator));
		add_what_ifs(self, translator_what_ifs(self->translator));
		report_misses(self);
		self->output->miss_curve = miss_curve_of(translator_curves(self->translator));
		add_regions(self);
	}
	return session->failure == NULL;
}

/* ---- from beginning to end ---- */

/* A program that was made and never let go, or is still there after a failure. */
static void
end_run(struct program_run *self)
{
	struct rot_error err;

	if (self->launch.pid > 0 && !self->is_program_over) {
		kill(self->launch.pid, SIGKILL);
		while (waitpid(self->launch.pid, &self->status, __WALL) == self->launch.pid && WIFSTOPPED(self->status))
			;
	}
	threads_each(&self->tracer.threads, on_exited, self);
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

static struct program_run *
run_new(struct session *session, struct program_run_output *output)
{
	const struct program_command *command = session->command;
	struct program_run *self = rot_calloc(1, sizeof(*self));

	*self = (struct program_run){
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
	return self;
}

static void
run_delete(struct program_run *self)
{
	if (self->begin && self->begin != MAP_FAILED)
		munmap(self->begin, sizeof(*self->begin));
	profile_delete(self->profile);
	program_rules_delete(self->rules);
	regions_delete(self->regions);
	translator_delete(self->translator);
	free(self->rules_of_regions);
	free(self->watched);
	counted_code_delete(self->counted);
	allocations_delete(self->allocations);
	data_delete(self->data);
	counting_close(&self->counting);
	free(self);
}

struct program_run_output *
program_run(struct session *session, int32_t pass)
{
	const struct program_command *command = session->command;
	struct program_run_output *output = program_run_output_new();
	struct program_run *self = run_new(session, output);
	const struct program_rules_setup setup = {
		.command = command, .output = output, .warn = warn_of_rules, .context = session};
	struct rot_error err;
	bool is_done = false;

	output->pass = pass;
	clock_now(&output->start_time, &output->start_microseconds);
	if (counting_open(&self->counting, program_command_passes_at(command, (size_t)pass), &err) < 0 ||
	    program_rules_new(&self->rules, &setup, &err) < 0) {
		session_fail(session, "refused", &err);
	} else {
		self->threads.rules = self->rules;
		prepare_translation(self);
		if (command->sample_period > 0 && !self->counting.steps && !self->is_attached)
			self->profile = profile_new(session->symbols, parts_wanted(command));
		prepare_places(self);
		prepare_loop(self);
		is_done = begin_run(self) == 0;
		if (is_done)
			loop_run(&session->loop);
		end_run(self);
		is_done = is_done && conclude_run(self);
	}
	run_delete(self);
	if (is_done)
		return output;
	rot_graph_delete(output);
	return NULL;
}
