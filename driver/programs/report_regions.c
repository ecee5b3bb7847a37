/* SPDX-License-Identifier: MIT */
/* A region: hits, values, threads, and how it was observed and what that cost. */
#include "programs/report_regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "programs/report_rows.h"
#include "support/entry.h"

/* More places than this are counted only. */
#define MAX_PLACES_SHOWN 4

/* ---- what was measured ---- */

static void
print_time_of_hit(const struct program_region *region, FILE *out)
{
	static const struct {
		const char *unit;
		double us;
	} units[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"ns", 0}};
	const double us = program_region_hit_us(region);
	size_t i = 0;

	while (us < units[i].us)
		i++;
	report_row_number(out, "time of a hit", us / (units[i].us > 0 ? units[i].us : 1e-3), units[i].unit);
}

static void
print_hits(const struct program_region *region, FILE *out)
{
	static const struct {
		enum program_hits kind;
		const char *label;
	} rows[] = {
		{HITS_MEASURED, "measured hits"},
		{HITS_INNER, "hits within these (recursion)"},
		{HITS_ABANDONED, "abandoned hits"},
		{HITS_LOST, "lost hits"},
	};
	const double all = region->hits[HITS_ALL];

	report_row_number(out, "hits", all, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (region->hits[rows[i].kind] != (rows[i].kind == HITS_MEASURED ? all : 0))
			report_row_number(out, rows[i].label, region->hits[rows[i].kind], "");
	report_row_number(out, "threads", (double)region->nr_entered, "");
}

static void
print_values(const struct program_region *region, bool is_all, FILE *out)
{
	const struct quantity_value *time = &region->total.values[0];

	if (region->nr_entered > 1)
		report_row_number(out, "threads at once", region->at_once, "");
	report_row_time(out, region->nr_entered > 1 ? "time with any thread in it" : "time", time);
	report_row_share(out,
			 region->nr_entered > 1 ? "share of the lives of these threads" : "share of the thread's life",
			 region->time_share);
	print_time_of_hit(region, out);
	report_row_values(out, &region->total, is_all);
	if (!isnan(region->roof_share))
		report_row_share(out, "share of the roof", region->roof_share);
}

static void
print_threads(const struct program_region *region, bool is_all, FILE *out)
{
	struct report_thread *threads = rot_calloc(region->nr_threads + 1, sizeof(*threads));

	for (size_t i = 0; i < region->nr_threads; i++)
		threads[i] = (struct report_thread){&region->threads[i].values, region->threads[i].hits[HITS_ALL]};
	if (region->nr_threads > 1)
		report_threads(out, threads, region->nr_threads, is_all);
	free(threads);
}

/* ---- how it was observed ---- */

static void
print_places(const struct region_service *service, FILE *out)
{
	size_t nr = region_service_nr_places(service);
	char *text = rot_format("observed by %s at ", service->backend), *longer;

	for (size_t i = 0; i < nr && i < MAX_PLACES_SHOWN; i++) {
		longer = rot_format("%s%s%s", text, i ? ", " : "", region_service_places_at(service, i));
		free(text);
		text = longer;
	}
	if (nr > MAX_PLACES_SHOWN) {
		longer = rot_format("%s and %zu more places", text, nr - MAX_PLACES_SHOWN);
		free(text);
		text = longer;
	}
	text_print_behind(" ", text, out);
	free(text);
}

static void
print_cost(const struct program_region *region, FILE *out)
{
	char *hits, *share, *text;

	if (isnan(region->cost_ns))
		return;
	hits = rot_number_in_full(region->hits[HITS_ALL]);
	share = isnan(region->cost_share)
			? rot_strdup("")
			: rot_format(": %.2g %% of the %s", 100 * region->cost_share,
				     region->nr_entered > 1 ? "life of the thread with the most" : "thread's life");
	text = rot_format("a hit costs %.3g us; %s of them%s", region->cost_ns * 1e-3, hits, share);
	text_print_behind(" ", text, out);
	fputs("  subtracted for each, as in an empty region: ", out);
	if (!isnan(region->empty_instructions))
		fprintf(out, "%.4g instructions, ", region->empty_instructions);
	fprintf(out, "%.4g us\n", region->empty_ns * 1e-3);
	free(text);
	free(share);
	free(hits);
}

static void
print_refusals(const struct program_region *region, FILE *out)
{
	for (size_t i = 0; region->service && i < region_service_nr_refusals(region->service); i++)
		text_print_behind(" ", region_service_refusals_at(region->service, i), out);
}

/* ---- where nothing was measured ---- */

static void
print_unserved(const struct program_region *region, FILE *out)
{
	fprintf(out, "  region %s was not measured\n", region->definition->name);
	print_refusals(region, out);
	if (!region->service || region_service_nr_refusals(region->service) == 0)
		fprintf(out, "  it was found in no program that ran; nm -C FILE and nm -DC FILE list functions\n");
}

void
report_regions_print_unserved(const struct program_report *report, FILE *out)
{
	for (size_t i = 0; i < report->regions.nr; i++)
		if (!program_region_is_served(&report->regions.items[i]))
			print_unserved(&report->regions.items[i], out);
}

static void
print_never_entered(const struct program_region *region, FILE *out)
{
	text_print_behind(" ",
			  "never entered; the compiler may have put a copy of the function into its callers "
			  "(FILE:LINE finds these), or another version of it is used",
			  out);
	print_places(region->service, out);
	print_refusals(region, out);
}

static void
print_unmeasured(const struct program_region *region, FILE *out)
{
	const struct region *definition = region->definition;

	print_hits(region, out);
	if (region->hits[HITS_ABANDONED] == 0)
		fprintf(out, "\n  none of the hits was measured: those from number %lld on are, of each thread\n",
			(long long)definition->first_hit);
	else
		fprintf(out, "\n  none of the hits was measured: they were not left where the region ends\n");
	print_places(region->service, out);
	print_refusals(region, out);
}

static void
print_measured(const struct program_region *region, bool is_all, FILE *out)
{
	if (region->bound[0]) {
		text_print_behind(" ", region->bound, out);
		fputc('\n', out);
	}
	print_hits(region, out);
	print_values(region, is_all, out);
	print_threads(region, is_all, out);
	fputc('\n', out);
	print_places(region->service, out);
	print_refusals(region, out);
	print_cost(region, out);
}

static void
print_region(const struct program_region *region, bool is_all, FILE *out)
{
	if (!program_region_is_served(region))
		return;
	fprintf(out, "\n  region %s\n%s", region->definition->name, region->bound[0] ? "" : "\n");
	if (region->hits[HITS_ALL] == 0)
		print_never_entered(region, out);
	else if (!region->total.nr)
		print_unmeasured(region, out);
	else
		print_measured(region, is_all, out);
}

void
report_regions_print(const struct program_report *report, FILE *out)
{
	for (size_t i = 0; i < report->regions.nr; i++)
		print_region(&report->regions.items[i], report->is_all, out);
}
