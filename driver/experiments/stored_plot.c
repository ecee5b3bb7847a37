/* SPDX-License-Identifier: MIT */
/* Results that were measured before in one roofline: an experiment whose points and ceilings come from files. */
#include "experiments/stored_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "experiments/experiment_internal.h"
#include "experiments/stored_result.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "plots/page.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- axes: two quantities that all files have ---- */

struct stored_axes {
	struct quantity_request x, y; /* with the clock of the values */
	const char *unit;             /* of y; borrowed from the file */
	bool is_mixed; /* each file has floating-point operations of some precision; x and y say "flop" */
};

/* In a plot of several, the widest that a point has stands for it. */
static const char *const flop_words[] = {"flop", "doublePrecisionFlop", "singlePrecisionFlop"};

#define NR_FLOP_WORDS (sizeof(flop_words) / sizeof(*flop_words))

/* The first of the values that is asked for, by what the request says of it; NULL: there is none. */
static const struct quantity_value *
find_value(const struct quantity_value *values, size_t nr, const struct quantity_request *asked)
{
	for (size_t i = 0; i < nr; i++) {
		const struct quantity_request *own = &values[i].request;

		if (quantity_same_word(own->name, asked->name) &&
		    (!asked->operation || quantity_same_word(own->operation, asked->operation)) &&
		    (!asked->border || quantity_same_word(own->border, asked->border)) &&
		    (!asked->clock || quantity_same_word(own->clock, asked->clock)))
			return &values[i];
	}
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
		values[0] = find_value(point->values, point->nr_values, &x);
		values[1] = find_value(point->values, point->nr_values, &y);
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

/* Names what points of the file have a value of: "time, performance:flop, ...". */
static int
refuse(const struct stored_result *result, const char *what, struct rot_error *err)
{
	autofree char *all = rot_strdup("");

	for (size_t i = 0; i < result->nr_points; i++)
		for (size_t k = 0; k < result->points[i].nr_values; k++) {
			autofree char *words = quantity_request_text(&result->points[i].values[k].request);

			if (!strstr(all, words))
				rot_append(&all, "%s%s", *all ? ", " : "", words);
		}
	rot_error_set(err, 0, "'%s' has no point with %s; it has: %s", result->path, what, *all ? all : "nothing");
	return rot_error_hint(err, "-x and -y choose other quantities; counting operations and bytes needs hardware "
				   "counters, see rot doctor");
}

/*
 * The first pair that all results have, or with is_mixed of any floating-point operations. Else false, and *first is
 * the first pair at all, if there was none before. x and y: what is asked for.
 */
static bool
find_axes(struct stored_axes *axes, struct stored_axes *first, const struct stored_result *results, size_t nr,
	  const struct quantity_request *x, const struct quantity_request *y, bool is_mixed)
{
	for (size_t i = 0; i < results[0].nr_points; i++) {
		const struct stored_point *point = &results[0].points[i];
		const struct quantity_value *of_x = point->values, *end = of_x + point->nr_values, *of_y, *found[2];

		for (; (of_x = find_value(of_x, (size_t)(end - of_x), x)); of_x++) {
			struct quantity_request same = *y;
			size_t nr_with = 1;

			same.operation = of_x->request.operation;
			of_y = find_value(point->values, point->nr_values, &same);
			if (!of_y || (y->operation && !quantity_same_word(y->operation, same.operation)))
				continue;
			*axes = (struct stored_axes){of_x->request, of_y->request, of_y->unit, false};
			for (size_t k = 0; is_mixed && k < NR_FLOP_WORDS; k++)
				axes->is_mixed |= quantity_same_word(axes->x.operation, flop_words[k]);
			if (axes->is_mixed)
				axes->x.operation = axes->y.operation = flop_words[0];
			while (nr_with < nr && first_values(axes, &results[nr_with], found))
				nr_with++;
			if (nr_with == nr)
				return true;
			*first = first->unit ? *first : *axes;
		}
	}
	return false;
}

/*
 * x and y: what was asked for, or NULL, and then pairs of any floating-point operations are the last resort. Errors
 * name a file and what it has.
 */
static int
axes_choose(struct stored_axes *axes, const struct stored_result *results, size_t nr, const char *x, const char *y,
	    struct rot_error *err)
{
	static const char *const names[] = {"operationalIntensity", "performance"};
	struct quantity_request of_x = {.name = names[0]}, of_y = {.name = names[1]};
	struct stored_axes first = {.unit = NULL};
	autofree char *x_text = NULL, *y_text = NULL, *what = NULL;
	const struct quantity_value *found[2];
	size_t i = 1;

	if (x && quantity_parse(&of_x, x, err) < 0)
		return rot_error_prefix(err, "-x");
	if (y && quantity_parse(&of_y, y, err) < 0)
		return rot_error_prefix(err, "-y");
	if (strcmp(of_x.name, names[0]) == 0 && strcmp(of_y.name, names[1]) == 0 &&
	    (find_axes(axes, &first, results, nr, &of_x, &of_y, false) ||
	     (!x && !y && find_axes(axes, &first, results, nr, &of_x, &of_y, true))))
		return 0;
	if (!first.unit) {
		what = rot_format("%s and %s", x ? x : "an operationalIntensity",
				  y ? y : "a performance of the same operation");
		return refuse(&results[0], what, err);
	}
	while (i + 1 < nr && first_values(&first, &results[i], found))
		i++;
	x_text = quantity_request_text(&first.x);
	y_text = quantity_request_text(&first.y);
	what = rot_format("%s and %s, as '%s' has", x_text, y_text, results[0].path);
	return refuse(&results[i], what, err);
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

static bool
add_point(struct plot_job *job, const struct stored_result *result, const struct stored_point *point)
{
	const size_t nr = 2 + (job->nr == 1 ? point->nr_values : 0);
	autofree struct quantity_request *requests = rot_calloc(nr, sizeof(*requests));
	autofree struct quantity_value *values = rot_calloc(nr, sizeof(*values));
	const char *own = json_text_at(point->json, "series");
	/* "a: Triad": which file, where there are several */
	autofree char *before = job->nr == 1 ? rot_strdup("") : rot_format("%s: ", result->name),
		      *series = job->nr > 1 && !*own ? rot_strdup(result->name) : rot_format("%s%s", before, own);
	const struct quantity_value *found[2];
	size_t number;

	/*
	 * Logarithmic axes need values above 0; no bytes at all are an intensity without end. Threads are drawn by
	 * nobody else either.
	 */
	if (!axes_values(&job->axes, point, found) || strcmp(own, "threads") == 0 ||
	    strcmp(own, "threads of regions") == 0 ||
	    !(found[0]->summary.value > 0 && found[1]->summary.value > 0 && isfinite(found[1]->summary.value)))
		return false;
	for (size_t i = 0; i < nr; i++) {
		values[i] = i < 2 ? *found[i] : point->values[i - 2];
		requests[i] = i == 0 ? job->axes.x : i == 1 ? job->axes.y : values[i].request;
	}
	experiment_add_values(job->experiment, series, json_text_at(point->json, "label"), requests, values, nr);
	number = experiment_nr_points(job->experiment) - 1;
	job->experiment->points[number].result = point->json;
	/* Functions are told of the first x and y alone. */
	if (strcmp(own, "program") == 0 &&
	    find_value(point->values, point->nr_values, &(struct quantity_request){.name = found[0]->name}) ==
		    found[0] &&
	    find_value(point->values, point->nr_values, &(struct quantity_request){.name = found[1]->name}) == found[1])
		experiment_add_functions(job->experiment, number, before, result->json,
					 (size_t)(result - job->results));
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

static void
add_machines(struct plot_job *job)
{
	struct experiment *experiment = job->experiment;
	struct pool *pool = &experiment->pool;

	for (size_t i = 0; i < job->nr; i++) {
		job->machines[i] = experiment->nr_stored_machines;
		for (size_t k = i; k-- > 0;)
			if (stored_result_same_machine(&job->results[k], &job->results[i]))
				job->machines[i] = job->machines[k];
		if (job->machines[i] < experiment->nr_stored_machines)
			continue;
		pool_add(pool, experiment->stored_machines, experiment->nr_stored_machines) =
			pool_own(pool, machine_caption(job->results[i].machine), free);
	}
	for (size_t m = 0; experiment->nr_stored_machines > 1 && m < experiment->nr_stored_machines; m++) {
		autofree char *files = rot_strdup(""); /* "a, b": those of the machine */

		for (size_t i = 0; i < job->nr; i++)
			if (job->machines[i] == m)
				rot_append(&files, "%s%s", *files ? ", " : "", job->results[i].name);
		experiment->stored_machines[m] = pool_format(pool, "%s: %s", files, experiment->stored_machines[m]);
	}
}

/* Adds the ceilings per the same unit of time as y. */
static void
add_ceilings(struct plot_job *job)
{
	const char *per = strrchr(job->axes.unit, '/');

	for (size_t i = 0; i < job->nr; i++) {
		const char *other = NULL;
		const json_t *json;
		size_t k, first = 0;

		while (job->machines[first] != job->machines[i])
			first++;
		json_array_foreach(json_object_get(job->results[i].json, "ceilings"), k, json) {
			struct ceiling ceiling = ceiling_of_json(json);
			const char *own_per = strrchr(ceiling.unit, '/');

			ceiling.machine = job->machines[i];
			/* The first file of a machine stands for it. */
			if (job->experiment->nr_stored_machines > 1)
				ceiling.name = pool_format(&job->experiment->pool, "%s, %s", ceiling.name,
							   job->results[first].name);
			if (strcmp(own_per ? own_per : "", per ? per : "") != 0)
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
		const struct quantity_value *found[2];
		autofree char *words =
			first_values(&job->axes, &job->results[i], found) ? value_of_words(found[1]) : rot_strdup("");

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
	plot.title = job->experiment->controller_name; /* which is the title of all */
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

/* Each file once, into room for all. */
static int
read_results(struct plot_job *job, const char *const *paths, size_t nr_paths, struct rot_error *err)
{
	for (size_t i = 0; i < nr_paths; i++) {
		struct stored_result *result = &job->results[job->nr];
		bool is_read = false;

		for (size_t k = 0; k < job->nr; k++)
			is_read = is_read || strcmp(job->results[k].path, paths[i]) == 0;
		if (is_read) {
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

/* Names the files that were written, if any were. */
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
