/* SPDX-License-Identifier: MIT */
/* Writing gnuplot scripts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "number.h"
#include "plots/script.h"

/*
 * Colours of Okabe and Ito, in an order where those that colour-blind readers tell apart worst are no neighbours: pink
 * is near green without green cones, and near orange without blue ones.
 */
static const struct {
	const char *name, *colour;
} colours[SCRIPT_NR_COLOURS] = {
	{"blue", "#0072B2"},    {"vermilion", "#D55E00"}, {"green", "#009E73"}, {"orange", "#E69F00"},
	{"skyBlue", "#56B4E9"}, {"black", "#000000"},     {"pink", "#CC79A7"},
};

/* gnuplot's numbers. */
static const struct {
	const char *name;
	int mark;
} shapes[PLOT_NR_SHAPES] = {
	{"circle", 7}, {"square", 5}, {"triangle", 9}, {"diamond", 13}, {"triangleDown", 11}, {"pentagon", 15},
};

const char *
script_colour(const struct plot_series *series, size_t place)
{
	return series->colour ? series->colour : colours[plot_look(series, place) % SCRIPT_NR_COLOURS].colour;
}

int
script_mark(const struct plot_series *series, size_t place)
{
	return shapes[plot_shape(series, place)].mark;
}

size_t
script_cycle(const struct plot_series *series, size_t place)
{
	return series->colour ? 0 : plot_look(series, place) / SCRIPT_NR_COLOURS % SCRIPT_NR_CYCLES;
}

size_t
script_place_of_colour(const char *colour)
{
	size_t place = 0;

	while (place < SCRIPT_NR_COLOURS && strcmp(colours[place].colour, colour) != 0)
		place++;
	return place;
}

const char *
script_colour_of(const char *text, char own[8], struct rot_error *err)
{
	const char *names[SCRIPT_NR_COLOURS];

	for (size_t i = 0; i < SCRIPT_NR_COLOURS; i++) {
		names[i] = colours[i].name;
		if (strcmp(names[i], text) == 0)
			return colours[i].colour;
	}
	if (text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6) {
		for (size_t i = 0; i < 8; i++)
			own[i] = (char)(text[i] >= 'a' ? text[i] - 'a' + 'A' : text[i]);
		return own;
	}
	rot_error_set(err, 0, "'%s' is no colour", text);
	rot_nearest_hint(err, text, names, SCRIPT_NR_COLOURS,
			 "#RRGGBB, or one of blue, vermilion, green, orange, skyBlue, black, pink");
	return NULL;
}

enum plot_shape
script_shape_of(const char *text, struct rot_error *err)
{
	const char *names[PLOT_NR_SHAPES];

	for (size_t i = 0; i < PLOT_NR_SHAPES; i++) {
		names[i] = shapes[i].name;
		if (strcmp(names[i], text) == 0)
			return (enum plot_shape)(i + 1);
	}
	rot_error_set(err, 0, "'%s' is no marker", text);
	rot_nearest_hint(err, text, names, PLOT_NR_SHAPES,
			 "one of circle, square, triangle, diamond, triangleDown, pentagon");
	return 0;
}

char *
script_number(double value)
{
	return isfinite(value) ? rot_number_text(value, 6) : rot_strdup("NaN");
}

void
script_write_number(FILE *out, double value)
{
	autofree char *text = script_number(value);

	fputs(text, out);
}

void
script_write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '`') /* gnuplot would run what stands between two of them */
			fputs("\\140", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	fputc('"', out);
}

static void
write_axis(FILE *out, char name, const struct plot_axis *axis, const struct layout_axis *range)
{
	autofree char *ticks = layout_ticks(range);
	autofree char *label = *axis->unit ? rot_format("%s [%s]", axis->label, axis->unit) : rot_strdup(axis->label);
	const double width = layout_text_width(label) * LAYOUT_FONT / LAYOUT_SMALL_FONT;

	fprintf(out, "set %clabel ", name);
	script_write_string(out, label);
	fprintf(out, " noenhanced font \",%g\" offset 0,0.3\n",
		fmax(LAYOUT_SMALL_FONT, LAYOUT_FONT * fmin(1, range->length / width)));
	if (range->is_log)
		fprintf(out, "set logscale %c 10\n", name);
	fprintf(out, "set %crange [", name);
	script_write_number(out, range->low);
	fputs(":", out);
	script_write_number(out, range->high);
	fputs("]\n", out);
	fprintf(out, "set %ctics %s scale 0.5 nomirror font \",%g\"\n", name, ticks ? ticks : "", LAYOUT_SMALL_FONT);
}

static void
write_key(FILE *out, const char *position, const struct layout_page *page, size_t nr_keyed_series)
{
	static const struct {
		const char *name, *gnuplot;
	} positions[] = {
		{"topLeft", "inside left top"},
		{"topRight", "inside right top"},
		{"bottomLeft", "inside left bottom"},
		{"bottomRight", "inside right bottom"},
	};
	static const char look[] = "Left reverse noenhanced samplen 2";

	fputs("unset key\n", out);
	if (nr_keyed_series && strcmp(position, "auto") == 0) /* above the panel: it hides nothing there */
		fprintf(out,
			"set key at screen %g, screen %g left center horizontal width 1 maxcols %zu %s font \",%g\"\n",
			LAYOUT_LEFT, page->key / page->height, page->key_columns, look, LAYOUT_SMALL_FONT);
	for (size_t i = 0; nr_keyed_series && i < sizeof positions / sizeof *positions; i++)
		if (strcmp(position, positions[i].name) == 0)
			fprintf(out, "set key %s %s font \",%g\"\n", positions[i].gnuplot, look, LAYOUT_SMALL_FONT);
}

/* The size of a title that is not too long for it; one that would be smaller than a name of an axis is folded. */
#define TITLE_FONT (LAYOUT_FONT * 1.3)

/* At which all of it is as wide as the panel. */
static double
font_that_fits(const char *title)
{
	return LAYOUT_SMALL_FONT * LAYOUT_PANEL_WIDTH / layout_text_width(title);
}

struct plot_frame
script_fold(struct pool *pool, const struct plot_frame *frame, const char *caption)
{
	struct plot_frame folded = *frame;
	char *title = pool_strdup(pool, frame->title), *lines = pool_strdup(pool, caption);

	if (font_that_fits(title) < LAYOUT_FONT)
		layout_fold(title, LAYOUT_PANEL_WIDTH * LAYOUT_SMALL_FONT / LAYOUT_FONT);
	layout_fold(lines, LAYOUT_PANEL_WIDTH * LAYOUT_SMALL_FONT / LAYOUT_CAPTION_FONT);
	folded.title = title;
	folded.caption = lines;
	return folded;
}

void
script_write_frame(FILE *out, const struct plot_frame *frame, const struct layout_page *page,
		   const struct layout_axis *x, const struct layout_axis *y, size_t nr_keyed_series)
{
	fputs("set encoding utf8\n", out);
	fprintf(out, "set lmargin at screen %g\nset rmargin at screen %g\n", LAYOUT_LEFT, LAYOUT_RIGHT);
	fprintf(out, "set tmargin at screen %g\nset bmargin at screen %g\n", page->top / page->height,
		page->bottom / page->height);
	fputs("set label ", out);
	script_write_string(out, frame->title);
	fprintf(out, " at screen %g, screen %g left noenhanced font \",%g\"\n", LAYOUT_LEFT, page->title / page->height,
		strchr(frame->title, '\n') ? LAYOUT_FONT : fmin(TITLE_FONT, font_that_fits(frame->title)));
	if (*frame->caption) {
		fputs("set label ", out);
		script_write_string(out, frame->caption);
		fprintf(out, " at screen %g, screen %g left noenhanced font \",%g\" textcolor rgb \"#555555\"\n",
			LAYOUT_LEFT, page->caption / page->height, LAYOUT_CAPTION_FONT);
	}
	write_axis(out, 'x', &frame->x, x);
	write_axis(out, 'y', &frame->y, y);
	fputs("set border 3 linecolor rgb \"#404040\"\n", out);
	fputs("set grid xtics ytics back linetype 1 linecolor rgb \"#E8E8E8\" linewidth 0.7\n", out);
	write_key(out, frame->key_position, page, nr_keyed_series);
}

void
script_write_label(FILE *out, const char *text, double x, double y, const char *align, double angle, const char *colour)
{
	fputs("set label ", out);
	script_write_string(out, text);
	fprintf(out,
		" at graph %.5f, graph %.5f %s rotate by %.2f noenhanced front font \",%g\" textcolor rgb \"%s\"\n",
		x / LAYOUT_PANEL_WIDTH, y / LAYOUT_PANEL_HEIGHT, align, angle, LAYOUT_SMALL_FONT, colour);
}

void
script_write_label_on_white(FILE *out, const char *text, double x, double y, const char *align, const char *colour)
{
	fputs("set style textbox opaque noborder fillcolor rgb \"#FFFFFF\" margins 0.5,0.2\nset label ", out);
	script_write_string(out, text);
	fprintf(out, " at graph %.5f, graph %.5f %s boxed noenhanced front font \",%g\" textcolor rgb \"%s\"\n",
		x / LAYOUT_PANEL_WIDTH, y / LAYOUT_PANEL_HEIGHT, align, LAYOUT_SMALL_FONT, colour);
}

/* Texts are rather shorter than their boxes. */
#define GROUND 0.93

void
script_write_ground(FILE *out, const struct layout_box *box)
{
	static const int corners[][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
	const double cosine = cos(box->angle * M_PI / 180), sine = sin(box->angle * M_PI / 180);

	fputs("set object polygon", out);
	for (size_t i = 0; i < sizeof(corners) / sizeof(*corners); i++) {
		const double x = corners[i][0] * GROUND * box->width / 2, y = corners[i][1] * box->height / 2;

		fprintf(out, " %s graph %.5f, graph %.5f", i ? "to" : "from",
			(box->x + x * cosine - y * sine) / LAYOUT_PANEL_WIDTH,
			(box->y + x * sine + y * cosine) / LAYOUT_PANEL_HEIGHT);
	}
	fputs(" front fillcolor rgb \"#FFFFFF\" fillstyle solid noborder\n", out);
}

static const char *
end_sign(double value)
{
	return value > 0 ? "\u221e" : value < 0 ? "< 0" : "0";
}

void
script_write_ends(FILE *out, const struct plot_series *series, size_t nr_series, const struct layout_axis *x,
		  const struct layout_axis *y)
{
	for (size_t s = 0; s < nr_series; s++) {
		const char *colour = script_colour(&series[s], s);

		for (size_t i = 0; i < series[s].nr_points; i++) {
			double value_x = series[s].points[i].x.value, value_y = series[s].points[i].y.value;
			enum layout_end end_x = layout_end_of(x, value_x), end_y = layout_end_of(y, value_y);

			if (end_x && isfinite(value_y) && !end_y)
				script_write_label_on_white(out, end_sign(value_x),
							    end_x == LAYOUT_HIGH_END ? x->length - LAYOUT_END_SIGN
										     : LAYOUT_END_SIGN,
							    layout_position(y, value_y), "center", colour);
			else if (end_y && isfinite(value_x) && !end_x)
				script_write_label_on_white(out, end_sign(value_y), layout_position(x, value_x),
							    end_y == LAYOUT_HIGH_END ? y->length - LAYOUT_END_SIGN
										     : LAYOUT_END_SIGN,
							    "center", colour);
		}
	}
}

void
script_write_arrows(FILE *out, const struct point_set *set, const struct point_edges *edges)
{
	autofree struct point_arrow *arrows = NULL;
	const size_t nr = points_arrows_of(set, edges, &arrows);

	for (size_t i = 0; i < nr; i++) {
		const struct point_arrow *arrow = &arrows[i];
		const char *colour = script_colour(&set->series[arrow->series], arrow->series);

		fprintf(out,
			"set arrow from graph %.5f, graph %.5f to graph %.5f, graph %.5f front head filled size screen "
			"0.009,20 linewidth 0.8 linecolor rgb \"%s\"\n",
			(arrow->x - LAYOUT_ARROW * arrow->right) / LAYOUT_PANEL_WIDTH,
			(arrow->y - LAYOUT_ARROW * arrow->up) / LAYOUT_PANEL_HEIGHT, arrow->x / LAYOUT_PANEL_WIDTH,
			arrow->y / LAYOUT_PANEL_HEIGHT, colour);
	}
}

void
script_write_markers(FILE *out, const struct point_set *set, const struct point_edges *edges)
{
	autofree struct layout_box *labels = points_marker_labels(set, edges);

	for (size_t i = 0; i < set->frame->nr_markers; i++) {
		const struct plot_marker *marker = &set->frame->markers[i];

		if (labels[i].width == 0)
			continue;
		fputs("set arrow from ", out);
		script_write_number(out, marker->x);
		fputs(",graph 0 to ", out);
		script_write_number(out, marker->x);
		fputs(",graph 1 nohead back dashtype 2 linewidth 0.8 linecolor rgb \"#808080\"\n", out);
		script_write_label(out, marker->label, labels[i].x, labels[i].y, "center", 90, "#606060");
	}
}

bool script_has_png;

/* Pixels of a point: of SVG so many that its smallest text, the caption, has 10 of them. */
#define SVG_ZOOM 1.5
#define PNG_ZOOM 3.0

/* Called by us, `output` is set on gnuplot's command line; the user's own "gnuplot NAME.gnuplot" draws beside the
 * script. */
void
script_write_outputs(FILE *out, const struct layout_page *page, const char *plot_command)
{
	const double zoom = layout_zoom, svg = SVG_ZOOM * zoom, png = PNG_ZOOM * zoom;

	/* with a fontscale of 0.75 its points are points */
	fprintf(out,
		"set terminal pdfcairo size %.4fin,%.4fin font \"sans,%g\" fontscale %g linewidth %g pointscale %g\n",
		zoom * LAYOUT_WIDTH / 72, zoom * page->height / 72, LAYOUT_SMALL_FONT, 0.75 * zoom, zoom, zoom);
	fprintf(out, "set output name.\".pdf\"\n%s\nunset output\n", plot_command);
	fprintf(out,
		"set terminal svg size %.0f,%.0f dynamic font \"sans-serif,%g\" fontscale %g linewidth %g background "
		"\"white\"\n",
		svg * LAYOUT_WIDTH, svg * page->height, LAYOUT_SMALL_FONT, svg, svg);
	fprintf(out, "set output name.\".svg\"\n%s\nunset output\n", plot_command);
	if (!script_has_png)
		return;
	fprintf(out, "set terminal pngcairo size %.0f,%.0f font \"sans,%g\" fontscale %g linewidth %g pointscale %g\n",
		png * LAYOUT_WIDTH, png * page->height, LAYOUT_SMALL_FONT, 0.75 * png, png, png);
	fprintf(out, "set output name.\".png\"\n%s\nunset output\n", plot_command);
}
