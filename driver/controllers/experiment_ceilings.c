/* SPDX-License-Identifier: MIT */
/* Ceilings of an experiment: measured, the best kept, and chosen for a roofline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/experiment_internal.h"
#include "memory.h"
#include "rot.h"
#include "support/progress.h"

/* A ceiling this close below another one says nothing new, and their texts would overlap. */
#define NEARLY_THE_SAME 0.93

void
experiment_ceiling_clear(struct experiment_own_ceiling *ceiling)
{
	quantity_value_clear(&ceiling->value);
	free(ceiling->name);
	free(ceiling->operation);
	free(ceiling->border);
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

/* The best undisturbed run. A counter that gave 0 cycles makes an infinite rate: no run of that kind is the best. */
double
experiment_best_run(const struct quantity_value *value)
{
	double highest = NAN;

	for (size_t i = 0; i < value->nr_samples; i++)
		if (value->taints[i] == 0 && isfinite(value->samples[i]))
			highest = fmax(highest, value->samples[i]); /* of a number and NaN, the number */
	return isnan(highest) ? value->summary.value : highest;
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
	struct experiment_own_ceiling own = {0};
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
	own.best = experiment_best_run(&own.value);
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

static bool
belongs_to(const struct experiment_own_ceiling *ceiling, const struct experiment_own_plot *plot)
{
	return is_bandwidth(ceiling) || experiment_is_ceiling_of(ceiling->operation, plot->y.operation);
}

size_t
experiment_ceilings_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
		       const struct experiment_own_ceiling ***ceilings)
{
	const struct experiment_own_ceiling **all = rot_calloc(experiment->nr_ceilings + 1, sizeof(*all));
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		if (belongs_to(&experiment->ceilings[i], plot))
			all[nr++] = &experiment->ceilings[i];
	qsort(all, nr, sizeof(*all), higher_first);
	for (size_t i = 0; i < nr; i++) {
		bool is_new = true;

		for (size_t j = 0; j < kept; j++)
			if (is_bandwidth(all[i]) == is_bandwidth(all[j]) && all[i]->machine == all[j]->machine &&
			    all[i]->best > NEARLY_THE_SAME * all[j]->best)
				is_new = false;
		if (is_new)
			all[kept++] = all[i];
	}
	*ceilings = all;
	return kept;
}

double
experiment_ceiling_value(const struct experiment *experiment, const char *operation, const char *border)
{
	double best = NAN;

	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct experiment_own_ceiling *ceiling = &experiment->ceilings[i];
		bool is_meant = operation ? experiment_is_ceiling_of(ceiling->operation, operation)
					  : is_bandwidth(ceiling) && strcmp(ceiling->border, border) == 0;

		if (is_meant)
			best = fmax(best, ceiling->best); /* of a number and NaN, the number */
	}
	return best;
}
