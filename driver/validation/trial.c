/* SPDX-License-Identifier: MIT */
#include "validation/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "kernels/expression.h"
#include "memory.h"
#include "quantities/expected.h"
#include "quantities/quantity.h"
#include "rot.h"

/*
 * A region begins with lines in the cache that the code before has written, and ends with lines that are not written
 * back yet: up to the size of the cache on either side, on each CPU. Writes are graded from so many times that on: a
 * hundred make it a hundredth, and of a last level so much takes too long.
 */
#define CACHES_OF_WRITES 100
#define LAST_LEVELS_OF_WRITES 32
/* Reading, a page walk and the code itself cost lines; this many bytes make them less than a thousandth. */
#define LEAST_BYTES_READ 4194304
/* Reference cycles are held against ticks around the switching of counters, which takes up to 200 000 of them. */
#define LEAST_REFERENCE_CYCLES 3e7
/* For caches of which nothing is known: larger than most. */
#define UNKNOWN_CACHE_BYTES 33554432.0

/* ---- clocks ---- */

struct clock {
	const char *of, *kind, *source;
	double (*value)(const struct pass_run *run);
};

static double
probed_cycles(const struct pass_run *run)
{
	return run->core_cycles;
}

static double
ticks(const struct pass_run *run)
{
	return run->tsc_ticks;
}

/* Those of resolve.c that no event counts; wall time is what the others are held against. */
static const struct clock clocks[] = {
	{"coreCycles", "modelled", "time stamp counter * clock probe", probed_cycles},
	{"tsc", "measured", "time stamp counter", ticks},
};
#define NR_CLOCKS (sizeof(clocks) / sizeof(*clocks))

struct moment
moment_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (struct moment){.ticks = __rdtsc(), .ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec};
}

/* Ticks that pass in so much wall time, at the rate since start. */
static double
ticks_in(double ns, const struct moment *start)
{
	const struct moment now = moment_now();

	return ns * (double)(now.ticks - start->ticks) / (now.ns - start->ns);
}

/* ---- candidates ---- */

size_t
candidates_of(struct pool *pool, const struct architecture *architecture, struct candidate **candidates)
{
	size_t nr = 0;

	*candidates = pool_calloc(pool, architecture->nr_formulas + NR_CLOCKS, sizeof(**candidates));
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];

		(*candidates)[nr++] = (struct candidate){formula->quantity, formula->of, formula->kind,
							 formula->source,   formula,     NULL};
	}
	for (size_t i = 0; i < NR_CLOCKS; i++)
		(*candidates)[nr++] =
			(struct candidate){"time", clocks[i].of, clocks[i].kind, clocks[i].source, NULL, &clocks[i]};
	return nr;
}

/* ---- what is expected ---- */

typedef int expectation(struct rot *rot, const struct measurement *measurement, const char *of, double *expected,
			struct rot_error *err);

/*
 * of: what is asked of the kernels; NULL: what the candidate is of. besides: the border of what they do of the kind
 * that no candidate may be of. Core cycles are known of chains in which each instruction waits for the one before;
 * other clocks are held against each other there.
 */
static const struct expected_kind {
	const char *quantity;
	expectation *expected;
	const char *of, *besides;
} kinds[] = {
	{"operationCount", expected_operations_of, NULL, NULL},
	{"transferredBytes", expected_bytes_of, NULL, "cpuL1"},
	{"instructions", expected_operations_of, "instructions", NULL},
	{"time", expected_operations_of, "coreCycles", NULL},
};

static const struct expected_kind *
kind_of(const struct candidate *candidate)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].quantity, candidate->quantity) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* The time stamp counter goes on at the rate of the wall clock, and so do reference cycles while nothing is halted. */
static bool
is_told_by_runs(const struct candidate *candidate)
{
	return strcmp(candidate->quantity, "time") == 0 && strcmp(candidate->of, "coreCycles") != 0;
}

/* Instructions are no work of the kind that others are, of which there may be none beside it. */
static bool
is_of_instructions(const struct candidate *candidate)
{
	return strcmp(candidate->of, "instructions") == 0;
}

/* To all trials of the kind: the largest work that is known of it. */
static int
set_references(struct rot *rot, const struct measurement *measurement, const struct expected_kind *kind,
	       struct trial *trials, size_t nr, struct rot_error *err)
{
	double reference;

	if (expected_bytes_of(rot, measurement, kind->besides, &reference, err) < 0)
		return -1;
	reference = fmax(0, reference); /* not known: none */
	for (size_t i = 0; i < nr; i++) {
		if (kind_of(trials[i].candidate) == kind && !is_of_instructions(trials[i].candidate))
			reference = fmax(reference, trials[i].expected);
	}
	for (size_t i = 0; i < nr; i++) {
		if (kind_of(trials[i].candidate) == kind)
			trials[i].reference = is_of_instructions(trials[i].candidate) ? trials[i].expected : reference;
	}
	return 0;
}

/* Bytes from which on writes over the border stand out. */
static double
least_bytes_written(const struct machine *machine, const char *of)
{
	const struct {
		const char *border;
		int64_t bytes; /* of the cache on the processor's side */
		double times;
	} caches[] = {
		{"l1l2", machine->l1_data_bytes, CACHES_OF_WRITES},
		{"l2l3", machine->l2_bytes, CACHES_OF_WRITES},
		{"llcRam", machine->llc_bytes ? machine->llc_bytes : machine->package_llc_bytes, LAST_LEVELS_OF_WRITES},
	};

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		if (strncmp(of, caches[i].border, strlen(caches[i].border)) == 0 && caches[i].bytes)
			return caches[i].times * (double)caches[i].bytes;
	}
	return LAST_LEVELS_OF_WRITES * UNKNOWN_CACHE_BYTES;
}

static bool
is_too_small(const struct rot *rot, const struct trial *trial, size_t nr_threads)
{
	const char *of = trial->candidate->of;
	const double work = (trial->expected > 0 ? trial->expected : trial->reference) / (double)nr_threads;

	if (strcmp(of, "referenceCycles") == 0)
		return work < LEAST_REFERENCE_CYCLES;
	if (strcmp(trial->candidate->quantity, "transferredBytes") != 0)
		return false;
	return work < (strstr(of, ".read") ? LEAST_BYTES_READ : least_bytes_written(rot->machine, of));
}

int
trials_find(struct rot *rot, struct pool *pool, const struct measurement *measurement,
	    const struct candidate *candidates, size_t nr, struct trial **trials, size_t *nr_trials,
	    struct rot_error *err)
{
	struct trial *found = pool_calloc(pool, nr, sizeof(*found));
	size_t nr_found = 0, nr_kept = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i++) {
		const struct expected_kind *kind = kind_of(&candidates[i]);
		struct trial trial = {.candidate = &candidates[i], .expected = NAN};

		if (kind)
			rc = kind->expected(rot, measurement, kind->of ? kind->of : candidates[i].of, &trial.expected,
					    err);
		if (rc == 0 && !isnan(trial.expected))
			found[nr_found++] = trial;
	}
	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
		rc = set_references(rot, measurement, &kinds[i], found, nr_found, err);
	for (size_t i = 0; rc == 0 && i < nr_found; i++) {
		if (!(found[i].reference > 0))
			continue;
		found[i].is_too_small = is_too_small(rot, &found[i], measurement_nr_workloads(measurement));
		if (is_told_by_runs(found[i].candidate))
			found[i].expected = NAN;
		found[nr_kept++] = found[i];
	}
	*trials = found;
	*nr_trials = nr_kept;
	return rc;
}

/* ---- passes ---- */

int
trials_plan(const struct trial *trials, size_t nr, const struct architecture *architecture, struct pass_plan *plan,
	    struct rot_error *err)
{
	autofree const struct architecture_formula **formulas = rot_calloc(nr + 1, sizeof(*formulas));
	bool with_clock = false;
	size_t nr_formulas = 0;
	int rc;

	for (size_t i = 0; i < nr; i++) {
		if (trials[i].candidate->formula)
			formulas[nr_formulas++] = trials[i].candidate->formula;
		with_clock |= trials[i].candidate->clock != NULL;
	}
	rc = pass_plan_make(plan, architecture, formulas, nr_formulas, with_clock, err);
	if (rc == 0 && with_clock)
		pass_plan_probe_clock(plan);
	return rc;
}

const struct pass *
trial_pass(const struct trial *trial, const struct pass_plan *plan)
{
	size_t i = trial->candidate->formula ? pass_plan_find_all(plan, trial->candidate->formula) : plan->nr_passes;

	return i < plan->nr_passes ? &plan->passes[i] : NULL;
}

/* ---- runs ---- */

static struct trial_reading
read_clock(const struct trial *trial, const struct pass_run *run)
{
	return (struct trial_reading){
		.value = trial->candidate->clock->value(run), .expected = trial->expected, .taints = run->taints};
}

/* A clock that changed disturbs no count, only what is modelled by it. */
#define TAINTS_OF_COUNTS (~(unsigned)TAINT_CLOCK)

/* No number, which a formula may give of wrong counts, is as far off as anything. */
static struct trial_reading
read_formula(const struct trial *trial, const struct architecture *architecture, const struct pass_plan *plan,
	     const struct pass_samples *samples, size_t run)
{
	const struct architecture_formula *formula = trial->candidate->formula;
	autoscope struct expression_scope *scope = expression_scope_new(NULL);
	struct trial_reading reading = {.value = NAN, .expected = trial->expected};
	size_t together = pass_plan_find_all(plan, formula);

	for (size_t i = 0; i < formula->nr_events; i++) {
		size_t event = formula->events[i], at = 0;
		size_t from = together < plan->nr_passes ? together : pass_plan_find(plan, event);

		while (plan->passes[from].events[at] != event)
			at++;
		reading.taints |= samples[from].runs[run].taints & TAINTS_OF_COUNTS;
		expression_scope_set_number(scope, architecture->events[event].name,
					    samples[from].runs[run].counts[at]);
		if (isnan(reading.expected))
			reading.expected = samples[from].runs[run].tsc_ticks;
	}
	expression_number(scope, formula->expression, &reading.value, NULL);
	return reading;
}

struct trial_reading
trial_read(const struct trial *trial, const struct architecture *architecture, const struct pass_plan *plan,
	   const struct pass_samples *samples, size_t run, const struct moment *start)
{
	const struct pass_run *timed;
	struct trial_reading reading;

	if (trial->candidate->formula)
		return read_formula(trial, architecture, plan, samples, run);
	timed = &samples[pass_plan_clock(plan)].runs[run];
	reading = read_clock(trial, timed);
	if (isnan(reading.expected))
		reading.expected = ticks_in(timed->wall_ns, start);
	return reading;
}
