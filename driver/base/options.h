/* SPDX-License-Identifier: MIT */
/* The options of a command: one table from which they are read, shown in help and the manual page, and completed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* A row's option makes this of the member at its offset. */
enum option_type {
	OPTION_FLAG,    /* bool: true                                                   */
	OPTION_SETTING, /* int: the row's number                                        */
	OPTION_TEXT,    /* const char *: the value, borrowed from argv, not empty       */
	OPTION_COUNT,   /* long: a whole number from 1 to the row's number              */
	OPTION_SECONDS, /* double: above 0                                              */
	OPTION_CHOICE,  /* const char *: one of the row's choices, the text of the table */
	OPTION_SET,     /* unsigned: bits of the row's choices, one or several with commas between */
	OPTION_TAKEN,   /* whatever the row's function does with the value              */
};

/* One or two dashes stand before either name; a value follows as a word of its own or after "=". */
struct option_row {
	const char *letter; /* a short name, or NULL                              */
	const char *name;
	const char *value; /* what help calls the value; NULL: none, or choices */
	const char *about; /* what it does, for the help                        */
	enum option_type type;
	size_t offset;
	int number;
	const char *const *choices; /* ended by NULL */
	int (*take)(void *values, const char *value, struct rot_error *err);
};

/* The struct that options fill begins as a copy of defaults; zeroed if there are none. */
struct option_table {
	const struct option_row *rows;
	size_t nr;
	size_t size; /* of the struct */
	const void *defaults;
	bool ends_at_word;           /* another program begins at the first word without a dash */
	void (*clear)(void *values); /* frees what take functions left there; NULL: nothing     */
};

/* The members of a table that has these rows, which fill such a type. */
#define OPTION_ROWS(table_rows, type)                                                                                  \
	.rows = (table_rows), .nr = sizeof(table_rows) / sizeof(*(table_rows)), .size = sizeof(type)

/*
 * How many words the option in argv[0] takes; 0 if it is none of the table (a configuration key), -1 where options end:
 * at "--", at the end of argv, at a word if they end there. 1 for any other word.
 */
int options_length(const struct option_table *table, int argc, char *const *argv);

/* Takes a word that begins with a dash, and that no table knows. */
typedef void option_stranger(void *context, char *word);

/*
 * Reads all options up to "--", and takes them and "--" out of argv, *argc of whose words are left. values: the struct
 * of the table; table NULL: there are no options. 0 or -1, with the first mistake; the others are taken all the same.
 */
int options_take(const struct option_table *table, void *values, int *argc, char **argv, option_stranger *stranger,
		 void *context, struct rot_error *err);

/* A struct of the table with its defaults; fresh memory. It is cleared and freed by the other; NULL is allowed. */
void *option_values_new(const struct option_table *table);
void option_values_delete(const struct option_table *table, void *values);

/* "-o, --output NAME", as help shows it; fresh memory. */
char *option_names(const struct option_row *row);

/* Tells every option as it would be typed: "--json", "--output=", "--threads=all". */
void options_each_word(const struct option_table *table, void (*tell)(const char *word, void *to), void *to);
