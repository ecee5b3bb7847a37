/* SPDX-License-Identifier: MIT */
/* XML controllers whose points are planned, measured. */
#include "experiments/xml_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/progress.h"
#include "engine/kernel_work.h"
#include "engine/measuring.h"
#include "engine/order.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "planning/xml_plan.h"
#include "quantities/architecture.h"
#include "quantities/effort.h"
#include "roof/levels.h"
#include "rot.h"

/* ---- points ---- */

struct measuring_points {
	const struct xml_controller *controller;
	struct experiment *experiment;
	size_t at;      /* the point that is measured: those before it are finished */
	size_t failing; /* the one that fails if one does: that, or another one in a block */
	bool *is_over;  /* of each point: it is not measured, or not any more since it failed */

	size_t *in_blocks; /* points that are measured in blocks */
	size_t nr_in_blocks;
	int nr_blocks;
	int *nr_visits; /* of each point: the blocks of which it has the runs */
};

static struct experiment_position
position_of(const struct planned_point *planned)
{
	return (struct experiment_position){planned->series, planned->label, *planned->at};
}

static int
measure_point(const struct measuring_points *of, size_t i, struct rot_error *err)
{
	const struct planned_point *p = &of->controller->planned[i];
	const struct experiment_position position = position_of(p);

	if (p->program)
		return experiment_add_program(of->experiment, &position, p->program, p->requests, p->nr_requests,
					      p->nr_runs, p->max_passes, err);
	return experiment_add_point(of->experiment, &position, p->measurement, p->requests, p->nr_requests, p->nr_runs,
				    err);
}

/* ---- points that fail ---- */

/* The error of measuring a point, with the place of its element and where it is in the space. */
static int
failed_at(const struct planned_point *planned, struct rot_error *err)
{
	autofree char *place = point_text(planned->at);

	if (*place)
		rot_error_prefix(err, "at %s", place);
	return xml_error_at(planned->element, err);
}

/* Later points of the same element in its series are not measured. */
static void
end_series(struct measuring_points *of, size_t i)
{
	const struct planned_point *planned = of->controller->planned, *p = &planned[i];

	for (size_t k = i + 1; k < of->controller->nr_planned; k++)
		of->is_over[k] = of->is_over[k] ||
				 (planned[k].element == p->element && strcmp(planned[k].series, p->series) == 0);
}

/* After an error of this point: 0 if the others can be measured all the same, which is told. */
static int
leave_out(struct measuring_points *of, size_t i, struct rot_error *err)
{
	const struct planned_point *p = &of->controller->planned[i];
	const struct experiment_position position = position_of(p);

	if (err->scope != ROT_ERROR_OF_WORK || rot_interrupted() || of->controller->nr_planned == 1 ||
	    configuration_bool(of->controller->rot->configuration, "stopOnError"))
		return -1;
	experiment_add_failure(of->experiment, &position, err);
	failed_at(p, err);
	/* A reason is told once; all points that it concerns are listed at the end. */
	if (!experiment_last_failure_repeats(of->experiment))
		rot_warning("a point is left out: %s%s%s", err->text, err->hint[0] ? "\n     " : "", err->hint);
	of->is_over[i] = true;
	if (p->until[0]) /* nobody knows whether it would have ended it */
		end_series(of, i);
	return 0;
}

/* ---- in blocks ---- */

static int
nr_runs_after(const struct measuring_points *of, size_t i, int block)
{
	experiment_set_block(of->experiment, block, of->nr_blocks, true);
	return experiment_effort(of->experiment, of->controller->planned[i].nr_runs).nr_runs;
}

static int
visit(void *context, size_t k, int block, struct rot_error *err)
{
	struct measuring_points *of = context;
	const size_t i = of->in_blocks[k];

	progress_block(block, of->nr_blocks, of->nr_in_blocks);
	/* A point with fewer runs than there are blocks has none in some of them. */
	if (of->is_over[i] || !(nr_runs_after(of, i, block) > nr_runs_after(of, i, block - 1)))
		return 0;
	experiment_set_block(of->experiment, block, of->nr_blocks, true);
	of->failing = i;
	if (measure_point(of, i, err) < 0)
		return leave_out(of, i, err);
	of->nr_visits[i] = block;
	return 0;
}

/* Points behind one that may end its series are known only when that was measured. */
static void
choose_for_blocks(struct measuring_points *of)
{
	const int nr_starts = configuration_count(of->controller->rot->configuration, "starts");
	int most_runs = 0;

	of->nr_in_blocks = 0;
	for (size_t i = of->at; i < of->controller->nr_planned; i++) {
		const struct planned_point *p = &of->controller->planned[i];
		const struct quantity_effort effort = experiment_effort(of->experiment, p->nr_runs);
		const int nr_runs = effort_first_runs(&effort);

		if (p->until[0] || of->is_over[i])
			continue;
		of->in_blocks[of->nr_in_blocks++] = i;
		most_runs = nr_runs > most_runs ? nr_runs : most_runs;
	}
	of->nr_blocks = nr_starts < most_runs ? nr_starts : most_runs;
}

/* Runs of this point are missing, and so maybe of others. */
static int
measure_in_blocks(struct measuring_points *of, struct rot_error *err)
{
	int rc;

	measuring_stop_at_missing(of->controller->rot, false);
	progress_point_again();
	choose_for_blocks(of);
	if (of->nr_in_blocks < 2 || of->nr_blocks < 2)
		return 0;
	rc = order_blocks(of->nr_in_blocks, of->nr_blocks, visit, of, err);
	experiment_set_block(of->experiment, 0, 0, false);
	progress_block(0, 0, 0);
	return rc;
}

/* ---- one after the other ---- */

static int
measure_in_order(struct measuring_points *of, struct rot_error *err)
{
	int rc = 0;

	while (rc == 0 && of->at < of->controller->nr_planned) {
		const char *until = of->controller->planned[of->at].until;
		bool ends_series = false;

		if (of->is_over[of->at]) {
			of->at++;
			continue;
		}
		of->failing = of->at;
		if (measure_point(of, of->at, err) == 0) {
			if (until[0] && experiment_last_holds(of->experiment, until, &ends_series, err) < 0)
				rc = rot_error_prefix(err, "<point until>");
			if (ends_series)
				end_series(of, of->at);
		} else if (!measuring_has_stopped(of->controller->rot)) {
			rc = leave_out(of, of->at, err);
		} else if ((rc = measure_in_blocks(of, err)) == 0) {
			continue; /* the point begins again */
		}
		if (rc < 0 && !rot_interrupted())
			failed_at(&of->controller->planned[of->failing], err);
		of->at += rc == 0;
	}
	if (rc < 0 || experiment_nr_points(of->experiment) > 0 || experiment_nr_failures(of->experiment) == 0)
		return rc;
	progress_clear();
	experiment_print_failures(of->experiment, stderr);
	rot_error_set(err, 0, "none of the %zu points could be measured", of->controller->nr_planned);
	return rot_error_hint(err, "why is said above");
}

/*
 * Measures the points into the experiment. Interrupted: those that are there, maybe with fewer runs. A
 * point that fails for a reason of its own becomes a failure of the experiment, and the others are measured; it is an
 * error where it is the only one, none could be measured, or with the key stopOnError.
 */
static int
measure_points(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	const size_t nr = controller->nr_planned;
	autopool pool = {0};
	struct measuring_points of = {
		.controller = controller,
		.experiment = experiment,
		.is_over = pool_calloc(&pool, nr, sizeof(*of.is_over)),
		.in_blocks = pool_calloc(&pool, nr, sizeof(*of.in_blocks)),
		.nr_visits = pool_calloc(&pool, nr, sizeof(*of.nr_visits)),
	};
	int rc;

	measuring_stop_at_missing(controller->rot, true);
	rc = measure_in_order(&of, err);
	measuring_stop_at_missing(controller->rot, false);
	if (rc < 0 && rot_interrupted()) {
		/* Interrupted: what blocks have measured of the points that are not finished. */
		struct rot_error ignored = {0};

		for (size_t i = of.at; i < of.controller->nr_planned; i++) {
			if (of.nr_visits[i] == 0 || of.is_over[i])
				continue;
			experiment_set_block(of.experiment, of.nr_visits[i], of.nr_blocks, false);
			measure_point(&of, i, &ignored);
		}
	}
	return rc;
}

/* ---- all ---- */

/* Measures them into the experiment; one that cannot be measured is left out with a warning. A roofline has no
 * latencies. */
static int
add_own_ceilings(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	for (size_t i = 0; i < controller->nr_ceilings; i++) {
		const struct planned_ceiling *p = &controller->ceilings[i];
		struct rot_error why = {0};

		if (p->is_latency || !experiment_wants_ceiling(experiment, p->operation) ||
		    experiment_add_ceiling(experiment, p->name, p->operation, p->border, p->work, p->measurement,
					   p->nr_runs, &why) == 0)
			continue;
		if (rot_interrupted()) {
			*err = why;
			return -1;
		}
		if (controller->rot->is_cached_only)
			continue;
		xml_error_at(p->element, &why);
		rot_warning("a ceiling is left out: %s", why.text);
	}
	return 0;
}

/*
 * Builds what is missing side by side, instead of each core when its point comes. What cannot be built is told then.
 * Nothing is built for results that are taken from the cache without looking at cores.
 */
static void
prepare_cores(const struct xml_controller *controller)
{
	const struct configuration *configuration = controller->rot->configuration;
	autofree struct measurement **measurements = NULL;
	struct rot_error ignored = {0};
	size_t nr = 0;

	if (configuration_bool(configuration, "useCachedResults") &&
	    !configuration_bool(configuration, "shouldCheckCoreHash"))
		return;
	measurements = rot_calloc(controller->nr_planned + 1, sizeof(*measurements));
	for (size_t i = 0; i < controller->nr_planned; i++)
		if (controller->planned[i].measurement)
			measurements[nr++] = controller->planned[i].measurement;
	measuring_prepare(controller->rot, measurements, nr, &ignored);
}

/* The points are measured, and worth being written without it. */
static int
add_roof(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	const struct configuration *configuration = controller->rot->configuration;

	if (!controller->has_default_peaks || experiment_add_default_peaks(experiment, err) == 0)
		return 0;
	if (err->scope != ROT_ERROR_OF_WORK || rot_interrupted() || configuration_bool(configuration, "stopOnError"))
		return -1;
	rot_warning("the roof of this machine is left out: %s", rot_error_line(err));
	return 0;
}

/*
 * The search for the roof would measure sizes that nobody tells after the points, whose expected bytes need them. So do
 * caches that are modelled.
 */
static int
know_levels(const struct xml_controller *controller, struct rot_error *err)
{
	const struct architecture *architecture = controller->rot->architecture;
	const bool finds_roof =
		controller->has_default_peaks && configuration_bool(controller->rot->configuration, "findPeaks");

	if (!finds_roof && !architecture->counts_by_steps && !architecture->by_steps)
		return 0;
	return levels_ensure(controller->rot, err);
}

/* Cycles of a program are those of all its threads: where nobody chose a clock, programs and what they are compared
 * with are measured in wall time. */
int
xml_controller_run(struct xml_controller *controller, const char *output_name, struct rot_error *err)
{
	struct configuration *configuration = controller->rot->configuration;
	struct experiment *experiment = NULL;
	autofree char *name = NULL;
	struct rot_error later = {0};
	const xmlNode *root;
	int rc = -1;

	configuration_push(configuration);
	if (controller->has_programs && strcmp(configuration_string(configuration, "clock"), "auto") == 0)
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "clock", "microSeconds", NULL);
	if (!xml_plan_knows_choices(controller) && xml_controller_plan_again(controller, err) < 0)
		goto out;
	root = xmlDocGetRootElement(controller->file.doc);
	name = xml_attribute(root, "name", "");
	experiment = experiment_new(controller->rot, name, output_name,
				    controller->nr_planned + controller->nr_ceilings, err);
	if (!experiment || xml_show(controller, experiment, err) < 0 || know_levels(controller, err) < 0)
		goto out;
	if (xml_attribute_is(root, "disturbed", "kept"))
		experiment_keep_disturbed(experiment);
	prepare_cores(controller);
	if (measure_points(controller, experiment, err) == 0 && add_own_ceilings(controller, experiment, err) == 0)
		rc = add_roof(controller, experiment, err);
	if (rc == 0)
		rc = experiment_write(experiment, true, err);
	else if (rot_interrupted() && experiment_nr_points(experiment) > 0)
		experiment_write(experiment, false, &later); /* that we were interrupted is what the user must know */
out:
	experiment_delete(experiment);
	configuration_pop(configuration);
	return rc;
}

/* ---- the plan alone ---- */

/*
 * Costs for an estimate only: a run besides its kernel (most of it clears 32 MB of caches), a start, a build. Then the
 * speed that kernels are taken to have. Measured on a Zen 5, as time of a CPU: a run with an empty kernel 0.009 s,
 * large vectors 1.4 GB/s filled and flushed. On a quiet machine: loops of C 2.9 to 4.6 Gflop/s, a library's dgemm 58 to
 * 96, its daxpy in memory 4.6, 55 GB/s. Libraries' other work is slower.
 */
#define RUN_S 0.015
#define START_S 0.02
#define BUILD_S 3.0
#define LOOP_FLOP_PER_S 2e9
#define LIBRARY_FLOP_PER_S 2e10
#define BYTES_PER_S 1e10
#define FILLED_BYTES_PER_S 1.4e9

struct series_plan {
	const char *name;
	size_t nr_points, nr_passes,
		nr_cached; /* passes: of the point with most; cached: points with nothing to measure */
	long nr_runs, nr_runs_missing;
	double seconds;
};

struct dry_run {
	struct xml_controller *controller;
	struct experiment *experiment;
	struct series_plan *series;
	size_t nr_series;
	struct pool pool;  /* of the keys            */
	struct texts keys; /* of the cores to build */
};

static struct series_plan *
series_of(struct dry_run *dry, const char *name)
{
	for (size_t i = 0; i < dry->nr_series; i++)
		if (strcmp(dry->series[i].name, name) == 0)
			return &dry->series[i];
	pool_add(&dry->pool, dry->series, dry->nr_series) = (struct series_plan){.name = name};
	return &dry->series[dry->nr_series - 1];
}

/* Kernels of libraries compute with vectors, on all threads that they are given. */
static double
flop_per_s(const struct rot *rot, const struct kernel_base *kernel)
{
	struct rot_error ignored = {0};
	autofree char *libraries = kernel_library_files(rot, kernel, &ignored);
	const bool is_of_library = libraries && *libraries;

	return is_of_library ? LIBRARY_FLOP_PER_S * fmax(kernel->num_threads, 1) : LOOP_FLOP_PER_S;
}

/* From what the kernels' definitions say: work, bytes, and data that are filled before each run. */
static double
seconds_of_run(struct rot *rot, const struct measurement *measurement)
{
	double seconds = RUN_S, longest = 0;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct kernel_base *kernel = measurement_workloads_at(measurement, i)->kernel;
		double flop = 0, bytes = 0, data = 0, own;
		struct rot_error ignored = {0};

		kernel_expected_operations(rot, kernel, "flop", &flop, &ignored);
		kernel_expected_bytes(rot, kernel, "llcRam", "both", &bytes, &ignored);
		kernel_data_bytes(rot, kernel, &data, &ignored);
		own = flop / flop_per_s(rot, kernel) + bytes / BYTES_PER_S + data / FILLED_BYTES_PER_S;
		longest = own > longest ? own : longest;
	}
	return seconds + longest;
}

/* Starts of the core, over which the missing runs are spread. */
static double
nr_starts(const struct dry_run *dry, const struct quantities_need *need, int nr_runs)
{
	const double nr = experiment_effort(dry->experiment, nr_runs).nr_starts;
	const double runs_of_pass = need->nr_passes ? (double)need->nr_runs_missing / (double)need->nr_passes : 0;

	return fmin(runs_of_pass, fmax(nr, 1));
}

static int
add_kernels(struct dry_run *dry, struct series_plan *series, const struct planned_point *p, int nr_runs,
	    struct rot_error *err)
{
	struct rot *rot = dry->controller->rot;
	struct experiment_point point = experiment_point_at(&(struct experiment_position){p->series, p->label, *p->at});
	struct experiment_requests all = {0};
	struct quantities_need need = {0};
	int rc = experiment_gather(dry->experiment, &point, p->requests, p->nr_requests, &all, err);

	if (rc == 0)
		rc = quantities_look(rot, p->measurement, all.items, all.nr, nr_runs, &need, err);
	if (rc == 0) {
		series->nr_runs += need.nr_runs;
		series->nr_runs_missing += need.nr_runs_missing;
		series->nr_passes = need.nr_passes > series->nr_passes ? need.nr_passes : series->nr_passes;
		series->nr_cached += need.nr_runs_missing == 0;
		series->seconds += (double)need.nr_runs_missing * seconds_of_run(rot, p->measurement) + need.steps_s +
				   nr_starts(dry, &need, nr_runs) * START_S;
		if (need.nr_runs_missing > 0)
			texts_add(&dry->pool, &dry->keys, need.core_key);
	}
	free(all.items);
	experiment_point_clear(&point);
	return rc;
}

static int
add_point(struct dry_run *dry, const struct planned_point *p, struct rot_error *err)
{
	int nr_runs = experiment_nr_runs(dry->experiment, p->nr_runs);
	struct series_plan *series = series_of(dry, p->series);

	series->nr_points++;
	if (p->measurement)
		return add_kernels(dry, series, p, nr_runs, err);
	series->nr_runs += nr_runs;
	series->nr_runs_missing += nr_runs;
	return 0;
}

static bool
has_open_series(const struct xml_controller *controller)
{
	for (size_t i = 0; i < controller->nr_planned; i++)
		if (controller->planned[i].until[0])
			return true;
	return false;
}

static void
print_plan(const struct dry_run *dry, FILE *out)
{
	struct series_plan sum = {.name = "all"};
	double seconds = BUILD_S * (double)dry->keys.nr;
	autofree char *time = NULL, *text = NULL;

	fprintf(out, "%-32s %7s %7s %7s %9s %9s\n", "series", "points", "cached", "passes", "runs", "to do");
	for (size_t i = 0; i <= dry->nr_series; i++) {
		const struct series_plan *s = i < dry->nr_series ? &dry->series[i] : &sum;

		fprintf(out, "%-32s %7zu %7zu %7zu %9ld %9ld\n", s->name, s->nr_points, s->nr_cached, s->nr_passes,
			s->nr_runs, s->nr_runs_missing);
		if (s == &sum)
			break;
		sum.nr_points += s->nr_points;
		sum.nr_cached += s->nr_cached;
		sum.nr_passes = s->nr_passes > sum.nr_passes ? s->nr_passes : sum.nr_passes;
		sum.nr_runs += s->nr_runs;
		sum.nr_runs_missing += s->nr_runs_missing;
		sum.seconds += s->seconds;
	}
	for (size_t i = 0; i < dry->controller->nr_choices; i++) {
		const struct planned_choice *choice = &dry->controller->choices[i];

		autofree char *line = rot_format("%s %s%s%s\n", choice->name, choice->value,
						 choice->is_known ? ": " : ", to be compared with others first",
						 choice->is_known ? choice->text : "");

		if (choice->is_known && !choice->text[0])
			continue;
		text_print_fitting(line, out);
	}
	seconds += sum.seconds;
	time = seconds < 90 ? rot_format("%.0f s", seconds) : rot_format("%.0f min", seconds / 60);
	fprintf(out, "measuring cores to build: %zu\n", dry->keys.nr);
	text = rot_format("%s %s, as far as the kernels' definitions tell%s; what libraries plan before they compute "
			  "(fft), and ceilings that are not known yet, come on top\n",
			  has_open_series(dry->controller) ? "series may end before; at most about" : "about", time,
			  dry->controller->has_programs ? ", without the programs" : "");
	text_print_fitting(text, out);
}

int
xml_controller_print_plan(struct xml_controller *controller, FILE *out, struct rot_error *err)
{
	struct dry_run dry = {.controller = controller};
	int rc;

	dry.experiment = experiment_new(controller->rot, "dry run", NULL, 0, err);
	rc = dry.experiment ? xml_show(controller, dry.experiment, err) : -1;
	for (size_t i = 0; rc == 0 && i < controller->nr_planned; i++)
		rc = add_point(&dry, &controller->planned[i], err);
	if (rc == 0)
		print_plan(&dry, out);
	pool_clear(&dry.pool);
	experiment_delete(dry.experiment);
	return rc;
}
