/* SPDX-License-Identifier: MIT */
/* What the kinds of SVG plots share: elements, panel with axes, points of series. For the files svg*.c alone. */
#ifndef PLOTS_SVG_PANEL_H
#define PLOTS_SVG_PANEL_H

#include <libxml/xmlwriter.h>

#include "plots/layout.h"
#include "plots/points.h"

/* Coordinates of what is drawn: points from the upper left corner of the panel. */
struct svg_panel {
	xmlTextWriterPtr out;
	const struct plot_frame *frame;
	struct point_edges edges;
	const char *id;
};

void svg_begin(const struct svg_panel *panel);
void svg_end(const struct svg_panel *panel);

double svg_x(const struct svg_panel *panel, double x);
double svg_y(const struct svg_panel *panel, double y);

/* Elements. */
void svg_line(xmlTextWriterPtr out, const char *look, double x1, double y1, double x2, double y2);
void svg_path(xmlTextWriterPtr out, const char *look, const char *path);
void svg_text(xmlTextWriterPtr out, const char *look, double x, double y, double angle, const char *text);

/* "M1.00 2.00": appended to path (NULL: begun), which is freed; the new one. Values that are not finite are left out.
 */
char *svg_path_add(char *path, double x, double y);

/* Begins an element in the colour of the series at that index: of the class "s3", or by its style. */
void svg_begin_of_series(xmlTextWriterPtr out, const char *element, const char *look, const struct plot_series *series,
			 size_t index);

/* Spread, joining line, marks with their titles, signs at the ends. */
void svg_series(const struct svg_panel *panel, const struct plot_series *series, size_t index, bool in_both_directions);

#endif
