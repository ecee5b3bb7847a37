/* SPDX-License-Identifier: MIT */
/* Where CPU time went: rows of the table, JSON and CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"
#include "support/entry.h"
#include "support/json.h"
#include "support/output.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "support/utf8.h"

/* ---- the table ---- */

/* Unless somebody asks for a number of them: so many functions, none of them with less than that share. */
#define MOST_SHOWN 10
#define LEAST_SHARE 0.01

/* Of fewer samples no share is known. */
#define LEAST_SAMPLES 10

#define SHARE_WIDTH 19
#define FUNCTION_WIDTH 31
#define LEAST_WHERE 20

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* For a line of a terminal: the last part of what does not fit is left out. Fresh memory. */
static char *
fitted(const char *text, size_t most)
{
	char *shown = utf8_text(text);

	if (text_width(shown) > most)
		strcpy(shown + utf8_fitting(shown, most - 3), "...");
	for (char *c = shown; *c; c++)
		if ((unsigned char)*c < ' ') /* a program names its code as it likes */
			*c = ' ';
	return shown;
}

/* The end of a qualified name says most: "...al::LookupIterator::Start". */
static char *
function_text(const struct program_place *place)
{
	const size_t length = strlen(place->function);
	const bool is_qualified = strcmp(place->function, place->symbol) != 0;
	const char *end = place->function + length - (FUNCTION_WIDTH - 3);

	if (!is_qualified || length <= FUNCTION_WIDTH)
		return rot_strdup(place->function);
	while ((*end & 0xc0) == 0x80) /* within a character */
		end++;
	return rot_format("...%s", end);
}

/* In percent. Both halves of the interval are as wide as the wider one, unless that would reach below 0 or above 100.
 */
static char *
share_text(const struct summary *share)
{
	struct summary percent = summary_scaled(*share, 100);
	const double half = fmax(percent.high - percent.value, percent.value - percent.low);
	autofree char *number = NULL;

	if (percent.value > half && percent.value + half < 100) {
		percent.low = percent.value - half;
		percent.high = percent.value + half;
	}
	number = summary_text(&percent);
	return rot_format("%s %%", number);
}

static size_t
where_room(FILE *out)
{
	const size_t taken = 2 + SHARE_WIDTH + 2 + FUNCTION_WIDTH + 2, width = terminal_width(out);

	return width > taken + LEAST_WHERE ? width - taken : LEAST_WHERE;
}

/* where "": name may need the whole line. */
static void
print_share(FILE *out, const struct summary *share, const char *name, const char *where)
{
	const int room = (int)terminal_width(out) - (2 + SHARE_WIDTH + 2);
	autofree char *text = share_text(share), *shown_where = fitted(where, where_room(out));
	autofree char *shown = fitted(name, *where || room < FUNCTION_WIDTH ? FUNCTION_WIDTH : (size_t)room);

	fprintf(out, "  %*s%s  %s%*s%s\n", SHARE_WIDTH - (int)text_width(text), "", text, shown,
		*where ? FUNCTION_WIDTH + 2 - (int)text_width(shown) : 0, "", shown_where);
}

/* With the source line, where both fit. */
static char *
where_text(const struct program_place *place, size_t room)
{
	const char *object = last_part(place->object);
	autofree char *text = rot_format("%s, %s:%d", object, place->source, place->line);

	if (*place->source && text_width(text) <= room)
		return rot_strdup(text);
	return *place->function ? rot_strdup(object)
	       : *place->behind ? rot_format("behind %s", place->behind)
				: rot_strdup("");
}

static char *
name_text(const struct program_place *place)
{
	const char *object = last_part(place->object);

	return *place->function ? function_text(place)
	       : place->size    ? rot_format("%s+0x%llx", object, (unsigned long long)place->address)
				: rot_format("%s, in no function", object);
}

static void
print_function(FILE *out, const struct place_share *item)
{
	autofree char *where = where_text(item->place, where_room(out)), *name = name_text(item->place);

	print_share(out, &item->share, name, where);
}

static size_t
nr_shown(const struct program_report *report)
{
	const struct program_places *places = &report->places;
	const bool is_asked = report->nr_functions >= 0;
	const size_t most = is_asked ? (size_t)report->nr_functions : MOST_SHOWN;
	const size_t nr_sampled = program_places_nr_sampled(places);
	size_t nr = 0;

	while (nr < nr_sampled && nr < most && (is_asked || places->functions[nr].share.value >= LEAST_SHARE))
		nr++;
	return nr;
}

/* What the names of places that are none of files mean. */
static const struct {
	const char *object, *meaning;
} origins[] = {
	{"[kernel]", "the kernel"},
	{"[vdso]", "vdso: code of the kernel that runs in user mode"},
	{"[anonymous]", "code that was made at run time, without names"},
	{"[unknown]", "code of which nothing is known"},
};

static void
print_others(const struct program_report *report, size_t first, FILE *out)
{
	const struct program_places *places = &report->places;
	const struct summary rest = program_places_rest(places, first);
	const char *missing = places->has_kernel ? "no sample: threads of less than 3.5 ms, or a hypervisor"
						 : "the kernel: CPU time without a sample in user code";
	const size_t nr = program_places_nr_sampled(places) - first;
	autofree char *others = rot_format("%zu other function%s", nr, nr == 1 ? "" : "s");

	if (nr > 0)
		print_share(out, &rest, others, "");
	for (size_t i = 0; i < places->nr_others; i++)
		for (size_t k = 0; k < sizeof(origins) / sizeof(*origins); k++)
			if (places->others[i].nr_samples > 0 &&
			    strcmp(places->others[i].place->object, origins[k].object) == 0)
				print_share(out, &places->others[i].share, origins[k].meaning, "");
	if (places->missing.value >= LEAST_SHARE || (!places->has_kernel && places->missing.value > 0))
		print_share(out, &places->missing, missing, "");
}

/* ---- what functions did ---- */

static double
value_of(const struct program_values *values, const char *name, const char *of)
{
	const struct quantity_value *value = program_values_find(values, name, of);

	return value ? value->summary.value : NAN;
}

/* Operations on floating-point numbers that were in vectors, of all. */
static double
packed_share(const struct program_report *report, const struct place_share *item)
{
	static const char *const names[] = {"scalarDouble", "scalarSingle", "packedDouble", "packedSingle"};
	const struct pass *pass = report->places.counted;
	double all = 0, packed = 0;

	for (size_t i = 0; item->counts && i < pass->nr_events; i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			if (strcmp(report->architecture->events[pass->events[i]].name, names[k]) != 0)
				continue;
			all += (double)item->counts[i];
			packed += k >= 2 ? (double)item->counts[i] : 0;
		}
	}
	return packed / all;
}

#define COLUMN_WIDTH 10

/* As wide as its column; "-": not known. */
static void
print_number(FILE *out, double number, const char *unit)
{
	autofree char *text = isnan(number) ? rot_strdup("-") : rot_format("%.3g%s", number, unit);

	fprintf(out, "  %*s", COLUMN_WIDTH, text);
}

static void
print_work(FILE *out, const struct program_report *report, const struct place_share *item, double share)
{
	const size_t taken = 2 + 5 * (COLUMN_WIDTH + 2), width = terminal_width(out);
	autofree char *name = name_text(item->place);
	autofree char *shown = fitted(name, width > taken + LEAST_WHERE ? width - taken : LEAST_WHERE);

	print_number(out, 100 * share, " %");
	print_number(out, 1e-9 * value_of(&item->values, "performance", ""), "");
	print_number(out, value_of(&item->values, "operationalIntensity", ""), "");
	print_number(out, 100 * item->roof_share, " %");
	print_number(out, 100 * packed_share(report, item), " %");
	fprintf(out, "  %s\n", shown);
}

/* Functions that are shown and compute something, and how much of it is left for all others. */
static void
print_works(const struct program_report *report, size_t nr, FILE *out)
{
	const char *operation = report->plan->operation;
	const bool are_flops = operation && strcmp(operation, "flop") == 0;
	const char *const headings[] = {"operations", are_flops ? "Gflop/s" : "Gop/s",
					are_flops ? "flop/byte" : "op/byte", "of roof", "in vectors"};
	const double whole = operation ? value_of(&report->total, "operationCount", operation) : 0;
	double rest = 1;

	for (size_t i = 0; i < nr; i++) {
		const struct place_share *item = &report->places.functions[i];
		const double share = value_of(&item->values, "operationCount", operation ? operation : "") / whole;

		if (!(whole > 0 && share >= LEAST_SHARE))
			continue;
		for (size_t k = 0; rest >= 1 && k < sizeof(headings) / sizeof(*headings); k++)
			fprintf(out, "%s%*s%s", k == 0 ? "\n  " : "  ", COLUMN_WIDTH, headings[k],
				k + 1 == sizeof(headings) / sizeof(*headings) ? "  by functions that take time\n" : "");
		print_work(out, report, item, share);
		rest -= share;
	}
	if (rest < 1 && rest >= LEAST_SHARE) {
		print_number(out, 100 * rest, " %");
		fprintf(out, "  in all others\n");
	}
}

void
report_places(const struct program_report *report, FILE *out)
{
	const struct program_places *places = &report->places;
	const size_t nr = nr_shown(report);

	if (places->nr_samples < LEAST_SAMPLES || report->nr_functions == 0)
		return;
	fprintf(out, "\n  %*s  where, by %llu samples in %.3g s of it\n", SHARE_WIDTH, "CPU time",
		(unsigned long long)places->nr_samples, places->cpu_s);
	for (size_t i = 0; i < nr; i++)
		print_function(out, &places->functions[i]);
	print_others(report, nr, out);
	if (places->off_cpu_s >= LEAST_SHARE * places->wall_s) {
		autofree char *text = rot_format("%.3g s", places->off_cpu_s);

		fprintf(out, "  %*s  no thread on a CPU, of %.3g s of wall time\n", SHARE_WIDTH, text, places->wall_s);
	}
	print_works(report, nr, out);
}

/* ---- files ---- */

static void
set_share(json_t *json, uint64_t nr_samples, const struct summary *share)
{
	json_object_set_new(json, "samples", json_integer((json_int_t)nr_samples));
	json_object_set_new(json, "share", json_real_or_null(share->value));
	json_object_set_new(json, "low", json_real_or_null(share->low));
	json_object_set_new(json, "high", json_real_or_null(share->high));
}

/* By event; null: its code was not counted. */
static json_t *
json_counts(const struct program_report *report, const struct place_share *item)
{
	const struct pass *pass = report->places.counted;
	json_t *counts = item->counts ? json_object() : json_null();

	for (size_t i = 0; item->counts && i < pass->nr_events; i++)
		json_object_set_new(counts, report->architecture->events[pass->events[i]].name,
				    json_integer((json_int_t)item->counts[i]));
	return counts;
}

/* Rates have the interval of the share of time. */
static void
set_rates(json_t *json, const struct place_share *item)
{
	const struct quantity_value *performance = program_values_find(&item->values, "performance", "");
	const struct summary none = summary_empty(), *rate = performance ? &performance->summary : &none;
	const double intensity = value_of(&item->values, "operationalIntensity", "");

	json_object_set_new(json, "performance", json_real_or_null(rate->value));
	json_object_set_new(json, "performanceLow", json_real_or_null(rate->low));
	json_object_set_new(json, "performanceHigh", json_real_or_null(rate->high));
	json_object_set_new(json, "operationalIntensity", json_real_or_null(intensity));
	if (isinf(intensity))
		json_object_set_new(json, "infiniteIntensity", json_true());
	json_object_set_new(json, "roofShare", json_real_or_null(item->roof_share));
}

static json_t *
json_places(const struct program_report *report, const struct place_share *items, size_t nr)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *json = json_entity(items[i].place);

		set_share(json, items[i].nr_samples, &items[i].share);
		json_object_set_new(json, "entries", json_integer((json_int_t)items[i].nr_entries));
		json_object_set_new(json, "counts", json_counts(report, &items[i]));
		set_rates(json, &items[i]);
		json_array_append_new(array, json);
	}
	return array;
}

json_t *
report_places_json(const struct program_report *report)
{
	const struct program_places *places = &report->places;
	const bool is_known = places->wall_s > 0;
	json_t *json = json_object(), *missing = json_object();

	set_share(missing, places->whole - places->nr_samples, &places->missing);
	json_object_set_new(json, "functions", json_places(report, places->functions, places->nr_functions));
	json_object_set_new(json, "others", json_places(report, places->others, places->nr_others));
	json_object_set_new(json, "missing", missing);
	json_object_set_new(json, "samples", json_integer((json_int_t)places->nr_samples));
	json_object_set_new(json, "hasKernel", json_boolean(places->has_kernel));
	json_object_set_new(json, "lostRecords", json_integer((json_int_t)places->nr_lost));
	json_object_set_new(json, "cpuTime", json_real_or_null(is_known ? places->cpu_s : NAN));
	json_object_set_new(json, "wallTime", json_real_or_null(is_known ? places->wall_s : NAN));
	json_object_set_new(json, "offCpuTime", json_real_or_null(is_known ? places->off_cpu_s : NAN));
	json_object_set_new(json, "refusal", json_text(places->refusal));
	return json;
}

static void
add_csv_row(struct text_table *table, const struct place_share *item)
{
	const struct program_place *place = item->place;
	char *const cells[] = {
		rot_strdup(place->object),
		rot_strdup(place->function),
		rot_strdup(place->symbol),
		rot_strdup(place->behind),
		rot_format("%llu", (unsigned long long)place->address),
		rot_format("%llu", (unsigned long long)place->size),
		rot_strdup(place->source),
		rot_format("%d", place->line),
		rot_format("%llu", (unsigned long long)item->nr_samples),
		rot_number_text(item->share.value, 1),
		rot_number_text(item->share.low, 1),
		rot_number_text(item->share.high, 1),
		rot_format("%llu", (unsigned long long)item->nr_entries),
		rot_number_text(value_of(&item->values, "performance", ""), 1),
		rot_number_text(value_of(&item->values, "operationalIntensity", ""), 1),
		rot_number_text(item->roof_share, 1),
	};

	text_table_add(table, cells);
}

int
report_places_csv(const struct program_report *report, const char *output_name, struct rot_error *err)
{
	static const struct text_table_column columns[] = {
		{.heading = "object"},     {.heading = "function"},    {.heading = "symbol"},
		{.heading = "behind"},     {.heading = "address"},     {.heading = "size"},
		{.heading = "source"},     {.heading = "line"},        {.heading = "samples"},
		{.heading = "share"},      {.heading = "share_low"},   {.heading = "share_high"},
		{.heading = "entries"},    {.heading = "performance"}, {.heading = "operational_intensity"},
		{.heading = "roof_share"},
	};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns)};
	const struct program_places *places = &report->places;
	struct output_text text;

	for (size_t i = 0; i < places->nr_functions; i++)
		add_csv_row(&table, &places->functions[i]);
	for (size_t i = 0; i < places->nr_others; i++)
		add_csv_row(&table, &places->others[i]);
	text_table_print_csv(&table, output_text_begin(&text));
	text_table_clear(&table);
	return output_text_end(&text, output_name, "-functions.csv", err);
}
