/* SPDX-License-Identifier: MIT */
/* From the points of an experiment to the series of a plot. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "plots/script.h"
#include "quantities/value_text.h"
#include "statistics/series.h"

/* ---- single runs ---- */

#define NR_STEPS 20

/* From what a view sees to what is shown: the unit's factor, of errors percent. */
static double
view_factor(const struct sample_view *view, const struct quantity_value *value)
{
	if (view->reference != SAMPLES_ALONE)
		return view->is_error ? 100 : 1;
	return value->unit ? shown_unit(value->unit).factor : 1;
}

static struct plot_point
point_at(double x, double y)
{
	return (struct plot_point){
		.x = summary_single(x, "run"), .y = summary_single(y, "run"), .label = "", .size = NAN};
}

/* The range of equal values is this share of them, so that their step can be seen. */
#define NARROW_STEP 0.001

/*
 * Steps of the same width from the least to the highest, and an empty one at either end, so that the line begins and
 * ends at 0. Of values that are all the same one step.
 */
static size_t
points_of_steps(const double *seen, size_t nr, struct plot_point *points)
{
	const struct summary summary = summary_median(seen, nr);
	const bool is_one = summary.minimum == summary.maximum;
	const double width = !is_one              ? (summary.maximum - summary.minimum) / NR_STEPS
			     : summary.value != 0 ? NARROW_STEP * fabs(summary.value)
						  : NARROW_STEP;
	const double low = is_one ? summary.minimum - width / 2 : summary.minimum;
	const size_t nr_steps = is_one ? 1 : NR_STEPS;
	size_t counts[NR_STEPS + 2] = {0};

	for (size_t i = 0; i < nr; i++) {
		const size_t step = (size_t)((seen[i] - low) / width);

		counts[1 + (step < nr_steps ? step : nr_steps - 1)]++;
	}
	for (size_t i = 0; nr > 0 && i < nr_steps + 2; i++)
		points[i] = point_at(low + ((double)i - 0.5) * width, (double)counts[i]);
	return nr > 0 ? nr_steps + 2 : 0;
}

/* Makes the points of the value in a plot that shows runs; gives back how many. */
static size_t
make_run_points(struct pool *pool, const struct experiment_plot *plot, const struct quantity_value *value,
		struct plot_point **points)
{
	const struct sample_view *view = &plot->view;
	const double factor = view_factor(view, value), *threads = value->thread_samples;
	/* The expected share of a thread. */
	const double share = view->reference == SAMPLES_TO_EXPECTED ? value->expected / (double)value->nr_threads : 1;
	size_t nr_seen, nr = 0;
	autofree double *seen = sample_view_of(view, value, &nr_seen);

	*points = pool_calloc(pool, value->nr_samples > NR_STEPS + 2 ? value->nr_samples : NR_STEPS + 2,
			      sizeof(**points));
	for (size_t i = 0; i < nr_seen; i++)
		seen[i] *= factor;
	if (plot->kind == EXPERIMENT_HISTOGRAM)
		return points_of_steps(seen, nr_seen, *points);
	if (plot->kind == EXPERIMENT_RUNS) /* in their order, counted from 1 */
		for (; nr < nr_seen; nr++)
			(*points)[nr] = point_at((double)(nr + 1), seen[nr]);
	/* The view sees the samples of the first two workloads in each run that counts. */
	for (size_t i = 0;
	     plot->kind == EXPERIMENT_THREADS && nr_seen && value->nr_threads > 1 && i < value->nr_samples; i++) {
		double pair[2] = {threads[i], threads[value->nr_samples + i]};

		for (int k = 0; k < 2; k++)
			pair[k] = factor * (view->is_error ? series_error(pair[k], share) : pair[k] / share);
		if (quantity_keeps_run(value, i))
			(*points)[nr++] = point_at(pair[0], pair[1]);
	}
	return nr;
}

/* ---- what a point is, in lines ---- */

/* Appends a line; takes it over. */
static void
add_line(char **text, char *line)
{
	rot_append(text, "%s%s", (*text)[0] && line[0] ? "\n" : "", line);
	free(line);
}

static void
add_value(char **text, const struct quantity_value *value)
{
	autofree char *name = camel_case_words(value->name), *of = value_of_words(value);
	autofree char *number = value_text(value);
	const bool is_by_blocks = strcmp(value->kind, "measured") == 0 && drawing_is_by_blocks(value);
	autofree char *estimator = camel_case_words(value->summary.estimator ? value->summary.estimator : "");

	add_line(text, rot_format("%s%s%s%s: %s%s%s", name, *of ? " (" : "", of, *of ? ")" : "", number,
				  isinf(value->summary.value) ? "" : " ",
				  isinf(value->summary.value) ? "" : shown_unit(value->unit).shown));
	if (value->summary.n > 1)
		add_line(text, rot_format("  %s of n = %zu%s", estimator, value->summary.n,
					  value->summary.tainted ? ", without disturbed runs" : ""));
	/* "measured", "counted by blocks", "modelled", "expected", "given" */
	add_line(text, rot_format("  %s%s%s%s%s", is_by_blocks ? "counted by blocks" : value->kind,
				  value->source[0] ? ": " : "", value->source, value->grade[0] ? ", grade " : "",
				  value->grade));
}

/* "51 % of the roof of 2 threads at this intensity (memory load): bound by bandwidth (99 % sure)" */
static void
add_bound(char **text, const struct experiment_bound *bound)
{
	autofree char *threads =
		bound->nr_threads > 1 ? rot_format(" of %d threads", bound->nr_threads) : rot_strdup("");
	static const char *const words[2][2] = {{"bound by computing", "by bandwidth"},
						{"bound by bandwidth", "by computing"}};
	static const char *const sides[2][2] = {
		{"far below, on the computing side of the ridge", "on the bandwidth side"},
		{"far below, on the bandwidth side of the ridge", "on the computing side"}};
	const char *const *said = (bound->share < VERDICT_FAR_BELOW ? sides : words)[bound->is_bandwidth];
	autofree char *verdict = verdict_text(said[0], said[1], bound->probability);
	autofree char *percent = digits_text(100 * bound->share, 3);

	add_line(text, rot_format("%s%s %% of the roof%s at this intensity (%s): %s", bound->is_most ? "at most " : "",
				  percent, threads, bound->ceiling, verdict));
}

/* Describes the point, and in a roofline the line that bounds it; fresh memory. */
static char *
about_point(const struct drawing *d, const struct experiment_point *point)
{
	const struct quantity_request *requests[] = {&d->own->y, &d->own->x};
	char *text = rot_strdup("");
	const char *axis;
	json_t *coordinate;

	/* "Triad 10000", and the axes that the label does not say. */
	add_line(&text, point_title(point->series, ", ", point->label));
	json_object_foreach(json_object_get(point->json, "coordinates"), axis, coordinate) {
		autofree char *value = json_plain_text(coordinate);

		if (strcmp(value, point->label) != 0 && strcmp(value, point->series) != 0)
			add_line(&text, rot_format("%s: %s", axis, value));
	}
	if (point->place) {
		struct summary percent = summary_single(100 * json_number_at(point->result, "share"), "share");
		autofree char *share = NULL;

		percent.low = 100 * json_number_at(point->result, "low");
		percent.high = 100 * json_number_at(point->result, "high");
		share = summary_text(&percent);
		add_line(&text, rot_format("%s %% of the CPU time", share));
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const struct quantity_value *value = experiment_point_value(point, requests[i]);

		if (value)
			add_value(&text, value);
	}
	if (d->page && d->own->plot.kind == EXPERIMENT_ROOFLINE) {
		struct experiment_bound bound = experiment_bound_of(d->experiment, d->own, point);

		if (bound.ceiling)
			add_bound(&text, &bound);
	}
	return text;
}

static struct summary
shown_summary(const struct quantity_value *value)
{
	return summary_scaled(value->summary, value->unit ? shown_unit(value->unit).factor : 1);
}

/* Empty: there is no derived value of that name, or the point lacks it. */
static struct summary
derived_summary(const struct experiment_point *point, const char *name, const char *kind)
{
	const json_t *derived = json_named(point->derived, name);

	if (!json_is_number(json_object_get(derived, "value")))
		return summary_empty();
	return summary_single(json_number_at(derived, "value") * shown_unit(json_text_at(derived, "unit")).factor,
			      kind);
}

static int
x_of_point(const struct drawing *d, const struct experiment_point *point, struct summary *x, struct rot_error *err)
{
	const json_t *on_axis = experiment_point_on(point, d->own->plot.x);
	const struct quantity_value *value = d->own->x.name ? experiment_point_value(point, &d->own->x) : NULL;

	if (value) {
		*x = shown_summary(value);
	} else if (json_is_number(on_axis)) {
		*x = summary_single(json_number_value(on_axis), "given");
	} else if (experiment_has_derived(d->experiment, d->own->plot.x)) {
		*x = derived_summary(point, d->own->plot.x, "derived");
	} else {
		rot_error_set(err, 0, "plot '%s': x is '%s', which %s", d->own->plot.title, d->own->plot.x,
			      on_axis ? "is not a number" : "is neither an axis nor a quantity");
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

/* The plot's y, or its difference to the series that the plot names. */
static struct summary
y_of_point(const struct drawing *d, const struct experiment_point *point)
{
	const struct quantity_value *y = experiment_point_value(point, &d->own->y), *from;
	const char *series = d->own->plot.difference_from;
	const struct experiment_point *other;

	if (!d->own->y.name)
		return derived_summary(point, d->own->plot.y, "derived");
	if (y && d->own->plot.has_view) {
		/* The view of the plot sees a part of the runs. */
		size_t nr;
		autofree double *seen = sample_view_of(&d->own->plot.view, y, &nr);
		struct summary summary = summary_median(seen, nr);

		return summary_scaled(summary, view_factor(&d->own->plot.view, y));
	}
	if (!series[0])
		return y ? shown_summary(y) : summary_empty();
	other = experiment_find_point(d->experiment, series, point->label);
	from = other ? experiment_point_value(other, &d->own->y) : NULL;
	if (!y || !from)
		return summary_empty();
	return summary_single(shown_summary(from).value - shown_summary(y).value, "difference");
}

/* Is x or y, or something that it is made of, expected? */
static bool
is_expected(const struct drawing *d, const struct experiment_point *point)
{
	autofree const struct quantity_value **values = rot_calloc(2 + point->nr_values, sizeof(*values));
	const size_t nr = drawing_values(d, point, values);
	bool is_found = false;

	for (size_t i = 0; i < nr; i++)
		is_found |= strcmp(values[i]->kind, "expected") == 0;
	return is_found;
}

static int
make_point(struct drawing *d, size_t i, struct plot_point *plotted, struct rot_error *err)
{
	const struct experiment_point *point = d->shown[i];
	const struct experiment_plot *plot = &d->own->plot;
	autoscope struct expression_scope *scope = experiment_scope(d->experiment, point, d->shown[0]);

	plotted->label = pool_own(
		&d->pool, expression_text(scope, plot->point_label[0] ? plot->point_label : "{$label}", err), free);
	if (!plotted->label)
		return rot_error_prefix(err, "plot '%s': label of a point", plot->title);
	plotted->y = y_of_point(d, point);
	plotted->about = d->page ? pool_own(&d->pool, about_point(d, point), free) : NULL;
	plotted->is_expected = is_expected(d, point);
	plotted->share = point->place ? json_number_at(point->result, "share") : 0;
	plotted->place = point->place;
	plotted->is_labelled = plot->labels == EXPERIMENT_LABELS_ALL ||
			       (plot->labels != EXPERIMENT_LABELS_NONE && plotted->share > 0) ||
			       (plot->labels == EXPERIMENT_LABELS_ENDS && is_end_of_series(d, i));
	if (!plot->connect_same_size || !rot_number_parse(point->label, &plotted->size))
		plotted->size = NAN;
	return x_of_point(d, point, &plotted->x, err);
}

static size_t
add_series(struct drawing *d, const struct plot_series *series)
{
	d->series = pool_grow(&d->pool, d->series, d->nr_series, sizeof(*d->series));
	d->points = pool_grow(&d->pool, d->points, d->nr_series, sizeof(*d->points));
	d->series[d->nr_series] = *series;
	return d->nr_series++;
}

static size_t
series_of(struct drawing *d, const char *name)
{
	for (size_t i = 0; i < d->nr_series; i++)
		if (strcmp(d->series[i].name, name) == 0)
			return i;
	return add_series(d, &(struct plot_series){.name = name});
}

bool
drawing_shows_runs(const struct drawing *d)
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

	at = series_of(d, pool_own(&d->pool, point_title(point->series, ", ", point->label), free));
	if (d->series[at].nr_points)
		return; /* two points that are called the same */
	d->series[at].style = is_histogram ? PLOT_STEPS : PLOT_MARKS;
	d->series[at].nr_points =
		make_run_points(&d->pool, &d->own->plot, experiment_point_value(point, &d->own->y), &d->points[at]);
	d->series[at].points = d->points[at];
}

/* Series of the experiment before its first point of that name; of all for NULL. */
static size_t
nr_series_before(const struct experiment *experiment, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const char *series = experiment->points[i].series;
		size_t first = 0;

		if (name && strcmp(series, name) == 0)
			break;
		while (strcmp(experiment->points[first].series, series) != 0)
			first++;
		nr += first == i;
	}
	return nr;
}

int
experiment_add_look(struct experiment *experiment, const struct experiment_look *look, struct rot_error *err)
{
	const bool has_colour = look->colour[0], has_marker = look->marker[0];
	char own[8];
	const char *colour = has_colour ? script_colour_of(look->colour, own, err) : NULL;
	const enum plot_shape shape = has_marker ? script_shape_of(look->marker, err) : 0;

	if ((has_colour && !colour) || (has_marker && !shape))
		return -1;
	pool_add(&experiment->pool, experiment->looks, experiment->nr_looks) = (struct experiment_own_look){
		.series = look->series,
		.colour = colour ? pool_strdup(&experiment->pool, colour) : NULL,
		.shape = shape,
		.order = look->order,
	};
	return 0;
}

/* The last one that was said; NULL: none was. */
static const struct experiment_own_look *
look_of(const struct experiment *experiment, const char *series)
{
	const struct experiment_own_look *found = NULL;

	for (size_t i = 0; i < experiment->nr_looks; i++)
		if (strcmp(experiment->looks[i].series, series) == 0)
			found = &experiment->looks[i];
	return found;
}

static double
order_of(const struct experiment *experiment, const char *series)
{
	const struct experiment_own_look *look = look_of(experiment, series);

	return look ? look->order : 0;
}

/* Colours and marks, as far as they are said; then in the order that is said, with the looks that they have. */
static void
apply_looks(struct drawing *d)
{
	for (size_t i = 0; i < d->nr_series; i++) {
		const struct experiment_own_look *look = look_of(d->experiment, d->series[i].name);

		d->series[i].colour = look ? look->colour : NULL;
		d->series[i].shape = look ? look->shape : 0;
	}
	for (size_t i = 1; i < d->nr_series; i++) {
		const struct plot_series series = d->series[i];
		struct plot_point *points = d->points[i];
		const double order = order_of(d->experiment, series.name);
		size_t to = i;

		for (; to > 0 && order_of(d->experiment, d->series[to - 1].name) > order; to--) {
			d->series[to] = d->series[to - 1];
			d->series[to].look_shift--;
			d->points[to] = d->points[to - 1];
		}
		d->series[to] = series;
		d->series[to].look_shift += (int)(i - to);
		d->points[to] = points;
	}
}

/* Functions that one line bounds are one series: colours say which, and are the same in all views. */
static size_t
series_of_dot(struct drawing *d, const struct experiment_point *point)
{
	const struct experiment_bound bound = experiment_bound_of(d->experiment, d->own, point);
	const char *name =
		bound.ceiling ? pool_format(&d->pool, "%s below %s", point->series, bound.ceiling) : point->series;
	const size_t nr_before = d->nr_series, at = series_of(d, name);
	size_t look = nr_series_before(d->experiment, NULL) + !bound.is_bandwidth;

	for (size_t i = 0; at == nr_before && i < at; i++)
		look += d->series[i].style == PLOT_DOTS && plot_look(&d->series[i], i) == look ? 2 : 0;
	if (at == nr_before)
		d->series[at].look_shift = (int)look - (int)at;
	return at;
}

/* At the end of a series. */
static int
add_point(struct drawing *d, size_t i, size_t series, struct rot_error *err)
{
	const size_t nr = d->series[series].nr_points;

	d->points[series] = pool_grow(&d->pool, d->points[series], nr, sizeof(**d->points));
	d->series[series].points = d->points[series];
	d->series[series].nr_points = nr + 1;
	return make_point(d, i, &d->points[series][nr], err);
}

/* Each thing is a series of its own, through its intensities at all borders; the first one is labelled. */
static int
make_joined(struct drawing *d, struct rot_error *err)
{
	const struct experiment_own_plot *own = d->own;

	for (size_t i = 0; i < d->nr_shown; i++) {
		const bool is_dot = d->shown[i]->place;
		const size_t at = add_series(d, &(struct plot_series){.name = d->shown[i]->label,
								      .style = is_dot ? PLOT_DOTS : PLOT_JOINED,
								      .is_joined = is_dot});

		for (size_t k = 0; k < own->nr_joined; k++) {
			struct experiment_own_plot of_border = *own;
			int rc;

			of_border.x.border = own->joined[k].border;
			if (!experiment_point_value(d->shown[i], &of_border.x))
				continue;
			d->own = &of_border;
			rc = add_point(d, i, at, err);
			d->own = own;
			if (rc < 0)
				return -1;
			d->points[at][d->series[at].nr_points - 1].is_labelled &= d->series[at].nr_points == 1;
		}
	}
	return 0;
}

int
drawing_make_series(struct drawing *d, struct rot_error *err)
{
	if (d->own->nr_joined)
		return make_joined(d, err);
	for (size_t i = 0; drawing_shows_runs(d) && i < d->nr_shown; i++)
		add_runs(d, i);
	for (size_t i = 0; !drawing_shows_runs(d) && i < d->nr_shown; i++) {
		const bool is_dot = d->shown[i]->place;
		const size_t at = is_dot ? series_of_dot(d, d->shown[i]) : series_of(d, d->shown[i]->series);

		d->series[at].style = is_dot ? PLOT_DOTS : PLOT_JOINED;
		if (add_point(d, i, at, err) < 0)
			return -1;
	}
	if (!drawing_shows_runs(d)) {
		/* So that a series has the same colour in all plots of the experiment. */
		for (size_t i = 0; i < d->nr_series; i++)
			if (d->series[i].style != PLOT_DOTS)
				d->series[i].look_shift = (int)(nr_series_before(d->experiment, d->series[i].name) - i);
		d->nr_hidden = (int)(nr_series_before(d->experiment, NULL) - d->nr_series);
		apply_looks(d);
	}
	return 0;
}

/* name: of the line. */
static void
add_model_of(struct drawing *d, const struct experiment_model *model, size_t series, const char *name)
{
	struct plot_point *points = pool_calloc(&d->pool, d->nr_shown, sizeof(*points));
	size_t nr = 0;

	for (size_t i = 0, of_series = 0; i < d->nr_shown; i++) {
		struct summary y = derived_summary(d->shown[i], model->derived, "expected");

		if (strcmp(d->shown[i]->series, d->series[series].name) != 0)
			continue;
		points[nr] =
			(struct plot_point){.x = d->points[series][of_series++].x, .y = y, .label = "", .size = NAN};
		nr += !isnan(y.value);
	}
	if (nr > 0)
		add_series(d, &(struct plot_series){.name = name,
						    .points = points,
						    .nr_points = nr,
						    .style = PLOT_MODEL,
						    .look_shift = d->nr_hidden});
}

/* Behind the measured series, so that these have the same colours with and without curves. */
void
drawing_add_curves(struct drawing *d)
{
	const size_t nr_measured = d->nr_series;

	for (size_t i = 0; i < d->own->nr_models; i++)
		for (size_t s = 0; s < nr_measured; s++)
			add_model_of(d, &d->own->models[i], s,
				     nr_measured == 1 ? d->own->models[i].name
						      : pool_format(&d->pool, "%s: %s", d->series[s].name,
								    d->own->models[i].name));
	for (size_t i = 0; i < d->own->nr_curves; i++) {
		const struct experiment_curve *curve = &d->own->curves[i];

		add_series(d, &(struct plot_series){.name = curve->name,
						    .points = curve->points,
						    .nr_points = curve->nr,
						    .style = PLOT_MODEL,
						    .look_shift = d->nr_hidden});
	}
}

/*
 * Where the points of a roofline's series would be if each datum crossed the border once: a dashed line of the same
 * colour, behind all others; from a single point, to there.
 */
static void
add_compulsory_of(struct drawing *d, size_t series)
{
	struct plot_point *points = pool_calloc(&d->pool, d->nr_shown + 1, sizeof(*points));
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
					    .label = "",
					    .size = NAN};
	}
	if (nr == 1) {
		points[1] = points[0];
		points[nr++].x = summary_single(d->points[series][0].x.value, "expected");
	}
	if (nr == 0)
		return;
	add_series(d, &(struct plot_series){
			      .name = pool_format(&d->pool, "%s%seach datum once", d->series[series].name,
						  d->series[series].name[0] ? ": " : ""),
			      .points = points,
			      .nr_points = nr,
			      .style = PLOT_MODEL,
			      .look_shift = (int)plot_look(&d->series[series], series) - (int)d->nr_series,
			      .colour = d->series[series].colour,
		      });
}

void
drawing_add_compulsory(struct drawing *d)
{
	const size_t nr = d->nr_series;

	for (size_t i = 0; i < nr && d->own->plot.kind == EXPERIMENT_ROOFLINE && d->own->x.name; i++)
		add_compulsory_of(d, i);
}
