/* SPDX-License-Identifier: MIT */
/* How help and list print their rows on standard output. */
#pragma once

#include "base/configuration.h"
#include "base/options.h"

/* entry_print on standard output. */
void print_entry(const char *name, const char *more, const char *text);

/* Characters of a line of help, which is no longer than 80. */
size_t print_columns(void);

/* The same in one line: what of the text does not fit is left out. */
void print_short(const char *name, const char *text);

/* A key with its value, where that comes from, its type and description. */
void print_key(const struct configuration *configuration, const struct configuration_key *key);

/* A blank line, and a row for each option, what it does beside its names; is_short: no more than fits on the line. */
void print_options(const struct option_table *table, bool is_short);

/* The first words of a text that say something by themselves and fit there: up to a ':', ';', '(' or ','. */
int short_length(const char *text, int room);
