/* SPDX-License-Identifier: MIT */
/* Requests in, values out: resolve, plan, measure, compute. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "measuring/kernel_rows.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "quantities/compute.h"
#include "quantities/effort.h"
#include "quantities/expected.h"
#include "quantities/invariants.h"
#include "quantities/own_cost.h"
#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "quantities/resolve.h"
#include "quantities/samples.h"
#include "quantities/set_outputs.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- what the kernels expect ---- */

static int
expect(struct rot *rot, const struct measurement *measurement, const struct quantity_request *request,
       struct quantity_expectation *expectation, struct rot_error *err)
{
	const struct action_base *action = measured_action(measurement);

	*expectation = (struct quantity_expectation){.can_probe_clock = true};
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (workload_is_load(workload))
			continue;
		expectation->is_cold_only |= workload->kernel->warm_data;
		expectation->can_probe_clock &= workload->kernel->num_threads <= 1;
	}
	if (action) {
		expectation->is_of_action = true;
		expectation->operations = expectation->bytes = NAN;
		if (!rot_is_a(action, &flush_kernel_buffers_action_class))
			return 0;
		return expected_held_back_of(rot, measurement, request->border, &expectation->bytes, err);
	}
	if (expected_operations_of(rot, measurement, request->operation, &expectation->operations, err) < 0)
		return -1;
	if (expected_bytes_of(rot, measurement, request->border, &expectation->bytes, err) < 0)
		return -1;
	return compulsory_bytes_of(rot, measurement, request->border, &expectation->compulsory, err);
}

/* ---- steps ---- */

/* *steps: instructions that are expected to be executed; 0: nobody knows. */
static int
find_step_obstacle(struct rot *rot, const struct architecture *architecture, const struct measurement *measurement,
		   enum step_obstacle *obstacle, double *steps, struct rot_error *err)
{
	*obstacle = STEPS_CAN;
	*steps = 0;
	if (!architecture->counts_by_steps)
		return 0;
	if (measurement_has_own_threads(measurement))
		*obstacle = STEPS_OF_OTHERS;
	else if (!measured_action(measurement) && expected_steps_of(rot, measurement, steps, err) < 0)
		return -1;
	else if (architecture->cannot_step)
		*obstacle = STEPS_REFUSED;
	else
		*obstacle = step_obstacle_of_length(&architecture->stepping, *steps);
	return 0;
}

/* Of the first workload that is no load. */
static const char *
first_kernel_name(const struct measurement *measurement)
{
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (!workload_is_load(workload))
			return kernel_class_name(workload->kernel);
	}
	return "";
}

/*
 * Each obstacle once: why numbers come from the kernels' definitions although steps were asked for. Where nobody did,
 * what stands below the table is enough.
 */
static void
warn_of_obstacle(struct architecture *architecture, const struct measurement *measurement, enum step_obstacle obstacle,
		 double steps)
{
	char *expected;

	if (obstacle == STEPS_CAN || architecture->stepping.is_unasked || (architecture->warned_steps & 1U << obstacle))
		return;
	architecture->warned_steps |= 1U << obstacle;
	expected = obstacle == STEPS_TOO_MANY
			   ? rot_format(" (some %.2g of %g)", steps, (double)architecture->stepping.limit)
			   : rot_strdup("");
	rot_warning("counting=steps: kernel '%s': %s%s; what is not counted comes from the kernels' definitions and is "
		    "labelled \"expected\"\n     %s",
		    first_kernel_name(measurement), step_obstacle_text(obstacle), expected,
		    step_obstacle_hint(obstacle));
	free(expected);
}

/* ---- one call of quantities_measure ---- */

struct measuring_job {
	struct rot *rot;
	struct architecture *architecture; /* that counts: borrowed of rot */
	struct quantity_resolution *resolutions;
	size_t nr_requests;
	bool keeps_disturbed;
	bool has_own_threads;   /* kernels have threads of their own */
	bool is_stepping;       /* what was measured last, or failed */
	bool is_long;           /* it is known to be too long for the short limits of steps */
	enum step_obstacle met; /* by the core, when it stepped this work; STEPS_CAN: none */
	double nr_steps; /* instructions that a run is expected to execute, where they are stepped; 0: nobody knows */
	struct pass_plan plan;
	struct measurement **passes; /* one per pass of the plan */
	struct measurement_result **results;
	struct pass_samples *samples;
};

static void
results_clear(struct measuring_job *job)
{
	for (size_t i = 0; i < job->plan.nr_passes; i++) {
		if (job->results)
			rot_graph_delete(job->results[i]);
		if (job->samples)
			pass_samples_clear(&job->samples[i]);
	}
	free(job->results);
	free(job->samples);
	job->results = NULL;
	job->samples = NULL;
}

static void
passes_clear(struct measuring_job *job)
{
	for (size_t i = 0; job->passes && i < job->plan.nr_passes; i++)
		rot_graph_delete(job->passes[i]);
	free(job->passes);
}

static void
job_clear(struct measuring_job *job)
{
	results_clear(job);
	passes_clear(job);
	free(job->resolutions);
	pass_plan_clear(&job->plan);
}

static bool
is_expected(const struct quantity_part *part)
{
	return part->kind && strcmp(part->kind, "expected") == 0;
}

/* Where nobody asked for steps. */
static bool
is_counted_unasked(const struct architecture *architecture, const struct quantity_part *part)
{
	return architecture->stepping.is_unasked && part->formula;
}

static bool
needs_word(const struct architecture *architecture, const struct quantity_part *part)
{
	return is_expected(part) || is_counted_unasked(architecture, part);
}

/* Once: why numbers come from the kernels' definitions, or from steps, although events were asked for. */
static void
warn_of_expectations(struct measuring_job *job)
{
	struct architecture *architecture = job->architecture;
	bool is_used = false;
	char *advice;

	for (size_t i = 0; i < job->nr_requests; i++)
		is_used |= needs_word(architecture, &job->resolutions[i].numerator) ||
			   needs_word(architecture, &job->resolutions[i].denominator);
	if (!is_used || architecture->has_warned || !architecture->why_not.text[0])
		return;
	architecture->has_warned = true;
	if (architecture->stepping.is_unasked) {
		rot_note("%s; operations and bytes of small kernels are counted by steps through their code instead, "
			 "those of others are \"expected\" (-counting=steps goes further, -counting=expected without)",
			 architecture->why_not.text);
		return;
	}
	advice = architecture_advice(architecture, true);
	rot_warning("%s; what cannot be counted comes from the kernels' definitions and is labelled \"expected\"%s%s",
		    architecture->why_not.text, advice[0] ? "\n     " : "", advice);
	free(advice);
}

static int
job_resolve(struct measuring_job *job, const struct measurement *measurement, const struct quantity_request *requests,
	    struct rot_error *err)
{
	const char *clock = configuration_string(job->rot->configuration, "clock");
	enum step_obstacle obstacle;

	if (find_step_obstacle(job->rot, job->architecture, measurement, &obstacle, &job->nr_steps, err) < 0)
		return -1;
	if (obstacle == STEPS_CAN)
		obstacle = job->met;
	job->resolutions = rot_calloc(job->nr_requests, sizeof(*job->resolutions));
	for (size_t i = 0; i < job->nr_requests; i++) {
		struct quantity_request request = requests[i];
		struct quantity_expectation expectation;

		if (quantity_request_check(&request, err) < 0 ||
		    expect(job->rot, measurement, &request, &expectation, err) < 0)
			return -1;
		expectation.obstacle = obstacle;
		if (quantity_resolve(&job->resolutions[i], job->architecture, &request, clock, &expectation, err) < 0)
			return -1;
		job->resolutions[i].kept_taints = job->keeps_disturbed ? TAINTS_OF_SYSTEM : 0;
		warn_of_obstacle(job->architecture, measurement, job->resolutions[i].numerator.obstacle, job->nr_steps);
		warn_of_obstacle(job->architecture, measurement, job->resolutions[i].denominator.obstacle,
				 job->nr_steps);
	}
	warn_of_expectations(job);
	return 0;
}

/* What the parts ask of the planner. any: whatever pass there is. */
struct needs {
	const struct architecture_formula **formulas;
	size_t nr_formulas;
	bool clock, probe, any;
};

static void
collect_part(const struct quantity_part *part, struct needs *needs)
{
	if (part->source == PART_COUNTED)
		needs->formulas[needs->nr_formulas++] = part->formula;
	needs->probe |= part->source == PART_PROBED;
	needs->clock |= part->source == PART_TSC || part->source == PART_WALL || part->source == PART_PROBED;
	needs->any |= part->source == PART_SWITCHES || part->source == PART_MOVES;
}

static bool
job_is_short(const struct measuring_job *job)
{
	return !job->is_long && step_length_is_short(&job->architecture->stepping, job->nr_steps);
}

/* Of passes that are stepped nothing but the counts is known. */
static int
job_plan(struct measuring_job *job, struct rot_error *err)
{
	struct needs needs = {.formulas = rot_calloc(2 * job->nr_requests, sizeof(*needs.formulas))};
	const bool are_stepped = job->architecture->counts_by_steps;
	int rc;

	for (size_t i = 0; i < job->nr_requests; i++) {
		const struct quantity_resolution *resolution = &job->resolutions[i];

		collect_part(&resolution->numerator, &needs);
		if (resolution->has_denominator)
			collect_part(&resolution->denominator, &needs);
	}
	rc = pass_plan_make(&job->plan, job->architecture, needs.formulas, needs.nr_formulas,
			    needs.clock || (needs.any && (needs.nr_formulas == 0 || are_stepped)), err);
	if (rc == 0 && needs.probe)
		pass_plan_probe_clock(&job->plan);
	for (size_t i = 0; rc == 0 && i < job->plan.nr_passes; i++)
		job->plan.passes[i].is_short = job->plan.passes[i].is_stepped && job_is_short(job);
	free(needs.formulas);
	return rc;
}

static void
job_describe(struct measuring_job *job, const struct measurement *measurement)
{
	job->has_own_threads = measurement_has_own_threads(measurement);
	job->passes = rot_calloc(job->plan.nr_passes, sizeof(*job->passes));
	for (size_t i = 0; i < job->plan.nr_passes; i++)
		job->passes[i] = pass_measurement(measurement, job->architecture, &job->plan.passes[i]);
}

/* What of the work was stepped, and cut, is no result: *err says why. */
static int
check_cuts(struct measuring_job *job, struct measurement_result *const *results, size_t nr, struct rot_error *err)
{
	const struct step_measurer_output *cut = NULL;

	for (size_t i = 0; i < nr && !cut; i++)
		cut = measuring_find_cut(results[i]);
	if (!cut)
		return 0;
	job->met = step_obstacle_of_cut(cut->cut);
	if (job->met == STEPS_CUT_LIMIT && job->architecture->stepping.is_unasked)
		job->met = STEPS_UNASKED_CUT;
	rot_error_set(err, 0, "a region that was to be counted by steps %s", cut->cut_text);
	return rot_error_hint(err, "%s; or do without (-counting=expected)", step_obstacle_hint(job->met));
}

static void
delete_results(struct measurement_result **results, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		rot_graph_delete(results[i]);
		results[i] = NULL;
	}
}

/* One run first: if that is cut after minutes, so are others. What was cut stays in the cache, so it is known there. */
static int
measure_stepped(struct measuring_job *job, struct measurement *const *passes, size_t nr, int nr_runs, int nr_starts,
		struct measurement_result **results, struct rot_error *err)
{
	for (int now = 1;; now = nr_runs) {
		if (measuring_perform_spread(job->rot, passes, nr, now, nr_starts, results, err) < 0)
			return -1;
		if (check_cuts(job, results, nr, err) < 0) {
			delete_results(results, nr);
			return -1;
		}
		if (now == nr_runs)
			return 0;
		delete_results(results, nr);
	}
}

/*
 * The passes that are stepped, or the others; results of the others stay as they are. Apart, since they are run less
 * often, and what takes so long would be between the runs of others.
 */
static int
measure_passes(struct measuring_job *job, bool are_stepped, int nr_runs, int nr_starts,
	       struct measurement_result **results, struct rot_error *err)
{
	const size_t nr_passes = job->plan.nr_passes;
	struct measurement **passes = rot_calloc(nr_passes + 1, sizeof(*passes));
	struct measurement_result **measured = rot_calloc(nr_passes + 1, sizeof(*measured));
	size_t nr = 0;
	int rc = 0;

	for (size_t i = 0; i < nr_passes; i++) {
		if (job->plan.passes[i].is_stepped != are_stepped)
			continue;
		nr_runs = pass_runs(&job->plan.passes[i], nr_runs);
		passes[nr++] = job->passes[i];
	}
	job->is_stepping = are_stepped;
	if (nr && are_stepped)
		rc = measure_stepped(job, passes, nr, nr_runs, nr_starts, measured, err);
	else if (nr)
		rc = measuring_perform_spread(job->rot, passes, nr, nr_runs, nr_starts, measured, err);
	nr = 0;
	for (size_t i = 0; rc == 0 && i < nr_passes; i++)
		if (job->plan.passes[i].is_stepped == are_stepped)
			results[i] = measured[nr++];
	free(passes);
	free(measured);
	return rc;
}

/* The results there are stay if this fails before there are others. */
static int
job_measure(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	const size_t nr = job->plan.nr_passes;
	struct measurement_result **results = rot_calloc(nr, sizeof(*results));

	if (measure_passes(job, false, nr_runs, nr_starts, results, err) < 0 ||
	    measure_passes(job, true, nr_runs, nr_starts, results, err) < 0) {
		delete_results(results, nr);
		free(results);
		return -1;
	}
	results_clear(job);
	job->results = results;
	job->samples = rot_calloc(nr, sizeof(*job->samples));
	for (size_t i = 0; i < nr; i++) {
		if (pass_samples_read(&job->samples[i], job->architecture, &job->plan.passes[i], job->passes[i],
				      job->results[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Over all passes of each sample that are run as often. */
static void
add_nearness(const struct measuring_job *job, struct quantity_value *value)
{
	value->nearness = rot_calloc(value->nr_samples, sizeof(*value->nearness));
	for (size_t i = 0; i < value->nr_samples; i++)
		for (size_t k = 0; k < job->plan.nr_passes; k++)
			if (i < job->samples[k].nr_runs)
				nearness_add(&value->nearness[i], &job->samples[k].runs[i].nearness);
}

static bool
has_ping_pong(const struct measurement *measurement)
{
	const struct measurer_set *set = measurement->overall_measurer_set;

	if (!set)
		return false;
	for (size_t i = 0; i < measurer_set_nr_additional_measurers(set); i++)
		if (rot_is_a(measurer_set_additional_measurers_at(set, i), &ping_pong_measurer_class))
			return true;
	return set->main_measurer && rot_is_a(set->main_measurer, &ping_pong_measurer_class);
}

static void
values_clear(struct quantity_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		quantity_value_clear(&values[i]);
}

static int
compute_values(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const bool use_minimum = strcmp(configuration_string(job->rot->configuration, "estimator"), "min") == 0;

	for (size_t i = 0; i < job->nr_requests; i++) {
		if (quantity_compute(&values[i], &job->resolutions[i], job->architecture, &job->plan, job->samples,
				     use_minimum, err) < 0)
			return -1;
		if (job->plan.nr_passes && has_ping_pong(job->passes[0]))
			add_nearness(job, &values[i]);
	}
	return 0;
}

/* Leaves out all passes of these runs. */
static void
taint_runs(const struct measuring_job *job, const bool *broken, size_t nr_runs)
{
	for (size_t i = 0; i < job->plan.nr_passes; i++)
		for (size_t k = 0; k < nr_runs && k < job->samples[i].nr_runs; k++)
			if (broken[k])
				job->samples[i].runs[k].taints |= TAINT_BROKEN_RULE;
}

/* Computes again without the runs that break a rule. */
static int
leave_out_broken(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const size_t nr_runs = job->plan.nr_passes ? job->samples[0].nr_runs : 0;
	bool *broken = rot_calloc(nr_runs + 1, sizeof(*broken));
	int rc = 0;

	if (invariants_check_runs(values, job->nr_requests, broken, nr_runs) > 0) {
		taint_runs(job, broken, nr_runs);
		values_clear(values, job->nr_requests);
		rc = compute_values(job, values, err);
		invariants_check_runs(values, rc == 0 ? job->nr_requests : 0, NULL, nr_runs);
	}
	free(broken);
	return rc;
}

/* Threads of kernels' own may wait in loops: their instructions are not the same in each run. */
static int
job_compute(struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const size_t nr_off =
		job->has_own_threads ? 0 : invariants_taint_passes(job->architecture, &job->plan, job->samples);

	if (compute_values(job, values, err) < 0 || leave_out_broken(job, values, err) < 0)
		return -1;
	invariants_note_passes(values, job->nr_requests, nr_off);
	invariants_check_steps(values, job->nr_requests, job->architecture, &job->plan, job->samples);
	invariants_check_bytes(values, job->nr_requests);
	return invariants_check_passes(values, job->nr_requests, job->architecture, &job->plan, job->samples, err);
}

static char **
job_hashes(struct measuring_job *job)
{
	char **hashes = rot_calloc(job->plan.nr_passes + 1, sizeof(*hashes));

	for (size_t i = 0; i < job->plan.nr_passes; i++)
		hashes[i] = rot_strdup(job->results[i]->description_hash);
	return hashes;
}

/* Where an action is what is measured, its set is that of the pass. */
static json_t *
job_rules(const struct measuring_job *job, const struct measurement *measurement)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < job->plan.nr_passes && !measured_action(measurement); i++)
		rule_outputs_add(rules, job->passes[i], measurement_nr_rules(measurement), job->results[i], i);
	if (json_array_size(rules) > 0)
		return rules;
	json_decref(rules);
	return NULL;
}

/* What all runs took, in seconds: of the results, so that cached ones lead to the same decisions. */
static double
job_spent_s(const struct measuring_job *job)
{
	double ns = 0;

	for (size_t i = 0; i < job->plan.nr_passes; i++)
		for (size_t k = 0; k < job->samples[i].nr_runs; k++)
			ns += job->samples[i].runs[k].wall_ns;
	return ns * 1e-9;
}

/* More runs, as long as the effort wants some. */
static int
job_add_runs(struct measuring_job *job, struct effort_course *course, struct quantity_value *values,
	     struct rot_error *err)
{
	int nr_runs = course->target, next;

	while (job->plan.nr_passes &&
	       (next = effort_next(course, values, job->nr_requests, nr_runs, job_spent_s(job))) > 0) {
		struct measurement_result **before = job->results;

		if (job_measure(job, next, course->effort->nr_starts, err) < 0) {
			if (job->results == before && (rot_interrupted() || job->rot->is_cached_only))
				return 0;
			return -1;
		}
		nr_runs = next;
		values_clear(values, job->nr_requests);
		if (job_compute(job, values, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * The same passes of an empty region. Its costs stay unknown if it is interrupted, or impossible with
 * rot->is_cached_only: what was measured of the point is worth keeping.
 */
static int
job_add_own_cost(const struct measuring_job *job, const struct measurement *measurement, struct quantity_value *values,
		 struct rot_error *err)
{
	struct measuring_job empty = {
		.rot = job->rot, .architecture = job->architecture, .plan = job->plan}; /* the plan is borrowed */
	struct measurement *nothing = job->plan.nr_passes ? own_cost_measurement(job->rot, measurement) : NULL;
	int rc = 0;

	if (!nothing)
		return 0;
	job_describe(&empty, nothing);
	if (job_measure(&empty, OWN_COST_RUNS, 1, err) < 0)
		rc = rot_interrupted() || job->rot->is_cached_only ? 0 : rot_error_prefix(err, "an empty region");
	for (size_t i = 0; rc == 0 && empty.results && i < job->nr_requests; i++)
		rc = own_cost_compute(&values[i], &job->resolutions[i], job->architecture, &job->plan, job->samples,
				      empty.samples, err);
	results_clear(&empty);
	passes_clear(&empty);
	rot_graph_delete(nothing);
	return rc;
}

static int
job_begin(struct measuring_job *job, const struct measurement *measurement, const struct quantity_request *requests,
	  int nr_runs, int nr_starts, struct rot_error *err)
{
	if (job_resolve(job, measurement, requests, err) < 0 || job_plan(job, err) < 0)
		return -1;
	job_describe(job, measurement);
	return job_measure(job, nr_runs, nr_starts, err);
}

/* job_begin failed because the core does not step this work, or anything. */
static bool
is_step_refused(struct measuring_job *job)
{
	if (!job->is_stepping || rot_interrupted())
		return false;
	if (job->met == STEPS_CAN && measuring_was_refused()) {
		job->architecture->cannot_step = true;
		job->met = STEPS_REFUSED;
	}
	return job->met != STEPS_CAN;
}

/* Nothing is planned, but what was found out is known. */
static void
job_reset(struct measuring_job *job)
{
	const struct measuring_job empty = {.rot = job->rot,
					    .architecture = job->architecture,
					    .nr_requests = job->nr_requests,
					    .keeps_disturbed = job->keeps_disturbed,
					    .is_long = job->is_long,
					    .met = job->met};

	job_clear(job);
	*job = empty;
}

/*
 * Once more, with what is expected where steps were refused, as *err says. If nothing is expected, that is the error.
 * What the core said is told of the first measurement that met the same.
 */
static int
job_begin_unstepped(struct measuring_job *job, const struct measurement *measurement,
		    const struct quantity_request *requests, int nr_runs, int nr_starts, struct rot_error *err)
{
	struct architecture *architecture = job->architecture;
	struct rot_error why = {0};
	const unsigned bit = 1U << job->met;
	const bool is_known = architecture->warned_steps & bit;

	architecture->warned_steps |= bit;
	job_reset(job);
	if (job_begin(job, measurement, requests, nr_runs, nr_starts, &why) < 0)
		return -1;
	if (!is_known)
		(architecture->stepping.is_unasked ? rot_note : rot_warning)(
			"counting by steps: kernel '%s': %s; what is not counted comes from the kernels' definitions "
			"and is labelled \"expected\"\n     %s",
			first_kernel_name(measurement), err->text, err->hint);
	*err = (struct rot_error){0};
	return 0;
}

/* Where the short limits of steps were not enough, and steps were asked for. */
static bool
job_lengthen(struct measuring_job *job)
{
	if (job->met != STEPS_CUT_LIMIT || !job_is_short(job))
		return false;
	job->is_long = true;
	job->met = STEPS_CAN;
	job_reset(job);
	return true;
}

/* After job_begin failed, by other ways of stepping or without. -1: as *err says. */
static int
job_begin_otherwise(struct measuring_job *job, const struct measurement *measurement,
		    const struct quantity_request *requests, int nr_runs, int nr_starts, struct rot_error *err)
{
	if (!is_step_refused(job))
		return -1;
	if (!job_lengthen(job))
		return job_begin_unstepped(job, measurement, requests, nr_runs, nr_starts, err);
	if (job_begin(job, measurement, requests, nr_runs, nr_starts, err) == 0)
		return 0;
	return is_step_refused(job) ? job_begin_unstepped(job, measurement, requests, nr_runs, nr_starts, err) : -1;
}

/* Who counts where nobody asked for steps, but they may be taken. */
static struct architecture *
architecture_of(const struct rot *rot, bool may_step)
{
	struct architecture *by_steps = rot->architecture->by_steps;

	return may_step && by_steps ? by_steps : rot->architecture;
}

int
quantities_measure_with(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
			size_t nr_requests, const struct quantity_effort *effort, struct quantity_value *values,
			char ***hashes, json_t **rules, struct rot_error *err)
{
	struct measuring_job job = {.rot = rot,
				    .architecture = architecture_of(rot, effort->may_step),
				    .nr_requests = nr_requests,
				    .keeps_disturbed = effort->keeps_disturbed};
	struct effort_course course;
	struct rot_error unseen = {0};
	int rc = -1;

	err = err ? err : &unseen;
	for (size_t i = 0; i < nr_requests; i++)
		values[i] = (struct quantity_value){.nr_samples = 0};
	effort_begin(&course, effort);
	if (job_begin(&job, measurement, requests, course.target, effort->nr_starts, err) < 0 &&
	    job_begin_otherwise(&job, measurement, requests, course.target, effort->nr_starts, err) < 0)
		goto out;
	rc = effort->only_measures ? 0 : -1;
	if (rc == 0 || job_compute(&job, values, err) < 0)
		goto out;
	if (effort->budget_s > 0 && job_add_runs(&job, &course, values, err) < 0)
		goto out;
	if (effort->wants_own_cost && job_add_own_cost(&job, measurement, values, err) < 0)
		goto out;
	for (size_t i = 0; i < nr_requests; i++)
		values[i].runs_end = course.end;
	if (hashes)
		*hashes = job_hashes(&job);
	if (rules)
		*rules = job_rules(&job, measurement);
	rc = 0;
out:
	if (rc < 0)
		values_clear(values, nr_requests);
	job_clear(&job);
	return rc;
}

int
quantities_measure(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		   size_t nr_requests, int nr_runs, struct quantity_value *values, char ***hashes,
		   struct rot_error *err)
{
	const struct quantity_effort effort = {.nr_runs = nr_runs};

	return quantities_measure_with(rot, measurement, requests, nr_requests, &effort, values, hashes, NULL, err);
}

/* *was_cut: what was stepped before was given up. */
static int
look(struct measuring_job *job, const struct measurement *measurement, const struct quantity_request *requests,
     int nr_runs, struct quantities_need *need, bool *was_cut, struct rot_error *err)
{
	int rc = job_resolve(job, measurement, requests, err);

	*need = (struct quantities_need){.nr_passes = 0};
	if (rc == 0)
		rc = job_plan(job, err);
	if (rc == 0)
		job_describe(job, measurement);
	for (size_t i = 0; rc == 0 && i < job->plan.nr_passes; i++) {
		struct measuring_look look;
		int nr_wanted, nr_missing;

		rc = measuring_look(job->rot, job->passes[i], &look, err);
		if (rc < 0)
			break;
		need->nr_passes++;
		nr_wanted = pass_runs(&job->plan.passes[i], nr_runs);
		nr_missing = look.nr_runs_cached < nr_wanted && !look.was_cut ? nr_wanted - look.nr_runs_cached : 0;
		need->nr_runs += nr_wanted;
		need->nr_runs_missing += nr_missing;
		if (job->plan.passes[i].is_stepped)
			need->nr_steps += nr_missing * job->nr_steps;
		if (!look.is_built)
			memcpy(need->core_key, look.core_key, sizeof(need->core_key));
		*was_cut |= look.was_cut;
	}
	return rc;
}

int
quantities_look(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		size_t nr_requests, int nr_runs, struct quantities_need *need, struct rot_error *err)
{
	struct measuring_job job = {.rot = rot, .architecture = architecture_of(rot, true), .nr_requests = nr_requests};
	bool was_cut = false;
	int rc = look(&job, measurement, requests, nr_runs, need, &was_cut, err);

	job.met = was_cut && !job.architecture->stepping.is_unasked ? STEPS_CUT_LIMIT : STEPS_CAN;
	if (rc == 0 && job_lengthen(&job))
		rc = look(&job, measurement, requests, nr_runs, need, &was_cut, err);
	job_clear(&job);
	return rc;
}
