/* SPDX-License-Identifier: MIT */
/*
 * Peaks for people and programs: the thesis' tables ("Finding Performance and Bandwidth Ceilings"), comma separated
 * values, JSON, and the landscape of a search as a heat map.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "roof/peak.h"

struct rot;
struct json_t;
struct page;

/*
 * Minimum arithmetic intensity: performances over the highest bandwidth of each border, for each number of threads.
 * Behind an empty line; nothing at all without such pairs.
 */
void peaks_print_ridges(const struct peak_list *list, FILE *out);

/*
 * The summary. is_all: tables with notes below them instead, an empty line between, as far as the list has something
 * for each. Rates are per cycle of the core; where its clock is not known, per cycle of the time stamp counter, marked
 * (t).
 */
void peaks_print(const struct peak_list *list, bool is_all, FILE *out);

/* One row a peak, in base units; empty fields where nothing is known. */
void peaks_print_csv(const struct peak_list *list, FILE *out);

/* {"schema": "rot.peaks/1", "machine": ..., "peaks": [...], "ridges": [...], "growths": [...]}. New reference. */
struct json_t *peaks_json(const struct rot *rot, const struct peak_list *list);

/*
 * Draws the variants that the search of the peak tried, over two axes (the best of the others): OUTPUT.pdf, .svg,
 * .data, .gnuplot. One axis alone makes a curve. caption: of the machine. An error where nothing was searched.
 */
int peak_draw_landscape(const struct peak *peak, const char *caption, const char *output_name, struct rot_error *err);

/*
 * Loads and stores of all levels, or the best performances, over the number of threads. Gives 1, or 0 where all are of
 * one number and there is nothing to draw. output_name NULL: is there? -1: an error.
 */
int peaks_draw_growth(const struct peak_list *list, enum peak_kind kind, const char *caption, const char *output_name,
		      struct rot_error *err);

/*
 * Performances and the bandwidths of all levels (the highest, loads and stores) as rooflines with the ridge points of
 * the highest performance; lines that are nearly the same are one. One picture for each precision that the list has, of
 * one thread and of all: OUTPUT.pdf, OUTPUT-single.pdf, OUTPUT-2-threads.pdf..., per core cycle if the key clock says
 * so; where the key plots says. page: that they are added to; NULL: none.
 */
int peaks_draw_roofs(const struct rot *rot, const struct peak_list *list, struct page *page, const char *output_name,
		     struct rot_error *err);
