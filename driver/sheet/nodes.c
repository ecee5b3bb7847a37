/* SPDX-License-Identifier: MIT */
#include "sheet/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/files.h"
#include "base/pool.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"
#include "sheet/loaded.h"
#include "sheet/survey.h"

#define ONE_NODE "cannot be told: the memory is one node, equally far from all CPUs"
#define NOT_OWN "cannot be told: the first CPU that rot may use is of no node with memory"
#define BUSY "cannot be told: others had the CPU or the memory whenever it was measured"
#define MISSING "not sure: of another node, others had the CPU or the memory whenever it was measured"

/* ---- what curves say ---- */

/* The place of the own node, or of the one that is worst: ns are most there, and GB/s least. curve->nr: there is none.
 */
static size_t
find_node(const struct measured_curve *curve, int own, bool is_own, bool is_time)
{
	size_t found = curve->nr;
	double worst = -INFINITY;

	for (size_t i = 0; i < curve->nr; i++) {
		const double shorter = fmin(curve->cycles[0][i], curve->cycles[1][i]);
		const double badness = is_time ? shorter : -shorter;

		if ((curve->at[i] == own) != is_own || !(badness > worst))
			continue;
		worst = badness;
		found = i;
	}
	return found;
}

/* A node may be the farthest that has no value at all. */
static bool
is_one_missing(const struct measured_curve *curve)
{
	for (size_t i = 0; i < curve->nr; i++)
		if (isnan(curve->cycles[0][i]) && isnan(curve->cycles[1][i]))
			return true;
	return false;
}

void
nodes_conclude(struct nodes *nodes, int own)
{
	static const char *const names[] = {"memory of the own node", "memory of the farthest node",
					    "lines at random, own node", "lines at random, farthest node"};

	for (int i = 0; i < NODES_NR_ANSWERS; i++) {
		const bool is_time = i < NODES_OWN_RATE, is_own = i == NODES_OWN_NS || i == NODES_OWN_RATE;
		const struct measured_curve *curve = &nodes->curves[!is_time];
		const size_t at = find_node(curve, own, is_own, is_time);
		struct sheet_answer *answer = &nodes->answers[i];

		*answer = sheet_no_answer(names[i], is_time ? "ns" : "GB/s", 0);
		if (curve->nr < 2) {
			answer->remark = ONE_NODE;
			continue;
		}
		answer->curve = curve;
		if (at == curve->nr)
			answer->remark = is_own && own < 0 ? NOT_OWN : BUSY;
		else
			sheet_read_halves(answer, curve->cycles[0][at], curve->cycles[1][at]);
		if (at < curve->nr && !is_own && is_one_missing(curve))
			answer->remark = MISSING;
		sheet_judge(answer);
	}
}

/* ---- what the system tells ---- */

#define FOLDER "sys/devices/system/node"

/* A control group may not give memory of all nodes. */
static bool
may_use(const char *status, int node)
{
	static const char name[] = "Mems_allowed_list:\t";
	const char *allowed = status ? strstr(status, name) : NULL;

	return !allowed || cpu_list_holds(allowed + sizeof(name) - 1, node);
}

int
nodes_read(struct nodes *nodes, int cpu, const char *root)
{
	autofree char *path = rot_format("%s/proc/self/status", root), *status = file_read(path, NULL, NULL);
	autofree char *with_memory = file_first_line(root, FOLDER "/has_memory");
	struct measured_curve *curve = &nodes->curves[0];
	int own = -1;

	curve->nr = 0;
	for (int node = 0; with_memory && node < NODES_MAX; node++) {
		autofree char *name = rot_format(FOLDER "/node%d/cpulist", node), *cpus = NULL;

		if (!cpu_list_holds(with_memory, node) || !may_use(status, node))
			continue;
		curve->at[curve->nr++] = node;
		cpus = file_first_line(root, name);
		if (cpus && cpu_list_holds(cpus, cpu))
			own = node;
	}
	curve->parameter = "node";
	curve->unit = "ns";
	nodes->curves[1] = *curve;
	nodes->curves[1].unit = "GB/s";
	return own;
}

/* ---- measuring ---- */

#define CHAINS 24
#define ACCESSES 8192 /* some 1 ms, one after the other or many at once */

/* The curve has places, and gets what is measured there. */
static int
measure_curve(struct rot *rot, struct measured_curve *curve, int chains, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	struct loaded_sizes sizes;
	int rc = 0;

	loaded_choose_sizes(&sizes, rot->machine, 1);
	for (size_t i = 0; rc == 0 && i < curve->nr; i++)
		rc = survey_add(survey, 1, "Chase", chains * ACCESSES, err,
				"accesses=%d chains=%d bufferSize=%zu node=%.0f warmAccesses=%d warmCode=true "
				"warmData=true",
				ACCESSES, chains, 64 * sizes.nr_lines, curve->at[i], chains) < 0
			     ? -1
			     : 0;
	if (rc == 0)
		rc = survey_measure(survey, err);
	for (size_t i = 0; rc == 0 && i < curve->nr; i++) {
		struct survey_times times;

		rc = survey_read(survey, (int)i, &times, err);
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] = chains == 1 ? times.ns[half] : 64 / times.ns[half];
	}
	survey_delete(survey);
	return rc;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct nodes *nodes = measured;
	const int own = nodes_read(nodes, machine_first_cpu(), "/");

	if (nodes->curves[0].nr > 1 && (measure_curve(rot, &nodes->curves[0], 1, err) < 0 ||
					measure_curve(rot, &nodes->curves[1], CHAINS, err) < 0))
		return rot_error_prefix(err, "memory of other nodes");
	nodes_conclude(nodes, own);
	return 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct nodes *nodes = measured;
	autopool pool = {0};
	const struct measured_curve *curve = &nodes->curves[0];
	struct plot_series series[3];
	struct series_plot plot = {.frame = {.title = "Memory of the nodes",
					     .caption = sheet_remarks(&pool, nodes->answers, NODES_NR_ANSWERS),
					     .x = {"node", "", false, NAN, NAN},
					     .y = {"time of an access", "ns", false, 0, NAN}},
				   .series = series};

	if (curve->nr < 2)
		return;
	series[plot.nr_series++] = sheet_curve_series(&pool, curve);
	for (int i = NODES_OWN_NS; i <= NODES_FARTHEST_NS; i++) {
		const struct sheet_answer *answer = &nodes->answers[i];
		const double ns = answer->number.value;

		if (isfinite(ns))
			series[plot.nr_series++] = sheet_cost_line(&pool, curve->at[0], curve->at[curve->nr - 1], ns,
								   pool_format(&pool, "%s: %.3g ns", answer->name, ns));
	}
	sheet_pictures_draw(pictures, "nodes", &plot);
}

const struct sheet_part nodes_part = {
	.heading = "Nodes of memory",
	.nr_answers = NODES_NR_ANSWERS,
	.bytes = sizeof(struct nodes),
	.measure = measure,
	.draw = draw,
};
