/* SPDX-License-Identifier: MIT */
/* From points and ceilings to plots, with their labels and captions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "experiments/experiment_internal.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/page.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "rot.h"

/* ---- words ---- */

static void
append(char **text, const char *separator, const char *more)
{
	rot_append(text, "%s%s", (*text)[0] && more[0] ? separator : "", more);
}

/* "Transferred bytes (LLC-RAM)" */
static char *
quantity_label(const struct quantity_value *value)
{
	autofree char *name = camel_case_words(value->name), *of = value_of_words(value);

	if (name[0] >= 'a' && name[0] <= 'z')
		name[0] = (char)(name[0] - 'a' + 'A');
	return of[0] ? rot_format("%s (%s)", name, of) : rot_strdup(name);
}

/* "Error of time / least, least of 10" */
static char *
view_label(const struct sample_view *view, const struct quantity_value *value)
{
	static const char *const references[] = {"", " / expected", " / least"};
	autofree char *name = quantity_label(value);
	autofree char *minimum = view->minimum_of > 1 ? rot_format(", least of %zu", view->minimum_of) : rot_strdup("");
	char *label =
		rot_format("%s%s%s%s", view->is_error ? "Error of: " : "", name, references[view->reference], minimum);

	return label;
}

static const char *
view_unit(const struct sample_view *view, const struct quantity_value *value)
{
	if (view->reference != SAMPLES_ALONE)
		return view->is_error ? "%" : "";
	return value->unit ? shown_unit(value->unit).shown : "";
}

/* Which of the axes the runs' values are on, and what the other one is. */
static void
make_axis_labels_of_runs(struct drawing *d, const struct quantity_value *y)
{
	const enum experiment_plot_kind kind = d->own->plot.kind;
	const char *unit = view_unit(&d->own->plot.view, y);
	const char *label = pool_own(&d->pool, view_label(&d->own->plot.view, y), free);

	d->x_unit = kind == EXPERIMENT_RUNS ? "" : unit;
	d->y_unit = kind == EXPERIMENT_HISTOGRAM ? "" : unit;
	d->x_label = kind == EXPERIMENT_RUNS      ? "Run"
		     : kind == EXPERIMENT_THREADS ? pool_format(&d->pool, "%s, first CPU", label)
						  : label;
	d->y_label = kind == EXPERIMENT_HISTOGRAM ? "Runs"
		     : kind == EXPERIMENT_THREADS ? pool_format(&d->pool, "%s, second CPU", label)
						  : label;
}

static void
make_axis_labels(struct drawing *d)
{
	const struct experiment_plot *plot = &d->own->plot;
	const struct experiment_point *first = d->nr_shown ? d->shown[0] : NULL;
	const struct quantity_value *x = first && d->own->x.name ? experiment_point_value(first, &d->own->x) : NULL;
	const struct quantity_value *y = first ? experiment_point_value(first, &d->own->y) : NULL;

	if (drawing_shows_runs(d) && y) {
		make_axis_labels_of_runs(d, y);
		return;
	}
	d->x_label = plot->x_label[0] ? plot->x_label : x ? pool_own(&d->pool, quantity_label(x), free) : plot->x;
	d->y_label = plot->y_label[0] ? plot->y_label : y ? pool_own(&d->pool, quantity_label(y), free) : plot->y;
	d->x_unit = plot->x_unit[0] ? plot->x_unit : x && x->unit ? shown_unit(x->unit).shown : "";
	d->y_unit = plot->y_unit[0] ? plot->y_unit : y && y->unit ? shown_unit(y->unit).shown : "";
	if (!plot->has_view || !y)
		return;
	if (!plot->y_label[0])
		d->y_label = pool_own(&d->pool, view_label(&plot->view, y), free);
	d->y_unit = view_unit(&plot->view, y);
}

/* "cold caches; ratio of medians, n = 10 ... 20; all runs were disturbed" for all points together. */
static char *
caption_of_runs(const struct drawing *d)
{
	const size_t nr_together = d->own->plot.has_view ? d->own->plot.view.minimum_of : 0;
	const char *estimator = "exact"; /* of points with undisturbed runs, if there are any */
	size_t least = SIZE_MAX, most = 0, nr_points = 0, nr_disturbed = 0;
	autofree char *words = NULL;
	char *text = rot_strdup("");

	for (size_t i = 0; i < d->nr_shown; i++) {
		const struct quantity_value *y = experiment_point_value(d->shown[i], &d->own->y);
		const char *state = json_text_at(d->shown[i]->json, "cacheState");

		if (!strstr(text, state))
			append(&text, "; ", state);
		if (!y || d->shown[i]->place)
			continue;
		nr_points++;
		nr_disturbed += quantity_is_of_tainted(y);
		least = y->summary.n < least ? y->summary.n : least;
		most = y->summary.n > most ? y->summary.n : most;
		if (y->summary.estimator && strcmp(y->summary.estimator, "exact") != 0)
			estimator = y->summary.estimator;
	}
	if (d->nr_shown == 0) {
		append(&text, "; ", "theory alone: what it is about cannot be measured on this machine");
		return text;
	}
	if (nr_together > 1) {
		words = rot_format("least of each %zu runs", nr_together);
	} else if (drawing_shows_runs(d)) {
		words = rot_strdup("each run");
	} else {
		/* "ratioOfMediansOfTainted" -> "ratio of medians" */
		const char *suffix = strstr(estimator, "OfTainted");
		autofree char *name = rot_strndup(estimator, suffix ? (size_t)(suffix - estimator) : strlen(estimator));

		words = camel_case_words(name);
	}
	append(&text, "; ", words);
	if (most == 0)
		return text;
	if (least == most)
		rot_append(&text, ", n = %zu", most);
	else
		rot_append(&text, ", n = %zu ... %zu", least, most);
	rot_append(&text, "%s",
		   nr_disturbed == 0          ? ""
		   : nr_disturbed < nr_points ? "; of some points all runs were disturbed"
					      : "; all runs were disturbed");
	return text;
}

/* How values are known, where it is not by events: their kind (NULL: any), and what is in their source. */
struct value_origin {
	const char *kind, *source;
	const char *part; /* what of the value; NULL: as part_of says */
	const char *words;
};

static const struct value_origin origins[] = {
	{"expected", "", NULL, "as the kernel's definition expects, not counted (hollow)"},
	{"modelled", "modelled caches", NULL, "of modelled caches"},
	{"modelled", "modelled TLB", NULL, "of a modelled TLB"},
	{"modelled", "clock probe", "core cycles", "modelled from the time stamp counter"},
	{"modelled", "", NULL, "modelled from what can be counted"},
	{"given", "", NULL, "as given by the controller, not counted"},
};

/* Sources say so (architectures/steps.xml and blocks.xml). */
static const struct value_origin blocks = {NULL, NULL, NULL, "counted by blocks of the code"};

bool
drawing_is_by_blocks(const struct quantity_value *value)
{
	return strstr(value->source, "blocks") != NULL;
}

static bool
is_of_origin(const struct quantity_value *value, const struct value_origin *origin)
{
	if (origin == &blocks)
		return drawing_is_by_blocks(value);
	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++)
		if (strcmp(value->kind, origins[i].kind) == 0 && strstr(value->source, origins[i].source))
			return &origins[i] == origin; /* of several that fit the first */
	return false;
}

/*
 * Names the part of a value that has this origin; NULL: none has. An intensity beside a performance of another origin
 * owes it to the bytes alone. A value that is not measured although blocks were counted is of models: the operations
 * that it is made of were counted.
 */
static const char *
part_of(const struct quantity_value *value, const struct quantity_value *beside, const struct value_origin *origin)
{
	const bool is_intensity = strcmp(value->name, "operationalIntensity") == 0;

	if (origin->part)
		return origin->part;
	if (strcmp(value->name, "performance") == 0)
		return "operations";
	if (origin == &blocks && strcmp(value->kind, "measured") != 0)
		return is_intensity ? "operations" : NULL;
	if (is_intensity)
		return origin != &blocks && beside && strcmp(beside->name, "performance") == 0 &&
				       strcmp(beside->kind, value->kind) != 0
			       ? "bytes"
			       : "operations and bytes";
	return strcmp(value->name, "throughput") == 0 ? "bytes" : value->name;
}

size_t
drawing_values(const struct drawing *d, const struct experiment_point *point, const struct quantity_value **values)
{
	const struct quantity_request *requests[2] = {&d->own->x, &d->own->y};
	size_t nr = 0;

	for (size_t i = 0; i < 2; i++)
		if (experiment_point_value(point, requests[i]))
			values[nr++] = experiment_point_value(point, requests[i]);
	for (size_t i = 0; i < point->nr_values && !d->own->y.name; i++)
		values[nr++] = &point->values[i];
	return nr;
}

/* Names what is of this origin at any point: "bytes", or "bytes of some points". Empty if nothing is. */
static char *
parts_of(const struct drawing *d, const struct value_origin *origin)
{
	char *names = rot_strdup("");
	size_t nr_points = 0;

	for (size_t p = 0; p < d->nr_shown; p++) {
		autofree const struct quantity_value **values = rot_calloc(2 + d->shown[p]->nr_values, sizeof(*values));
		const size_t nr = drawing_values(d, d->shown[p], values);
		bool is_here = false;

		for (size_t i = 0; i < nr; i++) {
			const char *part = is_of_origin(values[i], origin)
						   ? part_of(values[i], nr == 2 ? values[1 - i] : NULL, origin)
						   : NULL;
			autofree char *words = part ? camel_case_words(part) : NULL;

			is_here = is_here || part;
			if (part && !strstr(names, words))
				append(&names, ", ", words);
		}
		nr_points += is_here;
	}
	append(&names, " ", nr_points && nr_points < d->nr_shown ? "of some points" : "");
	return names;
}

/* Says which of the quantities shown are not counted by events: in one line, or where points differ in one for each. */
static char *
caption_of_origins(const struct drawing *d)
{
	const char *separator = "; ";
	char *line = rot_strdup("");

	for (size_t k = 0; k <= sizeof(origins) / sizeof(*origins); k++) {
		const struct value_origin *origin = k == 0 ? &blocks : &origins[k - 1];
		autofree char *names = parts_of(d, origin);

		if (strstr(names, " of some points"))
			separator = "\n";
		if (names[0]) {
			append(&names, " ", origin->words);
			append(&line, separator, names);
		}
	}
	return line;
}

/* Error: an annotation is no expression. */
static int
make_caption(struct drawing *d, struct rot_error *err)
{
	const struct experiment *experiment = d->experiment;
	const struct experiment_point *last = d->nr_shown ? d->shown[d->nr_shown - 1] : NULL;
	const struct quantity_request *requests[2] = {&d->own->y, &d->own->x};
	autoscope struct expression_scope *scope =
		last ? experiment_scope(experiment, last, d->shown[0]) : expression_scope_new(NULL);
	autofree char *machine = experiment->nr_stored_machines ? NULL : machine_caption(experiment->rot->machine);
	autofree char *runs = caption_of_runs(d), *kinds = caption_of_origins(d), *dots = drawing_caption_of_dots(d);
	autofree char *roof =
		d->own->plot.kind == EXPERIMENT_ROOFLINE ? experiment_roof_text(experiment, d->own) : NULL;
	autofree char *failures = experiment_failures_text(experiment, d->own->plot.condition);
	autofree char *annotation = expression_text(scope, d->own->plot.annotation, err), *grades = NULL;
	const char *weakest = "";

	/* How well what was counted is known to count. */
	for (size_t i = 0; last && i < 2; i++) {
		const struct quantity_value *value = experiment_point_value(d->shown[0], requests[i]);

		weakest = value && strcmp(value->grade, weakest) > 0 ? value->grade : weakest;
	}
	if (weakest[0])
		grades = rot_format("counts validated on known work: grade %s", weakest);
	d->caption = rot_strdup(machine ? machine : "");
	for (size_t i = 0; i < experiment->nr_stored_machines; i++)
		append(&d->caption, "\n", experiment->stored_machines[i]);
	const char *const parts[] = {runs, experiment->runs_note, kinds, dots, roof, grades, failures, annotation};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		append(&d->caption, "\n", parts[i] ? parts[i] : "");
	return annotation ? 0 : rot_error_prefix(err, "plot '%s': annotation", d->own->plot.title);
}

static struct plot_frame
make_frame(const struct drawing *d)
{
	const struct experiment_plot *plot = &d->own->plot;
	const struct configuration *configuration = d->experiment->rot->configuration;

	return (struct plot_frame){
		.title = plot->title,
		.caption = d->caption,
		.x = {d->x_label, d->x_unit, plot->is_x_log, plot->x_low, plot->x_high},
		.y = {d->y_label, d->y_unit, plot->is_y_log, plot->y_low, plot->y_high},
		.key_position =
			plot->key_position[0] ? plot->key_position : configuration_string(configuration, "keyPosition"),
		.show_min_max = configuration_bool(configuration, "showMinMax"),
		.show_percentiles = configuration_bool(configuration, "showPercentiles"),
		.markers = d->own->markers,
		.nr_markers = d->own->nr_markers,
	};
}

/* Roofs of other machines, or of fewer threads, are told apart by their number. */
static size_t
roof_of(const struct ceiling *const *ceilings, size_t nr, size_t i)
{
	size_t roof = ceilings[i]->machine;

	for (size_t k = 0; k < nr; k++) {
		bool is_counted = ceilings[i]->nr_threads == 0 || ceilings[k]->machine != ceilings[i]->machine ||
				  ceilings[k]->nr_threads <= ceilings[i]->nr_threads;

		for (size_t j = 0; j < k && !is_counted; j++)
			is_counted = ceilings[j]->machine == ceilings[k]->machine &&
				     ceilings[j]->nr_threads == ceilings[k]->nr_threads;
		roof += !is_counted;
	}
	return roof;
}

static int
draw_roofline(struct drawing *d, const char *output_name, struct rot_error *err)
{
	autofree const struct ceiling **own = NULL;
	size_t nr = d->own->plot.has_default_peaks || d->experiment->nr_ceilings
			    ? experiment_ceilings_of(d->experiment, d->own, &own)
			    : 0;
	struct roofline_ceiling *ceilings = pool_calloc(&d->pool, nr, sizeof(*ceilings));
	struct roofline_plot plot = {
		.frame = make_frame(d),
		.ceilings = ceilings,
		.nr_ceilings = nr,
		.series = d->series,
		.nr_series = d->nr_series,
		.same_size = d->own->plot.connect_same_size ? SAME_SIZE_ALL : SAME_SIZE_NONE,
	};

	for (size_t i = 0; i < nr; i++) {
		bool is_bandwidth = own[i]->operation[0] == '\0';
		struct shown_unit unit = shown_unit(own[i]->unit);
		autofree char *number = digits_text(own[i]->value * unit.factor, 3);

		ceilings[i] = (struct roofline_ceiling){
			.name = own[i]->name,
			.is_bandwidth = is_bandwidth,
			.value = own[i]->value * unit.factor,
			.low = own[i]->low * unit.factor,
			.high = own[i]->high * unit.factor,
			.label = pool_format(&d->pool, "%s%s %s", ceiling_is_least(own[i]) ? "at least " : "", number,
					     unit.shown),
			.is_main = experiment_is_main_ceiling(d->own, own, nr, i),
			.machine = roof_of(own, nr, i),
		};
	}
	if (d->page)
		page_add_roofline(d->page, &plot, &d->own->view);
	if (d->is_view)
		return 0;
	return roofline_plot_show(&plot, d->experiment->rot->configuration, output_name, err);
}

static int
draw_plot(struct drawing *d, const char *output_name, struct rot_error *err)
{
	struct distribution_plot distribution = {make_frame(d), d->series, d->nr_series};
	struct series_plot series = {make_frame(d), d->series, d->nr_series};

	if (d->own->plot.kind == EXPERIMENT_ROOFLINE)
		return draw_roofline(d, output_name, err);
	if (d->page)
		page_add_series(d->page, &series.frame, d->series, d->nr_series,
				d->own->plot.kind == EXPERIMENT_DISTRIBUTION);
	if (!plots_go_to(d->experiment->rot->configuration, PLOTS_IN_FILES))
		return 0;
	switch (d->own->plot.kind) {
	case EXPERIMENT_DISTRIBUTION:
		return distribution_plot_write(&distribution, output_name, err);
	default:
		return series_plot_write(&series, output_name, err);
	}
}

/* Many plots may show what is not measured: the first one says it. */
static void
warn_unmeasured(const struct drawing *d)
{
	const struct experiment_own_plot *first = d->experiment->plots;
	autofree char *why = NULL;

	while (!first->plot.has_view || !experiment_same_request(&first->y, &d->own->y))
		first++;
	if (first != d->own)
		return;
	why = experiment_why_not_measured(d->experiment);
	rot_warning("plots of the runs of %s are not drawn: it %s", d->own->plot.y, why);
}

/* A plot of what runs gave shows neither what is only expected, nor what has no reference. True if nothing is measured.
 */
static bool
leave_out_unmeasured(struct drawing *d)
{
	const struct sample_view *view = &d->own->plot.view;
	const bool had_points = d->nr_shown > 0;
	size_t nr_measured = 0, nr = 0;

	if (!d->own->plot.has_view)
		return false;
	for (size_t i = 0; i < d->nr_shown; i++) {
		const struct quantity_value *y = experiment_point_value(d->shown[i], &d->own->y);

		if (!y || !quantity_is_of_runs(y))
			continue;
		nr_measured++;
		if (!isnan(sample_view_reference(view, y)))
			d->shown[nr++] = d->shown[i];
	}
	d->nr_shown = nr;
	return had_points && nr_measured == 0;
}

/* Bytes of some border may not be known of a region. */
static void
leave_out_unknown(struct drawing *d, const struct experiment_point **chosen)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_shown; i++)
		if (experiment_point_value(chosen[i], &d->own->x) && experiment_point_value(chosen[i], &d->own->y))
			chosen[nr++] = chosen[i];
	d->nr_shown = nr;
}

/* Behind the points that were chosen, which are taken over. */
static const struct experiment_point **
add_functions(struct drawing *d, const struct experiment_point **chosen)
{
	const struct experiment_point **shown =
		rot_realloc(chosen, d->nr_shown + d->experiment->nr_functions + 1, sizeof(*shown));

	d->shown = shown;
	for (size_t i = 0; d->own->plot.kind == EXPERIMENT_ROOFLINE && i < d->experiment->nr_functions; i++) {
		const struct experiment_point *function = &d->experiment->functions[i];

		if (experiment_is_loop(function->result) == d->own->plot.shows_loops &&
		    experiment_point_value(function, &d->own->x) && experiment_point_value(function, &d->own->y))
			shown[d->nr_shown++] = function;
	}
	return shown;
}

/* is_view: for the page alone. */
static int
write_plot(const struct experiment *experiment, const struct experiment_own_plot *own, struct page *page, bool is_view,
	   struct rot_error *err)
{
	struct drawing d = {.experiment = experiment, .own = own, .page = page, .is_view = is_view};
	autofree char *output_name = own->plot.name[0] ? rot_format("%s-%s", experiment->output_name, own->plot.name)
						       : rot_strdup(experiment->output_name);
	autofree const struct experiment_point **shown = NULL;
	bool has_values = own->nr_curves > 0;
	int rc = -1;

	if (experiment_choose(experiment, own->plot.condition, &own->best, &shown, &d.nr_shown, err) < 0)
		return rot_error_prefix(err, "plot '%s'", own->plot.title);
	if (is_view)
		leave_out_unknown(&d, shown);
	shown = add_functions(&d, shown);
	if (leave_out_unmeasured(&d)) {
		warn_unmeasured(&d);
		rc = 0;
		goto out;
	}
	if (d.nr_shown == 0 && own->nr_curves == 0) {
		rot_warning("the plot '%s' has no points and is not drawn", own->plot.title);
		rc = 0;
		goto out;
	}
	make_axis_labels(&d);
	if (drawing_make_series(&d, err) < 0 || make_caption(&d, err) < 0)
		goto out;
	/* No point has a value where fewer runs were made than a view takes together. */
	for (size_t s = 0; s < d.nr_series; s++)
		for (size_t i = 0; i < d.series[s].nr_points; i++)
			has_values |= !isnan(d.series[s].points[i].y.value);
	if (!has_values) {
		rot_warning("the plot '%s' has no values and is not drawn", own->plot.title);
		rc = 0;
		goto out;
	}
	drawing_add_compulsory(&d);
	drawing_add_curves(&d);
	rc = draw_plot(&d, output_name, err);
out:
	free(d.caption);
	pool_clear(&d.pool);
	return rc;
}

int
experiment_draw_plots(const struct experiment *experiment, struct page *page, struct rot_error *err)
{
	autopool pool = {0};
	struct rot_error later;
	int rc = 0;

	for (size_t i = 0; i < experiment->nr_plots && experiment->nr_points > 0; i++) {
		struct experiment_own_plot *own = &experiment->plots[i], *views;
		const size_t nr = page ? experiment_views_of(&pool, experiment, own, &views) : 0;

		own->view = nr > 0 ? views[0].view : (struct page_view){.border = NULL};
		for (size_t k = 0; k < nr || k == 0; k++)
			if (write_plot(experiment, k == 0 ? own : &views[k], page, k > 0, rc == 0 ? err : &later) < 0)
				rc = -1;
	}
	return rc;
}

int
experiment_write_plots(const struct experiment *experiment, const struct page_result *results, size_t nr_results,
		       struct rot_error *err)
{
	const bool is_run = experiment->nr_points > 0 && strcmp(experiment->controller_name, "run") == 0;
	/* A single plot has its own title; a program without any is called as it was started. */
	const char *title = experiment->nr_plots == 1             ? experiment->plots[0].plot.title
			    : is_run && experiment->nr_plots == 0 ? experiment->points[0].label
								  : experiment->controller_name;
	struct page *page = plots_go_to(experiment->rot->configuration, PLOTS_ON_PAGE) ? page_new(title) : NULL;
	struct rot_error later;
	size_t nr_without_text = 0;
	int rc = experiment_draw_plots(experiment, page, err);

	for (size_t i = 0; i < experiment->nr_plots && experiment->nr_points > 0; i++)
		nr_without_text += experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE;
	if (!page)
		plots_note_undrawn(experiment->rot->configuration, nr_without_text);
	if (page &&
	    page_write(page, results, nr_results, experiment->rot, experiment->output_name, rc == 0 ? err : &later) < 0)
		rc = -1;
	page_delete(page);
	return rc;
}

void
experiment_drop_plots(struct experiment *experiment)
{
	experiment->plots = NULL;
	experiment->nr_plots = 0;
}
