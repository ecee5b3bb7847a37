/* SPDX-License-Identifier: MIT */
/* The parts that only results of programs have: findings, functions and regions, and how these were observed. */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "page/page_internal.h"
#include "quantities/quantity.h"
#include "quantities/value_text.h"
#include "support/json.h"
#include "support/titles.h"

/* The table has so many functions, those with most of the time. */
#define MOST_FUNCTIONS 100

/* ---- cells ---- */

/* Sorted by the number; text: what is shown. */
static void
write_sorted(xmlTextWriterPtr out, double number, const char *text)
{
	html_begin(out, "td", "number");
	if (isfinite(number)) {
		autofree char *key = rot_number_text(number, 9);

		html_attribute(out, "data-sort", key);
	}
	html_text(out, isnan(number) ? "-" : text);
	html_end(out);
}

static void
write_number(xmlTextWriterPtr out, double number)
{
	autofree char *text = isinf(number) ? rot_strdup(VALUE_NO_BYTES) : rot_format("%.4g", number);

	write_sorted(out, number, text);
}

static void
write_whole(xmlTextWriterPtr out, double number)
{
	autofree char *text = isnan(number) ? rot_strdup("-") : rot_number_in_full(number);

	write_sorted(out, number, text);
}

/* The number under the keys and its interval, times the factor. */
static void
write_interval(xmlTextWriterPtr out, const json_t *json, const char *const keys[3], double factor)
{
	struct summary summary = summary_single(json_number_at(json, keys[0]), "share");
	autofree char *text = NULL;

	summary.low = json_number_at(json, keys[1]);
	summary.high = json_number_at(json, keys[2]);
	summary = summary_scaled(summary, factor);
	text = summary_text(&summary);
	write_sorted(out, summary.value, text);
}

/* heading: "name|unit". */
static void
write_headings(xmlTextWriterPtr out, const char *const *headings, size_t nr)
{
	html_begin(out, "thead", NULL);
	html_begin(out, "tr", NULL);
	for (size_t i = 0; i < nr; i++) {
		const size_t length = strcspn(headings[i], "|");
		autofree char *name = rot_strndup(headings[i], length);

		html_begin(out, "th", i == 0 ? "stays" : NULL);
		html_element(out, "span", NULL, name);
		if (headings[i][length] && headings[i][length + 1])
			html_element(out, "span", "unit", headings[i] + length + 1);
		html_end(out);
	}
	html_end(out);
	html_end(out);
}

static void
begin_table(xmlTextWriterPtr out, const char *name, const char *const *headings, size_t nr)
{
	page_begin_wide(out, name);
	html_begin(out, "table", "sortable");
	write_headings(out, headings, nr);
	html_begin(out, "tbody", NULL);
}

/* ---- functions ---- */

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

static void
write_roof(xmlTextWriterPtr out, const json_t *json)
{
	const bool is_most = json_is_true(json_object_get(json_object_get(json, "roof"), "isLeast"));
	const double share = 100 * json_number_at(json, "roofShare");
	autofree char *digits = digits_text(share, 3), *text = rot_format("%s%s", is_most ? VALUE_AT_MOST : "", digits);

	write_sorted(out, share, text);
	html_element(out, "td", "line", *json_text_at(json, "boundBy") ? json_text_at(json, "boundBy") : "-");
}

static void
write_place(xmlTextWriterPtr out, const json_t *place, double rate_factor)
{
	static const char *const flops[] = {"scalarDouble", "packedDouble", "scalarSingle", "packedSingle"};
	static const char *const loads[] = {"loadedBytes"}, *const stores[] = {"storedBytes"},
				 *const instructions[] = {"instructions"},
				 *const packed[] = {"packedDouble", "packedSingle"};
	static const char *const shares[] = {"share", "low", "high"}, *const rates[] = {"performance", "performanceLow",
											"performanceHigh"};
	autofree char *title = function_title(place, 0);
	autofree char *source = *json_text_at(place, "source") ? rot_format("%s:%d", json_text_at(place, "source"),
									    (int)json_number_at(place, "line"))
							       : rot_strdup("");
	autofree char *where = rot_format("%s%s%s", function_file(place), *source ? ", " : "", source);
	const double operations = count_of(place, flops, sizeof(flops) / sizeof(*flops));
	const bool has_no_bytes = json_is_true(json_object_get(place, "infiniteIntensity"));

	html_begin(out, "tr", NULL);
	html_element(out, "td", "stays", title);
	write_interval(out, place, shares, 100);
	write_interval(out, place, rates, rate_factor);
	write_number(out, has_no_bytes ? INFINITY : json_number_at(place, "operationalIntensity"));
	write_roof(out, place);
	write_whole(out, operations);
	write_number(out, operations > 0 ? 100 * count_of(place, packed, 2) / operations : NAN);
	write_whole(out, count_of(place, instructions, 1));
	write_whole(out, count_of(place, loads, 1));
	write_whole(out, count_of(place, stores, 1));
	write_whole(out, json_is_object(json_object_get(place, "counts")) ? json_number_at(place, "entries") : NAN);
	write_whole(out, json_number_at(place, "samples"));
	html_element(out, "td", "line", where);
	html_end(out);
}

/* Names of what is in no function of a file, and the share under the key. */
static void
write_rest(xmlTextWriterPtr out, const char *name, const json_t *share)
{
	static const char *const keys[] = {"share", "low", "high"};

	if (!(json_number_at(share, "share") > 0))
		return;
	html_begin(out, "tr", NULL);
	html_element(out, "td", "stays", name);
	write_interval(out, share, keys, 100);
	html_begin(out, "td", NULL);
	html_attribute(out, "colspan", "12");
	html_end(out);
	html_end(out);
}

static void
write_others(xmlTextWriterPtr out, const json_t *places)
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
				write_rest(out, names[k][1], json_array_get(others, i));
	write_rest(out, has_kernel ? "without a sample" : "the kernel, without a sample",
		   json_object_get(places, "missing"));
}

static void
write_functions(xmlTextWriterPtr out, const json_t *result)
{
	const json_t *places = json_object_get(result, "functions"), *functions = json_object_get(places, "functions");
	const size_t nr = json_array_size(functions);
	size_t nr_shown = 0;
	struct quantity_value performance, intensity;
	struct shown_unit unit;
	autofree char *rate = NULL, *per_byte = NULL, *text = NULL;

	if (!(json_number_at(places, "samples") > 0))
		return;
	find_value(result, "performance", &performance);
	find_value(result, "operationalIntensity", &intensity);
	unit = shown_unit(performance.unit ? performance.unit : "");
	rate = rot_format("performance|%s", unit.shown);
	per_byte = rot_format("operational intensity|%s", intensity.unit ? shown_unit(intensity.unit).shown : "");
	const char *const headings[] = {
		"function",    "CPU time|%",      rate,           per_byte,       "of its roof|%",
		"its roof",    "operations|flop", "in vectors|%", "instructions", "loaded|byte",
		"stored|byte", "entries",         "samples",      "where"};

	html_element(out, "h3", NULL, "Functions");
	begin_table(out, "functions", headings, sizeof(headings) / sizeof(*headings));
	for (; nr_shown < nr && nr_shown < MOST_FUNCTIONS; nr_shown++) {
		const json_t *place = json_array_get(functions, nr_shown);

		if (!(json_number_at(place, "samples") > 0))
			break;
		write_place(out, place, unit.factor);
	}
	write_others(out, places);
	page_end_table(out);
	text = rot_format("%zu of %zu function%s: those with most samples. A click on a heading sorts. "
			  "-: not counted or not known.",
			  nr_shown, nr, rot_plural((double)nr));
	html_element(out, "p", "small", text);
}

/* ---- regions ---- */

static void
write_region(xmlTextWriterPtr out, const json_t *region)
{
	const char *bound = json_text_at(region, "bound");
	const bool is_served = strcmp(json_text_at(region, "backend"), "none") != 0;
	const char *verdict = *bound                               ? bound
			      : !is_served                         ? "was not measured"
			      : json_number_at(region, "hits") > 0 ? "what bounds it is not known"
								   : "was never entered";

	html_begin(out, "tr", NULL);
	html_element(out, "td", "stays", json_text_at(region, "name"));
	write_whole(out, json_number_at(region, "hits"));
	write_whole(out, json_number_at(region, "nrThreads"));
	write_number(out, json_number_at(region, "threadsAtOnce"));
	write_number(out, 100 * json_number_at(region, "timeShare"));
	write_number(out, 100 * json_number_at(region, "roofShare"));
	html_element(out, "td", "words", verdict);
	html_end(out);
}

static void
write_regions(xmlTextWriterPtr out, const json_t *result)
{
	static const char *const headings[] = {"region",           "hits",      "threads", "threads at once",
					       "of their lives|%", "of roof|%", "verdict"};
	const json_t *regions = json_object_get(result, "regions");

	if (json_array_size(regions) == 0)
		return;
	html_element(out, "h3", NULL, "Regions");
	begin_table(out, "regions", headings, sizeof(headings) / sizeof(*headings));
	for (size_t i = 0; i < json_array_size(regions); i++)
		write_region(out, json_array_get(regions, i));
	page_end_table(out);
}

/* ---- findings ---- */

/* A condition, so that the threshold behind it says when it is met. */
static void
write_finding(xmlTextWriterPtr out, const json_t *finding)
{
	autofree char *threshold = rot_format("%s %g %s", json_text_at(finding, "condition"),
					      json_number_at(finding, "threshold"), json_text_at(finding, "unit"));

	html_begin(out, "tr", NULL);
	html_element(out, "td", "stays", json_text_at(finding, "place"));
	write_number(out, 100 * json_number_at(finding, "share"));
	html_element(out, "td", "words", json_text_at(finding, "measured"));
	html_element(out, "td", "words", json_text_at(finding, "consequence"));
	html_element(out, "td", "words", json_text_at(finding, "advice"));
	html_element(out, "td", "words", threshold);
	html_end(out);
}

static void
write_findings(xmlTextWriterPtr out, const json_t *result)
{
	static const char *const headings[] = {"found in",    "of the time|%", "measured",
					       "consequence", "try",           "condition"};
	const json_t *findings = json_object_get(result, "findings");

	if (json_array_size(findings) == 0)
		return;
	html_element(out, "h3", NULL, "Findings");
	begin_table(out, "findings", headings, sizeof(headings) / sizeof(*headings));
	for (size_t i = 0; i < json_array_size(findings); i++)
		write_finding(out, json_array_get(findings, i));
	page_end_table(out);
}

void
page_write_program(xmlTextWriterPtr out, const json_t *result)
{
	const char *bound = json_text_at(result, "bound");

	if (*bound)
		html_element(out, "p", "verdict", bound);
	write_findings(out, result);
	write_functions(out, result);
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
