/* SPDX-License-Identifier: MIT */
/* From points and ceilings to plots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/experiment_internal.h"
#include "controllers/value_text.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "plots/plot.h"
#include "rot.h"

/* A plot being put together; owns all that the plot's structs borrow. */
struct drawing {
	const struct experiment *experiment;
	const struct experiment_own_plot *own;
	const struct experiment_point **shown; /* the experiment's points that the plot shows */
	size_t nr_shown;
	struct plot_series *series;
	struct plot_point **points; /* [nr_series][...] */
	size_t nr_series;
	char **names; /* of series that are not the experiment's */
	size_t nr_names;
	char *caption;
	char *x_label, *y_label;
	const char *x_unit, *y_unit;
};

static void
append(char **text, const char *separator, const char *more)
{
	char *longer = rot_format("%s%s%s", *text, (*text)[0] && more[0] ? separator : "", more);

	free(*text);
	*text = longer;
}

/* ---- points ---- */

static struct summary
shown_summary(const struct quantity_value *value)
{
	return summary_scaled(value->summary, value->unit ? shown_unit(value->unit).factor : 1);
}

static int
x_of_point(const struct drawing *d, const struct experiment_point *point, struct summary *x, struct rot_error *err)
{
	const struct coordinate *c = point_coordinate(&point->at, d->own->plot.x);
	size_t i;
	const struct experiment_own_derived *derived = experiment_find_derived(d->experiment, d->own->plot.x, &i);
	const struct quantity_value *value = d->own->x.name ? experiment_point_value(point, &d->own->x) : NULL;

	if (value) {
		*x = shown_summary(value);
	} else if (c && !isnan(c->number)) {
		*x = summary_single(c->number, "given");
	} else if (derived) {
		*x = summary_single(point->derived[i].number * shown_unit(derived->derived.unit).factor, "derived");
	} else {
		rot_error_set(err, 0, "plot '%s': x is '%s', which %s", d->own->plot.title, d->own->plot.x,
			      c ? "is not a number" : "is neither an axis nor a quantity");
		return rot_error_hint(err, "x must be a quantity, a derived value or an axis with numbers");
	}
	return 0;
}

static bool
is_end_of_series(const struct drawing *d, size_t i)
{
	bool has_earlier = false, has_later = false;

	for (size_t j = 0; j < d->nr_shown; j++)
		if (j != i && strcmp(d->shown[j]->series, d->shown[i]->series) == 0)
			*(j < i ? &has_earlier : &has_later) = true;
	return !has_earlier || !has_later;
}

/* What the plot's view sees of the runs. */
static struct summary
seen_summary(const struct experiment_plot *plot, const struct quantity_value *value)
{
	size_t nr;
	double *seen = sample_view_of(&plot->view, value, &nr);
	struct summary summary = summary_median(seen, nr);

	free(seen);
	return summary_scaled(summary, experiment_view_factor(&plot->view, value));
}

/* Of the plot's y, or its difference to the series that the plot names. */
static struct summary
y_of_point(const struct drawing *d, const struct experiment_point *point)
{
	const struct quantity_value *y = experiment_point_value(point, &d->own->y), *from;
	const char *series = d->own->plot.difference_from;
	const struct experiment_point *other;

	if (y && d->own->plot.has_view)
		return seen_summary(&d->own->plot, y);
	if (!series[0])
		return y ? shown_summary(y) : summary_empty();
	other = experiment_find_point(d->experiment, series, point->label);
	from = other ? experiment_point_value(other, &d->own->y) : NULL;
	if (!y || !from)
		return summary_empty();
	return summary_single(shown_summary(from).value - shown_summary(y).value, "difference");
}

static int
make_point(const struct drawing *d, size_t i, struct plot_point *plotted, struct rot_error *err)
{
	const struct experiment_point *point = d->shown[i];
	const struct experiment_plot *plot = &d->own->plot;
	struct expression_scope *scope = experiment_scope(d->experiment, point, d->shown[0]);

	plotted->label = expression_text(scope, plot->point_label[0] ? plot->point_label : "{$label}", err);
	expression_scope_delete(scope);
	if (!plotted->label)
		return rot_error_prefix(err, "plot '%s': label of a point", plot->title);
	plotted->y = y_of_point(d, point);
	plotted->is_labelled = plot->labels == EXPERIMENT_LABELS_ALL ||
			       (plot->labels == EXPERIMENT_LABELS_ENDS && is_end_of_series(d, i));
	if (!plot->connect_same_size || !rot_number_parse(point->label, &plotted->size))
		plotted->size = NAN;
	return x_of_point(d, point, &plotted->x, err);
}

static size_t
series_of(struct drawing *d, const char *name)
{
	for (size_t i = 0; i < d->nr_series; i++)
		if (strcmp(d->series[i].name, name) == 0)
			return i;
	d->series = rot_realloc(d->series, d->nr_series + 1, sizeof(*d->series));
	d->points = rot_realloc(d->points, d->nr_series + 1, sizeof(*d->points));
	d->series[d->nr_series] = (struct plot_series){.name = name};
	d->points[d->nr_series] = NULL;
	return d->nr_series++;
}

static bool
shows_runs(const struct drawing *d)
{
	return d->own->plot.kind > EXPERIMENT_SERIES;
}

/* Runs of the point as a series of their own. */
static void
add_runs(struct drawing *d, size_t i)
{
	const struct experiment_point *point = d->shown[i];
	const bool is_histogram = d->own->plot.kind == EXPERIMENT_HISTOGRAM;
	size_t at;

	d->names = rot_realloc(d->names, d->nr_names + 1, sizeof(*d->names));
	d->names[d->nr_names] =
		rot_format("%s%s%s", point->series, point->series[0] && point->label[0] ? ", " : "", point->label);
	at = series_of(d, d->names[d->nr_names++]);
	if (d->series[at].nr_points)
		return; /* two points that are called the same */
	d->series[at].style = is_histogram ? PLOT_STEPS : PLOT_MARKS;
	d->series[at].nr_points =
		experiment_run_points(&d->own->plot, experiment_point_value(point, &d->own->y), &d->points[at]);
	d->series[at].points = d->points[at];
}

static int
make_series(struct drawing *d, struct rot_error *err)
{
	for (size_t i = 0; shows_runs(d) && i < d->nr_shown; i++)
		add_runs(d, i);
	for (size_t i = 0; !shows_runs(d) && i < d->nr_shown; i++) {
		size_t at = series_of(d, d->shown[i]->series);
		size_t nr = d->series[at].nr_points;

		d->points[at] = rot_realloc(d->points[at], nr + 1, sizeof(**d->points));
		d->points[at][nr] = (struct plot_point){0};
		d->series[at].points = d->points[at];
		d->series[at].nr_points = nr + 1;
		if (make_point(d, i, &d->points[at][nr], err) < 0)
			return -1;
	}
	return 0;
}

/* Behind the measured series, so that these have the same colours with and without curves. */
static void
add_curves(struct drawing *d)
{
	for (size_t i = 0; i < d->own->nr_curves; i++) {
		const struct experiment_curve *curve = &d->own->curves[i];
		size_t at = d->nr_series++;

		d->series = rot_realloc(d->series, d->nr_series, sizeof(*d->series));
		d->points = rot_realloc(d->points, d->nr_series, sizeof(*d->points));
		d->points[at] = rot_calloc(curve->nr + 1, sizeof(**d->points));
		memcpy(d->points[at], curve->points, curve->nr * sizeof(**d->points));
		d->series[at] = (struct plot_series){curve->name, d->points[at], curve->nr, PLOT_MODEL};
	}
}

/*
 * Where the points of a roofline's series would be if each datum crossed the border once: a thin line, behind all
 * others; from a single point, to there.
 */
static void
add_compulsory(struct drawing *d, size_t series)
{
	struct plot_point *points = rot_calloc(d->nr_shown + 1, sizeof(*points));
	const struct quantity_value *x = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_shown; i++) {
		const struct quantity_value *y = experiment_point_value(d->shown[i], &d->own->y);

		x = experiment_point_value(d->shown[i], &d->own->x);
		if (!x || !y || strcmp(d->shown[i]->series, d->series[series].name) != 0 ||
		    !experiment_has_compulsory(x))
			continue;
		points[nr++] =
			(struct plot_point){.x = summary_single(x->compulsory * shown_unit(x->unit).factor, "expected"),
					    .y = summary_single(shown_summary(y).value, "expected"),
					    .label = rot_strdup(""),
					    .size = NAN};
	}
	if (nr == 1) {
		points[1] = points[0];
		points[1].label = rot_strdup("");
		points[nr++].x = summary_single(d->points[series][0].x.value, "expected");
	}
	if (nr == 0) {
		free(points);
		return;
	}
	d->series = rot_realloc(d->series, d->nr_series + 1, sizeof(*d->series));
	d->points = rot_realloc(d->points, d->nr_series + 1, sizeof(*d->points));
	d->names = rot_realloc(d->names, d->nr_names + 1, sizeof(*d->names));
	d->names[d->nr_names] =
		rot_format("%s%seach datum once", d->series[series].name, d->series[series].name[0] ? ": " : "");
	d->points[d->nr_series] = points;
	d->series[d->nr_series++] = (struct plot_series){d->names[d->nr_names++], points, nr, PLOT_MODEL};
}

static void
add_all_compulsory(struct drawing *d)
{
	const size_t nr = d->nr_series;

	for (size_t i = 0; i < nr && d->own->plot.kind == EXPERIMENT_ROOFLINE && d->own->x.name; i++)
		add_compulsory(d, i);
}

/* ---- words ---- */

/* "Transferred bytes (LLC-RAM)" */
static char *
quantity_label(const struct quantity_value *value)
{
	char *name = camel_case_words(value->name), *of = value_of_words(value), *label;

	if (name[0] >= 'a' && name[0] <= 'z')
		name[0] = (char)(name[0] - 'a' + 'A');
	label = of[0] ? rot_format("%s (%s)", name, of) : rot_strdup(name);
	free(name);
	free(of);
	return label;
}

/* "Error of time / least, least of 10" */
static char *
view_label(const struct sample_view *view, const struct quantity_value *value)
{
	static const char *const references[] = {"", " / expected", " / least"};
	char *name = quantity_label(value),
	     *minimum = view->minimum_of > 1 ? rot_format(", least of %zu", view->minimum_of) : rot_strdup("");
	char *label =
		rot_format("%s%s%s%s", view->is_error ? "Error of: " : "", name, references[view->reference], minimum);

	free(name);
	free(minimum);
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
	char *label = view_label(&d->own->plot.view, y);

	d->x_unit = kind == EXPERIMENT_RUNS ? "" : unit;
	d->y_unit = kind == EXPERIMENT_HISTOGRAM ? "" : unit;
	d->x_label = kind == EXPERIMENT_RUNS      ? rot_strdup("Run")
		     : kind == EXPERIMENT_THREADS ? rot_format("%s, first CPU", label)
						  : rot_strdup(label);
	d->y_label = kind == EXPERIMENT_HISTOGRAM ? rot_strdup("Runs")
		     : kind == EXPERIMENT_THREADS ? rot_format("%s, second CPU", label)
						  : rot_strdup(label);
	free(label);
}

static void
make_axis_labels(struct drawing *d)
{
	const struct experiment_plot *plot = &d->own->plot;
	const struct experiment_point *first = d->nr_shown ? d->shown[0] : NULL;
	const struct quantity_value *x = first && d->own->x.name ? experiment_point_value(first, &d->own->x) : NULL;
	const struct quantity_value *y = first ? experiment_point_value(first, &d->own->y) : NULL;

	if (shows_runs(d) && y) {
		make_axis_labels_of_runs(d, y);
		return;
	}
	d->x_label = plot->x_label[0] ? rot_strdup(plot->x_label) : x ? quantity_label(x) : rot_strdup(plot->x);
	d->y_label = plot->y_label[0] ? rot_strdup(plot->y_label) : y ? quantity_label(y) : rot_strdup(plot->y);
	d->x_unit = plot->x_unit[0] ? plot->x_unit : x && x->unit ? shown_unit(x->unit).shown : "";
	d->y_unit = plot->y_unit[0] ? plot->y_unit : y && y->unit ? shown_unit(y->unit).shown : "";
	if (!plot->has_view || !y)
		return;
	if (!plot->y_label[0]) {
		free(d->y_label);
		d->y_label = view_label(&plot->view, y);
	}
	d->y_unit = view_unit(&plot->view, y);
}

/* "cold caches; median of n = 10 runs" for all points together. */
static char *
caption_of_runs(const struct drawing *d)
{
	char *states = rot_strdup(""), *words, *line;
	const char *estimator = "exact";
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < d->nr_shown; i++) {
		const struct experiment_point *point = d->shown[i];
		const struct quantity_value *y = experiment_point_value(point, &d->own->y);

		if (!strstr(states, point->cache_state))
			append(&states, "; ", point->cache_state);
		if (!y)
			continue;
		least = y->summary.n < least ? y->summary.n : least;
		most = y->summary.n > most ? y->summary.n : most;
		if (y->summary.estimator && strcmp(y->summary.estimator, "exact") != 0)
			estimator = y->summary.estimator;
	}
	words = d->own->plot.has_view && d->own->plot.view.minimum_of > 1
			? rot_format("least of each %zu runs", d->own->plot.view.minimum_of)
			: camel_case_words(shows_runs(d) ? "each run" : estimator);
	if (d->nr_shown == 0)
		line = rot_strdup("theory alone: what it is about cannot be measured on this machine");
	else if (most == 0)
		line = rot_strdup(words);
	else if (least == most)
		line = rot_format("%s, n = %zu", words, most);
	else
		line = rot_format("%s, n = %zu ... %zu", words, least, most);
	append(&states, "; ", line);
	free(words);
	free(line);
	return states;
}

/* Says which of the quantities shown are not measured. */
static char *
caption_of_kinds(const struct drawing *d)
{
	static const char *const kinds[][2] = {
		{"expected", "as the kernel's definition expects, not counted"},
		{"modelled", "modelled from what can be counted"},
		{"given", "as given by the controller, not counted"},
	};
	const struct quantity_request *requests[2] = {&d->own->x, &d->own->y};
	char *line = rot_strdup("");

	for (size_t k = 0; d->nr_shown && k < sizeof(kinds) / sizeof(*kinds); k++) {
		char *names = rot_strdup("");

		for (size_t i = 0; i < 2; i++) {
			const struct quantity_value *value =
				requests[i]->name ? experiment_point_value(d->shown[0], requests[i]) : NULL;
			const char *part = !value || strcmp(value->kind, kinds[k][0]) != 0    ? ""
					   : strcmp(value->name, "operationalIntensity") == 0 ? "operations and bytes"
					   : strcmp(value->name, "performance") == 0          ? "operations"
					   : strcmp(value->name, "throughput") == 0           ? "bytes"
											      : value->name;

			if (!strstr(names, part))
				append(&names, ", ", part);
		}
		if (names[0]) {
			append(&names, " ", kinds[k][1]);
			append(&line, "; ", names);
		}
		free(names);
	}
	return line;
}

/* How well what was counted is known to count: "counts validated on known work: grade A". */
static char *
caption_of_grades(const struct drawing *d)
{
	const struct quantity_request *requests[2] = {&d->own->x, &d->own->y};
	const char *weakest = "";

	for (size_t i = 0; d->nr_shown && i < 2; i++) {
		const struct quantity_value *value =
			requests[i]->name ? experiment_point_value(d->shown[0], requests[i]) : NULL;

		if (value && strcmp(value->grade, weakest) > 0)
			weakest = value->grade;
	}
	return weakest[0] ? rot_format("counts validated on known work: grade %s", weakest) : rot_strdup("");
}

/* Where the values are from. */
static char *
caption_of_machines(const struct experiment *experiment)
{
	char *lines = experiment->nr_stored_machines ? rot_strdup("") : machine_caption(experiment->rot->machine);

	for (size_t i = 0; i < experiment->nr_stored_machines; i++)
		append(&lines, "\n", experiment->stored_machines[i]);
	return lines;
}

static int
make_caption(struct drawing *d, struct rot_error *err)
{
	const struct experiment_point *last = d->nr_shown ? d->shown[d->nr_shown - 1] : NULL;
	struct expression_scope *scope;
	char *machine = caption_of_machines(d->experiment), *runs = caption_of_runs(d), *kinds = caption_of_kinds(d),
	     *grades = caption_of_grades(d);
	char *annotation;

	scope = last ? experiment_scope(d->experiment, last, d->shown[0]) : expression_scope_new(NULL);
	annotation = expression_text(scope, d->own->plot.annotation, err);
	expression_scope_delete(scope);
	d->caption = rot_strdup(machine);
	append(&d->caption, "\n", runs);
	append(&d->caption, "\n", kinds);
	if (d->own->plot.has_default_peaks && d->experiment->roof_note)
		append(&d->caption, "\n", d->experiment->roof_note);
	append(&d->caption, "\n", grades);
	if (annotation)
		append(&d->caption, "\n", annotation);
	free(machine);
	free(runs);
	free(kinds);
	free(grades);
	free(annotation);
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

/* ---- the three kinds ---- */

/* Black: the highest performance, and the bandwidth of the border that x counts. */
static bool
is_main(const struct drawing *d, const struct experiment_own_ceiling *const *ceilings, size_t i)
{
	const struct experiment_own_ceiling *ceiling = ceilings[i];
	const char *border = d->own->x.border ? d->own->x.border : "";

	for (size_t k = 0; k < i; k++)
		if (strcmp(ceilings[k]->border, ceiling->border) == 0 && ceilings[k]->machine == ceiling->machine &&
		    (ceiling->is_peak || ceiling->operation[0]))
			return false;
	if (ceiling->operation[0])
		return true;
	return ceiling->border[0] && strncmp(border, ceiling->border, strlen(ceiling->border)) == 0;
}

static int
draw_roofline(const struct drawing *d, const char *output_name, struct rot_error *err)
{
	const struct experiment_own_ceiling **own = NULL;
	size_t nr = d->own->plot.has_default_peaks || d->experiment->nr_ceilings
			    ? experiment_ceilings_of(d->experiment, d->own, &own)
			    : 0;
	struct roofline_ceiling *ceilings = rot_calloc(nr + 1, sizeof(*ceilings));
	struct roofline_plot plot = {
		.frame = make_frame(d),
		.ceilings = ceilings,
		.nr_ceilings = nr,
		.series = d->series,
		.nr_series = d->nr_series,
		.same_size = d->own->plot.connect_same_size ? SAME_SIZE_ALL : SAME_SIZE_NONE,
	};
	int rc;

	for (size_t i = 0; i < nr; i++) {
		bool is_bandwidth = own[i]->operation[0] == '\0';
		struct shown_unit unit = shown_unit(own[i]->value.unit);

		ceilings[i] = (struct roofline_ceiling){
			.name = own[i]->name,
			.is_bandwidth = is_bandwidth,
			.value = own[i]->best * unit.factor,
			.low = own[i]->low * unit.factor,
			.high = own[i]->high * unit.factor,
			.label = rot_format("%.3g %s", own[i]->best * unit.factor, unit.shown),
			.is_main = is_main(d, own, i),
			.machine = own[i]->machine,
		};
	}
	rc = roofline_plot_write(&plot, output_name, err);
	for (size_t i = 0; i < nr; i++)
		free((char *)ceilings[i].label);
	free(ceilings);
	free(own);
	return rc;
}

static int
draw(const struct drawing *d, const char *output_name, struct rot_error *err)
{
	struct distribution_plot distribution = {make_frame(d), d->series, d->nr_series};
	struct series_plot series = {make_frame(d), d->series, d->nr_series};

	switch (d->own->plot.kind) {
	case EXPERIMENT_ROOFLINE:
		return draw_roofline(d, output_name, err);
	case EXPERIMENT_DISTRIBUTION:
		return distribution_plot_write(&distribution, output_name, err);
	default:
		return series_plot_write(&series, output_name, err);
	}
}

static void
drawing_clear(struct drawing *d)
{
	for (size_t i = 0; i < d->nr_series; i++) {
		for (size_t j = 0; j < d->series[i].nr_points; j++)
			free((char *)d->points[i][j].label);
		free(d->points[i]);
	}
	for (size_t i = 0; i < d->nr_names; i++)
		free(d->names[i]);
	free(d->names);
	free(d->points);
	free(d->shown);
	free(d->series);
	free(d->caption);
	free(d->x_label);
	free(d->y_label);
}

/* Of what is not measured there may be many plots: the first one says it. */
static void
warn_unmeasured(const struct drawing *d)
{
	const struct experiment_own_plot *first = d->experiment->plots;
	char *why;

	while (!first->plot.has_view || !experiment_same_request(&first->y, &d->own->y))
		first++;
	if (first != d->own)
		return;
	why = experiment_why_not_measured(d->experiment);
	rot_warning("plots of the runs of %s are not drawn: it %s", d->own->plot.y, why);
	free(why);
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

static int
write_plot(const struct experiment *experiment, const struct experiment_own_plot *own, struct rot_error *err)
{
	struct drawing d = {.experiment = experiment, .own = own};
	char *output_name = own->plot.name[0] ? rot_format("%s-%s", experiment->output_name, own->plot.name)
					      : rot_strdup(experiment->output_name);
	int rc = -1;

	if (experiment_choose(experiment, own->plot.condition, &own->best, &d.shown, &d.nr_shown, err) < 0) {
		rot_error_prefix(err, "plot '%s'", own->plot.title);
		goto out;
	}
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
	if (make_series(&d, err) == 0 && make_caption(&d, err) == 0) {
		add_all_compulsory(&d);
		add_curves(&d);
		rc = draw(&d, output_name, err);
	}
out:
	drawing_clear(&d);
	free(output_name);
	return rc;
}

int
experiment_write_plots(const struct experiment *experiment, struct rot_error *err)
{
	struct rot_error later;
	int rc = 0;

	for (size_t i = 0; i < experiment->nr_plots && experiment->nr_points > 0; i++)
		if (write_plot(experiment, &experiment->plots[i], rc == 0 ? err : &later) < 0)
			rc = -1;
	return rc;
}
