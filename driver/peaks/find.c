/* SPDX-License-Identifier: MIT */
#include "peaks/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "levels/levels.h"
#include "machine/cpus.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "peaks/ceiling_search.h"
#include "peaks/limits.h"
#include "planning/xml_controller.h"
#include "planning/xml_plan.h"
#include "quantities/architecture.h"
#include "support/clock.h"
#include "support/progress.h"

#define NR_TOGETHER 24 /* ceilings whose few variants are built together, where each has only its seeds */

static const struct search_effort efforts[] = {
	[SEARCH_QUICK] = {"quick", {4, 0, 12}, {.least = 2, .most = 4, .processes = 8, .runs = 7}, 28},
	[SEARCH_FAST] = {"full", {5, 8, 16}, {.least = 4, .most = 16, .processes = 24, .runs = 7}, 540},
	[SEARCH_GRID] = {"grid", {5, 8, 16}, {.least = 4, .most = 16, .processes = 24, .runs = 7}, INFINITY},
};

/* ---- which ceilings ---- */

/* A border is meant as a whole: "l1" is not "l1l2". */
static bool
is_in(const struct planned_ceiling *ceiling, const char *word)
{
	const char *const texts[] = {ceiling->name, ceiling->operation, ceiling->access, ceiling->instruction_set,
				     peak_kind_name(ceiling_kind(ceiling))};
	bool is_found = ceiling->border && strcasecmp(ceiling->border, word) == 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		is_found = is_found || (texts[i] && strcasestr(texts[i], word));
	return is_found;
}

/* Is one of the parts of the word, between commas, in the ceiling? */
static bool
has_part(const struct planned_ceiling *ceiling, const char *word)
{
	autofree char *parts = rot_strdup(word);
	char *rest = NULL;
	bool is_found = false;

	for (char *part = strtok_r(parts, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
		is_found = is_found || is_in(ceiling, part);
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
build(struct finding *finding, const struct variant *variants, size_t nr)
{
	autofree struct measurement **measurements = rot_calloc(nr + 1, sizeof(*measurements));
	struct rot_error ignored = {0};

	for (size_t i = 0; i < nr; i++)
		measurements[i] = variants[i].measurement;
	measuring_prepare(finding->rot, measurements, nr, &ignored);
}

/* One batch of each. Gives the number of variants; interrupted: -1. */
static int
search_once(struct finding *finding, struct ceiling_search *searches, size_t nr_searches)
{
	autofree struct variant *variants = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < nr_searches; i++)
		ceiling_search_next(&searches[i], &variants, &nr);
	build(finding, variants, nr);
	for (size_t i = 0; i < nr; i++) {
		if (!rot_interrupted())
			variant_measure(&variants[i]);
		rot_graph_delete(variants[i].measurement);
	}
	return rot_interrupted() ? -1 : (int)nr;
}

static int
search_group(struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	autofree struct ceiling_search *searches = rot_calloc(nr + 1, sizeof(*searches));
	size_t nr_begun = 0;
	int rc = 0, nr_measured = 1;

	while (nr_begun < nr && (rc = ceiling_search_begin(&searches[nr_begun], finding, ceilings[nr_begun], err)) == 0)
		nr_begun++;
	while (rc == 0 && nr_measured > 0)
		nr_measured = search_once(finding, searches, nr_begun);
	for (size_t i = 0; rc == 0 && nr_measured == 0 && i < nr_begun; i++) {
		struct rot_error why = {0};

		progress_point();
		if (ceiling_search_finish(&searches[i], &why) < 0 && !rot_interrupted())
			rot_warning("the peak '%s' is left out: %s", ceilings[i]->name, why.text);
		if (rot_interrupted())
			nr_measured = -1;
	}
	for (size_t i = 0; i < nr_begun; i++)
		optimiser_delete(searches[i].optimiser);
	return nr_measured < 0 ? rot_error_set(err, 0, "interrupted") : rc;
}

/* In groups; each gets its share of the time that is left. */
static int
search_all(struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr, struct rot_error *err)
{
	const size_t nr_together = finding->options->strategy == SEARCH_QUICK ? NR_TOGETHER : 1;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i += nr_together) {
		const size_t nr_now = nr - i < nr_together ? nr - i : nr_together;
		const double now = clock_now_s();

		finding->deadline_now_s = now + fmax(0, finding->deadline_s - now) * (double)nr_now / (double)(nr - i);
		rc = search_group(finding, ceilings + i, nr_now, err);
	}
	return rc;
}

/*
 * What the progress line counts as points: of each ceiling one to search it, and one to measure what was found. The
 * least rounds of peaks that have modes (modes.h) come behind these, and count as so many of them as they have runs.
 */
static size_t
nr_points(const struct finding *finding, const struct planned_ceiling *const *ceilings, size_t nr)
{
	const struct peaks_options *options = finding->options;
	const struct search_effort *effort = finding->effort;
	size_t nr_runs = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < options->nr_threads; k++)
			if (modes_of(&finding->modes, ceilings[i]->border, (size_t)options->threads[k]) != MODES_NONE)
				nr_runs += (size_t)(effort->rounds.least * effort->rounds.runs);
	return 2 * nr + nr_runs / (size_t)effort->runs.report;
}

static int
find_all(struct finding *finding, struct rot_error *err)
{
	const struct xml_controller *controller = finding->controller;
	autofree const struct planned_ceiling **wanted =
		rot_calloc(controller->nr_ceilings + 1, sizeof(struct planned_ceiling *));
	struct rot_error ignored;
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		if (is_wanted(&controller->ceilings[i], finding->options))
			wanted[nr++] = &controller->ceilings[i];
	if (nr == 0) {
		rc = rot_error_set(err, 0,
				   finding->options->nr_words ? "no peak has all these words"
							      : "no such peak is looked for");
		rot_error_hint(err,
			       "words are looked for in names, operations, borders, accesses and instruction sets");
	} else {
		progress_begin(nr_points(finding, wanted, nr),
			       configuration_bool(finding->rot->configuration, "quiet"));
		progress_until(finding->rounds_deadline_s);
		rc = search_all(finding, wanted, nr, err);
		if (modes_finish(&finding->modes, finding->rot, &finding->effort->rounds, finding->rounds_deadline_s,
				 finding->list, rc == 0 ? err : &ignored) < 0)
			rc = -1;
		peak_list_keep_best(finding->list);
		progress_end();
	}
	return rc;
}

/*
 * Footprints follow from the sizes of the caches. If a wanted ceiling is one of memory and a size is not known, it is
 * measured first, and the ceilings are planned again.
 */
static int
know_sizes(struct finding *finding, struct rot_error *err)
{
	const struct xml_controller *controller = finding->controller;
	bool is_memory_wanted = false;

	for (size_t i = 0; i < controller->nr_ceilings; i++)
		is_memory_wanted |=
			controller->ceilings[i].border && is_wanted(&controller->ceilings[i], finding->options);
	if (!is_memory_wanted || levels_are_known(finding->rot->machine))
		return 0;
	if (levels_ensure(finding->rot, err) < 0)
		return -1;
	xml_controller_close(finding->controller);
	finding->controller = xml_controller_open_default_peaks(finding->rot, err);
	return finding->controller ? 0 : -1;
}

int
peaks_find(struct rot *rot, const struct peaks_options *options, struct peak_list *list, struct rot_error *err)
{
	struct finding finding = {
		.rot = rot,
		.options = options,
		.effort = &efforts[options->strategy],
		.list = list,
		.deadline_s = options->time_limit_s > 0 ? clock_now_s() + options->time_limit_s : INFINITY,
		.rounds_deadline_s = clock_now_s() + efforts[options->strategy].rounds_s,
		.controller = xml_controller_open_default_peaks(rot, err),
		.limits = limits_load(rot, NULL),
	};
	bool has_cpus = true;
	int rc = -1;

	finding.nr_cpus = allowed_cpus(&finding.cpus, &finding.modes.nr_cores);
	for (size_t i = 0; finding.controller && has_cpus && i < options->nr_threads; i++)
		if (options->threads[i] < 1 || (size_t)options->threads[i] > finding.nr_cpus) {
			rot_error_set(err, 0, "%d threads: this process may run on %zu CPUs", options->threads[i],
				      finding.nr_cpus);
			has_cpus = false;
		}
	if (finding.controller && has_cpus && know_sizes(&finding, err) == 0)
		rc = find_all(&finding, err);
	modes_clear(&finding.modes);
	architecture_delete(finding.limits);
	xml_controller_close(finding.controller);
	free(finding.cpus);
	return rc;
}

int
peaks_max_threads(void)
{
	autofree int *cpus = NULL;
	size_t nr = allowed_cpus(&cpus, NULL);

	return (int)nr;
}
