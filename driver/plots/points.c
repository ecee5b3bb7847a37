/* SPDX-License-Identifier: MIT */
/* Points of series as gnuplot data and plot elements. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "memory.h"
#include "plots/points.h"
#include "plots/script.h"

void
point_values_add(struct point_values *values, double x, double y)
{
	values->x = rot_realloc(values->x, values->nr + 1, sizeof *values->x);
	values->y = rot_realloc(values->y, values->nr + 1, sizeof *values->y);
	values->x[values->nr] = x;
	values->y[values->nr++] = y;
}

/* Boxes and whiskers are drawn of series with repeated points alone. */
static bool
has_spread(const struct plot_series *series)
{
	if (series->style == PLOT_MODEL || series->style == PLOT_DOTS)
		return false;
	for (size_t i = 0; i < series->nr_points; i++)
		if (series->points[i].y.n > 1 || series->points[i].x.n > 1)
			return true;
	return false;
}

struct point_values
point_values_of(const struct point_set *set)
{
	struct point_values values = {0};

	for (size_t s = 0; s < set->nr_series; s++) {
		const bool has_boxes = set->frame->show_percentiles && has_spread(&set->series[s]);

		for (size_t i = 0; i < set->series[s].nr_points; i++) {
			const struct summary *x = &set->series[s].points[i].x, *y = &set->series[s].points[i].y;

			point_values_add(&values, x->value, y->value);
			if (!has_boxes)
				continue;
			point_values_add(&values, set->is_of_two ? x->quartile25 : NAN, y->quartile25);
			point_values_add(&values, set->is_of_two ? x->quartile75 : NAN, y->quartile75);
		}
	}
	return values;
}

void
points_widen(const struct point_set *set, struct point_edges *edges)
{
	struct point_values ends = {0};

	for (size_t s = 0; set->frame->show_min_max && s < set->nr_series; s++)
		for (size_t i = 0; has_spread(&set->series[s]) && i < set->series[s].nr_points; i++) {
			const struct summary *x = &set->series[s].points[i].x, *y = &set->series[s].points[i].y;

			point_values_add(&ends, set->is_of_two ? x->minimum : NAN, y->minimum);
			point_values_add(&ends, set->is_of_two ? x->maximum : NAN, y->maximum);
		}
	layout_widen(&edges->x, &set->frame->x, ends.x, ends.nr);
	layout_widen(&edges->y, &set->frame->y, ends.y, ends.nr);
	point_values_clear(&ends);
}

/* ---- boxes side by side ---- */

/* All series together may take this share of the distance to the next x; less than LEAST_STEP apart they stay where
 * they are. */
#define MOST_TAKEN 0.6
#define LEAST_STEP 2.0

static double
position(const struct point_edges *edges, const struct plot_point *point)
{
	return layout_position(&edges->x, point_shown_x(point, edges));
}

/* Has a box that is at the same x as that of the other point, and reaches into it? */
static bool
covers(const struct point_edges *edges, const struct plot_point *a, const struct plot_point *b)
{
	return a->y.n > 1 && b->y.n > 1 && a->x.value == b->x.value &&
	       layout_position(&edges->y, a->y.quartile25) < layout_position(&edges->y, b->y.quartile75) &&
	       layout_position(&edges->y, b->y.quartile25) < layout_position(&edges->y, a->y.quartile75);
}

/* Two series: do boxes cover each other, and what is the least distance of two different x? */
static void
compare(const struct point_edges *edges, const struct plot_series *a, const struct plot_series *b, bool *is_covered,
	double *gap)
{
	for (size_t i = 0; i < a->nr_points; i++)
		for (size_t k = 0; k < b->nr_points; k++) {
			const double apart = fabs(position(edges, &a->points[i]) - position(edges, &b->points[k]));

			*is_covered = *is_covered || (a != b && covers(edges, &a->points[i], &b->points[k]));
			if (apart > 0)
				*gap = fmin(*gap, apart);
		}
}

static bool
has_marks(const struct plot_series *series)
{
	return series->style == PLOT_JOINED || series->style == PLOT_MARKS;
}

double
beside_shift_of(const struct point_set *set, const struct point_edges *edges, size_t series)
{
	double gap = edges->x.length, place = 0, nr = 0, step;
	bool is_covered = false;

	if (!set->frame->show_percentiles || set->is_of_two || !has_marks(&set->series[series]))
		return 0;
	for (size_t s = 0; s < set->nr_series; s++) {
		if (!has_marks(&set->series[s]))
			continue;
		place = s == series ? nr : place;
		nr++;
		for (size_t t = s; t < set->nr_series; t++)
			if (has_marks(&set->series[t]))
				compare(edges, &set->series[s], &set->series[t], &is_covered, &gap);
	}
	step = fmin(1.2 * BESIDE_BOX_SHARE * edges->x.length, MOST_TAKEN * gap / nr);
	return is_covered && step >= LEAST_STEP ? (place - (nr - 1) / 2) * step : 0;
}

double
beside_value(const struct layout_axis *axis, double value, double points)
{
	return axis->is_log ? value * pow(axis->high / axis->low, points / axis->length)
			    : value + (axis->high - axis->low) * points / axis->length;
}

/* Extends the sides of x that the plot leaves open, as far as that needs. */
static void
beside_make_room(const struct point_set *set, struct point_edges *edges)
{
	const double half_box = BESIDE_BOX_SHARE * edges->x.length;
	const struct plot_axis *axis = &set->frame->x;
	double left = 0, right = 0;

	for (size_t s = 0; s < set->nr_series; s++) {
		const double shift = beside_shift_of(set, edges, s);

		for (size_t i = 0; shift != 0 && i < set->series[s].nr_points; i++) {
			const double at = position(edges, &set->series[s].points[i]) + shift;

			left = fmax(left, half_box - at);
			right = fmax(right, at + half_box - edges->x.length);
		}
	}
	if (left > 0 && isnan(axis->low))
		edges->x.low = beside_value(&edges->x, edges->x.low, -left);
	if (right > 0 && isnan(axis->high))
		edges->x.high = beside_value(&edges->x, edges->x.high, right);
}

struct point_edges
points_edges_of(const struct point_set *set)
{
	struct point_values values = point_values_of(set);
	struct point_edges edges = {layout_range(&set->frame->x, values.x, values.nr, LAYOUT_PANEL_WIDTH),
				    layout_range(&set->frame->y, values.y, values.nr, LAYOUT_PANEL_HEIGHT)};

	points_widen(set, &edges);
	beside_make_room(set, &edges);
	layout_leave_ends(&edges.x, &set->frame->x, values.x, values.nr);
	layout_leave_ends(&edges.y, &set->frame->y, values.y, values.nr);
	point_values_clear(&values);
	for (size_t s = 0; s < set->nr_series; s++)
		for (size_t i = 0; set->series[s].style != PLOT_MODEL && i < set->series[s].nr_points; i++)
			point_values_add(&values, set->series[s].points[i].x.value, set->series[s].points[i].y.value);
	layout_suit_ticks(&edges.x, values.x, values.nr, true);
	layout_suit_ticks(&edges.y, values.y, values.nr, false);
	point_values_clear(&values);
	return edges;
}

/* ---- what is beyond the edges ---- */

struct arrows {
	struct point_arrow *items;
	size_t nr;
};

/* From where the other axis has it; nothing where the value is within the axis. */
static void
add_arrow(struct arrows *arrows, const struct point_edges *edges, const struct point_arrow *of, double x, double y)
{
	const enum layout_end beyond_x = layout_beyond(&edges->x, x), beyond_y = layout_beyond(&edges->y, y);
	struct point_arrow arrow = *of;

	if ((!beyond_x && !beyond_y) || isnan(x) || isnan(y))
		return;
	arrow.right = beyond_x == LAYOUT_HIGH_END ? 1 : beyond_x == LAYOUT_LOW_END ? -1 : 0;
	arrow.up = beyond_y == LAYOUT_HIGH_END ? 1 : beyond_y == LAYOUT_LOW_END ? -1 : 0;
	arrow.x = fmax(0, fmin(layout_position(&edges->x, x), edges->x.length));
	arrow.y = fmax(0, fmin(layout_position(&edges->y, y), edges->y.length));
	rot_add(arrows->items, arrows->nr) = arrow;
}

/* Values drawn at an end, or not at all, have no whiskers in that direction. */
static void
add_arrows_of(struct arrows *arrows, const struct point_set *set, const struct point_edges *edges, size_t series,
	      const struct plot_point *point)
{
	const double x = point_shown_x(point, edges), y = point_shown_y(point, edges);
	const struct point_arrow value = {.series = series}, whisker = {.series = series, .is_whisker = true};
	const size_t nr = arrows->nr;

	add_arrow(arrows, edges, &value, x, y);
	if (arrows->nr > nr || !isfinite(x) || !isfinite(y) || !set->frame->show_min_max ||
	    !has_spread(&set->series[series]))
		return;
	if (!layout_end_of(&edges->y, point->y.value)) {
		add_arrow(arrows, edges, &whisker, x, point->y.minimum);
		add_arrow(arrows, edges, &whisker, x, point->y.maximum);
	}
	if (!set->is_of_two || layout_end_of(&edges->x, point->x.value))
		return;
	add_arrow(arrows, edges, &whisker, point->x.minimum, y);
	add_arrow(arrows, edges, &whisker, point->x.maximum, y);
}

size_t
points_arrows_of(const struct point_set *set, const struct point_edges *edges, struct point_arrow **arrows)
{
	struct arrows found = {0};

	for (size_t s = 0; s < set->nr_series; s++) {
		const double shift = beside_shift_of(set, edges, s);
		const size_t before = found.nr;

		for (size_t i = 0; set->series[s].style != PLOT_MODEL && i < set->series[s].nr_points; i++)
			add_arrows_of(&found, set, edges, s, &set->series[s].points[i]);
		for (size_t i = before; i < found.nr; i++)
			found.items[i].x += found.items[i].right ? 0 : shift;
	}
	*arrows = found.items;
	return found.nr;
}

/* "2 points"; "" for none. */
static char *
count_text(size_t nr, const char *one, const char *several)
{
	return nr ? rot_format("%zu %s", nr, nr == 1 ? one : several) : rot_strdup("");
}

char *
points_caption(const struct point_set *set, const struct point_edges *edges)
{
	autofree struct point_arrow *arrows = NULL;
	const size_t nr = points_arrows_of(set, edges, &arrows);
	autofree char *points = NULL, *whiskers = NULL;
	size_t nr_whiskers = 0;

	for (size_t i = 0; i < nr; i++)
		nr_whiskers += arrows[i].is_whisker;
	points = count_text(nr - nr_whiskers, "point", "points");
	whiskers = count_text(nr_whiskers, "end of a whisker", "ends of whiskers");
	return nr ? rot_format("%s%sbeyond the edges (arrows): %s%s%s", set->frame->caption,
			       *set->frame->caption ? "\n" : "", points, *points && *whiskers ? ", " : "", whiskers)
		  : rot_strdup(set->frame->caption);
}

void
point_values_clear(struct point_values *values)
{
	free(values->x);
	free(values->y);
	*values = (struct point_values){0};
}

const struct plot_point *
point_of_size(const struct plot_series *series, double size)
{
	for (size_t i = 0; i < series->nr_points; i++)
		if (series->points[i].size == size)
			return &series->points[i];
	return NULL;
}

static double
shown_value(double value, const struct layout_axis *axis)
{
	enum layout_end end = layout_end_of(axis, value);

	return end == LAYOUT_HIGH_END ? axis->high : end == LAYOUT_LOW_END ? axis->low : value;
}

double
point_shown_x(const struct plot_point *point, const struct point_edges *edges)
{
	return shown_value(point->x.value, &edges->x);
}

double
point_shown_y(const struct plot_point *point, const struct point_edges *edges)
{
	return shown_value(point->y.value, &edges->y);
}

/* ---- labels of markers ---- */

/* From a point's least value to its largest one, and the sign beside it; from the one before, the line. */
static void
take_point(struct layout *taken, const struct plot_point *point, bool is_first, const struct point_edges *edges)
{
	const double x = layout_position(&edges->x, point_shown_x(point, edges)),
		     y = layout_position(&edges->y, point_shown_y(point, edges)),
		     low = fmin(y, fmax(0, layout_position(&edges->y, point->y.minimum))),
		     high = fmax(y, fmin(edges->y.length, layout_position(&edges->y, point->y.maximum)));
	struct layout_box box = {x, y, 9, 7, 0};

	if (isfinite(low) && isfinite(high)) {
		box.y = (low + high) / 2;
		box.height += high - low;
	}
	if (layout_end_of(&edges->y, point->y.value) != LAYOUT_NO_END)
		box.height += 4 * LAYOUT_END_SIGN;
	layout_take(taken, &box);
	if (is_first)
		return;
	box = layout_line(layout_position(&edges->x, point_shown_x(point - 1, edges)),
			  layout_position(&edges->y, point_shown_y(point - 1, edges)), x, y);
	layout_take(taken, &box);
}

/* The label of a marker at x, as far up as there is room, on its left or else on its right; at the very top where there
 * is none. */
static struct layout_box
marker_label(const char *label, double x, const struct layout *taken)
{
	const double width = layout_text_width(label), top = LAYOUT_PANEL_HEIGHT - width / 2 - 2,
		     beside = layout_text_height() * 0.6;
	struct layout_box box = {x - beside, top, width, layout_text_height(), 90};

	for (int side = -1; side <= 1; side += 2) {
		box.x = x + side * beside;
		for (box.y = top; box.y > width / 2; box.y -= 4)
			if (layout_is_free(taken, &box))
				return box;
	}
	box.x = x - beside;
	box.y = top;
	return box;
}

struct layout_box *
points_marker_labels(const struct point_set *set, const struct point_edges *edges)
{
	struct layout taken = {.width = LAYOUT_PANEL_WIDTH, .height = LAYOUT_PANEL_HEIGHT};
	struct layout_box *labels = rot_calloc(set->frame->nr_markers + 1, sizeof(*labels));

	for (size_t s = 0; set->frame->nr_markers && s < set->nr_series; s++)
		for (size_t i = 0; i < set->series[s].nr_points; i++)
			take_point(&taken, &set->series[s].points[i], i == 0, edges);
	for (size_t i = 0; i < set->frame->nr_markers; i++) {
		const double at = layout_position(&edges->x, set->frame->markers[i].x);

		if (!(at > 0 && at < edges->x.length))
			continue;
		labels[i] = marker_label(set->frame->markers[i].label, at, &taken);
		layout_take(&taken, &labels[i]);
	}
	layout_clear(&taken);
	return labels;
}

/* ---- for gnuplot ---- */

static void
write_point(FILE *out, const struct plot_point *point, bool has_share, const struct point_edges *edges)
{
	const struct summary *x = &point->x, *y = &point->y;
	double shown_x = point_shown_x(point, edges), shown_y = point_shown_y(point, edges);
	const double columns[] = {shown_x,      shown_y,       x->minimum,        x->maximum,    y->minimum,
				  y->maximum,   x->quartile25, x->quartile75,     y->quartile25, y->quartile75,
				  (double)y->n, point->size,   point->is_expected};

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		script_write_number(out, columns[i]);
		fputc(' ', out);
	}
	script_write_string(out, point->label ? point->label : "");
	if (has_share) {
		fputc(' ', out);
		script_write_number(out, point->share);
	}
	fputc('\n', out);
}

void
points_write_data(FILE *out, const struct plot_series *series, size_t nr_series, const struct point_edges *edges)
{
	for (size_t s = 0; s < nr_series; s++) {
		const bool has_share = series[s].style == PLOT_DOTS;

		fprintf(out, "%s# %s\n# x y xmin xmax ymin ymax x25 x75 y25 y75 n size expected label%s\n",
			s ? "\n\n" : "", series[s].name, has_share ? " share" : "");
		for (size_t i = 0; i < series[s].nr_points; i++)
			write_point(out, &series[s].points[i], has_share, edges);
	}
}

static void __attribute__((format(printf, 2, 3))) add_element(char **command, const char *format, ...)
{
	autofree char *element = NULL;
	va_list arguments;

	va_start(arguments, format);
	element = rot_vformat(format, arguments);
	va_end(arguments);
	rot_append(command, "%s%s", path_ends_in(*command, " ") ? "" : ", \\\n\t", element);
}

/* A series name as gnuplot string, in fresh memory. */
static char *
quoted(const char *text)
{
	char *buffer = NULL;
	size_t size;
	FILE *out = open_memstream(&buffer, &size);

	if (!out)
		return rot_strdup("\"\"");
	script_write_string(out, text);
	fclose(out);
	return buffer;
}

/* Rows of points measured once have no box: n is column 11. */
static void
add_spread(char **command, size_t index, const char *colour, const struct plot_frame *frame, bool both_directions,
	   const char *x)
{
	if (frame->show_min_max)
		add_element(command,
			    "data index %zu using %s:%s pointtype 0 linewidth 0.7 linecolor rgb \"%s\" notitle", index,
			    x, both_directions ? "2:3:4:5:6 with xyerrorbars" : "2:5:6 with yerrorbars", colour);
	if (frame->show_percentiles) {
		/* a box is as wide everywhere in the picture: relative to x on a logarithmic axis, by POINTS_BOX_OF_X
		 */
		autofree char *width = !both_directions && frame->x.is_log
					       ? rot_format(":(%s*" POINTS_BOX_OF_X ")", strcmp(x, "1") == 0 ? "$1" : x)
					       : rot_strdup("");
		const char *form = both_directions ? "2:7:8:9:10" : "9:9:10:10",
			   *with = both_directions ? "boxxyerror" : "candlesticks";

		add_element(
			command,
			"data index %zu using %s:%s%s with %s fillstyle transparent solid 0.25 border linewidth 0.7 "
			"linecolor rgb \"%s\" notitle",
			index, x, form, width, with, colour);
	}
}

/*
 * How gnuplot draws it, in fresh memory. Lines without marks are told apart by their dashes as well, and lines whose
 * colours are there again.
 */
static char *
with_style(const struct plot_series *series, size_t index)
{
	static const char *const of_models[SCRIPT_NR_COLOURS] = {"(6,4)",     "(12,4)", "(2,3)",         "(10,3,2,3)",
								 "(6,2,2,2)", "(3,6)",  "(12,2,2,2,2,2)"};
	static const char *const of_steps[SCRIPT_NR_COLOURS] = {"solid",  "(8,3)", "(2,3)",     "(8,3,2,3)",
								"(14,3)", "(4,6)", "(14,2,2,2)"};
	static const char *const of_cycles[SCRIPT_NR_CYCLES] = {"solid", "(8,3)", "(3,3)"};
	const size_t look = plot_look(series, index) % SCRIPT_NR_COLOURS;
	const int mark = script_mark(series, index);

	switch (series->style) {
	case PLOT_MODEL:
		return rot_format("lines linewidth 1.6 dashtype %s", of_models[look]);
	case PLOT_MARKS:
		return rot_format("points pointtype %d pointsize 0.4", mark);
	case PLOT_STEPS:
		return rot_format("histeps linewidth 1.2 dashtype %s", of_steps[look]);
	default:
		return rot_format("linespoints pointtype %d pointsize 0.55 linewidth 1.2 dashtype %s", mark,
				  of_cycles[script_cycle(series, index)]);
	}
}

/* Half the width of gnuplot's marks of pointsize 1, in points. */
#define GNUPLOT_MARK 3.6

/* Marks that are seen through, with an edge that is not; column 15 has the share. */
static void
add_dots(char **command, const struct plot_series *series, size_t index, const char *x)
{
	const char *colour = script_colour(series, index);
	autofree char *size = rot_format("(%g*($15 > %g ? sqrt($15) : %g))", PLOT_LARGEST_DOT / GNUPLOT_MARK,
					 pow(PLOT_LEAST_DOT / PLOT_LARGEST_DOT, 2), PLOT_LEAST_DOT / PLOT_LARGEST_DOT);

	add_element(command,
		    "data index %zu using %s:2:%s with points pointtype %d pointsize variable linecolor rgb "
		    "\"#A0%s\" notitle",
		    index, x, size, script_mark(series, index), colour + 1);
	add_element(command,
		    "data index %zu using %s:2:%s with points pointtype %d pointsize variable linewidth 0.8 "
		    "linecolor rgb \"%s\" notitle",
		    index, x, size, script_mark(series, index) - 1, colour);
}

void
points_add_key(char **command, const struct plot_series *series, size_t index)
{
	autofree char *title = quoted(series->name);

	add_element(command, "NaN with points pointtype %d pointsize 0.9 linewidth 0.8 linecolor rgb \"%s\" title %s",
		    script_mark(series, index) - 1, script_colour(series, index), title);
}

/* Hollow marks: column 13 says which. */
static void
add_holes(char **command, const struct plot_series *series, size_t index, const char *x)
{
	bool has_some = false;

	for (size_t i = 0; i < series->nr_points; i++)
		has_some = has_some || series->points[i].is_expected;
	if (has_some)
		add_element(command,
			    "data index %zu using %s:($13 > 0 ? $2 : NaN) with points pointtype %d pointsize 0.3 "
			    "linecolor rgb \"#FFFFFF\" notitle",
			    index, x, script_mark(series, index));
}

void
points_add_commands(char **command, const struct plot_series *series, size_t index, const struct plot_frame *frame,
		    bool both_directions, const char *x)
{
	autofree char *title = NULL, *with = NULL;

	if (series->style == PLOT_DOTS) {
		add_dots(command, series, index, x);
		return;
	}
	title = quoted(series->name);
	if (has_spread(series))
		add_spread(command, index, script_colour(series, index), frame, both_directions, x);
	with = with_style(series, index);
	add_element(command, "data index %zu using %s:2 with %s linecolor rgb \"%s\" title %s", index, x, with,
		    script_colour(series, index), title);
	add_holes(command, series, index, x);
}

char *
points_title(const char *title, const struct plot_series *series, size_t nr_series)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t s = 0; s < nr_series; s++) {
		for (size_t i = 0; i < series[s].nr_points && series[s].style != PLOT_MODEL; i++) {
			size_t n = series[s].points[i].y.n;

			least = n < least ? n : least;
			most = n > most ? n : most;
		}
	}
	if (most <= 1)
		return rot_strdup(title);
	if (least == most)
		return rot_format("%s (n=%zu)", title, most);
	return rot_format("%s (n=%zu...%zu)", title, least, most);
}
