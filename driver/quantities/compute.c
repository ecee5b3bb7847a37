/* SPDX-License-Identifier: MIT */
/* Values of quantities from the samples of the passes. */
#include "quantities/compute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "engine/expression.h"
#include "memory.h"

/* Runs of one part, all of them and the ones without a taint. */
struct series {
	struct pool *pool; /* of all below, and of what is kept of them */
	double *values;
	unsigned *taints;
	size_t *starts; /* of the core, that the runs are of */
	size_t nr;
	size_t pass;     /* the one it comes from, nr_passes if from several; meaningless if known */
	bool is_known;   /* one value that was not measured */
	bool is_stepped; /* counted by steps: the same in all runs, of which there are few */
};

/* ---- values of one part ---- */

static void
take_run(struct series *series, size_t i, const struct pass_run *run)
{
	series->taints[i] |= run->taints;
	series->starts[i] = run->start;
}

/* Sets the formula's variables from run i of the passes that have them; adds the taints of these runs. */
static void
set_events(struct expression_scope *scope, const struct architecture *architecture, const struct quantity_part *part,
	   const struct pass_plan *plan, const struct pass_samples *samples, struct series *series, size_t run)
{
	for (size_t i = 0; i < part->formula->nr_events; i++) {
		const size_t event = part->formula->events[i];
		const size_t from = series->pass < plan->nr_passes ? series->pass : pass_plan_find(plan, event);
		const struct pass_run *pass_run = &samples[from].runs[run];
		const size_t k = pass_event_at(&plan->passes[from], event);

		expression_scope_set_number(scope, architecture->events[event].name,
					    pass_run->counts[k] +
						    (part->formula->has_others ? pass_run->others[k] : 0));
		take_run(series, run, pass_run);
	}
}

static double
clock_value(const struct pass_run *run, enum part_source source)
{
	switch (source) {
	case PART_TSC:
		return run->tsc_ticks;
	case PART_WALL:
		return run->wall_ns;
	case PART_PROBED:
		return run->core_cycles;
	case PART_MOVES:
		return run->migrations;
	default:
		return run->context_switches;
	}
}

static int
part_series(struct series *series, const struct architecture *architecture, const struct quantity_part *part,
	    const struct pass_plan *plan, const struct pass_samples *samples, struct rot_error *err)
{
	const bool is_counted = part->source == PART_COUNTED, is_known = part->source == PART_KNOWN;
	const size_t first = is_counted ? pass_plan_find(plan, part->formula->events[0]) : plan->nr_passes;
	const size_t clock = pass_plan_clock(plan);
	autoscope struct expression_scope *scope = expression_scope_new(NULL);
	size_t nr = SIZE_MAX;

	*series = (struct series){.pool = series->pool,
				  .is_known = is_known,
				  .is_stepped = first < plan->nr_passes && plan->passes[first].is_stepped};
	/* Passes that are stepped are run as often as each other, and so are the others. */
	for (size_t i = 0; i < plan->nr_passes; i++)
		if (plan->passes[i].is_stepped == series->is_stepped && samples[i].nr_runs < nr)
			nr = samples[i].nr_runs;
	series->nr = is_known ? 1 : nr == SIZE_MAX ? 0 : nr;
	series->values = pool_calloc(series->pool, series->nr, sizeof(*series->values));
	series->taints = pool_calloc(series->pool, series->nr, sizeof(*series->taints));
	series->starts = pool_calloc(series->pool, series->nr, sizeof(*series->starts));
	if (is_known) {
		series->values[0] = part->known;
		return 0;
	}
	series->pass = is_counted ? pass_plan_find_all(plan, part->formula) : clock < plan->nr_passes ? clock : 0;
	for (size_t i = 0; i < series->nr; i++) {
		if (!is_counted) {
			series->values[i] = clock_value(&samples[series->pass].runs[i], part->source);
			take_run(series, i, &samples[series->pass].runs[i]);
			continue;
		}
		set_events(scope, architecture, part, plan, samples, series, i);
		if (expression_number(scope, part->formula->expression, &series->values[i], err) < 0)
			return rot_error_prefix(err, "%s:%d", architecture->path, part->formula->line);
		if (part->formula->has_others)
			series->taints[i] &= ~(unsigned)TAINT_BACKGROUND;
	}
	return 0;
}

/* ---- from parts to the value ---- */

#define ALL_TAINTS (~0U)

/* Ends the estimators of what is only known of runs that should be left out. */
#define OF_TAINTED "OfTainted"

/* By starts: those that no taint but those in tolerated leaves out, by the taints given, times scale; with ALL_TAINTS
 * all of them. */
static struct grouped
kept_of(const struct series *series, const unsigned *taints, double scale, unsigned tolerated)
{
	double *values = pool_calloc(series->pool, series->nr, sizeof(*values));
	size_t *starts = pool_calloc(series->pool, series->nr, sizeof(*starts)), nr = 0;

	for (size_t i = 0; i < series->nr; i++) {
		if (!series->is_known && (taints[i] & ~tolerated) != 0)
			continue;
		values[nr] = scale * series->values[i];
		starts[nr++] = series->starts[i];
	}
	return (struct grouped){values, starts, nr};
}

static size_t
count_left_out(const unsigned *taints, size_t nr, unsigned tolerated)
{
	size_t tainted = 0;

	for (size_t i = 0; i < nr; i++)
		tainted += (taints[i] & ~tolerated) != 0;
	return tainted;
}

/* The same request always gets the same resamples. */
static uint64_t
request_seed(const struct quantity_request *request)
{
	const char *const words[] = {request->name, request->operation, request->border, request->clock};
	uint64_t seed = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (const char *c = words[i] ? words[i] : ""; *c; c++)
			seed = (seed ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return seed;
}

/*
 * Counts that are the same in all runs are known after two of them: what scatters is the other side, of which the
 * number of runs and the interval are.
 */
static bool
is_settled_beside(const struct series *series, const struct series *other)
{
	return series->is_stepped && !other->is_stepped && !other->is_known;
}

/* The median alone. */
static void
settle(struct pool *pool, struct grouped *kept)
{
	const double median = statistics_percentile(kept->values, kept->n, 50);

	if (kept->n < 2)
		return;
	kept->values = pool_copy(pool, &median, 1, sizeof(median));
	kept->n = 1;
}

static struct summary
summarise_ratio(const struct quantity_resolution *resolution, const struct series *top, const struct series *bottom,
		const unsigned *joint_taints, bool use_minimum, unsigned tolerated)
{
	const bool jointly = joint_taints != NULL;
	struct grouped numerator = kept_of(top, jointly ? joint_taints : top->taints, 1, tolerated);
	struct grouped denominator = kept_of(bottom, jointly ? joint_taints : bottom->taints, 1, tolerated);
	const bool is_top_settled = is_settled_beside(top, bottom), is_bottom_settled = is_settled_beside(bottom, top);
	struct summary summary;

	if (is_top_settled)
		settle(top->pool, &numerator);
	if (is_bottom_settled)
		settle(top->pool, &denominator);
	if (top->is_known && bottom->is_known)
		summary = summary_single(resolution->scale * numerator.values[0] / denominator.values[0],
					 quantity_resolution_kind(resolution));
	else
		summary = summary_ratio(&numerator, &denominator, resolution->scale, jointly,
					request_seed(&resolution->request));
	if ((!top->is_known && !is_top_settled && numerator.n < 2) ||
	    (!bottom->is_known && !is_bottom_settled && denominator.n < 2)) {
		summary.low = summary.high = NAN;
		summary.confidence = 0;
	}
	if (use_minimum && resolution->is_time_denominator) {
		/* No interval; the best time instead of its median. */
		summary.estimator = "medianPerMinimum";
		summary.value = resolution->scale * statistics_percentile(numerator.values, numerator.n, 50) /
				statistics_percentile(denominator.values, denominator.n, 0);
		summary.low = summary.high = NAN;
		summary.confidence = 0;
	}
	return summary;
}

bool
quantity_is_of_tainted(const struct quantity_value *value)
{
	const char *estimator = value->summary.estimator ? value->summary.estimator : "";
	const size_t length = strlen(estimator), ending = strlen(OF_TAINTED);

	return length > ending && strcmp(estimator + length - ending, OF_TAINTED) == 0;
}

bool
quantity_is_counted_once(const struct quantity_value *value)
{
	static const char *const sources[] = {"blocks", "blocks per blocks"};
	bool is_counted = false;

	for (size_t i = 0; value->source && i < sizeof(sources) / sizeof(*sources); i++)
		is_counted |= strcmp(value->source, sources[i]) == 0;
	return is_counted && value->summary.n == 1;
}

static const char *
tainted_estimator(const char *estimator)
{
	static const char *const names[][2] = {
		{"median", "median" OF_TAINTED},
		{"exact", "exact" OF_TAINTED},
		{"minimum", "minimum" OF_TAINTED},
		{"ratioOfMedians", "ratioOfMedians" OF_TAINTED},
		{"medianPerMinimum", "medianPerMinimum" OF_TAINTED},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], estimator) == 0)
			return names[i][1];
	return estimator;
}

/* Which run of the series belongs to sample i; those of a side that was run less often are taken in turn. */
static size_t
run_of_sample(const struct series *series, size_t i)
{
	return series->nr ? i % series->nr : 0;
}

/*
 * Samples and their taints: run i of one part with run i of the other. None if one side that was measured has no run.
 */
static void
value_set_samples(struct quantity_value *value, const struct quantity_resolution *resolution, const struct series *top,
		  const struct series *bottom)
{
	/* Samples are those of the side that was measured more often. */
	const bool is_of_bottom = bottom && !bottom->is_known && (top->is_known || bottom->nr > top->nr);
	const struct series *of = is_of_bottom ? bottom : top;

	value->nr_samples = top->nr == 0 || (bottom && bottom->nr == 0) ? 0 : of->nr;
	value->samples = rot_calloc(value->nr_samples, sizeof(*value->samples));
	value->taints = rot_calloc(value->nr_samples, sizeof(*value->taints));
	value->starts = rot_calloc(value->nr_samples, sizeof(*value->starts));
	for (size_t i = 0; i < value->nr_samples; i++) {
		const size_t t = run_of_sample(top, i), b = bottom ? run_of_sample(bottom, i) : 0;

		value->samples[i] = resolution->scale * top->values[t];
		value->taints[i] = top->taints[t];
		value->starts[i] = of->starts[i];
		if (bottom) {
			value->samples[i] /= bottom->values[b];
			value->taints[i] |= bottom->taints[b];
		}
	}
}

/* Is there a side that was measured and of which every run would be left out? */
static bool
all_are_tainted(const struct quantity_value *value, const struct series *top, const struct series *bottom, bool jointly,
		unsigned tolerated)
{
	if (jointly)
		return count_left_out(value->taints, value->nr_samples, tolerated) == value->nr_samples;
	if (!top->is_known && count_left_out(top->taints, top->nr, tolerated) == top->nr)
		return true;
	return bottom && !bottom->is_known && count_left_out(bottom->taints, bottom->nr, tolerated) == bottom->nr;
}

/* No run says anything: bytes of others cannot be told from those of the work. */
static bool
all_are_of_others(const struct quantity_value *value)
{
	for (size_t i = 0; i < value->nr_samples; i++)
		if (!(value->taints[i] & TAINT_BACKGROUND))
			return false;
	return value->nr_samples > 0;
}

static void
value_summarise(struct quantity_value *value, const struct quantity_resolution *resolution, const struct series *top,
		const struct series *bottom, const struct pass_plan *plan, bool use_minimum)
{
	const bool jointly = bottom && !top->is_known && !bottom->is_known && top->pass == bottom->pass &&
			     top->pass < plan->nr_passes;
	const unsigned kept = resolution->kept_taints;
	const bool use_all = value->nr_samples && all_are_tainted(value, top, bottom, jointly, kept);
	const unsigned tolerated = use_all ? ALL_TAINTS : kept;
	const struct grouped of_top = kept_of(top, top->taints, resolution->scale, tolerated);

	if (all_are_of_others(value))
		value->summary = summary_empty();
	else if (bottom)
		value->summary = summarise_ratio(resolution, top, bottom, jointly ? value->taints : NULL, use_minimum,
						 tolerated);
	else if (top->is_known)
		value->summary = summary_single(of_top.values[0], resolution->numerator.kind);
	else if (use_minimum && resolution->is_time_numerator)
		value->summary = summary_minimum(of_top.values, of_top.n);
	else
		value->summary = summary_grouped_median(&of_top);
	value->summary.tainted = count_left_out(value->taints, value->nr_samples, kept);
	if (use_all && !all_are_of_others(value))
		value->summary.estimator = tainted_estimator(value->summary.estimator);
}

static bool
is_of_machine(const struct quantity_part *part)
{
	return part->formula && part->formula->is_of_machine;
}

static void
value_describe(struct quantity_value *value, const struct quantity_resolution *resolution)
{
	value->request = resolution->request;
	value->name = resolution->request.name;
	value->of = pool_own(&value->pool, quantity_resolution_of(resolution), free);
	value->unit = pool_own(&value->pool, quantity_resolution_unit(resolution), free);
	value->kind = quantity_resolution_kind(resolution);
	value->source = pool_own(&value->pool, quantity_resolution_source(resolution), free);
	value->grade = quantity_resolution_grade(resolution);
	value->why_expected =
		step_obstacle_text(resolution->numerator.obstacle != STEPS_CAN ? resolution->numerator.obstacle
									       : resolution->denominator.obstacle);
	value->expected = resolution->expected;
	value->compulsory = resolution->compulsory;
	value->goes_round = resolution->numerator.formula && resolution->numerator.formula->goes_round;
	value->is_of_machine = is_of_machine(&resolution->numerator) || is_of_machine(&resolution->denominator);
	value->kept_taints = resolution->kept_taints;
	value->summary = summary_empty();
}

/* The samples of one workload as if it had been alone. */
static struct pass_samples *
samples_of_thread(struct pool *pool, const struct pass_plan *plan, const struct pass_samples *samples, size_t thread)
{
	struct pass_samples *own = pool_calloc(pool, plan->nr_passes, sizeof(*own));

	for (size_t i = 0; i < plan->nr_passes; i++) {
		own[i].nr_runs = samples[i].nr_runs;
		own[i].runs = pool_calloc(pool, own[i].nr_runs, sizeof(*own[i].runs));
		for (size_t k = 0; k < own[i].nr_runs; k++)
			own[i].runs[k] = samples[i].runs[k].threads[thread];
	}
	return own;
}

/* Quantities of one part alone have samples of each workload: a rate would need the work of one thread. */
static int
set_thread_samples(struct pool *pool, struct quantity_value *value, const struct quantity_resolution *resolution,
		   const struct architecture *architecture, const struct pass_plan *plan,
		   const struct pass_samples *samples, struct rot_error *err)
{
	if (resolution->has_denominator || value->nr_samples == 0 || samples[0].nr_threads == 0)
		return 0;
	value->nr_threads = samples[0].nr_threads;
	value->thread_samples = rot_calloc(value->nr_threads * value->nr_samples, sizeof(*value->thread_samples));
	for (size_t t = 0; t < value->nr_threads; t++) {
		const struct pass_samples *own = samples_of_thread(pool, plan, samples, t);
		struct series series = {.pool = pool};

		if (part_series(&series, architecture, &resolution->numerator, plan, own, err) < 0)
			return -1;
		for (size_t i = 0; i < value->nr_samples; i++)
			value->thread_samples[t * value->nr_samples + i] = resolution->scale * series.values[i];
	}
	return 0;
}

int
quantity_compute(struct quantity_value *value, const struct quantity_resolution *resolution,
		 const struct architecture *architecture, const struct pass_plan *plan,
		 const struct pass_samples *samples, bool use_minimum, struct rot_error *err)
{
	autopool pool = {0};
	struct series top = {.pool = &pool}, bottom = {.pool = &pool};
	const struct series *below = resolution->has_denominator ? &bottom : NULL;

	*value = (struct quantity_value){.nr_samples = 0};
	value_describe(value, resolution);
	if (part_series(&top, architecture, &resolution->numerator, plan, samples, err) < 0 ||
	    (below && part_series(&bottom, architecture, &resolution->denominator, plan, samples, err) < 0))
		return -1;
	for (size_t i = 0; i < top.nr; i++)
		top.taints[i] &= ~resolution->ignored_taints;
	if (!top.is_known || (below && !bottom.is_known))
		value_set_samples(value, resolution, &top, below);
	value_summarise(value, resolution, &top, below, plan, use_minimum);
	return set_thread_samples(&pool, value, resolution, architecture, plan, samples, err);
}
