/* SPDX-License-Identifier: MIT */
#include "peaks/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/xml_controller.h"
#include "controllers/xml_plan.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "peaks/hunt.h"
#include "peaks/levels.h"
#include "support/clock.h"
#include "support/progress.h"

#define NR_TOGETHER 24 /* ceilings whose few variants are built together, where each has only its seeds */

static const struct hunting_strategy strategies[] = {
	[SEARCH_QUICK] = {"quick", {4, 0, 14}, {.least = 2, .most = 2, .processes = 8, .runs = 7}},
	[SEARCH_FAST] = {"full", {5, 8, 16}, {.least = 4, .most = 8, .processes = 12, .runs = 7}},
	[SEARCH_GRID] = {"grid", {5, 8, 16}, {.least = 4, .most = 8, .processes = 12, .runs = 7}},
};

/* ---- which ceilings ---- */

/* A border is meant as a whole: "l1" is not "l1l2". */
static bool
is_in(const struct planned_ceiling *ceiling, const char *word)
{
	static const char *const kinds[] = {"performance", "bandwidth", "latency"};
	const char *const texts[] = {ceiling->name, ceiling->operation, ceiling->access, ceiling->instruction_set,
				     kinds[hunt_kind(ceiling)]};
	bool is_found = ceiling->border && strcasecmp(ceiling->border, word) == 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		is_found = is_found || (texts[i] && strcasestr(texts[i], word));
	return is_found;
}

/* Is one of the parts of the word, between commas, in the ceiling? */
static bool
has_part(const struct planned_ceiling *ceiling, const char *word)
{
	char *parts = rot_strdup(word), *rest = NULL;
	bool is_found = false;

	for (char *part = strtok_r(parts, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
		is_found = is_found || is_in(ceiling, part);
	free(parts);
	return is_found;
}

static bool
is_wished(const struct planned_ceiling *ceiling, const struct peaks_options *options)
{
	for (size_t i = 0; i < options->nr_wishes; i++)
		if (peak_wish_is(&options->wishes[i], ceiling->operation, ceiling->border, ceiling->access,
				 ceiling->instruction_set))
			return true;
	return options->nr_wishes == 0;
}

static bool
is_wanted(const struct planned_ceiling *ceiling, const struct peaks_options *options)
{
	bool is_chosen = options->nr_words + options->nr_wishes > 0;

	if ((ceiling->is_rare && options->strategy == SEARCH_QUICK && !is_chosen) || !is_wished(ceiling, options))
		return false;
	for (size_t i = 0; i < options->nr_words; i++)
		if (!has_part(ceiling, options->words[i]))
			return false;
	return true;
}

/* ---- all of them ---- */

/* Builds them side by side. What cannot be built is told when it is measured. */
static void
build(struct hunting *hunting, const struct variant *variants, size_t nr)
{
	struct measurement **measurements = rot_calloc(nr + 1, sizeof(*measurements));
	struct rot_error ignored = {0};

	for (size_t i = 0; i < nr; i++)
		measurements[i] = variants[i].measurement;
	measuring_prepare(hunting->rot, measurements, nr, &ignored);
	free(measurements);
}

/* One batch of each. Gives the number of variants; interrupted: -1. */
static int
search_once(struct hunting *hunting, struct hunt *hunts, size_t nr_hunts)
{
	struct variant *variants = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < nr_hunts; i++)
		hunt_next(&hunts[i], &variants, &nr);
	build(hunting, variants, nr);
	for (size_t i = 0; i < nr; i++) {
		if (!rot_interrupted())
			variant_measure(&variants[i]);
		rot_graph_delete(variants[i].measurement);
	}
	free(variants);
	return rot_interrupted() ? -1 : (int)nr;
}

static int
hunt_group(struct hunting *hunting, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	struct hunt *hunts = rot_calloc(nr + 1, sizeof(*hunts));
	size_t nr_begun = 0;
	int rc = 0, nr_measured = 1;

	while (nr_begun < nr && (rc = hunt_begin(&hunts[nr_begun], hunting, ceilings[nr_begun], err)) == 0)
		nr_begun++;
	while (rc == 0 && nr_measured > 0)
		nr_measured = search_once(hunting, hunts, nr_begun);
	for (size_t i = 0; rc == 0 && nr_measured == 0 && i < nr_begun; i++) {
		struct rot_error why = {0};

		progress_point();
		if (hunt_finish(&hunts[i], &why) < 0 && !rot_interrupted())
			rot_warning("the peak '%s' is left out: %s", ceilings[i]->name, why.text);
		if (rot_interrupted())
			nr_measured = -1;
	}
	for (size_t i = 0; i < nr_begun; i++)
		search_delete(hunts[i].search);
	free(hunts);
	return nr_measured < 0 ? rot_error_set(err, 0, "interrupted") : rc;
}

/* In groups; each gets its share of the time that is left. */
static int
hunt_all(struct hunting *hunting, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	const size_t nr_together = hunting->options->strategy == SEARCH_QUICK ? NR_TOGETHER : 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i += nr_together) {
		const size_t nr_now = nr - i < nr_together ? nr - i : nr_together;
		const double now = clock_now_s();

		hunting->deadline_now_s = now + fmax(0, hunting->deadline_s - now) * (double)nr_now / (double)(nr - i);
		rc = hunt_group(hunting, ceilings + i, nr_now, err);
	}
	return rc;
}

/* Of peaks that have modes (modes.h): each counts as a point of the progress line. */
static size_t
nr_rounds(const struct hunting *hunting, const struct planned_ceiling *const *ceilings, size_t nr)
{
	const struct peaks_options *options = hunting->options;
	const struct mode_rounds *rounds = &hunting->strategy->rounds;
	const int nr_of[] = {[MODES_OF_RATE] = rounds->processes, [MODES_OF_PLACEMENT] = rounds->most};
	int most = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < options->nr_threads; k++) {
			int nr_here = nr_of[modes_of(ceilings[i]->border, (size_t)options->threads[k])];

			most = nr_here > most ? nr_here : most;
		}
	return (size_t)most;
}

static int
hunt(struct hunting *hunting, struct rot_error *err)
{
	const struct xml_controller *controller = hunting->controller;
	const struct planned_ceiling **wanted =
		rot_calloc(controller->nr_ceilings + 1, sizeof(struct planned_ceiling *));
	struct rot_error ignored;
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		if (is_wanted(&controller->ceilings[i], hunting->options))
			wanted[nr++] = &controller->ceilings[i];
	if (nr == 0) {
		rc = rot_error_set(err, 0,
				   hunting->options->nr_words ? "no peak has all these words"
							      : "no such peak is looked for");
		rot_error_hint(err,
			       "words are looked for in names, operations, borders, accesses and instruction sets");
	} else {
		progress_begin(nr + nr_rounds(hunting, wanted, nr),
			       configuration_bool(hunting->rot->configuration, "quiet"));
		rc = hunt_all(hunting, wanted, nr, err);
		if (modes_finish(&hunting->modes, hunting->rot, &hunting->strategy->rounds, hunting->deadline_s,
				 hunting->list, rc == 0 ? err : &ignored) < 0)
			rc = -1;
		progress_end();
	}
	free(wanted);
	return rc;
}

/*
 * Footprints follow from the sizes of the caches. If a wanted ceiling is one of memory and a size is not known, it is
 * measured first, and the ceilings are planned again.
 */
static int
know_sizes(struct hunting *hunting, struct rot_error *err)
{
	const struct xml_controller *controller = hunting->controller;
	bool is_memory_wanted = false;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		is_memory_wanted |=
			controller->ceilings[i].border && is_wanted(&controller->ceilings[i], hunting->options);
	if (!is_memory_wanted || levels_are_known(hunting->rot->machine))
		return 0;
	if (levels_ensure(hunting->rot, err) < 0)
		return -1;
	xml_controller_close(hunting->controller);
	hunting->controller = xml_controller_open_default_peaks(hunting->rot, err);
	return hunting->controller ? 0 : -1;
}

int
peaks_find(struct rot *rot, const struct peaks_options *options, struct peak_list *list, struct rot_error *err)
{
	struct hunting hunting = {
		.rot = rot,
		.options = options,
		.strategy = &strategies[options->strategy],
		.list = list,
		.deadline_s = options->time_limit_s > 0 ? clock_now_s() + options->time_limit_s : INFINITY,
		.controller = xml_controller_open_default_peaks(rot, err),
	};
	int rc = -1;

	hunting.nr_cpus = allowed_cpus(&hunting.cpus);
	for (size_t i = 0; hunting.controller && i < options->nr_threads; i++)
		if (options->threads[i] < 1 || (size_t)options->threads[i] > hunting.nr_cpus) {
			rot_error_set(err, 0, "%d threads: this process may run on %zu CPUs", options->threads[i],
				      hunting.nr_cpus);
			goto out;
		}
	if (hunting.controller && know_sizes(&hunting, err) == 0)
		rc = hunt(&hunting, err);
out:
	modes_clear(&hunting.modes);
	xml_controller_close(hunting.controller);
	free(hunting.cpus);
	return rc;
}

int
peaks_max_threads(void)
{
	int *cpus;
	size_t nr = allowed_cpus(&cpus);

	free(cpus);
	return (int)nr;
}
