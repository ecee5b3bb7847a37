/* SPDX-License-Identifier: MIT */
/* Where things are on the picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "plots/layout.h"

static double
axis_scale(const struct layout_axis *axis, double value)
{
	return axis->is_log ? log10(value) : value;
}

double
layout_position(const struct layout_axis *axis, double value)
{
	double low = axis_scale(axis, axis->low), high = axis_scale(axis, axis->high);

	if (axis->is_log && value <= 0)
		return -INFINITY;
	return (axis_scale(axis, value) - low) / (high - low) * axis->length;
}

enum layout_end
layout_end_of(const struct layout_axis *axis, double value)
{
	if (isinf(value) && value > 0)
		return LAYOUT_HIGH_END;
	return axis->is_log && value <= 0 ? LAYOUT_LOW_END : LAYOUT_NO_END;
}

static bool
is_usable(bool is_log, double value)
{
	return isfinite(value) && (!is_log || value > 0);
}

/* The margin beyond the outermost values: a factor of two on logarithmic axes, 5 % of the range on linear ones. */
static void
add_margin(struct layout_axis *range)
{
	double margin = (range->high - range->low) * 0.05;

	if (range->is_log) {
		range->low /= 2;
		range->high *= 2;
		return;
	}
	if (margin == 0)
		margin = range->high == 0 ? 1 : fabs(range->high) * 0.1;
	range->high += margin;
	range->low = range->low >= 0 && range->low - margin < 0 ? 0 : range->low - margin;
}

struct layout_axis
layout_range(const struct plot_axis *axis, const double *values, size_t nr, double length)
{
	struct layout_axis range = {.is_log = axis->is_log, .low = INFINITY, .high = -INFINITY, .length = length};

	for (size_t i = 0; i < nr; i++) {
		if (!is_usable(axis->is_log, values[i]))
			continue;
		range.low = fmin(range.low, values[i]);
		range.high = fmax(range.high, values[i]);
	}
	if (range.low > range.high) {
		range.low = axis->is_log ? 1 : 0;
		range.high = axis->is_log ? 10 : 1;
	} else {
		add_margin(&range);
	}
	if (is_usable(axis->is_log, axis->low))
		range.low = axis->low;
	if (is_usable(axis->is_log, axis->high))
		range.high = axis->high;
	if (range.low >= range.high)
		range.high = axis->is_log ? range.low * 10 : range.low + 1;
	return range;
}

static char *
tick_text(int digit, int exponent)
{
	static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	const int size = abs(exponent);
	char *power, *text;

	if (exponent > -4 && exponent < 6)
		return rot_number_text(digit * pow(10, exponent), 6);
	if (size > 99)
		return rot_format("%de%d", digit, exponent);
	power = rot_format("10%s%s%s", exponent < 0 ? "⁻" : "", size > 9 ? raised[size / 10] : "", raised[size % 10]);
	text = digit == 1 ? rot_strdup(power) : rot_format("%d·%s", digit, power);
	free(power);
	return text;
}

size_t
layout_log_ticks(const struct layout_axis *axis, struct layout_tick **ticks)
{
	static const int labelled_when_short[] = {1, 2, 5};
	const double decades = log10(axis->high / axis->low);
	size_t nr = 0;

	*ticks = NULL;
	for (int exponent = (int)floor(log10(axis->low)); exponent <= (int)ceil(log10(axis->high)); exponent++) {
		for (int digit = 1; digit < 10; digit++) {
			double value = digit * pow(10, exponent);
			bool is_labelled = digit == 1;

			for (size_t i = 0; decades < 3 && i < 3; i++)
				is_labelled |= digit == labelled_when_short[i];
			if (value < axis->low * (1 - 1e-9) || value > axis->high * (1 + 1e-9))
				continue;
			*ticks = rot_realloc(*ticks, nr + 1, sizeof(**ticks));
			(*ticks)[nr++] =
				(struct layout_tick){value, is_labelled ? tick_text(digit, exponent) : rot_strdup("")};
		}
	}
	return nr;
}

void
layout_ticks_delete(struct layout_tick *ticks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(ticks[i].text);
	free(ticks);
}

char *
layout_ticks(const struct layout_axis *axis)
{
	struct layout_tick *ticks;
	char *list = rot_strdup("("), *next;
	size_t nr;

	if (!axis->is_log) {
		free(list);
		return NULL;
	}
	nr = layout_log_ticks(axis, &ticks);
	for (size_t i = 0; i < nr; i++) {
		char *number = rot_number_text(ticks[i].value, 6);

		next = rot_format("%s%s\"%s\" %s %d", list, i ? ", " : "", ticks[i].text, number,
				  ticks[i].text[0] == '\0');
		free(number);
		free(list);
		list = next;
	}
	layout_ticks_delete(ticks, nr);
	next = rot_format("%s)", list);
	free(list);
	return next;
}

/* Height of a row of the key and of a line of the caption; what a row has besides its name: mark and gaps. */
#define KEY_ROW 10.0
#define KEY_MARK 30.0
#define CAPTION_LINE 8.2

static size_t
nr_lines(const char *text)
{
	size_t nr = *text != '\0';

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

struct layout_page
layout_page_of(const struct plot_frame *frame, const struct plot_series *series, size_t nr_series)
{
	struct layout_page page = {.key_columns = 1};
	double widest = 1, nr_rows = 1;

	for (size_t i = 0; i < nr_series; i++)
		widest = fmax(widest, layout_text_width(series[i].name) + KEY_MARK);
	if (widest < LAYOUT_PANEL_WIDTH)
		page.key_columns = (size_t)(LAYOUT_PANEL_WIDTH / widest);
	if (nr_series > 0 && strcmp(frame->key_position, "auto") == 0)
		nr_rows = ceil((double)nr_series / (double)page.key_columns);
	page.bottom = 44 + CAPTION_LINE * (double)nr_lines(frame->caption);
	page.caption = page.bottom - 38.5;
	page.top = page.bottom + LAYOUT_PANEL_HEIGHT;
	page.key = page.top + 9 + KEY_ROW * nr_rows / 2;
	page.title = page.top + 21.5 + KEY_ROW * nr_rows;
	page.height = page.title + 12.5;
	return page;
}

void
layout_clear(struct layout *layout)
{
	free(layout->boxes);
	*layout = (struct layout){0};
}

struct layout_box
layout_line(double x1, double y1, double x2, double y2)
{
	return (struct layout_box){(x1 + x2) / 2, (y1 + y2) / 2, hypot(x2 - x1, y2 - y1), 1,
				   atan2(y2 - y1, x2 - x1) * 180 / M_PI};
}

/* Corners of a rotated box, counterclockwise. */
static void
box_corners(const struct layout_box *box, double corners[4][2])
{
	static const int sides[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
	double cosine = cos(box->angle * M_PI / 180), sine = sin(box->angle * M_PI / 180);

	for (int i = 0; i < 4; i++) {
		double x = sides[i][0] * box->width / 2, y = sides[i][1] * box->height / 2;

		corners[i][0] = box->x + x * cosine - y * sine;
		corners[i][1] = box->y + x * sine + y * cosine;
	}
}

/* Do the projections of both boxes on the direction overlap? */
static bool
overlap_along(const double a[4][2], const double b[4][2], double x, double y)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

	for (int i = 0; i < 4; i++) {
		double on_a = a[i][0] * x + a[i][1] * y, on_b = b[i][0] * x + b[i][1] * y;

		low[0] = fmin(low[0], on_a);
		high[0] = fmax(high[0], on_a);
		low[1] = fmin(low[1], on_b);
		high[1] = fmax(high[1], on_b);
	}
	return low[0] < high[1] && low[1] < high[0];
}

/* Separating axes: two convex shapes are apart if and only if they are apart along the normal of some edge. */
static bool
boxes_overlap(const struct layout_box *a, const struct layout_box *b)
{
	double corners_a[4][2], corners_b[4][2];

	box_corners(a, corners_a);
	box_corners(b, corners_b);
	for (int i = 0; i < 2; i++) {
		const struct layout_box *box = i ? b : a;
		double cosine = cos(box->angle * M_PI / 180), sine = sin(box->angle * M_PI / 180);

		if (!overlap_along(corners_a, corners_b, cosine, sine) ||
		    !overlap_along(corners_a, corners_b, -sine, cosine))
			return false;
	}
	return true;
}

bool
layout_is_free(const struct layout *layout, const struct layout_box *box)
{
	double corners[4][2];

	box_corners(box, corners);
	for (int i = 0; i < 4; i++)
		if (corners[i][0] < 0 || corners[i][0] > layout->width || corners[i][1] < 0 ||
		    corners[i][1] > layout->height)
			return false;
	for (size_t i = 0; i < layout->nr_boxes; i++)
		if (boxes_overlap(box, &layout->boxes[i]))
			return false;
	return true;
}

void
layout_take(struct layout *layout, const struct layout_box *box)
{
	layout->boxes = rot_realloc(layout->boxes, layout->nr_boxes + 1, sizeof *layout->boxes);
	layout->boxes[layout->nr_boxes++] = *box;
}

/* Characters, not bytes, of UTF-8; the average width of a sans-serif character is about 0.58 of its size. */
double
layout_text_width(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += ((unsigned char)*text & 0xc0) != 0x80;
	return (double)nr * LAYOUT_SMALL_FONT * 0.58 + 3;
}

double
layout_text_height(void)
{
	return LAYOUT_SMALL_FONT * 1.15;
}
