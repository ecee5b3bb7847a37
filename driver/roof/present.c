/* SPDX-License-Identifier: MIT */
/* Peaks as tables for people. Columns are rows of tables: a heading, and what stands in a cell. */
#include "roof/present.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/text_table.h"
#include "memory.h"
#include "number.h"
#include "quantities/value_text.h"
#include "roof/peak.h"
#include "roof/roof.h"
#include "rot.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Parts of the output have an empty line between them. */
static void
begin_part(bool *is_first, FILE *out)
{
	fputs(*is_first ? "" : "\n", out);
	*is_first = false;
}

static const char *
threads_text(struct pool *pool, int nr_threads)
{
	return pool_format(pool, "%d thread%s", nr_threads, rot_plural((double)nr_threads));
}

/* ---- cells, in fresh memory ---- */

/* "31.990 ±0.010", in units of 1 / factor. */
static char *
estimate_text(const struct peak_estimate *estimate, double factor)
{
	struct summary summary = summary_empty();

	summary.value = estimate->value * factor;
	summary.low = estimate->low * factor;
	summary.high = estimate->high * factor;
	return summary_text(&summary);
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
operation_cell(const struct peak *peak)
{
	const char *integers = integers_of(peak->access);
	char *text = rot_strndup(peak->access, integers ? (size_t)(integers - 1 - peak->access) : strlen(peak->access));

	for (char *c = text; *c; c++)
		*c = *c == '_' ? '+' : *c;
	return text;
}

/* The word of the table, or its parts: "camelCase" -> "camel case". */
static char *
plain_words(const char *word, const char *const words[][2], size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(words[i][0], word) == 0)
			return rot_strdup(words[i][1]);
	return camel_case_words(word);
}

/* "double", "single", "extended", "int32": of what its operations are. */
static char *
precision_cell(const struct peak *peak)
{
	static const char *const words[][2] = {
		{"doublePrecisionFlop", "double"}, {"singlePrecisionFlop", "single"}, {"compInstr", "extended"}};
	const char *integers = integers_of(peak->access);

	return integers ? rot_format("int%s", integers + strlen("INT"))
			: plain_words(peak->operation, words, NR(words));
}

static char *
access_cell(const struct peak *peak)
{
	static const char *const words[][2] = {{"ntStore", "non-temporal store"},
					       {"ntCopy", "non-temporal copy"},
					       {"ntTriad", "non-temporal triad"},
					       {"load2Store", "2 loads, 1 store"}};

	return plain_words(peak->access, words, NR(words));
}

static char *
instruction_set_cell(const struct peak *peak)
{
	return rot_strdup(peak->instruction_set);
}

static char *
level_cell(const struct peak *peak)
{
	return rot_strdup(border_level(peak->border));
}

static char *
threads_cell(const struct peak *peak)
{
	return rot_format("%d%s%s", peak->nr_threads, peak->mode[0] ? " " : "", peak->mode);
}

/* "24 KiB", with "h" where the pages are huge. */
static char *
buffer_cell(const struct peak *peak)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)peak->buffer_bytes;
	size_t unit = 0;

	if (peak->buffer_bytes == 0)
		return rot_strdup("-");
	for (; size >= 1024 && unit + 1 < NR(units); unit++)
		size /= 1024;
	return rot_format("%.*f %s%s", size < 10 && size != floor(size) ? 1 : 0, size, units[unit],
			  peak->has_huge_pages ? " h" : "");
}

/* Is it told per cycle of the time stamp counter, since the clock of the core is not known? */
static bool
is_of_tsc(const struct peak *peak)
{
	return isnan(peak->per_cycle.value) && !isnan(peak->per_tsc_cycle.value);
}

static char *
per_cycle_cell(const struct peak *peak)
{
	autofree char *text = estimate_text(is_of_tsc(peak) ? &peak->per_tsc_cycle : &peak->per_cycle, 1);

	return rot_format("%s%s", text, is_of_tsc(peak) ? " (t)" : "");
}

static char *
limit_cell(const struct peak *peak)
{
	return isnan(peak->limit_per_cycle) ? rot_strdup("-")
					    : rot_number_in_full(rint(100 * peak->limit_per_cycle) / 100);
}

static char *
share_cell(const struct peak *peak)
{
	double share = 100 * peak->per_cycle.value / peak->limit_per_cycle;

	return isnan(share) ? rot_strdup("-") : rot_format("%.1f %%", share);
}

static char *
clock_cell(const struct peak *peak)
{
	return isnan(peak->clock_hz) ? rot_strdup("-") : rot_format("%.2f", peak->clock_hz / 1e9);
}

/* ---- a table of each kind ---- */

/* A cell is what the function gives, or else that coordinate of the variant, or else the rate in units of 1 / factor.
 */
struct peak_column {
	struct text_table_column column;
	char *(*cell)(const struct peak *peak);
	const char *coordinate;
	double factor;
};

static const struct peak_column performance_columns[] = {
	{{"operation", true}, operation_cell, NULL, 0},
	{{"instruction\nset", true}, instruction_set_cell, NULL, 0},
	{{"precision", true}, precision_cell, NULL, 0},
	{{"threads", false}, threads_cell, NULL, 0},
	{{"DLP", false}, NULL, "dlp", 0},
	{{"unroll", false}, NULL, "unroll", 0},
	{{"measured\n[flop/cycle]", false}, per_cycle_cell, NULL, 0},
	{{"theoretical\n[flop/cycle]", false}, limit_cell, NULL, 0},
	{{"share", false}, share_cell, NULL, 0},
	{{"\n[Gflop/s]", false}, NULL, NULL, 1e-9},
	{{"at\n[GHz]", false}, clock_cell, NULL, 0},
};

static const struct peak_column bandwidth_columns[] = {
	{{"level", true}, level_cell, NULL, 0},
	{{"access", true}, access_cell, NULL, 0},
	{{"instruction\nset", true}, instruction_set_cell, NULL, 0},
	{{"threads", false}, threads_cell, NULL, 0},
	{{"buffer", false}, buffer_cell, NULL, 0},
	{{"streams", false}, NULL, "streams", 0},
	{{"unroll", false}, NULL, "unroll", 0},
	{{"prefetch\n[byte]", false}, NULL, "prefetchDistance", 0},
	{{"measured\n[byte/cycle]", false}, per_cycle_cell, NULL, 0},
	{{"theoretical\n[byte/cycle]", false}, limit_cell, NULL, 0},
	{{"share", false}, share_cell, NULL, 0},
	{{"\n[GB/s]", false}, NULL, NULL, 1e-9},
	{{"at\n[GHz]", false}, clock_cell, NULL, 0},
};

static const struct peak_column latency_columns[] = {
	{{"level", true}, level_cell, NULL, 0},      {{"threads", false}, threads_cell, NULL, 0},
	{{"buffer", false}, buffer_cell, NULL, 0},   {{"chains", false}, NULL, "chains", 0},
	{{"\n[ns]", false}, NULL, NULL, 1e9},        {{"\n[cycle]", false}, per_cycle_cell, NULL, 0},
	{{"at\n[GHz]", false}, clock_cell, NULL, 0},
};

#define OF_TSC " per cycle of the time stamp counter: the clock of the core is not known here"

static const struct {
	const struct peak_column *columns;
	size_t nr_columns, nr_keys;
	const char *title, *of_tsc;
	const char *summary; /* its title in the summary, where rates are in units of 1 / factor */
	double factor;
} kinds[NR_PEAK_KINDS] = {
	[PEAK_PERFORMANCE] = {performance_columns, NR(performance_columns), 4,
			      "Peak performance, per core cycle of one thread and per second of all",
			      "operations" OF_TSC, "Performance [Gflop/s]", 1e-9},
	[PEAK_BANDWIDTH] = {bandwidth_columns, NR(bandwidth_columns), 4,
			    "Peak bandwidth of what the program loads and stores, per core cycle of one thread and per "
			    "second of all",
			    "bytes" OF_TSC, "Bandwidth [GB/s]", 1e-9},
	[PEAK_LATENCY] = {latency_columns, NR(latency_columns), 2,
			  "Random access: time of one, of as many independent chains as given", "time" OF_TSC,
			  "Latency [ns]", 1e9},
};

static char *
cell_text(const struct peak *peak, const struct peak_column *column)
{
	if (column->cell)
		return column->cell(peak);
	if (!column->coordinate)
		return estimate_text(&peak->per_second, column->factor);
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		if (strcmp(peak->variant[i].name, column->coordinate) == 0)
			return rot_format("%d", peak->variant[i].value);
	return rot_strdup("-");
}

/* From the level closest to the core to the farthest; else in the order of the list. */
static int
by_level(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;
	int order = border_order((*x)->border) - border_order((*y)->border);

	return order ? order : (*x > *y) - (*x < *y);
}

static const struct peak **
peaks_in_order(struct pool *pool, const struct peak_list *list, enum peak_kind kind, size_t *nr)
{
	const struct peak **peaks = pool_calloc(pool, list->nr, sizeof(*peaks));

	*nr = 0;
	for (size_t i = 0; i < list->nr; i++)
		if (list->peaks[i].kind == kind)
			peaks[(*nr)++] = &list->peaks[i];
	qsort(peaks, *nr, sizeof(*peaks), by_level);
	return peaks;
}

/* The number of the remark among the notes, from 1, which a new one is added to; 0: there is no remark. */
static size_t
note_number(const char **notes, size_t *nr, const char *remark)
{
	size_t i = 0;

	if (!remark[0])
		return 0;
	while (i < *nr && strcmp(notes[i], remark) != 0)
		i++;
	if (i == *nr)
		notes[(*nr)++] = remark;
	return i + 1;
}

/* A table with notes below it; nothing at all where the list has no peak of the kind. */
static void
print_table(const struct peak_list *list, enum peak_kind kind, bool *is_first, FILE *out)
{
	autopool pool = {0};
	const size_t nr_columns = kinds[kind].nr_columns;
	struct text_table_column *columns = pool_calloc(&pool, nr_columns + 1, sizeof(*columns));
	struct text_table table = {.columns = columns, .nr_columns = nr_columns + 1, .nr_keys = kinds[kind].nr_keys};
	char **cells = pool_calloc(&pool, nr_columns + 1, sizeof(*cells));
	bool has_huge_pages = false, has_tsc = false;
	size_t nr, nr_notes = 0;
	const struct peak **peaks = peaks_in_order(&pool, list, kind, &nr);
	const char **notes = pool_calloc(&pool, nr, sizeof(*notes));

	if (nr == 0)
		return;
	for (size_t k = 0; k < nr_columns; k++)
		columns[k] = kinds[kind].columns[k].column;
	columns[nr_columns] = (struct text_table_column){"", true};
	for (size_t i = 0; i < nr; i++) {
		const size_t note = note_number(notes, &nr_notes, peaks[i]->remark);

		for (size_t k = 0; k < nr_columns; k++)
			cells[k] = cell_text(peaks[i], &kinds[kind].columns[k]);
		cells[nr_columns] = note ? rot_format("(%zu)", note) : rot_strdup("");
		text_table_add(&table, cells);
		has_huge_pages |= peaks[i]->has_huge_pages;
		has_tsc |= is_of_tsc(peaks[i]);
	}
	begin_part(is_first, out);
	text_print(kinds[kind].title, 0, 0, out);
	fputc('\n', out);
	text_table_print(&table, out);
	text_table_clear(&table);
	for (size_t i = 0; i < nr_notes; i++) {
		autofree char *mark = rot_format("(%zu)", i + 1);

		text_print_behind(mark, notes[i], out);
	}
	if (has_tsc)
		text_print_behind("(t)", kinds[kind].of_tsc, out);
	if (has_huge_pages)
		fputs("h: huge pages\n", out);
}

/* ---- ridge points ---- */

/* Four levels, and any other border (border_order). */
enum { MOST_BORDERS = 5 };

/* The highest bandwidth of each border for that number of threads, from the closest to the core to the farthest. */
static size_t
highest_bandwidths(const struct peak_list *list, int nr_threads, const struct peak *highest[])
{
	const struct peak *best[MOST_BORDERS] = {NULL};
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];
		int at = border_order(peak->border);

		if (peak->kind == PEAK_BANDWIDTH && peak->nr_threads == nr_threads &&
		    (!best[at] || peak->per_second.value > best[at]->per_second.value))
			best[at] = peak;
	}
	for (size_t i = 0; i < NR(best); i++)
		if (best[i])
			highest[nr++] = best[i];
	return nr;
}

static void
print_ridges_of(const struct peak_list *list, int nr_threads, bool *is_first, FILE *out)
{
	autopool pool = {0};
	const struct peak *bandwidths[MOST_BORDERS];
	size_t nr = highest_bandwidths(list, nr_threads, bandwidths);
	struct text_table_column columns[2 + MOST_BORDERS] = {{"performance", true}, {"precision", true}};
	struct text_table table = {.columns = columns, .nr_columns = nr + 2, .nr_keys = 2};

	for (size_t k = 0; k < nr; k++)
		columns[k + 2].heading = pool_format(&pool, "%s%s%s", bandwidths[k]->name,
						     bandwidths[k]->mode[0] ? "\n" : "", bandwidths[k]->mode);
	for (size_t i = 0; nr > 0 && i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];
		struct peak_estimate intensity;
		char *cells[2 + MOST_BORDERS];

		if (!peak_ridge(peak, bandwidths[0], &intensity))
			continue;
		cells[0] = rot_strdup(peak->name);
		cells[1] = precision_cell(peak);
		for (size_t k = 0; k < nr; k++) {
			peak_ridge(peak, bandwidths[k], &intensity);
			cells[k + 2] = estimate_text(&intensity, 1);
		}
		text_table_add(&table, cells);
	}
	if (table.nr_rows > 0) {
		begin_part(is_first, out);
		fprintf(out, "Minimum arithmetic intensity [flop/byte] to reach a performance, %s\n\n",
			threads_text(&pool, nr_threads));
		text_table_print(&table, out);
	}
	text_table_clear(&table);
}

static void
print_ridges(const struct peak_list *list, bool *is_first, FILE *out)
{
	const int most = roof_nr_threads(list, INFINITY);

	for (int nr_threads = 1; nr_threads <= most; nr_threads++)
		print_ridges_of(list, nr_threads, is_first, out);
}

void
peaks_print_ridges(const struct peak_list *list, FILE *out)
{
	bool is_first = false;

	print_ridges(list, &is_first, out);
}

/* ---- over the number of threads ---- */

/* Columns of a row: what it is of, one for each number of threads, and what follows from them. */
enum { OF_NAME, OF_KIND, OF_MODE, NR_KEYS };
enum { FROM_FACTOR, FROM_SATURATION, NR_RESULTS };

/* Performance with the clock, since that is what more threads change of it. */
static char *
growth_cell(const struct growth *growth, int nr_threads)
{
	for (size_t i = 0; i < growth->nr; i++) {
		const struct peak *peak = growth->peaks[i];
		autofree char *rate = estimate_text(&peak->per_second, 1e-9);

		if (peak->nr_threads == nr_threads)
			return peak->kind == PEAK_PERFORMANCE && isfinite(peak->clock_hz)
				       ? rot_format("%s at %.2f", rate, peak->clock_hz / 1e9)
				       : (char *)rot_keep(&rate);
	}
	return rot_strdup("-");
}

static void
print_growths(const struct growth *growths, size_t nr, const int *threads, size_t nr_threads, FILE *out)
{
	const bool is_performance = growths[0].peaks[0]->kind == PEAK_PERFORMANCE;
	autopool pool = {0};
	const size_t nr_columns = NR_KEYS + nr_threads + NR_RESULTS;
	struct text_table_column *columns = pool_calloc(&pool, nr_columns, sizeof(*columns));
	struct text_table table = {.columns = columns, .nr_columns = nr_columns, .nr_keys = NR_KEYS};
	char **cells = pool_calloc(&pool, nr_columns, sizeof(*cells)), **results = cells + NR_KEYS + nr_threads;

	columns[OF_NAME] = (struct text_table_column){is_performance ? "performance" : "bandwidth", true};
	columns[OF_KIND] = (struct text_table_column){is_performance ? "precision" : "instruction\nset", true};
	columns[OF_MODE] = (struct text_table_column){"mode", true};
	for (size_t i = 0; i < nr_threads; i++)
		columns[NR_KEYS + i].heading = threads_text(&pool, threads[i]);
	columns[NR_KEYS + nr_threads + FROM_FACTOR].heading = "times\nthe first";
	columns[NR_KEYS + nr_threads + FROM_SATURATION].heading = "saturated\nfrom";
	for (size_t i = 0; i < nr; i++) {
		const struct growth *growth = &growths[i];

		cells[OF_NAME] = rot_strdup(growth->peaks[0]->name);
		cells[OF_KIND] =
			is_performance ? precision_cell(growth->peaks[0]) : instruction_set_cell(growth->peaks[0]);
		cells[OF_MODE] = rot_strdup(growth->mode);
		for (size_t k = 0; k < nr_threads; k++)
			cells[NR_KEYS + k] = growth_cell(growth, threads[k]);
		results[FROM_FACTOR] = isnan(growth->factor) ? rot_strdup("-") : rot_format("%.2f", growth->factor);
		results[FROM_SATURATION] =
			growth->saturated_from ? rot_format("%d", growth->saturated_from) : rot_strdup("no");
		text_table_add(&table, cells);
	}
	text_print(pool_format(&pool, "%s; saturated: the fewest threads that reach %.0f %% of the highest\n\n",
			       is_performance ? "Performance over the number of threads [Gflop/s], at the clock [GHz]"
					      : "Bandwidth over the number of threads [GB/s]",
			       100 * SATURATION_SHARE),
		   0, 0, out);
	text_table_print(&table, out);
	text_table_clear(&table);
}

/* Nothing where the numbers of threads are no sweep: two with others between them do not tell where growth stops. */
static void
print_growth(const struct peak_list *list, enum peak_kind kind, bool *is_first, FILE *out)
{
	autopool pool = {0};
	struct growth *growths;
	size_t nr = peaks_growths(&pool, list, kind, &growths);
	int *threads;
	size_t nr_threads = growths_threads(&pool, growths, nr, &threads);

	if (nr_threads <= 1 || (nr_threads == 2 && threads[1] != threads[0] + 1))
		return;
	begin_part(is_first, out);
	print_growths(growths, nr, threads, nr_threads, out);
}

/* ---- in short ---- */

/* "double", "llcRam load": what share a row of the summary; "" for peaks that are no part of it. */
static char *
group_of(struct pool *pool, const struct peak *peak)
{
	static const char *const accesses[] = {"load", "store", "chase"};

	if (peak->kind == PEAK_PERFORMANCE)
		return pool_own(pool, precision_cell(peak), free);
	for (size_t i = 0; i < NR(accesses); i++)
		if (strcmp(peak->access, accesses[i]) == 0)
			return pool_format(pool, "%s %s", peak->border, peak->access);
	return pool_strdup(pool, "");
}

/* The best of the group with that many threads, in any mode; NULL: there is none. */
static const struct peak *
best_of(const struct peak *const *peaks, char *const *groups, size_t nr, const char *group, int nr_threads)
{
	const struct peak *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (peaks[i]->nr_threads == nr_threads && strcmp(groups[i], group) == 0 &&
		    (!best || peak_is_better(best->kind, peaks[i]->per_second.value, best->per_second.value)))
			best = peaks[i];
	return best;
}

/*
 * Without an interval its runs were disturbed, and the machine reaches at least that. One that is another than what the
 * row is named for has its name.
 */
static char *
best_cell(const struct peak *peak, const struct peak *named)
{
	const bool is_other = peak && strcmp(peak->name, named->name) != 0;
	autofree char *text = peak ? estimate_text(&peak->per_second, kinds[peak->kind].factor) : NULL;

	if (!peak)
		return rot_strdup("-");
	return rot_format("%s%s%s%s", is_other ? peak->name : "", is_other ? ": " : "",
			  isnan(peak->per_second.low) && peak->kind != PEAK_LATENCY ? "at least " : "", text);
}

/* The best of each group with the fewest and the most threads, per second. */
static void
print_best(const struct peak_list *list, enum peak_kind kind, const int threads[2], bool *is_first, FILE *out)
{
	autopool pool = {0};
	const struct text_table_column columns[] = {{kinds[kind].summary, true},
						    {threads_text(&pool, threads[0]), false},
						    {threads_text(&pool, threads[1]), false},
						    {"of limit", false}};
	struct text_table table = {.columns = columns, .nr_columns = NR(columns), .nr_keys = 1};
	size_t nr;
	const struct peak **peaks = peaks_in_order(&pool, list, kind, &nr);
	char **groups = pool_calloc(&pool, nr, sizeof(*groups));

	for (size_t i = 0; i < nr; i++)
		groups[i] = group_of(&pool, peaks[i]);
	for (size_t i = 0; i < nr; i++) {
		const struct peak *least = best_of(peaks, groups, nr, groups[i], threads[0]), *most = NULL, *named;
		size_t first = 0;

		if (threads[1] > threads[0])
			most = best_of(peaks, groups, nr, groups[i], threads[1]);
		named = least ? least : most;
		while (strcmp(groups[first], groups[i]) != 0)
			first++;
		if (first < i || !groups[i][0] || !named)
			continue;
		text_table_add(&table, (char *[]){
					       kind == PEAK_PERFORMANCE ? rot_format("%s: %s", groups[i], named->name)
									: rot_strdup(named->name),
					       best_cell(least, named),
					       best_cell(most, named),
					       share_cell(named),
				       });
	}
	if (table.nr_rows > 0) {
		begin_part(is_first, out);
		text_table_print(&table, out);
	}
	text_table_clear(&table);
}

void
peaks_print(const struct peak_list *list, bool is_all, FILE *out)
{
	int threads[2] = {roof_nr_threads(list, 0), roof_nr_threads(list, INFINITY)};
	bool is_first = true;

	if (is_all) {
		print_table(list, PEAK_PERFORMANCE, &is_first, out);
		print_growth(list, PEAK_PERFORMANCE, &is_first, out);
		print_table(list, PEAK_BANDWIDTH, &is_first, out);
		print_growth(list, PEAK_BANDWIDTH, &is_first, out);
		print_table(list, PEAK_LATENCY, &is_first, out);
		print_ridges(list, &is_first, out);
	} else if (list->nr > 0) {
		for (enum peak_kind kind = 0; kind < NR_PEAK_KINDS; kind++)
			print_best(list, kind, threads, &is_first, out);
		text_print("\nall variants, peaks over threads, ridge points: --all", 0, 0, out);
	}
}

/* ---- data ---- */

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Members of a peak in JSON: their names, and the columns that have them. member NULL: the value itself. */
static const struct {
	const char *column, *key, *member;
} fields[] = {
	{"kind", "kind", NULL},
	{"name", "name", NULL},
	{"operation", "operation", NULL},
	{"border", "border", NULL},
	{"access", "access", NULL},
	{"instructionSet", "instructionSet", NULL},
	{"threads", "threads", NULL},
	{"mode", "mode", NULL},
	{"variant", "variant", NULL},
	{"bufferBytes", "bufferBytes", NULL},
	{"hugePages", "hugePages", NULL},
	{"perCycle", "perCycle", "value"},
	{"perCycleLow", "perCycle", "low"},
	{"perCycleHigh", "perCycle", "high"},
	{"perSecond", "perSecond", "value"},
	{"perSecondLow", "perSecond", "low"},
	{"perSecondHigh", "perSecond", "high"},
	{"perTscCycle", "perTscCycle", "value"},
	{"clockHz", "clockHz", NULL},
	{"clockSource", "clockSource", NULL},
	{"limitPerCycle", "limitPerCycle", NULL},
	{"limitSource", "limitSource", NULL},
	{"samples", "samples", NULL},
	{"tainted", "tainted", NULL},
	{"search", "search", NULL},
	{"remark", "remark", NULL},
};

/* Null is empty, an object is "dlp=12 unroll=4". Fresh memory. */
static char *
field_text(const json_t *value)
{
	char *text = NULL;
	const char *name;
	json_t *part;

	if (json_is_number(value))
		return rot_number_in_full(json_number_value(value));
	if (json_is_boolean(value))
		return rot_strdup(json_is_true(value) ? "true" : "false");
	json_object_foreach((json_t *)value, name, part)
		rot_append(&text, "%s%s=%lld", text ? " " : "", name, (long long)json_integer_value(part));
	return text ? text : rot_strdup(json_string_value(value));
}

void
peaks_print_csv(const struct peak_list *list, FILE *out)
{
	struct text_table_column columns[NR(fields)];
	struct text_table table = {.columns = columns, .nr_columns = NR(fields)};
	char *cells[NR(fields)];

	for (size_t k = 0; k < NR(fields); k++)
		columns[k] = (struct text_table_column){fields[k].column, true};
	for (size_t i = 0; i < list->nr; i++) {
		json_auto_t *peak = peak_json(&list->peaks[i]);

		for (size_t k = 0; k < NR(fields); k++) {
			const json_t *value = json_object_get(peak, fields[k].key);

			cells[k] = field_text(fields[k].member ? json_object_get(value, fields[k].member) : value);
		}
		text_table_add(&table, cells);
	}
	text_table_print_csv(&table, out);
	text_table_clear(&table);
}

/* All pairs of the list that have a ridge point. A bandwidth of several modes has a pair for each. */
static json_t *
ridges_json(const struct peak_list *list)
{
	json_t *json = json_array();

	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < list->nr; k++) {
			const struct peak *performance = &list->peaks[i], *bandwidth = &list->peaks[k];
			struct peak_estimate intensity;

			if (!peak_ridge(performance, bandwidth, &intensity))
				continue;
			json_array_append_new(
				json, json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:s, s:o, s:o, s:o}", "performance",
						json_text(performance->name), "operation",
						json_text(performance->operation), "bandwidth",
						json_text(bandwidth->name), "border", json_text(bandwidth->border),
						"threads", performance->nr_threads, "mode", json_text(bandwidth->mode),
						"unit", "flop/byte", "value", json_number(intensity.value), "low",
						json_number(intensity.low), "high", json_number(intensity.high)));
		}
	return json;
}

static json_t *
growths_json(const struct peak_list *list)
{
	json_t *json = json_array();
	autopool pool = {0};
	struct growth *growths;
	const size_t nr = peaks_growths(&pool, list, PEAK_BANDWIDTH, &growths);

	for (size_t i = 0; i < nr; i++) {
		const struct growth *growth = &growths[i];
		const struct peak *peak = growth->peaks[0];
		json_t *threads = json_array(), *rates = json_array();

		for (size_t k = 0; k < growth->nr; k++) {
			json_array_append_new(threads, json_integer(growth->peaks[k]->nr_threads));
			json_array_append_new(rates, json_number(growth->peaks[k]->per_second.value));
		}
		json_array_append_new(
			json,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bandwidth", json_text(peak->name),
				  "border", json_text(peak->border), "access", json_text(peak->access),
				  "instructionSet", json_text(peak->instruction_set), "mode", json_text(growth->mode),
				  "threads", threads, "perSecond", rates, "saturatedFrom",
				  growth->saturated_from ? json_integer(growth->saturated_from) : json_null()));
	}
	return json;
}

json_t *
peaks_json(const struct rot *rot, const struct peak_list *list)
{
	json_t *peaks = json_array();

	for (size_t i = 0; i < list->nr; i++)
		json_array_append_new(peaks, peak_json(&list->peaks[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "rot.peaks/1", "machine", json_entity(rot->machine),
			 "peaks", peaks, "ridges", ridges_json(list), "growths", growths_json(list));
}
