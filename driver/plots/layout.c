/* SPDX-License-Identifier: MIT */
/* Where things are on the picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "plots/layout.h"

double layout_zoom = 1;

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

enum layout_end
layout_beyond(const struct layout_axis *axis, double value)
{
	const double at = layout_position(axis, value), slack = axis->length * 1e-9;

	return at > axis->length + slack ? LAYOUT_HIGH_END : at < -slack ? LAYOUT_LOW_END : LAYOUT_NO_END;
}

static bool
is_usable(bool is_log, double value)
{
	return isfinite(value) && (!is_log || value > 0);
}

/* The margin beyond the outermost values: 5 % of the range; on logarithmic axes at most a factor of two. */
static void
add_margin(struct layout_axis *range)
{
	double margin = (range->high - range->low) * 0.05;

	if (range->is_log) {
		const double ratio = range->high / range->low, factor = ratio > 1 ? fmin(2, pow(ratio, 0.05)) : 2;

		range->low /= factor;
		range->high *= factor;
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

#define MOST_WIDENED 0.2
#define BESIDE_WIDENED 0.01

void
layout_widen(struct layout_axis *range, const struct plot_axis *axis, const double *values, size_t nr)
{
	const double low = axis_scale(range, range->low), high = axis_scale(range, range->high), size = high - low;
	/* The most at each side, on the axis' scale: no noise is so small that it is all. */
	const double most_more =
		fmax(MOST_WIDENED * size, range->is_log ? log10(1.5) : MOST_WIDENED * fabs(range->high));
	const bool is_positive = range->low >= 0;
	double least = low, most = high;

	for (size_t i = 0; i < nr; i++) {
		const double value = is_usable(range->is_log, values[i]) ? axis_scale(range, values[i]) : low;

		least = value >= low - most_more ? fmin(least, value) : least;
		most = value <= high + most_more ? fmax(most, value) : most;
	}
	least -= least < low ? BESIDE_WIDENED * size : 0;
	most += most > high ? BESIDE_WIDENED * size : 0;
	if (least < low && !is_usable(axis->is_log, axis->low))
		range->low = range->is_log ? pow(10, least) : is_positive ? fmax(0, least) : least;
	if (most > high && !is_usable(axis->is_log, axis->high))
		range->high = range->is_log ? pow(10, most) : most;
}

void
layout_leave_ends(struct layout_axis *range, const struct plot_axis *axis, const double *values, size_t nr)
{
	const double low = axis_scale(range, range->low), high = axis_scale(range, range->high),
		     more = 2 * LAYOUT_END_SIGN / range->length * (high - low);
	bool has[3] = {false};

	for (size_t i = 0; i < nr; i++)
		has[layout_end_of(range, values[i])] = true;
	if (has[LAYOUT_LOW_END] && !is_usable(axis->is_log, axis->low))
		range->low = range->is_log ? pow(10, low - more) : low - more;
	if (has[LAYOUT_HIGH_END] && !is_usable(axis->is_log, axis->high))
		range->high = range->is_log ? pow(10, high + more) : high + more;
}

/* ---- ticks ---- */

static bool
is_short(double value)
{
	return fabs(value) < 1e6 || fmod(value, pow(10, floor(log10(fabs(value))))) == 0;
}

/* Adds the value to the axis' ticks, unless it is there. False: they are too many. */
static bool
add_own_tick(struct layout_axis *axis, double value)
{
	size_t at = axis->nr_ticks;

	while (at > 0 && axis->ticks[at - 1] >= value)
		at--;
	if (at < axis->nr_ticks && axis->ticks[at] == value)
		return true;
	if (axis->nr_ticks == LAYOUT_MOST_TICKS)
		return false;
	memmove(&axis->ticks[at + 1], &axis->ticks[at], (axis->nr_ticks - at) * sizeof(*axis->ticks));
	axis->ticks[at] = value;
	axis->nr_ticks++;
	return true;
}

/* Beside the first and the last tick there is no larger share of the axis: curves may go farther than points. */
#define TICKS_WITHIN 0.25

void
layout_suit_ticks(struct layout_axis *axis, const double *values, size_t nr, bool at_values)
{
	axis->is_whole = true;
	for (size_t i = 0; i < nr; i++) {
		if (!is_usable(axis->is_log, values[i]))
			continue;
		axis->is_whole = axis->is_whole && values[i] == round(values[i]);
		at_values = at_values && is_short(values[i]) &&
			    (layout_beyond(axis, values[i]) || add_own_tick(axis, values[i]));
	}
	if (!at_values || !axis->is_whole || axis->nr_ticks < 2 ||
	    layout_position(axis, axis->ticks[0]) > TICKS_WITHIN * axis->length ||
	    layout_position(axis, axis->ticks[axis->nr_ticks - 1]) < (1 - TICKS_WITHIN) * axis->length)
		axis->nr_ticks = 0;
}

/* 0.3 is 3 / 10, but not 3 * 0.1. */
static double
tick_value(int digit, int exponent)
{
	return exponent < 0 ? digit / pow(10, -exponent) : digit * pow(10, exponent);
}

static char *
tick_text(int digit, int exponent)
{
	static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	const int size = abs(exponent);
	autofree char *power = NULL;

	if (exponent > -4 && exponent < 6)
		return rot_number_text(tick_value(digit, exponent), 6);
	if (size > 99)
		return rot_format("%de%d", digit, exponent);
	power = rot_format("10%s%s%s", exponent < 0 ? "⁻" : "", size > 9 ? raised[size / 10] : "", raised[size % 10]);
	return digit == 1 ? rot_strdup(power) : rot_format("%d·%s", digit, power);
}

static void
add_tick(struct layout_tick **ticks, size_t *nr, double value, char *text)
{
	rot_add(*ticks, *nr) = (struct layout_tick){value, text};
}

static size_t
log_ticks(const struct layout_axis *axis, struct layout_tick **ticks)
{
	static const int labelled_when_short[] = {1, 2, 5};
	const double decades = log10(axis->high / axis->low);
	size_t nr = 0;

	for (int exponent = (int)floor(log10(axis->low)); exponent <= (int)ceil(log10(axis->high)); exponent++) {
		for (int digit = 1; digit < 10; digit++) {
			double value = tick_value(digit, exponent);
			bool is_labelled = digit == 1;

			for (size_t i = 0; decades < 3 && i < 3; i++)
				is_labelled |= digit == labelled_when_short[i];
			is_labelled |= decades < 1;
			if (!layout_beyond(axis, value))
				add_tick(ticks, &nr, value, is_labelled ? tick_text(digit, exponent) : rot_strdup(""));
		}
	}
	return nr;
}

/* About so many steps of 1, 2 or 5 times a power of ten; of whole numbers whole ones, if two of them are in range. */
#define LINEAR_STEPS 6

static size_t
linear_ticks(const struct layout_axis *axis, struct layout_tick **ticks)
{
	const double rough = (axis->high - axis->low) / LINEAR_STEPS, power = pow(10, floor(log10(rough)));
	const double round = power * (rough / power >= 5 ? 10 : rough / power >= 2 ? 5 : rough / power >= 1 ? 2 : 1);
	const bool has_two = floor(axis->high) > ceil(axis->low);
	const double step = axis->is_whole && has_two ? fmax(round, 1) : round;
	size_t nr = 0;

	for (double k = ceil(axis->low / step - 1e-9); k * step <= axis->high + step * 1e-9; k++)
		add_tick(ticks, &nr, k * step, rot_format("%.6g", k == 0 ? 0 : k * step));
	return nr;
}

static char *
whole_text(double value)
{
	const int exponent = fabs(value) < 1e6 ? 0 : (int)floor(log10(fabs(value)));

	return exponent ? tick_text((int)round(value / pow(10, exponent)), exponent) : rot_format("%.0f", value);
}

/* Along x: texts are left out where they would touch the one before, or the last one. */
static size_t
own_ticks(const struct layout_axis *axis, struct layout_tick **ticks)
{
	double from = -INFINITY;
	size_t nr = 0;

	for (size_t i = 0; i < axis->nr_ticks; i++)
		add_tick(ticks, &nr, axis->ticks[i], whole_text(axis->ticks[i]));
	for (size_t i = 0; i < nr; i++) {
		const struct layout_tick *tick = &(*ticks)[i], *last = &(*ticks)[nr - 1];
		const double at = layout_position(axis, tick->value), half = layout_text_width(tick->text) / 2,
			     to = layout_position(axis, last->value) - layout_text_width(last->text) / 2;

		if (at - half >= from && (tick == last || at + half <= to))
			from = at + half;
		else
			tick->text[0] = '\0';
	}
	return nr;
}

/* A logarithmic axis no longer than this is divided as a linear one. */
#define LIKE_LINEAR 4

size_t
layout_ticks_of(const struct layout_axis *axis, struct layout_tick **ticks)
{
	*ticks = NULL;
	if (axis->nr_ticks)
		return own_ticks(axis, ticks);
	return axis->is_log && axis->high / axis->low > LIKE_LINEAR ? log_ticks(axis, ticks)
								    : linear_ticks(axis, ticks);
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
	char *list = rot_strdup("(");
	const size_t nr = layout_ticks_of(axis, &ticks);

	for (size_t i = 0; i < nr; i++) {
		autofree char *number = rot_number_text(ticks[i].value, 6);

		rot_append(&list, "%s\"%s\" %s %d", i ? ", " : "", ticks[i].text, number,
			   ticks[i].text[0] == '\0' && !axis->nr_ticks);
	}
	layout_ticks_delete(ticks, nr);
	rot_append(&list, ")");
	return list;
}

/*
 * Heights of a row of the key, and of lines of caption and title. For columns of the key gnuplot takes all characters
 * to be as wide as digits, besides mark and gaps: where fewer columns fit than are expected the key would reach into
 * the title.
 */
#define KEY_ROW 10.0
#define KEY_CHARACTER (LAYOUT_SMALL_FONT * 0.64)
#define KEY_MARK 30.0
#define CAPTION_LINE 8.2
#define TITLE_LINE 11.0

/* Not bytes, of UTF-8. */
static size_t
nr_characters(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += ((unsigned char)*text & 0xc0) != 0x80;
	return nr;
}

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
		widest = fmax(widest, (double)nr_characters(series[i].name) * KEY_CHARACTER + KEY_MARK);
	if (widest < LAYOUT_PANEL_WIDTH)
		page.key_columns = (size_t)(LAYOUT_PANEL_WIDTH / widest);
	if (nr_series > 0 && strcmp(frame->key_position, "auto") == 0)
		nr_rows = ceil((double)nr_series / (double)page.key_columns);
	page.bottom = 44 + CAPTION_LINE * (double)nr_lines(frame->caption);
	page.caption = page.bottom - 38.5;
	page.top = page.bottom + LAYOUT_PANEL_HEIGHT;
	page.key = page.top + 9 + KEY_ROW * nr_rows / 2;
	page.title = page.top + 21.5 + KEY_ROW * nr_rows + TITLE_LINE * (fmax(1, (double)nr_lines(frame->title)) - 1);
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
	rot_add(layout->boxes, layout->nr_boxes) = *box;
}

/* The average width of a sans-serif character is about 0.58 of its size. */
#define CHARACTER (LAYOUT_SMALL_FONT * 0.58)

double
layout_text_width(const char *text)
{
	return (double)nr_characters(text) * CHARACTER + 3;
}

void
layout_fold(char *text, double width)
{
	double used = 0;
	char *blank = NULL;

	for (char *c = text; *c; c++) {
		used += ((unsigned char)*c & 0xc0) != 0x80 ? CHARACTER : 0;
		if (*c == '\n') {
			used = 0;
			blank = NULL;
		} else if (*c == ' ') {
			blank = c;
		}
		if (used <= width || !blank)
			continue;
		*blank = '\n';
		c = blank;
		used = 0;
		blank = NULL;
	}
}

double
layout_text_height(void)
{
	return LAYOUT_SMALL_FONT * 1.15;
}
