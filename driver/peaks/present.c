/* SPDX-License-Identifier: MIT */
/* Peaks as tables for people. Columns are rows of tables: a heading, and what stands in a cell. */
#include "peaks/present.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "peaks/present_cells.h"
#include "peaks/ridges.h"
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

char *
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

char *
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
	char *text, *marked;

	if (!isnan(peak->per_cycle.value) || isnan(peak->per_tsc_cycle.value))
		return estimate_text(&peak->per_cycle, 1);
	notes->has_tsc = true;
	text = estimate_text(&peak->per_tsc_cycle, 1);
	marked = rot_format("%s (t)", text);
	free(text);
	return marked;
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
		char *mark = rot_format("(%zu)", i + 1);

		text_print_behind(mark, notes->texts[i], out);
		free(mark);
	}
	if (notes->has_tsc) {
		char *meaning = rot_format("%s per cycle of the time stamp counter: the clock of the core is not known "
					   "here",
					   unit);

		text_print_behind("(t)", meaning, out);
		free(meaning);
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

const struct peak **
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
	struct text_table_column *plain = rot_calloc(nr_columns, sizeof(*plain));
	struct text_table table = {.columns = plain, .nr_columns = nr_columns, .nr_keys = nr_keys};
	char **cells = rot_calloc(nr_columns, sizeof(*cells));
	struct notes notes = {.nr = 0};
	bool has_huge_pages = false;
	size_t nr;
	const struct peak **peaks = peaks_in_order(list, kind, &nr);

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
	free(peaks);
	free(cells);
	free(plain);
}

void
peaks_print_performance(const struct peak_list *list, FILE *out)
{
	print_table(list, PEAK_PERFORMANCE, performance_columns, NR(performance_columns), 4,
		    "Peak performance, per core cycle of one thread and per second of all", "operations", out);
}

void
peaks_print_bandwidth(const struct peak_list *list, FILE *out)
{
	print_table(list, PEAK_BANDWIDTH, bandwidth_columns, NR(bandwidth_columns), 4,
		    "Peak bandwidth of what the program loads and stores, per core cycle of one thread and per second "
		    "of all",
		    "bytes", out);
}

void
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
	struct ridge *ridges;
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
	free(ridges);
}

typedef void print_part(const struct peak_list *list, FILE *out);

static bool
says_something(print_part *part, const struct peak_list *list)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return false;
	part(list, out);
	fclose(out);
	free(text);
	return length > 0;
}

void
peaks_print(const struct peak_list *list, bool is_all, FILE *out)
{
	static print_part *const parts[] = {peaks_print_performance, peaks_print_bandwidth, peaks_print_growth,
					    peaks_print_latency, peaks_print_ridges};
	bool is_first = true;

	if (!is_all && list->nr > 0) {
		peaks_print_summary(list, out);
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
