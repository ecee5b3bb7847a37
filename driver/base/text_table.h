/* SPDX-License-Identifier: MIT */
/* Tables of text: aligned columns for people, or comma separated values (RFC 4180) for programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text_table_column {
	const char *heading; /* borrowed; several lines with \n */
	bool is_left;        /* aligned */
};

/* Zeroed but for the columns (borrowed): no rows. */
struct text_table {
	const struct text_table_column *columns;
	size_t nr_columns;
	char **cells; /* [nr_rows * nr_columns], owned */
	size_t nr_rows;
	size_t indent;     /* blanks before each line */
	size_t nr_keys;    /* columns at the left that say what a row is about: each part of a table has them */
	bool is_all_shown; /* columns that are empty or "-" in all rows, too */
	bool is_one_part;  /* columns behind the first that does not fit are left out */
};

/* Adds a row of nr_columns texts in fresh memory, which it takes over. */
void text_table_add(struct text_table *table, char *const *cells);
void text_table_clear(struct text_table *table);

/* Columns that are empty or "-" in all rows are left out, unless is_all_shown. Characters, not bytes, are aligned; no
 * blanks at the end. In parts as wide as terminal_width says, with an empty line between. Gives back how many columns,
 * from the left, it has printed or found empty: all, unless is_one_part. */
size_t text_table_print(const struct text_table *table, FILE *out);

/* The width of the first columns that are not left out, side by side: with the indent, and a gap behind each. */
size_t text_table_width(const struct text_table *table, size_t nr_columns);

/* Is the column empty or "-" in all rows? */
bool text_table_is_empty(const struct text_table *table, size_t column);

/* Characters that a text takes on the terminal. */
size_t text_width(const char *text);

/* Headings and rows as comma-separated values (RFC 4180), all columns. */
void text_table_print_csv(const struct text_table *table, FILE *out);
