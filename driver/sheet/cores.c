/* SPDX-License-Identifier: MIT */
#include "sheet/cores.h"

#include <math.h>
#include <stdlib.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/pool.h"
#include "base/progress.h"
#include "engine/measuring.h"
#include "machine/machine.h"
#include "memory.h"
#include "quantities/samples.h"
#include "rot.h"
#include "statistics/summary.h"

/* ---- what times say ---- */

/* Times within a clique differ by less than this, those between two by more. */
#define GAP 1.5

/* One core: half way between what two cores (1) and what one core (2) take for the same. */
#define SLOWDOWN 1.5

/* Puts the times between two cores in order. Returns how many. */
static size_t
sort_times(const struct cores *cores, double times[CORES_MAX * CORES_MAX])
{
	size_t nr = 0;

	for (size_t i = 0; i < cores->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (isfinite(cores->ns[i][k]) && !(cores->slowdown[i][k] >= SLOWDOWN))
				times[nr++] = cores->ns[i][k];
	qsort(times, nr, sizeof(*times), double_compare);
	return nr;
}

/* CPUs that a chain of near pairs connects have one number. */
static void
spread(const struct cores *cores, struct cores_level *level, size_t from)
{
	for (size_t i = 0; i < cores->nr; i++)
		if (level->clique[i] < 0 && cores->ns[from][i] <= level->ns) {
			level->clique[i] = level->clique[from];
			spread(cores, level, i);
		}
}

/* A level where sorted times rise by at least the gap: what is below belongs together. If all does, it says nothing. */
void
cores_conclude(struct cores *cores)
{
	double times[CORES_MAX * CORES_MAX];
	const size_t nr = sort_times(cores, times);

	cores->nr_levels = 0;
	for (size_t at = 0; at + 1 < nr && cores->nr_levels < CORES_MAX_LEVELS; at++) {
		struct cores_level *level = &cores->levels[cores->nr_levels];

		if (times[at + 1] < GAP * times[at])
			continue;
		*level = (struct cores_level){.ns = times[at]};
		for (size_t i = 0; i < cores->nr; i++)
			level->clique[i] = -1;
		for (size_t i = 0; i < cores->nr; i++)
			if (level->clique[i] < 0) {
				level->clique[i] = level->nr_cliques++;
				spread(cores, level, i);
			}
		if (level->nr_cliques > 1 && (cores->nr_levels == 0 || level->nr_cliques < level[-1].nr_cliques))
			cores->nr_levels++;
	}
}

/* The number of the first CPU of the same core. */
static void
find_cores(const struct cores *cores, int core[CORES_MAX])
{
	for (size_t i = 0; i < cores->nr; i++) {
		core[i] = (int)i;
		for (size_t k = 0; k < i && core[i] == (int)i; k++)
			if (cores->slowdown[i][k] >= SLOWDOWN)
				core[i] = core[k];
	}
}

size_t
cores_spread(struct cores *cores)
{
	int core[CORES_MAX];

	find_cores(cores, core);
	return cpus_spread(cores->cpus, core, cores->nr);
}

/* ---- measuring ---- */

#define NR_RUNS 3
#define MILLI_SECONDS 5

static const struct pass clock_pass = {.probes_clock = true};

static struct measurement *
describe(struct rot *rot, int first, int second, struct rot_error *err)
{
	const struct rot_class *class = rot_registry_find(rot->registry, "Operation");
	autograph struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();
	struct ping_pong_measurer *measurer = ping_pong_measurer_new();

	measurement_workloads_add(measurement, workload);
	measurement->overall_measurer_set = measurer_set_new();
	measurer_set_additional_measurers_add(measurement->overall_measurer_set, &measurer->base);
	if (!class) {
		rot_error_set(err, 0, "there is no kernel 'Operation'");
		return NULL;
	}
	workload->cpu = first;
	workload->kernel = rot_entity_new(class);
	measurer->first_cpu = first;
	measurer->second_cpu = second;
	measurer->milli_seconds = MILLI_SECONDS;
	return pass_measurement(measurement, rot->architecture, &clock_pass);
}

static int
read_pair(struct rot *rot, struct cores *cores, size_t i, size_t k, const struct measurement *pass,
	  const struct measurement_result *result, struct rot_error *err)
{
	struct pass_samples samples = {0};
	int rc = pass_samples_read(&samples, rot->architecture, &clock_pass, pass, result, err);
	struct nearness all = {0};

	for (size_t run = 0; rc == 0 && run < samples.nr_runs; run++)
		nearness_add(&all, &samples.runs[run].nearness);
	pass_samples_clear(&samples);
	cores->ns[i][k] = cores->ns[k][i] = all.line_ns_min > 0 ? all.line_ns_min : NAN;
	cores->highest[i][k] = cores->highest[k][i] = all.line_ns_max > 0 ? all.line_ns_max : NAN;
	cores->slowdown[i][k] = cores->slowdown[k][i] = all.slowdown_min > 0 ? all.slowdown_min : NAN;
	return rc;
}

static int
measure_pairs(struct rot *rot, struct cores *cores, struct measurement **passes, struct measurement_result **results,
	      struct rot_error *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < cores->nr; i++)
		for (size_t k = 0; k < i; k++) {
			passes[nr] = describe(rot, cores->cpus[k], cores->cpus[i], err);
			if (!passes[nr++])
				return -1;
		}
	if (nr && measuring_perform(rot, passes, nr, NR_RUNS, 1, results, err) < 0)
		return -1;
	nr = 0;
	for (size_t i = 0; i < cores->nr; i++)
		for (size_t k = 0; k < i; k++, nr++)
			if (read_pair(rot, cores, i, k, passes[nr], results[nr], err) < 0)
				return -1;
	return 0;
}

int
cores_measure(struct rot *rot, struct cores *cores, struct rot_error *err)
{
	struct measurement *passes[CORES_MAX * CORES_MAX] = {NULL};
	struct measurement_result *results[CORES_MAX * CORES_MAX] = {NULL};
	autofree int *cpus = NULL;
	int rc;

	*cores = (struct cores){.nr_allowed = allowed_cpus(&cpus, NULL)};
	cores->nr = cores->nr_allowed < CORES_MAX ? cores->nr_allowed : CORES_MAX;
	for (size_t i = 0; i < cores->nr; i++) {
		cores->cpus[i] = cpus[i * cores->nr_allowed / cores->nr];
		cores->ns[i][i] = cores->highest[i][i] = cores->slowdown[i][i] = NAN;
	}
	progress_begin(1, configuration_bool(rot->configuration, "quiet"));
	progress_point();
	rc = measure_pairs(rot, cores, passes, results, err);
	progress_end();
	for (size_t i = 0; i < CORES_MAX * CORES_MAX; i++) {
		rot_graph_delete(results[i]);
		rot_graph_delete(passes[i]);
	}
	cores_conclude(cores);
	return rc < 0 ? rot_error_prefix(err, "how near CPUs are") : 0;
}

/* ---- what is shown ---- */

/* CPUs that have the same number, where at least so many do. */
static void
print_groups(const struct cores *cores, const int number[CORES_MAX], size_t least, const char *what, FILE *out)
{
	autofree char *line = rot_strdup(what);
	const char *before = "";

	for (size_t group = 0; group < cores->nr; group++) {
		autofree char *cpus = rot_strdup("");
		size_t nr = 0;

		for (size_t i = 0; i < cores->nr; i++)
			if (number[i] == (int)group) {
				rot_append(&cpus, " %d", cores->cpus[i]);
				nr++;
			}
		if (nr < least)
			continue;
		rot_append(&line, "%s%s", before, cpus);
		before = " |";
	}
	rot_append(&line, "\n");
	if (*before)
		text_print_fitting(line, out);
}

void
cores_print(const struct cores *cores, FILE *out)
{
	int core[CORES_MAX];

	if (cores->nr < 2) {
		fputs("There is one CPU that rot may use, so no other to hand cache lines to.\n", out);
		return;
	}
	fputs("a cache line from CPU to CPU, ns\n   ", out);
	for (size_t k = 0; k < cores->nr; k++)
		fprintf(out, "%5d", cores->cpus[k]);
	putc('\n', out);
	for (size_t i = 0; i < cores->nr; i++) {
		fprintf(out, "%3d", cores->cpus[i]);
		for (size_t k = 0; k < cores->nr; k++)
			if (isfinite(cores->ns[i][k]))
				fprintf(out, "%5.0f", cores->ns[i][k]);
			else
				fputs("    -", out);
		putc('\n', out);
	}
	if (cores->nr < cores->nr_allowed)
		fprintf(out, "%zu of %zu CPUs were taken, at equal distances\n", cores->nr, cores->nr_allowed);
	for (size_t i = 0; i < cores->nr_levels; i++) {
		autofree char *what = rot_format("nearer to each other than to the others, at most %.0f ns: CPUs",
						 cores->levels[i].ns);

		print_groups(cores, cores->levels[i].clique, 1, what, out);
	}
	find_cores(cores, core);
	print_groups(cores, core, 2, "threads of one core, as each delays the other: CPUs", out);
}

void
cores_draw(const struct cores *cores, const struct sheet_pictures *pictures)
{
	autopool pool = {0};
	double *values = pool_calloc(&pool, cores->nr * cores->nr + 1, sizeof(*values)), least = INFINITY;
	const char *names[CORES_MAX];
	struct heat_plot plot = {.frame = {.title = "A cache line from CPU to CPU",
					   .caption = "",
					   .x = {"CPU", "", false, NAN, NAN},
					   .y = {"CPU", "", false, NAN, NAN}},
				 .columns = names,
				 .rows = names,
				 .nr_columns = cores->nr,
				 .nr_rows = cores->nr,
				 .values = values,
				 .value_label = "ns"};

	if (cores->nr < 2)
		return;
	for (size_t i = 0; i < cores->nr; i++) {
		names[i] = pool_format(&pool, "%d", cores->cpus[i]);
		for (size_t k = 0; k < cores->nr; k++) {
			values[i * cores->nr + k] = cores->ns[i][k];
			if (!(cores->ns[i][k] < least))
				continue;
			least = cores->ns[i][k];
			plot.best_column = k;
			plot.best_row = i;
		}
	}
	sheet_pictures_draw_matrix(pictures, "cores", &plot);
}

static json_t *
level_json(const struct cores *cores, const struct cores_level *level)
{
	json_t *cliques = json_array();

	for (int clique = 0; clique < level->nr_cliques; clique++) {
		json_t *cpus = json_array();

		for (size_t i = 0; i < cores->nr; i++)
			if (level->clique[i] == clique)
				json_array_append_new(cpus, json_integer(cores->cpus[i]));
		json_array_append_new(cliques, cpus);
	}
	return json_pack("{s:f, s:o}", "lineNs", level->ns, "cliques", cliques);
}

json_t *
cores_json(const struct cores *cores)
{
	json_t *pairs = json_array(), *levels = json_array();

	for (size_t i = 0; i < cores->nr; i++)
		for (size_t k = 0; k < i; k++)
			json_array_append_new(pairs,
					      json_pack("{s:[i, i], s:o, s:o, s:o}", "cpus", cores->cpus[k],
							cores->cpus[i], "lineNs", json_real_or_null(cores->ns[i][k]),
							"lineNsHighest", json_real_or_null(cores->highest[i][k]),
							"slowdown", json_real_or_null(cores->slowdown[i][k])));
	for (size_t i = 0; i < cores->nr_levels; i++)
		json_array_append_new(levels, level_json(cores, &cores->levels[i]));
	return json_pack("{s:o, s:o}", "pairs", pairs, "levels", levels);
}
