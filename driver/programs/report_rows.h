/* SPDX-License-Identifier: MIT */
/* What the tables of a program and of its regions have in common: one quantity a line, one thread a line. */
#ifndef PROGRAMS_REPORT_ROWS_H
#define PROGRAMS_REPORT_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "programs/values.h"

/* One row of a report: label, value and unit in their columns. */
void report_row(FILE *out, const char *label, const char *value, const char *unit);

/* "-" for NaN. */
void report_row_number(FILE *out, const char *label, double number, const char *unit);

/* A share as percentage. */
void report_row_share(FILE *out, const char *label, double share);

/* A time, in seconds. */
void report_row_time(FILE *out, const char *label, const struct quantity_value *value);

/* Of each quantity but the time the first value, which is the widest (both precisions, memory), and how many others
 * there are; is_all: all. Instructions per cycle. */
void report_row_values(FILE *out, const struct program_values *values, bool is_all);

struct report_thread {
	const struct program_values *values; /* of a thread                                         */
	double hits;                         /* NaN in all of them: a table without such a column */
};

/* A table of the first threads, with an empty line before it: the values that fit on a line; is_all: all, in parts.
 * Nothing if nr is 0. */
void report_threads(FILE *out, const struct report_thread *threads, size_t nr, bool is_all);

#endif
