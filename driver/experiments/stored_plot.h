/* SPDX-License-Identifier: MIT */
/* rot plot: results that were measured before, also on other machines, in one roofline. Nothing is measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct rot;
struct page;

struct stored_plot_options {
	const char *output_name;
	const char *title;             /* NULL: after what is drawn                                 */
	const char *x, *y;             /* quantities, as a plot of a controller; NULL: the first that
					  every file has                                            */
	const char *x_range, *y_range; /* "LOW:HIGH" in the unit that is shown; NULL: automatic     */
	const char *labels;            /* "none", "ends" or "all"; NULL: ends                       */
	bool has_no_ceilings;
	struct page *page; /* that the plot is added to; NULL: it gets a page of its own where the key plots says so */
};

/*
 * Writes the plot of the files. Errors: stored_result_read; a file in which no point has both quantities, with those it
 * has; wrong options. Ceilings in another unit of time than the points are left out with a warning.
 */
int stored_plot_write(struct rot *rot, const char *const *paths, size_t nr_paths,
		      const struct stored_plot_options *options, struct rot_error *err);
