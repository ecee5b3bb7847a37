/* SPDX-License-Identifier: MIT */
/* How help and list print their rows on standard output. */
#ifndef COMMANDS_PRINT_H
#define COMMANDS_PRINT_H

#include "configuration/configuration.h"
#include "support/options.h"

/* entry_print on standard output. */
void print_entry(const char *name, const char *more, const char *text);

/* The same in one line: what of the text does not fit is left out. */
void print_short(const char *name, const char *text);

/* A key with its value, where that comes from, its type and description. */
void print_key(const struct configuration *configuration, const struct configuration_key *key);

/* A blank line, and a row for each option, what it does beside its names. */
void print_options(const struct option_table *table);

#endif
