/* SPDX-License-Identifier: MIT */
#include "quantities/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/messages.h"
#include "base/paths.h"
#include "engine/core_launch.h"
#include "engine/kernel_work.h"
#include "engine/measuring.h"
#include "machine/measured.h"
#include "memory.h"
#include "quantities/compute.h"
#include "quantities/expected.h"
#include "quantities/invariants.h"
#include "quantities/pass.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- warnings that steps are refused ---- */

/* The kernel of the first workload that is no load. */
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

/* The value of the key. */
static const char *
counting_key(const struct architecture *architecture)
{
	return architecture->stepping.is_unasked ? "auto" : "steps";
}

/* The obstacle is said now, or need not be: true if it was before. */
static bool
note_said(struct architecture *architecture, enum step_obstacle obstacle)
{
	const unsigned bit = 1U << obstacle;
	const bool was_said = architecture->warned_steps & bit;

	architecture->warned_steps |= bit;
	return was_said;
}

/*
 * Why numbers come from the kernels' definitions although steps were asked for. Where nobody did, what stands below the
 * table is enough. steps: instructions that a run is expected to execute.
 */
static void
warn_of_obstacle(struct architecture *architecture, const struct measurement *measurement, enum step_obstacle obstacle,
		 double steps)
{
	autofree char *expected = NULL;

	if (obstacle == STEPS_CAN || architecture->stepping.is_unasked || note_said(architecture, obstacle))
		return;
	expected = obstacle == STEPS_TOO_MANY
			   ? rot_format(" (some %.2g of %g)", steps, (double)architecture->stepping.limit)
			   : rot_strdup("");
	rot_warning("counting=%s: kernel '%s': %s%s; what is not counted comes from the kernels' definitions and is "
		    "labelled \"expected\"\n     %s",
		    counting_key(architecture), first_kernel_name(measurement), step_obstacle_text(obstacle), expected,
		    step_obstacle_hint(obstacle));
}

/* ---- warnings that events are not counted ---- */

/*
 * Says once on a machine that it has no counters: a file in the cache folder remembers it. 'rot doctor' always says it.
 */
static void
note_no_counters(const struct rot *rot)
{
	autofree char *machine = machine_file_name(rot->machine),
		      *path = rot_format("%s/told-no-counters-%s", rot->paths->cache, machine);
	int fd;

	if (messages_are_quiet())
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
	else if (errno == EEXIST)
		return;
	rot_note("no hardware counters: code is counted block by block (said once; 'rot doctor' tells more)");
}

/* Why numbers come from the kernels' definitions, or from steps, although events were asked for. */
static void
warn_of_expectations(const struct measuring_job *job)
{
	struct architecture *architecture = job->architecture;
	const struct quantity_resolution *resolutions = job->resolutions;
	const struct rot_error *refusal = NULL;
	bool is_used = false;
	autofree char *advice = NULL;

	for (size_t i = 0; i < job->nr_requests; i++) {
		const struct quantity_part *const parts[] = {&resolutions[i].numerator, &resolutions[i].denominator};

		for (size_t k = 0; k < 2; k++) {
			is_used |= (parts[k]->kind && strcmp(parts[k]->kind, "expected") == 0) ||
				   (architecture->stepping.is_unasked && parts[k]->formula);
			if (architecture->is_forbidden && parts[k]->refusal)
				refusal = parts[k]->refusal;
		}
	}
	if (!is_used || architecture->has_warned ||
	    (!architecture->why_not.text[0] && !refusal && !architecture_is_generic(architecture)))
		return;
	architecture->has_warned = true;
	if (!architecture->why_not.text[0] && refusal) {
		rot_warning("%s; bytes at the memory come from the kernels' definitions and are labelled "
			    "\"expected\"\n     %s",
			    refusal->text, refusal->hint);
		return;
	}
	if (!architecture->why_not.text[0]) {
		rot_note("no file describes this processor: generic events of the kernel are counted, and what they do "
			 "not tell comes from the kernels' definitions and is labelled \"expected\"\n     %s",
			 STEPS_ADVICE_BESIDE_EVENTS);
		return;
	}
	if (architecture->stepping.is_unasked) {
		note_no_counters(job->rot);
		return;
	}
	advice = architecture_advice(architecture, true);
	rot_warning("%s; what cannot be counted comes from the kernels' definitions and is labelled \"expected\"%s%s",
		    architecture->why_not.text, advice[0] ? "\n     " : "", advice);
}

/* ---- clearing ---- */

static void
clear_results(struct measuring_job *job)
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

void
job_clear_passes(struct measuring_job *job)
{
	clear_results(job);
	for (size_t i = 0; job->passes && i < job->plan.nr_passes; i++)
		rot_graph_delete(job->passes[i]);
	free(job->passes);
	job->passes = NULL;
}

void
job_clear(struct measuring_job *job)
{
	job_clear_passes(job);
	pass_plan_clear(&job->plan);
	free(job->resolutions);
	job->resolutions = NULL;
}

/* ---- resolutions ---- */

static int
resolve_request(struct measuring_job *job, struct quantity_request request, enum step_obstacle obstacle,
		struct quantity_resolution *resolution, struct rot_error *err)
{
	const char *clock = configuration_string(job->rot->configuration, "clock");
	struct quantity_expectation expectation;

	if (quantity_request_check(&request, err) < 0 ||
	    expectation_of(job->rot, job->measurement, &request, &expectation, err) < 0)
		return -1;
	expectation.obstacle = obstacle;
	if (quantity_resolve(resolution, job->architecture, &request, clock, &expectation, err) < 0)
		return -1;
	resolution->kept_taints = job->keeps_disturbed ? TAINTS_OF_SYSTEM : 0;
	return 0;
}

static bool
is_known_only(const struct quantity_resolution *resolution)
{
	return strcmp(quantity_resolution_kind(resolution), "expected") == 0;
}

bool
job_leaves(struct rot *rot, struct architecture *beside, const struct measurement *measurement,
	   const struct quantity_request *request)
{
	struct measuring_job job = {.rot = rot, .architecture = rot->architecture, .measurement = measurement};
	const struct quantity_kind *kind = quantity_kind_find(request->name);
	struct architecture *of_events = rot->architecture;
	const struct rot_error *refusal = NULL;
	struct quantity_resolution resolution;
	enum step_obstacle obstacle;
	double nr_steps;

	if (!kind || kind->takes[WORD_CLOCK] ||
	    (resolve_request(&job, *request, STEPS_CAN, &resolution, NULL) == 0 && !is_known_only(&resolution)))
		return false;
	job.architecture = beside;
	if (step_obstacle_of_work(rot, beside, measurement, &obstacle, &nr_steps, NULL) < 0 || obstacle != STEPS_CAN ||
	    resolve_request(&job, *request, STEPS_CAN, &resolution, NULL) < 0 || is_known_only(&resolution))
		return false;
	if (request->border)
		refusal = architecture_refusal(of_events, "transferredBytes", request->border);
	if (refusal && of_events->is_forbidden && !of_events->has_warned) {
		of_events->has_warned = true;
		rot_warning("%s; bytes at the memory are counted by blocks, with modelled caches\n     %s",
			    refusal->text, refusal->hint);
	}
	return true;
}

static int
resolve(struct measuring_job *job, struct rot_error *err)
{
	enum step_obstacle obstacle;

	if (step_obstacle_of_work(job->rot, job->architecture, job->measurement, &obstacle, &job->nr_steps, err) < 0)
		return -1;
	if (obstacle == STEPS_CAN)
		obstacle = job->met;
	job->resolutions = rot_calloc(job->nr_requests, sizeof(*job->resolutions));
	for (size_t i = 0; i < job->nr_requests; i++) {
		struct quantity_resolution *resolution = &job->resolutions[i];

		if (resolve_request(job, job->requests[i], obstacle, resolution, err) < 0)
			return -1;
		warn_of_obstacle(job->architecture, job->measurement, resolution->numerator.obstacle, job->nr_steps);
		warn_of_obstacle(job->architecture, job->measurement, resolution->denominator.obstacle, job->nr_steps);
	}
	warn_of_expectations(job);
	return 0;
}

/* ---- plan ---- */

/* The wishes of all parts to the planner. any: whatever pass there is. */
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

void
job_describe(struct measuring_job *job, const struct measurement *measurement)
{
	job->passes = rot_calloc(job->plan.nr_passes, sizeof(*job->passes));
	for (size_t i = 0; i < job->plan.nr_passes; i++)
		job->passes[i] = pass_measurement(measurement, job->architecture, &job->plan.passes[i]);
}

int
job_prepare(struct measuring_job *job, struct rot_error *err)
{
	struct needs needs = {.nr_formulas = 0};
	bool with_clock;
	int rc;

	if (resolve(job, err) < 0)
		return -1;
	needs.formulas = rot_calloc(2 * job->nr_requests, sizeof(*needs.formulas));
	for (size_t i = 0; i < job->nr_requests; i++) {
		const struct quantity_resolution *resolution = &job->resolutions[i];

		collect_part(&resolution->numerator, &needs);
		if (resolution->has_denominator)
			collect_part(&resolution->denominator, &needs);
	}
	/* Nothing but the counts is known of passes that are stepped. */
	with_clock = needs.clock || (needs.any && (needs.nr_formulas == 0 || job->architecture->counts_by_steps));
	rc = pass_plan_make(&job->plan, job->architecture, needs.formulas, needs.nr_formulas, with_clock, err);
	free(needs.formulas);
	if (rc < 0)
		return -1;
	if (needs.probe)
		pass_plan_probe_clock(&job->plan);
	job_describe(job, job->measurement);
	return 0;
}

/* ---- what was cut ---- */

static int
check_cuts(struct measuring_job *job, struct measurement_result *const *results, size_t nr, struct rot_error *err)
{
	const struct step_measurer_output *cut = NULL;

	for (size_t i = 0; i < nr && !cut; i++)
		cut = measuring_find_cut(results[i]);
	if (!cut)
		return 0;
	job->met = strcmp(cut->cut, "memory") == 0 ? STEPS_CUT_MEMORY : STEPS_REFUSED;
	rot_error_set(err, 0, "a region that was to be counted by blocks %s", cut->cut_text);
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

/*
 * nr passes that are stepped, as measuring_perform. Error: one was cut, and job->met says why. One run first: if
 * that is cut after minutes, so are others; and of what is long one is enough. What was cut is known in the cache,
 * unless the reason may be gone.
 */
static int
measure_stepped(struct measuring_job *job, struct measurement *const *passes, size_t nr, int nr_runs, int nr_starts,
		struct measurement_result **results, struct rot_error *err)
{
	for (int now = 1;; now = nr_runs) {
		bool are_long = true;

		if (measuring_perform(job->rot, passes, nr, now, nr_starts, results, err) < 0)
			return -1;
		if (check_cuts(job, results, nr, err) < 0) {
			delete_results(results, nr);
			return -1;
		}
		for (size_t i = 0; i < nr; i++)
			are_long = are_long && measuring_has_long_counts(results[i]);
		if (now == nr_runs || are_long)
			return 0;
		delete_results(results, nr);
	}
}

/* ---- results and samples ---- */

/*
 * The passes that are stepped, or the others; results of the others stay as they are. Apart, since they are run less
 * often, and what takes so long would be between the runs of others.
 */
static int
measure_passes(struct measuring_job *job, bool are_stepped, int nr_runs, int nr_starts,
	       struct measurement_result **results, struct rot_error *err)
{
	const size_t nr_passes = job->plan.nr_passes;
	autofree struct measurement **passes = rot_calloc(nr_passes + 1, sizeof(*passes));
	autofree struct measurement_result **measured = rot_calloc(nr_passes + 1, sizeof(*measured));
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
		rc = measuring_perform(job->rot, passes, nr, nr_runs, nr_starts, measured, err);
	nr = 0;
	for (size_t i = 0; rc == 0 && i < nr_passes; i++)
		if (job->plan.passes[i].is_stepped == are_stepped)
			results[i] = measured[nr++];
	return rc;
}

int
job_measure(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	const size_t nr = job->plan.nr_passes;
	struct measurement_result **results = rot_calloc(nr, sizeof(*results));

	if (measure_passes(job, false, nr_runs, nr_starts, results, err) < 0 ||
	    measure_passes(job, true, nr_runs, nr_starts, results, err) < 0) {
		for (size_t i = 0; i < nr; i++)
			rot_graph_delete(results[i]);
		free(results);
		return -1;
	}
	clear_results(job);
	job->results = results;
	job->samples = rot_calloc(nr, sizeof(*job->samples));
	for (size_t i = 0; i < nr; i++)
		if (pass_samples_read(&job->samples[i], job->architecture, &job->plan.passes[i], job->passes[i],
				      job->results[i], err) < 0)
			return -1;
	return 0;
}

/* ---- by other ways ---- */

/*
 * Measuring failed because the core does not step this work, or anything. That it takes too long is an error where
 * somebody asked for steps.
 */
static bool
is_refused(struct measuring_job *job)
{
	if (!job->is_stepping || rot_interrupted() || measuring_has_stopped(job->rot))
		return false;
	if (job->met == STEPS_CAN && core_launch_was_refused()) {
		job->architecture->cannot_step = true;
		job->met = STEPS_REFUSED;
	}
	if (job->met == STEPS_CAN && job->architecture->stepping.is_unasked && core_launch_was_late())
		job->met = STEPS_LATE;
	return job->met != STEPS_CAN;
}

/*
 * Where steps were refused, as *err says, what is expected; if nothing is, that is the error. What the core said is
 * told of the first measurement that met the same.
 */
int
job_begin(struct measuring_job *job, int nr_runs, int nr_starts, struct rot_error *err)
{
	struct rot_error why = {0};
	bool was_said;

	if (job_prepare(job, err) == 0 && job_measure(job, nr_runs, nr_starts, err) == 0)
		return 0;
	if (!is_refused(job))
		return -1;
	was_said = note_said(job->architecture, job->met);
	job_clear(job);
	if (job_prepare(job, &why) < 0 || job_measure(job, nr_runs, nr_starts, &why) < 0) {
		if (!was_said)
			job->architecture->warned_steps &= ~(1U << job->met);
		return -1;
	}
	if (!was_said)
		(job->architecture->stepping.is_unasked ? rot_note : rot_warning)(
			"counting=%s: kernel '%s': %s; what is not counted comes from the kernels' definitions "
			"and is labelled \"expected\"\n     %s",
			counting_key(job->architecture), first_kernel_name(job->measurement), err->text, err->hint);
	*err = (struct rot_error){0};
	return 0;
}

/* ---- values ---- */

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

static int
compute_values(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const bool use_minimum = strcmp(configuration_string(job->rot->configuration, "estimator"), "min") == 0;

	const bool has_nearness = job->plan.nr_passes && has_ping_pong(job->passes[0]);

	for (size_t i = 0; i < job->nr_requests; i++) {
		struct quantity_value *value = &values[i];

		if (quantity_compute(value, &job->resolutions[i], job->architecture, &job->plan, job->samples,
				     use_minimum, err) < 0)
			return -1;
		if (has_nearness)
			value->nearness = rot_calloc(value->nr_samples, sizeof(*value->nearness));
		for (size_t k = 0; has_nearness && k < job->plan.nr_passes; k++)
			for (size_t run = 0; run < value->nr_samples && run < job->samples[k].nr_runs; run++)
				nearness_add(&value->nearness[run], &job->samples[k].runs[run].nearness);
	}
	return 0;
}

/* Computes again without the runs that break a rule. */
static int
leave_out_broken(const struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const size_t nr_runs = job->plan.nr_passes ? job->samples[0].nr_runs : 0;
	autofree bool *broken = rot_calloc(nr_runs + 1, sizeof(*broken));
	int rc = 0;

	if (invariants_check_runs(values, job->nr_requests, broken, nr_runs) > 0) {
		/* Leaves out all passes of these runs. */
		for (size_t i = 0; i < job->plan.nr_passes; i++)
			for (size_t k = 0; k < nr_runs && k < job->samples[i].nr_runs; k++)
				if (broken[k])
					job->samples[i].runs[k].taints |= TAINT_BROKEN_RULE;
		quantity_values_clear(values, job->nr_requests);
		rc = compute_values(job, values, err);
		invariants_check_runs(values, rc == 0 ? job->nr_requests : 0, NULL, nr_runs);
	}
	return rc;
}

/* Threads of kernels' own may wait in loops: their instructions are not the same in each run. */
int
job_compute(struct measuring_job *job, struct quantity_value *values, struct rot_error *err)
{
	const bool are_threads = measurement_has_own_threads(job->measurement);
	const size_t nr_off = are_threads ? 0 : invariants_taint_passes(job->architecture, &job->plan, job->samples);

	if (compute_values(job, values, err) < 0 || leave_out_broken(job, values, err) < 0)
		return -1;
	invariants_note_passes(values, job->nr_requests, nr_off);
	invariants_check_steps(values, job->nr_requests, job->architecture, &job->plan, job->samples, are_threads);
	invariants_check_bytes(values, job->nr_requests);
	return invariants_check_passes(values, job->nr_requests, job->architecture, &job->plan, job->samples, err);
}
