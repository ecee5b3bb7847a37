/* SPDX-License-Identifier: MIT */
/* Pictures of peaks: the roof without points, bandwidths over the number of threads, and what a search tried. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "plots/page.h"
#include "plots/places.h"
#include "plots/plot.h"
#include "quantities/value_text.h"
#include "roof/peak.h"
#include "roof/present.h"
#include "roof/roof.h"
#include "rot.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static struct plot_axis
axis(const char *label, const char *unit)
{
	return (struct plot_axis){.label = label, .unit = unit, .low = NAN, .high = NAN};
}

static struct plot_point
point(double x, double y)
{
	return (struct plot_point){.x = summary_single(x, "given"), .y = summary_single(y, "given"), .size = NAN};
}

/* ---- rooflines ---- */

/* The picture begins at this share of the least ridge point, so that the diagonals are seen. */
#define LEFT_OF_RIDGES 0.1

/* Likewise it ends beyond the largest one, so that the names of performances have room. */
#define RIGHT_OF_RIDGES 14

/* Performances are drawn of which each is at most this share of the one above. */
#define CLEARLY_LESS 0.8

struct roof {
	struct pool pool;
	const struct peak **lines; /* the highest first, as far as they differ */
	size_t nr;
	bool is_per_cycle; /* of the core, and of one thread; else per second, of all */
};

/* In the units of the plot. */
static struct peak_estimate
estimate_of(const struct roof *roof, const struct peak *peak)
{
	const struct peak_estimate *e = roof->is_per_cycle ? &peak->per_cycle : &peak->per_second;
	const double factor = roof->is_per_cycle ? 1 : 1e-9;

	return (struct peak_estimate){e->value * factor, e->low * factor, e->high * factor};
}

/* By work per cycle: the clock may have moved between two peaks. */
static int
higher_first(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;

	return ((*x)->per_cycle.value < (*y)->per_cycle.value) - ((*x)->per_cycle.value > (*y)->per_cycle.value);
}

static bool
is_line_of(const struct peak *peak, const char *operation, int nr_threads)
{
	if (peak->nr_threads != nr_threads || !(peak->per_second.value > 0))
		return false;
	return peak->kind == PEAK_BANDWIDTH ||
	       (peak->kind == PEAK_PERFORMANCE && strcmp(peak->operation, operation) == 0);
}

/* Keeps the peak, unless one that is nearly the same is there. Loads and fused operations, which readers know best,
 * take the place of such a one. */
static void
keep(struct roof *roof, const struct peak *peak)
{
	const char *best_known = peak->kind == PEAK_BANDWIDTH ? "load" : "FMA";

	for (size_t i = 0; i < roof->nr; i++) {
		const struct peak *other = roof->lines[i];

		if (other->kind != peak->kind || strcmp(other->border, peak->border) != 0 ||
		    strcmp(other->mode, peak->mode) != 0 ||
		    peak->per_cycle.value < ROOF_NEARLY_THE_SAME * other->per_cycle.value)
			continue;
		if (strcmp(peak->access, best_known) == 0 && strcmp(other->access, best_known) != 0)
			roof->lines[i] = peak;
		return;
	}
	roof->lines[roof->nr++] = peak;
}

/*
 * Each level has its highest bandwidth, and that of loads with as wide registers, memory also those of stores and of
 * random access. The rest are performances that are clearly apart, below the highest one without mixtures of operations
 * ("FMA_ADD", "MIX"). The rest is in the table.
 */
static bool
is_drawn(const struct roof *roof, const struct peak *peak)
{
	const bool is_bandwidth = peak->kind == PEAK_BANDWIDTH;
	const bool is_basic = strcmp(peak->access, "load") == 0 || peak->mode[0] ||
			      (strcmp(peak->access, "store") == 0 && strcmp(peak->border, "llcRam") == 0),
		   is_random = strcmp(peak->access, "random") == 0 && strcmp(peak->border, "llcRam") == 0;
	const bool is_mixture = strchr(peak->access, '_') || strcmp(peak->access, "MIX") == 0;

	for (size_t i = 0; i < roof->nr; i++) {
		const struct peak *other = roof->lines[i];
		const double share = peak->per_cycle.value / other->per_cycle.value;

		if (is_bandwidth && strcmp(other->border, peak->border) == 0)
			return is_random || (strcmp(other->instruction_set, peak->instruction_set) == 0 && is_basic);
		if (!is_bandwidth && other->kind == peak->kind &&
		    ((share < ROOF_NEARLY_THE_SAME && share > CLEARLY_LESS) || is_mixture))
			return false;
	}
	return true;
}

static void
choose_lines(struct roof *roof, const struct peak_list *list, const char *operation, int nr_threads, double line_bytes)
{
	const struct peak **all = pool_calloc(&roof->pool, list->nr, sizeof(*all));
	struct peak *bandwidths = pool_calloc(&roof->pool, list->nr, sizeof(*bandwidths));
	size_t nr = 0;

	roof->lines = pool_calloc(&roof->pool, list->nr, sizeof(*roof->lines));
	for (size_t i = 0; i < list->nr; i++) {
		const bool is_random = peak_random_bandwidth(&list->peaks[i], line_bytes, &bandwidths[i]);
		const struct peak *peak = is_random ? &bandwidths[i] : &list->peaks[i];

		if (is_line_of(peak, operation, nr_threads) && (!roof->is_per_cycle || !isnan(peak->per_cycle.value)))
			all[nr++] = peak;
	}
	qsort(all, nr, sizeof(*all), higher_first);
	for (size_t i = 0; i < nr; i++)
		if (is_drawn(roof, all[i]))
			keep(roof, all[i]);
}

/* The first of its kind and level. */
static bool
is_highest(const struct roof *roof, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (roof->lines[k]->kind == roof->lines[i]->kind &&
		    strcmp(roof->lines[k]->border, roof->lines[i]->border) == 0)
			return false;
	return true;
}

static const struct peak *
highest_performance(const struct roof *roof)
{
	for (size_t i = 0; i < roof->nr; i++)
		if (roof->lines[i]->kind == PEAK_PERFORMANCE)
			return roof->lines[i];
	return NULL;
}

/* With its value as the label: "120 GB/s". */
static struct roofline_ceiling
ceiling_of(struct roof *roof, size_t i)
{
	static const char *const units[2][2] = {{"Gflop/s", "GB/s"}, {"flop/cycle", "byte/cycle"}};
	const struct peak *peak = roof->lines[i];
	const bool is_bandwidth = peak->kind == PEAK_BANDWIDTH;
	const struct peak_estimate e = estimate_of(roof, peak);
	autofree char *number = digits_text(e.value, 3);

	return (struct roofline_ceiling){
		.name = pool_format(&roof->pool, "%s%s%s", peak->name, peak->mode[0] ? ", " : "", peak->mode),
		.is_bandwidth = is_bandwidth,
		.value = e.value,
		.low = e.low,
		.high = e.high,
		.label = pool_format(&roof->pool, "%s %s", number, units[roof->is_per_cycle][is_bandwidth]),
		.is_main = is_highest(roof, i),
	};
}

/* Where the highest performance meets the highest bandwidth of each level. */
static struct plot_point *
ridge_points(struct roof *roof, size_t *nr)
{
	struct plot_point *points = pool_calloc(&roof->pool, roof->nr, sizeof(*points));
	const double performance = estimate_of(roof, highest_performance(roof)).value;

	*nr = 0;
	for (size_t i = 0; i < roof->nr; i++) {
		const double intensity = performance / estimate_of(roof, roof->lines[i]).value;

		if (roof->lines[i]->kind != PEAK_BANDWIDTH || !is_highest(roof, i))
			continue;
		points[*nr] = point(intensity, performance);
		points[*nr].label = pool_format(&roof->pool, "%.3g", intensity);
		points[(*nr)++].is_labelled = true;
	}
	return points;
}

static int
draw_roofline(const struct rot *rot, struct roof *roof, const char *title, const char *caption, struct page *page,
	      const char *output_name, struct rot_error *err)
{
	struct roofline_ceiling *ceilings = pool_calloc(&roof->pool, roof->nr, sizeof(*ceilings));
	struct plot_series ridges = {.name = "minimum arithmetic intensity for the highest performance [flop/byte]"};
	struct roofline_plot plot = {
		.frame = {.title = title,
			  .caption = caption,
			  .x = axis("Operational intensity", "flop/byte"),
			  .y = axis("Performance", roof->is_per_cycle ? "flop/cycle" : "Gflop/s"),
			  .key_position = "auto"},
		.ceilings = ceilings,
		.nr_ceilings = roof->nr,
		.series = &ridges,
		.nr_series = 1,
	};

	ridges.points = ridge_points(roof, &ridges.nr_points);
	for (size_t i = 0; i < ridges.nr_points; i++) {
		plot.frame.x.low = fmin(plot.frame.x.low, LEFT_OF_RIDGES * ridges.points[i].x.value);
		plot.frame.x.high = fmax(plot.frame.x.high, RIGHT_OF_RIDGES * ridges.points[i].x.value);
	}
	for (size_t i = 0; i < roof->nr; i++)
		ceilings[i] = ceiling_of(roof, i);
	if (page)
		page_add_roofline(page, &plot, &(struct page_view){.border = NULL});
	return roofline_plot_show(&plot, rot->configuration, output_name, err);
}

/* Nothing where no performance of the operation is known for that number of threads. */
static int
draw_roof(const struct rot *rot, const struct peak_list *list, const char *operation, int nr_threads, struct page *page,
	  const char *output_name, struct rot_error *err)
{
	struct roof roof = {.is_per_cycle =
				    strcmp(configuration_string(rot->configuration, "clock"), "coreCycles") == 0};
	autofree char *words = camel_case_words(operation), *machine = machine_caption(rot->machine);
	autofree char *note = roof_note(list, nr_threads, roof.is_per_cycle);
	int rc = 0;

	choose_lines(&roof, list, operation, nr_threads, (double)rot->machine->line_bytes);
	if (highest_performance(&roof))
		rc = draw_roofline(rot, &roof,
				   pool_format(&roof.pool, "The roof of this machine: %s, %d thread%s", words,
					       nr_threads, rot_plural((double)nr_threads)),
				   pool_format(&roof.pool, "%s\n%s", machine, note), page, output_name, err);
	pool_clear(&roof.pool);
	return rc;
}

int
peaks_draw_roofs(const struct rot *rot, const struct peak_list *list, struct page *page, const char *output_name,
		 struct rot_error *err)
{
	static const char *const pictures[][2] = {{"doublePrecisionFlop", ""}, {"singlePrecisionFlop", "-single"}};
	const int most = roof_nr_threads(list, INFINITY);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < NR(pictures); i++) {
		autofree char *name = rot_format("%s%s", output_name, pictures[i][1]);
		autofree char *of_all = rot_format("%s-%d-threads", name, most);

		rc = draw_roof(rot, list, pictures[i][0], 1, page, name, err);
		if (rc == 0 && most > 1)
			rc = draw_roof(rot, list, pictures[i][0], most, page, of_all, err);
	}
	return rc;
}

/* ---- over the number of threads ---- */

/* Loads and stores; of these the widest of each level and mode, which is the highest. In double precision, the highest
 * of each instruction set. */
static bool
is_growth_drawn(const struct growth *growths, size_t nr, size_t at)
{
	const struct peak *peak = growths[at].peaks[growths[at].nr - 1];
	const bool is_performance = peak->kind == PEAK_PERFORMANCE;

	if (is_performance ? strcmp(peak->operation, "doublePrecisionFlop") != 0
			   : strcmp(peak->access, "load") != 0 && strcmp(peak->access, "store") != 0 &&
				     strcmp(peak->access, "ntStore") != 0)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct peak *other = growths[i].peaks[growths[i].nr - 1];

		if (strcmp(other->operation, peak->operation) == 0 && strcmp(other->border, peak->border) == 0 &&
		    strcmp(is_performance ? other->instruction_set : other->access,
			   is_performance ? peak->instruction_set : peak->access) == 0 &&
		    strcmp(growths[i].mode, growths[at].mode) == 0 && other->per_second.value > peak->per_second.value)
			return false;
	}
	return true;
}

static struct plot_series
series_of_growth(struct pool *pool, const struct growth *growth)
{
	struct plot_point *points = pool_calloc(pool, growth->nr, sizeof(*points));

	for (size_t i = 0; i < growth->nr; i++) {
		const struct peak_estimate *e = &growth->peaks[i]->per_second;

		points[i] = point(growth->peaks[i]->nr_threads, e->value * 1e-9);
		points[i].y.low = e->low * 1e-9;
		points[i].y.high = e->high * 1e-9;
	}
	return (struct plot_series){
		.name = pool_format(pool, "%s%s%s", growth->peaks[0]->name, growth->mode[0] ? ", " : "", growth->mode),
		.points = points,
		.nr_points = growth->nr,
	};
}

int
peaks_draw_growth(const struct peak_list *list, enum peak_kind kind, const char *caption, const char *output_name,
		  struct rot_error *err)
{
	const bool is_performance = kind == PEAK_PERFORMANCE;
	autopool pool = {0};
	struct growth *growths;
	size_t nr = peaks_growths(&pool, list, kind, &growths);
	struct plot_series *series = pool_calloc(&pool, nr, sizeof(*series));
	struct series_plot plot = {
		.frame = {.title = is_performance ? "Performance over the number of threads, double precision"
						  : "Bandwidth over the number of threads",
			  .caption = caption,
			  .x = axis("Threads, each on a CPU of its own", ""),
			  .y = is_performance ? axis("Performance", "Gflop/s") : axis("Bandwidth", "GB/s"),
			  .key_position = "auto"},
		.series = series,
	};

	plot.frame.y.is_log = true;
	for (size_t i = 0; i < nr; i++)
		if (is_growth_drawn(growths, nr, i))
			series[plot.nr_series++] = series_of_growth(&pool, &growths[i]);
	if (plot.nr_series == 0)
		return 0;
	return output_name && series_plot_write(&plot, output_name, err) < 0 ? -1 : 1;
}

/* ---- what a search tried ---- */

/* The different values of an axis, ascending, and as texts. */
struct shown_axis {
	size_t axis; /* index in the landscape */
	int *values;
	const char **names;
	size_t nr;
};

static int
ascending(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static struct shown_axis
axis_values(struct pool *pool, const struct peak_landscape *landscape, size_t of_axis)
{
	struct shown_axis shown = {
		.axis = of_axis,
		.values = pool_calloc(pool, landscape->nr_points, sizeof(*shown.values)),
		.names = pool_calloc(pool, landscape->nr_points, sizeof(*shown.names)),
	};

	for (size_t i = 0; i < landscape->nr_points; i++)
		shown.values[i] = landscape->points[i].coordinates[of_axis];
	qsort(shown.values, landscape->nr_points, sizeof(*shown.values), ascending);
	for (size_t i = 0; i < landscape->nr_points; i++)
		if (shown.nr == 0 || shown.values[shown.nr - 1] != shown.values[i]) {
			shown.names[shown.nr] = pool_format(pool, "%d", shown.values[i]);
			shown.values[shown.nr++] = shown.values[i];
		}
	return shown;
}

static size_t
index_of(const struct shown_axis *shown, int value)
{
	size_t i = 0;

	while (i + 1 < shown->nr && shown->values[i] != value)
		i++;
	return i;
}

/* The axis that the thesis shows in this place, or else the one with most values that is not the other one. */
static struct shown_axis
choose_axis(struct pool *pool, const struct peak_landscape *landscape, const char *const preferred[], size_t other)
{
	struct shown_axis best = {.nr = 0};

	for (; *preferred; preferred++)
		for (size_t i = 0; i < landscape->nr_axes; i++)
			if (i != other && strcmp(landscape->axes[i], *preferred) == 0)
				return axis_values(pool, landscape, i);
	for (size_t i = 0; i < landscape->nr_axes; i++) {
		struct shown_axis shown = axis_values(pool, landscape, i);

		if (i != other && shown.nr > best.nr)
			best = shown;
	}
	return best;
}

static const char *
unit_of(const struct peak *peak)
{
	if (peak->kind == PEAK_LATENCY)
		return "cycles";
	if (peak->kind == PEAK_BANDWIDTH)
		return "byte/cycle";
	return strstr(peak->operation, "Flop") ? "flop/cycle" : "operations/cycle";
}

/* Each cell is the best of the points that fall into it, NaN without any. The best cell of all is framed, or that of
 * the peak's variant, so that the frame is around what the table says. */
static void
fill_cells(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, double *values,
	   struct heat_plot *plot)
{
	size_t best = 0, nr_found = 0, column = 0, row = 0;

	for (size_t i = 0; i < x->nr * y->nr; i++)
		values[i] = NAN;
	for (size_t i = 0; i < peak->landscape.nr_points; i++) {
		const struct peak_point *of = &peak->landscape.points[i];
		double *cell =
			&values[index_of(y, of->coordinates[y->axis]) * x->nr + index_of(x, of->coordinates[x->axis])];

		if (peak_is_better(peak->kind, of->per_cycle, *cell))
			*cell = of->per_cycle;
	}
	for (size_t i = 1; i < x->nr * y->nr; i++)
		if (peak_is_better(peak->kind, values[i], values[best]))
			best = i;
	for (size_t i = 0; i < peak->nr_coordinates; i++) {
		const struct peak_coordinate *at = &peak->variant[i];

		if (strcmp(at->name, peak->landscape.axes[x->axis]) == 0) {
			column = index_of(x, at->value);
			nr_found++;
		} else if (strcmp(at->name, peak->landscape.axes[y->axis]) == 0) {
			row = index_of(y, at->value);
			nr_found++;
		}
	}
	plot->best_column = nr_found == 2 ? column : best % x->nr;
	plot->best_row = nr_found == 2 ? row : best / x->nr;
}

/* "AVX-512 FMA, double precision: 47.99 flop/cycle with dlp 12, unroll 4". Fresh memory. */
static char *
title_of(const struct peak *peak)
{
	autofree char *words = camel_case_words(peak->operation);
	char *title = rot_format("%s%s%s: %.4g %s with", peak->name, words[0] ? ", " : "", words, peak->per_cycle.value,
				 unit_of(peak));

	for (size_t i = 0; i < peak->nr_coordinates; i++) {
		autofree char *name = camel_case_words(peak->variant[i].name);

		rot_append(&title, "%s %s %d", i ? "," : "", name, peak->variant[i].value);
	}
	return title;
}

static int
draw_heat_map(struct pool *pool, const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y,
	      struct plot_frame *frame, const char *output_name, struct rot_error *err)
{
	const struct peak_landscape *landscape = &peak->landscape;
	double *values = pool_calloc(pool, x->nr * y->nr, sizeof(*values));
	struct heat_plot plot = {
		.columns = x->names,
		.rows = y->names,
		.nr_columns = x->nr,
		.nr_rows = y->nr,
		.values = values,
		.value_label = unit_of(peak),
	};
	bool has_gaps = false;

	fill_cells(peak, x, y, values, &plot);
	for (size_t i = 0; i < x->nr * y->nr; i++)
		has_gaps |= isnan(values[i]);
	frame->caption = pool_format(
		pool, "%s\n%zu variants tried%s; framed: that of the title, which has later runs%s", frame->caption,
		landscape->nr_points, landscape->nr_axes > 2 ? ", each cell the best over what is not shown" : "",
		has_gaps ? "; white: not tried, or not possible" : "");
	plot.frame = *frame;
	return heat_plot_write(&plot, output_name, err);
}

static int
by_first_coordinate(const void *a, const void *b)
{
	const struct peak_point *x = a, *y = b;

	return ascending(x->coordinates, y->coordinates);
}

/* Points that could not be measured are left out. */
static int
draw_curve(struct pool *pool, const struct peak *peak, const struct plot_frame *frame, const char *output_name,
	   struct rot_error *err)
{
	const size_t nr = peak->landscape.nr_points;
	struct peak_point *sorted = pool_copy(pool, peak->landscape.points, nr, sizeof(*sorted));
	struct plot_point *points = pool_calloc(pool, nr, sizeof(*points));
	struct plot_series series = {.name = peak->name, .points = points};
	struct series_plot plot = {.frame = *frame, .series = &series, .nr_series = 1};

	qsort(sorted, nr, sizeof(*sorted), by_first_coordinate);
	for (size_t i = 0; i < nr; i++)
		if (!isnan(sorted[i].per_cycle))
			points[series.nr_points++] = point(sorted[i].coordinates[0], sorted[i].per_cycle);
	return series_plot_write(&plot, output_name, err);
}

int
peak_draw_landscape(const struct peak *peak, const char *caption, const char *output_name, struct rot_error *err)
{
	static const char *const columns[] = {"unroll", NULL}, *const rows[] = {"dlp", "streams", NULL};
	const struct peak_landscape *landscape = &peak->landscape;
	autopool pool = {0};
	struct plot_frame frame = {.caption = caption, .key_position = "none"};
	struct shown_axis x, y;

	if (landscape->nr_axes == 0 || landscape->nr_points == 0)
		return rot_error_set(err, 0, "nothing was searched for the peak '%s'", peak->name);
	frame.title = pool_own(&pool, title_of(peak), free);
	if (landscape->nr_axes == 1) {
		frame.x = axis(pool_own(&pool, camel_case_words(landscape->axes[0]), free), "");
		frame.y = axis(peak->kind == PEAK_LATENCY ? "Time" : "Rate", unit_of(peak));
		return draw_curve(&pool, peak, &frame, output_name, err);
	}
	x = choose_axis(&pool, landscape, columns, SIZE_MAX);
	y = choose_axis(&pool, landscape, rows, x.axis);
	frame.x = axis(pool_own(&pool, camel_case_words(landscape->axes[x.axis]), free), "");
	frame.y = axis(pool_own(&pool, camel_case_words(landscape->axes[y.axis]), free), "");
	return draw_heat_map(&pool, peak, &x, &y, &frame, output_name, err);
}
