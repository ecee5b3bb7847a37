/* SPDX-License-Identifier: MIT */
/* Results that were measured before in one roofline: an experiment whose points and ceilings come from files. */
#include "stored/stored_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "page/page.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "stored/stored_result.h"
#include "support/json.h"

/* ---- axes: two quantities that all files have ---- */

struct stored_axes {
	struct quantity_request x, y; /* with the clock of the values */
	const char *unit;             /* of y; borrowed from the file */
	bool is_mixed; /* each file has floating-point operations of some precision; x and y say "flop" */
};

struct axes_search {
	const struct stored_result *results;
	size_t nr;
	const char *x, *y; /* what was asked for, or NULL */
	struct stored_axes *axes;
	bool is_mixed; /* of any floating-point operations */
};

/* In a plot of several, the widest that a point has stands for it. */
static const char *const flop_words[] = {"flop", "doublePrecisionFlop", "singlePrecisionFlop"};

#define NR_FLOP_WORDS (sizeof(flop_words) / sizeof(*flop_words))

/* A request without a clock may be of any. */
static bool
is_of(const struct quantity_request *request, const struct quantity_request *asked)
{
	return quantity_same_word(request->name, asked->name) &&
	       quantity_same_word(request->operation, asked->operation) &&
	       quantity_same_word(request->border, asked->border) &&
	       (!asked->clock || quantity_same_word(request->clock, asked->clock));
}

/* The value of a point that is asked for; NULL: there is none. */
static const struct quantity_value *
point_value(const struct stored_point *point, const struct quantity_request *asked)
{
	for (size_t i = 0; i < point->nr_values; i++)
		if (is_of(&point->values[i].request, asked))
			return &point->values[i];
	return NULL;
}

/* The point's x and y, both of the same operation; false: it has not both. */
static bool
axes_values(const struct stored_axes *axes, const struct stored_point *point, const struct quantity_value *values[2])
{
	for (size_t i = 0; i < (axes->is_mixed ? NR_FLOP_WORDS : 1); i++) {
		struct quantity_request x = axes->x, y = axes->y;

		if (axes->is_mixed)
			x.operation = y.operation = flop_words[i];
		values[0] = point_value(point, &x);
		values[1] = point_value(point, &y);
		if (values[0] && values[1] && strcmp(values[1]->unit, axes->unit) == 0)
			return true;
	}
	return false;
}

/* The values of the first point that has both. */
static bool
first_values(const struct stored_axes *axes, const struct stored_result *result, const struct quantity_value *values[2])
{
	for (size_t i = 0; i < result->nr_points; i++)
		if (axes_values(axes, &result->points[i], values))
			return true;
	return false;
}

static bool
has_axes(const struct stored_result *result, const struct stored_axes *axes)
{
	const struct quantity_value *values[2];

	return first_values(axes, result, values);
}

/* "double precision": of what the values of the first point with both are; "" of both precisions. Fresh memory. */
static char *
axes_precision(const struct stored_axes *axes, const struct stored_result *result)
{
	const struct quantity_value *values[2];

	return first_values(axes, result, values) ? value_of_words(values[1]) : rot_strdup("");
}

/* Is that what was asked for, if anything was? */
static bool
is_wanted(const char *asked, const struct quantity_request *request)
{
	struct quantity_request wanted = {0};

	if (!asked)
		return true;
	quantity_parse(&wanted, asked, NULL);
	return is_of(request, &wanted);
}

/* The y that goes with x in that point. */
static bool
find_y(const struct axes_search *search, const struct stored_point *point, struct stored_axes *axes)
{
	for (size_t i = 0; i < point->nr_values; i++) {
		const struct quantity_value *value = &point->values[i];

		if (strcmp(value->request.name, "performance") == 0 &&
		    quantity_same_word(value->request.operation, axes->x.operation) &&
		    is_wanted(search->y, &value->request)) {
			axes->y = value->request;
			axes->unit = value->unit;
			return true;
		}
	}
	return false;
}

static bool
all_have(const struct axes_search *search, const struct stored_axes *axes)
{
	for (size_t i = 1; i < search->nr; i++)
		if (!has_axes(&search->results[i], axes))
			return false;
	return true;
}

/* Makes the axes those of any floating-point operations, if x and y are of such. */
static void
mix(const struct axes_search *search, struct stored_axes *axes)
{
	for (size_t i = 0; search->is_mixed && !axes->is_mixed && i < NR_FLOP_WORDS; i++)
		if (quantity_same_word(axes->x.operation, flop_words[i])) {
			axes->x.operation = axes->y.operation = flop_words[0];
			axes->is_mixed = true;
		}
}

/* The first pair of that point that all files have; else *first gets the first pair, if there was none before. */
static bool
choose_of_point(struct axes_search *search, const struct stored_point *point, struct stored_axes *first)
{
	for (size_t i = 0; i < point->nr_values; i++) {
		struct stored_axes axes = {.x = point->values[i].request};

		if (strcmp(axes.x.name, "operationalIntensity") != 0 || !is_wanted(search->x, &axes.x) ||
		    !find_y(search, point, &axes))
			continue;
		mix(search, &axes);
		if (all_have(search, &axes)) {
			*search->axes = axes;
			return true;
		}
		if (!first->unit)
			*first = axes;
	}
	return false;
}

/* "time, performance:flop, ...": of what points of a file have a value. Fresh memory. */
static char *
all_words(const struct stored_result *result)
{
	char *all = rot_strdup("");

	for (size_t i = 0; i < result->nr_points; i++)
		for (size_t k = 0; k < result->points[i].nr_values; k++) {
			autofree char *words = quantity_request_text(&result->points[i].values[k].request);

			if (!strstr(all, words))
				rot_append(&all, "%s%s", *all ? ", " : "", words);
		}
	return all;
}

static int
refuse(const struct stored_result *result, const char *what, struct rot_error *err)
{
	autofree char *words = all_words(result);

	rot_error_set(err, 0, "'%s' has no point with %s; it has: %s", result->path, what, *words ? words : "nothing");
	return rot_error_hint(err, "-x and -y choose other quantities; counting operations and bytes needs hardware "
				   "counters, see rot doctor");
}

static int
refuse_axes(const struct axes_search *search, const struct stored_axes *first, struct rot_error *err)
{
	const char *x = search->x ? search->x : "an operationalIntensity",
		   *y = search->y ? search->y : "a performance of the same operation";
	autofree char *x_text = NULL, *y_text = NULL, *what = NULL;
	size_t i = 1;

	if (!first->unit) {
		what = rot_format("%s and %s", x, y);
		return refuse(&search->results[0], what, err);
	}
	while (i + 1 < search->nr && has_axes(&search->results[i], first))
		i++;
	x_text = quantity_request_text(&first->x);
	y_text = quantity_request_text(&first->y);
	what = rot_format("%s and %s, as '%s' has", x_text, y_text, search->results[0].path);
	return refuse(&search->results[i], what, err);
}

/*
 * The first pair that all results have, or else the first that they have of any floating-point operations; x and y:
 * what was asked for, or NULL, and then of these operations. Errors name a file and what it has.
 */
static int
axes_choose(struct stored_axes *axes, const struct stored_result *results, size_t nr, const char *x, const char *y,
	    struct rot_error *err)
{
	struct axes_search whole = {results, nr, x, y, axes, false}, *search = &whole;
	struct quantity_request ignored;
	struct stored_axes first = {.unit = NULL};

	if (search->x && quantity_parse(&ignored, search->x, err) < 0)
		return rot_error_prefix(err, "-x");
	if (search->y && quantity_parse(&ignored, search->y, err) < 0)
		return rot_error_prefix(err, "-y");
	for (int pass = 0; pass < (x || y ? 1 : 2); pass++) {
		search->is_mixed = pass == 1;
		for (size_t i = 0; i < results[0].nr_points; i++)
			if (choose_of_point(search, &results[0].points[i], &first))
				return 0;
	}
	return refuse_axes(search, &first, err);
}

struct plot_job {
	struct pool pool; /* of the results */
	const struct stored_plot_options *options;
	struct stored_result *results;
	size_t *machines; /* of each result: index of its machine */
	size_t nr;
	struct stored_axes axes;
	struct experiment *experiment;
};

/* ---- points ---- */

/* Threads are drawn by nobody else either. */
static bool
is_shown(const json_t *point)
{
	const char *series = json_text_at(point, "series");

	return strcmp(series, "threads") != 0 && strcmp(series, "threads of regions") != 0;
}

/* "a: Triad": which file, where there are several. Fresh memory. */
static char *
series_of(const struct plot_job *job, const struct stored_result *result, const json_t *point)
{
	const char *series = json_text_at(point, "series");

	if (job->nr == 1)
		return rot_strdup(series);
	return rot_format("%s%s%s", result->name, *series ? ": " : "", series);
}

/* Are x and y those that functions are told of: the first ones of their names? */
static bool
are_first(const struct stored_point *point, const struct quantity_value *const found[2])
{
	bool are = true;

	for (size_t i = 0; i < 2; i++) {
		size_t k = 0;

		while (strcmp(point->values[k].name, found[i]->name) != 0)
			k++;
		are = are && &point->values[k] == found[i];
	}
	return are;
}

static bool
add_point(struct plot_job *job, const struct stored_result *result, const struct stored_point *point)
{
	const size_t nr = 2 + (job->nr == 1 ? point->nr_values : 0);
	autofree struct quantity_request *requests = rot_calloc(nr, sizeof(*requests));
	autofree struct quantity_value *values = rot_calloc(nr, sizeof(*values));
	const struct quantity_value *found[2];
	struct experiment_point *added;
	autofree char *series = NULL;

	/* Logarithmic axes need values above 0; no bytes at all are an intensity without end. */
	if (!axes_values(&job->axes, point, found) || !is_shown(point->json) ||
	    !(found[0]->summary.value > 0 && found[1]->summary.value > 0 && isfinite(found[1]->summary.value)))
		return false;
	requests[0] = job->axes.x;
	requests[1] = job->axes.y;
	for (size_t i = 0; i < nr; i++) {
		values[i] = i < 2 ? *found[i] : point->values[i - 2];
		requests[i] = i < 2 ? requests[i] : values[i].request;
	}
	series = series_of(job, result, point->json);
	experiment_add_values(job->experiment, series, json_text_at(point->json, "label"), requests, values, nr);
	added = &job->experiment->points[job->experiment->nr_points - 1];
	added->result = point->json;
	if (strcmp(json_text_at(point->json, "series"), "program") == 0 && are_first(point, found)) {
		/* The program is that of the point that was just added. */
		autofree char *before = job->nr == 1 ? rot_strdup("") : rot_format("%s: ", result->name);

		experiment_add_functions(job->experiment, job->experiment->nr_points - 1, before, result->json,
					 (size_t)(result - job->results));
	}
	return true;
}

static int
add_points(struct plot_job *job, struct rot_error *err)
{
	for (size_t i = 0; i < job->nr; i++) {
		size_t nr_drawn = 0;

		for (size_t k = 0; k < job->results[i].nr_points; k++)
			nr_drawn += add_point(job, &job->results[i], &job->results[i].points[k]);
		if (nr_drawn == 0)
			return rot_error_set(err, 0,
					     "no point of '%s' can be drawn: none has operations and bytes above 0",
					     job->results[i].path);
	}
	return 0;
}

/* ---- machines and their ceilings ---- */

static size_t
machine_of(const struct plot_job *job, size_t result)
{
	for (size_t i = 0; i < result; i++)
		if (stored_result_same_machine(&job->results[i], &job->results[result]))
			return job->machines[i];
	return job->experiment->nr_stored_machines;
}

/* "a, b": those of the machine. Fresh memory. */
static char *
files_of(const struct plot_job *job, size_t machine)
{
	char *files = rot_strdup("");

	for (size_t i = 0; i < job->nr; i++) {
		if (job->machines[i] != machine)
			continue;
		rot_append(&files, "%s%s", *files ? ", " : "", job->results[i].name);
	}
	return files;
}

static void
add_machines(struct plot_job *job)
{
	struct experiment *experiment = job->experiment;
	struct pool *pool = &experiment->pool;

	for (size_t i = 0; i < job->nr; i++) {
		job->machines[i] = machine_of(job, i);
		if (job->machines[i] < experiment->nr_stored_machines)
			continue;
		pool_add(pool, experiment->stored_machines, experiment->nr_stored_machines) =
			pool_own(pool, machine_caption(job->results[i].machine), free);
	}
	for (size_t m = 0; experiment->nr_stored_machines > 1 && m < experiment->nr_stored_machines; m++) {
		autofree char *files = files_of(job, m);

		experiment->stored_machines[m] = pool_format(pool, "%s: %s", files, experiment->stored_machines[m]);
	}
}

/* The file whose name stands for the machine. */
static const char *
machine_name(const struct plot_job *job, size_t machine)
{
	size_t i = 0;

	while (job->machines[i] != machine)
		i++;
	return job->results[i].name;
}

/* Per the same unit of time as y, and of operations that y counts? */
static bool
has_unit_of(const struct ceiling *ceiling, const struct stored_axes *axes)
{
	const char *per = strrchr(ceiling->unit, '/'), *y_per = strrchr(axes->unit, '/');

	return strcmp(per ? per : "", y_per ? y_per : "") == 0;
}

static void
add_ceilings(struct plot_job *job)
{
	for (size_t i = 0; i < job->nr; i++) {
		const json_t *ceilings = json_object_get(job->results[i].json, "ceilings");
		const char *other = NULL;

		for (size_t k = 0; k < json_array_size(ceilings); k++) {
			struct ceiling ceiling = ceiling_of_json(json_array_get(ceilings, k));

			ceiling.machine = job->machines[i];
			if (job->experiment->nr_stored_machines > 1)
				ceiling.name = pool_format(&job->experiment->pool, "%s, %s", ceiling.name,
							   machine_name(job, ceiling.machine));
			if (!has_unit_of(&ceiling, &job->axes))
				other = ceiling.unit;
			else if (ceiling.value > 0)
				experiment_keep_ceiling(job->experiment, &ceiling);
		}
		if (other)
			rot_warning("ceilings of '%s' in %s are left out: the performance is in %s",
				    job->results[i].path, other, job->axes.unit);
	}
}

/* ---- the plot ---- */

static int
read_range(const char *text, const char *option, double *low, double *high, struct rot_error *err)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	autofree char *first = colon ? rot_strndup(text, (size_t)(colon - text)) : NULL;
	bool is_range = first && rot_number_parse(first, low) && rot_number_parse(colon + 1, high) && *low > 0 &&
			*low < *high && isfinite(*high);

	if (!text || is_range)
		return 0;
	rot_error_set(err, 0, "%s: '%s' is no range", option, text);
	return rot_error_hint(err, "LOW:HIGH, both above 0, as in %s=0.1:100", option);
}

static int
read_labels(const char *text, enum experiment_labels *labels, struct rot_error *err)
{
	static const char *const words[] = {"none", "ends", "all"};

	for (size_t i = 0; text && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0) {
			*labels = (enum experiment_labels)i;
			return 0;
		}
	return text ? rot_error_set(err, 0, "--labels: '%s' is none of: none, ends, all", text) : 0;
}

/* "a, b"; of one file what it is of. Fresh memory. */
static char *
title_of(const struct plot_job *job)
{
	const struct stored_result *first = &job->results[0];
	const char *controller = json_text_at(first->json, "controller");
	char *title = NULL;

	if (job->options->title)
		return rot_strdup(job->options->title);
	if (job->nr == 1)
		return rot_strdup(strcmp(controller, "run") == 0
					  ? json_text_at(json_array_get(stored_result_points(first), 0), "label")
					  : controller);
	for (size_t i = 0; i < job->nr; i++)
		rot_append(&title, "%s%s", i ? ", " : "", job->results[i].name);
	return title;
}

/* Where files differ in the operations that they know: those of each, below the machines. */
static void
note_precisions(struct plot_job *job)
{
	struct experiment *experiment = job->experiment;
	const char **last = &experiment->stored_machines[experiment->nr_stored_machines - 1];

	for (size_t i = 0; job->axes.is_mixed && i < job->nr; i++) {
		autofree char *words = axes_precision(&job->axes, &job->results[i]);

		*last = pool_format(&experiment->pool, "%s%s%s: %s", *last, i ? "; " : "\noperations of ",
				    job->results[i].name, *words ? words : "both precisions");
	}
}

static int
add_plot(struct plot_job *job, struct rot_error *err)
{
	const struct quantity_value border = {.of = job->axes.x.border};
	struct experiment_plot plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	struct pool *pool = experiment_pool(job->experiment);
	autofree char *words = value_of_words(&border);
	int rc = -1;

	plot.x = pool_own(pool, quantity_request_text(&job->axes.x), free);
	plot.y = pool_own(pool, quantity_request_text(&job->axes.y), free);
	plot.title = pool_own(pool, title_of(job), free);
	plot.has_views = job->nr == 1 && json_object_get(job->results[0].json, "functions");
	if (job->axes.is_mixed) {
		plot.x_label = pool_format(pool, "Operational intensity (%s)", words);
		plot.y_label = "Performance";
	}
	if (read_range(job->options->x_range, "--x-range", &plot.x_low, &plot.x_high, err) == 0 &&
	    read_range(job->options->y_range, "--y-range", &plot.y_low, &plot.y_high, err) == 0 &&
	    read_labels(job->options->labels, &plot.labels, err) == 0)
		rc = experiment_add_plot(job->experiment, &plot, err);
	return rc;
}

static bool
is_read(const struct plot_job *job, const char *path)
{
	for (size_t i = 0; i < job->nr; i++)
		if (strcmp(job->results[i].path, path) == 0)
			return true;
	return false;
}

/* Each file once, into room for all. */
static int
read_results(struct plot_job *job, const char *const *paths, size_t nr_paths, struct rot_error *err)
{
	for (size_t i = 0; i < nr_paths; i++) {
		struct stored_result *result = &job->results[job->nr];

		if (is_read(job, paths[i])) {
			rot_warning("'%s' is named twice and drawn once", paths[i]);
			continue;
		}
		job->nr++;
		if (stored_result_read(&job->pool, result, paths[i], err) < 0)
			return -1;
		for (struct stored_result *other = job->results; other < result; other++) {
			/* a/x.json and b/x.json: what is different is the path */
			if (strcmp(other->name, result->name) == 0)
				result->name = result->path;
		}
	}
	return 0;
}

static int
draw_stored(const struct plot_job *job, struct rot_error *err)
{
	autofree struct page_result *results = NULL;

	if (job->options->page)
		return experiment_draw_plots(job->experiment, job->options->page, err);
	results = rot_calloc(job->nr, sizeof(*results));
	for (size_t i = 0; i < job->nr; i++)
		results[i] = (struct page_result){job->nr > 1 ? job->results[i].name : "", job->results[i].json};
	return experiment_write_plots(job->experiment, results, job->nr, err);
}

/* What was written, if anything was. */
static void
print_files(const struct plot_job *job)
{
	const struct configuration *configuration = job->experiment->rot->configuration;
	const bool has_files = plots_go_to(configuration, PLOTS_IN_FILES),
		   has_png = plots_go_to(configuration, PLOTS_AS_PNG),
		   has_page = !job->options->page && plots_go_to(configuration, PLOTS_ON_PAGE);
	const char *name = job->options->output_name;

	if (has_files)
		printf("%s.pdf, %s.svg%s%s%s", name, name, has_png ? ", " : "", has_png ? name : "",
		       has_png ? ".png" : "");
	if (has_files && has_page)
		printf(", ");
	if (has_page)
		printf("%s.html", name);
	if (has_files || has_page)
		printf(": points: %zu, files: %zu\n", experiment_nr_points(job->experiment), job->nr);
}

static int
make_plot(struct plot_job *job, struct rot_error *err)
{
	if (axes_choose(&job->axes, job->results, job->nr, job->options->x, job->options->y, err) < 0 ||
	    add_plot(job, err) < 0 || add_points(job, err) < 0)
		return -1;
	add_machines(job);
	note_precisions(job);
	if (!job->options->has_no_ceilings)
		add_ceilings(job);
	return 0;
}

/* A page of programs has more to show than their roofline, unless somebody asks for a certain one. */
static bool
does_without_plot(const struct plot_job *job)
{
	const struct configuration *configuration = job->experiment->rot->configuration;
	bool are_programs = true;

	for (size_t i = 0; i < job->nr; i++)
		are_programs = are_programs && json_object_get(job->results[i].json, "functions");
	return are_programs && !job->options->page && !job->options->x && !job->options->y &&
	       plots_go_to(configuration, PLOTS_ON_PAGE) && !plots_go_to(configuration, PLOTS_IN_FILES) &&
	       !plots_go_to(configuration, PLOTS_ON_TERMINAL);
}

int
stored_plot_write(struct rot *rot, const char *const *paths, size_t nr_paths, const struct stored_plot_options *options,
		  struct rot_error *err)
{
	struct plot_job job = {.options = options};
	autofree char *title = NULL;
	int rc = -1;

	job.results = pool_calloc(&job.pool, nr_paths, sizeof(*job.results));
	job.machines = pool_calloc(&job.pool, nr_paths, sizeof(*job.machines));
	if (read_results(&job, paths, nr_paths, err) < 0)
		goto out;
	title = title_of(&job);
	job.experiment = experiment_new(rot, title, options->output_name, 0, err);
	if (!job.experiment)
		goto out;
	if (make_plot(&job, err) < 0) {
		if (!does_without_plot(&job))
			goto out;
		rot_warning("the page has no roofline: %s", err->text);
		*err = (struct rot_error){0};
		experiment_drop_plots(job.experiment);
	}
	rc = draw_stored(&job, err);
	if (rc == 0)
		print_files(&job);
out:
	experiment_delete(job.experiment);
	pool_clear(&job.pool);
	return rc;
}
