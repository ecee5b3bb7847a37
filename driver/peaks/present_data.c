/* SPDX-License-Identifier: MIT */
/* Peaks for programs: comma separated values and JSON. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "peaks/peak_json.h"
#include "peaks/present.h"
#include "peaks/ridges.h"
#include "peaks/saturation.h"
#include "rot.h"
#include "support/json.h"
#include "support/text_table.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const struct text_table_column csv_columns[] = {
	{"kind", true},           {"name", true},           {"operation", true},  {"border", true},
	{"access", true},         {"instructionSet", true}, {"threads", false},   {"mode", true},
	{"variant", true},        {"bufferBytes", false},   {"hugePages", false}, {"perCycle", false},
	{"perCycleLow", false},   {"perCycleHigh", false},  {"perSecond", false}, {"perSecondLow", false},
	{"perSecondHigh", false}, {"perTscCycle", false},   {"clockHz", false},   {"clockSource", true},
	{"limitPerCycle", false}, {"limitSource", true},    {"samples", false},   {"tainted", false},
	{"search", true},         {"remark", true},
};

static char *
number_field(double number)
{
	return isfinite(number) ? rot_number_in_full(number) : rot_strdup("");
}

/* "dlp=12 unroll=4" */
static char *
variant_field(const struct peak *peak)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < peak->nr_coordinates; i++)
		rot_append(&text, "%s%s=%d", i ? " " : "", peak->variant[i].name, peak->variant[i].value);
	return text;
}

static void
add_peak(struct text_table *table, const struct peak *peak)
{
	char *cells[] = {
		rot_strdup(peak_kind_name(peak->kind)),
		rot_strdup(peak->name),
		rot_strdup(peak->operation),
		rot_strdup(peak->border),
		rot_strdup(peak->access),
		rot_strdup(peak->instruction_set),
		rot_format("%d", peak->nr_threads),
		rot_strdup(peak->mode),
		variant_field(peak),
		rot_format("%zu", peak->buffer_bytes),
		rot_strdup(peak->has_huge_pages ? "true" : "false"),
		number_field(peak->per_cycle.value),
		number_field(peak->per_cycle.low),
		number_field(peak->per_cycle.high),
		number_field(peak->per_second.value),
		number_field(peak->per_second.low),
		number_field(peak->per_second.high),
		number_field(peak->per_tsc_cycle.value),
		number_field(peak->clock_hz),
		rot_strdup(peak->clock_source),
		number_field(peak->limit_per_cycle),
		rot_strdup(peak->limit_source),
		rot_format("%zu", peak->nr_samples),
		rot_format("%zu", peak->nr_tainted),
		rot_strdup(peak->search),
		rot_strdup(peak->remark),
	};

	_Static_assert(NR(cells) == NR(csv_columns), "each column has a field");
	text_table_add(table, cells);
}

void
peaks_print_csv(const struct peak_list *list, FILE *out)
{
	struct text_table table = {.columns = csv_columns, .nr_columns = NR(csv_columns)};

	for (size_t i = 0; i < list->nr; i++)
		add_peak(&table, &list->peaks[i]);
	text_table_print_csv(&table, out);
	text_table_clear(&table);
}

static json_t *
ridge_json(const struct ridge *ridge)
{
	json_t *json = json_object();

	json_object_set_new(json, "performance", json_text(ridge->performance->name));
	json_object_set_new(json, "operation", json_text(ridge->performance->operation));
	json_object_set_new(json, "bandwidth", json_text(ridge->bandwidth->name));
	json_object_set_new(json, "border", json_text(ridge->bandwidth->border));
	json_object_set_new(json, "threads", json_integer(ridge->performance->nr_threads));
	json_object_set_new(json, "mode", json_text(ridge->bandwidth->mode));
	json_object_set_new(json, "unit", json_text("flop/byte"));
	json_object_set_new(json, "value", json_number(ridge->intensity.value));
	json_object_set_new(json, "low", json_number(ridge->intensity.low));
	json_object_set_new(json, "high", json_number(ridge->intensity.high));
	return json;
}

static json_t *
growth_json(const struct growth *growth)
{
	json_t *json = json_object(), *threads = json_array(), *rates = json_array();
	const struct peak *peak = growth->peaks[0];

	for (size_t i = 0; i < growth->nr; i++) {
		json_array_append_new(threads, json_integer(growth->peaks[i]->nr_threads));
		json_array_append_new(rates, json_number(growth->peaks[i]->per_second.value));
	}
	json_object_set_new(json, "bandwidth", json_text(peak->name));
	json_object_set_new(json, "border", json_text(peak->border));
	json_object_set_new(json, "access", json_text(peak->access));
	json_object_set_new(json, "instructionSet", json_text(peak->instruction_set));
	json_object_set_new(json, "mode", json_text(growth->mode));
	json_object_set_new(json, "threads", threads);
	json_object_set_new(json, "perSecond", rates);
	json_object_set_new(json, "saturatedFrom",
			    growth->saturated_from ? json_integer(growth->saturated_from) : json_null());
	return json;
}

json_t *
peaks_json(const struct rot *rot, const struct peak_list *list)
{
	json_t *json = json_object(), *peaks = json_array(), *points = json_array(), *over_threads = json_array();
	autofree struct ridge *ridges = NULL;
	struct growth *growths;
	autopool pool = {0};
	size_t nr = peaks_ridges(list, &ridges), nr_growths = peaks_growths(&pool, list, &growths);

	for (size_t i = 0; i < list->nr; i++)
		json_array_append_new(peaks, peak_json(&list->peaks[i]));
	for (size_t i = 0; i < nr; i++)
		json_array_append_new(points, ridge_json(&ridges[i]));
	for (size_t i = 0; i < nr_growths; i++)
		json_array_append_new(over_threads, growth_json(&growths[i]));
	json_object_set_new(json, "schema", json_text("rot.peaks/1"));
	json_object_set_new(json, "machine", json_entity(rot->machine));
	json_object_set_new(json, "peaks", peaks);
	json_object_set_new(json, "ridges", points);
	json_object_set_new(json, "growths", over_threads);
	return json;
}
