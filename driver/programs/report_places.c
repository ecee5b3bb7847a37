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
#define LEAST_NAME 8 /* before lines of a loop */

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

/* "50 turns": how many a loop makes each time that it is entered; "": not known. Fresh memory. */
static char *
turns_text(const struct place_share *item)
{
	const double turns = (double)item->nr_turns, mean = turns / (double)item->nr_entries;

	if (!item->part || item->nr_turns == 0)
		return rot_strdup("");
	if (item->nr_entries == 0)
		return rot_format("%.3g turns in all", turns);
	return rot_format(mean >= 1000 && mean < 1e6 ? "%.0f turn%s" : "%.3g turn%s", mean, mean == 1 ? "" : "s");
}

/* With the source line, where both fit. */
static char *
where_text(const struct place_share *item, size_t room)
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

	return *place->function ? function_text(place)
	       : place->size    ? rot_format("%s+0x%llx", object, (unsigned long long)place->address)
				: rot_format("%s, in no function", object);
}

static bool
is_loop(const struct place_share *item)
{
	return item->part && item->part->header != 0;
}

/* A source line, or code of which none is known. */
static bool
is_line(const struct program_report *report, const struct place_share *item)
{
	return report->by == PLACES_LINES && item->part;
}

/* Where a loop is: "relax.c:17-20", or else "+0x12..0x48" in its function; "": it is none. Fresh memory. */
static char *
loop_text(const struct place_share *item)
{
	const struct program_part *part = item->part;
	const uint64_t from = is_loop(item) ? part->address - item->place->address : 0;

	if (!is_loop(item) || *part->source)
		return is_loop(item) ? lines_text(item) : rot_strdup("");
	return rot_format("+0x%llx..0x%llx", (unsigned long long)from, (unsigned long long)(from + part->size));
}

/* "axpy in main", without arguments of templates. Fresh memory. */
static char *
inlined_name(const struct place_share *item, const char *function)
{
	const char *inlined = item->part ? item->part->inlined : "";
	const size_t length = strncmp(inlined, "operator", 8) == 0 ? strlen(inlined) : strcspn(inlined, "<");

	return length > 0 ? rot_format("%.*s in %s", (int)length, inlined, function) : rot_strdup(function);
}

static char *
name_text(const struct program_report *report, const struct place_share *item)
{
	autofree char *name = function_name(item->place), *lines = lines_text(item);

	if (is_line(report, item))
		return *lines ? rot_strdup(lines) : rot_format("%s, without lines", name);
	return inlined_name(item, name);
}

char *
report_place_name(const struct program_report *report, const struct place_share *item)
{
	autofree char *name = name_text(report, item), *loop = loop_text(item), *shown = fitted(name, FUNCTION_WIDTH);

	return rot_format(*loop == '+' || !*loop ? "%s%s" : "%s, %s", shown, loop);
}

static void
print_place(const struct program_report *report, FILE *out, const struct place_share *item)
{
	autofree char *name = name_text(report, item), *loop = loop_text(item), *turns = turns_text(item);
	autofree char *text = NULL, *where = NULL;

	if (is_loop(item))
		text = rot_format(*loop == '+' ? "%2$s%1$s%3$s%4$s" : "%1$s, %2$s%3$s%4$s", loop, name,
				  *turns ? ", " : "", turns);
	else if (!item->part)
		where = where_text(item, where_room(out));
	else if (is_line(report, item))
		where = inlined_name(item, item->place->function);
	else
		where = rot_strdup("outside its loops");
	print_share(out, &item->share, text ? text : name, where ? where : "");
}

static const struct place_list *
shown_list(const struct program_report *report)
{
	return &report->places.lists[report->by];
}

static size_t
nr_shown(const struct program_report *report)
{
	const struct place_list *list = shown_list(report);
	const bool is_asked = report->nr_functions >= 0;
	const size_t most = is_asked ? (size_t)report->nr_functions : MOST_SHOWN;
	const size_t nr_sampled = place_list_nr_sampled(list);
	size_t nr = 0;

	while (nr < nr_sampled && nr < most && (is_asked || list->items[nr].share.value >= LEAST_SHARE))
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
	const struct place_list *unnamed = &places->lists[PLACES_OTHERS];
	const struct summary rest = program_places_rest(places, report->by, first);
	const char *missing = places->has_kernel ? "no sample: threads of less than 3.5 ms, or a hypervisor"
						 : "the kernel: CPU time without a sample in user code";
	const size_t nr = place_list_nr_sampled(shown_list(report)) - first;
	autofree char *others = rot_format("%zu other %s%s", nr, kinds[report->by].one, nr == 1 ? "" : "s");

	if (nr > 0)
		print_share(out, &rest, others, "");
	for (size_t i = 0; i < unnamed->nr; i++)
		for (size_t k = 0; k < sizeof(origins) / sizeof(*origins); k++)
			if (unnamed->items[i].nr_samples > 0 &&
			    strcmp(unnamed->items[i].place->object, origins[k].object) == 0)
				print_share(out, &unnamed->items[i].share, origins[k].meaning, "");
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
#define LEAST_UNSAMPLED 0.05

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
	const size_t room = width > taken + LEAST_WHERE ? width - taken : LEAST_WHERE;
	autofree char *name = name_text(report, item), *loop = loop_text(item);
	const bool is_outside = item->part && !is_loop(item) && !is_line(report, item);
	/* Lines of a function need no file. */
	const char *behind = is_outside ? ", no loop" : strrchr(loop, ':') ? strrchr(loop, ':') : loop;
	autofree char *shown =
		fitted(name, room > text_width(behind) + LEAST_NAME ? room - text_width(behind) : LEAST_NAME);

	print_number(out, 100 * share, " %");
	print_number(out, 1e-9 * value_of(&item->values, "performance", ""), "");
	print_number(out, value_of(&item->values, "operationalIntensity", ""), "");
	print_number(out, 100 * item->roof_share, " %");
	print_number(out, 100 * packed_share(report, item), " %");
	fprintf(out, "  %s%s\n", shown, behind);
}

/*
 * Places that are shown and compute something, and how much of it is left for all others. Samples are often of the
 * instruction behind the one that takes the time, so lines may compute much without any.
 */
static void
print_works(const struct program_report *report, size_t nr, FILE *out)
{
	const char *operation = report->plan->operation;
	const bool are_flops = operation && strcmp(operation, "flop") == 0;
	const char *const headings[] = {"operations", are_flops ? "Gflop/s" : "Gop/s",
					are_flops ? "flop/byte" : "op/byte", "of roof", "in vectors"};
	const double whole = operation ? value_of(&report->total, "operationCount", operation) : 0;
	const struct place_list *list = shown_list(report);
	double rest = 1;

	for (size_t i = 0; i < (report->by == PLACES_LINES ? list->nr : nr); i++) {
		const struct place_share *item = &list->items[i];
		const double share = value_of(&item->values, "operationCount", operation ? operation : "") / whole;

		if (!(whole > 0 && share >= (i < nr ? LEAST_SHARE : LEAST_UNSAMPLED)))
			continue;
		for (size_t k = 0; rest >= 1 && k < sizeof(headings) / sizeof(*headings); k++)
			fprintf(out, "%s%*s", k == 0 ? "\n  " : "  ", COLUMN_WIDTH, headings[k]);
		if (rest >= 1)
			fprintf(out, "  by %s\n", kinds[report->by].one);
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
		print_place(report, out, &shown_list(report)->items[i]);
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

/* Of a part: its function, and what it is itself. */
static json_t *
json_place(const struct place_share *item)
{
	json_t *json = json_entity(item->part ? (const void *)item->part : (const void *)item->place);

	if (!item->part)
		return json;
	json_object_set_new(json, "object", json_text(item->place->object));
	json_object_set_new(json, "function", json_text(item->place->function));
	json_object_set_new(json, "functionAddress", json_integer((json_int_t)item->place->address));
	json_object_set_new(json, "turns", json_integer((json_int_t)item->nr_turns));
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
		json_t *json;

		if ((kind == PLACES_LOOPS || kind == PLACES_LINES) && !item->part)
			continue;
		json = json_place(item);
		set_share(json, item->nr_samples, &item->share);
		json_object_set_new(json, "entries", json_integer((json_int_t)item->nr_entries));
		json_object_set_new(json, "counts", json_counts(report, item));
		set_rates(json, item);
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
	static const struct program_part whole = {.source = (char *)"", .inlined = (char *)""};
	const struct program_place *place = item->place;
	const struct program_part *part = item->part ? item->part : &whole;
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
		rot_number_text(item->share.value, 1),
		rot_number_text(item->share.low, 1),
		rot_number_text(item->share.high, 1),
		rot_format("%llu", (unsigned long long)item->nr_entries),
		rot_number_text(value_of(&item->values, "performance", ""), 1),
		rot_number_text(value_of(&item->values, "operationalIntensity", ""), 1),
		rot_number_text(item->roof_share, 1),
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
#define NR_FUNCTION_COLUMNS 16

static int
write_csv(const struct program_report *report, enum place_kind kind, const char *output_name, struct rot_error *err)
{
	static const struct text_table_column columns[] = {
		{.heading = "object"},     {.heading = "function"},    {.heading = "symbol"},
		{.heading = "behind"},     {.heading = "address"},     {.heading = "size"},
		{.heading = "source"},     {.heading = "line"},        {.heading = "samples"},
		{.heading = "share"},      {.heading = "share_low"},   {.heading = "share_high"},
		{.heading = "entries"},    {.heading = "performance"}, {.heading = "operational_intensity"},
		{.heading = "roof_share"}, {.heading = "last_line"},   {.heading = "inlined"},
		{.heading = "header"},     {.heading = "around"},      {.heading = "depth"},
		{.heading = "turns"},
	};
	const struct place_list *lists[] = {&report->places.lists[kind], &report->places.lists[PLACES_OTHERS]};
	struct text_table table = {.columns = columns,
				   .nr_columns = kind == PLACES_FUNCTIONS ? NR_FUNCTION_COLUMNS
									  : sizeof(columns) / sizeof(*columns)};
	struct output_text text;

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->nr; i++)
			add_csv_row(&table, &lists[k]->items[i]);
	text_table_print_csv(&table, output_text_begin(&text));
	text_table_clear(&table);
	return output_text_end(&text, output_name, kinds[kind].csv, err);
}

int
report_places_csv(const struct program_report *report, const char *output_name, struct rot_error *err)
{
	int rc = write_csv(report, PLACES_FUNCTIONS, output_name, err);

	if (rc == 0)
		rc = write_csv(report, PLACES_LOOPS, output_name, err);
	if (rc == 0 && report->by == PLACES_LINES)
		rc = write_csv(report, PLACES_LINES, output_name, err);
	return rc;
}
