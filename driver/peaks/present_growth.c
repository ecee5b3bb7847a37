/* SPDX-License-Identifier: MIT */
/* Bandwidths over numbers of threads: as a table, and as a plot of those that share something. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "peaks/present.h"
#include "peaks/present_cells.h"
#include "peaks/saturation.h"
#include "plots/plot.h"
#include "support/entry.h"
#include "support/text_table.h"

/* ---- table ---- */

/* Columns of a row: what it is of, one for each number of threads, and what follows from them. */
enum { OF_NAME, OF_SET, OF_MODE, NR_KEYS };
enum { FROM_FACTOR, FROM_SATURATION, NR_RESULTS };

static char *
value_cell(const struct growth *growth, int nr_threads)
{
	for (size_t i = 0; i < growth->nr; i++)
		if (growth->peaks[i]->nr_threads == nr_threads)
			return estimate_text(&growth->peaks[i]->per_second, 1e-9);
	return rot_strdup("-");
}

static void
add_row(struct text_table *table, const struct growth *growth, const int *threads, size_t nr_threads)
{
	char **cells = rot_calloc(table->nr_columns, sizeof(*cells));
	char **results = cells + NR_KEYS + nr_threads;

	cells[OF_NAME] = rot_strdup(growth->peaks[0]->name);
	cells[OF_SET] = rot_strdup(growth->peaks[0]->instruction_set);
	cells[OF_MODE] = rot_strdup(growth->mode);
	for (size_t i = 0; i < nr_threads; i++)
		cells[NR_KEYS + i] = value_cell(growth, threads[i]);
	results[FROM_FACTOR] = isnan(growth->factor) ? rot_strdup("-") : rot_format("%.2f", growth->factor);
	results[FROM_SATURATION] = growth->saturated_from ? rot_format("%d", growth->saturated_from) : rot_strdup("no");
	text_table_add(table, cells);
	free(cells);
}

/* Two numbers with others between them say nothing of where it stops. */
static bool
is_sweep(const int *threads, size_t nr)
{
	return nr > 2 || (nr == 2 && threads[1] == threads[0] + 1);
}

static void
print_table(const struct growth *growths, size_t nr, const int *threads, size_t nr_threads, FILE *out)
{
	const size_t nr_columns = NR_KEYS + nr_threads + NR_RESULTS;
	struct text_table_column *columns = rot_calloc(nr_columns, sizeof(*columns));
	struct text_table table = {.columns = columns, .nr_columns = nr_columns, .nr_keys = NR_KEYS};
	char *title;

	columns[OF_NAME] = (struct text_table_column){"bandwidth", true};
	columns[OF_SET] = (struct text_table_column){"instruction\nset", true};
	columns[OF_MODE] = (struct text_table_column){"mode", true};
	for (size_t i = 0; i < nr_threads; i++)
		columns[NR_KEYS + i].heading = rot_format("%d thread%s", threads[i], threads[i] == 1 ? "" : "s");
	columns[NR_KEYS + nr_threads + FROM_FACTOR].heading = "times\nthe first";
	columns[NR_KEYS + nr_threads + FROM_SATURATION].heading = "saturated\nfrom";
	for (size_t i = 0; i < nr; i++)
		add_row(&table, &growths[i], threads, nr_threads);
	title = rot_format("Bandwidth over the number of threads [GB/s]; saturated: the fewest threads that reach "
			   "%.0f %% of the highest\n\n",
			   100 * SATURATION_SHARE);
	text_print(title, 0, 0, out);
	free(title);
	text_table_print(&table, out);
	text_table_clear(&table);
	for (size_t i = 0; i < nr_threads; i++)
		free((char *)columns[NR_KEYS + i].heading);
	free(columns);
}

void
peaks_print_growth(const struct peak_list *list, FILE *out)
{
	struct growth *growths;
	size_t nr = peaks_growths(list, &growths);
	int *threads;
	size_t nr_threads = growths_threads(growths, nr, &threads);

	if (is_sweep(threads, nr_threads))
		print_table(growths, nr, threads, nr_threads, out);
	free(threads);
	growths_delete(growths, nr);
}

/* ---- plot ---- */

/* Loads and stores; of these the widest of each level and mode, which is the highest. */
static bool
is_drawn(const struct growth *growths, size_t nr, size_t at)
{
	static const char *const accesses[] = {"load", "store", "ntStore"};
	const struct peak *peak = growths[at].peaks[growths[at].nr - 1];
	bool is_shown = false;

	for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++)
		is_shown = is_shown || strcmp(peak->access, accesses[i]) == 0;
	for (size_t i = 0; is_shown && i < nr; i++) {
		const struct peak *other = growths[i].peaks[growths[i].nr - 1];

		if (strcmp(other->border, peak->border) == 0 && strcmp(other->access, peak->access) == 0 &&
		    strcmp(growths[i].mode, growths[at].mode) == 0 && other->per_second.value > peak->per_second.value)
			is_shown = false;
	}
	return is_shown;
}

/* Fresh memory: the name and the points. */
static struct plot_series
series_of(const struct growth *growth)
{
	struct plot_point *points = rot_calloc(growth->nr, sizeof(*points));

	for (size_t i = 0; i < growth->nr; i++) {
		const struct peak_estimate *e = &growth->peaks[i]->per_second;

		points[i] = (struct plot_point){
			.x = summary_single(growth->peaks[i]->nr_threads, "given"),
			.y = summary_single(e->value * 1e-9, "quantile"),
			.size = NAN,
		};
		points[i].y.low = e->low * 1e-9;
		points[i].y.high = e->high * 1e-9;
	}
	return (struct plot_series){
		.name = rot_format("%s%s%s", growth->peaks[0]->name, growth->mode[0] ? ", " : "", growth->mode),
		.points = points,
		.nr_points = growth->nr,
	};
}

bool
peaks_have_growth(const struct peak_list *list)
{
	struct growth *growths;
	const size_t nr = peaks_growths(list, &growths);
	bool is_some_drawn = false;

	for (size_t i = 0; i < nr; i++)
		is_some_drawn = is_some_drawn || is_drawn(growths, nr, i);
	growths_delete(growths, nr);
	return is_some_drawn;
}

int
peaks_draw_growth(const struct peak_list *list, const char *caption, const char *output_name, struct rot_error *err)
{
	struct growth *growths;
	size_t nr = peaks_growths(list, &growths);
	struct plot_series *series = rot_calloc(nr + 1, sizeof(*series));
	struct series_plot plot = {
		.frame = {.title = "Bandwidth over the number of threads",
			  .caption = caption,
			  .x = {.label = "Threads, each on a CPU of its own", .unit = "", .low = NAN, .high = NAN},
			  .y = {.label = "Bandwidth", .unit = "GB/s", .is_log = true, .low = NAN, .high = NAN},
			  .key_position = "auto"},
		.series = series,
	};
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		if (is_drawn(growths, nr, i))
			series[plot.nr_series++] = series_of(&growths[i]);
	if (plot.nr_series > 0)
		rc = series_plot_write(&plot, output_name, err);
	for (size_t i = 0; i < plot.nr_series; i++) {
		free((char *)series[i].name);
		free((struct plot_point *)series[i].points);
	}
	free(series);
	growths_delete(growths, nr);
	return rc;
}
