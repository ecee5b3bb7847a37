/* SPDX-License-Identifier: MIT */
/* The source lines of a function's code, with the functions that were inlined in it: from debug information. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/symbols/symbols.h"

/* Code from address (link-time) to that of the next row. scope: the innermost inlined function; 0: none. */
struct source_row {
	uint64_t address;
	const char *path;   /* of the source file, as debug information has it */
	const char *source; /* without folders */
	int line;
	uint32_t scope;
	bool is_statement; /* one begins there; else a part of one that was moved there, as for its operands */
};

/* name: of the inlined function. outer: in which it is inlined, at that line; 0: in the function itself. */
struct source_scope {
	const char *name, *source;
	int line;
	uint32_t outer;
};

/* Strings live as long as the file. scopes[0] is the function itself. Zeroed: nothing is known. */
struct source_lines {
	struct source_row *rows;
	struct source_scope *scopes;
	size_t nr_rows, nr_scopes;
};

/* Reads the rows of a function, which has size bytes from address on; none without debug information. */
void source_lines_read(struct symbol_file *file, uint64_t address, uint64_t size, struct source_lines *lines);
void source_lines_clear(struct source_lines *lines);

/* The row that an address belongs to; NULL: not known. */
const struct source_row *source_lines_at(const struct source_lines *lines, uint64_t address);

/* The source line where the function at a link-time address is declared: file without folders. NULL: not known. */
const char *source_lines_declaration(struct symbol_file *file, uint64_t address, int *line);

/* inlined: NULL: it is the function itself. */
struct source_span {
	const char *source, *inlined;
	int first, last;
};

/* Marks the rows of code from begin to end. marks: of all rows. */
void source_lines_mark(const struct source_lines *lines, uint64_t begin, uint64_t end, bool *marks);

/*
 * The lines of all marked rows together, in the innermost function that all of them belong to: of what is inlined there
 * the line where it is called. Lines of other files are left out. False: there is none.
 */
bool source_lines_span(const struct source_lines *lines, const bool *marks, struct source_span *span);
