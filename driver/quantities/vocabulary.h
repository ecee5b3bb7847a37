/* SPDX-License-Identifier: MIT */
/* The words of a quantity request, each in one table: parsing, "rot list quantities" and messages are made from them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "quantities/quantity.h"

/* Roles of the words of a request besides its name. */
enum word_role { WORD_OPERATION, WORD_BORDER, WORD_CLOCK, NR_WORD_ROLES };

struct quantity_word {
	enum word_role role;
	const char *name;
	const char *short_name; /* in names of columns of files: "dp", "l2_l3_read"; "" of clocks: their unit stands
				   there */
	const char *unit;       /* of one: "flop", "byte", "cycle"; "" for auto */
	const char *description;
};

extern const struct quantity_word quantity_words[];
extern const size_t nr_quantity_words;

/* Formulas of a quantity are over events of processors, or also of steps. Others have no formulas: rot makes them of
 * these, or the system tells them. */
enum quantity_counter { NOT_COUNTED, OF_EVENTS, OF_STEPS };

struct quantity_kind {
	const char *name;
	const char *short_name;    /* in tables and files: "operations", "context switches" */
	bool takes[NR_WORD_ROLES]; /* operation and border are then required, a clock never is */
	enum quantity_counter counter;
	const char *unit; /* plain counts: of one; else ""                            */
	const char *description;
};

extern const struct quantity_kind quantity_kinds[];
extern const size_t nr_quantity_kinds;

/* The row of that name and role, or NULL. */
const struct quantity_word *quantity_word_find(enum word_role role, const char *name);
const struct quantity_kind *quantity_kind_find(const char *name);

/*
 * Checks a request that was not made by quantity_parse: name known, every part known and taken by it, nothing missing,
 * given values not negative. On success its strings are those of the tables. 0 or -1.
 */
int quantity_request_check(struct quantity_request *request, struct rot_error *err);

/* Are two parts of requests the same? One that is left out is NULL or "". */
bool quantity_same_word(const char *a, const char *b);

/* The part of a request that a role stands for. */
const char **quantity_request_word(struct quantity_request *request, enum word_role role);

/* A request of a quantity (of the table) that takes one word at most, which is of; "": none. Both are borrowed. */
struct quantity_request quantity_request_of(const char *quantity, const char *of);

/* Error: formulas of architectures give no such quantity of such a word. */
int quantity_check_formula(const char *quantity, const char *of, struct rot_error *err);

/*
 * Names of columns of CSV files: short names and the unit of time, with _ between words: "time_us",
 * "performance_dp_per_s", "bytes_ram_read". Fresh memory.
 */
char *quantity_column_name(const struct quantity_request *request, const char *unit);

/* "performance:doublePrecisionFlop:tsc", as quantity_parse reads it. Fresh memory. */
char *quantity_request_text(const struct quantity_request *request);

struct definitions;

/* Warns of expected operations and bytes whose operation or border nobody knows: such a row would count for nothing.
 * The kernel can still be timed. */
void kernel_words_check(const struct definitions *kernels);
