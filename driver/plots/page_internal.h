/* SPDX-License-Identifier: MIT */
/* The parts of a page: for the files page*.c alone. */
#pragma once

#include <libxml/xmlwriter.h>

#include "base/pool.h"
#include "plots/annotated.h"
#include "plots/page.h"

/* look: the class, or NULL. */
void html_begin(xmlTextWriterPtr out, const char *element, const char *look);
void html_end(xmlTextWriterPtr out);
void html_attribute(xmlTextWriterPtr out, const char *name, const char *value);

/* Text is escaped; what XML has no characters for is left out. */
void html_text(xmlTextWriterPtr out, const char *text);

/* An element with text alone. */
void html_element(xmlTextWriterPtr out, const char *element, const char *look, const char *text);

/* Each writes one part on a result; program: nothing where it is not of a program. */
void page_write_program(xmlTextWriterPtr out, const json_t *result, const struct rot *rot, size_t number);
void page_write_methods(xmlTextWriterPtr out, const json_t *result);
void page_write_origin(xmlTextWriterPtr out, const json_t *result);

/* The frame of what may be wider than the page, and is moved sideways then, by keys as well. name: for who hears it. */
void page_begin_wide(xmlTextWriterPtr out, const char *name);

/* Ends the body of a table, the table and its room. */
void page_end_table(xmlTextWriterPtr out);

/* ---- tables ---- */

/* headings: "name|unit", borrowed. column: of the next cell. */
struct page_table {
	xmlTextWriterPtr out;
	const char *const *headings;
	size_t nr, column;
};

/* Ends by page_end_table. name: for who hears it. id: of a row, or NULL. Cells that are missing at its end are empty.
 */
void page_table_begin(struct page_table *table, const char *name);
void page_row_begin(struct page_table *table, const char *id);
void page_row_end(struct page_table *table);

/* look: the class. target: the id of an element of the page. */
void page_cell(struct page_table *table, const char *look, const char *text);
void page_cell_link(struct page_table *table, const char *look, const char *text, const char *target);

/* Sorted by the number; text: what is shown. NaN: "-". */
void page_cell_sorted(struct page_table *table, double number, const char *text);
void page_cell_number(struct page_table *table, double number);
void page_cell_whole(struct page_table *table, double number);

/* The number under the keys and its interval, times the factor. */
void page_cell_interval(struct page_table *table, const json_t *json, const char *const keys[3], double factor);

/* ---- functions ---- */

/* The code of a function of a result, and how often its elements' ids are there: "code-RESULT-FUNCTION". */
struct page_code {
	const json_t *function;
	size_t number; /* in the list of functions */
	struct annotated_code code;
	size_t nr_loops; /* that have room on the page */
};

struct page_codes {
	struct page_code *items;
	size_t nr, result;    /* result: its number on the page */
	struct texts missing; /* why others have none */
};

/* The code of functions with most of the time, as far as their files have it. Memory is of the pool. */
struct page_codes page_codes_of(struct pool *pool, const struct rot *rot, const json_t *result, size_t number);

/* The id of the code of a function (header 0), or of a loop of it; NULL: it is not on the page. */
char *page_code_id(const struct page_codes *codes, const json_t *function, uint64_t header);
void page_write_codes(xmlTextWriterPtr out, const struct page_codes *codes);

/* Tables of functions and loops. */
void page_write_places(xmlTextWriterPtr out, const json_t *result, const struct page_codes *codes);

/* How a program was observed, in sentences. */
void page_add_observations(struct pool *pool, struct texts *texts, const json_t *result);

/* The kind in words: "measured", "counted by blocks", "modelled", "expected", "given". */
const char *page_kind_of(const json_t *quantity);
