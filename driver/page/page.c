/* SPDX-License-Identifier: MIT */
/* See page.h. */
#include "page/page.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "page/page_internal.h"
#include "plots/svg.h"
#include "support/files.h"
#include "support/home.h"
#include "support/json.h"
#include "support/output.h"

#define X(text) ((const xmlChar *)(text))

/* Of the scripts that hold results. */
#define RESULT_CLASS "rot-result"

struct page {
	char *title;
	xmlBufferPtr pictures;
	xmlTextWriterPtr writer; /* of the pictures */
	size_t nr_pictures;
};

/* ---- texts ---- */

void
page_texts_add(struct page_texts *texts, const char *text)
{
	if (!text || !*text)
		return;
	for (size_t i = 0; i < texts->nr; i++)
		if (strcmp(texts->items[i], text) == 0)
			return;
	texts->items = rot_realloc(texts->items, texts->nr + 1, sizeof(*texts->items));
	texts->items[texts->nr++] = rot_strdup(text);
}

void
page_texts_clear(struct page_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct page_texts){.nr = 0};
}

char *
page_texts_joined(const struct page_texts *texts)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < texts->nr; i++) {
		char *longer = rot_format("%s%s%s", text,
					  i == 0               ? ""
					  : i + 1 == texts->nr ? " and "
							       : ", ",
					  texts->items[i]);

		free(text);
		text = longer;
	}
	return text;
}

void
page_begin_wide(xmlTextWriterPtr out, const char *name)
{
	html_begin(out, "div", "wide");
	html_attribute(out, "tabindex", "0");
	html_attribute(out, "role", "region");
	html_attribute(out, "aria-label", name);
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
		char *target = rot_format("%s-%zu", id, i);

		html_begin(out, "li", NULL);
		html_attribute(out, "data-series", target);
		svg_write_mark(out, &series[i], i);
		html_element(out, "span", NULL, *series[i].name ? series[i].name : "points");
		html_end(out);
		free(target);
	}
	html_end(out);
}

/* Shown where the page is narrower than the picture: then names of its lines may be out of sight. roofline: or NULL. */
static void
write_hint(xmlTextWriterPtr out, const struct roofline_plot *roofline)
{
	html_begin(out, "p", "small hint");
	html_text(out, "The picture goes on to the right.");
	for (size_t i = 0; roofline && i < roofline->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &roofline->ceilings[i];
		char *line = rot_format("%s %s (%s)", i ? ";" : " Its lines:", ceiling->name, ceiling->label);

		html_text(out, line);
		free(line);
	}
	html_end(out);
}

static char *
picture_begin(struct page *page, const struct plot_frame *frame, const struct plot_series *series, size_t nr_series,
	      const struct roofline_plot *roofline)
{
	char *id = rot_format("plot%zu", ++page->nr_pictures);

	html_begin(page->writer, "figure", NULL);
	if (strcmp(frame->title, page->title) != 0)
		html_element(page->writer, "h2", NULL, frame->title);
	if (nr_series > 0)
		write_legend(page->writer, series, nr_series, id);
	write_hint(page->writer, roofline);
	html_begin(page->writer, "div", "picture");
	return id;
}

static void
picture_end(struct page *page, char *caption, char *id)
{
	html_end(page->writer);
	if (*caption)
		html_element(page->writer, "figcaption", NULL, caption);
	html_end(page->writer);
	free(caption);
	free(id);
}

void
page_add_roofline(struct page *page, const struct roofline_plot *plot)
{
	char *id = picture_begin(page, &plot->frame, plot->series, plot->nr_series, plot);

	picture_end(page, roofline_svg_write(plot, id, page->writer), id);
}

void
page_add_series(struct page *page, const struct plot_frame *frame, const struct plot_series *series, size_t nr_series,
		bool shows_spread)
{
	char *id = picture_begin(page, frame, series, nr_series, NULL);

	picture_end(page, series_svg_write(frame, series, nr_series, shows_spread, id, page->writer), id);
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
	char *path = rot_format("%s/driver/page/%s", data_folder, name), *text = file_read(path, NULL, err);

	free(path);
	if (!text)
		return rot_error_prefix(err, "cannot make a page");
	html_begin(out, element, NULL);
	xmlTextWriterWriteRaw(out, X(text));
	html_end(out);
	free(text);
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

/* What a click puts away: open at first, and when it is printed (page.js). */
static void
begin_details(xmlTextWriterPtr out, const char *summary)
{
	html_begin(out, "details", NULL);
	html_attribute(out, "open", "open");
	html_element(out, "summary", NULL, summary);
}

static void
write_result(xmlTextWriterPtr out, const struct page_result *result)
{
	html_begin(out, "section", NULL);
	if (*result->name)
		html_element(out, "h2", NULL, result->name);
	html_element(out, "h3", NULL, "Values");
	page_write_points(out, result->json);
	html_element(out, "h3", NULL, "How do we know?");
	page_write_methods(out, result->json);
	begin_details(out, "Where it is from");
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
	char *text = json_dumps(json, JSON_COMPACT), *from = text;

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
	free(text);
}

static int
write_body(xmlTextWriterPtr out, const struct page *page, const struct page_result *results, size_t nr,
	   const char *data_folder, struct rot_error *err)
{
	int rc;

	html_begin(out, "body", NULL);
	html_begin(out, "main", NULL);
	html_element(out, "h1", NULL, page->title);
	xmlTextWriterWriteRaw(out, xmlBufferContent(page->pictures));
	for (size_t i = 0; i < nr; i++)
		write_result(out, &results[i]);
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
	rc = write_own_file(out, "script", data_folder, "page.js", err);
	html_end(out);
	return rc;
}

static int
write_document(xmlTextWriterPtr out, const struct page *page, const struct page_result *results, size_t nr,
	       const char *data_folder, struct rot_error *err)
{
	xmlTextWriterWriteDTD(out, X("html"), NULL, NULL, NULL);
	xmlTextWriterWriteRaw(out, X("\n"));
	html_begin(out, "html", NULL);
	html_attribute(out, "lang", "en");
	if (write_head(out, page, data_folder, err) < 0 || write_body(out, page, results, nr, data_folder, err) < 0)
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

/* Of the whole document, so that no part of it can be forgotten. Fresh memory. */
static char *
without_home(const char *document)
{
	char *home = home_folder(), *spelled = attribute_text(home);
	char *rest = home_hide(document, spelled), *text = home_hide_own(rest);

	free(home);
	free(spelled);
	free(rest);
	return text;
}

int
page_write(const struct page *page, const struct page_result *results, size_t nr_results, const char *data_folder,
	   const char *output_name, struct rot_error *err)
{
	xmlBufferPtr buffer = xmlBufferCreate();
	xmlTextWriterPtr out = xmlNewTextWriterMemory(buffer, 0);
	char *path = rot_format("%s.html", output_name);
	int rc;

	xmlTextWriterFlush(page->writer);
	rc = write_document(out, page, results, nr_results, data_folder, err);
	xmlFreeTextWriter(out);
	if (rc == 0) {
		char *text = without_home((const char *)xmlBufferContent(buffer));

		rc = file_deliver(path, text, strlen(text), false, err);
		free(text);
		if (rc == 0)
			output_tell(path);
	}
	xmlBufferFree(buffer);
	free(path);
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
