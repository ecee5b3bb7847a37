/* SPDX-License-Identifier: MIT */
/* See pictures.h. */
#include "sheet/pictures.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/pool.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/page.h"
#include "plots/places.h"
#include "rot.h"

/* ---- files ---- */

/* The caption says what points are, and of which machine. */
static char *
caption_of(const struct sheet_pictures *pictures, const char *own, const char *points)
{
	autofree char *machine = machine_caption(pictures->rot->machine);

	return rot_format("%s%s%s\n%s", own, *own ? "\n" : "", points, machine);
}

/* NULL: no files are asked for. */
static char *
output_name_of(const struct sheet_pictures *pictures, const char *name)
{
	return pictures->output_name && plots_go_to(pictures->rot->configuration, PLOTS_IN_FILES)
		       ? rot_format("%s-%s", pictures->output_name, name)
		       : NULL;
}

static struct rot_error *
failure_of(const struct sheet_pictures *pictures, struct rot_error *later)
{
	return pictures->failure->text[0] ? later : pictures->failure;
}

void
sheet_pictures_draw(const struct sheet_pictures *pictures, const char *name, const struct series_plot *plot)
{
	autofree char *output_name = output_name_of(pictures, name);
	autofree char *caption = caption_of(pictures, plot->frame.caption,
					    "Points and ends of whiskers are those of the two halves of the runs.");
	struct rot_error later = {0};
	struct distribution_plot own = {plot->frame, plot->series, plot->nr_series};

	own.frame.caption = caption;
	own.frame.key_position = configuration_string(pictures->rot->configuration, "keyPosition");
	own.frame.show_min_max = true;
	if (pictures->page)
		page_add_series(pictures->page, &own.frame, own.series, own.nr_series, true);
	if (output_name)
		distribution_plot_write(&own, output_name, failure_of(pictures, &later));
}

void
sheet_pictures_draw_matrix(const struct sheet_pictures *pictures, const char *name, const struct heat_plot *plot)
{
	autofree char *output_name = output_name_of(pictures, name);
	autofree char *caption = caption_of(pictures, plot->frame.caption, "The least is framed.");
	struct rot_error later = {0};
	struct heat_plot own = *plot;

	own.frame.caption = caption;
	if (output_name)
		heat_plot_write(&own, output_name, failure_of(pictures, &later));
}

void
sheet_pictures_draw_bars(const struct sheet_pictures *pictures, const char *name, const char *title,
			 const struct sheet_answer *answers, size_t nr)
{
	autofree char *output_name = output_name_of(pictures, name);
	autofree char *caption =
		caption_of(pictures, "", "Bars end at the better half of the runs, their pale ends at the other.");
	autopool pool = {0};
	struct plot_bar *bars = pool_calloc(&pool, nr, sizeof(*bars));
	const struct bar_plot plot = {.frame = {.title = title,
						.caption = caption,
						.x = {"cost", answers[0].unit, true, 0.1, NAN},
						.y = {"", "", false, NAN, NAN},
						.key_position = "none"},
				      .bars = bars,
				      .nr = nr};
	struct rot_error later = {0};

	for (size_t i = 0; i < nr; i++) {
		const struct sheet_number *number = &answers[i].number;
		autofree char *text = sheet_number_text(number->value);
		const char *doubt = !isfinite(number->value) ? " cannot be told"
				    : answers[i].remark      ? ", not sure"
							     : "";

		bars[i] = (struct plot_bar){answers[i].name, pool_format(&pool, "%s%s", text, doubt), number->value,
					    number->high};
	}
	if (output_name)
		bar_plot_write(&plot, output_name, failure_of(pictures, &later));
}

/* ---- series ---- */

struct plot_point
sheet_point(double x, double best, double other)
{
	struct plot_point point = {
		.x = summary_single(x, "given"), .y = summary_minimum((const double[]){best, other}, 2), .size = NAN};

	point.y.value = best;
	return point;
}

struct plot_series
sheet_curve_series(struct pool *pool, const struct measured_curve *curve)
{
	struct plot_point *points = pool_calloc(pool, curve->nr, sizeof(*points));

	for (size_t i = 0; i < curve->nr; i++)
		points[i] = sheet_point(curve->at[i], fmin(curve->cycles[0][i], curve->cycles[1][i]),
					fmax(curve->cycles[0][i], curve->cycles[1][i]));
	return (struct plot_series){.name = "measured", .points = points, .nr_points = curve->nr, .style = PLOT_JOINED};
}

struct plot_series
sheet_cost_line(struct pool *pool, double from, double to, double cycles, const char *name)
{
	struct plot_point *points = pool_calloc(pool, 2, sizeof(*points));

	points[0] = sheet_point(from, cycles, cycles);
	points[1] = sheet_point(to, cycles, cycles);
	return (struct plot_series){.name = name, .points = points, .nr_points = 2, .style = PLOT_MODEL};
}

/* ---- answers ---- */

/* An answer has a mark for what was measured, and one for what was told otherwise. */
#define MARKS_OF_ANSWER 2

/* Marks nearer to each other would have labels on each other. */
#define NEAR 0.1

static bool
is_told_nearby(const struct sheet_answer *answer)
{
	return answer->told > 0 && answer->told != answer->number.value &&
	       fabs(answer->told / answer->number.value - 1) < NEAR;
}

static const char *
label_of(struct pool *pool, const struct sheet_answer *answer)
{
	return pool_format(pool, "%s: %s%.4g %s%s%s", answer->name, isinf(answer->number.high) ? "at least " : "",
			   answer->number.value, answer->unit, answer->confidence < CURVE_SURE ? ", not sure" : "",
			   is_told_nearby(answer) ? pool_format(pool, ", told: %.4g", answer->told) : "");
}

static size_t
add_marks(struct pool *pool, struct plot_marker *marks, const struct sheet_answer *answer)
{
	size_t nr = 0;

	if (isfinite(answer->number.value))
		marks[nr++] = (struct plot_marker){answer->number.value, label_of(pool, answer)};
	if (answer->told > 0 && answer->told != answer->number.value && !is_told_nearby(answer))
		marks[nr++] = (struct plot_marker){answer->told, pool_format(pool, "told: %.4g", answer->told)};
	return nr;
}

const char *
sheet_remarks(struct pool *pool, const struct sheet_answer *answers, size_t nr)
{
	const char *remarks = "";

	for (size_t i = 0; i < nr; i++)
		if (answers[i].remark)
			remarks = pool_format(pool, "%s%s%s: %s.", remarks, *remarks ? "\n" : "", answers[i].name,
					      answers[i].remark);
	return remarks;
}

size_t
sheet_marks(struct pool *pool, struct plot_marker *marks, const struct sheet_answer *answers, size_t nr)
{
	size_t nr_marks = 0;

	for (size_t i = 0; i < nr; i++) {
		const double value = answers[i].number.value;
		autofree char *text = sheet_number_text(value);
		size_t k = 0;

		while (k < nr_marks && marks[k].x != value)
			k++;
		if (isfinite(value) && k == nr_marks)
			marks[nr_marks++] =
				(struct plot_marker){value, pool_format(pool, "%s %s", text, answers[i].unit)};
	}
	return nr_marks;
}

void
sheet_pictures_draw_answers(const struct sheet_pictures *pictures, const char *name, const char *title,
			    const struct sheet_answer *answers, size_t nr)
{
	const struct measured_curve *curve = answers[0].curve;
	const double base = fmin(curve->cycles[0][0], curve->cycles[1][0]);
	autopool pool = {0};
	struct plot_series *series = pool_calloc(&pool, 1 + nr, sizeof(*series));
	struct plot_marker *marks = pool_calloc(&pool, MARKS_OF_ANSWER * nr, sizeof(*marks));
	size_t nr_series = 0, nr_marks = 0;
	struct series_plot plot;

	series[nr_series++] = sheet_curve_series(&pool, curve);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(answers[i].unit, "cycles") != 0)
			nr_marks += add_marks(&pool, marks + nr_marks, &answers[i]);
		else if (isfinite(answers[i].number.value))
			series[nr_series++] = sheet_cost_line(
				&pool, curve->at[0], curve->at[curve->nr - 1], base + answers[i].number.value,
				pool_format(&pool, "plus %s", label_of(&pool, &answers[i])));
	}
	plot = (struct series_plot){.frame = {.title = title,
					      .caption = sheet_remarks(&pool, answers, nr),
					      .x = {curve->parameter, "", true, NAN, NAN},
					      .y = {curve->unit ? "time" : "time of an access",
						    curve->unit ? curve->unit : "cycles", true, NAN, NAN},
					      .markers = marks,
					      .nr_markers = nr_marks},
				    .series = series,
				    .nr_series = nr_series};
	sheet_pictures_draw(pictures, name, &plot);
}

/* ---- levels ---- */

#define KIB 1024.0

void
sheet_pictures_draw_levels(const struct sheet_pictures *pictures, const struct measured_levels *levels,
			   const struct measured_curve *curve)
{
	autopool pool = {0};
	struct measured_curve in_kib = *curve;
	struct plot_series series[1 + MEASURED_LEVELS_MAX];
	struct plot_marker marks[MEASURED_LEVELS_MAX];
	struct series_plot plot = {.frame = {.title = "The levels of the memory",
					     .caption = levels->is_steady ? "" : "Not sure: the chases do not agree.",
					     .x = {"footprint of random accesses", "KiB", true, NAN, NAN},
					     .y = {"time of an access", "cycles", true, NAN, NAN},
					     .markers = marks},
				   .series = series,
				   .nr_series = 1};
	double from;

	for (size_t i = 0; i < curve->nr; i++)
		in_kib.at[i] /= KIB;
	series[0] = sheet_curve_series(&pool, &in_kib);
	from = in_kib.at[0];
	for (size_t i = 0; i < levels->nr; i++) {
		const struct measured_level *level = &levels->levels[i];
		autofree char *size = machine_size_text(level->bytes);
		const char *label =
			pool_format(&pool, "%s: %.4g cycles", level->bytes ? size : "memory", level->cycles);
		const double to = level->bytes ? (double)level->bytes / KIB : in_kib.at[curve->nr - 1];

		series[plot.nr_series++] = sheet_cost_line(&pool, from, to, level->cycles, label);
		if (level->bytes)
			marks[plot.frame.nr_markers++] = (struct plot_marker){to, pool_strdup(&pool, size)};
		from = to;
	}
	sheet_pictures_draw(pictures, "levels", &plot);
}

void
sheet_pictures_draw_last_level(const struct sheet_pictures *pictures, const struct measured_levels *levels,
			       const struct measured_curve *staying)
{
	const struct machine *machine = pictures->rot->machine;
	const bool is_told = machine->llc_bytes && strcmp(machine->llc_source, "measured") != 0;
	const double bytes = levels->nr >= 4 ? (double)levels->levels[levels->nr - 2].bytes : 0;
	autofree char *size = machine_size_text((int64_t)bytes), *told = machine_size_text(machine->llc_bytes);
	autopool pool = {0};
	struct plot_series series[2];
	struct plot_marker marks[] = {{(double)machine->llc_bytes / KIB / KIB, pool_format(&pool, "told: %s", told)}};
	struct series_plot plot = {.frame = {.title = "What stays in the last level of caches",
					     .caption = levels->last_level.doubt,
					     .x = {staying->parameter, "", true, NAN, NAN},
					     .y = {"that stays", staying->unit, false, 0, NAN},
					     .markers = marks,
					     .nr_markers = is_told},
				   .series = series};

	if (staying->nr == 0)
		return;
	series[plot.nr_series++] = sheet_curve_series(&pool, staying);
	if (bytes > 0) /* there is a level behind L2 */
		series[plot.nr_series++] =
			sheet_cost_line(&pool, staying->at[0], staying->at[staying->nr - 1], bytes / KIB / KIB,
					pool_format(&pool, "the most of all runs: %s", size));
	sheet_pictures_draw(pictures, "last-level", &plot);
}
