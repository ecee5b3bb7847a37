/* SPDX-License-Identifier: MIT */
/* Ceilings of an experiment: measured, the best kept, and chosen for a roofline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "rot.h"
#include "support/progress.h"

/* A ceiling this close below another one says nothing new, and their texts would overlap. */
#define NEARLY_THE_SAME 0.93

/* Of the many performances that are found, so many are shown, each at most this share of the one above. */
#define MAX_PERFORMANCES 5
#define CLEARLY_LESS 0.7

void
experiment_ceiling_clear(struct experiment_own_ceiling *ceiling)
{
	quantity_value_clear(&ceiling->value);
	free(ceiling->name);
	free(ceiling->operation);
	free(ceiling->border);
	free(ceiling->access);
	free(ceiling->instruction_set);
}

bool
experiment_ceiling_is_least(const struct experiment_own_ceiling *ceiling)
{
	return ceiling->is_peak && !isfinite(ceiling->low);
}

bool
experiment_is_ceiling_of(const char *operation, const char *shown)
{
	operation = operation ? operation : "";
	shown = shown ? shown : "";
	return strcmp(operation, shown) == 0 ||
	       (strcmp(shown, "flop") == 0 && strcmp(operation, "doublePrecisionFlop") == 0);
}

bool
experiment_wants_ceiling(const struct experiment *experiment, const struct experiment_ceiling *ceiling)
{
	bool has_roofline = false;

	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const char *shown = experiment->plots[i].y.operation;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		has_roofline = true;
		if (ceiling->operation && experiment_is_ceiling_of(ceiling->operation, shown))
			return true;
	}
	return !has_roofline || !ceiling->operation;
}

/* The clock in which the rooflines show performance; NULL: the configured one. */
static const char *
clock_of_plots(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++)
		if (experiment->plots[i].plot.kind == EXPERIMENT_ROOFLINE)
			return experiment->plots[i].y.clock;
	return NULL;
}

void
experiment_keep_ceiling(struct experiment *experiment, struct experiment_own_ceiling *ceiling)
{
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		struct experiment_own_ceiling *known = &experiment->ceilings[i];

		if (strcmp(known->name, ceiling->name) != 0 || strcmp(known->operation, ceiling->operation) != 0)
			continue;
		if (ceiling->best > known->best) {
			struct experiment_own_ceiling lower = *known;

			*known = *ceiling;
			*ceiling = lower;
		}
		experiment_ceiling_clear(ceiling);
		return;
	}
	experiment->ceilings =
		rot_realloc(experiment->ceilings, experiment->nr_ceilings + 1, sizeof(*experiment->ceilings));
	experiment->ceilings[experiment->nr_ceilings++] = *ceiling;
}

int
experiment_add_ceiling(struct experiment *experiment, const struct experiment_ceiling *ceiling,
		       const struct measurement *measurement, int nr_runs, struct rot_error *err)
{
	struct quantity_request request = {
		.name = ceiling->operation ? "performance" : "throughput",
		.operation = ceiling->operation,
		.border = ceiling->border,
		.clock = clock_of_plots(experiment),
		.given_operations = ceiling->operation ? ceiling->work : 0,
		.given_bytes = ceiling->operation ? 0 : ceiling->work,
	};
	struct configuration *configuration = experiment->rot->configuration;
	struct experiment_own_ceiling own = {.low = NAN, .high = NAN};
	char **hashes = NULL;
	int rc;

	if (!(ceiling->work > 0) || isinf(ceiling->work))
		return rot_error_set(err, 0, "ceiling '%s': work of %g per run", ceiling->name, ceiling->work);
	progress_point();
	/* Compiler flags are tried on what is measured, not on what it is compared with. */
	configuration_push(configuration);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "optimization", "", NULL);
	rc = quantities_measure(experiment->rot, measurement, &request, 1, nr_runs, &own.value, &hashes, err);
	configuration_pop(configuration);
	if (rc < 0)
		return rot_interrupted() ? -1 : rot_error_prefix(err, "ceiling '%s'", ceiling->name);
	experiment_take_hashes(experiment, hashes);
	own.name = rot_strdup(ceiling->name);
	own.operation = rot_strdup(ceiling->operation);
	own.border = rot_strdup(ceiling->border);
	own.best = quantity_best_run(&own.value);
	if (isfinite(own.best)) {
		experiment_keep_ceiling(experiment, &own);
	} else {
		rot_warning("the ceiling '%s' is left out: no time was counted in any of its runs", own.name);
		experiment_ceiling_clear(&own);
	}
	return 0;
}

static int
higher_first(const void *a, const void *b)
{
	const struct experiment_own_ceiling *const *x = a, *const *y = b;

	return ((*x)->best < (*y)->best) - ((*x)->best > (*y)->best);
}

static bool
is_bandwidth(const struct experiment_own_ceiling *ceiling)
{
	return ceiling->operation[0] == '\0';
}

bool
experiment_is_of_direction(const char *access, const char *ceiling_border, const char *border)
{
	const char *direction = border ? strchr(border, '.') : NULL;

	if (!direction)
		return true;
	if (strcmp(direction, ".read") == 0)
		return strcmp(access, "load") == 0;
	/* below L1 the bytes of stores are of both directions */
	return strcmp(access, "ntStore") == 0 || (strcmp(access, "store") == 0 && strcmp(ceiling_border, "cpuL1") == 0);
}

static bool
belongs_to(const struct experiment_own_ceiling *ceiling, const struct experiment_own_plot *plot)
{
	return is_bandwidth(ceiling) ? !ceiling->is_peak || experiment_is_of_direction(ceiling->access, ceiling->border,
										       plot->x.border)
				     : experiment_is_ceiling_of(ceiling->operation, plot->y.operation);
}

/* What was kept so far for a plot; the highest come first. */
struct kept_ceilings {
	const struct experiment_own_ceiling **items;
	size_t nr;
};

/* Is there one of the same direction and machine, and of the border (NULL: any), not above value? */
static bool
has_kept(const struct kept_ceilings *kept, const struct experiment_own_ceiling *of, const char *border, double value)
{
	for (size_t i = 0; i < kept->nr; i++) {
		const struct experiment_own_ceiling *other = kept->items[i];

		if (is_bandwidth(other) == is_bandwidth(of) && other->machine == of->machine && other->best < value &&
		    (!border || strcmp(other->border, border) == 0))
			return true;
	}
	return false;
}

static size_t
nr_kept_performances(const struct kept_ceilings *kept, size_t machine)
{
	size_t nr = 0;

	for (size_t i = 0; i < kept->nr; i++)
		nr += !is_bandwidth(kept->items[i]) && kept->items[i]->machine == machine;
	return nr;
}

static bool
is_load(const struct experiment_own_ceiling *peak)
{
	return peak->is_peak && strcmp(peak->access, "load") == 0;
}

static bool
has_load(const struct experiment_own_ceiling *const *all, size_t nr, const struct experiment_own_ceiling *of)
{
	for (size_t i = 0; i < nr; i++)
		if (is_load(all[i]) && all[i]->machine == of->machine && strcmp(all[i]->border, of->border) == 0)
			return true;
	return false;
}

/* The lower, the more readers know it. */
static int
rank(const char *access)
{
	static const char *const known[] = {"load",    "copy",    "store", "ntStore", "FMA",
					    "FMA_ADD", "MUL_ADD", "ADD",   "MUL"};
	int i = 0;

	while (i < (int)(sizeof(known) / sizeof(*known)) && strcmp(known[i], access) != 0)
		i++;
	return i;
}

bool
experiment_stands_for(const char *access, double value, const char *other, double highest)
{
	return value > NEARLY_THE_SAME * highest && rank(access) < rank(other);
}

/* Of the performances of one instruction set. */
static bool
is_best_known(const struct experiment_own_ceiling *peak, const struct experiment_own_ceiling *const *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i]->is_peak && !is_bandwidth(all[i]) && all[i]->machine == peak->machine &&
		    strcmp(all[i]->instruction_set, peak->instruction_set) == 0 &&
		    rank(all[i]->access) < rank(peak->access))
			return false;
	return true;
}

/*
 * Of many peaks those that matter: the highest performance, and the best known one of each instruction set, as long as
 * they are clearly apart; of the border that the plot counts the highest bandwidth, and of each border that of loads,
 * which is what most programs do.
 */
static bool
does_matter(const struct experiment_own_ceiling *peak, const struct kept_ceilings *kept,
	    const struct experiment_own_ceiling *const *all, size_t nr, const char *border)
{
	bool is_own = peak->border[0] && strncmp(border, peak->border, strlen(peak->border)) == 0;

	if (!is_bandwidth(peak))
		return nr_kept_performances(kept, peak->machine) == 0 ||
		       (nr_kept_performances(kept, peak->machine) < MAX_PERFORMANCES && is_best_known(peak, all, nr) &&
			!has_kept(kept, peak, NULL, peak->best / CLEARLY_LESS));
	return is_load(peak) || (!has_kept(kept, peak, peak->border, INFINITY) && (is_own || !has_load(all, nr, peak)));
}

/* Of peaks that are nearly the same, the best known one stands for all. all: the highest first; item i or one behind.
 */
static const struct experiment_own_ceiling *
representative(const struct experiment_own_ceiling *const *all, size_t nr, size_t i)
{
	const struct experiment_own_ceiling *best = all[i];

	for (size_t k = i + 1; best->is_peak && k < nr; k++)
		if (all[k]->is_peak && is_bandwidth(all[k]) == is_bandwidth(best) && all[k]->machine == best->machine &&
		    strcmp(all[k]->border, best->border) == 0 &&
		    experiment_stands_for(all[k]->access, all[k]->best, best->access, all[i]->best))
			best = all[k];
	return best;
}

size_t
experiment_ceilings_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
		       const struct experiment_own_ceiling ***ceilings)
{
	const struct experiment_own_ceiling **all = rot_calloc(experiment->nr_ceilings + 1, sizeof(*all));
	struct kept_ceilings kept = {rot_calloc(experiment->nr_ceilings + 1, sizeof(*all)), 0};
	const char *border = plot->x.border ? plot->x.border : "";
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		if (belongs_to(&experiment->ceilings[i], plot))
			all[nr++] = &experiment->ceilings[i];
	qsort(all, nr, sizeof(*all), higher_first);
	for (size_t i = 0; i < nr; i++) {
		const struct experiment_own_ceiling *ceiling = all[i];

		if (plot->plot.has_all_peaks || (!has_kept(&kept, ceiling, NULL, ceiling->best / NEARLY_THE_SAME) &&
						 (!ceiling->is_peak || does_matter(ceiling, &kept, all, nr, border))))
			kept.items[kept.nr++] = plot->plot.has_all_peaks ? ceiling : representative(all, nr, i);
	}
	free(all);
	*ceilings = kept.items;
	return kept.nr;
}
