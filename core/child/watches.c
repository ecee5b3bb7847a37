/* SPDX-License-Identifier: MIT */
/* See watches.h. Everything that handle calls is called in the middle of anything, as in a signal handler. */
#include "child/watches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child/actions.h"
#include "child/interruption.h"
#include "child/journal.h"
#include "child/spin.h"
#include "common/clock.h"
#include "common/events.h"
#include "common/watch.h"
#include "memory.h"

static struct watch_entry *entries;
static size_t nr_entries;

/* Whose events they are, and how many threads are raising one. */
static _Atomic(struct run *) current;
static atomic_int nr_raising;

/* The name of a run's first action that could not be executed, and its entry (NOWHERE: there is none). */
#define NOWHERE SIZE_MAX
static atomic_size_t failed_entry = NOWHERE;
static _Atomic(const char *) failed_action;

/* ---- which places ---- */

typedef void (*visit_place)(void *context, const struct breakpoint_event_predicate *predicate);

/* Includes rules that are added at run time: they are in the actions of others. */
static void
visit_places(const void *root, visit_place visit, void *context)
{
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(root, &nr);

	for (size_t i = 0; i < nr; i++)
		if (rot_is_a(parts[i], &breakpoint_event_predicate_class))
			visit(context, (const struct breakpoint_event_predicate *)parts[i]);
}

static struct watch_entry *
find_entry(const struct breakpoint_event_predicate *predicate)
{
	for (size_t i = 0; i < nr_entries; i++)
		if (strcmp(entries[i].place, predicate->place) == 0 && strcmp(entries[i].event, predicate->event) == 0)
			return &entries[i];
	return NULL;
}

/* One entry for all that answer the same, from the first hit of any to the last. */
static void
collect_entry(void *unused, const struct breakpoint_event_predicate *predicate)
{
	struct watch_entry *entry = find_entry(predicate);

	(void)unused;
	if (!entry) {
		entry = &rot_add(entries, nr_entries);
		*entry = (struct watch_entry){.first_hit = predicate->first_hit, .last_hit = predicate->last_hit};
		memcpy(entry->place, predicate->place, strnlen(predicate->place, sizeof(entry->place) - 1));
		memcpy(entry->event, predicate->event, strnlen(predicate->event, sizeof(entry->event) - 1));
	}
	if (predicate->first_hit < entry->first_hit)
		entry->first_hit = predicate->first_hit;
	if (predicate->last_hit == 0 || (entry->last_hit != 0 && predicate->last_hit > entry->last_hit))
		entry->last_hit = predicate->last_hit;
}

/* ---- in the thread that has come to a place ---- */

/* Longer than somebody who has what is needed may have to wait for a CPU. */
#define PATIENCE_NS 200000000

/* Zeroed: at the beginning. */
struct patience {
	struct spin spin;
	uint64_t until_ns;
};

/*
 * Whoever has a lock gives it back soon, unless it is this thread. When something has failed already, nobody waits any
 * more: what follows is only tried, so that kernels are stopped nevertheless.
 */
static bool
wait_a_turn(struct patience *patience)
{
	if (failed_entry != NOWHERE)
		return false;
	if (patience->until_ns == 0)
		patience->until_ns = clock_raw_ns() + PATIENCE_NS;
	spin_once(&patience->spin);
	return clock_raw_ns() < patience->until_ns;
}

/* NULL: there are no more. False: it cannot be known. */
static bool
get_rule(struct run *run, size_t i, struct rule **rule)
{
	struct patience patience = {0};

	while (pthread_mutex_trylock(&run->lock) != 0)
		if (!wait_a_turn(&patience))
			return false;
	*rule = i < measurement_nr_rules(run->measurement) ? measurement_rules_at(run->measurement, i) : NULL;
	pthread_mutex_unlock(&run->lock);
	return true;
}

/* Another thread may use what the action needs for a moment. */
static bool
execute_at_hit(struct run *run, struct action_base *action)
{
	struct patience patience = {0};

	while (action_execute_inside(run, action) != ATTEMPT_DONE)
		if (!wait_a_turn(&patience))
			return false;
	return true;
}

static void
fail(size_t entry, const char *action)
{
	size_t nowhere = NOWHERE;

	if (atomic_compare_exchange_strong(&failed_entry, &nowhere, entry))
		failed_action = action;
}

static void
answer_hit(struct run *run, size_t i, int64_t hit)
{
	const struct watch_entry *entry = &entries[i];
	const struct event event = {.kind = EVENT_BREAKPOINT, .name = entry->event, .place = entry->place, .hit = hit};
	struct rule *rule;

	journal_add(strcmp(entry->event, "entered") == 0 ? "event breakpoint entered"
		    : strcmp(entry->event, "left") == 0  ? "event breakpoint left"
							 : "event breakpoint reached",
		    -1);
	for (size_t at = 0; !run_has_failed(run); at++) {
		if (!get_rule(run, at, &rule)) {
			fail(i, "action");
			return;
		}
		if (!rule)
			return;
		if (predicate_matches(rule->predicate, &event) && !execute_at_hit(run, rule->action))
			fail(i, ROT_ENTITY(rule->action)->class->name);
	}
}

static void
handle_hit(uint64_t i, uint64_t hit)
{
	int error = errno;
	struct run *run;

	atomic_fetch_add(&nr_raising, 1);
	run = current;
	if (run)
		answer_hit(run, i, (int64_t)hit);
	atomic_fetch_sub(&nr_raising, 1);
	errno = error;
}

/* ---- from the main thread ---- */

static int
refuse_watches(struct failure *failure, const char *reason)
{
	struct rot_error error;

	rot_error_set(&error, 0, "cannot answer breakpoints (BreakpointEventPredicate): %s", reason);
	rot_error_hint(&error, PTRACE_HINT "; else measure without these rules");
	return failure_record(failure, FAILURE_REFUSED, &error);
}

int
watches_open(const struct measurement_command *command, struct notifier *notifier, struct failure *failure)
{
	struct watch_table table = {.trampoline = (uint64_t)(uintptr_t)interruption_trampoline,
				    .handler = (uint64_t)(uintptr_t)handle_hit};
	struct rot_error error;
	int64_t answer;

	visit_places(command, collect_entry, NULL);
	if (nr_entries == 0)
		return 0;
	if (notifier->fd < 0)
		return refuse_watches(failure, "the core was started without its parent");
	table.entries = (uint64_t)(uintptr_t)entries;
	table.nr = nr_entries;
	if (notifier_send(notifier, WIRE_WATCH, (int64_t)(uintptr_t)&table, &error) < 0 ||
	    notifier_await(notifier, WIRE_WATCHING, &answer, &error) < 0)
		return failure_record(failure, FAILURE_ERROR, &error);
	if (answer < 0)
		return refuse_watches(failure, "the parent of the core may not trace it");
	return answer > 0 ? 0 : refuse_watches(failure, "the parent of the core cannot read its memory");
}

void
watches_set_run(struct run *run)
{
	struct spin spin = {0};

	if (run)
		failed_entry = NOWHERE;
	current = run;
	while (!run && nr_raising > 0)
		spin_once(&spin);
}

static void
check_place(void *context, const struct breakpoint_event_predicate *predicate)
{
	const struct watch_entry *entry = find_entry(predicate);
	struct rot_error error;

	if (!*entry->error)
		return;
	rot_error_set(&error, 0, "a rule wants to know of threads that come to '%s', which is not observed: %s",
		      entry->place, entry->error);
	run_fail(context, &error);
}

int
watches_check_places(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	visit_places(run->measurement, check_place, run);
	pthread_mutex_unlock(&run->lock);
	return run_has_failed(run) ? -1 : 0;
}

static const char impossible_hint[] =
	"a measurer set must be initialized before: for what kernels do at their initialization at the event started "
	"of the thread; a kernel in use cannot be stopped or flushed by a breakpoint in what does that";

int
watches_check(struct run *run)
{
	size_t entry = failed_entry;
	struct rot_error error;

	if (watches_check_places(run) == 0 && entry != NOWHERE) {
		rot_error_set(&error, 0, "a thread that came to '%s' could not execute a %s", entries[entry].place,
			      failed_action);
		rot_error_hint(&error, "%s", impossible_hint);
		run_fail(run, &error);
	}
	return run_has_failed(run) ? -1 : 0;
}

void
watches_close(void)
{
	free(entries);
	entries = NULL;
	nr_entries = 0;
}
