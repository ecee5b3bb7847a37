/* SPDX-License-Identifier: MIT */
/* Finds the code of a source line in debug information. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/symbol_file.h"

#define NR_NAMED 3 /* source files that a message lists */

/* The first instruction of the line in a function, or in a copy of one that is inlined (offset in .debug_info). */
struct first {
	Dwarf_Off function;
	uint64_t address;
};

/*
 * source:     normalized end of the path that is wanted
 * sources:    the source files that are called so, for people
 * next_line:  the next line that has code; 0: none
 * last, last_is_wanted: the name of a source that was compared last, since rows of one come in a row
 */
struct line_search {
	struct symbol_file *file;
	char *source;
	int line;
	bool is_whole_path;
	char *sources[NR_NAMED];
	size_t nr_sources;
	struct first *firsts;
	size_t nr_firsts;
	int next_line;
	const char *last;
	bool last_is_wanted;
};

/* The path without "." and "DIR/..", each part with a '/' before it (free). */
static char *
normalized(const char *path)
{
	char *result = rot_calloc(strlen(path) + 2, 1);

	for (size_t part; path += strspn(path, "/"), (part = strcspn(path, "/")) > 0; path += part) {
		char *last = strrchr(result, '/');

		if (part == 2 && strncmp(path, "..", 2) == 0) {
			if (last)
				*last = '\0';
		} else if (part != 1 || *path != '.') {
			strcat(result, "/");
			strncat(result, path, part);
		}
	}
	return result;
}

/* A source file that is called as wanted is remembered, once for each of its spellings that mean the same. */
static bool
is_wanted(struct line_search *search, const char *source)
{
	const char *shown;
	char *path;
	size_t length, wanted_length = strlen(search->source);

	if (source == search->last)
		return search->last_is_wanted;
	path = normalized(source);
	length = strlen(path);
	search->last = source;
	search->last_is_wanted = length >= wanted_length &&
				 strcmp(path + length - wanted_length, search->source) == 0 &&
				 (length == wanted_length || !search->is_whole_path);
	shown = path + (source[0] != '/');
	for (size_t i = 0; i < search->nr_sources && shown; i++)
		if (strcmp(search->sources[i], shown) == 0)
			shown = NULL;
	if (shown && search->last_is_wanted && search->nr_sources < NR_NAMED)
		search->sources[search->nr_sources++] = rot_strdup(shown);
	free(path);
	return search->last_is_wanted;
}

static Dwarf_Off
function_of(Dwarf_Die *unit, Dwarf_Addr address)
{
	autofree Dwarf_Die *scopes = NULL;
	int nr_scopes = dwarf_getscopes(unit, address, &scopes);
	Dwarf_Off function = 0;

	for (int i = 0; i < nr_scopes && function == 0; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
			function = dwarf_dieoffset(&scopes[i]);
	}
	return function;
}

static void
add_first(struct line_search *search, Dwarf_Off function, uint64_t address)
{
	for (size_t i = 0; i < search->nr_firsts; i++) {
		struct first *first = &search->firsts[i];

		if (first->function != function)
			continue;
		if (address < first->address)
			first->address = address;
		return;
	}
	rot_add(search->firsts, search->nr_firsts) = (struct first){function, address};
}

static void
look_at_row(struct line_search *search, Dwarf_Die *unit, Dwarf_Line *row, Dwarf_Addr bias)
{
	const char *source;
	bool is_statement, is_end;
	Dwarf_Addr address;
	int line;

	if (dwarf_lineno(row, &line) != 0 || line < search->line || dwarf_linebeginstatement(row, &is_statement) != 0 ||
	    dwarf_lineendsequence(row, &is_end) != 0 || !is_statement || is_end || dwarf_lineaddr(row, &address) != 0)
		return;
	source = dwarf_linesrc(row, NULL, NULL);
	if (!source || !is_wanted(search, source))
		return;
	if (line == search->line)
		add_first(search, function_of(unit, address), address + bias - search->file->bias);
	else if (search->next_line == 0 || line < search->next_line)
		search->next_line = line;
}

/* A source whose rows all stand before the line is compiled in as well. */
static void
look_at_unit(struct line_search *search, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Files *sources;
	Dwarf_Lines *rows;
	size_t nr_sources, nr_rows;

	if (dwarf_getsrcfiles(unit, &sources, &nr_sources) == 0)
		for (size_t i = 1; i < nr_sources; i++) {
			const char *source = dwarf_filesrc(sources, i, NULL, NULL);

			if (source)
				is_wanted(search, source);
		}
	if (dwarf_getsrclines(unit, &rows, &nr_rows) != 0)
		return;
	search->last = NULL;
	for (size_t i = 0; i < nr_rows; i++)
		look_at_row(search, unit, dwarf_onesrcline(rows, i), bias);
}

static int
search_failed(const struct line_search *search, const char *source, struct rot_error *err)
{
	if (search->nr_sources == 0)
		return rot_error_set(err, 0, "no source file of '%s' is called '%s'", search->file->path, source);
	if (search->nr_sources > 1) {
		rot_error_set(err, 0, "several source files of '%s' are called '%s'", search->file->path, source);
		return rot_error_hint(err, "write more of the path: %s, %s%s", search->sources[0], search->sources[1],
				      search->nr_sources > 2 ? ", ..." : "");
	}
	rot_error_set(err, 0, "there is no code on line %d of %s", search->line, search->sources[0]);
	if (search->next_line > 0)
		return rot_error_hint(err, "the next line with code is %d", search->next_line);
	return rot_error_hint(err, "there is none behind it either");
}

const char *
symbols_line_at(const struct symbol_file *file, uint64_t address, int *line)
{
	char *urls = debuginfod_hide();
	Dwfl_Line *row = dwfl_module_getsrc(file->module, address + file->bias);
	const char *source = row ? dwfl_lineinfo(row, NULL, line, NULL, NULL, NULL) : NULL;

	debuginfod_show(urls);
	return source ? basename(source) : NULL;
}

int
symbols_find_line(struct symbol_file *file, const char *source, int line, struct symbol_ranges *found,
		  size_t *nr_sources, struct rot_error *err)
{
	struct line_search search = {.file = file, .line = line, .is_whole_path = source[0] == '/'};
	char *urls = debuginfod_hide();
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL;
	bool has_debug_information = dwfl_module_getdwarf(file->module, &bias);
	int rc = 0;

	search.source = normalized(source);
	while (has_debug_information && (unit = dwfl_module_nextcu(file->module, unit, &bias)))
		look_at_unit(&search, unit, bias);
	debuginfod_show(urls);
	*nr_sources = search.nr_sources;
	if (!has_debug_information) {
		rot_error_set(err, 0, "'%s' has no debug information, so lines of it are not known", file->path);
		rc = rot_error_hint(err, "compile with -g, or install its separate debug information");
	} else if (search.nr_firsts == 0 || search.nr_sources > 1) {
		rc = search_failed(&search, source, err);
	}
	for (size_t i = 0; i < search.nr_firsts && rc == 0; i++) {
		struct symbol_range range = {.address = search.firsts[i].address};

		if (symbols_file_offset(file, range.address, &range.file_offset))
			symbol_ranges_add(found, &range);
	}
	symbol_ranges_order(found);
	for (size_t i = 0; i < search.nr_sources; i++)
		free(search.sources[i]);
	free(search.firsts);
	free(search.source);
	return rc;
}
