/* SPDX-License-Identifier: MIT */
/* Tables with a heading for each cell, which a narrow page shows beside it: there a row is a card. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "memory.h"
#include "number.h"
#include "plots/page_internal.h"
#include "quantities/value_text.h"

/* A card has no line for a cell that is not known. */
static void
begin_cell(struct page_table *table, const char *look, bool is_known)
{
	const char *heading = table->headings[table->column++];
	autofree char *looks = rot_format("%s%s", look, is_known ? "" : " none");
	autofree char *label = rot_strdup(heading);
	char *unit = strchr(label, '|');

	if (unit)
		*unit = unit[1] ? ' ' : '\0';
	html_begin(table->out, "td", looks);
	html_attribute(table->out, "data-label", label);
}

void
page_table_begin(struct page_table *table, const char *name)
{
	page_begin_wide(table->out, name);
	html_begin(table->out, "table", "sortable cards");
	html_begin(table->out, "thead", NULL);
	html_begin(table->out, "tr", NULL);
	for (size_t i = 0; i < table->nr; i++) {
		const size_t length = strcspn(table->headings[i], "|");
		autofree char *heading = rot_strndup(table->headings[i], length);

		html_begin(table->out, "th", i == 0 ? "stays" : NULL);
		html_element(table->out, "span", NULL, heading);
		if (table->headings[i][length] && table->headings[i][length + 1])
			html_element(table->out, "span", "unit", table->headings[i] + length + 1);
		html_end(table->out);
	}
	html_end(table->out);
	html_end(table->out);
	html_begin(table->out, "tbody", NULL);
}

void
page_row_begin(struct page_table *table, const char *id)
{
	html_begin(table->out, "tr", NULL);
	if (id)
		html_attribute(table->out, "id", id);
	table->column = 0;
}

void
page_row_end(struct page_table *table)
{
	if (table->column < table->nr) {
		html_begin(table->out, "td", "none");
		xmlTextWriterWriteFormatAttribute(table->out, (const xmlChar *)"colspan", "%zu",
						  table->nr - table->column);
		html_end(table->out);
	}
	html_end(table->out);
}

void
page_cell(struct page_table *table, const char *look, const char *text)
{
	begin_cell(table, look, *text && strcmp(text, "-") != 0);
	html_text(table->out, text);
	html_end(table->out);
}

void
page_cell_link(struct page_table *table, const char *look, const char *text, const char *target)
{
	begin_cell(table, look, true);
	html_begin(table->out, "a", NULL);
	xmlTextWriterWriteFormatAttribute(table->out, (const xmlChar *)"href", "#%s", target);
	html_text(table->out, text);
	html_end(table->out);
	html_end(table->out);
}

void
page_cell_sorted(struct page_table *table, double number, const char *text)
{
	begin_cell(table, "number", !isnan(number));
	if (isfinite(number)) {
		autofree char *key = rot_number_text(number, 9);

		html_attribute(table->out, "data-sort", key);
	}
	html_text(table->out, isnan(number) ? "-" : text);
	html_end(table->out);
}

void
page_cell_number(struct page_table *table, double number)
{
	autofree char *text =
		isinf(number) ? rot_strdup(VALUE_NO_BYTES) : rot_format(number < 1e4 ? "%.4g" : "%.0f", number);

	page_cell_sorted(table, number, text);
}

void
page_cell_whole(struct page_table *table, double number)
{
	autofree char *text = isnan(number) ? rot_strdup("-") : rot_number_in_full(number);

	page_cell_sorted(table, number, text);
}

void
page_cell_interval(struct page_table *table, const json_t *json, const char *const keys[3], double factor)
{
	struct summary summary = summary_single(json_number_at(json, keys[0]), "share");
	autofree char *text = NULL;

	summary.low = json_number_at(json, keys[1]);
	summary.high = json_number_at(json, keys[2]);
	summary = summary_scaled(summary, factor);
	text = summary_text(&summary);
	page_cell_sorted(table, summary.value, text);
}
