/* SPDX-License-Identifier: MIT */
/* From points and ceilings to plots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "experiment/experiment_drawing.h"
#include "memory.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "rot.h"

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

/* "at least 120 GB/s". Fresh memory. */
static char *
ceiling_label(const struct experiment_own_ceiling *ceiling, struct shown_unit unit)
{
	char *number = digits_text(ceiling->best * unit.factor, 3);
	char *label =
		rot_format("%s%s %s", experiment_ceiling_is_least(ceiling) ? "at least " : "", number, unit.shown);

	free(number);
	return label;
}

static int
draw_roofline(struct drawing *d, const char *output_name, struct rot_error *err)
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
			.label = ceiling_label(own[i], unit),
			.is_main = is_main(d, own, i),
			.machine = own[i]->machine,
		};
	}
	if (d->page)
		page_add_roofline(d->page, &plot);
	rc = roofline_plot_show(&plot, d->experiment->rot->configuration, output_name, err);
	for (size_t i = 0; i < nr; i++)
		free((char *)ceilings[i].label);
	free(ceilings);
	free(own);
	return rc;
}

static int
draw(struct drawing *d, const char *output_name, struct rot_error *err)
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

static void
point_clear(struct plot_point *point)
{
	free((char *)point->label);
	free((char *)point->about);
}

static void
drawing_clear(struct drawing *d)
{
	for (size_t i = 0; i < d->nr_series; i++) {
		for (size_t j = 0; j < d->series[i].nr_points; j++)
			point_clear(&d->points[i][j]);
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
write_plot(const struct experiment *experiment, const struct experiment_own_plot *own, struct page *page,
	   struct rot_error *err)
{
	struct drawing d = {.experiment = experiment, .own = own, .page = page};
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
	drawing_make_axis_labels(&d);
	if (drawing_make_series(&d, err) == 0 && drawing_make_caption(&d, err) == 0) {
		drawing_add_compulsory(&d);
		drawing_add_curves(&d);
		rc = draw(&d, output_name, err);
	}
out:
	drawing_clear(&d);
	free(output_name);
	return rc;
}

static int
write_page(const struct experiment *experiment, const struct page *page, const struct page_result *results,
	   size_t nr_results, struct rot_error *err)
{
	return page_write(page, results, nr_results, experiment->rot->paths->data, experiment->output_name, err);
}

/* Of a single plot its own; a program without any is called as it was started. */
static const char *
title_of_page(const struct experiment *experiment)
{
	if (experiment->nr_plots == 1)
		return experiment->plots[0].plot.title;
	if (experiment->nr_plots == 0 && experiment->nr_points > 0 && strcmp(experiment->controller_name, "run") == 0)
		return experiment->points[0].label;
	return experiment->controller_name;
}

static size_t
nr_without_text(const struct experiment *experiment)
{
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_plots && experiment->nr_points > 0; i++)
		nr += experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE;
	return nr;
}

int
experiment_draw_plots(const struct experiment *experiment, struct page *page, struct rot_error *err)
{
	struct rot_error later;
	int rc = 0;

	for (size_t i = 0; i < experiment->nr_plots && experiment->nr_points > 0; i++)
		if (write_plot(experiment, &experiment->plots[i], page, rc == 0 ? err : &later) < 0)
			rc = -1;
	return rc;
}

int
experiment_write_plots(const struct experiment *experiment, const struct page_result *results, size_t nr_results,
		       struct rot_error *err)
{
	struct page *page =
		plots_go_to(experiment->rot->configuration, PLOTS_ON_PAGE) ? page_new(title_of_page(experiment)) : NULL;
	struct rot_error later;
	int rc = experiment_draw_plots(experiment, page, err);

	if (!page)
		plots_note_undrawn(experiment->rot->configuration, nr_without_text(experiment));
	if (page && write_page(experiment, page, results, nr_results, rc == 0 ? err : &later) < 0)
		rc = -1;
	page_delete(page);
	return rc;
}

void
experiment_drop_plots(struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++)
		experiment_plot_clear(&experiment->plots[i]);
	experiment->nr_plots = 0;
}
