/* SPDX-License-Identifier: MIT */
/* The peaks of this machine as ceilings of an experiment: of as many threads as its points use, per its unit of time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "peaks/roof.h"
#include "quantities/architecture.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "support/progress.h"

void
experiment_use_cpus(struct experiment *experiment, double nr_cpus)
{
	experiment->nr_cpus = fmax(experiment->nr_cpus, nr_cpus);
}

/* ---- the unit of time ---- */

/* In which the first roofline shows performance. Never "auto". */
const char *
experiment_clock_shown(const struct experiment *experiment)
{
	const char *clock = NULL;

	for (size_t i = 0; !clock && i < experiment->nr_plots; i++) {
		const struct experiment_own_plot *plot = &experiment->plots[i];

		if (plot->plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		clock = plot->y.clock;
		for (size_t k = 0; k < experiment->nr_points; k++) {
			const struct quantity_value *y = experiment_point_value(&experiment->points[k], &plot->y);

			clock = y && y->request.clock ? y->request.clock : clock;
		}
	}
	clock = clock ? clock : configuration_string(experiment->rot->configuration, "clock");
	if (strcmp(clock, "auto") == 0)
		clock = architecture_formula(experiment->rot->architecture, "time", "coreCycles") ? "coreCycles"
												  : "microSeconds";
	return clock;
}

/* That are summed over threads; those of the time stamp counter go by once for all of them, as wall time does. */
static bool
is_of_cycles(const char *clock)
{
	return strcmp(clock, "coreCycles") == 0 || strcmp(clock, "referenceCycles") == 0;
}

/* As points have it: where cycles are summed, a rate is that of one thread, of points as of peaks. */
static struct peak_estimate
estimate_of(const struct peak *peak, const char *clock)
{
	const struct peak_estimate e = strcmp(clock, "microSeconds") == 0 ? peak->per_second
				       : strcmp(clock, "coreCycles") == 0 ? peak->per_cycle
									  : peak->per_tsc_cycle;
	const double factor = strcmp(clock, "tsc") == 0 ? peak->nr_threads : 1;

	return (struct peak_estimate){e.value * factor, e.low * factor, e.high * factor};
}

static char *
unit_of(const struct peak *peak, const char *clock)
{
	const struct quantity_word *word =
		peak->kind == PEAK_PERFORMANCE ? quantity_word_find(WORD_OPERATION, peak->operation) : NULL;

	return rot_format("%s/%s",
			  peak->kind == PEAK_BANDWIDTH ? "byte"
			  : word                       ? word->unit
						       : "operation",
			  strcmp(clock, "microSeconds") == 0 ? "s" : "cycle");
}

/* ---- ceilings ---- */

/*
 * A line that is stored to is loaded first (filled) and written back later. Peaks count the bytes of the program's
 * loads and stores, intensities those that cross a border: so many for each of the program's. What is not here has no
 * other bytes, as loads, non-temporal stores and updates, which wanted the line anyway. Evidence (EPYC 9005): stores to
 * L2 and L3 with this factor are as fast as updates (127 and 59 byte/cycle).
 */
static const struct {
	const char *access;
	double bytes;
} filling[] = {{"store", 2}, {"copy", 3.0 / 2}, {"triad", 4.0 / 3}, {"load2Store", 4.0 / 3}};

static double
crossing_bytes(const struct peak *peak)
{
	for (size_t i = 0; i < sizeof(filling) / sizeof(*filling); i++)
		if (strcmp(filling[i].access, peak->access) == 0 && peak->kind == PEAK_BANDWIDTH &&
		    strcmp(peak->border, "cpuL1") != 0)
			return filling[i].bytes;
	return 1;
}

struct summary
experiment_peak_line(const struct peak *peak, const char *clock)
{
	const struct peak_estimate e = estimate_of(peak, clock);
	const double factor = crossing_bytes(peak);
	struct summary line = summary_single(factor * e.value, "quantile");

	line.low = factor * e.low;
	line.high = factor * e.high;
	return line;
}

char *
experiment_peak_name(const struct peak *peak)
{
	return rot_format("%s%s%s%s", peak->name, crossing_bytes(peak) > 1 ? " with fills" : "",
			  peak->mode[0] ? ", " : "", peak->mode);
}

static void
add(struct experiment *experiment, const struct peak *peak, const char *clock)
{
	const struct summary line = experiment_peak_line(peak, clock);
	const struct experiment_ceiling wanted = {
		.name = peak->name,
		.operation = peak->kind == PEAK_PERFORMANCE ? peak->operation : NULL,
		.border = peak->kind == PEAK_PERFORMANCE ? NULL : peak->border,
	};
	struct experiment_own_ceiling own = {.is_peak = true, .best = line.value, .low = line.low, .high = line.high};

	if (!isfinite(line.value) || !experiment_wants_ceiling(experiment, &wanted))
		return;
	own.name = experiment_peak_name(peak);
	own.operation = rot_strdup(wanted.operation);
	own.border = rot_strdup(wanted.border);
	own.access = rot_strdup(peak->access);
	own.instruction_set = rot_strdup(peak->instruction_set);
	own.value.unit = unit_of(peak, clock);
	own.value.kind = "measured";
	own.value.grade = "";
	own.value.summary = summary_single(own.best, "peak");
	own.value.summary.n = peak->nr_samples;
	experiment_keep_ceiling(experiment, &own);
}

/* The first operation that a roofline shows and that there may be peaks of; NULL: none. */
static const char *
operation_shown(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const char *operation = experiment->plots[i].y.operation;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE || !operation)
			continue;
		if (strcmp(operation, "flop") == 0 || strcmp(operation, "doublePrecisionFlop") == 0)
			return "doublePrecisionFlop";
		if (strcmp(operation, "singlePrecisionFlop") == 0)
			return operation;
	}
	return NULL;
}

double
experiment_peak_value(const struct experiment *experiment, const struct peak_wish *wish, const char *clock)
{
	double best = NAN;

	for (size_t i = 0; i < experiment->roof.nr; i++) {
		const struct peak *peak = &experiment->roof.peaks[i];

		if (peak->nr_threads == experiment->nr_roof_threads &&
		    peak_wish_is(wish, peak->operation, peak->border, peak->access, peak->instruction_set))
			best = fmax(best, estimate_of(peak, clock[0] ? clock : "coreCycles").value);
	}
	return best;
}

/* The roof, with the peaks that derived values name. */
static int
get_roof(struct experiment *experiment, struct rot_error *err)
{
	struct peak_list *roof = &experiment->roof;
	struct peak_wish *wishes;
	size_t nr;
	int rc = roof_get(experiment->rot, operation_shown(experiment), roof, err);

	if (rc < 0)
		return -1;
	nr = experiment_wishes(experiment, &wishes);
	if (nr > 0)
		rc = roof_complete(experiment->rot, wishes, nr, roof, err);
	for (size_t i = 0; i < nr; i++)
		peak_wish_clear(&wishes[i]);
	free(wishes);
	return rc;
}

int
experiment_add_default_peaks(struct experiment *experiment, struct rot_error *err)
{
	struct peak_list *roof = &experiment->roof;
	const char *clock;
	int rc;

	peak_list_clear(roof);
	progress_enter("roof");
	rc = get_roof(experiment, err);
	progress_leave();
	if (rc < 0)
		return -1;
	clock = experiment_clock_shown(experiment);
	experiment->nr_roof_threads = roof_nr_threads(roof, experiment->nr_cpus);
	for (size_t i = 0; i < roof->nr; i++)
		if (roof->peaks[i].kind != PEAK_LATENCY && roof->peaks[i].nr_threads == experiment->nr_roof_threads)
			add(experiment, &roof->peaks[i], clock);
	free(experiment->roof_note);
	experiment->roof_note = roof->nr ? roof_note(roof, experiment->nr_roof_threads, is_of_cycles(clock)) : NULL;
	return 0;
}

int
experiment_roof_threads(const struct experiment *experiment, double nr_cpus)
{
	return roof_nr_threads(&experiment->roof, nr_cpus);
}

static double
line_per_second(const struct peak *peak)
{
	return experiment_peak_line(peak, "microSeconds").value;
}

static bool
is_roof_of(const struct peak *peak, const char *operation, const char *border, int nr_threads)
{
	const size_t length = border ? strcspn(border, ".") : 0;

	if (peak->nr_threads != nr_threads || isnan(line_per_second(peak)))
		return false;
	return operation ? peak->kind == PEAK_PERFORMANCE && experiment_is_ceiling_of(peak->operation, operation)
			 : peak->kind == PEAK_BANDWIDTH && strlen(peak->border) == length &&
				   strncmp(peak->border, border, length) == 0 &&
				   experiment_is_of_direction(peak->access, peak->border, border);
}

const struct peak *
experiment_highest_peak(const struct experiment *experiment, const char *operation, const char *border, int nr_threads)
{
	const struct peak *highest = NULL, *shown;

	if (!operation && !border)
		return NULL;
	for (size_t i = 0; i < experiment->roof.nr; i++) {
		const struct peak *peak = &experiment->roof.peaks[i];

		if (is_roof_of(peak, operation, border, nr_threads) &&
		    (!highest || line_per_second(peak) > line_per_second(highest)))
			highest = peak;
	}
	shown = highest;
	for (size_t i = 0; highest && i < experiment->roof.nr; i++) {
		const struct peak *peak = &experiment->roof.peaks[i];

		if (is_roof_of(peak, operation, border, nr_threads) &&
		    experiment_stands_for(peak->access, line_per_second(peak), shown->access, line_per_second(highest)))
			shown = peak;
	}
	return shown;
}

struct summary
experiment_roof_value(const struct experiment *experiment, const char *operation, const char *border, int nr_threads)
{
	const struct peak *peak = experiment_highest_peak(experiment, operation, border, nr_threads);

	return peak ? experiment_peak_line(peak, "microSeconds") : summary_single(NAN, "quantile");
}
