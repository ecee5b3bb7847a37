/* SPDX-License-Identifier: MIT */
/*
 * The pass planner: which events are counted together. As few passes as the architecture's legal groups allow, never
 * multiplexed. Pure.
 */
#pragma once

#include "quantities/architecture.h"

#define PASS_MAX_EVENTS 25

/* Runs of a pass whose events are counted by steps, however many others have: two show that they agree. */
#define STEP_RUNS 2

/*
 * Events of one group; none: the pass of the clocks, whose main measurer is the time stamp counter. probes_clock: of
 * that pass, the core clock is probed before and after the work. is_stepped: its events are counted by steps.
 */
struct pass {
	size_t events[PASS_MAX_EVENTS]; /* indices into architecture->events */
	size_t nr_events;
	bool probes_clock, is_stepped;
};

struct pass_plan {
	struct pass *passes;
	size_t nr_passes;
};

/* Are its events counted for the whole machine? Then all are. */
bool pass_is_of_machine(const struct architecture *architecture, const struct pass *pass);

/* Does any legal group hold these events? */
bool pass_is_legal(const struct architecture *architecture, const size_t *events, size_t nr_events);

/*
 * Packs the events of the formulas. Events of one formula share a pass when a legal group holds them; else they are
 * spread over several. with_clock adds a pass without events, first: time measured beside counters would include
 * switching them. Riders go where there is room. Error: an event that fits no group. Clear the plan also after an
 * error.
 */
int pass_plan_make(struct pass_plan *plan, const struct architecture *architecture,
		   const struct architecture_formula *const *formulas, size_t nr_formulas, bool with_clock,
		   struct rot_error *err);
void pass_plan_clear(struct pass_plan *plan);

/* The first pass that has the event, or nr_passes. */
size_t pass_plan_find(const struct pass_plan *plan, size_t event);

/* The pass that has all events of the formula, or nr_passes if they are spread. */
size_t pass_plan_find_all(const struct pass_plan *plan, const struct architecture_formula *formula);

/* Where the pass has the event among its own, or nr_events. */
size_t pass_event_at(const struct pass *pass, size_t event);

/* How often the pass is run where others are run nr_runs times. */
int pass_runs(const struct pass *pass, int nr_runs);

/* The pass of the clocks, which there must be, also probes the core clock. */
void pass_plan_probe_clock(struct pass_plan *plan);

/* The pass without events, or nr_passes. */
size_t pass_plan_clock(const struct pass_plan *plan);
