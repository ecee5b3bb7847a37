/* SPDX-License-Identifier: MIT */
/* From a script and its data to pictures in place. */
#pragma once

#include <stdio.h>

#include "base/pool.h"
#include "error.h"

/* A plot being written: two open files in a private folder beside the output. */
struct gnuplot {
	struct pool pool;        /* until it is finished */
	const char *output_name; /* as given: may hold folders; borrowed */
	const char *base;        /* last part of output_name */
	char *folder;            /* private, removed at the end */
	FILE *data;              /* becomes NAME.data */
	FILE *script;            /* becomes NAME.gnuplot; may refer to the data as the gnuplot variable `data` */
};

/* Makes the folder and both files, of which the script begins with the names. Errors: the output cannot be there. */
int gnuplot_open(struct gnuplot *gnuplot, const char *output_name, struct rot_error *err);

/*
 * Runs gnuplot and moves NAME.data, NAME.gnuplot, NAME.pdf and NAME.svg, and NAME.png if it is wanted, in place. When
 * gnuplot is missing or fails, that is an error, and the first two are moved alone: they can be drawn elsewhere.
 * Nothing is open afterwards.
 */
int gnuplot_finish(struct gnuplot *gnuplot, struct rot_error *err);
