/* SPDX-License-Identifier: MIT */
/* What stored results say in a line each. */
#ifndef REPORT_RESULTS_H
#define REPORT_RESULTS_H

#include <stddef.h>
#include <stdio.h>

#include "stored/stored_result.h"

struct rot;
struct page;

struct result_list {
	struct stored_result *items;
	size_t nr;
};

/* Results of rot in that folder (OUTPUT.json), by name; other files are passed over. */
void results_read(struct pool *pool, struct result_list *list, const char *folder);

/* A table, and what its marks mean; is_all: with all columns. */
void results_print(const struct rot *rot, const struct result_list *list, bool is_all, FILE *out);

/* [{file, controller, complete, isOfThisMachine, points, disturbedSamples, samples, brokenRules, highest: [{name, of,
 * unit, value}]}]. New reference. */
json_t *results_json(const struct rot *rot, const struct result_list *list);

/*
 * OUTPUT.pdf...: the results of this machine that have an operational intensity and a performance, of the same words as
 * the first that has, in one roofline. page: that it is added to; NULL: none.
 */
int results_draw(struct rot *rot, const struct result_list *list, struct page *page, const char *output_name,
		 struct rot_error *err);

#endif
