/* SPDX-License-Identifier: MIT */
/* Peaks for programs: comma separated values and JSON. */
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/text_table.h"
#include "memory.h"
#include "number.h"
#include "roof/peak.h"
#include "roof/present.h"
#include "roof/saturation.h"
#include "rot.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* Members of a peak in JSON: their names, and the columns that have them. member NULL: the value itself. */
static const struct {
	const char *column, *key, *member;
} fields[] = {
	{"kind", "kind", NULL},
	{"name", "name", NULL},
	{"operation", "operation", NULL},
	{"border", "border", NULL},
	{"access", "access", NULL},
	{"instructionSet", "instructionSet", NULL},
	{"threads", "threads", NULL},
	{"mode", "mode", NULL},
	{"variant", "variant", NULL},
	{"bufferBytes", "bufferBytes", NULL},
	{"hugePages", "hugePages", NULL},
	{"perCycle", "perCycle", "value"},
	{"perCycleLow", "perCycle", "low"},
	{"perCycleHigh", "perCycle", "high"},
	{"perSecond", "perSecond", "value"},
	{"perSecondLow", "perSecond", "low"},
	{"perSecondHigh", "perSecond", "high"},
	{"perTscCycle", "perTscCycle", "value"},
	{"clockHz", "clockHz", NULL},
	{"clockSource", "clockSource", NULL},
	{"limitPerCycle", "limitPerCycle", NULL},
	{"limitSource", "limitSource", NULL},
	{"samples", "samples", NULL},
	{"tainted", "tainted", NULL},
	{"search", "search", NULL},
	{"remark", "remark", NULL},
};

/* Null is empty, an object is "dlp=12 unroll=4". Fresh memory. */
static char *
field_text(const json_t *value)
{
	char *text = NULL;
	const char *name;
	json_t *part;

	if (json_is_number(value))
		return rot_number_in_full(json_number_value(value));
	if (json_is_boolean(value))
		return rot_strdup(json_is_true(value) ? "true" : "false");
	json_object_foreach((json_t *)value, name, part)
		rot_append(&text, "%s%s=%lld", text ? " " : "", name, (long long)json_integer_value(part));
	return text ? text : rot_strdup(json_string_value(value));
}

void
peaks_print_csv(const struct peak_list *list, FILE *out)
{
	struct text_table_column columns[NR(fields)];
	struct text_table table = {.columns = columns, .nr_columns = NR(fields)};
	char *cells[NR(fields)];

	for (size_t k = 0; k < NR(fields); k++)
		columns[k] = (struct text_table_column){fields[k].column, true};
	for (size_t i = 0; i < list->nr; i++) {
		json_auto_t *peak = peak_json(&list->peaks[i]);

		for (size_t k = 0; k < NR(fields); k++) {
			const json_t *value = json_object_get(peak, fields[k].key);

			cells[k] = field_text(fields[k].member ? json_object_get(value, fields[k].member) : value);
		}
		text_table_add(&table, cells);
	}
	text_table_print_csv(&table, out);
	text_table_clear(&table);
}

/* All pairs of the list that have a ridge point. A bandwidth of several modes has a pair for each. */
static json_t *
ridges_json(const struct peak_list *list)
{
	json_t *json = json_array();

	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < list->nr; k++) {
			const struct peak *performance = &list->peaks[i], *bandwidth = &list->peaks[k];
			struct peak_estimate intensity;

			if (!peak_ridge(performance, bandwidth, &intensity))
				continue;
			json_array_append_new(
				json, json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:s, s:o, s:o, s:o}", "performance",
						json_text(performance->name), "operation",
						json_text(performance->operation), "bandwidth",
						json_text(bandwidth->name), "border", json_text(bandwidth->border),
						"threads", performance->nr_threads, "mode", json_text(bandwidth->mode),
						"unit", "flop/byte", "value", json_number(intensity.value), "low",
						json_number(intensity.low), "high", json_number(intensity.high)));
		}
	return json;
}

static json_t *
growths_json(const struct peak_list *list)
{
	json_t *json = json_array();
	autopool pool = {0};
	struct growth *growths;
	const size_t nr = peaks_growths(&pool, list, PEAK_BANDWIDTH, &growths);

	for (size_t i = 0; i < nr; i++) {
		const struct growth *growth = &growths[i];
		const struct peak *peak = growth->peaks[0];
		json_t *threads = json_array(), *rates = json_array();

		for (size_t k = 0; k < growth->nr; k++) {
			json_array_append_new(threads, json_integer(growth->peaks[k]->nr_threads));
			json_array_append_new(rates, json_number(growth->peaks[k]->per_second.value));
		}
		json_array_append_new(
			json,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bandwidth", json_text(peak->name),
				  "border", json_text(peak->border), "access", json_text(peak->access),
				  "instructionSet", json_text(peak->instruction_set), "mode", json_text(growth->mode),
				  "threads", threads, "perSecond", rates, "saturatedFrom",
				  growth->saturated_from ? json_integer(growth->saturated_from) : json_null()));
	}
	return json;
}

json_t *
peaks_json(const struct rot *rot, const struct peak_list *list)
{
	json_t *peaks = json_array();

	for (size_t i = 0; i < list->nr; i++)
		json_array_append_new(peaks, peak_json(&list->peaks[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "rot.peaks/1", "machine", json_entity(rot->machine),
			 "peaks", peaks, "ridges", ridges_json(list), "growths", growths_json(list));
}
