/* SPDX-License-Identifier: MIT */
/* Where a program's time went: tables of its functions and loops. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "memory.h"
#include "number.h"
#include "plots/page_internal.h"
#include "quantities/quantity.h"
#include "quantities/value_text.h"

/* The tables have so many, those with most of the time. */
#define MOST_FUNCTIONS 100
#define MOST_LOOPS 50

/* ---- cells ---- */

/* The sum of several events; NaN: they were not counted. */
static double
count_of(const json_t *place, const char *const *events, size_t nr)
{
	const json_t *counts = json_object_get(place, "counts");
	double sum = json_is_object(counts) ? 0 : NAN;

	for (size_t i = 0; i < nr; i++)
		sum += json_number_at(counts, events[i]);
	return sum;
}

static double
operations_of(const json_t *place)
{
	static const char *const flops[] = {"scalarDouble", "packedDouble", "scalarSingle", "packedSingle"};

	return count_of(place, flops, sizeof(flops) / sizeof(*flops));
}

/* The first quantity of that name of the whole program, with its unit; false: there is none. */
static bool
find_value(const json_t *result, const char *name, struct quantity_value *value)
{
	const json_t *quantities = json_object_get(json_array_get(json_object_get(result, "points"), 0), "quantities");
	bool is_found = false;

	*value = (struct quantity_value){.unit = NULL};
	for (size_t i = 0; !is_found && i < json_array_size(quantities); i++) {
		const json_t *quantity = json_array_get(quantities, i);

		if (strcmp(json_text_at(quantity, "name"), name) != 0)
			continue;
		is_found = stored_value(quantity, value) == 0;
	}
	return is_found;
}

/* Cells that only programs with operations on floating-point numbers have. */
static void
write_flops(struct page_table *table, const json_t *place, double rate_factor)
{
	static const char *const packed[] = {"packedDouble", "packedSingle"}, *const rates[] = {"performance",
												"performanceLow",
												"performanceHigh"};
	const bool has_no_bytes = json_is_true(json_object_get(place, "infiniteIntensity"));
	const bool is_most = json_is_true(json_object_get(json_object_get(place, "roof"), "isLeast"));
	const double operations = operations_of(place), share = 100 * json_number_at(place, "roofShare");
	autofree char *digits = digits_text(share, 3), *text = rot_format("%s%s", is_most ? VALUE_AT_MOST : "", digits);

	page_cell_interval(table, place, rates, rate_factor);
	page_cell_number(table, has_no_bytes ? INFINITY : json_number_at(place, "operationalIntensity"));
	page_cell_sorted(table, share, text);
	page_cell(table, "line", *json_text_at(place, "boundBy") ? json_text_at(place, "boundBy") : "-");
	page_cell_whole(table, operations);
	page_cell_number(table, operations > 0 ? 100 * count_of(place, packed, 2) / operations : NAN);
}

static void
write_work(struct page_table *table, const json_t *place)
{
	static const char *const loads[] = {"loadedBytes"}, *const stores[] = {"storedBytes"},
				 *const instructions[] = {"instructions"};

	page_cell_whole(table, count_of(place, instructions, 1));
	page_cell_whole(table, count_of(place, loads, 1));
	page_cell_whole(table, count_of(place, stores, 1));
	page_cell_whole(table,
			json_is_object(json_object_get(place, "counts")) ? json_number_at(place, "entries") : NAN);
	page_cell_whole(table, json_number_at(place, "samples"));
}

/* "solver, solve.c:17-20". Fresh memory. */
static char *
where_text(const json_t *place)
{
	const double line = json_number_at(place, "line"), last = json_number_at(place, "lastLine");
	const char *source = json_text_at(place, "source"), *inlined = json_text_at(place, "inlined");
	char *text = rot_strdup(function_file(place));

	if (*source)
		rot_append(&text, last > line ? ", %s:%.0f-%.0f" : ", %s:%.0f", source, line, last);
	if (*inlined)
		rot_append(&text, ", inlined %s", inlined);
	return text;
}

/* ---- rows ---- */

/* The tables of functions and loops. rate_factor: of rates, as their heading has the unit. */
struct places {
	const struct page_codes *codes;
	struct page_table table;
	double rate_factor;
	bool has_flops, has_trips; /* of loops: ranges of turns */
};

/* The mean; and where it is known, by powers of two, how many half of the entries make, and how many all do. */
static void
write_turns(struct places *places, const json_t *loop)
{
	const json_t *trips = json_object_get(loop, "trips");
	const double entries = json_number_at(loop, "entries");
	const size_t nr = json_array_size(trips);
	size_t first = 0, middle = 0;
	double nr_seen = nr > 0 ? json_number_value(json_array_get(trips, 0)) : 0;

	page_cell_number(&places->table, entries > 0 ? json_number_at(loop, "turns") / entries : NAN);
	if (!places->has_trips)
		return;
	while (first + 1 < nr && !(json_number_value(json_array_get(trips, first)) > 0))
		first++;
	while (middle + 1 < nr && nr_seen < entries / 2)
		nr_seen += json_number_value(json_array_get(trips, ++middle));
	autofree char *median = trips_text(middle, middle), *range = trips_text(first, nr - 1);

	page_cell_sorted(&places->table, nr > 0 ? ldexp(1, (int)middle) : NAN, nr > 0 ? median : "-");
	page_cell_sorted(&places->table, nr > 0 ? ldexp(1, (int)nr) : NAN, nr > 0 ? range : "-");
}

/* header: of a loop; 0: a function. id: of the row, or NULL. */
static void
write_place(struct places *places, const json_t *place, const char *id, const char *title, uint64_t header)
{
	static const char *const shares[] = {"share", "low", "high"}, *const totals[] = {"totalShare", "totalLow",
											 "totalHigh"};
	autofree char *code = page_code_id(places->codes, place, header), *where = where_text(place);
	struct page_table *table = &places->table;

	page_row_begin(table, id);
	if (code)
		page_cell_link(table, "stays", title, code);
	else
		page_cell(table, "stays", title);
	page_cell_interval(table, place, shares, 100);
	if (header == 0)
		page_cell_interval(table, place, totals, 100);
	else
		write_turns(places, place);
	if (places->has_flops)
		write_flops(table, place, places->rate_factor);
	write_work(table, place);
	page_cell(table, "line", where);
	page_row_end(table);
}

/* Names of what is in no function of a file, and the share under the key. */
static void
write_rest(struct page_table *table, const char *name, const json_t *share)
{
	static const char *const keys[] = {"share", "low", "high"};

	if (!(json_number_at(share, "share") > 0))
		return;
	page_row_begin(table, NULL);
	page_cell(table, "stays", name);
	page_cell_interval(table, share, keys, 100);
	page_row_end(table);
}

static void
write_others(struct page_table *table, const json_t *places)
{
	static const char *const names[][2] = {{"[kernel]", "the kernel"},
					       {"[vdso]", "vdso of the kernel"},
					       {"[anonymous]", "code made at run time, without names"},
					       {"[unknown]", "unknown code"}};
	const json_t *others = json_object_get(places, "others");
	const bool has_kernel = json_is_true(json_object_get(places, "hasKernel"));

	for (size_t i = 0; i < json_array_size(others); i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (strcmp(json_text_at(json_array_get(others, i), "object"), names[k][0]) == 0)
				write_rest(table, names[k][1], json_array_get(others, i));
	write_rest(table, has_kernel ? "without a sample" : "the kernel, without a sample",
		   json_object_get(places, "missing"));
}

/* ---- tables ---- */

static void
write_functions(struct places *places, const json_t *json)
{
	const json_t *functions = json_object_get(json, "functions"), *place;
	const size_t nr = json_array_size(functions);
	size_t nr_shown = 0;
	autofree char *text = NULL;

	html_element(places->table.out, "h3", NULL, "Functions");
	page_table_begin(&places->table, "functions");
	for (; nr_shown < nr && nr_shown < MOST_FUNCTIONS; nr_shown++) {
		autofree char *id = rot_format("place-%zu-%zu", places->codes->result, nr_shown), *title = NULL;

		place = json_array_get(functions, nr_shown);
		if (!(json_number_at(place, "samples") > 0))
			break;
		title = function_title(place, 0);
		write_place(places, place, id, title, 0);
	}
	write_others(&places->table, json);
	page_end_table(places->table.out);
	text = rot_format("%zu of %zu function%s: those with most samples. Total: with callees. A click on a heading "
			  "sorts. -: not counted or not known.",
			  nr_shown, nr, rot_plural((double)nr));
	html_element(places->table.out, "p", "small", text);
}

static void
write_loops(struct places *places, const json_t *json)
{
	const json_t *loops = json_object_get(json, "loops"), *place;
	size_t i, nr = 0;

	json_array_foreach(loops, i, place) {
		autofree char *title = NULL, *id = NULL;

		if (!(json_number_at(place, "header") > 0 && json_number_at(place, "samples") > 0) || nr == MOST_LOOPS)
			continue;
		if (nr++ == 0) {
			html_element(places->table.out, "h3", NULL, "Loops");
			page_table_begin(&places->table, "loops");
		}
		id = rot_format("loop-%zu-%zu", places->codes->result, i);
		title = place_title(place, 0);
		write_place(places, place, id, title, (uint64_t)json_number_at(place, "header"));
	}
	if (nr == 0)
		return;
	page_end_table(places->table.out);
	html_element(places->table.out, "p", "small", "Loops without their inner ones.");
}

static bool
have_flops(const json_t *functions)
{
	const json_t *place;
	size_t i;

	json_array_foreach(functions, i, place) {
		if (operations_of(place) > 0 || json_number_at(place, "performance") > 0)
			return true;
	}
	return false;
}

static bool
have_trips(const json_t *loops)
{
	const json_t *loop;
	size_t i;

	json_array_foreach(loops, i, loop) {
		if (json_array_size(json_object_get(loop, "trips")) > 0)
			return true;
	}
	return false;
}

void
page_write_places(xmlTextWriterPtr out, const json_t *result, const struct page_codes *codes)
{
	const json_t *json = json_object_get(result, "functions");
	struct quantity_value performance, intensity;
	struct shown_unit unit;
	struct places places = {.codes = codes};
	autofree char *rate = NULL, *per_byte = NULL;

	if (!(json_number_at(json, "samples") > 0))
		return;
	find_value(result, "performance", &performance);
	find_value(result, "operationalIntensity", &intensity);
	unit = shown_unit(performance.unit ? performance.unit : "");
	rate = rot_format("performance|%s", unit.shown);
	per_byte = rot_format("operational intensity|%s", intensity.unit ? shown_unit(intensity.unit).shown : "");
	const char *headings[] = {"function",      "CPU time|%",  "total|%",         rate,           per_byte,
				  "of its roof|%", "its roof",    "operations|flop", "in vectors|%", "instructions",
				  "loaded|byte",   "stored|byte", "entries",         "samples",      "where"};
	const char *loop_headings[sizeof(headings) / sizeof(*headings) + 2];
	size_t nr;
	const char **flops = headings + 3, **work = headings + 9,
		   **end = headings + sizeof(headings) / sizeof(*headings);

	places.has_flops = have_flops(json_object_get(json, "functions"));
	if (!places.has_flops) {
		memmove(flops, work, (size_t)(end - work) * sizeof(*work));
		end -= work - flops;
	}
	places.table = (struct page_table){out, headings, (size_t)(end - headings), 0};
	places.rate_factor = unit.factor;
	write_functions(&places, json);
	places.has_trips = have_trips(json_object_get(json, "loops"));
	loop_headings[0] = "loop";
	loop_headings[1] = headings[1];
	loop_headings[2] = "turns|of each entry";
	loop_headings[3] = "median|of turns";
	loop_headings[4] = "range|of turns";
	nr = places.has_trips ? 5 : 3;
	memcpy(loop_headings + nr, headings + 3, (size_t)(end - headings - 3) * sizeof(*headings));
	places.table.headings = loop_headings;
	places.table.nr = nr + (size_t)(end - headings) - 3;
	write_loops(&places, json);
}
