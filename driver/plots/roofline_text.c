/* SPDX-License-Identifier: MIT */
#include "plots/roofline_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/text_table.h"
#include "memory.h"
#include "plots/points.h"
#include "plots/roofline_shape.h"

/* Left of the panel: labels of ticks, a blank and the axis. */
#define MARGIN 8

/* Characters are about twice as high as wide. */
#define COLUMNS_OF_ROW 3.4
#define LEAST_ROWS 12
#define MOST_ROWS 30

/* Dots of a character in Braille, from the left, from the top. */
#define DOTS_WIDE 2
#define DOTS_HIGH 4

/* A character of the panel: a text that hides the lines, or dots of lines. */
struct cell {
	char text[5]; /* one character in UTF-8; "": none */
	unsigned char dots;
	char plain; /* what stands for the dots in ASCII */
};

struct panel {
	struct roofline_shape shape; /* in dots */
	const struct roofline_text_options *options;
	size_t columns, rows;
	struct cell *cells; /* rows from the top */
};

/* ---- cells ---- */

static struct cell *
cell_at(const struct panel *panel, size_t row, size_t column)
{
	return &panel->cells[row * panel->columns + column];
}

static void
put_text(struct panel *panel, size_t row, size_t column, const char *text)
{
	for (; *text && column < panel->columns; column++) {
		size_t length = 1; /* of a character */
		struct cell *cell = cell_at(panel, row, column);

		while (((unsigned char)text[length] & 0xC0) == 0x80)
			length++;
		if (length < sizeof(cell->text)) {
			memcpy(cell->text, text, length);
			cell->text[length] = '\0';
		}
		text += length;
	}
}

static bool
is_free(const struct panel *panel, size_t row, size_t column, size_t width)
{
	if (row >= panel->rows || column + width > panel->columns)
		return false;
	for (size_t i = 0; i < width; i++)
		if (cell_at(panel, row, column + i)->text[0])
			return false;
	return true;
}

static void
put_dot(struct panel *panel, double x, double y, char plain)
{
	static const unsigned char bits[DOTS_HIGH][DOTS_WIDE] = {
		{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
	const double height = (double)panel->rows * DOTS_HIGH;
	size_t right, down;
	struct cell *cell;

	if (x < 0 || y < 0 || x >= (double)panel->columns * DOTS_WIDE || y >= height)
		return;
	right = (size_t)x;
	down = (size_t)(height - 1) - (size_t)y;
	cell = cell_at(panel, down / DOTS_HIGH, right / DOTS_WIDE);
	cell->dots |= bits[down % DOTS_HIGH][right % DOTS_WIDE];
	cell->plain = plain;
}

/* The row and column of a value of each axis, kept within the panel. */
static size_t
column_of(const struct panel *panel, double x)
{
	double column = layout_position(&panel->shape.x, x) / DOTS_WIDE;

	return (size_t)fmax(0, fmin(column, (double)panel->columns - 1));
}

static size_t
row_of(const struct panel *panel, double y)
{
	double up = layout_position(&panel->shape.y, y) / DOTS_HIGH;

	return panel->rows - 1 - (size_t)fmax(0, fmin(up, (double)panel->rows - 1));
}

/* ---- ceilings ---- */

/* Main ones get every dot, others every third. */
static void
draw_ceiling(struct panel *panel, const struct roofline_ceiling *ceiling)
{
	const struct roofline_segment segment = roofline_segment_of(&panel->shape, ceiling);
	const struct layout_axis *x = &panel->shape.x, *y = &panel->shape.y;
	const double x1 = layout_position(x, segment.x1), y1 = layout_position(y, segment.y1),
		     x2 = layout_position(x, segment.x2), y2 = layout_position(y, segment.y2);
	int nr;

	if (!roofline_segment_is_visible(&panel->shape, &segment))
		return;
	nr = (int)fmax(fabs(x2 - x1), fabs(y2 - y1));
	for (int i = 0; i <= nr; i += ceiling->is_main ? 1 : 3)
		put_dot(panel, x1 + (x2 - x1) * i / fmax(nr, 1), y1 + (y2 - y1) * i / fmax(nr, 1),
			ceiling->is_bandwidth ? '/' : '-');
}

/* The name of a performance in its line, as far to the right as there is room; none: it is left out. */
static void
label_performance(struct panel *panel, const struct roofline_ceiling *ceiling)
{
	autofree char *text = rot_format(" %s %s", ceiling->name, ceiling->label);
	const size_t width = text_width(text), row = row_of(panel, ceiling->value);

	for (size_t column = panel->columns - width; width <= panel->columns && column > panel->columns / 3; column--)
		if (is_free(panel, row, column, width)) {
			put_text(panel, row, column, text);
			break;
		}
}

/* The letter of a bandwidth on its line, where that leaves the panel at the left or below, or the next free place. */
static void
label_bandwidth(struct panel *panel, const struct roofline_ceiling *ceiling, char letter)
{
	const struct roofline_segment segment = roofline_segment_of(&panel->shape, ceiling);
	const char text[] = {letter, '\0'};

	for (size_t column = column_of(panel, segment.x1) + 1; column < panel->columns; column++) {
		const struct layout_axis *x = &panel->shape.x;
		const double at = x->low * pow(x->high / x->low, ((double)column + 0.5) / (double)panel->columns);
		const size_t row = row_of(panel, at * ceiling->value);

		if (at > segment.x2)
			return;
		if (is_free(panel, row, column, 1)) {
			put_text(panel, row, column, text);
			return;
		}
	}
}

static bool
is_shown(const struct panel *panel, const struct roofline_ceiling *ceiling)
{
	const struct roofline_segment segment = roofline_segment_of(&panel->shape, ceiling);

	return roofline_segment_is_visible(&panel->shape, &segment);
}

/* Bandwidths that are shown get letters in their order: a, b, ...; where letters run out the others have none. */
static char
letter_of(const struct panel *panel, size_t ceiling)
{
	const struct roofline_ceiling *ceilings = panel->shape.plot->ceilings;
	size_t nr = 0;

	if (!ceilings[ceiling].is_bandwidth || !is_shown(panel, &ceilings[ceiling]))
		return '\0';
	for (size_t i = 0; i < ceiling; i++)
		nr += ceilings[i].is_bandwidth && is_shown(panel, &ceilings[i]);
	return nr < 26 ? (char)('a' + nr) : '\0';
}

static void
label_ceilings(struct panel *panel)
{
	const struct roofline_plot *plot = panel->shape.plot;

	for (int is_main = 1; is_main >= 0; is_main--)
		for (size_t i = 0; i < plot->nr_ceilings; i++) {
			const struct roofline_ceiling *ceiling = &plot->ceilings[i];
			const char letter = letter_of(panel, i);

			if (ceiling->is_main != is_main)
				continue;
			if (letter)
				label_bandwidth(panel, ceiling, letter);
			else if (!ceiling->is_bandwidth && is_shown(panel, ceiling))
				label_performance(panel, ceiling);
		}
}

/* ---- points ---- */

static const char *
mark_of(const struct panel *panel, size_t series)
{
	static const char *const marks[] = {"●", "■", "▲", "◆", "○", "□", "△", "◇"}, *const plain[] = {"o", "#", "^",
												       "x", "*", "+",
												       "@", "%"};

	return (panel->options->is_utf8 ? marks : plain)[series % (sizeof(marks) / sizeof(*marks))];
}

/* Right of the mark, or left of it; no room: without. */
static void
label_point(struct panel *panel, const struct plot_point *point, size_t row, size_t column)
{
	autofree char *text = rot_format(" %s ", point->label);
	const size_t width = text_width(text);

	if (is_free(panel, row, column + 1, width))
		put_text(panel, row, column + 1, text);
	else if (column >= width && is_free(panel, row, column - width, width))
		put_text(panel, row, column - width, text);
}

/* All marks before all labels: dots first, the largest before the others. Models are lines in pictures, and left out
 * here. */
static void
draw_points(struct panel *panel)
{
	const struct roofline_plot *plot = panel->shape.plot;
	const struct point_edges edges = {panel->shape.x, panel->shape.y};

	for (int pass = 0; pass < 3; pass++)
		for (size_t s = 0; s < plot->nr_series; s++)
			for (size_t i = 0; i < plot->series[s].nr_points; i++) {
				const struct plot_point *point = &plot->series[s].points[i];
				const double x = point_shown_x(point, &edges), y = point_shown_y(point, &edges);
				const bool is_dot = plot->series[s].style == PLOT_DOTS;

				if (!isfinite(x) || !isfinite(y) || plot->series[s].style == PLOT_MODEL ||
				    (pass < 2 && is_dot != (pass == 0)))
					continue;
				if (pass == 1 ||
				    (pass == 0 && is_free(panel, row_of(panel, y), column_of(panel, x), 1)))
					put_text(panel, row_of(panel, y), column_of(panel, x), mark_of(panel, s));
				else if (pass == 2 && point->is_labelled)
					label_point(panel, point, row_of(panel, y), column_of(panel, x));
			}
}

/* ---- printing ---- */

static void
print_cell(const struct panel *panel, const struct cell *cell, FILE *out)
{
	const unsigned code = 0x2800u + cell->dots; /* three bytes of UTF-8 */

	if (cell->text[0])
		fputs(cell->text, out);
	else if (cell->dots && panel->options->is_utf8)
		fprintf(out, "%c%c%c", (int)(0xE0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3F)),
			(int)(0x80 | (code & 0x3F)));
	else
		fputc(cell->dots ? cell->plain : ' ', out);
}

/* Without blanks at the end. */
static void
print_cells(const struct panel *panel, size_t row, FILE *out)
{
	size_t nr = panel->columns;

	while (nr > 0 && !cell_at(panel, row, nr - 1)->dots &&
	       (!cell_at(panel, row, nr - 1)->text[0] || strcmp(cell_at(panel, row, nr - 1)->text, " ") == 0))
		nr--;
	for (size_t column = 0; column < nr; column++)
		print_cell(panel, cell_at(panel, row, column), out);
	fputc('\n', out);
}

static void
print_rows(const struct panel *panel, FILE *out)
{
	const char *const axis = panel->options->is_utf8 ? "│" : "|", *const tick = panel->options->is_utf8 ? "┤" : "+";
	struct layout_tick *ticks;
	const size_t nr = layout_ticks_of(&panel->shape.y, &ticks);

	for (size_t row = 0; row < panel->rows; row++) {
		const char *text = ""; /* of a tick in this row */
		size_t width;

		for (size_t i = 0; i < nr && !*text; i++)
			if (row_of(panel, ticks[i].value) == row)
				text = ticks[i].text;
		width = text_width(text);
		fprintf(out, "%*s%s %s", (int)(width < MARGIN - 2 ? MARGIN - 2 - width : 0), "", text,
			*text ? tick : axis);
		print_cells(panel, row, out);
	}
	layout_ticks_delete(ticks, nr);
}

static void
print_x_axis(const struct panel *panel, FILE *out)
{
	const bool is_utf8 = panel->options->is_utf8;
	struct layout_tick *ticks;
	const size_t nr = layout_ticks_of(&panel->shape.x, &ticks);
	struct panel below = *panel;

	below.rows = 2;
	below.cells = rot_calloc(2 * panel->columns, sizeof(*below.cells));
	for (size_t column = 0; column < panel->columns; column++)
		put_text(&below, 0, column, is_utf8 ? "─" : "-");
	for (size_t i = 0; i < nr; i++) {
		const size_t column = column_of(panel, ticks[i].value), width = text_width(ticks[i].text);
		const size_t begin = column >= width / 2 ? column - width / 2 : 0;

		if (width == 0)
			continue;
		put_text(&below, 0, column, is_utf8 ? "┬" : "+");
		if (is_free(&below, 1, begin > 0 ? begin - 1 : 0, width + (begin > 0)))
			put_text(&below, 1, begin, ticks[i].text);
	}
	fprintf(out, "%*s%s", MARGIN - 1, "", is_utf8 ? "└" : "+");
	print_cells(&below, 0, out);
	fprintf(out, "%*s", MARGIN, "");
	print_cells(&below, 1, out);
	free(below.cells);
	layout_ticks_delete(ticks, nr);
}

static void
print_axis_name(const struct plot_axis *axis, int indentation, size_t columns, FILE *out)
{
	autofree char *name = rot_format("%*s%s%s%s%s\n", indentation, "", axis->label, axis->unit[0] ? " [" : "",
					 axis->unit, axis->unit[0] ? "]" : "");

	text_print_within(name, columns, out);
}

/* Texts side by side, in lines that fit. */
static void
print_legend(const struct panel *panel, FILE *out)
{
	const struct roofline_plot *plot = panel->shape.plot;
	size_t at = 0;

	for (size_t i = 0; i < plot->nr_series + plot->nr_ceilings; i++) {
		const bool is_series = i < plot->nr_series;
		const struct roofline_ceiling *ceiling = is_series ? NULL : &plot->ceilings[i - plot->nr_series];
		const char letter = is_series ? '\0' : letter_of(panel, i - plot->nr_series);
		autofree char *text = NULL;

		if (is_series && plot->series[i].style != PLOT_MODEL)
			text = rot_format("%s %s", mark_of(panel, i), plot->series[i].name);
		else if (letter)
			text = rot_format("%c %s %s", letter, ceiling->name, ceiling->label);
		if (text && at > 0 && at + 3 + text_width(text) > panel->options->columns) {
			fputc('\n', out);
			at = 0;
		}
		if (text) {
			fprintf(out, "%s%s", at ? "   " : "", text);
			at += (at ? 3 : 0) + text_width(text);
		}
	}
	if (at > 0)
		fputc('\n', out);
}

void
roofline_text_print(const struct roofline_plot *plot, const struct roofline_text_options *options, FILE *out)
{
	const size_t least =
		options->columns > ROOFLINE_TEXT_LEAST_COLUMNS ? options->columns : ROOFLINE_TEXT_LEAST_COLUMNS;
	struct panel panel = {.options = options, .columns = least - MARGIN};

	panel.rows = (size_t)fmax(LEAST_ROWS, fmin((double)panel.columns / COLUMNS_OF_ROW, MOST_ROWS));
	panel.shape = roofline_shape_of(plot, (double)panel.columns * DOTS_WIDE, (double)panel.rows * DOTS_HIGH);
	panel.cells = rot_calloc(panel.columns * panel.rows, sizeof(*panel.cells));
	/* The main ones last, over the others. */
	for (int is_main = 0; is_main < 2; is_main++)
		for (size_t i = 0; i < plot->nr_ceilings; i++)
			if (plot->ceilings[i].is_main == is_main)
				draw_ceiling(&panel, &plot->ceilings[i]);
	draw_points(&panel);
	label_ceilings(&panel);
	text_print_within(plot->frame.title, least, out);
	print_axis_name(&plot->frame.y, 0, least, out);
	print_rows(&panel, out);
	print_x_axis(&panel, out);
	print_axis_name(&plot->frame.x, MARGIN, least, out);
	print_legend(&panel, out);
	text_print_within(plot->frame.caption, least, out);
	free(panel.cells);
}
