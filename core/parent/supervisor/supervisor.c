/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/supervisor.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buffers.h"
#include "common/proc.h"
#include "common/wire.h"
#include "memory.h"
#include "parent/injection/inject.h"
#include "parent/supervisor/child_places.h"
#include "parent/supervisor/child_steps.h"
#include "parent/supervisor/keep_off.h"
#include "parent/supervisor/progress.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/loop.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/tracer.h"
#include "parent/translate/translator.h"

/* ---- what a child prints ---- */

#define READS_AT_ONCE 16

bool
tail_read(struct tail *tail, int fd)
{
	for (int i = 0; i < READS_AT_ONCE; i++) {
		size_t at = tail->seen % TAIL_BYTES;
		ssize_t bytes = read(fd, tail->bytes + at, TAIL_BYTES - at);

		if (bytes < 0)
			return errno == EAGAIN || errno == EINTR;
		if (bytes == 0)
			return false;
		tail->seen += (size_t)bytes;
	}
	return true;
}

char *
tail_text(const struct tail *tail)
{
	bool is_cut = tail->seen > TAIL_BYTES;
	size_t length = is_cut ? TAIL_BYTES : tail->seen, start = is_cut ? tail->seen % TAIL_BYTES : 0;
	char *kept = rot_calloc(length + 1, 1), *text, *line = kept;

	for (size_t i = 0; i < length; i++) {
		char byte = tail->bytes[(start + i) % TAIL_BYTES];

		kept[i] = byte ? byte : '?';
	}
	if (!is_cut)
		return kept;
	if (strchr(kept, '\n'))
		line = strchr(kept, '\n') + 1;
	text = rot_format("[the first %zu bytes are left out]\n%s", tail->seen - strlen(line), line);
	free(kept);
	return text;
}

/* ---- messages to the child ---- */

void
outbox_add(struct outbox *outbox, const struct wire_message *message)
{
	if (outbox->end == outbox->room) {
		outbox->room = outbox->room ? 2 * outbox->room : 64;
		outbox->messages = rot_realloc(outbox->messages, outbox->room, sizeof(*outbox->messages));
	}
	outbox->messages[outbox->end++] = *message;
}

void
outbox_flush(struct outbox *outbox, int wire)
{
	while (!outbox_is_empty(outbox) && wire_send(wire, &outbox->messages[outbox->first], false) == 0)
		outbox->first++;
	if (outbox_is_empty(outbox) || errno != EAGAIN)
		outbox->first = outbox->end = 0;
}

bool
outbox_is_empty(const struct outbox *outbox)
{
	return outbox->first == outbox->end;
}

void
outbox_clear(struct outbox *outbox)
{
	free(outbox->messages);
	*outbox = (struct outbox){0};
}

/* ---- faults ---- */

/* Farther away than this from a buffer, an address has nothing to do with it. */
#define MAX_AWAY_BYTES ((int64_t)1 << 40)

/* The files of a process while it stands. */
struct code {
	struct symbol_files *files;
	struct objects objects;
};

static char *
place_at(const struct code *code, uint64_t address)
{
	autofree char *text = place_text_at(code->files, &code->objects, address),
		      *line = place_line_at(code->files, &code->objects, address);

	return text ? rot_format("%s%s%s", line ? line : "", line ? ", " : "", text)
		    : rot_format("0x%" PRIx64, address);
}

/*
 * ", which would be element 4608 of the 1000 allocated at Scale.c:20" for each buffer of the table: the one that was
 * meant is not known. Fresh memory; "" without any.
 */
static char *
elements_text(const struct code *code, pid_t tid, uint64_t table, uint64_t address)
{
	struct buffer_table buffers;
	struct rot_error ignored;
	char *text = rot_strdup("");

	if (!table || remote_read(tid, table, &buffers, sizeof(buffers), &ignored) < 0)
		return text;
	for (size_t i = 0; i < BUFFER_TABLE_ROOM; i++) {
		const struct buffer_entry *buffer = &buffers.entries[i];
		const int64_t away = (int64_t)(address - buffer->start), bytes = (int64_t)buffer->element_bytes;
		autofree char *line = NULL;

		if (!buffer->start || bytes <= 0 || away > MAX_AWAY_BYTES || away < -MAX_AWAY_BYTES)
			continue;
		/* The call is before the address that it returns to. */
		line = place_line_at(code->files, &code->objects, buffer->caller - 1);
		rot_append(&text, ", %selement %" PRId64 " of the %" PRIu64 " allocated%s%s",
			   *text ? "or " : "which would be ", away / bytes - (away % bytes < 0), buffer->nr_elements,
			   line ? " at " : "", line ? line : "");
	}
	return text;
}

/*
 * Tells where a thread raised the signal that it is about to get ("at Scale.c:52, run+0x1c (child:0x2a1c), with the
 * address 0x8"), if it did so itself and the program will not catch it; else NULL. Free it.
 *
 * buffers: where the thread's process has a struct buffer_table (common/buffers.h); 0: it has none. Then the text says
 * which element of them the address would be.
 */
static char *
fault_text(const struct tracer_stop *stop, uint64_t buffers)
{
	const struct thread *thread = stop->thread;
	const bool has_address = stop->signal == SIGSEGV || stop->signal == SIGBUS;
	struct user_regs_struct registers;
	struct code code = {0};
	struct rot_error ignored;
	siginfo_t info;
	uint64_t caught;
	autofree char *place = NULL, *elements = NULL;
	char *text;

	if (!remote_is_synchronous(stop->signal) ||
	    (proc_status(thread->pid, "SigCgt", 16, &caught) && (caught & REMOTE_SIGNAL(stop->signal))) ||
	    ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0 || info.si_code <= 0 ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return NULL;
	code.files = symbol_files_new();
	objects_read(thread->pid, &code.objects, &ignored);
	place = place_at(&code, registers.rip);
	elements = elements_text(&code, thread->tid, has_address ? buffers : 0, (uint64_t)(uintptr_t)info.si_addr);
	text = has_address ? rot_format("at %s, with the address %p%s", place, info.si_addr, elements)
			   : rot_format("at %s", place);
	objects_clear(&code.objects);
	symbol_files_delete(code.files);
	return text;
}

struct supervisor {
	const struct request *request;
	struct outcome *outcome;
	struct launch launch;
	struct tracer tracer;
	bool is_traced;
	struct injector injector;
	struct child_places *places;   /* where rules watch for threads */
	struct child_steps steps;      /* regions that are executed step by step */
	struct injection interruption; /* what a thread of the child executes when it is interrupted */
	struct keep_off keep_off;
	uint64_t buffers; /* address of a struct buffer_table in the child; 0: not told */
	bool is_over;
	struct loop loop;
	struct source *wire_source; /* in loop */
	struct outbox outbox;
	struct tail output, errors;
};

static const int stop_signals[] = {SIGTERM, SIGINT, SIGHUP, 0};

/* ---- threads: tracer to wire ---- */

/* The wire is watched for room only while something waits for it. */
static void
flush_outbox(struct supervisor *self)
{
	outbox_flush(&self->outbox, self->launch.wire);
	self->wire_source->extra_events = outbox_is_empty(&self->outbox) ? 0 : POLLOUT;
}

/* The main thread is the child's own affair. */
static void
notify(struct supervisor *self, enum wire_kind kind, pid_t tid)
{
	struct wire_message message = {.kind = kind, .tid = tid};

	if (self->launch.wire < 0 || tid == self->launch.pid)
		return;
	outbox_add(&self->outbox, &message);
	flush_outbox(self);
}

static void
thread_started(void *context, struct thread *thread)
{
	struct supervisor *self = context;

	child_places_started(self->places, thread);
	child_steps_started(&self->steps, thread);
	notify(self, WIRE_THREAD_STARTED, thread->tid);
}

static void
thread_executed(void *self, struct thread *thread, pid_t old_tid)
{
	struct supervisor *supervisor = self;

	injector_thread_executed(&supervisor->injector, thread, old_tid);
	child_steps_exited(&supervisor->steps, thread);
	child_places_executed(supervisor->places, thread);
	notify(supervisor, WIRE_THREAD_EXITED, old_tid);
}

static void
thread_exited(void *self, struct thread *thread)
{
	struct supervisor *supervisor = self;

	injector_thread_exited(&supervisor->injector, thread);
	child_steps_exited(&supervisor->steps, thread);
	child_places_exited(supervisor->places, thread);
	if (!thread->is_bystander)
		notify(supervisor, WIRE_THREAD_EXITED, thread->tid);
}

static void
thread_created(void *context, struct thread *thread, pid_t child)
{
	child_steps_created(&((struct supervisor *)context)->steps, thread, child);
}

static bool
may_go(void *context, struct thread *thread)
{
	struct supervisor *self = context;
	bool may_of_steps = child_steps_may_go(&self->steps, thread);

	return child_places_may_go(self->places, thread) && may_of_steps;
}

static void on_wire(void *context);

static enum tracer_answer
thread_stopped(void *context, const struct tracer_stop *stop)
{
	struct supervisor *self = context;
	enum tracer_answer answer;
	char *fault = NULL;

	if (self->launch.wire >= 0 && !translator_has(stop->thread) &&
	    (child_places_are_watched(self->places) || self->steps.begin == 0))
		on_wire(self);
	answer = child_steps_stopped(&self->steps, stop);
	if (answer != TRACER_DELIVER)
		return answer;
	answer = child_places_stopped(self->places, stop);
	if (answer == TRACER_DELIVER)
		answer = injector_handle(&self->injector, stop);
	if (answer == TRACER_DELIVER && stop->signal && stop->thread->pid == self->launch.pid)
		fault = fault_text(stop, self->buffers);
	/* The last fault may end it. */
	if (fault) {
		free(self->outcome->fault);
		self->outcome->fault = fault;
	}
	if (answer == TRACER_DELIVER)
		return answer;
	return child_steps_follow(&self->steps, stop->thread, answer, injector_runs(&self->injector, stop->thread));
}

static void
answer_watch(struct supervisor *self, int64_t argument)
{
	struct wire_message answer = {.kind = WIRE_WATCHING, .argument = argument};

	outbox_add(&self->outbox, &answer);
	flush_outbox(self);
}

static void
on_places_set(void *context)
{
	answer_watch(context, 1);
}

static void
on_watch(struct supervisor *self, int64_t address)
{
	if (!self->is_traced)
		answer_watch(self, -1);
	else if (!child_places_watch(self->places, (uint64_t)address))
		answer_watch(self, 0);
}

/* Answered in order with the threads that start. */
static void
on_hold_threads(struct supervisor *self, int64_t is_wanted)
{
	struct wire_message answer = {.kind = WIRE_HOLDING, .argument = self->is_traced ? is_wanted : -1};

	self->tracer.holds_new = self->is_traced && is_wanted;
	outbox_add(&self->outbox, &answer);
	flush_outbox(self);
}

static void
on_thread_ready(struct supervisor *self, int64_t tid)
{
	tracer_release(&self->tracer, (pid_t)tid);
}

static void
on_trampoline(struct supervisor *self, int64_t address)
{
	self->interruption.trampoline = (uint64_t)address;
}

static void
on_handler(struct supervisor *self, int64_t address)
{
	self->interruption.function = (uint64_t)address;
}

static void on_interrupt(struct supervisor *self, int64_t tid);

/*
 * Something that was needed was in use, maybe by the thread itself: it goes on for a moment, and is interrupted again.
 * Not so if the next interruption follows at once: that one will tell.
 */
static void
on_interrupted(void *context, const struct injection_outcome *outcome)
{
	struct supervisor *self = context;
	const struct thread *thread = threads_find(&self->tracer.threads, outcome->tid);

	if (outcome->end == INJECTION_DONE && outcome->value != 0 && thread && !injector_runs(&self->injector, thread))
		on_interrupt(self, outcome->tid);
}

/* One that has ended meanwhile has executed what was queued to it. */
static void
on_interrupt(struct supervisor *self, int64_t tid)
{
	const struct thread *thread = threads_find(&self->tracer.threads, (pid_t)tid);

	if (thread && self->interruption.trampoline && self->interruption.function)
		injector_run(&self->injector, thread, &self->interruption, on_interrupted, self);
}

static void
on_step(struct supervisor *self, int64_t address)
{
	self->steps.begin = (uint64_t)address;
}

static void
on_buffers(struct supervisor *self, int64_t address)
{
	self->buffers = (uint64_t)address;
}

static void
on_injector(void *context)
{
	struct supervisor *self = context;

	injector_late(&self->injector);
}

static bool
on_report(void *context, const struct report *report)
{
	struct supervisor *self = context;
	bool is_over = self->is_traced ? tracer_handle(&self->tracer, report) : report->tid == self->launch.pid;

	if (is_over && !self->is_over) {
		self->outcome->status = report->status;
		self->is_over = true;
	}
	return is_over;
}

/* ---- what can happen ---- */

static void
on_signal(void *context, const struct signalfd_siginfo *info)
{
	struct supervisor *self = context;

	self->outcome->interrupted_by = (int)info->ssi_signo;
	kill(self->launch.pid, SIGKILL);
}

static void
on_late(void *context)
{
	struct supervisor *self = context;

	self->outcome->is_late = true;
	self->outcome->was_stopped = self->is_traced && tracer_is_stopped(&self->tracer);
	self->outcome->was_counting = child_steps_is_counting(&self->steps);
	kill(self->launch.pid, SIGKILL);
}

static void
on_startup(struct supervisor *self, int64_t nr_runs)
{
	self->outcome->nr_runs = nr_runs;
}

static void
on_pinned(struct supervisor *self, int64_t cpu)
{
	keep_off_cpu(&self->keep_off, (int)cpu);
}

static void
on_run_started(struct supervisor *self, int64_t run)
{
	self->outcome->run = run;
	self->outcome->is_in_run = true;
	child_places_begin_run(self->places);
}

static void
on_run_finished(struct supervisor *self, int64_t run)
{
	self->outcome->is_in_run = false;
	progress_report(self->request->progress_fd, run, self->outcome->nr_runs);
}

static void (*const wire_handlers[])(struct supervisor *, int64_t) = {
	[WIRE_STARTUP] = on_startup,
	[WIRE_PINNED] = on_pinned,
	[WIRE_RUN_STARTED] = on_run_started,
	[WIRE_RUN_FINISHED] = on_run_finished,
	[WIRE_HOLD_THREADS] = on_hold_threads,
	[WIRE_THREAD_READY] = on_thread_ready,
	[WIRE_TRAMPOLINE] = on_trampoline,
	[WIRE_HANDLER] = on_handler,
	[WIRE_INTERRUPT] = on_interrupt,
	[WIRE_WATCH] = on_watch,
	[WIRE_STEP] = on_step,
	[WIRE_BUFFERS] = on_buffers,
};

static void
on_wire(void *context)
{
	struct supervisor *self = context;
	const size_t nr_handlers = sizeof(wire_handlers) / sizeof(wire_handlers[0]);
	struct wire_message message;

	flush_outbox(self);
	while (wire_receive(self->launch.wire, &message, false) == 0)
		if (message.kind < nr_handlers && wire_handlers[message.kind])
			wire_handlers[message.kind](self, message.argument);
	if (errno != EAGAIN) {
		launch_close(&self->launch.wire);
		tracer_release_all(&self->tracer);
	}
}

static void
on_output(void *context)
{
	struct supervisor *self = context;

	if (!tail_read(&self->output, self->launch.output))
		launch_close(&self->launch.output);
}

static void
on_errors(void *context)
{
	struct supervisor *self = context;

	if (!tail_read(&self->errors, self->launch.errors))
		launch_close(&self->launch.errors);
}

static void
on_exec(void *context)
{
	struct supervisor *self = context;
	struct launch_failure failure;

	if (launch_failed(&self->launch, &failure))
		self->outcome->exec_errno = failure.reason;
}

/* ---- from start to end ---- */

static int
start_child(struct supervisor *self, struct rot_error *err)
{
	const struct request *request = self->request;
	struct rot_error refused = {0};

	if (loop_open(&self->loop, stop_signals, err) < 0 ||
	    launch_prepare(&self->launch, request->child, request->command, request->output, err) < 0)
		return -1;
	self->tracer = (struct tracer){.program = self->launch.pid,
				       .started = thread_started,
				       .executed = thread_executed,
				       .exited = thread_exited,
				       .stopped = thread_stopped,
				       .created = thread_created,
				       .may_go = may_go,
				       .context = self};
	self->steps.tracer = &self->tracer;
	if (injector_open(&self->injector, &self->tracer, err) < 0)
		return -1;
	self->injector.delivers_faults = true;
	self->is_traced = tracer_seize(&self->tracer, &refused) == 0;
	if (!self->is_traced)
		fprintf(stderr,
			"rot-core: warning: %s; measuring without tracing: threads that nobody measures stay unknown, "
			"actions queued to a thread wait for its next event\n"
			"rot-core: hint: %s\n",
			refused.text, refused.hint);
	if (loop_set_time_limit(&self->loop, request->time_limit_s, err) < 0)
		return -1;
	launch_go(&self->launch);
	return 0;
}

static void
forget_thread(void *context, struct thread *thread)
{
	struct supervisor *self = context;

	child_steps_exited(&self->steps, thread);
	child_places_exited(self->places, thread);
}

/* Kills what is left of the child and what it started, also when it never got to run. */
static void
finish_child(struct supervisor *self)
{
	if (self->launch.pid > 0) {
		kill(-self->launch.pid, SIGKILL);
		while (!self->is_over && waitpid(self->launch.pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	launch_clear(&self->launch);
	keep_off_end(&self->keep_off);
	loop_close(&self->loop);
	injector_close(&self->injector);
	threads_each(&self->tracer.threads, forget_thread, self);
	tracer_clear(&self->tracer);
	child_places_delete(self->places);
	child_steps_clear(&self->steps);
	outbox_clear(&self->outbox);
}

static bool
on_idle(void *context)
{
	return translator_idle(((struct supervisor *)context)->steps.translator);
}

static void
listen_to_child(struct supervisor *self)
{
	const struct source sources[] = {
		{&self->launch.wire, 0, on_wire},           {&self->launch.output, 0, on_output},
		{&self->launch.errors, 0, on_errors},       {&self->launch.exec_fd, 0, on_exec},
		{&self->injector.timer_fd, 0, on_injector},
	};
	struct loop *loop = &self->loop;

	loop->context = self;
	loop->report = on_report;
	loop->signal = on_signal;
	loop->late = on_late;
	loop->idle = on_idle;
	loop->reports.threads = &self->tracer.threads;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		loop->sources[loop->nr_sources++] = sources[i];
	self->wire_source = &loop->sources[0];
}

int
supervise(const struct request *request, struct outcome *outcome, struct rot_error *err)
{
	autofree struct supervisor *self = rot_calloc(1, sizeof(*self));
	int rc;

	*outcome = (struct outcome){0};
	*self = (struct supervisor){.request = request,
				    .outcome = outcome,
				    .launch = LAUNCH_NONE,
				    .loop = LOOP_NONE,
				    .injector = INJECTOR_NONE};
	self->places = child_places_new(&(struct child_places_setup){
		.tracer = &self->tracer, .injector = &self->injector, .set = on_places_set, .context = self});
	listen_to_child(self);
	rc = start_child(self, err);
	if (rc == 0) {
		loop_run(&self->loop);
		loop_turn(&self->loop); /* its last words */
		outcome->output = tail_text(&self->output);
		outcome->errors = tail_text(&self->errors);
	}
	finish_child(self);
	return rc;
}

void
outcome_clear(struct outcome *outcome)
{
	free(outcome->output);
	free(outcome->errors);
	free(outcome->fault);
	*outcome = (struct outcome){0};
}
