/* SPDX-License-Identifier: MIT */
/* Peaks as tables for people. Columns are rows of tables: a heading, and what stands in a cell. */
#include "peaks/present.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "peaks/ridges.h"
#include "peaks/saturation.h"
#include "plots/plot.h"
#include "quantities/value_text.h"
#include "support/entry.h"
#include "support/text_table.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Notes below a table: remarks of peaks, each once, and the number that stands at the peak. */
struct notes {
	const char **texts;
	size_t nr;
	bool has_tsc; /* some value is per cycle of the time stamp counter */
};

/* From 1; 0: the peak has no remark. */
static size_t
note_of(struct notes *notes, const struct peak *peak)
{
	size_t i = 0;

	if (!peak->remark[0])
		return 0;
	while (i < notes->nr && strcmp(notes->texts[i], peak->remark) != 0)
		i++;
	if (i == notes->nr) {
		notes->texts = rot_realloc(notes->texts, notes->nr + 1, sizeof(*notes->texts));
		notes->texts[notes->nr++] = peak->remark;
	}
	return i + 1;
}

/* ---- cells ---- */

/* "31.990 ±0.010", in units of 1 / factor. Fresh memory. */
static char *
estimate_text(const struct peak_estimate *estimate, double factor)
{
	struct summary summary = summary_empty();

	summary.value = estimate->value * factor;
	summary.low = estimate->low * factor;
	summary.high = estimate->high * factor;
	return summary_text(&summary);
}

static char *
number_cell(double number, int digits)
{
	return isnan(number) ? rot_strdup("-") : rot_format("%.*f", digits, number);
}

/* Behind the operation of integers: "INT32" of "ADD_INT32"; NULL: these are no integers. */
static const char *
integers_of(const char *access)
{
	const char *found = strstr(access, "_INT");

	return found ? found + 1 : NULL;
}

/* "FMA_ADD" -> "FMA+ADD", "ADD_INT32" -> "ADD". */
static char *
operation_cell(const struct peak *peak, struct notes *notes)
{
	const char *integers = integers_of(peak->access);
	int length = integers ? (int)(integers - 1 - peak->access) : (int)strlen(peak->access);
	char *text = rot_format("%.*s", length, peak->access);

	(void)notes;
	for (char *c = text; *c; c++)
		*c = *c == '_' ? '+' : *c;
	return text;
}

/* "double", "single", "extended", "int32": of what its operations are. Fresh memory. */
static char *
peak_precision(const struct peak *peak)
{
	static const char *const words[][2] = {
		{"doublePrecisionFlop", "double"}, {"singlePrecisionFlop", "single"}, {"compInstr", "extended"}};
	const char *integers = integers_of(peak->access);

	if (integers)
		return rot_format("int%s", integers + strlen("INT"));
	for (size_t i = 0; i < NR(words); i++)
		if (strcmp(words[i][0], peak->operation) == 0)
			return rot_strdup(words[i][1]);
	return camel_case_words(peak->operation);
}

static char *
precision_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return peak_precision(peak);
}

static char *
instruction_set_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return rot_strdup(peak->instruction_set);
}

static char *
level_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return rot_strdup(border_level(peak->border));
}

static char *
access_cell(const struct peak *peak, struct notes *notes)
{
	static const char *const words[][2] = {{"ntStore", "non-temporal store"},
					       {"ntCopy", "non-temporal copy"},
					       {"ntTriad", "non-temporal triad"},
					       {"load2Store", "2 loads, 1 store"}};

	(void)notes;
	for (size_t i = 0; i < NR(words); i++)
		if (strcmp(words[i][0], peak->access) == 0)
			return rot_strdup(words[i][1]);
	return camel_case_words(peak->access);
}

static char *
threads_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return rot_format("%d%s%s", peak->nr_threads, peak->mode[0] ? " " : "", peak->mode);
}

static char *
coordinate_cell(const struct peak *peak, const char *name)
{
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		if (strcmp(peak->variant[i].name, name) == 0)
			return rot_format("%d", peak->variant[i].value);
	return rot_strdup("-");
}

static char *
dlp_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return coordinate_cell(peak, "dlp");
}

static char *
unroll_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return coordinate_cell(peak, "unroll");
}

static char *
streams_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return coordinate_cell(peak, "streams");
}

static char *
chains_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return coordinate_cell(peak, "chains");
}

static char *
prefetch_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return coordinate_cell(peak, "prefetchDistance");
}

/* "24 KiB", with "h" where the pages are huge. */
static char *
buffer_cell(const struct peak *peak, struct notes *notes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)peak->buffer_bytes;
	size_t unit = 0;

	(void)notes;
	if (peak->buffer_bytes == 0)
		return rot_strdup("-");
	for (; size >= 1024 && unit + 1 < NR(units); unit++)
		size /= 1024;
	return rot_format("%.*f %s%s", size < 10 && size != floor(size) ? 1 : 0, size, units[unit],
			  peak->has_huge_pages ? " h" : "");
}

static char *
per_cycle_cell(const struct peak *peak, struct notes *notes)
{
	autofree char *text = NULL;

	if (!isnan(peak->per_cycle.value) || isnan(peak->per_tsc_cycle.value))
		return estimate_text(&peak->per_cycle, 1);
	notes->has_tsc = true;
	text = estimate_text(&peak->per_tsc_cycle, 1);
	return rot_format("%s (t)", text);
}

static char *
limit_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return isnan(peak->limit_per_cycle) ? rot_strdup("-") : rot_number_in_full(peak->limit_per_cycle);
}

static char *
share_cell(const struct peak *peak, struct notes *notes)
{
	double share = 100 * peak->per_cycle.value / peak->limit_per_cycle;

	(void)notes;
	return isnan(share) ? rot_strdup("-") : rot_format("%.1f %%", share);
}

static char *
giga_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return estimate_text(&peak->per_second, 1e-9);
}

static char *
nanoseconds_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return estimate_text(&peak->per_second, 1e9);
}

static char *
clock_cell(const struct peak *peak, struct notes *notes)
{
	(void)notes;
	return number_cell(peak->clock_hz / 1e9, 2);
}

static char *
note_cell(const struct peak *peak, struct notes *notes)
{
	size_t note = note_of(notes, peak);

	return note ? rot_format("(%zu)", note) : rot_strdup("");
}

/* ---- tables ---- */

struct peak_column {
	struct text_table_column column;
	char *(*cell)(const struct peak *peak, struct notes *notes);
};

static const struct peak_column performance_columns[] = {
	{{"operation", true}, operation_cell},
	{{"instruction\nset", true}, instruction_set_cell},
	{{"precision", true}, precision_cell},
	{{"threads", false}, threads_cell},
	{{"DLP", false}, dlp_cell},
	{{"unroll", false}, unroll_cell},
	{{"measured\n[flop/cycle]", false}, per_cycle_cell},
	{{"theoretical\n[flop/cycle]", false}, limit_cell},
	{{"share", false}, share_cell},
	{{"\n[Gflop/s]", false}, giga_cell},
	{{"at\n[GHz]", false}, clock_cell},
	{{"", true}, note_cell},
};

static const struct peak_column bandwidth_columns[] = {
	{{"level", true}, level_cell},
	{{"access", true}, access_cell},
	{{"instruction\nset", true}, instruction_set_cell},
	{{"threads", false}, threads_cell},
	{{"buffer", false}, buffer_cell},
	{{"streams", false}, streams_cell},
	{{"unroll", false}, unroll_cell},
	{{"prefetch\n[byte]", false}, prefetch_cell},
	{{"measured\n[byte/cycle]", false}, per_cycle_cell},
	{{"theoretical\n[byte/cycle]", false}, limit_cell},
	{{"share", false}, share_cell},
	{{"\n[GB/s]", false}, giga_cell},
	{{"at\n[GHz]", false}, clock_cell},
	{{"", true}, note_cell},
};

static const struct peak_column latency_columns[] = {
	{{"level", true}, level_cell},         {{"threads", false}, threads_cell},
	{{"buffer", false}, buffer_cell},      {{"chains", false}, chains_cell},
	{{"\n[ns]", false}, nanoseconds_cell}, {{"\n[cycle]", false}, per_cycle_cell},
	{{"at\n[GHz]", false}, clock_cell},    {{"", true}, note_cell},
};

static void
print_notes(const struct notes *notes, const char *unit, FILE *out)
{
	for (size_t i = 0; i < notes->nr; i++) {
		autofree char *mark = rot_format("(%zu)", i + 1);

		text_print_behind(mark, notes->texts[i], out);
	}
	if (notes->has_tsc) {
		autofree char *meaning =
			rot_format("%s per cycle of the time stamp counter: the clock of the core is not known "
				   "here",
				   unit);

		text_print_behind("(t)", meaning, out);
	}
}

/* Levels one after the other, closest to the core first; else in their order. */
static int
by_level(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;
	int order = border_order((*x)->border) - border_order((*y)->border);

	return order ? order : (*x > *y) - (*x < *y);
}

/* Those of the kind, levels one after the other, closest to the core first; caller frees the array. */
static const struct peak **
peaks_in_order(const struct peak_list *list, enum peak_kind kind, size_t *nr)
{
	const struct peak **peaks = rot_calloc(list->nr + 1, sizeof(*peaks));

	*nr = 0;
	for (size_t i = 0; i < list->nr; i++)
		if (list->peaks[i].kind == kind)
			peaks[(*nr)++] = &list->peaks[i];
	qsort(peaks, *nr, sizeof(*peaks), by_level);
	return peaks;
}

static void
print_table(const struct peak_list *list, enum peak_kind kind, const struct peak_column *columns, size_t nr_columns,
	    size_t nr_keys, const char *title, const char *unit, FILE *out)
{
	autofree struct text_table_column *plain = rot_calloc(nr_columns, sizeof(*plain));
	struct text_table table = {.columns = plain, .nr_columns = nr_columns, .nr_keys = nr_keys};
	autofree char **cells = rot_calloc(nr_columns, sizeof(*cells));
	struct notes notes = {.nr = 0};
	bool has_huge_pages = false;
	size_t nr;
	autofree const struct peak **peaks = peaks_in_order(list, kind, &nr);

	for (size_t i = 0; i < nr_columns; i++)
		plain[i] = columns[i].column;
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr_columns; k++)
			cells[k] = columns[k].cell(peaks[i], &notes);
		text_table_add(&table, cells);
		has_huge_pages = has_huge_pages || peaks[i]->has_huge_pages;
	}
	if (table.nr_rows > 0) {
		text_print(title, 0, 0, out);
		fputc('\n', out);
		text_table_print(&table, out);
		print_notes(&notes, unit, out);
		if (has_huge_pages)
			fputs("h: huge pages\n", out);
	}
	text_table_clear(&table);
	free(notes.texts);
}

void
peaks_print_performance(const struct peak_list *list, FILE *out)
{
	print_table(list, PEAK_PERFORMANCE, performance_columns, NR(performance_columns), 4,
		    "Peak performance, per core cycle of one thread and per second of all", "operations", out);
}

static void
peaks_print_bandwidth(const struct peak_list *list, FILE *out)
{
	print_table(list, PEAK_BANDWIDTH, bandwidth_columns, NR(bandwidth_columns), 4,
		    "Peak bandwidth of what the program loads and stores, per core cycle of one thread and per second "
		    "of all",
		    "bytes", out);
}

static void
peaks_print_latency(const struct peak_list *list, FILE *out)
{
	print_table(list, PEAK_LATENCY, latency_columns, NR(latency_columns), 2,
		    "Random access: time of one, of as many independent chains as given", "time", out);
}

/* ---- ridge points ---- */

/* The highest bandwidth of each border for that number of threads, closest to the core first. */
static size_t
highest_bandwidths(const struct ridge *ridges, size_t nr_ridges, int nr_threads, const struct peak *highest[])
{
	const struct peak *best[8] = {NULL};
	size_t nr = 0;

	for (size_t i = 0; i < nr_ridges; i++) {
		const struct peak *peak = ridges[i].bandwidth;
		int at = border_order(peak->border);

		if (peak->nr_threads == nr_threads && at < (int)NR(best) &&
		    (!best[at] || peak->per_second.value > best[at]->per_second.value))
			best[at] = peak;
	}
	for (size_t i = 0; i < NR(best); i++)
		if (best[i])
			highest[nr++] = best[i];
	return nr;
}

static char *
ridge_cell(const struct ridge *ridges, size_t nr, const struct peak *performance, const struct peak *bandwidth)
{
	for (size_t i = 0; i < nr; i++)
		if (ridges[i].performance == performance && ridges[i].bandwidth == bandwidth)
			return estimate_text(&ridges[i].intensity, 1);
	return rot_strdup("-");
}

static void
print_ridges_of(const struct peak_list *list, const struct ridge *ridges, size_t nr_ridges, int nr_threads, FILE *out)
{
	const struct peak *bandwidths[8];
	size_t nr = highest_bandwidths(ridges, nr_ridges, nr_threads, bandwidths);
	struct text_table_column columns[2 + NR(bandwidths)] = {{"performance", true}, {"precision", true}};
	struct text_table table = {.columns = columns, .nr_columns = nr + 2, .nr_keys = 2};
	struct notes notes = {.nr = 0};

	for (size_t k = 0; k < nr; k++)
		columns[k + 2].heading = rot_format("%s%s%s", bandwidths[k]->name, bandwidths[k]->mode[0] ? "\n" : "",
						    bandwidths[k]->mode);
	for (size_t i = 0; nr > 0 && i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];
		char *cells[2 + NR(bandwidths)];

		if (peak->kind != PEAK_PERFORMANCE || !strstr(peak->operation, "Flop") ||
		    peak->nr_threads != nr_threads)
			continue;
		cells[0] = rot_strdup(peak->name);
		cells[1] = precision_cell(peak, &notes);
		for (size_t k = 0; k < nr; k++)
			cells[k + 2] = ridge_cell(ridges, nr_ridges, peak, bandwidths[k]);
		text_table_add(&table, cells);
	}
	if (table.nr_rows > 0) {
		fprintf(out, "Minimum arithmetic intensity [flop/byte] to reach a performance, %d thread%s\n\n",
			nr_threads, nr_threads == 1 ? "" : "s");
		text_table_print(&table, out);
	}
	text_table_clear(&table);
	for (size_t k = 0; k < nr; k++)
		free((char *)columns[k + 2].heading);
}

void
peaks_print_ridges(const struct peak_list *list, FILE *out)
{
	autofree struct ridge *ridges = NULL;
	size_t nr = peaks_ridges(list, &ridges);
	int last = 0, next;

	for (;; last = next) {
		next = 0;
		for (size_t i = 0; i < nr; i++) {
			int threads = ridges[i].performance->nr_threads;

			if (threads > last && (next == 0 || threads < next))
				next = threads;
		}
		if (next == 0)
			break;
		if (last > 0)
			fputc('\n', out);
		print_ridges_of(list, ridges, nr, next, out);
	}
}

typedef void print_part(const struct peak_list *list, FILE *out);

/* ---- over the number of threads, as a table ---- */

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
add_growth(struct text_table *table, const struct growth *growth, const int *threads, size_t nr_threads)
{
	autofree char **cells = rot_calloc(table->nr_columns, sizeof(*cells));
	char **results = cells + NR_KEYS + nr_threads;

	cells[OF_NAME] = rot_strdup(growth->peaks[0]->name);
	cells[OF_SET] = rot_strdup(growth->peaks[0]->instruction_set);
	cells[OF_MODE] = rot_strdup(growth->mode);
	for (size_t i = 0; i < nr_threads; i++)
		cells[NR_KEYS + i] = value_cell(growth, threads[i]);
	results[FROM_FACTOR] = isnan(growth->factor) ? rot_strdup("-") : rot_format("%.2f", growth->factor);
	results[FROM_SATURATION] = growth->saturated_from ? rot_format("%d", growth->saturated_from) : rot_strdup("no");
	text_table_add(table, cells);
}

/* Two numbers with others between them say nothing of where it stops. */
static bool
is_sweep(const int *threads, size_t nr)
{
	return nr > 2 || (nr == 2 && threads[1] == threads[0] + 1);
}

static void
print_growths(const struct growth *growths, size_t nr, const int *threads, size_t nr_threads, FILE *out)
{
	const size_t nr_columns = NR_KEYS + nr_threads + NR_RESULTS;
	autofree struct text_table_column *columns = rot_calloc(nr_columns, sizeof(*columns));
	struct text_table table = {.columns = columns, .nr_columns = nr_columns, .nr_keys = NR_KEYS};
	autofree char *title = NULL;

	columns[OF_NAME] = (struct text_table_column){"bandwidth", true};
	columns[OF_SET] = (struct text_table_column){"instruction\nset", true};
	columns[OF_MODE] = (struct text_table_column){"mode", true};
	for (size_t i = 0; i < nr_threads; i++)
		columns[NR_KEYS + i].heading = rot_format("%d thread%s", threads[i], threads[i] == 1 ? "" : "s");
	columns[NR_KEYS + nr_threads + FROM_FACTOR].heading = "times\nthe first";
	columns[NR_KEYS + nr_threads + FROM_SATURATION].heading = "saturated\nfrom";
	for (size_t i = 0; i < nr; i++)
		add_growth(&table, &growths[i], threads, nr_threads);
	title = rot_format("Bandwidth over the number of threads [GB/s]; saturated: the fewest threads that reach "
			   "%.0f %% of the highest\n\n",
			   100 * SATURATION_SHARE);
	text_print(title, 0, 0, out);
	text_table_print(&table, out);
	text_table_clear(&table);
	for (size_t i = 0; i < nr_threads; i++)
		free((char *)columns[NR_KEYS + i].heading);
}

/* Bandwidths over numbers of threads, and from which on they are saturated (saturation.h); nothing where others between
 * these numbers are not known. */
static void
print_growth(const struct peak_list *list, FILE *out)
{
	autopool pool = {0};
	struct growth *growths;
	size_t nr = peaks_growths(&pool, list, &growths);
	int *threads;
	size_t nr_threads = growths_threads(&pool, growths, nr, &threads);

	if (is_sweep(threads, nr_threads))
		print_growths(growths, nr, threads, nr_threads, out);
}

/* ---- and as a plot ---- */

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
series_of_growth(const struct growth *growth)
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
	autopool pool = {0};
	struct growth *growths;
	const size_t nr = peaks_growths(&pool, list, &growths);
	bool is_some_drawn = false;

	for (size_t i = 0; i < nr; i++)
		is_some_drawn = is_some_drawn || is_drawn(growths, nr, i);
	return is_some_drawn;
}

int
peaks_draw_growth(const struct peak_list *list, const char *caption, const char *output_name, struct rot_error *err)
{
	autopool pool = {0};
	struct growth *growths;
	size_t nr = peaks_growths(&pool, list, &growths);
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
			series[plot.nr_series++] = series_of_growth(&growths[i]);
	if (plot.nr_series > 0)
		rc = series_plot_write(&plot, output_name, err);
	for (size_t i = 0; i < plot.nr_series; i++) {
		free((char *)series[i].name);
		free((struct plot_point *)series[i].points);
	}
	free(series);
	return rc;
}

/* ---- in short ---- */

/* What is told of each kind: the best of those that share a group. */
static const struct {
	const char *title;
	double factor;
} kinds[NR_PEAK_KINDS] = {
	[PEAK_PERFORMANCE] = {"Performance [Gflop/s]", 1e-9},
	[PEAK_BANDWIDTH] = {"Bandwidth [GB/s]", 1e-9},
	[PEAK_LATENCY] = {"Latency [ns]", 1e9},
};

/* "double", "llcRam load"; "" for peaks that are no part of the summary. Fresh memory. */
static char *
group_of(const struct peak *peak)
{
	static const char *const accesses[] = {"load", "store", "chase"};

	if (peak->kind == PEAK_PERFORMANCE)
		return peak_precision(peak);
	for (size_t i = 0; i < NR(accesses); i++)
		if (strcmp(peak->access, accesses[i]) == 0)
			return rot_format("%s %s", peak->border, peak->access);
	return rot_strdup("");
}

static bool
is_of_group(const struct peak *peak, enum peak_kind kind, const char *group)
{
	autofree char *own = peak->kind == kind ? group_of(peak) : rot_strdup("");

	return *own && strcmp(own, group) == 0;
}

/* The best of the group with that many threads, in any mode; NULL: there is none. */
static const struct peak *
best_of(const struct peak_list *list, enum peak_kind kind, const char *group, int nr_threads)
{
	const struct peak *best = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];

		if (peak->nr_threads == nr_threads && is_of_group(peak, kind, group) &&
		    (!best || peak_is_better(kind, peak->per_second.value, best->per_second.value)))
			best = peak;
	}
	return best;
}

/* "double: AVX-512 FMA+ADD", "L1 load". Fresh memory. */
static char *
name_in_summary(const struct peak *peak, const char *group)
{
	return peak->kind == PEAK_PERFORMANCE ? rot_format("%s: %s", group, peak->name) : rot_strdup(peak->name);
}

/*
 * Without an interval its runs were disturbed, and the machine reaches at least that. One that is another than what the
 * row is named for has its name.
 */
static char *
best_cell(const struct peak *peak, const struct peak *named)
{
	const bool is_other = strcmp(peak->name, named->name) != 0;
	autofree char *text = estimate_text(&peak->per_second, kinds[peak->kind].factor);

	return rot_format("%s%s%s%s", is_other ? peak->name : "", is_other ? ": " : "",
			  isnan(peak->per_second.low) && peak->kind != PEAK_LATENCY ? "at least " : "", text);
}

static void
add_best(struct text_table *table, const struct peak *const best[2])
{
	const struct peak *any = best[0] ? best[0] : best[1];
	autofree char *group = group_of(any);
	char *cells[4] = {name_in_summary(any, group)};

	for (int i = 0; i < 2; i++)
		cells[1 + i] = best[i] ? best_cell(best[i], any) : rot_strdup("-");
	cells[3] = share_cell(any, NULL);
	text_table_add(table, cells);
}

/* A row a group, in the order of the table with all peaks. */
static void
add_rows(struct text_table *table, const struct peak_list *list, enum peak_kind kind, const int threads[2])
{
	size_t nr;
	autofree const struct peak **peaks = peaks_in_order(list, kind, &nr);

	for (size_t i = 0; i < nr; i++) {
		autofree char *group = group_of(peaks[i]);
		const struct peak *best[2] = {best_of(list, kind, group, threads[0]), NULL};
		size_t first = 0;

		if (threads[1] > threads[0])
			best[1] = best_of(list, kind, group, threads[1]);
		while (first < i && !is_of_group(peaks[first], kind, group))
			first++;
		if (first == i && (best[0] || best[1]))
			add_best(table, best);
	}
}

static bool
print_kind(const struct peak_list *list, enum peak_kind kind, const int threads[2], bool is_first, FILE *out)
{
	char *headings[2];
	struct text_table_column columns[4] = {
		{kinds[kind].title, true}, {NULL, false}, {NULL, false}, {"of limit", false}};
	struct text_table table = {.columns = columns, .nr_columns = NR(columns), .nr_keys = 1};

	for (int i = 0; i < 2; i++)
		columns[1 + i].heading = headings[i] =
			rot_format("%d thread%s", threads[i], threads[i] == 1 ? "" : "s");
	add_rows(&table, list, kind, threads);
	if (table.nr_rows > 0) {
		fputs(is_first ? "" : "\n", out);
		text_table_print(&table, out);
		is_first = false;
	}
	text_table_clear(&table);
	free(headings[0]);
	free(headings[1]);
	return is_first;
}

/* In short: the best of each precision, of each level its loads, stores and latency; per second, of the fewest and the
 * most threads. */
static void
print_summary(const struct peak_list *list, FILE *out)
{
	int threads[2] = {0, 0};
	bool is_first = true;

	for (size_t i = 0; i < list->nr; i++) {
		const int nr = list->peaks[i].nr_threads;

		threads[0] = threads[0] == 0 || nr < threads[0] ? nr : threads[0];
		threads[1] = nr > threads[1] ? nr : threads[1];
	}
	for (enum peak_kind kind = 0; kind < NR_PEAK_KINDS; kind++)
		is_first = print_kind(list, kind, threads, is_first, out);
}

/* ---- all of it ---- */

static bool
says_something(print_part *part, const struct peak_list *list)
{
	autofree char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return false;
	part(list, out);
	fclose(out);
	return length > 0;
}

void
peaks_print(const struct peak_list *list, bool is_all, FILE *out)
{
	static print_part *const parts[] = {peaks_print_performance, peaks_print_bandwidth, print_growth,
					    peaks_print_latency, peaks_print_ridges};
	bool is_first = true;

	if (!is_all && list->nr > 0) {
		print_summary(list, out);
		text_print("\nall variants, bandwidths over threads, ridge points: --all", 0, 0, out);
		return;
	}
	for (size_t i = 0; i < NR(parts); i++) {
		if (!says_something(parts[i], list))
			continue;
		fputs(is_first ? "" : "\n", out);
		parts[i](list, out);
		is_first = false;
	}
}
