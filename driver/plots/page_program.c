/* SPDX-License-Identifier: MIT */
/* The parts that only results of programs have: findings and regions, and how these were observed. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "memory.h"
#include "plots/page_internal.h"

/* A heading and a table with a row for each item; nothing where there are none. */
static void
write_rows(xmlTextWriterPtr out, const char *heading, const char *name, const char *const *columns, size_t nr_columns,
	   const json_t *list, void (*write_cells)(struct page_table *table, const json_t *item))
{
	struct page_table table = {out, columns, nr_columns, 0};

	if (json_array_size(list) == 0)
		return;
	html_element(out, "h3", NULL, heading);
	page_table_begin(&table, name);
	for (size_t i = 0; i < json_array_size(list); i++) {
		page_row_begin(&table, NULL);
		write_cells(&table, json_array_get(list, i));
		page_row_end(&table);
	}
	page_end_table(out);
}

/* ---- regions ---- */

static void
write_region(struct page_table *table, const json_t *region)
{
	const char *bound = json_text_at(region, "bound");
	const bool is_served = strcmp(json_text_at(region, "backend"), "none") != 0;
	const char *verdict = *bound                               ? bound
			      : !is_served                         ? "was not measured"
			      : json_number_at(region, "hits") > 0 ? "what bounds it is not known"
								   : "was never entered";

	page_cell(table, "stays", json_text_at(region, "name"));
	page_cell_whole(table, json_number_at(region, "hits"));
	page_cell_whole(table, json_number_at(region, "nrThreads"));
	page_cell_number(table, json_number_at(region, "threadsAtOnce"));
	page_cell_number(table, 100 * json_number_at(region, "timeShare"));
	page_cell_number(table, 100 * json_number_at(region, "roofShare"));
	page_cell(table, "words", verdict);
}

static void
write_regions(xmlTextWriterPtr out, const json_t *result)
{
	static const char *const headings[] = {"region",           "hits",      "threads", "threads at once",
					       "of their lives|%", "of roof|%", "verdict"};

	write_rows(out, "Regions", "regions", headings, sizeof(headings) / sizeof(*headings),
		   json_object_get(result, "regions"), write_region);
}

/* ---- findings ---- */

/* A condition, so that the threshold behind it says when it is met. */
static void
write_finding(struct page_table *table, const json_t *finding)
{
	autofree char *threshold = rot_format("%s %g %s", json_text_at(finding, "condition"),
					      json_number_at(finding, "threshold"), json_text_at(finding, "unit"));

	page_cell(table, "stays", json_text_at(finding, "place"));
	page_cell_number(table, 100 * json_number_at(finding, "share"));
	page_cell(table, "words", json_text_at(finding, "measured"));
	page_cell(table, "words", json_text_at(finding, "consequence"));
	page_cell(table, "words", json_text_at(finding, "advice"));
	page_cell(table, "words", threshold);
}

static void
write_findings(xmlTextWriterPtr out, const json_t *result)
{
	static const char *const headings[] = {"found in",    "of the time|%", "measured",
					       "consequence", "try",           "condition"};

	write_rows(out, "Findings", "findings", headings, sizeof(headings) / sizeof(*headings),
		   json_object_get(result, "findings"), write_finding);
}

/* ---- misses by kind ---- */

/* Tables of code and data have so many rows, those with most misses. */
#define MOST_SHARES 20

/* Cells of lines by kind. */
static void
write_kinds(struct page_table *table, const json_t *level)
{
	static const char *const kinds[] = {"compulsory", "capacity", "conflict"};
	double all = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		all += json_number_at(level, kinds[i]);
	page_cell_whole(table, all);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		page_cell_number(table, all > 0 ? 100 * json_number_at(level, kinds[i]) / all : NAN);
}

/* what: "function". */
static void
write_shares(xmlTextWriterPtr out, const char *what, const json_t *shares)
{
	const size_t nr = json_array_size(shares);
	const json_t *first = json_array_get(json_object_get(json_array_get(shares, 0), "levels"), 0);
	autofree char *misses = rot_format("misses of the L%.0f", json_number_at(first, "level"));
	autofree char *caption = rot_format("By %s", what);
	const char *const headings[] = {what,         misses,         "compulsory|%", "capacity|%",
					"conflict|%", "written back", "where"};
	struct page_table table = {out, headings, sizeof(headings) / sizeof(*headings), 0};

	if (nr == 0)
		return;
	html_element(out, "h4", NULL, caption);
	page_table_begin(&table, caption);
	for (size_t i = 0; i < nr && i < MOST_SHARES; i++) {
		const json_t *share = json_array_get(shares, i),
			     *level = json_array_get(json_object_get(share, "levels"), 0);
		const double number = json_number_at(share, "number");
		const char *name = json_text_at(share, "name"), *slash = strrchr(json_text_at(share, "file"), '/');
		autofree char *title =
			number > 0 ? rot_format("thread %.0f", number) : rot_strdup(*name ? name : "not known");

		page_row_begin(&table, NULL);
		page_cell(&table, "stays", title);
		write_kinds(&table, level);
		page_cell_whole(&table, json_number_at(level, "writeBacks"));
		page_cell(&table, "line", slash ? slash + 1 : json_text_at(share, "file"));
		page_row_end(&table);
	}
	page_end_table(out);
	if (nr > MOST_SHARES) {
		autofree char *text = rot_format("%d of %zu: those with most misses.", MOST_SHARES, nr);

		html_element(out, "p", "small", text);
	}
}

static void
write_level(struct page_table *table, const json_t *level)
{
	autofree char *name = rot_format("L%.0f", json_number_at(level, "level"));

	page_cell(table, "stays", name);
	write_kinds(table, level);
}

static void
write_misses(xmlTextWriterPtr out, const json_t *result)
{
	static const char *const headings[] = {"cache", "misses", "compulsory|%", "capacity|%", "conflict|%"};
	static const char *const lists[][2] = {
		{"function", "functions"}, {"loop", "loops"}, {"object", "objects"}, {"thread", "threads"}};
	const json_t *levels = json_object_get(result, "missKinds"), *by = json_object_get(result, "missesBy");

	write_rows(out, "Why lines were missing in the modelled caches", "misses by kind", headings,
		   sizeof(headings) / sizeof(*headings), levels, write_level);
	for (size_t i = 0; json_array_size(levels) > 0 && i < sizeof(lists) / sizeof(*lists); i++)
		write_shares(out, lists[i][0], json_object_get(by, lists[i][1]));
}

static void
write_what_if(struct page_table *table, const json_t *what_if)
{
	const json_t *borders = json_object_get(what_if, "borders");

	page_cell(table, "stays", json_text_at(what_if, "caches"));
	for (size_t i = 0; i < json_array_size(borders); i++) {
		const json_t *border = json_array_get(borders, i);
		const double bytes = json_number_at(border, "readBytes") + json_number_at(border, "writtenBytes");

		page_cell_number(table, bytes * 1e-6);
		page_cell_number(table, json_number_at(border, "misses") * 1e-6);
	}
	page_cell_number(table, json_number_at(what_if, "tlbMisses") * 1e-6);
}

static void
write_what_ifs(xmlTextWriterPtr out, const json_t *what_ifs)
{
	static const char *const headings[] = {"caches",         "L1-L2|MB",   "misses|million", "L2-L3|MB",
					       "misses|million", "LLC-RAM|MB", "misses|million", "TLB misses|million"};

	write_rows(out, "What other caches would move", "other caches", headings, sizeof(headings) / sizeof(*headings),
		   what_ifs, write_what_if);
}

void
page_write_program(xmlTextWriterPtr out, const json_t *result, const struct rot *rot, size_t number)
{
	autopool pool = {0};
	const struct page_codes codes = page_codes_of(&pool, rot, result, number);
	const char *bound = json_text_at(result, "bound");

	if (*bound)
		html_element(out, "p", "verdict", bound);
	write_findings(out, result);
	page_write_places(out, result, &codes);
	page_write_codes(out, &codes);
	write_what_ifs(out, json_object_get(result, "whatIfs"));
	write_misses(out, result);
	write_regions(out, result);
}

/* ---- how it was observed ---- */

/* "a, b, c and 2 more"; fresh memory. */
static char *
list_text(const json_t *texts, size_t most)
{
	const size_t nr = json_array_size(texts);
	char *text = rot_strdup("");

	for (size_t i = 0; i < nr && i < most; i++)
		rot_append(&text, "%s%s", i ? ", " : "", json_string_value(json_array_get(texts, i)));
	if (nr > most)
		rot_append(&text, " and %zu more", nr - most);
	return text;
}

static void
add_region(struct pool *pool, struct texts *texts, const json_t *region)
{
	autofree char *places = list_text(json_object_get(region, "places"), 4), *line = NULL;
	const double cost_ns = json_number_at(region, "costPerHit"),
		     empty_ns = json_number_at(json_object_get(region, "subtractedPerHit"), "time");
	const json_t *refusals = json_object_get(region, "refusals");

	line = rot_format("Region %s: observed by %s%s%s.", json_text_at(region, "name"),
			  json_text_at(region, "backend"), *places ? " at " : "", places);
	if (isfinite(cost_ns))
		rot_append(&line, " A hit costs the program %.3g us.", cost_ns * 1e-3);
	if (isfinite(empty_ns))
		rot_append(&line, " The %.3g us of an empty region are subtracted for each hit.", empty_ns * 1e-3);
	texts_add(pool, texts, line);
	for (size_t i = 0; i < json_array_size(refusals); i++)
		texts_add(pool, texts, json_string_value(json_array_get(refusals, i)));
}

static void
add_sampling(struct pool *pool, struct texts *texts, const json_t *places)
{
	autofree char *line = NULL;

	if (*json_text_at(places, "refusal")) {
		texts_add(pool, texts, json_text_at(places, "refusal"));
		return;
	}
	if (!(json_number_at(places, "samples") > 0))
		return;
	line = rot_format("CPU time by function: %.0f samples of the CPU clock in %.3g s of CPU time (%.3g s of wall "
			  "time). Shares have binomial intervals of 95 %%.",
			  json_number_at(places, "samples"), json_number_at(places, "cpuTime"),
			  json_number_at(places, "wallTime"));
	if (json_number_at(places, "lostRecords") > 0)
		rot_append(&line, " Records that were lost: %.0f.", json_number_at(places, "lostRecords"));
	texts_add(pool, texts, line);
}

void
page_add_observations(struct pool *pool, struct texts *texts, const json_t *result)
{
	static const char *const countings[][2] = {
		{"events", "Operations and bytes are counted by events of the processor, in the timed runs."},
		{"blocks",
		 "Operations and bytes are counted by blocks of the code, in a run of its own that is not timed. "
		 "Rates are these counts by the times of the other runs."},
		{"steps", "Regions are counted by blocks of the code, in a run of its own that is not timed."},
		{"none", "Operations and bytes are not counted."},
	};
	const json_t *places = json_object_get(result, "functions"), *regions = json_object_get(result, "regions");
	const double stopped = json_number_at(result, "stoppedShare");

	for (size_t i = 0; i < sizeof(countings) / sizeof(*countings); i++)
		if (strcmp(json_text_at(result, "counting"), countings[i][0]) == 0)
			texts_add(pool, texts, countings[i][1]);
	add_sampling(pool, texts, places);
	for (size_t i = 0; i < json_array_size(regions); i++)
		add_region(pool, texts, json_array_get(regions, i));
	if (isfinite(stopped)) {
		autofree char *line =
			rot_format("Stops by tracing took %.2g %% of the lives of the threads.", 100 * stopped);

		texts_add(pool, texts, line);
	}
}
