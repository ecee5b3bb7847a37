/* SPDX-License-Identifier: MIT */
/* A plot while it is put together from points and ceilings: for the files experiment_plot*.c only. */
#ifndef EXPERIMENT_EXPERIMENT_DRAWING_H
#define EXPERIMENT_EXPERIMENT_DRAWING_H

#include "experiment/experiment_internal.h"
#include "page/page.h"
#include "plots/plot.h"

/* It owns all that the plot's structs borrow. */
struct drawing {
	struct pool pool; /* of the series, their points and texts */
	const struct experiment *experiment;
	const struct experiment_own_plot *own;
	struct page *page;                     /* NULL: there is none */
	const struct experiment_point **shown; /* the experiment's points that the plot shows */
	size_t nr_shown;
	bool has_functions;
	struct plot_series *series;
	struct plot_point **points; /* [nr_series][...] */
	size_t nr_series;
	int nr_hidden; /* series of the experiment that the plot does not show */
	char *caption;
	const char *x_label, *y_label;
	const char *x_unit, *y_unit;
};

/* Does it show single runs of its points? */
bool drawing_shows_runs(const struct drawing *d);

/* The series of its points, and those behind them. Errors: a label or x is impossible. */
int drawing_make_series(struct drawing *d, struct rot_error *err);
void drawing_add_compulsory(struct drawing *d);
void drawing_add_curves(struct drawing *d);

/* Was it, or what it is made of, counted by blocks? */
bool drawing_is_by_blocks(const struct quantity_value *value);

#endif
