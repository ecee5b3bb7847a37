/* SPDX-License-Identifier: MIT */
/* The code of functions, closed until somebody asks for it. */
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "memory.h"
#include "plots/page_internal.h"

/* A page stays small: it has so many functions, and so many lines of each, hot loops first. */
#define MOST_FUNCTIONS 10
#define MOST_LINES 1000

/* ---- which ---- */

struct page_codes
page_codes_of(struct pool *pool, const struct rot *rot, const json_t *result, size_t number)
{
	static const struct annotated_options options = {.is_all = false};
	const json_t *functions = json_object_get(json_object_get(result, "functions"), "functions"), *function;
	struct page_codes codes = {.result = number};
	size_t i;

	codes.items = pool_calloc(pool, MOST_FUNCTIONS, sizeof(*codes.items));
	json_array_foreach(functions, i, function) {
		struct page_code *item = &codes.items[codes.nr];
		struct rot_error err = {0};

		if (codes.nr + codes.missing.nr == MOST_FUNCTIONS)
			break;
		if (!json_object_get(function, "code"))
			continue;
		*item = (struct page_code){.function = function, .number = i};
		if (annotated_code_make(pool, &item->code, rot, result, function, &options, &err) < 0) {
			texts_add(pool, &codes.missing, err.text);
			continue;
		}
		for (size_t nr_lines = 0; item->nr_loops < item->code.nr_loops && nr_lines < MOST_LINES;)
			nr_lines += item->code.loops[item->nr_loops++].nr_lines;
		codes.nr++;
	}
	return codes;
}

static char *
id_of(const struct page_codes *codes, const struct page_code *code, uint64_t header)
{
	char *id = rot_format("code-%zu-%zu", codes->result, code->number);

	if (header)
		rot_append(&id, "-%llx", (unsigned long long)header);
	return id;
}

static bool
is_of(const json_t *place, const struct page_code *code, uint64_t header)
{
	return json_number_at(place, header ? "functionAddress" : "address") ==
		       json_number_at(code->function, "address") &&
	       strcmp(json_text_at(place, "object"), json_text_at(code->function, "object")) == 0;
}

char *
page_code_id(const struct page_codes *codes, const json_t *place, uint64_t header)
{
	for (size_t i = 0; i < codes->nr; i++) {
		const struct page_code *code = &codes->items[i];

		if (!is_of(place, code, header))
			continue;
		for (size_t k = 0; k < code->nr_loops; k++)
			if (header == 0 || code->code.loops[k].header == header)
				return id_of(codes, code, header);
	}
	return NULL;
}

/* ---- tables ---- */

static void
write_line(xmlTextWriterPtr out, const struct annotated_line *line, size_t nr_columns)
{
	html_begin(out, "tr", line->cells ? NULL : line->number ? "source" : "small");
	if (line->cells) {
		for (size_t k = 0; k < nr_columns; k++)
			html_element(out, "td", NULL, line->cells[k]);
	} else {
		html_begin(out, "td", NULL);
		xmlTextWriterWriteFormatAttribute(out, (const xmlChar *)"colspan", "%zu", nr_columns);
		if (line->number)
			xmlTextWriterWriteFormatString(out, "%d", line->number);
		html_end(out);
	}
	html_element(out, "td", NULL, line->text);
	html_end(out);
}

/* At most so many lines; how many of them are left. */
static size_t
write_loop(xmlTextWriterPtr out, const struct annotated_code *code, const struct annotated_loop *loop, size_t nr_left)
{
	const size_t nr = loop->nr_lines < nr_left ? loop->nr_lines : nr_left;

	page_begin_wide(out, loop->title);
	html_begin(out, "table", "code");
	html_begin(out, "thead", NULL);
	html_begin(out, "tr", NULL);
	for (size_t k = 0; k < code->headings.nr; k++)
		html_element(out, "th", NULL, code->headings.items[k]);
	html_element(out, "th", NULL, "instruction");
	html_end(out);
	html_end(out);
	html_begin(out, "tbody", NULL);
	for (size_t i = 0; i < nr; i++)
		write_line(out, &loop->lines[i], code->headings.nr);
	page_end_table(out);
	return nr_left - nr;
}

static void
write_code(xmlTextWriterPtr out, const struct page_codes *codes, const struct page_code *item)
{
	const struct annotated_code *code = &item->code;
	autofree char *id = id_of(codes, item, 0), *text = NULL;
	size_t nr_left = MOST_LINES, nr_lines = 0;

	html_begin(out, "details", "code-of");
	html_attribute(out, "id", id);
	html_element(out, "summary", NULL, code->about.items[0]);
	for (size_t i = 1; i < code->about.nr; i++)
		html_element(out, "p", "small", code->about.items[i]);
	for (size_t i = 0; i < code->nr_loops; i++)
		nr_lines += code->loops[i].nr_lines;
	for (size_t i = 0; i < item->nr_loops; i++) {
		autofree char *loop = id_of(codes, item, code->loops[i].header);

		html_begin(out, "h4", NULL);
		if (code->loops[i].header)
			html_attribute(out, "id", loop);
		html_text(out, code->loops[i].title);
		html_end(out);
		nr_left = write_loop(out, code, &code->loops[i], nr_left);
	}
	if (nr_lines > MOST_LINES) {
		autofree char *name = function_title(item->function, 0);

		text = rot_format("%zu more lines, of colder code, are not here: rot show RESULT.json '%s' has them.",
				  nr_lines - MOST_LINES, name);
		html_element(out, "p", "small", text);
	}
	html_end(out);
}

void
page_write_codes(xmlTextWriterPtr out, const struct page_codes *codes)
{
	if (codes->nr + codes->missing.nr == 0)
		return;
	html_element(out, "h3", NULL, "Code");
	for (size_t i = 0; i < codes->nr; i++)
		write_code(out, codes, &codes->items[i]);
	for (size_t i = 0; i < codes->missing.nr; i++)
		html_element(out, "p", "small", codes->missing.items[i]);
	html_element(out, "p", "small",
		     "Functions with most of the time. rot show RESULT.json FUNCTION has the code of others.");
}
