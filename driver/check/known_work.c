/* SPDX-License-Identifier: MIT */
/* Known work: what is expected of it, which of it fits into the time, and its runs. */
#include "check/known_work.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/progress.h"
#include "engine/core_launch.h"
#include "engine/expression.h"
#include "engine/kernel_work.h"
#include "engine/measuring.h"
#include "engine/order.h"
#include "memory.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "quantities/expected.h"
#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "quantities/samples.h"
#include "rot.h"

/*
 * Where points come from. The bytes that points of an estimate move are known about, not exactly: prefetchers bring
 * more than is asked for. They are shown, and part of a grade only if the counts are far from it, so that exchanged
 * events are seen.
 */
static const struct {
	const char *controller;
	bool is_estimate;
} sources[] = {
	{"known-operations", false},
	{"known-traffic", false},
	{"known-time", false},
	{"near-traffic", true},
};

/* A candidate on one measurement. */
struct trial {
	const struct candidate *candidate;
	double expected;  /* of a run; NaN: each run tells it itself, by another clock */
	double reference; /* > 0: what a deviation is relative to where nothing is expected: all that the kernel does of
			     the kind */

	/* Too little work to tell it from what a cache holds back or inherits, and from page walks and code. */
	bool is_too_small;
};

struct work_point {
	const struct measurement *measurement; /* borrowed of the controller, */
	const char *series;                    /* as this is                 */
	const char *kernel;                    /* "AVX2 DOUBLE FMA", "WRITE 64 MiB cold" */
	bool is_estimate;
	struct trial *trials;
	size_t nr_trials;
	struct pass_plan plan; /* the passes that tell all of them */
	double seconds;        /* a run of all passes, by an estimate */
	bool is_chosen;
	int nr_chosen;               /* of its series */
	int nr_done;                 /* runs so far */
	struct known_work_row *rows; /* of each trial, anew in each round; NULL: not measured */
	double taken_s;              /* by the last round */
};

/* The time stamp counter and the wall clock at one moment: what both go on by until another is the rate. */
struct moment {
	uint64_t ticks;
	double ns;
};

struct measuring_work {
	struct rot *rot;
	struct known_work *work;
	struct pool *pool;     /* of the rows */
	struct pool of_points; /* of all below */
	struct work_point *points;
	size_t nr;
	struct work_point **chosen;
	size_t nr_chosen;
	struct moment start;
	double deadline_s;
	bool has_warned; /* that a point was refused */
};

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

/* The clocks of resolve.c that no event counts, but wall time, which the others are held against. */
static const struct clock clocks[] = {
	{"coreCycles", "modelled", "time stamp counter * clock probe", probed_cycles},
	{"tsc", "measured", "time stamp counter", ticks},
};
#define NR_CLOCKS (sizeof(clocks) / sizeof(*clocks))

static struct moment
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

/* Formulas in the order of the architecture, then clocks. */
static size_t
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
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].quantity, candidate->quantity) == 0)
			return &kinds[i];
	return NULL;
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
	for (size_t i = 0; i < nr; i++)
		if (kind_of(trials[i].candidate) == kind && !is_of_instructions(trials[i].candidate))
			reference = fmax(reference, trials[i].expected);
	for (size_t i = 0; i < nr; i++)
		if (kind_of(trials[i].candidate) == kind)
			trials[i].reference = is_of_instructions(trials[i].candidate) ? trials[i].expected : reference;
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

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		if (strncmp(of, caches[i].border, strlen(caches[i].border)) == 0 && caches[i].bytes)
			return caches[i].times * (double)caches[i].bytes;
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

/*
 * The trials of those candidates of whose kind the kernels do a known amount, or none beside something else of that
 * kind. -1: an expression of a kernel's definition failed.
 */
static int
find_trials(const struct measuring_work *of, struct pool *pool, struct work_point *point, struct rot_error *err)
{
	const struct known_work *work = of->work;
	struct trial *found = pool_calloc(pool, work->nr_candidates, sizeof(*found));
	size_t nr_found = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < work->nr_candidates; i++) {
		const struct candidate *candidate = &work->candidates[i];
		const struct expected_kind *kind = kind_of(candidate);
		struct trial trial = {.candidate = candidate, .expected = NAN};

		if (kind)
			rc = kind->expected(of->rot, point->measurement, kind->of ? kind->of : candidate->of,
					    &trial.expected, err);
		if (rc == 0 && !isnan(trial.expected))
			found[nr_found++] = trial;
	}
	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(*kinds); i++)
		rc = set_references(of->rot, point->measurement, &kinds[i], found, nr_found, err);
	for (size_t i = 0; rc == 0 && i < nr_found; i++) {
		if (!(found[i].reference > 0))
			continue;
		found[i].is_too_small = is_too_small(of->rot, &found[i], measurement_nr_workloads(point->measurement));
		/* The time stamp counter goes on at the rate of the wall clock, and so do reference cycles while
		 * nothing is halted. */
		if (strcmp(found[i].candidate->quantity, "time") == 0 &&
		    strcmp(found[i].candidate->of, "coreCycles") != 0)
			found[i].expected = NAN;
		found[point->nr_trials++] = found[i];
	}
	point->trials = found;
	return rc;
}

/* ---- passes ---- */

static int
plan_passes(const struct architecture *architecture, struct work_point *point, struct rot_error *err)
{
	autofree const struct architecture_formula **formulas = rot_calloc(point->nr_trials + 1, sizeof(*formulas));
	bool with_clock = false;
	size_t nr_formulas = 0;
	int rc;

	for (size_t i = 0; i < point->nr_trials; i++) {
		if (point->trials[i].candidate->formula)
			formulas[nr_formulas++] = point->trials[i].candidate->formula;
		with_clock |= point->trials[i].candidate->clock != NULL;
	}
	rc = pass_plan_make(&point->plan, architecture, formulas, nr_formulas, with_clock, err);
	if (rc == 0 && with_clock)
		pass_plan_probe_clock(&point->plan);
	return rc;
}

/* ---- how long it takes ---- */

/* Slow for a processor of today. They only choose what fits. */
#define START_S 0.02             /* of a core, for each measurement of a point */
#define RUN_S 0.001              /* of a run that does nothing             */
#define PREPARED_PER_S 4e9       /* bytes initialized, flushed, warmed     */
#define CLEARED_BYTES 67108864.0 /* written to clear the caches            */
#define FAR_BYTES 33554432.0     /* more data are in memory                */
#define MOVED_PER_S 3e10
#define MOVED_FAR_PER_S 1.2e10
#define COMPUTED_PER_S 2e9

static int
sum_of_kernels(struct rot *rot, const struct measurement *measurement, double *bytes, struct rot_error *err)
{
	int rc = 0;

	*bytes = 0;
	for (size_t i = 0; rc == 0 && i < measurement_nr_workloads(measurement); i++) {
		double part;

		rc = kernel_data_bytes(rot, measurement_workloads_at(measurement, i)->kernel, &part, err);
		*bytes += rc == 0 ? part : 0;
	}
	return rc;
}

static int
estimate_seconds(struct work_point *point, struct rot *rot, struct rot_error *err)
{
	const struct kernel_base *kernel = measurement_workloads_at(point->measurement, 0)->kernel;
	double bytes, moved, cycles, instructions, run_s;

	if (sum_of_kernels(rot, point->measurement, &bytes, err) < 0 ||
	    expected_bytes_of(rot, point->measurement, "cpuL1", &moved, err) < 0 ||
	    expected_operations_of(rot, point->measurement, "coreCycles", &cycles, err) < 0 ||
	    expected_operations_of(rot, point->measurement, "instructions", &instructions, err) < 0)
		return -1;
	run_s = RUN_S + bytes / PREPARED_PER_S + fmax(0, moved) / (bytes > FAR_BYTES ? MOVED_FAR_PER_S : MOVED_PER_S) +
		fmax(fmax(0, cycles), instructions) / COMPUTED_PER_S;
	if (!kernel->warm_code || !kernel->warm_data)
		run_s += CLEARED_BYTES / PREPARED_PER_S;
	point->seconds = run_s * (double)point->plan.nr_passes;
	return 0;
}

/* ---- all points ---- */

/* Leaves the point out if nothing can be tried at it. */
static int
add_point(struct measuring_work *of, struct work_point point, struct rot_error *err)
{
	int rc = find_trials(of, &of->of_points, &point, err);

	if (rc == 0 && point.nr_trials)
		rc = plan_passes(of->rot->architecture, &point, err);
	if (rc == 0 && point.nr_trials)
		rc = estimate_seconds(&point, of->rot, err);
	if (rc == 0 && point.nr_trials)
		pool_add(&of->of_points, of->points, of->nr) = point;
	else
		pass_plan_clear(&point.plan);
	return rc;
}

static int
add_controller(struct measuring_work *of, const char *name, bool is_estimate, struct rot_error *err)
{
	autofree char *path = controller_find_file(of->rot->paths, name);
	struct xml_controller *controller = path ? xml_controller_open(of->rot, path, err) : NULL;
	int rc = 0;

	if (!path)
		rot_error_set(err, 0, "the controller '%s' is missing", name);
	if (!controller)
		return -1;
	pool_own(&of->of_points, controller, xml_controller_close);
	for (size_t i = 0; rc == 0 && i < controller->nr_planned; i++) {
		const struct planned_point *planned = &controller->planned[i];
		struct work_point point = {
			.is_estimate = is_estimate, .series = planned->series, .measurement = planned->measurement};

		if (!point.measurement)
			continue;
		point.kernel = pool_format(&of->of_points, "%s %s", point.series, planned->label);
		rc = add_point(of, point, err);
	}
	return rc;
}

/* ---- what fits ---- */

/* Runs of a point in a round. A point is run as often as it takes no longer than RUNS_S, but LEAST_RUNS at least. */
#define MOST_RUNS 5
#define RUNS_S 0.5
#define LEAST_RUNS 3

static int
runs_of_round(const struct work_point *point)
{
	const double fitting = fmax(LEAST_RUNS, floor(RUNS_S / point->seconds));

	return fitting < MOST_RUNS ? (int)fitting : MOST_RUNS;
}

/*
 * Points are kept while they fit into so many seconds by estimates; cores are built besides. Candidates get three
 * kernels in turn, the candidate with the fewest first, and its cheapest kernel. Some are taken of each series. Kernels
 * of estimates get their turn as those of one more candidate.
 */
struct choosing {
	struct measuring_work *of;
	size_t *nr_served; /* of each candidate, and of estimates behind them: chosen kernels that tell its grade */
	size_t *order;     /* of points that cost the same, so that not the first of a controller are preferred */
	int nr_rounds;
	double seconds_left;
};

/* Without building its core: what is shown must not depend on what was built before. */
static double
cost(const struct choosing *choosing, const struct work_point *point)
{
	return START_S + choosing->nr_rounds * runs_of_round(point) * point->seconds;
}

/* Does it tell the grade of that candidate? */
static bool
serves(const struct choosing *choosing, const struct work_point *point, size_t which)
{
	const struct known_work *work = choosing->of->work;

	if (point->is_estimate || which == work->nr_candidates)
		return point->is_estimate && which == work->nr_candidates;
	for (size_t i = 0; i < point->nr_trials; i++) {
		const struct trial *trial = &point->trials[i];

		if (trial->candidate == &work->candidates[which] && !trial->is_too_small && !(trial->expected <= 0))
			return true;
	}
	return false;
}

/* Is anything at it large enough to tell a grade? */
static bool
tells(const struct work_point *point)
{
	for (size_t i = 0; i < point->nr_trials; i++)
		if (!point->trials[i].is_too_small)
			return true;
	return false;
}

/* A kernel of a series of which one was chosen has to be so much cheaper than one of another. More would choose slow
 * ones for variety, in place of many others. */
#define VARIETY 1.5

/* Cheaper, unless it only shows something. */
static bool
is_better(const struct choosing *choosing, const struct work_point *point, const struct work_point *than)
{
	if (tells(point) != tells(than))
		return tells(point);
	return cost(choosing, point) * pow(VARIETY, point->nr_chosen) <
	       cost(choosing, than) * pow(VARIETY, than->nr_chosen);
}

#define ANY SIZE_MAX

/* Chooses the cheapest point that is left for a candidate, or for any, unless it takes more than `most` seconds. */
static bool
choose_cheapest(struct choosing *choosing, size_t candidate, double most)
{
	struct measuring_work *of = choosing->of;
	struct work_point *best = NULL;

	for (size_t i = 0; i < of->nr; i++) {
		struct work_point *point = &of->points[choosing->order[i]];

		if (!point->is_chosen && (candidate == ANY || serves(choosing, point, candidate)) &&
		    cost(choosing, point) <= most && (!best || is_better(choosing, point, best)))
			best = point;
	}
	if (!best)
		return false;
	choosing->seconds_left -= cost(choosing, best);
	best->is_chosen = true;
	of->chosen[of->nr_chosen++] = best;
	for (size_t i = 0; i < of->nr; i++)
		of->points[i].nr_chosen += strcmp(of->points[i].series, best->series) == 0;
	for (size_t i = 0; i <= of->work->nr_candidates; i++)
		choosing->nr_served[i] += serves(choosing, best, i);
	return true;
}

/* Kernels a candidate gets by turns; from then on the cheapest are taken, which are the most. */
#define ENOUGH 3

/* The part of all the time that a kernel of a candidate which has one already may take. */
#define MOST_OF_ANOTHER 0.25

/* At least one point is chosen. */
static void
choose_points(struct measuring_work *of, int nr_rounds, double seconds)
{
	const size_t nr_candidates = of->work->nr_candidates;
	struct choosing choosing = {
		.of = of,
		.nr_served = pool_calloc(&of->of_points, nr_candidates + 1, sizeof(*choosing.nr_served)),
		.order = pool_calloc(&of->of_points, of->nr, sizeof(*choosing.order)),
		.nr_rounds = nr_rounds,
		.seconds_left = seconds,
	};

	of->chosen = pool_calloc(&of->of_points, of->nr, sizeof(*of->chosen));
	order_shuffle(choosing.order, of->nr, 0);
	for (size_t turn = 0; turn < ENOUGH; turn++)
		for (size_t i = 0; i <= nr_candidates; i++) {
			const size_t nr = choosing.nr_served[i];

			if (nr <= turn)
				choose_cheapest(&choosing, i,
						nr ? fmin(choosing.seconds_left, MOST_OF_ANOTHER * seconds)
						   : choosing.seconds_left);
		}
	while (choose_cheapest(&choosing, ANY, choosing.seconds_left))
		;
	if (of->nr_chosen == 0)
		choose_cheapest(&choosing, ANY, INFINITY);
}

/* ---- runs ---- */

/* A run tells this of a trial. */
struct trial_reading {
	double value, expected;
	unsigned taints; /* enum sample_taint */
};

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

/* Reads run i of the samples of the plan's passes. */
static struct trial_reading
read_trial(const struct trial *trial, const struct architecture *architecture, const struct pass_plan *plan,
	   const struct pass_samples *samples, size_t i, const struct moment *start)
{
	const struct pass_run *run;

	if (trial->candidate->formula)
		return read_formula(trial, architecture, plan, samples, i);
	run = &samples[pass_plan_clock(plan)].runs[i];
	return (struct trial_reading){
		.value = trial->candidate->clock->value(run),
		.expected = isnan(trial->expected) ? ticks_in(run->wall_ns, start) : trial->expected,
		.taints = run->taints,
	};
}

/* ---- measuring one point ---- */

/* Where most runs of a point were disturbed, it is measured so often in a round, but not again after that time. */
#define MOST_TRIES 4
#define TRYING_S 0.5

struct point_samples {
	struct pool pool; /* of all below */
	struct measurement **passes;
	struct measurement_result **results;
	struct pass_samples *samples;
	size_t nr;
};

static void
samples_clear(struct point_samples *samples)
{
	for (size_t i = 0; i < samples->nr; i++)
		pass_samples_clear(&samples->samples[i]);
	pool_clear(&samples->pool);
}

/* nr_runs more; the cache gives those before, since they were measured by this process. */
static int
point_measure(struct work_point *point, struct rot *rot, int nr_runs, struct point_samples *samples,
	      struct rot_error *err)
{
	const size_t nr = point->plan.nr_passes;
	struct pool *pool = &samples->pool;
	int rc;

	*samples = (struct point_samples){.nr = nr};
	samples->passes = pool_calloc(pool, nr, sizeof(*samples->passes));
	samples->results = pool_calloc(pool, nr, sizeof(*samples->results));
	samples->samples = pool_calloc(pool, nr, sizeof(*samples->samples));
	for (size_t i = 0; i < nr; i++)
		samples->passes[i] =
			pool_own(pool, pass_measurement(point->measurement, rot->architecture, &point->plan.passes[i]),
				 rot_graph_delete);
	rc = measuring_perform(rot, samples->passes, nr, point->nr_done + nr_runs, 1, samples->results, err);
	for (size_t i = 0; i < nr; i++)
		pool_own(pool, samples->results[i], rot_graph_delete);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = pass_samples_read(&samples->samples[i], rot->architecture, &point->plan.passes[i],
				       samples->passes[i], samples->results[i], err);
	if (rc == 0)
		point->nr_done += nr_runs;
	else
		rot_error_prefix(err, "%s", point->kernel);
	return rc;
}

/* Runs in which no pass was disturbed. */
static size_t
nr_undisturbed(const struct point_samples *samples)
{
	size_t nr = 0;

	for (size_t i = 0; i < samples->samples[0].nr_runs; i++) {
		unsigned taints = 0;

		for (size_t k = 0; k < samples->nr; k++)
			taints |= samples->samples[k].runs[i].taints;
		nr += taints == 0;
	}
	return nr;
}

/* And once more, as long as less than half of the runs so far were undisturbed. */
static int
point_measure_enough(struct work_point *point, struct rot *rot, int nr_runs, struct point_samples *samples,
		     struct rot_error *err)
{
	const double end_s = clock_now_s() + TRYING_S;
	int rc = point_measure(point, rot, nr_runs, samples, err);

	for (int i = 1;
	     rc == 0 && i < MOST_TRIES && clock_now_s() < end_s && 2 * nr_undisturbed(samples) < (size_t)point->nr_done;
	     i++) {
		samples_clear(samples);
		rc = point_measure(point, rot, nr_runs, samples, err);
	}
	return rc;
}

/* ---- rows ---- */

/* Summarizes all runs of a trial that can be believed. */
static struct known_work_row
make_row(const struct measuring_work *of, const struct trial *trial, const struct work_point *point,
	 const struct point_samples *samples)
{
	const size_t nr_runs = samples->nr ? samples->samples[0].nr_runs : 0;
	struct known_work_row row = {
		.candidate = trial->candidate,
		.kernel = pool_strdup(of->pool, point->kernel),
		.is_too_small = trial->is_too_small,
		.is_estimate = point->is_estimate,
	};
	autopool pool = {0};
	double *values = pool_calloc(&pool, nr_runs, sizeof(double)),
	       *expected = pool_calloc(&pool, nr_runs, sizeof(double));
	double *deviations = pool_calloc(&pool, nr_runs, sizeof(double));
	size_t nr = 0;
	size_t at;

	for (size_t i = 0; i < nr_runs; i++) {
		const struct trial_reading reading =
			read_trial(trial, of->rot->architecture, &point->plan, samples->samples, i, &of->start);

		row.nr_overflowed += (reading.taints & TAINT_OVERFLOW) != 0;
		if (reading.taints || isnan(reading.value))
			continue;
		values[nr] = reading.value;
		expected[nr] = reading.expected;
		deviations[nr++] = known_work_deviation(reading.value, reading.expected, trial->reference);
	}
	row.expected = statistics_percentile(expected, nr, 50);
	row.measured = statistics_percentile(values, nr, 50);
	row.grade = grade_of(deviations, nr);
	row.nr_tainted = nr_runs - nr;
	/* Counts the events of the pass that a formula was counted in; none where these are several, and for clocks. */
	at = trial->candidate->formula ? pass_plan_find_all(&point->plan, trial->candidate->formula)
				       : point->plan.nr_passes;
	for (size_t i = 0; at < point->plan.nr_passes && i < point->plan.passes[at].nr_events; i++) {
		const enum event_class class = of->rot->architecture->events[point->plan.passes[at].events[i]].class;

		row.nr_large += class == EVENT_LARGE;
		row.nr_plain += class == EVENT_PLAIN || class == EVENT_LOW;
	}
	return row;
}

/* ---- rounds ---- */

static int
measure_point(struct measuring_work *of, struct work_point *point, struct rot_error *err)
{
	struct point_samples samples;
	double begin_s = clock_now_s();
	int rc = point_measure_enough(point, of->rot, runs_of_round(point), &samples, err);

	point->taken_s = clock_now_s() - begin_s;
	if (rc == 0)
		point->rows = pool_calloc(of->pool, point->nr_trials, sizeof(*point->rows));
	for (size_t k = 0; rc == 0 && k < point->nr_trials; k++)
		point->rows[k] = make_row(of, &point->trials[k], point, &samples);
	samples_clear(&samples);
	return rc;
}

/* An event that this machine does not have costs the points that need it, not all others. */
static int
leave_out_refused(struct measuring_work *of, struct rot_error *err)
{
	if (!core_launch_was_refused())
		return -1;
	if (!of->has_warned)
		rot_warning("not validated: %s%s%s", err->text, err->hint[0] ? "\n     " : "", err->hint);
	of->has_warned = true;
	*err = (struct rot_error){0};
	return 0;
}

/* All of the first round, and of others what fits. *is_over: the time is used up. */
static int
measure_round(struct measuring_work *of, int round, bool *is_over, struct rot_error *err)
{
	autofree size_t *order = rot_calloc(of->nr_chosen + 1, sizeof(*order));
	int rc = 0;

	order_shuffle(order, of->nr_chosen, (unsigned)round);
	for (size_t i = 0; rc == 0 && i < of->nr_chosen; i++) {
		struct work_point *point = of->chosen[order[i]];

		*is_over = round > 0 && clock_now_s() + point->taken_s > of->deadline_s;
		if (*is_over)
			break;
		progress_point();
		if (rot_interrupted())
			rc = rot_error_set(err, 0, "interrupted");
		else if (measure_point(of, point, err) < 0)
			rc = leave_out_refused(of, err);
	}
	return rc;
}

/* In the order of the controllers. */
static void
gather(struct measuring_work *of)
{
	struct known_work *work = of->work;

	for (size_t i = 0; i < of->nr; i++) {
		const struct work_point *point = &of->points[i];

		work->nr_points += point->rows != NULL;
		for (size_t k = 0; point->rows && k < point->nr_trials; k++)
			pool_add(of->pool, work->rows, work->nr) = point->rows[k];
		pass_plan_clear(&of->points[i].plan);
	}
	work->nr_left_out = of->nr - work->nr_points;
}

int
known_work_measure(struct rot *rot, struct pool *pool, int nr_rounds, double seconds, struct known_work *work,
		   struct rot_error *err)
{
	struct measuring_work of = {.rot = rot, .pool = pool, .work = work};
	bool is_over = false;
	int rc = 0;

	*work = (struct known_work){0};
	work->nr_candidates = candidates_of(pool, rot->architecture, &work->candidates);
	configuration_push(rot->configuration);
	configuration_set(rot->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", NULL);
	for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(*sources); i++)
		rc = add_controller(&of, sources[i].controller, sources[i].is_estimate, err);
	if (rc == 0) {
		autofree struct measurement **measurements = NULL;

		choose_points(&of, nr_rounds, seconds);
		/* A core that cannot be built is an error when it is measured. */
		measurements = rot_calloc(of.nr_chosen + 1, sizeof(*measurements));
		for (size_t i = 0; i < of.nr_chosen; i++)
			measurements[i] = (struct measurement *)of.chosen[i]->measurement; /* stays as it is */
		rc = measuring_prepare(of.rot, measurements, of.nr_chosen, err) < 0 ? -1 : 0;
	}
	of.start = moment_now();
	of.deadline_s = clock_now_s() + seconds;
	progress_begin(of.nr_chosen * (size_t)nr_rounds, configuration_bool(rot->configuration, "quiet"));
	while (rc == 0 && !is_over && work->nr_rounds < nr_rounds)
		rc = measure_round(&of, work->nr_rounds++, &is_over, err);
	progress_end();
	gather(&of);
	configuration_pop(rot->configuration);
	pool_clear(&of.of_points);
	return rc;
}
