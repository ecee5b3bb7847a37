/* SPDX-License-Identifier: MIT */
/*
 * Readers of the forms of a result, for tests that compare them with its JSON: numbers as they are printed, fields of
 * CSV, tables of pages. Texts that are returned as char * are fresh memory.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A member of the JSON; NULL, and NaN, where there is none. An infinite value is one. */
const char *member_text(const json_t *object, const char *key);
double member_number(const json_t *object, const char *key);

/*
 * Is the text the number, rounded to the digits that it has: "1200" to hundreds at the most? "3.4e+18" is to 10^17.
 * A number that is not 0 must not be printed as 0.
 */
bool is_rounded(const char *text, double number);

/* How many base units are one of the unit that the text begins with. */
double unit_of(const char *text);

/* Is the text those three, as value_text prints them, or "3 to 18"? Low and high are NaN where they are not known. */
bool is_interval(const char *text, double value, double low, double high);

/* Is "7.4 [7.1, 7.9]", "53.7 ±2.3" or "1500" in such units, maybe with a mark behind, that quantity? */
bool is_value(const char *text, double unit, const json_t *quantity);

/* Has a quantity of these points an infinite value? */
bool has_infinite(const json_t *points);

/* The cell of that number, from 0, in a row of cells that are two blanks and more apart. */
char *text_cell(const char *row, size_t number);

/* The text steers no terminal, is UTF-8, and has no NaN; it has infinite numbers only where the result has some. */
void expect_clean(const char *form, const char *text, bool has_infinite);

/* The field of a column of the CSV (RFC 4180) in that row, from 1; it must be that number, to the last digit. */
char *field(const char *csv, size_t row, const char *column);
void expect_field(const char *csv, size_t row, const char *column, double number);

/* The value of the quantity is in the column, and its interval and number of samples in those beside it. */
void expect_quantity(const char *csv, size_t row, const char *column, const json_t *quantity);

/* The first line of a series in the data of a plot, whose name is as the data have it; NULL: there is no such series.
 */
const char *plot_data(const char *data, const char *series);

/* The line has that intensity, and that performance in units of 10^9. */
void expect_mark(const char *line, double intensity, double performance);

/* A text as a page has it. */
char *escaped(const char *text);

/* Where the part of that number begins, from 0, among all the same parts of the text; NULL: it has fewer. */
const char *nth(const char *text, const char *part, size_t number);

/* The column of the page's first table with that heading, and of those with the same what it is of (NULL: any). */
size_t page_column(const char *page, const char *heading, const char *of);

/* How many base units are one of the unit that stands below the heading of that column. */
double page_unit(const char *page, size_t column);

/* The row of the table of points, by series and label, which are escaped; and what stands in that column of a row. */
const char *page_row(const char *page, const char *series, const char *label);
const char *page_form_cell(const char *row, size_t column);
