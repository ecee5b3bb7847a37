/* SPDX-License-Identifier: MIT */
/* The table of a result's points. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "page/page_internal.h"
#include "quantities/stored_value.h"
#include "quantities/value_text.h"
#include "support/json.h"

/* What the columns are: words and units of quantities, axes, names of derived values. */
struct columns {
	struct page_texts rates, axes, others, derived;
	bool has_series, has_label, has_roof;
};

/* The rates, which a roofline shows: they come first, in this order. */
static const char *const rates[] = {"performance", "operationalIntensity"};

enum { NR_RATES = sizeof(rates) / sizeof(rates[0]) };

/* Of the same words, those of another unit are another column. Fresh memory. */
static char *
column_of(const json_t *quantity)
{
	char *words = stored_value_words(quantity),
	     *column = rot_format("%s %s", words, json_text_at(quantity, "unit"));

	free(words);
	return column;
}

/* Those of that name (NULL: of no rate's). */
static void
add_quantities(struct page_texts *texts, const json_t *points, const char *name)
{
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *quantities = json_object_get(json_array_get(points, i), "quantities");

		for (size_t k = 0; k < json_array_size(quantities); k++) {
			const json_t *quantity = json_array_get(quantities, k);
			const char *own = json_text_at(quantity, "name");
			char *column = column_of(quantity);

			if (name ? strcmp(own, name) == 0 : strcmp(own, rates[0]) != 0 && strcmp(own, rates[1]) != 0)
				page_texts_add(texts, column);
			free(column);
		}
	}
}

/* A coordinate as labels have it; fresh memory. */
static char *
coordinate_text(const json_t *coordinate)
{
	return json_is_string(coordinate)   ? rot_strdup(json_string_value(coordinate))
	       : json_is_number(coordinate) ? rot_number_in_full(json_number_value(coordinate))
					    : rot_strdup("");
}

/* Axes, but for those whose values are the point's series or label. */
static void
add_axes(struct columns *columns, const json_t *point)
{
	json_t *coordinates = json_object_get(point, "coordinates");

	for (void *at = json_object_iter(coordinates); at; at = json_object_iter_next(coordinates, at)) {
		char *text = coordinate_text(json_object_iter_value(at));

		if (strcmp(text, json_text_at(point, "series")) != 0 && strcmp(text, json_text_at(point, "label")) != 0)
			page_texts_add(&columns->axes, json_object_iter_key(at));
		free(text);
	}
}

static struct columns
columns_of(const json_t *points)
{
	struct columns columns = {.has_series = false};

	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *point = json_array_get(points, i), *derived = json_object_get(point, "derived");

		columns.has_series = columns.has_series || *json_text_at(point, "series");
		columns.has_label = columns.has_label || *json_text_at(point, "label");
		columns.has_roof = columns.has_roof || json_object_get(point, "boundBy");
		add_axes(&columns, point);
		for (size_t k = 0; k < json_array_size(derived); k++)
			page_texts_add(&columns.derived, json_text_at(json_array_get(derived, k), "name"));
	}
	for (size_t i = 0; i < NR_RATES; i++)
		add_quantities(&columns.rates, points, rates[i]);
	add_quantities(&columns.others, points, NULL);
	return columns;
}

static const json_t *
quantity_of(const json_t *point, const char *column)
{
	const json_t *quantities = json_object_get(point, "quantities"), *found = NULL;

	for (size_t i = 0; !found && i < json_array_size(quantities); i++) {
		char *own = column_of(json_array_get(quantities, i));

		if (strcmp(own, column) == 0)
			found = json_array_get(quantities, i);
		free(own);
	}
	return found;
}

static const json_t *
derived_of(const json_t *point, const char *name)
{
	const json_t *derived = json_object_get(point, "derived");

	for (size_t i = 0; i < json_array_size(derived); i++)
		if (strcmp(json_text_at(json_array_get(derived, i), "name"), name) == 0)
			return json_array_get(derived, i);
	return NULL;
}

/* ---- headings ---- */

/* Name, what it is of, unit: a line each. */
static void
write_heading(xmlTextWriterPtr out, const json_t *points, const char *column)
{
	const json_t *quantity = NULL;
	struct quantity_value value;

	for (size_t i = 0; !quantity && i < json_array_size(points); i++)
		quantity = quantity_of(json_array_get(points, i), column);
	html_begin(out, "th", "number");
	if (stored_value(quantity, &value) == 0) {
		char *name = camel_case_words(value.name), *of = value_of_words(&value);

		html_element(out, "span", NULL, name);
		if (*of)
			html_element(out, "span", "of", of);
		if (*value.unit)
			html_element(out, "span", "unit", shown_unit(value.unit).shown);
		free(name);
		free(of);
	} else {
		html_text(out, column);
	}
	quantity_value_clear(&value);
	html_end(out);
}

/* How much of its roof it reaches, and which line that is at its intensity. */
static void
write_roof_headings(xmlTextWriterPtr out)
{
	html_begin(out, "th", "number");
	html_element(out, "span", NULL, "of its roof");
	html_element(out, "span", "unit", "%");
	html_end(out);
	html_element(out, "th", NULL, "its roof");
}

static void
write_headings(xmlTextWriterPtr out, const json_t *points, const struct columns *columns)
{
	html_begin(out, "thead", NULL);
	html_begin(out, "tr", NULL);
	if (columns->has_series)
		html_element(out, "th", "stays", "series");
	if (columns->has_label)
		html_element(out, "th", columns->has_series ? NULL : "stays", "point");
	for (size_t i = 0; i < columns->rates.nr; i++)
		write_heading(out, points, columns->rates.items[i]);
	if (columns->has_roof)
		write_roof_headings(out);
	for (size_t i = 0; i < columns->axes.nr; i++)
		html_element(out, "th", "number", columns->axes.items[i]);
	for (size_t i = 0; i < columns->others.nr; i++)
		write_heading(out, points, columns->others.items[i]);
	for (size_t i = 0; i < columns->derived.nr; i++)
		html_element(out, "th", "number", columns->derived.items[i]);
	html_end(out);
	html_end(out);
}

/* ---- rows ---- */

/* A text as it is, a number in few digits. */
static void
write_plain(xmlTextWriterPtr out, const json_t *value, const char *unit)
{
	const struct shown_unit shown = shown_unit(unit);
	char *text = json_is_string(value)   ? rot_strdup(json_string_value(value))
		     : json_is_number(value) ? rot_format("%.6g%s%s", json_number_value(value) * shown.factor,
							  *shown.shown ? " " : "", shown.shown)
					     : rot_strdup("-");

	html_element(out, "td", "number", text);
	free(text);
}

/* The value; who points at it sees how it is known. */
static void
write_quantity(xmlTextWriterPtr out, const json_t *quantity)
{
	struct quantity_value value = {.name = NULL};
	char *text, *estimator, *about, *look;

	if (!quantity || stored_value(quantity, &value) < 0) {
		quantity_value_clear(&value);
		html_element(out, "td", "number", "-");
		return;
	}
	text = value_text(&value);
	estimator = camel_case_words(value.summary.estimator);
	about = rot_format("%s, n = %zu\n%s: %s%s%s", estimator, value.summary.n, page_kind_of(quantity), value.source,
			   *value.grade ? "\ngrade " : "", value.grade);
	look = rot_format("number %s", value.kind);
	html_begin(out, "td", look);
	html_attribute(out, "title", about);
	html_text(out, text);
	html_end(out);
	free(text);
	free(estimator);
	free(about);
	free(look);
	quantity_value_clear(&value);
}

static void
write_roof(xmlTextWriterPtr out, const json_t *point)
{
	const char *ceiling = json_text_at(point, "boundBy");
	const json_int_t nr_threads = json_integer_value(json_object_get(json_object_get(point, "roof"), "threads"));
	char *share = *ceiling ? rot_format("%.3g", 100 * json_number_at(point, "roofShare")) : rot_strdup("-");
	char *threads = nr_threads > 0 ? rot_format(", %d thread%s", (int)nr_threads, nr_threads == 1 ? "" : "s")
				       : rot_strdup("");
	char *line = rot_format("%s%s", *ceiling ? ceiling : "-", threads);

	html_element(out, "td", "number", share);
	html_element(out, "td", "line", line);
	free(share);
	free(threads);
	free(line);
}

static void
write_row(xmlTextWriterPtr out, const json_t *point, const struct columns *columns)
{
	html_begin(out, "tr", NULL);
	if (columns->has_series)
		html_element(out, "td", "stays", json_text_at(point, "series"));
	if (columns->has_label)
		html_element(out, "td", columns->has_series ? NULL : "stays", json_text_at(point, "label"));
	for (size_t i = 0; i < columns->rates.nr; i++)
		write_quantity(out, quantity_of(point, columns->rates.items[i]));
	if (columns->has_roof)
		write_roof(out, point);
	for (size_t i = 0; i < columns->axes.nr; i++)
		write_plain(out, json_object_get(json_object_get(point, "coordinates"), columns->axes.items[i]), "");
	for (size_t i = 0; i < columns->others.nr; i++)
		write_quantity(out, quantity_of(point, columns->others.items[i]));
	for (size_t i = 0; i < columns->derived.nr; i++) {
		const json_t *derived = derived_of(point, columns->derived.items[i]);

		write_plain(out, json_object_get(derived, "value"), json_text_at(derived, "unit"));
	}
	html_end(out);
}

static bool
has_kind(const json_t *points, const char *kind)
{
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *quantities = json_object_get(json_array_get(points, i), "quantities");

		for (size_t k = 0; k < json_array_size(quantities); k++)
			if (strcmp(json_text_at(json_array_get(quantities, k), "kind"), kind) == 0)
				return true;
	}
	return false;
}

static void
write_marks(xmlTextWriterPtr out, const json_t *points)
{
	html_begin(out, "p", "small");
	html_text(out, "\u00b1 and [low, high]: interval of at least 95 % for the estimate.");
	for (size_t i = 0; i < value_nr_kinds; i++)
		if (*value_kinds[i].mark && has_kind(points, value_kinds[i].kind)) {
			char *text = rot_format(" %s: %s.", value_kinds[i].mark, value_kinds[i].meaning);

			html_text(out, text);
			free(text);
		}
	html_text(out, " Point at a value to see its estimator, number of runs and source.");
	html_end(out);
}

void
page_write_points(xmlTextWriterPtr out, const json_t *result)
{
	const json_t *points = json_object_get(result, "points");
	struct columns columns = columns_of(points);

	page_begin_wide(out, "values");
	html_begin(out, "table", NULL);
	write_headings(out, points, &columns);
	html_begin(out, "tbody", NULL);
	for (size_t i = 0; i < json_array_size(points); i++)
		write_row(out, json_array_get(points, i), &columns);
	html_end(out);
	html_end(out);
	html_end(out);
	write_marks(out, points);
	page_texts_clear(&columns.rates);
	page_texts_clear(&columns.axes);
	page_texts_clear(&columns.others);
	page_texts_clear(&columns.derived);
}
