/* SPDX-License-Identifier: MIT */
/*
 * The curves of the data sheet as plots, each with its answers as marks: places on the x axis as vertical lines, costs
 * as dashed ones.
 */
#pragma once

#include "machine/measured.h"
#include "plots/plot.h"
#include "sheet/sheet.h"

struct page;
struct pool;
struct rot;

/* Where they are drawn. */
struct sheet_pictures {
	const struct rot *rot;
	struct page *page;       /* NULL: on none */
	const char *output_name; /* of files, OUTPUT-NAME.pdf, if the key plots asks for them; NULL: no files */
	struct rot_error
		*failure; /* why the first of those that failed did, if its text is not empty; others are drawn */
};

/* The caption gets what the points are, and the machine. */
void sheet_pictures_draw(const struct sheet_pictures *pictures, const char *name, const struct series_plot *plot);

/* In files alone: a page has the table. */
void sheet_pictures_draw_matrix(const struct sheet_pictures *pictures, const char *name, const struct heat_plot *plot);
void sheet_pictures_draw_bars(const struct sheet_pictures *pictures, const char *name, const char *title,
			      const struct sheet_answer *answers, size_t nr);

void sheet_pictures_draw_levels(const struct sheet_pictures *pictures, const struct measured_levels *levels,
				const struct measured_curve *curve);

/* Draws how much stays of growing buffers; nothing where nobody looked. */
void sheet_pictures_draw_last_level(const struct sheet_pictures *pictures, const struct measured_levels *levels,
				    const struct measured_curve *staying);

/* The curve of the first and the answers that are read from it: those of the unit cycles lie above its first point,
 * others are places on the x axis. */
void sheet_pictures_draw_answers(const struct sheet_pictures *pictures, const char *name, const char *title,
				 const struct sheet_answer *answers, size_t nr);

/* A point for the better half of the runs, with a whisker to the other. */
struct plot_point sheet_point(double x, double best, double other);

/* All points of a curve; a level line. Memory is of the pool, the name is borrowed. */
struct plot_series sheet_curve_series(struct pool *pool, const struct measured_curve *curve);
struct plot_series sheet_cost_line(struct pool *pool, double from, double to, double cost, const char *name);

/* The remarks on the answers, a line each; they live as long as the pool. */
const char *sheet_remarks(struct pool *pool, const struct sheet_answer *answers, size_t nr);

/* A mark for each place that answers have, one where several have the same; room for nr. Returns how many. */
size_t sheet_marks(struct pool *pool, struct plot_marker *marks, const struct sheet_answer *answers, size_t nr);
