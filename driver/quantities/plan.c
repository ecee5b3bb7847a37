/* SPDX-License-Identifier: MIT */
/* The pass planner: a small exact bin packing, where bins are legal groups and items may share events. */
#include "quantities/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Assignments looked at before the best found so far is taken; the first found is that of first fit, largest first. */
#define MAX_STEPS 20000

bool
pass_is_of_machine(const struct architecture *architecture, const struct pass *pass)
{
	return pass->nr_events && architecture->events[pass->events[0]].class == EVENT_MACHINE;
}

bool
pass_is_legal(const struct architecture *architecture, const size_t *events, size_t nr_events)
{
	unsigned counts[EVENT_NR_CLASSES] = {0};

	if (nr_events > PASS_MAX_EVENTS)
		return false;
	for (size_t i = 0; i < nr_events; i++)
		counts[architecture->events[events[i]].class]++;
	for (size_t i = 0; i < architecture->nr_groups; i++) {
		int class = 0;

		while (class < EVENT_NR_CLASSES && counts[class] <= architecture->groups[i].proved[class])
			class ++;
		if (class == EVENT_NR_CLASSES)
			return true;
	}
	return false;
}

size_t
pass_event_at(const struct pass *pass, size_t event)
{
	size_t at = 0;

	while (at < pass->nr_events && pass->events[at] != event)
		at++;
	return at;
}

static bool
pass_has(const struct pass *pass, size_t event)
{
	return pass_event_at(pass, event) < pass->nr_events;
}

/* Adds the events that are not there yet, in order of the architecture; false and unchanged if the result is not legal.
 */
static bool
pass_merge(struct pass *pass, const struct architecture *architecture, const size_t *events, size_t nr_events)
{
	struct pass merged = *pass;

	for (size_t i = 0; i < nr_events; i++) {
		size_t at = merged.nr_events;

		if (pass_has(&merged, events[i]))
			continue;
		if (at == PASS_MAX_EVENTS)
			return false;
		for (; at > 0 && merged.events[at - 1] > events[i]; at--)
			merged.events[at] = merged.events[at - 1];
		merged.events[at] = events[i];
		merged.nr_events++;
	}
	if (!pass_is_legal(architecture, merged.events, merged.nr_events))
		return false;
	*pass = merged;
	return true;
}

/* ---- packing ---- */

/* Items are sets of events that must stay together. */
struct packing {
	const struct architecture *architecture;
	struct pass *items;
	size_t nr_items;
	struct pass *now, *best;
	size_t nr_now, nr_best; /* nr_best > nr_items: none yet */
	size_t nr_steps;
};

static void
pack_from(struct packing *packing, size_t item)
{
	const struct pass *events;

	if (packing->nr_now >= packing->nr_best || packing->nr_steps++ > MAX_STEPS)
		return;
	if (item == packing->nr_items) {
		memcpy(packing->best, packing->now, packing->nr_now * sizeof(*packing->best));
		packing->nr_best = packing->nr_now;
		return;
	}
	events = &packing->items[item];
	for (size_t i = 0; i < packing->nr_now; i++) {
		struct pass before = packing->now[i];

		if (pass_merge(&packing->now[i], packing->architecture, events->events, events->nr_events)) {
			pack_from(packing, item + 1);
			packing->now[i] = before;
		}
	}
	packing->now[packing->nr_now++] = *events;
	pack_from(packing, item + 1);
	packing->nr_now--;
}

/* Largest first; formulas of the same size stay in order. */
static void
add_item(struct packing *packing, const struct pass *item)
{
	size_t at = packing->nr_items++;

	for (; at > 0 && packing->items[at - 1].nr_events < item->nr_events; at--)
		packing->items[at] = packing->items[at - 1];
	packing->items[at] = *item;
}

/* The formula as one item, or as several where no group holds all its events. */
static int
add_formula(struct packing *packing, const struct architecture_formula *formula, struct rot_error *err)
{
	const struct architecture *architecture = packing->architecture;
	struct pass item = {.nr_events = 0};

	for (size_t i = 0; i < formula->nr_events; i++) {
		const size_t event = formula->events[i];

		if (!pass_is_legal(architecture, &event, 1))
			return rot_error_set(err, 0, "%s:%d: no group of the architecture can hold event '%s'",
					     architecture->path, formula->line, architecture->events[event].name);
		if (!pass_merge(&item, architecture, &event, 1)) {
			add_item(packing, &item);
			item = (struct pass){.nr_events = 1, .events = {event}};
		}
	}
	if (item.nr_events)
		add_item(packing, &item);
	return 0;
}

int
pass_plan_make(struct pass_plan *plan, const struct architecture *architecture,
	       const struct architecture_formula *const *formulas, size_t nr_formulas, bool with_clock,
	       struct rot_error *err)
{
	const size_t nr_clock = with_clock ? 1 : 0;
	struct packing packing;
	size_t nr_events = 0;
	int rc = 0;

	*plan = (struct pass_plan){.nr_passes = 0};
	for (size_t i = 0; i < nr_formulas; i++)
		nr_events += formulas[i]->nr_events;
	packing = (struct packing){.architecture = architecture,
				   .nr_best = nr_events + 1,
				   .items = rot_calloc(nr_events + 1, sizeof(struct pass)),
				   .now = rot_calloc(nr_events + 1, sizeof(struct pass)),
				   .best = rot_calloc(nr_events + 1, sizeof(struct pass))};
	for (size_t i = 0; i < nr_formulas && rc == 0; i++)
		rc = add_formula(&packing, formulas[i], err);
	if (rc == 0) {
		pack_from(&packing, 0);
		plan->nr_passes = packing.nr_best + nr_clock;
		plan->passes = rot_calloc(plan->nr_passes, sizeof(*plan->passes));
		memcpy(plan->passes + nr_clock, packing.best, packing.nr_best * sizeof(*plan->passes));
		for (size_t i = nr_clock; i < plan->nr_passes; i++) {
			for (size_t k = 0; k < architecture->nr_riders; k++)
				if (architecture->company[k] == architecture->nr_events ||
				    pass_has(&plan->passes[i], architecture->company[k]))
					pass_merge(&plan->passes[i], architecture, &architecture->riders[k], 1);
			plan->passes[i].is_stepped = architecture->counts_by_steps;
		}
	}
	free(packing.items);
	free(packing.now);
	free(packing.best);
	return rc;
}

void
pass_plan_clear(struct pass_plan *plan)
{
	free(plan->passes);
	*plan = (struct pass_plan){.nr_passes = 0};
}

size_t
pass_plan_find(const struct pass_plan *plan, size_t event)
{
	size_t i = 0;

	while (i < plan->nr_passes && !pass_has(&plan->passes[i], event))
		i++;
	return i;
}

int
pass_runs(const struct pass *pass, int nr_runs)
{
	return pass->is_stepped && nr_runs > STEP_RUNS ? STEP_RUNS : nr_runs;
}

size_t
pass_plan_find_all(const struct pass_plan *plan, const struct architecture_formula *formula)
{
	size_t i = 0;

	for (; i < plan->nr_passes; i++) {
		size_t nr_had = 0;

		while (nr_had < formula->nr_events && pass_has(&plan->passes[i], formula->events[nr_had]))
			nr_had++;
		if (nr_had == formula->nr_events)
			break;
	}
	return i;
}

size_t
pass_plan_clock(const struct pass_plan *plan)
{
	size_t i = 0;

	while (i < plan->nr_passes && plan->passes[i].nr_events)
		i++;
	return i;
}

void
pass_plan_probe_clock(struct pass_plan *plan)
{
	size_t clock = pass_plan_clock(plan);

	assert(clock < plan->nr_passes);
	plan->passes[clock].probes_clock = true;
}
