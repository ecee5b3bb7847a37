/* SPDX-License-Identifier: MIT */
#include "parent/symbols/source_lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/ordered.h"
#include "parent/symbols/symbol_file.h"

/* files: of the unit's line table. bias: link-time address minus that in debug information */
struct reader {
	struct source_lines *lines;
	Dwarf_Die unit;
	Dwarf_Files *files;
	uint64_t bias, begin, end;
};

static const char *
last_part(const char *path)
{
	return path ? basename(path) : NULL;
}

/* Compilers may leave out the table that tells which unit has an address. */
static bool
find_unit(struct symbol_file *file, struct reader *reader)
{
	const uint64_t address = reader->begin + file->bias;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(file->module, address, &bias);

	if (!unit)
		while ((unit = dwfl_module_nextcu(file->module, unit, &bias)))
			if (dwarf_haspc(unit, address - bias) > 0)
				break;
	if (!unit)
		return false;
	reader->unit = *unit;
	reader->bias = bias - file->bias;
	return true;
}

/* ---- rows ---- */

/* The last of several at an address, but rather one where a statement begins. */
static void
add_row(struct source_lines *lines, const struct source_row *row)
{
	struct source_row *last = lines->nr_rows > 0 ? &lines->rows[lines->nr_rows - 1] : NULL;

	if (last && last->address == row->address) {
		if (row->is_statement || !last->is_statement)
			*last = *row;
		return;
	}
	lines->rows = rot_grow(lines->rows, lines->nr_rows, sizeof(*lines->rows));
	lines->rows[lines->nr_rows++] = *row;
}

/* Line 0 is code that the compiler added; it stays with the line before it. */
static void
read_rows(struct reader *reader)
{
	Dwarf_Lines *table;
	size_t nr;

	if (dwarf_getsrclines(&reader->unit, &table, &nr) != 0)
		return;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *row = dwarf_onesrcline(table, i);
		struct source_row found = {.line = 0};
		Dwarf_Addr address;
		bool is_end;

		if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &found.line) != 0 || found.line == 0 ||
		    dwarf_linebeginstatement(row, &found.is_statement) != 0 ||
		    dwarf_lineendsequence(row, &is_end) != 0 || is_end || address + reader->bias < reader->begin ||
		    address + reader->bias >= reader->end)
			continue;
		found.address = address + reader->bias;
		found.path = dwarf_linesrc(row, NULL, NULL);
		found.source = last_part(found.path);
		if (found.source)
			add_row(reader->lines, &found);
	}
}

/* ---- inlined functions ---- */

static uint32_t
add_scope(struct reader *reader, Dwarf_Die *die, uint32_t outer)
{
	struct source_lines *lines = reader->lines;
	struct source_scope scope = {.name = dwarf_diename(die), .outer = outer};
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0)
		scope.line = (int)number;
	if (reader->files && dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0)
		scope.source = last_part(dwarf_filesrc(reader->files, number, NULL, NULL));
	lines->scopes = rot_grow(lines->scopes, lines->nr_scopes, sizeof(*lines->scopes));
	lines->scopes[lines->nr_scopes++] = scope;
	return (uint32_t)lines->nr_scopes - 1;
}

static void
set_scope(struct reader *reader, Dwarf_Die *die, uint32_t scope)
{
	struct source_lines *lines = reader->lines;
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;)
		for (size_t i = 0; i < lines->nr_rows; i++)
			if (lines->rows[i].address >= begin + reader->bias &&
			    lines->rows[i].address < end + reader->bias)
				lines->rows[i].scope = scope;
}

/* Inner ones are read behind outer ones, whose rows they take. */
static void
read_scopes(struct reader *reader, Dwarf_Die *around, uint32_t outer)
{
	Dwarf_Die die;

	if (dwarf_child(around, &die) != 0)
		return;
	do {
		uint32_t scope = outer;
		const int tag = dwarf_tag(&die);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		if (tag == DW_TAG_inlined_subroutine)
			set_scope(reader, &die, scope = add_scope(reader, &die, outer));
		read_scopes(reader, &die, scope);
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* Around an inlined function libdw's scopes of an address are those where it was written, not where it is. */
static bool
find_function(struct reader *reader, Dwarf_Die *function)
{
	autofree Dwarf_Die *innermost = NULL, *around = NULL;
	const int nr = dwarf_getscopes(&reader->unit, reader->begin - reader->bias, &innermost);
	const int nr_around = nr > 0 ? dwarf_getscopes_die(&innermost[0], &around) : 0;

	for (int i = nr_around - 1; i >= 0; i--)
		if (dwarf_tag(&around[i]) == DW_TAG_subprogram) {
			*function = around[i];
			return true;
		}
	return false;
}

const char *
source_lines_declaration(struct symbol_file *file, uint64_t address, int *line)
{
	struct reader reader = {.begin = address};
	const char *source = NULL;
	char *urls = debuginfod_hide();
	Dwarf_Die function;

	if (find_unit(file, &reader) && find_function(&reader, &function) && dwarf_decl_line(&function, line) == 0)
		source = last_part(dwarf_decl_file(&function));
	debuginfod_show(urls);
	return source;
}

void
source_lines_read(struct symbol_file *file, uint64_t address, uint64_t size, struct source_lines *lines)
{
	struct reader reader = {.lines = lines, .begin = address, .end = address + size};
	char *urls = debuginfod_hide();

	*lines = (struct source_lines){.scopes = rot_calloc(1, sizeof(*lines->scopes)), .nr_scopes = 1};
	if (find_unit(file, &reader)) {
		Dwarf_Die function;
		size_t nr_files;

		read_rows(&reader);
		if (dwarf_getsrcfiles(&reader.unit, &reader.files, &nr_files) != 0)
			reader.files = NULL;
		if (find_function(&reader, &function))
			read_scopes(&reader, &function, 0);
	}
	debuginfod_show(urls);
}

void
source_lines_clear(struct source_lines *lines)
{
	free(lines->rows);
	free(lines->scopes);
	*lines = (struct source_lines){.nr_rows = 0};
}

/* ---- questions ---- */

const struct source_row *
source_lines_at(const struct source_lines *lines, uint64_t address)
{
	const size_t behind = ORDERED_UP_TO(lines->rows, lines->nr_rows, address, address);

	return behind > 0 ? &lines->rows[behind - 1] : NULL;
}

void
source_lines_mark(const struct source_lines *lines, uint64_t begin, uint64_t end, bool *marks)
{
	const struct source_row *row = source_lines_at(lines, begin);

	for (size_t i = row ? (size_t)(row - lines->rows) : 0; i < lines->nr_rows && lines->rows[i].address < end; i++)
		marks[i] = true;
}

static unsigned
depth_of(const struct source_lines *lines, uint32_t scope)
{
	unsigned depth = 0;

	for (; scope != 0; scope = lines->scopes[scope].outer)
		depth++;
	return depth;
}

static uint32_t
common_scope(const struct source_lines *lines, uint32_t a, uint32_t b)
{
	while (a != b)
		if (depth_of(lines, a) > depth_of(lines, b))
			a = lines->scopes[a].outer;
		else
			b = lines->scopes[b].outer;
	return a;
}

bool
source_lines_span(const struct source_lines *lines, const bool *marks, struct source_span *span)
{
	uint32_t common = UINT32_MAX;

	*span = (struct source_span){.first = 0};
	for (size_t i = 0; i < lines->nr_rows; i++)
		if (marks[i])
			common = common == UINT32_MAX ? lines->rows[i].scope
						      : common_scope(lines, common, lines->rows[i].scope);
	for (size_t i = 0; i < lines->nr_rows; i++) {
		const char *source = lines->rows[i].source;
		int line = lines->rows[i].line;

		if (!marks[i] || !lines->rows[i].is_statement)
			continue;
		for (uint32_t scope = lines->rows[i].scope; scope != common; scope = lines->scopes[scope].outer) {
			source = lines->scopes[scope].source;
			line = lines->scopes[scope].line;
		}
		if (!source || line == 0 || (span->source && strcmp(span->source, source) != 0))
			continue;
		span->first = !span->source || line < span->first ? line : span->first;
		span->last = line > span->last ? line : span->last;
		span->source = source;
	}
	span->inlined = span->source && common != 0 ? lines->scopes[common].name : NULL;
	return span->source != NULL;
}
