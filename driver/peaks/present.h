/* SPDX-License-Identifier: MIT */
/*
 * Peaks for people and programs: the thesis' tables ("Finding Performance and Bandwidth Ceilings"), comma separated
 * values, JSON, and the landscape of a search as a heat map.
 */
#ifndef PEAKS_PRESENT_H
#define PEAKS_PRESENT_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "peaks/peak.h"

struct rot;
struct json_t;
struct page;

/*
 * Tables with notes below them; nothing at all where the list has no peak of that kind. What is above, per cycle of the
 * core; where its clock is not known, per cycle of the time stamp counter, marked (t).
 */
void peaks_print_performance(const struct peak_list *list, FILE *out);

/* Minimum arithmetic intensity: performances over the highest bandwidth of each border, for each number of threads. */
void peaks_print_ridges(const struct peak_list *list, FILE *out);

/* The summary; is_all: all tables above, an empty line between. */
void peaks_print(const struct peak_list *list, bool is_all, FILE *out);

/* One row a peak, in base units; empty fields where nothing is known. */
void peaks_print_csv(const struct peak_list *list, FILE *out);

/* {"schema": "rot.peaks/1", "machine": ..., "peaks": [...], "ridges": [...], "growths": [...]}. New reference. */
struct json_t *peaks_json(const struct rot *rot, const struct peak_list *list);

/*
 * What the search of the peak tried, over two of its axes (the best of the others): OUTPUT.pdf, .svg, .data, .gnuplot.
 * Of one axis alone it is a curve. caption: of the machine. An error where nothing was searched.
 */
int peak_draw_landscape(const struct peak *peak, const char *caption, const char *output_name, struct rot_error *err);

/* Is there something to draw over the number of threads? */
bool peaks_have_growth(const struct peak_list *list);

/* Loads and stores of all levels over the number of threads; nothing where all are of one number. */
int
peaks_draw_growth(const struct peak_list *list, const char *caption, const char *output_name, struct rot_error *err);

/*
 * Performances and the bandwidths of all levels (the highest, loads and stores) as rooflines with the ridge points of
 * the highest performance; lines that are nearly the same are one. One picture for each precision that the list has, of
 * one thread and of all: OUTPUT.pdf, OUTPUT-single.pdf, OUTPUT-2-threads.pdf..., per core cycle if the key clock says
 * so; where the key plots says. page: that they are added to; NULL: none.
 */
int peaks_draw_roofs(const struct rot *rot, const struct peak_list *list, struct page *page, const char *output_name,
		     struct rot_error *err);

#endif
