/* SPDX-License-Identifier: MIT */
/* The code of a function of a program, with what was found at each instruction: for rot show and for pages. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "error.h"

struct rot;

struct annotated_options {
	bool has_no_source; /* instructions alone */
	bool is_all;        /* also code that was not executed */
};

/* A source line, an instruction, or words that stand for instructions that are left out. */
struct annotated_line {
	int number;               /* of the source line; 0: it is none */
	const char *const *cells; /* of an instruction: one for each heading, "" where there is nothing; else NULL */
	const char *text;
};

struct annotated_loop {
	const char *title; /* "loop at +0x3a, relax.c:17-20: 58.1 % of the time, ..."; also of what is in no loop */
	uint64_t header;   /* address; 0: of what is in no loop */
	struct annotated_line *lines;
	size_t nr_lines;
};

struct annotated_code {
	struct texts about;    /* sentences: the function, what the columns mean, doubts about the source */
	struct texts headings; /* "time", "executed", ...: of columns that have anything in them */
	struct annotated_loop *loops;
	size_t nr_loops; /* the hottest one first */
};

/*
 * result: of rot run, schema rot.result/1. function: one of its functions that has "code". The instructions are
 * read from the program's file. Errors: the file cannot be read, or has other code by now.
 */
int annotated_code_make(struct pool *pool, struct annotated_code *code, const struct rot *rot, const json_t *result,
			const json_t *function, const struct annotated_options *options, struct rot_error *err);
