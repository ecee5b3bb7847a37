/* SPDX-License-Identifier: MIT */
/* The roof in short: the best of each precision, and of each level its loads, stores and latency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "peaks/present.h"
#include "peaks/present_cells.h"
#include "support/text_table.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

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
	char *own = peak->kind == kind ? group_of(peak) : rot_strdup("");
	const bool is_it = *own && strcmp(own, group) == 0;

	free(own);
	return is_it;
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
name_of(const struct peak *peak, const char *group)
{
	return peak->kind == PEAK_PERFORMANCE ? rot_format("%s: %s", group, peak->name) : rot_strdup(peak->name);
}

/* Without an interval its runs were disturbed, and the machine reaches at least that. */
static char *
value_cell(const struct peak *peak)
{
	char *text = estimate_text(&peak->per_second, kinds[peak->kind].factor), *cell;

	cell = rot_format("%s%s", isnan(peak->per_second.low) && peak->kind != PEAK_LATENCY ? "at least " : "", text);
	free(text);
	return cell;
}

static void
add_row(struct text_table *table, const struct peak *const best[2])
{
	const struct peak *any = best[0] ? best[0] : best[1];
	const double share = 100 * any->per_cycle.value / any->limit_per_cycle;
	char *group = group_of(any), *cells[4] = {name_of(any, group)};

	for (int i = 0; i < 2; i++)
		cells[1 + i] = best[i] ? value_cell(best[i]) : rot_strdup("-");
	cells[3] = isnan(share) ? rot_strdup("-") : rot_format("%.1f %%", share);
	text_table_add(table, cells);
	free(group);
}

/* A row a group, in the order of the table with all peaks. */
static void
add_rows(struct text_table *table, const struct peak_list *list, enum peak_kind kind, const int threads[2])
{
	size_t nr;
	const struct peak **peaks = peaks_in_order(list, kind, &nr);

	for (size_t i = 0; i < nr; i++) {
		char *group = group_of(peaks[i]);
		const struct peak *best[2] = {best_of(list, kind, group, threads[0]), NULL};
		size_t first = 0;

		if (threads[1] > threads[0])
			best[1] = best_of(list, kind, group, threads[1]);
		while (first < i && !is_of_group(peaks[first], kind, group))
			first++;
		if (first == i && (best[0] || best[1]))
			add_row(table, best);
		free(group);
	}
	free(peaks);
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

void
peaks_print_summary(const struct peak_list *list, FILE *out)
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
