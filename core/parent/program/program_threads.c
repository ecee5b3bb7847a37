/* SPDX-License-Identifier: MIT */
#include "parent/program/program_threads.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ProgramThreadOutput.h"
#include "common/clock.h"
#include "entity.h"
#include "memory.h"

struct measured {
	struct counts counts;
	struct program_thread_output *output; /* of the run, or its own if threads are not told apart */
};

static uint64_t
since_start(const struct program_threads *self, uint64_t now_ns)
{
	return self->start_ns != 0 && now_ns > self->start_ns ? now_ns - self->start_ns : 0;
}

static void
read_executable(const struct thread *thread, struct program_thread_output *output)
{
	char path[32], target[PATH_MAX];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)thread->pid);
	bytes = readlink(path, target, sizeof(target) - 1);
	target[bytes > 0 ? bytes : 0] = '\0';
	rot_string_set(&output->executable, target);
}

/* One that was killed meanwhile counts no more. */
static void
count_thread(struct program_threads *self, const struct thread *thread, struct measured *measured)
{
	struct rot_error err;

	if (counts_begin(&measured->counts, self->counting, PERF_HEIRS_NONE, PERF_BEGIN_NOW, thread->tid, &err) == 0 ||
	    errno == ESRCH)
		return;
	if (self->nr_uncounted++ == 0)
		self->uncounted = err;
}

static struct measured *
measure_thread(struct program_threads *self, struct thread *thread)
{
	struct measured *measured = rot_calloc(1, sizeof(*measured));

	measured->output = program_thread_output_new();
	measured->output->tid = thread->tid;
	measured->output->pid = thread->pid;
	measured->output->start_time = since_start(self, clock_raw_ns());
	if (self->is_per_thread)
		program_run_output_threads_add(self->output, measured->output);
	self->output->nr_threads++;
	thread->measured = measured;
	return measured;
}

void
program_thread_started(void *context, struct thread *thread)
{
	struct program_threads *self = context;
	struct measured *measured = measure_thread(self, thread);

	if (thread->tid == thread->pid)
		read_executable(thread, measured->output);
	count_thread(self, thread, measured);
	program_rules_started(self->rules, thread);
	regions_thread_started(self->regions, thread, &measured->counts);
}

/* Events are taken from a process that executes a set-uid program, so they are opened anew every time. */
void
program_thread_executed(void *context, struct thread *thread, pid_t old_tid)
{
	struct program_threads *self = context;
	struct measured *measured = thread->measured ? thread->measured : measure_thread(self, thread);

	(void)old_tid;
	regions_thread_executes(self->regions, thread);
	if (counts_end(&measured->counts, &self->uncounted) < 0)
		self->nr_uncounted++;
	read_executable(thread, measured->output);
	count_thread(self, thread, measured);
	regions_thread_executed(self->regions, thread, &measured->counts);
	if (self->start_ns == 0)
		self->start_ns = clock_raw_ns();
	program_rules_executed(self->rules, thread);
}

/* The name is known from the report if it was wanted, or readable where the thread was only let go. */
static void
describe_end(struct program_threads *self, const struct thread *thread, struct program_thread_output *output)
{
	const struct report *report = self->report && self->report->tid == thread->tid ? self->report : NULL;
	const struct thread *main_thread = threads_find(self->threads, thread->pid);
	char name[THREAD_NAME_BYTES];

	if (main_thread && main_thread != thread && main_thread->measured)
		rot_string_set(&output->executable,
			       ((const struct measured *)main_thread->measured)->output->executable);
	else if (!*output->executable)
		read_executable(thread, output);
	output->stop_time = since_start(self, report ? report->time_ns : clock_raw_ns());
	if (report && !WIFSTOPPED(report->status)) {
		rot_string_set(&output->name, report->name);
	} else {
		thread_read_name(thread->tid, name);
		rot_string_set(&output->name, name);
	}
}

/* Translated code counts all that the thread did. */
static void
read_translated(const struct program_threads *self, const struct thread *thread, struct measured *measured)
{
	struct perf_counts *sum = &measured->counts.sum;
	uint64_t counts[STEP_NR_COUNTS];

	if (!translator_read(thread, counts))
		return;
	sum->enabled_ns = sum->running_ns = since_start(self, clock_raw_ns());
	for (size_t i = 0; i < perf_event_measurer_nr_events(self->counting->measurer); i++)
		sum->values[i] = step_counts_of_event(self->counting->measurer, i, counts);
}

void
program_thread_exited(void *context, struct thread *thread)
{
	struct program_threads *self = context;
	struct measured *measured = thread->measured;

	if (!measured)
		return;
	regions_thread_leaves(self->regions, thread);
	if (counts_end(&measured->counts, &self->uncounted) < 0)
		self->nr_uncounted++;
	if (self->translator)
		read_translated(self, thread, measured);
	counts_add(&self->total, &measured->counts);
	describe_end(self, thread, measured->output);
	program_rules_exited(self->rules, thread, measured->output->name);
	measured->output->counts = counts_output(&measured->counts, self->counting);
	if (!self->is_per_thread)
		rot_graph_delete(measured->output);
	free(measured);
	thread->measured = NULL;
}
