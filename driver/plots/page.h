/* SPDX-License-Identifier: MIT */
/*
 * A result to pass on: one HTML file with pictures, values, how they are known and where they are from. It loads
 * nothing, and holds the JSON it was made of, from which it can be drawn again. Well-formed as XML, too.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "error.h"
#include "plots/plot.h"

struct page;
struct rot;

/* One result of a page; name and json are borrowed for the call. name: "" where there is only one. */
struct page_result {
	const char *name;
	const json_t *json; /* schema rot.result/1 */
};

/* How the selectors of a page name a roofline, of which it shows one at a time. Zeroed: there is no choice. */
struct page_view {
	const char *border, *precision, *places;
};

struct page *page_new(const char *title);
void page_delete(struct page *page);

/* Pictures and texts, in the order of adding, above the results; drawn at once, nothing of the plots is kept. */
void page_add_roofline(struct page *page, const struct roofline_plot *plot, const struct page_view *view);
void page_add_series(struct page *page, const struct plot_frame *frame, const struct plot_series *series,
		     size_t nr_series, bool shows_spread);

/* Lines as they are printed, in columns, below a heading. */
void page_add_text(struct page *page, const char *heading, const char *text);

/*
 * Writes OUTPUT_NAME.html. Paths below the user's home folder begin with "~" in it, also in the JSON (base/paths.h).
 * The code of functions is read from their files. Errors: the page's style or script cannot be read; the file
 * cannot be written.
 */
int page_write(const struct page *page, const struct page_result *results, size_t nr_results, const struct rot *rot,
	       const char *output_name, struct rot_error *err);

/*
 * The JSON of the result that the page tells of; new reference. Errors: no page of rot, or one of several results.
 */
json_t *page_read_result(const char *path, const char *text, size_t length, struct rot_error *err);

/* Does the text begin as a page? */
bool page_is_page(const char *text, size_t length);
