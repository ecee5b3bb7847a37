/* SPDX-License-Identifier: MIT */
/*
 * Plots as inline SVG, for a page: the panel with its axes, what is in it, and a group for each point with a title that
 * tells what it is. Looks are classes of the page's style sheet: series have the class "s0" to "s6", as they have
 * colours in other plots. Title and legend are the page's, and the caption, which they give (fresh memory) with what is
 * beyond the edges.
 */
#pragma once

#include <libxml/xmlwriter.h>

#include "plots/plot.h"

/* id: of the picture within its page, which its parts' names begin with. */
char *roofline_svg_write(const struct roofline_plot *plot, const char *id, xmlTextWriterPtr out);

/* Series and distribution plots; the latter show spread. */
char *series_svg_write(const struct plot_frame *frame, const struct plot_series *series, size_t nr_series,
		       bool shows_spread, const char *id, xmlTextWriterPtr out);

/* The mark of a series by itself, for legends. */
void svg_write_mark(xmlTextWriterPtr out, const struct plot_series *series, size_t index);
