/* SPDX-License-Identifier: MIT */
/* A line below the tables tells what bounds each series of the first roofline, and how near it comes to that. */
#include <math.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/messages.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "rot.h"

const struct experiment_own_plot *
experiment_first_roofline(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++)
		if (experiment->plots[i].plot.kind == EXPERIMENT_ROOFLINE)
			return &experiment->plots[i];
	return NULL;
}

/* The highest ceiling that the plot draws as what bounds, where there are no peaks of this machine; or NULL.
 */
static const struct ceiling *
drawn_bound(const struct experiment *experiment, const struct experiment_own_plot *plot, bool is_bandwidth)
{
	autofree const struct ceiling **ceilings = NULL;
	const size_t nr = experiment_ceilings_of(experiment, plot, &ceilings);

	for (size_t i = 0; experiment->nr_stored_machines <= 1 && i < nr; i++)
		if ((ceilings[i]->operation[0] == '\0') == is_bandwidth &&
		    experiment_is_main_ceiling(plot, ceilings, nr, i))
			return ceilings[i];
	return NULL;
}

static struct summary
height_of(const struct ceiling *ceiling)
{
	struct summary height = summary_single(ceiling->value, "quantile");

	height.low = ceiling->low;
	height.high = ceiling->high;
	return height;
}

/* Unknown where the result says none, or the intensity is of something else. */
static struct experiment_bound
bound_of_result(const json_t *result, const char *intensity)
{
	const json_t *roof = json_object_get(result, "roof");

	if (!*json_text_at(result, "boundBy") || strcmp(json_text_at(roof, "of"), intensity) != 0)
		return (struct experiment_bound){.ceiling = NULL};
	return (struct experiment_bound){
		.ceiling = json_text_at(result, "boundBy"),
		.is_bandwidth = strcmp(json_text_at(roof, "kind"), "bandwidth") == 0,
		.nr_threads = (int)json_integer_value(json_object_get(roof, "threads")),
		.share = json_number_at(result, "roofShare"),
		.is_most = json_is_true(json_object_get(roof, "isLeast")),
		.probability = json_number_at(roof, "probability"),
	};
}

struct experiment_bound
experiment_bound_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
		    const struct experiment_point *point)
{
	const struct experiment_own_plot *roofline = plot ? plot : experiment_first_roofline(experiment);
	const struct quantity_value *x = roofline ? experiment_point_value(point, &roofline->x) : NULL,
				    *y = roofline ? experiment_point_value(point, &roofline->y) : NULL;
	int nr_threads =
		point->nr_cpus > 0 ? experiment_roof_threads(experiment, point->nr_cpus) : experiment->nr_roof_threads;
	struct experiment_bound bound = {.ceiling = NULL};
	const struct ceiling *slope, *peak;

	if (x && roofline == experiment_first_roofline(experiment))
		bound = bound_of_result(point->result, x->of);
	if (bound.ceiling)
		return bound;
	bound = (struct experiment_bound){.share = NAN, .probability = NAN};
	if (!x || !y || !(x->summary.value > 0) || !(y->summary.value > 0) || isinf(y->summary.value))
		return bound;
	slope = experiment_bounding_peak(experiment, NULL, roofline->x.border, nr_threads);
	peak = experiment_bounding_peak(experiment, roofline->y.operation, NULL, nr_threads);
	if (!slope && !peak) {
		nr_threads = 0;
		slope = drawn_bound(experiment, roofline, true);
		peak = drawn_bound(experiment, roofline, false);
	}
	if (slope && peak) {
		const struct summary rise = height_of(slope), height = height_of(peak);
		const struct summary ridge = summary_quotient(&height, &rise);
		const double memory = slope->value * x->summary.value,
			     below = summary_probability_below(&x->summary, &ridge);
		const bool is_bandwidth = memory < peak->value;
		bound = (struct experiment_bound){
			.ceiling = is_bandwidth ? slope->name : peak->name,
			.is_bandwidth = is_bandwidth,
			.share = y->summary.value / fmin(memory, peak->value),
			.is_most = ceiling_is_least(is_bandwidth ? slope : peak),
			.probability = is_bandwidth ? below : 1 - below,
		};
	}
	bound.nr_threads = nr_threads;
	return bound;
}

/* ---- a line a series ---- */

/* Points of a series that one line bounds. */
struct bounded {
	const char *ceiling;
	size_t nr;
	double low, high; /* shares of the roof */
	bool is_most;
};

static void
print_verdict(const char *series, const struct bounded bounded[2], int nr_threads, FILE *out)
{
	const size_t nr = bounded[0].nr + bounded[1].nr;

	for (int i = 0; i < 2; i++) {
		const struct bounded *of = &bounded[i];
		const double ends[] = {100 * of->low, 100 * of->high};
		autofree char *from = ends[0] < 10 ? digits_text(ends[0], 2) : rot_format("%.0f", ends[0]);
		autofree char *to = ends[1] < 10 ? digits_text(ends[1], 2) : rot_format("%.0f", ends[1]);
		const bool is_one = strcmp(from, to) == 0;
		autofree char *points = NULL, *text = NULL;

		if (of->nr == 0)
			continue;
		points = of->nr == nr ? rot_strdup("") : rot_format(", %zu of %zu points", of->nr, nr);
		text = rot_format("%s: at %s%s%s%s %% of its roof, %s (%d thread%s)%s\n", series,
				  of->is_most ? "most " : "", from, is_one ? "" : " to ", is_one ? "" : to, of->ceiling,
				  nr_threads, rot_plural((double)nr_threads), points);
		text_print_fitting(text, out);
	}
}

/* Kernels with the fields of Arithmetic and Operation have chains. */
struct experiment_chains
experiment_chains_of(const struct rot *rot, const struct measurement *measurement)
{
	const struct workload *workload =
		measurement_nr_workloads(measurement) == 1 ? measurement_workloads_at(measurement, 0) : NULL;
	const void *kernel = workload ? workload->kernel : NULL;
	autofree char *operation = kernel ? rot_entity_get(kernel, "operation") : NULL,
		      *precision = operation ? rot_entity_get(kernel, "precision") : NULL,
		      *set = precision ? rot_entity_get(kernel, "instructionSet") : NULL;
	struct experiment_chains chains = {.nr = 0};

	if (set && rot->measured &&
	    (rot_entity_number(kernel, "dlp", &chains.nr) || rot_entity_number(kernel, "chains", &chains.nr)))
		chains.links = operation_known(rot, operation, precision, set);
	return chains;
}

/* The point that has fewest of the chains that it needs. */
static void
print_chains(const struct experiment_point *points, size_t nr, const char *series, FILE *out)
{
	const struct experiment_chains *least = NULL;
	autofree char *text = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct experiment_chains *chains = &points[i].chains;

		if (strcmp(points[i].series, series) == 0 && chains->nr > 0 && (!least || chains->nr < least->nr))
			least = chains;
	}
	if (!least || least->nr >= round(least->links.latency * least->links.per_cycle))
		return;
	text = rot_format("%s: %g accumulator%s, %.0f needed: latency %.2g x %.2g a cycle (%s)\n", series, least->nr,
			  rot_plural(least->nr), least->links.latency * least->links.per_cycle, least->links.latency,
			  least->links.per_cycle, least->links.source);
	text_print_fitting(text, out);
}

/* Under the roof of as many threads. */
static bool
are_together(const struct experiment *experiment, const struct experiment_point *a, const struct experiment_point *b)
{
	return strcmp(a->series, b->series) == 0 &&
	       experiment_roof_threads(experiment, a->nr_cpus) == experiment_roof_threads(experiment, b->nr_cpus);
}

static bool
is_first(const struct experiment *experiment, size_t point)
{
	for (size_t i = 0; i < point; i++)
		if (are_together(experiment, &experiment->points[i], &experiment->points[point]))
			return false;
	return true;
}

void
experiment_print_verdicts(const struct experiment *experiment, FILE *out)
{
	const struct experiment_own_plot *plot = experiment_first_roofline(experiment);

	for (size_t i = 0; plot && i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];
		struct bounded bounded[2] = {{.nr = 0}, {.nr = 0}};

		if (!(point->nr_cpus > 0) || !is_first(experiment, i))
			continue;
		for (size_t k = i; k < experiment->nr_points; k++) {
			struct experiment_bound bound = {.nr_threads = 0};

			if (are_together(experiment, point, &experiment->points[k]))
				bound = experiment_bound_of(experiment, plot, &experiment->points[k]);
			if (bound.ceiling && bound.nr_threads > 0) {
				struct bounded *of = &bounded[bound.is_bandwidth ? 0 : 1];

				of->low = of->nr ? fmin(of->low, bound.share) : bound.share;
				of->high = of->nr ? fmax(of->high, bound.share) : bound.share;
				of->is_most = of->is_most || bound.is_most;
				of->nr++;
				of->ceiling = bound.ceiling;
			}
		}
		print_verdict(point->series, bounded, experiment_roof_threads(experiment, point->nr_cpus), out);
		print_chains(point, experiment->nr_points - i, point->series, out);
	}
}

/* ---- what to do next ---- */

bool
experiment_has_bound(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_points; i++)
		if (experiment_bound_of(experiment, NULL, &experiment->points[i]).ceiling)
			return true;
	return false;
}

void
experiment_tell_next(const struct experiment *experiment)
{
	const struct configuration *configuration = experiment->rot->configuration;
	const struct experiment_own_plot *roofline = experiment_first_roofline(experiment);

	if (experiment->nr_points == 0)
		return;
	if (roofline && roofline->plot.has_default_peaks && !experiment_has_bound(experiment))
		if (strcmp(configuration_string(configuration, "caches"), "none") == 0)
			messages_next(
				"without -caches=none the caches are modelled, and the bound of each point is told");
		else
			messages_next("rot peaks --quick finds the roof of this machine in a minute");
	else if (!plots_go_to(configuration, PLOTS_ON_PAGE))
		messages_next("the same with -plots=html makes one page of plots, values and how they are known");
}
