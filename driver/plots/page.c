/* SPDX-License-Identifier: MIT */
#include "plots/page.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "memory.h"
#include "number.h"
#include "plots/layout.h"
#include "plots/page_internal.h"
#include "plots/svg.h"
#include "quantities/quantity.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "rot.h"

#define X(text) ((const xmlChar *)(text))

/* ---- elements ---- */

void
html_begin(xmlTextWriterPtr out, const char *element, const char *look)
{
	xmlTextWriterStartElement(out, X(element));
	if (look)
		html_attribute(out, "class", look);
}

void
html_end(xmlTextWriterPtr out)
{
	xmlTextWriterFullEndElement(out);
}

void
html_attribute(xmlTextWriterPtr out, const char *name, const char *value)
{
	autofree char *text = xml_text(value);

	xmlTextWriterWriteAttribute(out, X(name), X(text));
}

void
html_text(xmlTextWriterPtr out, const char *text)
{
	autofree char *copy = xml_text(text);

	xmlTextWriterWriteString(out, X(copy));
}

void
html_element(xmlTextWriterPtr out, const char *element, const char *look, const char *text)
{
	html_begin(out, element, look);
	html_text(out, text);
	html_end(out);
}

/* ---- points ---- */

/* The columns: words and units of quantities, axes, names of derived values. */
struct page_columns {
	struct texts rates, axes, others, derived;
	bool has_series, has_label, has_roof;
};

/* The rates, which a roofline shows: they come first, in this order. */
static const char *const rates[] = {"performance", "operationalIntensity"};

enum { NR_RATES = sizeof(rates) / sizeof(rates[0]) };

/* The same words with another unit are another column. Fresh memory. */
static char *
column_of(const json_t *quantity)
{
	autofree char *words = stored_value_words(quantity);

	return rot_format("%s %s", words, json_text_at(quantity, "unit"));
}

/* Adds the quantities of that name (NULL: of no rate's). */
static void
add_quantities(struct pool *pool, struct texts *texts, const json_t *points, const char *name)
{
	const json_t *point, *quantity;
	size_t i, k;

	json_array_foreach(points, i, point) {
		json_array_foreach(json_object_get(point, "quantities"), k, quantity) {
			const char *own = json_text_at(quantity, "name");
			autofree char *column = column_of(quantity);

			if (name ? strcmp(own, name) == 0 : strcmp(own, rates[0]) != 0 && strcmp(own, rates[1]) != 0)
				texts_add(pool, texts, column);
		}
	}
}

static struct page_columns
columns_of(struct pool *pool, const json_t *points)
{
	struct page_columns columns = {.has_series = false};
	const json_t *point, *derived;
	json_t *coordinate;
	const char *axis;
	size_t i, k;

	json_array_foreach(points, i, point) {
		columns.has_series |= *json_text_at(point, "series") != '\0';
		columns.has_label |= *json_text_at(point, "label") != '\0';
		columns.has_roof |= json_object_get(point, "boundBy") != NULL;
		json_object_foreach(json_object_get(point, "coordinates"), axis, coordinate) {
			autofree char *text = json_plain_text(coordinate);

			/* Axes, but for those whose values are the point's series or label. */
			if (strcmp(text, json_text_at(point, "series")) != 0 &&
			    strcmp(text, json_text_at(point, "label")) != 0)
				texts_add(pool, &columns.axes, axis);
		}
		json_array_foreach(json_object_get(point, "derived"), k, derived)
			texts_add(pool, &columns.derived, json_text_at(derived, "name"));
	}
	for (i = 0; i < NR_RATES; i++)
		add_quantities(pool, &columns.rates, points, rates[i]);
	add_quantities(pool, &columns.others, points, NULL);
	return columns;
}

/* ---- headings ---- */

/* Name, what it is of, unit: a line each. */
static void
write_heading(xmlTextWriterPtr out, const json_t *points, const char *column)
{
	const json_t *quantity = NULL;
	struct quantity_value value;

	for (size_t i = 0; !quantity && i < json_array_size(points); i++)
		quantity = stored_quantity(json_array_get(points, i), column_of, column);
	html_begin(out, "th", "number");
	stored_value(quantity, &value); /* a missing value has a name, too */
	if (value.name) {
		autofree char *name = camel_case_words(value.name), *of = value_of_words(&value);

		html_element(out, "span", NULL, name);
		if (*of)
			html_element(out, "span", "of", of);
		if (*value.unit)
			html_element(out, "span", "unit", shown_unit(value.unit).shown);
	} else {
		html_text(out, column);
	}
	html_end(out);
}

static void
write_headings(xmlTextWriterPtr out, const json_t *points, const struct page_columns *columns)
{
	html_begin(out, "thead", NULL);
	html_begin(out, "tr", NULL);
	if (columns->has_series)
		html_element(out, "th", "stays", "series");
	if (columns->has_label)
		html_element(out, "th", columns->has_series ? NULL : "stays", "point");
	for (size_t i = 0; i < columns->rates.nr; i++)
		write_heading(out, points, columns->rates.items[i]);
	if (columns->has_roof) {
		/* How much of its roof it reaches, and which line that is at its intensity. */
		html_begin(out, "th", "number");
		html_element(out, "span", NULL, "of its roof");
		html_element(out, "span", "unit", "%");
		html_end(out);
		html_element(out, "th", NULL, "its roof");
	}
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
	autofree char *text = json_is_string(value)   ? rot_strdup(json_string_value(value))
			      : json_is_number(value) ? rot_format("%.6g%s%s", json_number_value(value) * shown.factor,
								   *shown.shown ? " " : "", shown.shown)
						      : rot_strdup("-");

	html_element(out, "td", "number", text);
}

/* The value; who points at it sees how it is known. */
static void
write_quantity(xmlTextWriterPtr out, const json_t *quantity)
{
	struct quantity_value value = {.name = NULL};
	autofree char *text = NULL, *estimator = NULL, *about = NULL, *look = NULL;

	if (!quantity || stored_value(quantity, &value) < 0) {
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
}

static void
write_roof(xmlTextWriterPtr out, const json_t *point)
{
	const char *ceiling = json_text_at(point, "boundBy");
	const json_t *roof = json_object_get(point, "roof");
	const json_int_t nr_threads = json_integer_value(json_object_get(roof, "threads"));
	const bool is_least = json_is_true(json_object_get(roof, "isLeast"));
	autofree char *digits = *ceiling ? digits_text(100 * json_number_at(point, "roofShare"), 3) : rot_strdup("-");
	autofree char *share = rot_format("%s%s", is_least ? VALUE_AT_MOST : "", digits);
	autofree char *threads = nr_threads > 0
					 ? rot_format(", %d thread%s", (int)nr_threads, rot_plural((double)nr_threads))
					 : rot_strdup("");
	autofree char *line = rot_format("%s%s", *ceiling ? ceiling : "-", threads);

	html_element(out, "td", "number", share);
	html_element(out, "td", "line", line);
}

static void
write_row(xmlTextWriterPtr out, const json_t *point, const struct page_columns *columns)
{
	html_begin(out, "tr", NULL);
	if (columns->has_series)
		html_element(out, "td", "stays", json_text_at(point, "series"));
	if (columns->has_label)
		html_element(out, "td", columns->has_series ? NULL : "stays", json_text_at(point, "label"));
	for (size_t i = 0; i < columns->rates.nr; i++)
		write_quantity(out, stored_quantity(point, column_of, columns->rates.items[i]));
	if (columns->has_roof)
		write_roof(out, point);
	for (size_t i = 0; i < columns->axes.nr; i++)
		write_plain(out, json_object_get(json_object_get(point, "coordinates"), columns->axes.items[i]), "");
	for (size_t i = 0; i < columns->others.nr; i++)
		write_quantity(out, stored_quantity(point, column_of, columns->others.items[i]));
	for (size_t i = 0; i < columns->derived.nr; i++) {
		const json_t *derived = json_named(json_object_get(point, "derived"), columns->derived.items[i]);

		write_plain(out, json_object_get(derived, "value"), json_text_at(derived, "unit"));
	}
	html_end(out);
}

static void
write_marks(xmlTextWriterPtr out, const json_t *points)
{
	autopool pool = {0};
	const struct texts marks = remarks_marks(&pool, points);

	html_begin(out, "p", "small");
	for (size_t i = 0; i < marks.nr; i++) {
		html_text(out, marks.items[i]);
		html_text(out, ". ");
	}
	html_text(out, "Point at a value to see its estimator, number of runs and source.");
	html_end(out);
}

static void
write_points(xmlTextWriterPtr out, const json_t *result)
{
	autopool pool = {0};
	const json_t *points = json_object_get(result, "points");
	const struct page_columns columns = columns_of(&pool, points);

	page_begin_wide(out, "values");
	html_begin(out, "table", "sortable");
	write_headings(out, points, &columns);
	html_begin(out, "tbody", NULL);
	for (size_t i = 0; i < json_array_size(points); i++)
		write_row(out, json_array_get(points, i), &columns);
	page_end_table(out);
	write_marks(out, points);
}

/* The class of scripts that hold results. */
#define RESULT_CLASS "rot-result"

struct page {
	char *title;
	xmlBufferPtr pictures;
	xmlTextWriterPtr writer; /* of the pictures */
	size_t nr_pictures;
	double zoom;   /* of the layout outside of figures */
	bool has_view; /* the one that is shown at first */
};

void
page_begin_wide(xmlTextWriterPtr out, const char *name)
{
	html_begin(out, "div", "wide");
	html_attribute(out, "tabindex", "0");
	html_attribute(out, "role", "region");
	html_attribute(out, "aria-label", name);
}

void
page_end_table(xmlTextWriterPtr out)
{
	html_end(out);
	html_end(out);
	html_end(out);
}

/* ---- pictures ---- */

struct page *
page_new(const char *title)
{
	struct page *page = rot_calloc(1, sizeof(*page));

	page->title = rot_strdup(title);
	page->pictures = xmlBufferCreate();
	page->writer = xmlNewTextWriterMemory(page->pictures, 0);
	return page;
}

void
page_delete(struct page *page)
{
	if (!page)
		return;
	xmlFreeTextWriter(page->writer);
	xmlBufferFree(page->pictures);
	free(page->title);
	free(page);
}

/* An entry for each series, which the script makes a button that hides it; without the script a list. */
static void
write_legend(xmlTextWriterPtr out, const struct plot_series *series, size_t nr_series, const char *id)
{
	html_begin(out, "ul", "legend");
	for (size_t i = 0; i < nr_series; i++) {
		autofree char *target = rot_format("%s-%zu", id, i);

		html_begin(out, "li", NULL);
		html_attribute(out, "data-series", target);
		svg_write_mark(out, &series[i], i);
		html_element(out, "span", NULL, *series[i].name ? series[i].name : "points");
		html_end(out);
	}
	html_end(out);
}

/* Each picture is there twice, and the style sheet shows one: as wide as a page may be, and laid out for a narrow one.
 */
static const struct {
	const char *look;
	double least_zoom;
} widths[] = {{"broad", 0}, {"narrow", 1.7}};

enum { NR_WIDTHS = sizeof(widths) / sizeof(widths[0]) };

/* Until figure_end the layout is that of the width. Gives the picture's id, in fresh memory. */
static char *
figure_begin(struct page *page, size_t width, const struct plot_frame *frame, const struct plot_series *series,
	     size_t nr_series, const struct page_view *view)
{
	autofree char *look = rot_format("%s%s", widths[width].look, view->border && page->has_view ? " unchosen" : "");

	char *id = rot_format("plot%zu", ++page->nr_pictures);

	page->zoom = layout_zoom;
	layout_zoom = fmax(layout_zoom, widths[width].least_zoom);
	html_begin(page->writer, "figure", look);
	if (view->border) {
		html_attribute(page->writer, "data-border", view->border);
		html_attribute(page->writer, "data-precision", view->precision);
		html_attribute(page->writer, "data-dots", view->places);
	}
	if (strcmp(frame->title, page->title) != 0)
		html_element(page->writer, "h2", NULL, frame->title);
	if (nr_series > 0)
		write_legend(page->writer, series, nr_series, id);
	return id;
}

static void
figure_end(struct page *page, const char *caption)
{
	if (*caption)
		html_element(page->writer, "figcaption", NULL, caption);
	html_end(page->writer);
	layout_zoom = page->zoom;
}

void
page_add_roofline(struct page *page, const struct roofline_plot *plot, const struct page_view *view)
{
	for (size_t i = 0; i < NR_WIDTHS; i++) {
		autofree char *id = figure_begin(page, i, &plot->frame, plot->series, plot->nr_series, view);
		autofree char *caption = roofline_svg_write(plot, id, page->writer);

		figure_end(page, caption);
	}
	page->has_view = page->has_view || view->border;
}

void
page_add_series(struct page *page, const struct plot_frame *frame, const struct plot_series *series, size_t nr_series,
		bool shows_spread)
{
	for (size_t i = 0; i < NR_WIDTHS; i++) {
		autofree char *id =
			figure_begin(page, i, frame, series, nr_series, &(struct page_view){.border = NULL});
		autofree char *caption = series_svg_write(frame, series, nr_series, shows_spread, id, page->writer);

		figure_end(page, caption);
	}
}

void
page_add_text(struct page *page, const char *heading, const char *text)
{
	html_element(page->writer, "h2", NULL, heading);
	page_begin_wide(page->writer, heading);
	html_element(page->writer, "pre", "code", text);
	html_end(page->writer);
}

/* ---- the document ---- */

/* Style or script: a file of rot's own, taken as it is. It has neither "<" nor "&", for HTML and XML read those
 * differently. */
static int
write_own_file(xmlTextWriterPtr out, const char *element, const char *data_folder, const char *name,
	       struct rot_error *err)
{
	autofree char *path = rot_format("%s/driver/plots/%s", data_folder, name), *text = file_read(path, NULL, err);

	if (!text)
		return rot_error_prefix(err, "cannot make a page");
	html_begin(out, element, NULL);
	xmlTextWriterWriteRaw(out, X(text));
	html_end(out);
	return 0;
}

static void
write_meta(xmlTextWriterPtr out, const char *key, const char *value, const char *content)
{
	xmlTextWriterStartElement(out, X("meta"));
	html_attribute(out, key, value);
	if (content)
		html_attribute(out, "content", content);
	xmlTextWriterEndElement(out);
}

static int
write_head(xmlTextWriterPtr out, const struct page *page, const char *data_folder, struct rot_error *err)
{
	int rc;

	html_begin(out, "head", NULL);
	write_meta(out, "charset", "utf-8", NULL);
	write_meta(out, "name", "viewport", "width=device-width, initial-scale=1");
	write_meta(out, "name", "generator", "rot");
	write_meta(out, "name", "color-scheme", "light dark");
	html_element(out, "title", NULL, page->title);
	rc = write_own_file(out, "style", data_folder, "page.css", err);
	html_end(out);
	return rc;
}

static void
write_result(xmlTextWriterPtr out, const struct page_result *result, const struct rot *rot, size_t number)
{
	html_begin(out, "section", NULL);
	if (*result->name)
		html_element(out, "h2", NULL, result->name);
	page_write_program(out, result->json, rot, number);
	html_element(out, "h3", NULL, "Values");
	write_points(out, result->json);
	html_element(out, "h3", NULL, "How do we know?");
	page_write_methods(out, result->json);
	/* A click puts this away; it is open at first, and when it is printed (page.js). */
	html_begin(out, "details", NULL);
	html_attribute(out, "open", "open");
	html_element(out, "summary", NULL, "Where it is from");
	page_write_origin(out, result->json);
	html_end(out);
	html_end(out);
}

/* "<", ">" and "&" only stand within texts of JSON, where they have another form. */
static void
write_json(xmlTextWriterPtr out, const json_t *json)
{
	static const struct {
		char character;
		const char *escape;
	} escapes[] = {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}};
	autofree char *text = json_dumps(json, JSON_COMPACT);
	const char *from = text;

	while (from && *from) {
		const size_t length = strcspn(from, "<>&");

		xmlTextWriterWriteRawLen(out, X(from), (int)length);
		from += length;
		for (size_t i = 0; *from && i < sizeof(escapes) / sizeof(*escapes); i++)
			if (*from == escapes[i].character) {
				xmlTextWriterWriteRaw(out, X(escapes[i].escape));
				from++;
				break;
			}
	}
}

static int
write_body(xmlTextWriterPtr out, const struct page *page, const struct page_result *results, size_t nr,
	   const struct rot *rot, struct rot_error *err)
{
	int rc;

	html_begin(out, "body", NULL);
	html_begin(out, "main", NULL);
	html_element(out, "h1", NULL, page->title);
	xmlTextWriterWriteRaw(out, xmlBufferContent(page->pictures));
	for (size_t i = 0; i < nr; i++)
		write_result(out, &results[i], rot, i);
	html_begin(out, "footer", NULL);
	html_text(out, "Made by rot. This file holds everything: save it, send it, print it");
	html_text(out, nr == 1 ? "; rot plot FILE.html draws it again." : ".");
	html_end(out);
	html_end(out);
	for (size_t i = 0; i < nr; i++) {
		html_begin(out, "script", RESULT_CLASS);
		html_attribute(out, "type", "application/json");
		html_attribute(out, "data-name", results[i].name);
		write_json(out, results[i].json);
		html_end(out);
	}
	rc = write_own_file(out, "script", rot->paths->data, "page.js", err);
	html_end(out);
	return rc;
}

static int
write_document(xmlTextWriterPtr out, const struct page *page, const struct page_result *results, size_t nr,
	       const struct rot *rot, struct rot_error *err)
{
	xmlTextWriterWriteDTD(out, X("html"), NULL, NULL, NULL);
	xmlTextWriterWriteRaw(out, X("\n"));
	html_begin(out, "html", NULL);
	html_attribute(out, "lang", "en");
	if (write_head(out, page, rot->paths->data, err) < 0 || write_body(out, page, results, nr, rot, err) < 0)
		return -1;
	html_end(out);
	xmlTextWriterWriteRaw(out, X("\n"));
	return 0;
}

/* How the writer has it within attributes, where it spells what is not ASCII. Fresh memory. */
static char *
attribute_text(const char *text)
{
	static const char name[] = "a";
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr out = xmlNewTextWriterMemory(buffer, 0);
	const char *begin, *end;
	char *own;

	xmlTextWriterStartElement(out, X(name));
	html_attribute(out, name, text);
	xmlTextWriterEndElement(out);
	xmlFreeTextWriter(out);
	begin = strchr((const char *)xmlBufferContent(buffer), '"') + 1;
	end = strrchr(begin, '"');
	own = rot_strndup(begin, (size_t)(end - begin));
	xmlBufferFree(buffer);
	return own;
}

int
page_write(const struct page *page, const struct page_result *results, size_t nr_results, const struct rot *rot,
	   const char *output_name, struct rot_error *err)
{
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr out = xmlNewTextWriterMemory(buffer, 0);
	autofree char *path = rot_format("%s.html", output_name);
	int rc;

	xmlTextWriterFlush(page->writer);
	rc = write_document(out, page, results, nr_results, rot, err);
	xmlFreeTextWriter(out);
	if (rc == 0) {
		/* The whole document is looked at, so that no part of it can be forgotten. */
		autofree char *home = home_folder(), *spelled = attribute_text(home);
		autofree char *rest = home_hide((const char *)xmlBufferContent(buffer), spelled);
		autofree char *text = home_hide_own(rest);

		rc = file_deliver(path, text, strlen(text), false, err);
		if (rc == 0)
			output_tell(path);
	}
	xmlBufferFree(buffer);
	return rc;
}

/* ---- reading ---- */

bool
page_is_page(const char *text, size_t length)
{
	static const char beginning[] = "<!DOCTYPE html>";

	return length >= sizeof(beginning) - 1 && strncmp(text, beginning, sizeof(beginning) - 1) == 0;
}

static json_t *
result_of_document(xmlDocPtr document, const char *path, struct rot_error *err)
{
	xmlXPathContextPtr context = xmlXPathNewContext(document);
	xmlXPathObjectPtr found = xmlXPathEvalExpression(X("//script[@class='" RESULT_CLASS "']"), context);
	const int nr = found && found->nodesetval ? found->nodesetval->nodeNr : 0;
	json_t *json = NULL;

	if (nr == 1) {
		xmlChar *text = xmlNodeGetContent(found->nodesetval->nodeTab[0]);

		json = json_loads((const char *)text, JSON_REJECT_DUPLICATES, NULL);
		xmlFree(text);
		if (!json)
			rot_error_set(err, 0, "'%s': the data of the page are damaged", path);
	} else if (nr == 0) {
		rot_error_set(err, 0, "'%s' is no page of rot", path);
	} else {
		rot_error_set(err, 0, "'%s' is a page of %d results", path, nr);
		rot_error_hint(err, "draw the .json files that it was made of, or pages of one result each");
	}
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	return json;
}

json_t *
page_read_result(const char *path, const char *text, size_t length, struct rot_error *err)
{
	xmlDocPtr document =
		length < INT32_MAX
			? xmlReadMemory(text, (int)length, NULL, NULL,
					XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE)
			: NULL;
	json_t *json;

	if (!document) {
		rot_error_set(err, 0, "'%s' is no page of rot, or damaged", path);
		return NULL;
	}
	json = result_of_document(document, path, err);
	xmlFreeDoc(document);
	return json;
}
