/* SPDX-License-Identifier: MIT */
/* Where CPU time went: rows of the table, JSON and CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "programs/report.h"
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

static void
print_function(FILE *out, const struct place_share *item)
{
	const struct program_place *place = item->place;
	const char *object = last_part(place->object);
	autofree char *where = where_text(place, where_room(out));
	autofree char *name = *place->function ? function_text(place)
			      : place->size    ? rot_format("%s+0x%llx", object, (unsigned long long)place->address)
					       : rot_format("%s, in no function", object);

	print_share(out, &item->share, name, where);
}

static size_t
nr_shown(const struct program_report *report)
{
	const struct program_places *places = &report->places;
	const bool is_asked = report->nr_functions >= 0;
	const size_t most = is_asked ? (size_t)report->nr_functions : MOST_SHOWN;
	size_t nr = 0;

	while (nr < places->nr_functions && nr < most && (is_asked || places->functions[nr].share.value >= LEAST_SHARE))
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
	const size_t nr = places->nr_functions - first;
	autofree char *others = rot_format("%zu other function%s", nr, nr == 1 ? "" : "s");

	if (nr > 0)
		print_share(out, &rest, others, "");
	for (size_t i = 0; i < places->nr_others; i++)
		for (size_t k = 0; k < sizeof(origins) / sizeof(*origins); k++)
			if (strcmp(places->others[i].place->object, origins[k].object) == 0)
				print_share(out, &places->others[i].share, origins[k].meaning, "");
	if (places->missing.value >= LEAST_SHARE || (!places->has_kernel && places->missing.value > 0))
		print_share(out, &places->missing, missing, "");
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

static json_t *
json_places(const struct place_share *items, size_t nr)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *json = json_entity(items[i].place);

		set_share(json, items[i].nr_samples, &items[i].share);
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
	json_object_set_new(json, "functions", json_places(places->functions, places->nr_functions));
	json_object_set_new(json, "others", json_places(places->others, places->nr_others));
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
	};

	text_table_add(table, cells);
}

int
report_places_csv(const struct program_report *report, const char *output_name, struct rot_error *err)
{
	static const struct text_table_column columns[] = {
		{.heading = "object"},  {.heading = "function"}, {.heading = "symbol"},    {.heading = "behind"},
		{.heading = "address"}, {.heading = "size"},     {.heading = "source"},    {.heading = "line"},
		{.heading = "samples"}, {.heading = "share"},    {.heading = "share_low"}, {.heading = "share_high"},
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
