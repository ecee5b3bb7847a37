/* SPDX-License-Identifier: MIT */
/* What a run leaves: its output, what the output has to say of gaps, and what observing regions cost; or a failure. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "ProgramRegionOutput.h"
#include "ProgramThreadOutput.h"
#include "common/steal_time.h"
#include "entity.h"
#include "parent/program/process_usage.h"
#include "parent/program/program_run_internal.h"
#include "parent/regions/empty_region.h"

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
	output->steal_ticks = steal_time_between(self->steal_before, steal_time_now());
	output->exit_status = self->is_program_over && WIFEXITED(self->status) ? WEXITSTATUS(self->status) : -1;
	output->signal = self->is_program_over && WIFSIGNALED(self->status) ? WTERMSIG(self->status) : 0;
	output->interrupted_by = self->session->interrupted_by;
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

/* Sums over a part of what was done would be no counts. */
static void
forget_counts(struct run *self, const char *why)
{
	session_warn(self->session, "%s", why);
	for (size_t i = 0; i < program_run_output_nr_regions(self->output); i++) {
		struct program_region_output *region = program_run_output_regions_at(self->output, i);

		rot_graph_delete(region->counts);
		region->counts = NULL;
	}
}

static void
warn_of_doubts(struct run *self, char *doubts)
{
	if (doubts)
		session_warn(self->session, "%s", doubts);
	free(doubts);
}

/* A region that is counted by blocks counts nothing where it is empty, and is not timed. */
static void
add_regions(struct run *self)
{
	static const char *const names[] = {"uprobe", "breakpoint", "int3"};

	if (!self->regions)
		return;
	regions_output(self->regions, self->output, self->session->output);
	if (*region_steps_failure(self->steps))
		forget_counts(self, region_steps_failure(self->steps));
	else
		warn_of_doubts(self, region_steps_doubts(self->steps));
	if (self->steps)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (regions_use(self->regions, names[i]))
			add_empty_region(self, names[i]);
	}
}

bool
program_run_conclude(struct run *self)
{
	struct session *session = self->session;
	struct rot_error err;

	if (self->has_failed_to_start) {
		session->failure = program_explain(session->command->program, &self->failure);
	} else if (self->is_late) {
		rot_error_set(&err, 0, "the program exceeded the time limit%s and was killed",
			      self->steps ? " while its regions were counted" : "");
		if (self->steps)
			rot_error_hint(&err,
				       "regions take longer when they are counted: measure fewer hits "
				       "(NAME#FIRST-LAST), raise timeLimit (seconds; for all runs together), or time "
				       "them alone (-counting=expected)");
		else
			rot_error_hint(&err, "if it needs longer, raise timeLimit (seconds; for all runs together)");
		session_fail(session, "timeLimit", &err);
	} else {
		fill_output(self);
		warn_of_gaps(self);
		warn_of_doubts(self, translator_doubts(self->translator));
		warn_of_doubts(self, translator_sample_text(self->translator));
		add_regions(self);
	}
	return session->failure == NULL;
}
