/* SPDX-License-Identifier: MIT */
/* The parts of a page: for the files page*.c alone. */
#ifndef PAGE_PAGE_INTERNAL_H
#define PAGE_PAGE_INTERNAL_H

#include <libxml/xmlwriter.h>

#include "page/page.h"
#include "support/pool.h"

/* look: the class, or NULL. */
void html_begin(xmlTextWriterPtr out, const char *element, const char *look);
void html_end(xmlTextWriterPtr out);
void html_attribute(xmlTextWriterPtr out, const char *name, const char *value);

/* Text is escaped; what XML has no characters for is left out. */
void html_text(xmlTextWriterPtr out, const char *text);

/* An element with text alone. */
void html_element(xmlTextWriterPtr out, const char *element, const char *look, const char *text);

/* Each writes one part on a result; program: nothing where it is not of a program. */
void page_write_program(xmlTextWriterPtr out, const json_t *result);
void page_write_methods(xmlTextWriterPtr out, const json_t *result);
void page_write_origin(xmlTextWriterPtr out, const json_t *result);

/* The frame of what may be wider than the page, and is moved sideways then, by keys as well. name: for who hears it. */
void page_begin_wide(xmlTextWriterPtr out, const char *name);

/* Ends the body of a table, the table and its room. */
void page_end_table(xmlTextWriterPtr out);

/* How a program was observed, in sentences. */
void page_add_observations(struct pool *pool, struct texts *texts, const json_t *result);

/* The kind in words: "measured", "counted by blocks", "modelled", "expected", "given". */
const char *page_kind_of(const json_t *quantity);

#endif
