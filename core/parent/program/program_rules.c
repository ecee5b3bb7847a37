/* SPDX-License-Identifier: MIT */
/* See program_rules.h: who there is, what happens to them, and which rules answer it. */
#include "parent/program/program_rules.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "parent/program/program_rules_internal.h"
#include "parent/symbols/objects.h"
#include "rule_check.h"

int
program_rules_check(const struct program_command *command, struct rot_error *err)
{
	const void *culprit;

	for (size_t i = 0; i < program_command_nr_rules(command); i++)
		if (rule_check(program_command_rules_at(command, i), NULL, !command->program, &culprit, err) < 0)
			return rot_error_prefix(err, "rule at place %zu", i);
	if (program_command_nr_rules(command) == 0 || command->per_thread)
		return 0;
	rot_error_set(err, 0, "the command has rules and asks for one total of all threads");
	return rot_error_hint(err, "rules need the threads to be told apart (perThread)");
}

void
program_rules_warn(const struct program_rules *rules, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rules->setup.warn(rules->setup.context, text);
}

/* ---- events ---- */

struct ruled_thread *
concerned_next(const struct program_rules *rules, const struct program_event *event, pid_t tid,
	       const struct ruled_thread *last)
{
	struct ruled_thread *thread = last ? last->next : rules->threads;

	if (tid < 0 && event->base.kind >= EVENT_THREAD)
		return last ? NULL : event->thread;
	while (thread && (tid >= 0 ? thread->tid != tid || thread->has_ended
				   : event->base.kind != EVENT_RUN && thread->process != event->thread->process))
		thread = thread->next;
	return thread;
}

/* The lists are as they were: what is added meanwhile answers from the next event on. */
static void
answer_event(struct program_rules *rules, const struct program_event *event)
{
	size_t nr = rules->nr, nr_creations = creations_count(rules);

	if (!rules->is_started || rules->is_over)
		return;
	for (size_t i = 0; i < nr; i++)
		if (predicate_matches(rules->items[i]->predicate, &event->base))
			program_action_execute(rules, event, rules->items[i]->action);
	creations_answer(rules, nr_creations, event);
}

static void
raise_event(struct program_rules *rules, enum event_kind kind, const char *name, struct ruled_thread *thread)
{
	struct program_event event = {.base = {.kind = kind, .name = name}, .thread = thread};

	if (thread) {
		event.base.executable = thread->process->executable;
		event.base.tid = thread->tid;
		event.base.index = thread->index;
		event.base.thread_name = thread->has_ended ? thread->name : NULL;
	}
	answer_event(rules, &event);
}

/* ---- who there is ---- */

static void
read_executable(struct ruled_process *process)
{
	char path[32], target[PATH_MAX];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)process->pid);
	bytes = readlink(path, target, sizeof(target) - 1);
	if (bytes < 0)
		return;
	target[bytes] = '\0';
	rot_string_set(&process->executable, target);
}

static struct ruled_process *
find_or_add_process(struct program_rules *rules, pid_t pid)
{
	struct ruled_process *process = rules->processes;

	/* Numbers are used again, so one that has ended is passed over. */
	while (process && (process->pid != pid || process->nr_threads == 0))
		process = process->next;
	if (process)
		return process;
	process = rot_calloc(1, sizeof(*process));
	process->pid = pid;
	process->executable = rot_strdup("");
	process->next = rules->processes;
	rules->processes = process;
	read_executable(process);
	return process;
}

static struct ruled_thread *
add_thread(struct program_rules *rules, const struct thread *thread)
{
	struct ruled_thread *ruled = rot_calloc(1, sizeof(*ruled));

	ruled->tid = thread->tid;
	ruled->process = find_or_add_process(rules, thread->pid);
	ruled->process->nr_threads++;
	ruled->index = rules->nr_started++;
	ruled->next = rules->threads;
	ruled->link = &rules->threads;
	if (ruled->next)
		ruled->next->link = &ruled->next;
	rules->threads = ruled;
	return ruled;
}

static void
remove_thread(struct ruled_thread *ruled)
{
	*ruled->link = ruled->next;
	if (ruled->next)
		ruled->next->link = ruled->link;
	while (ruled->sets)
		held_set_remove(ruled, ruled->sets);
	free(ruled->hits);
	free(ruled);
}

/* ---- what happens to them ---- */

void
program_rules_started(struct program_rules *rules, struct thread *thread)
{
	struct ruled_thread *ruled;

	if (!rules)
		return;
	thread->ruled = ruled = add_thread(rules, thread);
	if (ruled->process->nr_threads == 1)
		raise_event(rules, EVENT_PROGRAM, "started", ruled);
	raise_event(rules, EVENT_THREAD, "started", ruled);
}

/* The system takes counters away from one that executes a set-uid program. */
static void
reopen_sets(struct program_rules *rules, struct ruled_thread *ruled)
{
	struct rot_error err;

	for (struct held_set *held = ruled->sets; held; held = held->next) {
		if (thread_set_reopen(held->set, ruled->tid, &err) < 0 && errno != ESRCH)
			program_rules_warn(rules,
					   "a measurer set of a rule counts no more after a program was "
					   "executed: %s",
					   err.text);
	}
}

void
program_rules_executed(struct program_rules *rules, struct thread *thread)
{
	struct ruled_thread *ruled = thread->ruled;
	bool is_new = ruled == NULL;

	if (!rules)
		return;
	if (is_new)
		thread->ruled = ruled = add_thread(rules, thread);
	ruled->tid = thread->tid;
	read_executable(ruled->process);
	reopen_sets(rules, ruled);
	if (is_new && !rules->is_started)
		program_rules_visit(rules);
	if (is_new)
		raise_event(rules, EVENT_PROGRAM, "started", ruled);
	raise_event(rules, EVENT_PROGRAM, "executed", ruled);
	if (is_new)
		raise_event(rules, EVENT_THREAD, "started", ruled);
}

void
program_rules_exited(struct program_rules *rules, struct thread *thread, const char *name)
{
	struct ruled_thread *ruled = thread->ruled;

	if (!rules || !ruled)
		return;
	thread->ruled = NULL;
	ruled->has_ended = true;
	snprintf(ruled->name, sizeof(ruled->name), "%s", name);
	for (struct held_set *held = ruled->sets; held; held = held->next)
		thread_set_end(held->set);
	raise_event(rules, EVENT_THREAD, "exiting", ruled);
	if (--ruled->process->nr_threads == 0)
		raise_event(rules, EVENT_PROGRAM, "exited", ruled);
	if (!ruled->sets)
		remove_thread(ruled);
}

void
program_rules_visit(struct program_rules *rules)
{
	if (!rules)
		return;
	rules->is_started = true;
	raise_event(rules, EVENT_RUN, "start", NULL);
}

void
program_rules_stop(struct program_rules *rules)
{
	if (!rules || !rules->is_started || rules->is_over)
		return;
	raise_event(rules, EVENT_RUN, "stop", NULL);
	creations_finish(rules);
	rules->is_over = true;
	for (size_t i = 0; i < rules->nr_watches; i++) {
		struct watch *watch = &rules->watches[i];

		if (!watch->is_found)
			program_rules_warn(
				rules, "no thread was seen to come to '%s' (%s): %s", watch->at.place, watch->at.event,
				*watch->error.text ? rot_error_line(&watch->error) : "no program was looked at");
	}
}

/* ---- places where threads are watched ---- */

/* A thread has come to one of the watch's places. */
static void
on_watch_hit(struct place_watch *at, const struct breakpoint_hit *hit)
{
	struct watch *watch = at->context;
	struct program_rules *rules = watch->rules;
	struct ruled_thread *thread = hit->thread->ruled;
	struct program_event event;

	if (!thread)
		return;
	if (!thread->hits)
		thread->hits = rot_calloc(rules->nr_watches, sizeof(*thread->hits));
	event = (struct program_event){.base = {.kind = EVENT_BREAKPOINT,
						.name = at->event,
						.place = at->place,
						.hit = ++thread->hits[watch - rules->watches]},
				       .thread = thread};
	answer_event(rules, &event);
}

static void
on_watch_refused(struct place_watch *watch, uint64_t address, const struct rot_error *err)
{
	const struct watch *self = watch->context;

	program_rules_warn(self->rules, "threads that come to '%s' at 0x%llx are not seen: %s", watch->place,
			   (unsigned long long)address, err->text);
}

bool
program_rules_have_places(const struct program_rules *rules)
{
	return rules && rules->nr_watches > 0;
}

void
program_rules_resolve(struct program_rules *rules, struct symbol_files *symbols, struct thread *thread)
{
	struct objects objects = {0};
	struct rot_error err;

	if (!program_rules_have_places(rules))
		return;
	if (objects_read(thread->tid, &objects, &err) < 0) {
		program_rules_warn(rules, "places of rules are not found: %s", err.text);
		return;
	}
	for (size_t i = 0; i < rules->nr_watches; i++) {
		struct watch *watch = &rules->watches[i];

		if (place_watch_set(&watch->at, symbols, &objects, thread, &err) == 0)
			watch->is_found = true;
		else
			watch->error = err;
	}
	objects_clear(&objects);
}

/* ---- beginning and end ---- */

static void
plan_watch(struct program_rules *rules, const struct breakpoint_event_predicate *predicate)
{
	struct watch *watch;

	if (!predicate)
		return;
	for (size_t i = 0; i < rules->nr_watches; i++)
		if (strcmp(rules->watches[i].at.place, predicate->place) == 0 &&
		    strcmp(rules->watches[i].at.event, predicate->event) == 0)
			return;
	watch = &rules->watches[rules->nr_watches++];
	*watch = (struct watch){.rules = rules,
				.at = {.place = predicate->place,
				       .event = predicate->event,
				       .hit = on_watch_hit,
				       .refused = on_watch_refused,
				       .context = watch}};
}

/* Every set and place that the rules reach, also those of a rule which comes later. */
static int
plan_all(struct program_rules *rules, struct rot_error *err)
{
	size_t nr, nr_watches = 0;
	autofree struct rot_entity **parts = rot_graph_collect(rules->setup.command, &nr);
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		nr_watches += rot_is_a(parts[i], &breakpoint_event_predicate_class);
	rules->plans = rot_calloc(nr + 1, sizeof(*rules->plans));
	rules->watches = rot_calloc(nr_watches + 1, sizeof(*rules->watches));
	for (size_t i = 0; i < nr && rc == 0; i++) {
		const struct measurer_set *set = rot_cast(parts[i], &measurer_set_class);
		struct set_plan *plan = set ? set_plan_new(set, err) : NULL;

		plan_watch(rules, rot_cast(parts[i], &breakpoint_event_predicate_class));
		if (plan)
			rules->plans[rules->nr_plans++] = plan;
		else if (set)
			rc = rot_error_prefix(err, "measurer set %d of a rule", set->id);
	}
	return rc;
}

int
program_rules_new(struct program_rules **rules, const struct program_rules_setup *setup, struct rot_error *err)
{
	const struct program_command *command = setup->command;
	struct program_rules *self;

	*rules = NULL;
	if (program_command_nr_rules(command) == 0)
		return 0;
	self = rot_calloc(1, sizeof(*self));
	self->setup = *setup;
	self->items = rot_calloc(program_command_nr_rules(command), sizeof(*self->items));
	for (; self->nr < program_command_nr_rules(command); self->nr++)
		self->items[self->nr] = program_command_rules_at(command, self->nr);
	if (plan_all(self, err) < 0) {
		program_rules_delete(self);
		return -1;
	}
	*rules = self;
	return 0;
}

void
program_rules_delete(struct program_rules *rules)
{
	if (!rules)
		return;
	creations_clear(rules);
	while (rules->threads)
		remove_thread(rules->threads);
	while (rules->processes) {
		struct ruled_process *next = rules->processes->next;

		free(rules->processes->executable);
		free(rules->processes);
		rules->processes = next;
	}
	for (size_t i = 0; i < rules->nr_plans; i++)
		set_plan_delete(rules->plans[i]);
	for (size_t i = 0; i < rules->nr_watches; i++)
		place_watch_clear(&rules->watches[i].at);
	free(rules->plans);
	free(rules->watches);
	free(rules->items);
	free(rules);
}

int
program_rules_try(const struct program_rules *rules, pid_t pid, struct rot_error *err)
{
	for (size_t i = 0; rules && i < rules->nr_plans; i++) {
		struct thread_set *set = thread_set_new(rules->plans[i], pid, err);

		if (!set)
			return rot_error_prefix(err, "measurer set %d of a rule", set_plan_set(rules->plans[i])->id);
		thread_set_delete(set);
	}
	return 0;
}
