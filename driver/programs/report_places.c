/* SPDX-License-Identifier: MIT */
/* Where CPU time went: rows of the table, JSON and CSV. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/output.h"
#include "base/text_table.h"
#include "base/titles.h"
#include "base/utf8.h"
#include "memory.h"
#include "number.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"

/* ---- names ---- */

/* Unless somebody asks for a number of them: so many functions, none of them with less than that share. */
#define MOST_SHOWN 10
#define MOST_BESIDE_FINDINGS 8
#define MOST_BESIDE_MISSES 3
#define LEAST_SHARE 0.01

/* Lines without samples that are shown have so much of the operations, and are so many without --all. */
#define LEAST_UNSAMPLED 0.05
#define MOST_UNSAMPLED 5

/* Fewer samples tell no shares. */
#define LEAST_SAMPLES 10

#define FUNCTION_WIDTH 31
#define LEAST_WHERE 18
#define LEAST_NAME 12
#define LEAST_ROOM 16 /* for names, or columns are left out */
#define WIDE 100      /* lines that have room for unlike halves of intervals */
#define LEAST_CUT 6   /* beside lines of a loop */

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *
report_fitted(const char *text, size_t most, bool keeps_end)
{
	char *shown = rot_strdup(text);
	const char *end = shown;

	if (text_width(shown) <= most || most <= 3)
		return shown;
	if (!keeps_end) {
		strcpy(shown + utf8_fitting(shown, most - 3), "...");
		return shown;
	}
	while (text_width(end) > most - 3)
		end++;
	while (((unsigned char)*end & 0xc0) == 0x80) /* within a character */
		end++;
	memmove(shown + 3, end, strlen(end) + 1);
	return memcpy(shown, "...", 3);
}

/* "relax.c:17-20"; "": not known. Fresh memory. */
static char *
lines_text(const struct place_share *item)
{
	const struct program_part *part = item->part;
	const char *source = part ? part->source : item->place->source;
	const int first = part ? part->line : item->place->line, last = part ? part->last_line : first;

	if (!*source || first == 0)
		return rot_strdup("");
	return last > first ? rot_format("%s:%d-%d", source, first, last) : rot_format("%s:%d", source, first);
}

/* The file of a function, with the source line where both fit. Fresh memory. */
static char *
object_text(const struct place_share *item, size_t room)
{
	const struct program_place *place = item->place;
	const char *object = last_part(place->object);
	autofree char *lines = lines_text(item), *text = rot_format("%s, %s", object, lines);

	if (*lines && text_width(text) <= room)
		return rot_strdup(text);
	return *place->function ? rot_strdup(object)
	       : *place->behind ? rot_format("behind %s", place->behind)
				: rot_strdup("");
}

static char *
function_name(const struct program_place *place)
{
	const char *object = last_part(place->object);

	return *place->function ? rot_strdup(place->function)
	       : place->size    ? rot_format("%s+0x%llx", object, (unsigned long long)place->address)
				: rot_format("%s, in no function", object);
}

static bool
is_loop(const struct place_share *item)
{
	return item->part && item->part->header != 0;
}

/* "axpy in main", without arguments of templates. Fresh memory. */
static char *
inlined_name(const struct place_share *item)
{
	autofree char *function = function_name(item->place);
	const char *inlined = item->part ? item->part->inlined : "";
	const size_t length = strncmp(inlined, "operator", 8) == 0 ? strlen(inlined) : strcspn(inlined, "<");

	return length > 0 ? rot_format("%.*s in %s", (int)length, inlined, function) : rot_keep(&function);
}

/* Behind the name of its function: ":17-20" of a loop, or "+0x12..0x48"; of code outside of all loops ", no loop".
 * Fresh memory. */
static char *
part_text(const struct place_share *item)
{
	const struct program_part *part = item->part;
	const uint64_t from = is_loop(item) ? part->address - item->place->address : 0;
	autofree char *lines = lines_text(item);

	if (!part)
		return rot_strdup("");
	if (!is_loop(item))
		return rot_strdup(", no loop");
	if (*lines)
		return rot_strdup(strrchr(lines, ':'));
	return rot_format("+0x%llx..0x%llx", (unsigned long long)from, (unsigned long long)(from + part->size));
}

/* The end of such a name says most. */
static bool
is_qualified(const struct program_place *place)
{
	return *place->function && strcmp(place->function, place->symbol) != 0;
}

char *
report_place_name(const struct place_share *item)
{
	autofree char *name = inlined_name(item), *behind = part_text(item);
	autofree char *shown = report_fitted(name, FUNCTION_WIDTH, is_qualified(item->place));

	return rot_format("%s%s", shown, behind);
}

/* A place in the table: it has a name that may be cut, what stands behind that, and where it is. */
struct place_title {
	char *name, *behind, *where; /* fresh memory */
	bool keeps_end;
};

static struct place_title
title_of(const struct program_report *report, const struct place_share *item, size_t room)
{
	struct place_title title = {.keeps_end = is_qualified(item->place)};
	autofree char *lines = lines_text(item);

	if (report->by == PLACES_LINES && item->part) {
		title = (struct place_title){.where = inlined_name(item), .keeps_end = true};
		title.name = *lines ? rot_strdup(lines) : rot_format("%s, without lines", title.where);
		title.behind = rot_strdup("");
	} else {
		title.name = inlined_name(item);
		title.behind = part_text(item);
		title.where = !item->part           ? object_text(item, room)
			      : *item->part->source ? rot_strdup(item->part->source)
						    : rot_strdup(last_part(item->place->object));
	}
	return title;
}

/* ---- numbers ---- */

static double
value_of(const struct program_values *values, const char *name, const char *of)
{
	const struct quantity_value *value = program_values_find(values, name, of);

	return value ? value->summary.value : NAN;
}

/* In percent: "40.0 ±2.3 %". An interval with unlike halves stands alone, "3 to 18 %", unless it is asked for. */
static char *
share_text(const struct summary *share, bool has_intervals)
{
	struct summary percent = summary_scaled(*share, 100);
	const double half = fmax(percent.high - percent.value, percent.value - percent.low);
	autofree char *number = NULL;

	if (percent.value > half && percent.value + half < 100) {
		percent.low = percent.value - half;
		percent.high = percent.value + half;
	} else if (!has_intervals && percent.low < percent.high) {
		return rot_format(percent.low < 9.5 ? "%.1g to %.*f %%" : "%.0f to %.*f %%", percent.low,
				  percent.high < 9.5 ? 1 : 0, percent.high);
	}
	number = summary_text(&percent);
	return rot_format("%s %%", number);
}

/* "-": not known. Fresh memory. */
static char *
number_text(double number, const char *unit)
{
	return isnan(number)    ? rot_strdup("-")
	       : isinf(number)  ? rot_strdup(VALUE_NO_BYTES)
	       : number >= 1000 ? rot_format("%.0f%s", number, unit)
				: rot_format("%.3g%s", number, unit);
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

/* "14.7 (8-15)": how many turns a loop makes, and the least and most that are known within powers of two. */
static char *
turns_text(const struct place_share *item)
{
	const uint64_t *trips = item->trips ? item->trips->items : NULL;
	const bool is_known = item->part && item->nr_turns > 0 && item->nr_entries > 0;
	autofree char *mean = number_text(is_known ? (double)item->nr_turns / (double)item->nr_entries : NAN, "");
	size_t first = 0, last = trips ? item->trips->nr - 1 : 0;

	while (trips && trips[first] == 0)
		first++;
	autofree char *range = trips_text(first, last);
	return !trips || last == 0 ? rot_strdup(mean) : rot_format("%s (%s)", mean, range);
}

/* ---- the table ---- */

static const struct place_list *
shown_list(const struct program_report *report)
{
	return &report->places.lists[report->by];
}

static size_t
nr_shown(const struct program_report *report)
{
	const struct place_list *list = shown_list(report);
	const bool is_asked = report->nr_functions >= 0, is_all = report->is_all && !is_asked;
	const size_t most = is_asked                         ? (size_t)report->nr_functions
			    : is_all                         ? SIZE_MAX
			    : report_is_about_misses(report) ? MOST_BESIDE_MISSES
			    : report->nr_findings            ? MOST_BESIDE_FINDINGS
							     : MOST_SHOWN;
	const size_t nr_sampled = place_list_nr_sampled(list);
	size_t nr = 0;

	while (nr < nr_sampled && nr < most && (is_asked || is_all || list->items[nr].share.value >= LEAST_SHARE))
		nr++;
	return nr;
}

static const struct {
	const char *key, *one, *csv;
} kinds[NR_PLACE_KINDS] = {
	[PLACES_FUNCTIONS] = {"functions", "function", "-functions.csv"},
	[PLACES_LOOPS] = {"loops", "part", "-loops.csv"},
	[PLACES_LINES] = {"lines", "line", "-lines.csv"},
	[PLACES_OTHERS] = {"others", "place", NULL},
};

enum { TIME, TOTAL, PART, RATE, INTENSITY, ROOF, VECTORS, TURNS, NAME, NR_COLUMNS };

/* One table. operations: the quantity whose shares and rates it shows; of the whole program so many. */
struct places_table {
	const struct program_report *report;
	struct text_table table;
	struct text_table_column columns[NR_COLUMNS];
	const char *operations, *of;
	double whole, shown_share;
	bool has_flops, has_parts, has_intervals;
};

/* Instructions, and bytes per second, of programs that have next to no operations on floating-point numbers. */
static void
choose_work(struct places_table *table)
{
	const struct program_report *report = table->report;
	const char *operation = report->plan->operation;
	const bool are_flops = operation && strcmp(operation, "flop") == 0;
	const double flops = operation ? value_of(&report->total, "operationCount", operation) : 0;
	const double instructions = value_of(&report->total, "instructions", "");

	table->has_flops = operation && !(flops < LEAST_SHARE * instructions);
	table->operations = table->has_flops ? "operationCount" : "instructions";
	table->of = table->has_flops ? operation : "";
	table->whole = table->has_flops ? flops : instructions;
	table->columns[PART].heading = !table->has_flops ? "of instr." : are_flops ? "of flop" : "of op";
	table->columns[RATE].heading = !table->has_flops ? "Ginstr/s" : are_flops ? "Gflop/s" : "Gop/s";
	table->columns[INTENSITY].heading = !table->has_flops ? "GB/s" : are_flops ? "flop/byte" : "op/byte";
}

static double
share_of_work(const struct places_table *table, const struct place_share *item)
{
	return value_of(&item->values, table->operations, table->of) / table->whole;
}

static void
add_row(struct places_table *table, char *time, char *const numbers[NAME - TOTAL], char *name)
{
	char *cells[NR_COLUMNS] = {[TIME] = time, [NAME] = name};

	for (size_t i = TOTAL; i < NAME; i++)
		cells[i] = numbers ? numbers[i - TOTAL] : rot_strdup("-");
	text_table_add(&table->table, cells);
}

/* Samples are often of the instruction behind the one that takes the time, so rates of lines say nothing. */
static void
add_place(struct places_table *table, const struct place_share *item)
{
	const struct program_report *report = table->report;
	const struct program_values *values = &item->values;
	const bool has_flops = table->has_flops;
	const double rate = has_flops ? value_of(values, "performance", "")
				      : 1e6 * value_of(values, "instructions", "") / value_of(values, "time", "");
	const double intensity = value_of(values, has_flops ? "operationalIntensity" : "throughput", "");
	const double total = 100 * item->total.value >= 10 ? round(100 * item->total.value) : 100 * item->total.value;
	const double share = share_of_work(table, item), none = report->by == PLACES_LINES && !report->is_all ? NAN : 1;
	char *const numbers[] = {
		number_text(report->by == PLACES_FUNCTIONS ? total : NAN, " %"),
		number_text(table->has_parts ? 100 * share : NAN, " %"),
		number_text(item->nr_samples > 0 ? none * 1e-9 * rate : NAN, ""),
		number_text(has_flops              ? intensity
			    : item->nr_samples > 0 ? none * 1e-9 * intensity
						   : NAN,
			    ""),
		number_text(has_flops && item->nr_samples > 0 ? none * 100 * item->roof_share : NAN, " %"),
		number_text(has_flops ? 100 * packed_share(report, item) : NAN, " %"),
		turns_text(item),
	};

	add_row(table, item->nr_samples > 0 ? share_text(&item->share, table->has_intervals) : rot_strdup("no sample"),
		numbers, rot_strdup(""));
	table->shown_share += share > 0 ? share : 0;
}

/* The meanings of places that are in no file. */
static const struct {
	const char *object, *meaning;
} origins[] = {
	{"[kernel]", "the kernel"},
	{"[vdso]", "vdso: code of the kernel"},
	{"[anonymous]", "code made at run time"},
	{"[unknown]", "unknown code"},
};

static void
add_others(struct places_table *table, size_t first)
{
	const struct program_report *report = table->report;
	const struct program_places *places = &report->places;
	const struct place_list *unnamed = &places->lists[PLACES_OTHERS];
	const struct summary rest = program_places_rest(places, report->by, first);
	const char *missing = places->has_kernel ? "no sample: short threads" : "the kernel: without samples";
	const size_t nr = place_list_nr_sampled(shown_list(report)) - first;
	const double rest_of_work = 1 - table->shown_share;
	const bool is_all = table->has_intervals;

	if (nr > 0)
		add_row(table, share_text(&rest, is_all), NULL,
			rot_format("%zu other %s%s", nr, kinds[report->by].one, rot_plural((double)nr)));
	for (size_t i = 0; i < unnamed->nr; i++)
		for (size_t k = 0; k < sizeof(origins) / sizeof(*origins); k++)
			if (unnamed->items[i].nr_samples > 0 &&
			    strcmp(unnamed->items[i].place->object, origins[k].object) == 0)
				add_row(table, share_text(&unnamed->items[i].share, is_all), NULL,
					rot_strdup(origins[k].meaning));
	if (places->missing.value >= LEAST_SHARE || (!places->has_kernel && places->missing.value > 0))
		add_row(table, share_text(&places->missing, is_all), NULL, rot_strdup(missing));
	if (table->has_parts && table->shown_share > 0 && rest_of_work >= LEAST_SHARE) {
		char *const numbers[] = {rot_strdup("-"), number_text(100 * rest_of_work, " %"),
					 rot_strdup("-"), rot_strdup("-"),
					 rot_strdup("-"), rot_strdup("-"),
					 rot_strdup("-")};

		add_row(table, rot_strdup(""), numbers, rot_strdup("in all other code"));
	}
}

/* Which of the places are judged under the roof of other numbers of threads than the program is. */
static void
print_roofs(const struct places_table *table, const struct place_share *const *items, size_t nr, FILE *out)
{
	const int most = table->report->roof.nr_threads;

	for (int threads = 1; threads < most && !text_table_is_empty(&table->table, ROOF); threads++) {
		autofree char *names = rot_strdup("");
		autofree char *before =
			rot_format("  roof of %d thread%s, not of %d:", threads, rot_plural((double)threads), most);

		for (size_t i = 0; i < nr; i++) {
			autofree char *name = report_place_name(items[i]);

			if (report_roof_of(table->report, items[i])->nr_threads == threads &&
			    !isnan(items[i]->roof_share))
				rot_append(&names, "%s%s", *names ? ", " : "", name);
		}
		if (*names)
			text_print_behind(before, names, out);
	}
}

/* Names take what the numbers leave of a line; behind them stands where the places are, if there is room. */
static void
set_names(struct places_table *table, const struct place_share *const *items, size_t nr, FILE *out)
{
	const struct program_report *report = table->report;
	const size_t width = terminal_width(out), taken = text_table_width(&table->table, NAME);
	const size_t room = width > taken + LEAST_NAME ? width - taken : LEAST_NAME;
	const bool has_where = room >= FUNCTION_WIDTH + 2 + LEAST_WHERE || report->by == PLACES_LINES;
	autofree struct place_title *titles = rot_calloc(nr + 1, sizeof(*titles));
	size_t longest = room / 2 > FUNCTION_WIDTH ? room / 2 : FUNCTION_WIDTH, where_room, widest = 0;

	if (!has_where)
		longest = room;
	else if (room < longest + 2 + LEAST_WHERE)
		longest = room > LEAST_NAME + 2 + LEAST_WHERE ? room - 2 - LEAST_WHERE : LEAST_NAME;
	where_room = has_where && room > longest + 2 ? room - longest - 2 : 0;
	for (size_t i = 0; i < nr; i++) {
		struct place_title *title = &titles[i];
		size_t behind;
		autofree char *name = NULL;

		*title = title_of(report, items[i], where_room);
		behind = text_width(title->behind);
		name = report_fitted(title->name, longest > behind + LEAST_CUT ? longest - behind : LEAST_CUT,
				     title->keeps_end);
		free(title->name);
		title->name = rot_format("%s%s", name, title->behind);
		widest = text_width(title->name) > widest ? text_width(title->name) : widest;
	}
	for (size_t i = 0; i < table->table.nr_rows; i++) {
		char **cell = &table->table.cells[i * NR_COLUMNS + NAME];
		autofree char *name = i < nr ? titles[i].name : *cell;
		autofree char *where =
			i < nr && where_room > 0 ? report_fitted(titles[i].where, where_room, false) : NULL;

		if (i < nr)
			free(*cell);
		*cell = where && *where ? rot_format("%s%*s%s", name, (int)(widest - text_width(name)) + 2, "", where)
					: report_fitted(name, room, false);
		if (i < nr) {
			free(titles[i].behind);
			free(titles[i].where);
		}
	}
}

/* Columns that matter less are emptied, and thereby left out, until names have room. The headings of these, fresh
 * memory. */
static char *
leave_out_columns(struct places_table *table, FILE *out)
{
	static const size_t least_first[] = {TOTAL, TURNS, PART, VECTORS, INTENSITY, ROOF, RATE};
	struct text_table *text = &table->table;
	char *left_out = rot_strdup("");

	for (size_t i = 0; i < sizeof(least_first) / sizeof(*least_first) &&
			   text_table_width(text, NAME) + LEAST_ROOM > terminal_width(out);
	     i++) {
		const size_t column = least_first[i];

		if (text_table_is_empty(text, column))
			continue;
		rot_append(&left_out, "%s%s", *left_out ? ", " : "", table->columns[column].heading);
		for (size_t row = 0; row < text->nr_rows; row++) {
			free(text->cells[row * NR_COLUMNS + column]);
			text->cells[row * NR_COLUMNS + column] = rot_strdup("-");
		}
	}
	return left_out;
}

/* The line without samples that computes most of those that compute less than the one before; NULL: none is left. */
static const struct place_share *
next_unsampled(const struct places_table *table, const struct place_share *before)
{
	const struct place_list *list = shown_list(table->report);
	const double limit = before ? share_of_work(table, before) : INFINITY;
	const struct place_share *most = NULL;

	for (size_t i = place_list_nr_sampled(list); i < list->nr; i++) {
		const struct place_share *item = &list->items[i];
		const double share = share_of_work(table, item);
		const bool is_behind = share < limit || (share == limit && item > before);

		if (share >= LEAST_UNSAMPLED && is_behind && (!most || share > share_of_work(table, most)))
			most = item;
	}
	return most;
}

/* The places with most samples, and the lines that compute most without any. Where code without samples computes much,
 * shares of the operations are shown. Fresh memory. */
static const struct place_share **
choose_places(struct places_table *table, size_t nr_shown, size_t *nr)
{
	const struct place_list *list = shown_list(table->report);
	const bool is_all = table->report->is_all, are_lines = table->report->by == PLACES_LINES;
	const struct place_share **items = rot_calloc(list->nr + 1, sizeof(*items));
	double sampled = 0;

	for (*nr = 0; *nr < nr_shown; (*nr)++)
		items[*nr] = &list->items[*nr];
	for (size_t i = 0; i < place_list_nr_sampled(list); i++)
		sampled += fmax(0, share_of_work(table, &list->items[i]));
	for (size_t i = 0; are_lines && (is_all || i < MOST_UNSAMPLED); i++) {
		const struct place_share *item = next_unsampled(table, i > 0 ? items[*nr - 1] : NULL);

		if (!item)
			break;
		items[(*nr)++] = item;
	}
	table->has_parts = are_lines || is_all || 1 - sampled >= LEAST_UNSAMPLED;
	return items;
}

/* Rates of the program and its regions are per wall time. */
static void
print_sum(const struct places_table *table, FILE *out)
{
	const struct program_places *places = &table->report->places;
	const bool has_rates = !text_table_is_empty(&table->table, RATE);
	autofree char *samples = rot_format("%llu samples in %.3g s of CPU time, which is the sum of all rows",
					    (unsigned long long)places->nr_samples, places->cpu_s);
	autofree char *off_cpu = rot_format("no thread was on a CPU for %.3g s of %.3g s%s", places->off_cpu_s,
					    places->wall_s, has_rates ? ": rates in rows leave that out" : "");

	fputc('\n', out);
	text_print_behind(" ", samples, out);
	if (places->off_cpu_s >= LEAST_SHARE * places->wall_s)
		text_print_behind(" ", off_cpu, out);
}

void
report_places(const struct program_report *report, FILE *out)
{
	struct places_table table = {
		.report = report,
		.columns = {[TIME] = {.heading = "CPU time"},
			    [TOTAL] = {.heading = "total"},
			    [ROOF] = {.heading = "of roof"},
			    [VECTORS] = {.heading = "vector"},
			    [TURNS] = {.heading = "turns"},
			    [NAME] = {.heading = kinds[report->by].one, .is_left = true}},
	};
	autofree const struct place_share **items = NULL;
	autofree char *left_out = NULL;
	size_t nr;

	if (report->places.nr_samples < LEAST_SAMPLES || report->nr_functions == 0)
		return;
	choose_work(&table);
	table.has_intervals = report->is_all && terminal_width(out) >= WIDE;
	items = choose_places(&table, nr_shown(report), &nr);
	table.table = (struct text_table){.columns = table.columns, .nr_columns = NR_COLUMNS, .indent = 2};
	for (size_t i = 0; i < nr; i++)
		add_place(&table, items[i]);
	add_others(&table, nr_shown(report));
	print_sum(&table, out);
	left_out = leave_out_columns(&table, out);
	set_names(&table, items, nr, out);
	text_table_print(&table.table, out);
	print_roofs(&table, items, nr, out);
	if (*left_out)
		fprintf(out, "  no room for: %s\n", left_out);
	text_table_clear(&table.table);
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
set_rates(const struct program_report *report, json_t *json, const struct place_share *item)
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
	json_object_set_new(json, "threadsAtOnce", item->nr_samples > 0 ? json_integer(item->nr_threads) : json_null());
	json_object_set_new(json, "roofThreads", json_integer(report_roof_of(report, item)->nr_threads));
}

/* A part has members for its function, and its own. */
static json_t *
json_place(const struct program_report *report, const struct place_share *item)
{
	json_t *json = json_entity(item->part ? (const void *)item->part : (const void *)item->place);

	json_object_del(json, "codeHash");
	json_object_del(json, "pairsOfOneThread");
	if (!item->part) {
		json_object_set_new(json, "totalSamples",
				    report->places.has_totals ? json_integer((json_int_t)item->nr_total) : json_null());
		json_object_set_new(json, "totalShare", json_real_or_null(item->total.value));
		json_object_set_new(json, "totalLow", json_real_or_null(item->total.low));
		json_object_set_new(json, "totalHigh", json_real_or_null(item->total.high));
		return json;
	}
	json_object_set_new(json, "object", json_text(item->place->object));
	json_object_set_new(json, "function", json_text(item->place->function));
	json_object_set_new(json, "functionAddress", json_integer((json_int_t)item->place->address));
	json_object_set_new(json, "turns", json_integer((json_int_t)item->nr_turns));
	if (item->trips) {
		json_t *trips = json_array();

		for (size_t i = 0; i < item->trips->nr; i++)
			json_array_append_new(trips,
					      json_integer((json_int_t)((const uint64_t *)item->trips->items)[i]));
		json_object_set_new(json, "trips", trips);
	}
	json_object_set_new(json, "chain", json_text(item->chained ? item->chained->chain : ""));
	json_object_set_new(json, "chainTime", json_real_or_null(item->chained ? item->chained->chain_time : NAN));
	json_object_set_new(json, "leaf", json_integer(item->chained ? (json_int_t)item->chained->leaf : 0));
	return json;
}

/* Functions without parts are only among the functions. */
static json_t *
json_places(const struct program_report *report, enum place_kind kind)
{
	const struct place_list *list = &report->places.lists[kind];
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct place_share *item = &list->items[i];
		json_t *json, *code;

		if ((kind == PLACES_LOOPS || kind == PLACES_LINES) && !item->part)
			continue;
		json = json_place(report, item);
		set_share(json, item->nr_samples, &item->share);
		json_object_set_new(json, "entries", json_integer((json_int_t)item->nr_entries));
		json_object_set_new(json, "counts", json_counts(report, item));
		set_rates(report, json, item);
		code = kind == PLACES_FUNCTIONS ? report_code_json(report, i) : NULL;
		if (code)
			json_object_set_new(json, "code", code);
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
	for (size_t kind = 0; kind < NR_PLACE_KINDS; kind++)
		if (kind != PLACES_LINES || report->by == PLACES_LINES)
			json_object_set_new(json, kinds[kind].key, json_places(report, (enum place_kind)kind));
	json_object_set_new(json, "missing", missing);
	json_object_set_new(json, "samples", json_integer((json_int_t)places->nr_samples));
	json_object_set_new(json, "sampledRuns", json_integer((json_int_t)places->nr_runs));
	json_object_set_new(json, "hasKernel", json_boolean(places->has_kernel));
	json_object_set_new(json, "incompleteStacks",
			    places->has_totals ? json_integer((json_int_t)places->nr_incomplete) : json_null());
	json_object_set_new(json, "lostRecords", json_integer((json_int_t)places->nr_lost));
	json_object_set_new(json, "cpuTime", json_real_or_null(is_known ? places->cpu_s : NAN));
	json_object_set_new(json, "wallTime", json_real_or_null(is_known ? places->wall_s : NAN));
	json_object_set_new(json, "waitTime", json_real_or_null(places->run_s > 0 ? places->wait_s : NAN));
	json_object_set_new(json, "offCpuTime", json_real_or_null(is_known ? places->off_cpu_s : NAN));
	json_object_set_new(json, "refusal", json_text(places->refusal));
	return json;
}

/* An unknown number is an empty field. */
static char *
csv_number(double number)
{
	return isnan(number) ? rot_strdup("") : isinf(number) ? rot_strdup("inf") : rot_number_text(number, 1);
}

static void
add_csv_row(const struct program_report *report, struct text_table *table, const struct place_share *item,
	    double roof_share)
{
	static const struct program_part whole = {.source = (char *)"", .inlined = (char *)""};
	const struct program_place *place = item->place;
	const struct program_part *part = item->part ? item->part : &whole;
	const int roof_threads = isnan(roof_share) ? 0 : report_roof_of(report, item)->nr_threads;
	char *const cells[] = {
		rot_strdup(place->object),
		rot_strdup(place->function),
		rot_strdup(place->symbol),
		rot_strdup(place->behind),
		rot_format("%llu", (unsigned long long)(item->part ? part->address : place->address)),
		rot_format("%llu", (unsigned long long)(item->part ? part->size : place->size)),
		rot_strdup(item->part ? part->source : place->source),
		rot_format("%d", item->part ? part->line : place->line),
		rot_format("%llu", (unsigned long long)item->nr_samples),
		csv_number(item->share.value),
		csv_number(item->share.low),
		csv_number(item->share.high),
		csv_number(item->total.value),
		csv_number(item->total.low),
		csv_number(item->total.high),
		rot_format("%llu", (unsigned long long)item->nr_entries),
		csv_number(value_of(&item->values, "performance", "")),
		csv_number(value_of(&item->values, "operationalIntensity", "")),
		csv_number(roof_share),
		rot_format("%d", roof_threads),
		rot_format("%d", part->last_line),
		rot_strdup(part->inlined),
		rot_format("%llu", (unsigned long long)part->header),
		rot_format("%llu", (unsigned long long)part->around),
		rot_format("%d", part->depth),
		rot_format("%llu", (unsigned long long)item->nr_turns),
	};

	text_table_add(table, cells);
	for (size_t i = table->nr_columns; i < sizeof(cells) / sizeof(*cells); i++)
		free(cells[i]);
}

/* Columns of parts are behind those of functions. */
#define NR_FUNCTION_COLUMNS 20

static int
write_csv(const struct program_report *report, const json_t *places, enum place_kind kind, const char *output_name,
	  struct rot_error *err)
{
	static const struct text_table_column columns[] = {
		{.heading = "object"},      {.heading = "function"},     {.heading = "symbol"},
		{.heading = "behind"},      {.heading = "address"},      {.heading = "size"},
		{.heading = "source"},      {.heading = "line"},         {.heading = "samples"},
		{.heading = "share"},       {.heading = "share_low"},    {.heading = "share_high"},
		{.heading = "total_share"}, {.heading = "total_low"},    {.heading = "total_high"},
		{.heading = "entries"},     {.heading = "performance"},  {.heading = "operational_intensity"},
		{.heading = "roof_share"},  {.heading = "roof_threads"}, {.heading = "last_line"},
		{.heading = "inlined"},     {.heading = "header"},       {.heading = "around"},
		{.heading = "depth"},       {.heading = "turns"},
	};
	const struct place_list *lists[] = {&report->places.lists[kind], &report->places.lists[PLACES_OTHERS]};
	struct text_table table = {.columns = columns,
				   .nr_columns = kind == PLACES_FUNCTIONS ? NR_FUNCTION_COLUMNS
									  : sizeof(columns) / sizeof(*columns)};
	struct output_text text;

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->nr; i++) {
			const bool is_function = kind == PLACES_FUNCTIONS && k == 0;
			const json_t *function = json_array_get(json_object_get(places, kinds[kind].key), i);

			add_csv_row(report, &table, &lists[k]->items[i],
				    is_function ? json_number_at(function, "roofShare")
						: lists[k]->items[i].roof_share);
		}
	text_table_print_csv(&table, output_text_begin(&text));
	text_table_clear(&table);
	return output_text_end(&text, output_name, kinds[kind].csv, err);
}

int
report_places_csv(const struct program_report *report, const json_t *places, const char *output_name,
		  struct rot_error *err)
{
	int rc = write_csv(report, places, PLACES_FUNCTIONS, output_name, err);

	if (rc == 0)
		rc = write_csv(report, places, PLACES_LOOPS, output_name, err);
	if (rc == 0 && report->by == PLACES_LINES)
		rc = write_csv(report, places, PLACES_LINES, output_name, err);
	return rc;
}
