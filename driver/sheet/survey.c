/* SPDX-License-Identifier: MIT */
#include "sheet/survey.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/progress.h"
#include "engine/kernel_work.h"
#include "engine/measuring.h"
#include "engine/origin.h"
#include "machine/machine.h"
#include "memory.h"
#include "quantities/samples.h"
#include "rot.h"
#include "statistics/summary.h"

/* An even number: halves are compared. */
#define NR_RUNS 6
#define MAX_RUNS 24 /* of a point that others disturb: NR_RUNS doubled twice */

struct survey {
	struct rot *rot;
	struct measurement **passes;
	struct measurement_result **results;
	struct survey_point {
		double steps;
		unsigned disturbing; /* taints of runs that do not count */
	} * points;
	size_t nr;
	int *cpus; /* that this process may use */
	size_t nr_cpus;
	int nr_starts;
};

static const struct pass clock_pass = {.probes_clock = true};

struct survey *
survey_new(struct rot *rot)
{
	struct survey *survey = rot_calloc(1, sizeof(*survey));

	survey->rot = rot;
	survey->nr_starts = 1;
	survey->nr_cpus = allowed_cpus(&survey->cpus, NULL);
	return survey;
}

void
survey_delete(struct survey *survey)
{
	for (size_t i = 0; survey && i < survey->nr; i++) {
		rot_graph_delete(survey->results[i]);
		rot_graph_delete(survey->passes[i]);
	}
	if (survey) {
		free(survey->passes);
		free(survey->results);
		free(survey->points);
		free(survey->cpus);
	}
	free(survey);
}

size_t
survey_nr_cpus(const struct survey *survey)
{
	return survey->nr_cpus;
}

void
survey_set_cpus(struct survey *survey, const int *cpus, size_t nr)
{
	survey->cpus = rot_realloc(survey->cpus, nr, sizeof(*cpus));
	memcpy(survey->cpus, cpus, nr * sizeof(*cpus));
	survey->nr_cpus = nr;
}

/* fields is cut apart. */
static int
set_fields(struct kernel_base *kernel, char *fields, struct rot_error *err)
{
	char *rest = fields;

	for (char *field; (field = strsep(&rest, " "));) {
		char *value = strchr(field, '=');

		*value++ = '\0';
		if (rot_entity_set(kernel, field, value, err) < 0)
			return -1;
	}
	return 0;
}

static void
append(struct survey *survey, struct measurement *pass, double steps)
{
	const size_t nr = survey->nr + 1;

	survey->passes = rot_realloc(survey->passes, nr, sizeof(*survey->passes));
	survey->results = rot_realloc(survey->results, nr, sizeof(*survey->results));
	survey->points = rot_realloc(survey->points, nr, sizeof(*survey->points));
	survey->passes[survey->nr] = pass;
	survey->results[survey->nr] = NULL;
	survey->points[survey->nr] = (struct survey_point){steps, TAINTS_OF_SYSTEM};
	survey->nr = nr;
}

int
survey_add(struct survey *survey, size_t nr_cpus, const char *kernel, double steps, struct rot_error *err,
	   const char *fields, ...)
{
	struct rot *rot = survey->rot;
	const struct rot_class *class = rot_registry_find(rot->registry, kernel);
	autograph struct measurement *measurement = measurement_new(), *on_cpus = NULL;
	struct workload *workload = workload_new();
	autofree char *text = NULL;
	autofree int *cpus = NULL;
	va_list arguments;

	va_start(arguments, fields);
	text = rot_vformat(fields, arguments);
	va_end(arguments);
	measurement_workloads_add(measurement, workload);
	if (!class)
		return rot_error_set(err, 0, "there is no kernel '%s' for the data sheet of the machine", kernel);
	workload->kernel = rot_entity_new(class);
	if (set_fields(workload->kernel, text, err) < 0)
		return -1;
	if (kernel_check(rot, workload->kernel, err) < 0)
		return SURVEY_HAS_NONE;
	cpus = rot_calloc(nr_cpus, sizeof(*cpus));
	for (size_t i = 0; i < nr_cpus; i++)
		cpus[i] = survey->cpus[i % survey->nr_cpus];
	on_cpus = measurement_on_cpus(measurement, cpus, nr_cpus);
	append(survey, pass_measurement(on_cpus, rot->architecture, &clock_pass), steps);
	return (int)survey->nr - 1;
}

void
survey_allow(struct survey *survey, int point, unsigned taints)
{
	survey->points[point].disturbing &= ~taints;
}

void
survey_set_flags(struct survey *survey, int point, const char *flags)
{
	const struct measurement *pass = survey->passes[point];

	for (size_t i = 0; i < measurement_nr_workloads(pass); i++)
		rot_string_set(&measurement_workloads_at(pass, i)->kernel->optimization, flags);
}

int
survey_read(struct survey *survey, int point, struct survey_times *times, struct rot_error *err)
{
	struct pass_samples samples = {0};
	const double steps = survey->points[point].steps;
	double cycles[MAX_RUNS];
	size_t nr = 0;
	int rc = pass_samples_read(&samples, survey->rot->architecture, &clock_pass, survey->passes[point],
				   survey->results[point], err);

	*times = (struct survey_times){{NAN, NAN}, {NAN, NAN}, {NAN, NAN}, NAN, NAN};
	for (size_t i = 0; rc == 0 && i < samples.nr_runs; i++) {
		const struct pass_run *run = &samples.runs[i];
		double most = samples.nr_threads ? 0 : run->core_cycles;
		double ghz = samples.nr_threads ? INFINITY : run->core_cycles / run->wall_ns;

		if (!(run->core_cycles > 0) || run->taints & survey->points[point].disturbing)
			continue;
		/* The slowest thread counts. */
		for (size_t k = 0; k < samples.nr_threads; k++) {
			most = fmax(most, run->threads[k].core_cycles);
			ghz = fmin(ghz, run->threads[k].core_cycles / run->threads[k].wall_ns);
		}
		cycles[nr] = most / steps;
		times->cycles[i % 2] = fmin(times->cycles[i % 2], cycles[nr]);
		times->most = fmax(times->most, cycles[nr++]);
		times->ns[i % 2] = fmin(times->ns[i % 2], run->wall_ns / steps);
		times->ghz[i % 2] = fmax(times->ghz[i % 2], ghz);
	}
	if (nr > 0)
		times->median = statistics_percentile(cycles, nr, 50);
	pass_samples_clear(&samples);
	return rc;
}

/* Halves that differ by more say that a run was disturbed where nothing else tells it. */
#define AGREEMENT 0.125

/* Puts points whose shortest runs are not known yet into the first places of order. Returns how many, or -1. */
static int
find_disturbed(struct survey *survey, size_t *order, struct rot_error *err)
{
	int nr = 0;

	for (size_t i = 0; i < survey->nr; i++) {
		struct survey_times times;

		if (survey_read(survey, (int)i, &times, err) < 0)
			return -1;
		if (!(fabs(times.cycles[0] - times.cycles[1]) <= AGREEMENT * fmin(times.cycles[0], times.cycles[1])))
			order[nr++] = i;
	}
	return nr;
}

/* Disturbed points get further runs, and those of all points are interleaved. */
static int
measure(struct survey *survey, struct rot_error *err)
{
	autofree struct measurement **passes = rot_calloc(survey->nr, sizeof(*passes));
	autofree struct measurement_result **results = rot_calloc(survey->nr, sizeof(*results));
	autofree size_t *order = rot_calloc(survey->nr, sizeof(*order));
	int nr = (int)survey->nr, rc = 0;

	for (int i = 0; i < nr; i++)
		order[i] = (size_t)i;
	for (int nr_runs = NR_RUNS; rc == 0 && nr > 0 && nr_runs <= MAX_RUNS; nr_runs *= 2) {
		for (int i = 0; i < nr; i++) {
			rot_graph_delete(survey->results[order[i]]);
			survey->results[order[i]] = results[i] = NULL;
			passes[i] = survey->passes[order[i]];
		}
		rc = measuring_perform(survey->rot, passes, (size_t)nr, nr_runs, survey->nr_starts, results, err);
		for (int i = 0; i < nr; i++)
			survey->results[order[i]] = results[i];
		nr = rc < 0 || survey->rot->is_cached_only ? 0 : find_disturbed(survey, order, err);
	}
	return rc < 0 || nr < 0 ? -1 : 0;
}

void
survey_spread(struct survey *survey)
{
	survey->nr_starts = NR_RUNS;
}

int
survey_measure(struct survey *survey, struct rot_error *err)
{
	int rc;

	progress_begin(1, configuration_bool(survey->rot->configuration, "quiet"));
	progress_point();
	rc = measure(survey, err);
	progress_end();
	return rc;
}

void
survey_add_origin(const struct survey *survey, json_t *origin)
{
	for (size_t i = 0; i < survey->nr; i++)
		origin_add(origin, survey->results[i]);
}

int
survey_read_curve(struct survey *survey, int first, struct measured_curve *curve, struct rot_error *err)
{
	for (size_t i = 0; i < curve->nr; i++) {
		struct survey_times times;

		if (survey_read(survey, first + (int)i, &times, err) < 0)
			return -1;
		curve->cycles[0][i] = times.cycles[0];
		curve->cycles[1][i] = times.cycles[1];
	}
	return 0;
}
