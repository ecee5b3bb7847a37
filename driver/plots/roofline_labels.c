/* SPDX-License-Identifier: MIT */
#include "plots/roofline_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plots/points.h"

/* A label keeps off these: everything drawn if there is room, else all but grey ceilings, and so on. */
enum obstacle { OBSTACLE_LABEL, OBSTACLE_MARK, OBSTACLE_JOIN, OBSTACLE_CEILING, NR_OBSTACLES };

/* obstacles[k] holds the kinds up to k. */
struct placing {
	const struct roofline_shape *shape;
	struct layout obstacles[NR_OBSTACLES];
	struct layout performances, bandwidths; /* all ceilings: lines that are parallel */
	struct roofline_labels labels;
	char letter[2]; /* the next one that stands for a text without a place */
};

static void
take(struct placing *placing, enum obstacle kind, const struct layout_box *box)
{
	for (int i = kind; i < NR_OBSTACLES && isfinite(box->x) && isfinite(box->y); i++)
		layout_take(&placing->obstacles[i], box);
}

/* Takes the text over. */
static void
keep(struct placing *placing, const struct roofline_label *label)
{
	struct roofline_labels *labels = &placing->labels;

	take(placing, OBSTACLE_LABEL, &label->box);
	rot_add(labels->items, labels->nr) = *label;
}

static struct layout_box
segment_box(const struct placing *placing, const struct roofline_segment *segment)
{
	return layout_line(
		layout_position(&placing->shape->x, segment->x1), layout_position(&placing->shape->y, segment->y1),
		layout_position(&placing->shape->x, segment->x2), layout_position(&placing->shape->y, segment->y2));
}

/* Labels avoid the first row at first, and then, where there was no place, the next ones. */
static const struct {
	enum obstacle obstacles;
	bool allows_parallels, is_for_main_alone;
} efforts[] = {
	{OBSTACLE_CEILING, true, false}, /* has them all */
	{OBSTACLE_JOIN, false, false},   /* a line that is crossed goes on behind the label */
	{OBSTACLE_JOIN, true, false},
	{OBSTACLE_MARK, true, true}, /* the label may begin before its line */
};
enum { NR_EFFORTS = sizeof(efforts) / sizeof(*efforts) };

static bool
is_free_for(const struct placing *placing, const struct roofline_ceiling *ceiling, const struct layout_box *box,
	    int effort)
{
	return (ceiling->is_main || !efforts[effort].is_for_main_alone) &&
	       layout_is_free(&placing->obstacles[efforts[effort].obstacles], box) &&
	       (efforts[effort].allows_parallels ||
		layout_is_free(ceiling->is_bandwidth ? &placing->bandwidths : &placing->performances, box));
}

/* A label beside its line, at the first free place from the preferred end on; above the line before below. */
static void
place_ceiling_label(struct placing *placing, const struct roofline_ceiling *ceiling)
{
	struct roofline_segment segment = roofline_segment_of(placing->shape, ceiling);
	struct layout_box line = segment_box(placing, &segment);
	autofree char *text = rot_format("%s (%s)", ceiling->name, ceiling->label);
	double width = layout_text_width(text), height = layout_text_height();
	double cosine = cos(line.angle * M_PI / 180), sine = sin(line.angle * M_PI / 180);
	bool is_placed = segment.x1 >= segment.x2;

	for (int attempt = 0; attempt < 2 * NR_EFFORTS && !is_placed; attempt++) {
		const double away = (attempt % 2 ? -1 : 1) * (height / 2 + 1.5), first = line.width / 2 - width / 2 - 3,
			     last = efforts[attempt / 2].is_for_main_alone ? -line.width / 2
									   : fmin(first, (width - line.width) / 2);

		for (double along = first; along >= last && !is_placed; along -= 8) {
			/* diagonals: from the lower end upwards, where nothing else is; horizontals: from the right end
			 */
			double at = ceiling->is_bandwidth ? -along : along;
			struct layout_box box = {line.x + at * cosine - away * sine, line.y + at * sine + away * cosine,
						 width, height, line.angle};

			if (!is_free_for(placing, ceiling, &box, attempt / 2))
				continue;
			keep(placing, &(struct roofline_label){.text = rot_strdup(text),
							       .box = box,
							       .is_on_lines = attempt >= 2,
							       .ceiling = ceiling});
			is_placed = true;
		}
	}
}

static bool
has_label(const struct roofline_labels *labels, const struct roofline_ceiling *ceiling)
{
	for (size_t i = 0; i < labels->nr; i++)
		if (labels->items[i].ceiling == ceiling)
			return true;
	return false;
}

/* Is the box on no other ceiling? */
static bool
is_on_no_other(const struct placing *placing, const struct roofline_ceiling *ceiling, const struct layout_box *box)
{
	const struct roofline_plot *plot = placing->shape->plot;

	for (size_t i = 0; i < plot->nr_ceilings; i++) {
		const struct roofline_segment segment = roofline_segment_of(placing->shape, &plot->ceilings[i]);
		struct layout_box line = segment_box(placing, &segment);
		const struct layout other = {&line, 1, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT};

		if (&plot->ceilings[i] != ceiling && roofline_segment_is_visible(placing->shape, &segment) &&
		    !layout_is_free(&other, box))
			return false;
	}
	return true;
}

/* Keeps the label, which has the next letter for a text. */
static void
keep_letter(struct placing *placing, struct roofline_label *label, char *text)
{
	label->text = rot_strdup(placing->letter);
	label->stands_for = text;
	keep(placing, label);
	placing->letter[0]++;
}

/* A letter on the line itself, where no other line is if possible; the caption says what it stands for. */
static void
place_letter(struct placing *placing, const struct roofline_ceiling *ceiling)
{
	const struct roofline_segment segment = roofline_segment_of(placing->shape, ceiling);
	const struct layout_box line = segment_box(placing, &segment);
	const double cosine = cos(line.angle * M_PI / 180), sine = sin(line.angle * M_PI / 180);
	struct roofline_label label = {.is_on_lines = true, .ceiling = ceiling};

	label.box = (struct layout_box){.width = layout_text_width("a"), .height = layout_text_height()};
	for (int effort = 0; effort < 2; effort++)
		for (double along = line.width / 2 - 6; along >= 6 - line.width / 2; along -= 4) {
			const double at = ceiling->is_bandwidth ? -along : along;

			label.box.x = line.x + at * cosine;
			label.box.y = line.y + at * sine;
			if (!layout_is_free(&placing->obstacles[OBSTACLE_MARK], &label.box) ||
			    (effort == 0 && !is_on_no_other(placing, ceiling, &label.box)))
				continue;
			keep_letter(placing, &label, rot_format("%s (%s)", ceiling->name, ceiling->label));
			return;
		}
}

/* ---- points ---- */

/* Sizes of a mark, of a box and across a whisker: at least so much, in points. */
#define MARK_SIZE 7.0
#define WHISKER_SIZE 5.0

static double
mark_size(const struct plot_series *series, const struct plot_point *point)
{
	return series->style == PLOT_DOTS ? fmax(WHISKER_SIZE, 2 * plot_dot_size(point->share) + 3) : MARK_SIZE;
}

/* Where two values of an axis are, as far as they are known, with room for a mark. */
struct extent {
	double centre, size;
};

static struct extent
extent_of(const struct layout_axis *axis, double shown, double from, double to, double least)
{
	const double at = layout_position(axis, shown), low = fmin(at, layout_position(axis, from)),
		     high = fmax(at, layout_position(axis, to));

	return isfinite(low + high) ? (struct extent){(low + high) / 2, fmax(least, high - low)}
				    : (struct extent){at, least};
}

/* The mark with its box, and the whiskers in both directions. */
static void
take_point(struct placing *placing, const struct plot_point *point, double mark_size)
{
	const struct layout_axis *x_axis = &placing->shape->x, *y_axis = &placing->shape->y;
	const double x = roofline_shown_x(placing->shape, point), y = roofline_shown_y(placing->shape, point);
	const struct summary *of_x = &point->x, *of_y = &point->y;
	const struct extent box_x = extent_of(x_axis, x, of_x->quartile25, of_x->quartile75, mark_size),
			    box_y = extent_of(y_axis, y, of_y->quartile25, of_y->quartile75, mark_size),
			    whisker_x = extent_of(x_axis, x, of_x->minimum, of_x->maximum, mark_size),
			    whisker_y = extent_of(y_axis, y, of_y->minimum, of_y->maximum, mark_size);
	const double at_x = layout_position(x_axis, x), at_y = layout_position(y_axis, y);

	take(placing, OBSTACLE_MARK, &(struct layout_box){box_x.centre, box_y.centre, box_x.size, box_y.size, 0});
	take(placing, OBSTACLE_MARK, &(struct layout_box){whisker_x.centre, at_y, whisker_x.size, WHISKER_SIZE, 0});
	take(placing, OBSTACLE_MARK, &(struct layout_box){at_x, whisker_y.centre, WHISKER_SIZE, whisker_y.size, 0});
}

static void
take_series(struct placing *placing, const struct plot_series *series)
{
	for (size_t i = 0; i < series->nr_points; i++) {
		const struct plot_point *point = &series->points[i];
		struct layout_box box;

		take_point(placing, point, mark_size(series, point));
		if (layout_end_of(&placing->shape->x, point->x.value) == LAYOUT_HIGH_END) {
			/* the sign of infinity at the right edge */
			box = (struct layout_box){placing->shape->x.length - LAYOUT_END_SIGN,
						  layout_position(&placing->shape->y, point->y.value),
						  LAYOUT_SMALL_FONT, LAYOUT_SMALL_FONT, 0};
			take(placing, OBSTACLE_MARK, &box);
		}
		if (i == 0 || (series->style == PLOT_DOTS && !series->is_joined))
			continue;
		struct roofline_segment line = {
			roofline_shown_x(placing->shape, point - 1), roofline_shown_y(placing->shape, point - 1),
			roofline_shown_x(placing->shape, point), roofline_shown_y(placing->shape, point)};

		box = segment_box(placing, &line);
		take(placing, OBSTACLE_JOIN, &box);
	}
}

/* Where the label of a point is tried at first, in this order: beside it; the last four have a short leader. */
static const struct place {
	int right, up;
	double across, along; /* gaps to the point, in points */
} beside[] = {
	{1, 0, 4, 0}, {1, 1, 4, 2},  {1, -1, 4, 2}, {-1, 0, 4, 0}, {-1, 1, 4, 2}, {-1, -1, 4, 2},
	{0, 1, 0, 3}, {0, -1, 0, 3}, {1, 1, 9, 5},  {1, -1, 9, 5}, {-1, 1, 9, 5}, {-1, -1, 9, 5},
};

/* Then farther away, with a leader: the nearer gaps first, each at the right and left, above and below. */
static const double leader_gaps[][2] = {{15, 8},  {22, 11}, {14, 18}, {30, 8},  {26, 20}, {14, 28},
					{38, 14}, {26, 32}, {44, 24}, {14, 38}, {60, 12}, {60, 34},
					{34, 48}, {84, 20}, {84, 48}, {110, 34}};
enum {
	NR_BESIDE = sizeof(beside) / sizeof(*beside),
	NR_WITHOUT_LEADER = NR_BESIDE - 4,
	NR_PLACES = NR_BESIDE + 4 * sizeof(leader_gaps) / sizeof(*leader_gaps)
};

static struct place
place_of(int i)
{
	const int k = i - NR_BESIDE;

	if (i < NR_BESIDE)
		return beside[i];
	return (struct place){k & 2 ? -1 : 1, k & 1 ? -1 : 1, leader_gaps[k / 4][0], leader_gaps[k / 4][1]};
}

/* A leader ends so far from the mark, in points. */
#define BEFORE_MARK 1.5

/* Always a slant one, which is no whisker. */
static struct layout_box
leader_box(const struct roofline_label *label)
{
	double x1, y1, x2, y2;

	roofline_leader_of(label, &x1, &y1, &x2, &y2);
	return layout_line(x1, y1, x2, y2);
}

/* A leader that crossed data would be read as some. */
static bool
has_free_leader(const struct placing *placing, const struct roofline_label *label)
{
	const struct layout_box line = leader_box(label);

	return layout_is_free(&placing->obstacles[OBSTACLE_JOIN], &line);
}

/* At the first free place: on ceilings and on lines of data if need be, never on marks. False: there is none. */
static bool
find_place(struct placing *placing, struct roofline_label *label)
{
	const double more = fmax(0, label->mark - MARK_SIZE / 2); /* that a dot is larger than other marks */

	for (int avoided = OBSTACLE_CEILING; avoided >= OBSTACLE_MARK; avoided--)
		for (int i = 0; i < NR_PLACES && isfinite(label->x) && isfinite(label->y); i++) {
			const struct place place = place_of(i);

			label->box.x = label->x + place.right * (label->box.width / 2 + place.across + more);
			label->box.y = label->y + place.up * (label->box.height / 2 + place.along + more);
			label->has_leader = i >= NR_WITHOUT_LEADER;
			label->is_on_lines = avoided < OBSTACLE_CEILING;
			if (layout_is_free(&placing->obstacles[avoided], &label->box) &&
			    (!label->has_leader || has_free_leader(placing, label)))
				return true;
		}
	return false;
}

/* Where the point is on an axis, or the edge that it is beyond. */
static double
position_within(const struct layout_axis *axis, double value)
{
	const double at = layout_position(axis, value);

	return isfinite(at) ? fmin(fmax(at, 0), axis->length) : at;
}

/* A label without any place is left out, or a letter where the label is all that names the point. */
static void
place_point_label(struct placing *placing, const struct plot_point *point, size_t series)
{
	const bool is_named_otherwise = strcmp(placing->shape->plot->frame.key_position, "none") != 0;
	char *text = rot_format("%s%s", point->label,
				isinf(point->x.value) ? " (no bytes)"
				: point->y.value == 0 ? " (no operations)"
						      : "");
	struct roofline_label label = {
		.text = text,
		.series = series,
		.place = point->place,
		.x = position_within(&placing->shape->x, roofline_shown_x(placing->shape, point)),
		.y = position_within(&placing->shape->y, roofline_shown_y(placing->shape, point)),
		.mark = mark_size(&placing->shape->plot->series[series], point) / 2,
		.box = {.width = layout_text_width(text), .height = layout_text_height()},
	};

	if (find_place(placing, &label)) {
		keep(placing, &label);
	} else {
		label.box.width = layout_text_width(placing->letter);
		if (is_named_otherwise || placing->letter[0] > 'z' || !find_place(placing, &label)) {
			free(text);
			return;
		}
		keep_letter(placing, &label, text);
	}
	if (label.has_leader) {
		const struct layout_box leader = leader_box(&label);

		take(placing, OBSTACLE_LABEL, &leader);
	}
}

/*
 * Points first: a ceiling's label may stand anywhere along its line. Of ceilings, those that matter most first, and
 * diagonals, which have less room than horizontals.
 */
static void
place_labels(struct placing *placing)
{
	for (size_t s = 0; s < placing->shape->plot->nr_series; s++) {
		const struct plot_series *series = &placing->shape->plot->series[s];

		for (size_t i = 0; i < series->nr_points; i++)
			if (series->points[i].is_labelled)
				place_point_label(placing, &series->points[i], s);
	}
	for (int rank = 0; rank < 4; rank++)
		for (size_t i = 0; i < placing->shape->plot->nr_ceilings; i++) {
			const struct roofline_ceiling *ceiling = &placing->shape->plot->ceilings[i];

			if (ceiling->is_main == (rank < 2) && ceiling->is_bandwidth == (rank % 2 == 0))
				place_ceiling_label(placing, ceiling);
		}
	for (size_t i = 0; i < placing->shape->plot->nr_ceilings && placing->letter[0] <= 'z'; i++) {
		const struct roofline_ceiling *ceiling = &placing->shape->plot->ceilings[i];
		const struct roofline_segment segment = roofline_segment_of(placing->shape, ceiling);

		if (roofline_segment_is_visible(placing->shape, &segment) && !has_label(&placing->labels, ceiling))
			place_letter(placing, ceiling);
	}
}

/* ---- the whole ---- */

static void
take_lines(struct placing *placing)
{
	const struct roofline_plot *plot = placing->shape->plot;
	autofree struct roofline_segment *same_size = NULL;
	size_t nr = roofline_same_size_of(placing->shape, &same_size);

	for (size_t i = 0; i < plot->nr_ceilings; i++) {
		struct roofline_segment segment = roofline_segment_of(placing->shape, &plot->ceilings[i]);
		struct layout_box box = segment_box(placing, &segment);

		if (!roofline_segment_is_visible(placing->shape, &segment))
			continue;
		take(placing, plot->ceilings[i].is_main ? OBSTACLE_JOIN : OBSTACLE_CEILING, &box);
		layout_take(plot->ceilings[i].is_bandwidth ? &placing->bandwidths : &placing->performances, &box);
	}
	for (size_t s = 0; s < plot->nr_series; s++)
		take_series(placing, &plot->series[s]);
	for (size_t i = 0; i < nr; i++) {
		struct layout_box box = segment_box(placing, &same_size[i]);

		take(placing, OBSTACLE_JOIN, &box);
	}
}

struct roofline_labels
roofline_labels_of(const struct roofline_shape *shape)
{
	struct placing placing = {.shape = shape, .letter = "a"};

	for (int i = 0; i < NR_OBSTACLES; i++)
		placing.obstacles[i] = (struct layout){.width = LAYOUT_PANEL_WIDTH, .height = LAYOUT_PANEL_HEIGHT};
	placing.performances = placing.bandwidths = placing.obstacles[0];
	take_lines(&placing);
	place_labels(&placing);
	for (int i = 0; i < NR_OBSTACLES; i++)
		layout_clear(&placing.obstacles[i]);
	layout_clear(&placing.performances);
	layout_clear(&placing.bandwidths);
	return placing.labels;
}

char *
roofline_labels_caption(const struct roofline_labels *labels, char *caption)
{
	const char *separator = *caption ? "\n" : "";

	for (size_t i = 0; i < labels->nr; i++) {
		const struct roofline_label *label = &labels->items[i];

		if (!label->stands_for)
			continue;
		rot_append(&caption, "%s%s:\u00a0%s", separator, label->text, label->stands_for);
		separator = "; ";
	}
	return caption;
}

void
roofline_labels_clear(struct roofline_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		free(labels->items[i].text);
		free(labels->items[i].stands_for);
	}
	free(labels->items);
	*labels = (struct roofline_labels){.items = NULL};
}

void
roofline_leader_of(const struct roofline_label *label, double *x1, double *y1, double *x2, double *y2)
{
	const struct layout_box *box = &label->box;
	const double away = label->mark + BEFORE_MARK;
	double share;

	*x1 = fmax(box->x - box->width / 2, fmin(label->x, box->x + box->width / 2));
	*y1 = fmax(box->y - box->height / 2, fmin(label->y, box->y + box->height / 2));
	share = away / fmax(away, hypot(*x1 - label->x, *y1 - label->y));
	*x2 = label->x + share * (*x1 - label->x);
	*y2 = label->y + share * (*y1 - label->y);
}
