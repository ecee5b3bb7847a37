/* SPDX-License-Identifier: MIT */
/* What a controller would measure, without measuring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "engine/kernel_needs.h"
#include "engine/kernel_work.h"
#include "experiments/experiment_internal.h"
#include "experiments/xml_run.h"
#include "memory.h"
#include "planning/xml_plan.h"

/*
 * What a run takes besides its kernel (most of it to clear 32 MB of caches), a start of the core, a core to build, and
 * how fast kernels are taken to be: only for an estimate. Measured on a Zen 5: a run with an empty kernel 0.009 s and
 * large vectors 1.4 GB/s filled and flushed, as time of a CPU; on a quiet machine loops of C 2.9 to 4.6 Gflop/s, a
 * library's dgemm 58 to 96, its daxpy in memory 4.6, 55 GB/s. Libraries' other work is slower.
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
	dry->series = pool_grow(&dry->pool, dry->series, dry->nr_series, sizeof(*dry->series));
	dry->series[dry->nr_series] = (struct series_plan){.name = name};
	return &dry->series[dry->nr_series++];
}

/* Those of libraries compute with vectors, on all threads that they are given. */
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

/* Of the core, over which the missing runs are spread. */
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

static char *
duration(double seconds)
{
	if (seconds < 90)
		return rot_format("%.0f s", seconds);
	return rot_format("%.0f min", seconds / 60);
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
	double builds = BUILD_S * (double)dry->keys.nr;
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
	time = duration(sum.seconds + builds);
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
