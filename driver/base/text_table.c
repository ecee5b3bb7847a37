/* SPDX-License-Identifier: MIT */
/* Tables of text. */
#include "base/text_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "memory.h"

#define GAP 2

void
text_table_add(struct text_table *table, char *const *cells)
{
	size_t nr = table->nr_rows * table->nr_columns;

	table->cells = rot_realloc(table->cells, nr + table->nr_columns, sizeof(*table->cells));
	memcpy(table->cells + nr, cells, table->nr_columns * sizeof(*cells));
	table->nr_rows++;
}

void
text_table_clear(struct text_table *table)
{
	for (size_t i = 0; i < table->nr_rows * table->nr_columns; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->nr_rows = 0;
}

/* Columns on the terminal of the first length bytes: bytes that continue a UTF-8 character take no place. */
static size_t
width_of(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

size_t
text_width(const char *text)
{
	return width_of(text, strlen(text));
}

/* The line of that number of a text with several; "" behind the last. */
static const char *
line_of(const char *text, size_t line, size_t *length)
{
	while (line > 0 && *text) {
		text += strcspn(text, "\n");
		text += *text == '\n';
		line--;
	}
	*length = strcspn(text, "\n");
	return text;
}

static size_t
heading_lines(const struct text_table *table)
{
	size_t most = 1;

	for (size_t i = 0; i < table->nr_columns; i++) {
		size_t nr = 1;

		for (const char *at = table->columns[i].heading; (at = strchr(at, '\n')); at++)
			nr++;
		most = nr > most ? nr : most;
	}
	return most;
}

static const char *
cell_at(const struct text_table *table, size_t row, size_t column)
{
	return table->cells[row * table->nr_columns + column];
}

bool
text_table_is_empty(const struct text_table *table, size_t column)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		const char *cell = cell_at(table, row, column);

		if (*cell && strcmp(cell, "-") != 0)
			return false;
	}
	return true;
}

/* The width of the widest text; 0: the column says nothing. */
static size_t
column_width(const struct text_table *table, size_t column, size_t nr_heading_lines)
{
	size_t width = 0, length;

	if (!table->is_all_shown && text_table_is_empty(table, column))
		return 0;
	for (size_t row = 0; row < table->nr_rows; row++) {
		const size_t wide = text_width(cell_at(table, row, column));

		width = wide > width ? wide : width;
	}
	for (size_t line = 0; line < nr_heading_lines; line++) {
		const char *text = line_of(table->columns[column].heading, line, &length);
		size_t wide = width_of(text, length);

		width = wide > width ? wide : width;
	}
	return width;
}

/* Blanks are owed, and only paid before the next text. */
static void
print_cell(FILE *out, const char *text, size_t length, size_t width, bool is_left, size_t *owed)
{
	size_t blanks = width - width_of(text, length);

	if (!is_left)
		*owed += blanks;
	if (length > 0) {
		fprintf(out, "%*s%.*s", (int)*owed, "", (int)length, text);
		*owed = 0;
	}
	*owed += (is_left ? blanks : 0) + GAP;
}

/* Lines of the heading count as rows before the first. */
static const char *
text_at(const struct text_table *table, size_t nr_lines, size_t row, size_t column, size_t *length)
{
	const char *text;

	if (row < nr_lines)
		return line_of(table->columns[column].heading, row, length);
	text = cell_at(table, row - nr_lines, column);
	*length = strlen(text);
	return text;
}

/* The chosen columns, which have those widths. Lines of a heading that say nothing are left out. */
static void
print_columns(const struct text_table *table, const size_t *widths, const size_t *chosen, size_t nr_chosen, FILE *out)
{
	size_t nr_lines = heading_lines(table);

	for (size_t row = 0; row < nr_lines + table->nr_rows; row++) {
		size_t owed = table->indent, length;
		bool is_empty = row < nr_lines;

		for (size_t i = 0; i < nr_chosen && is_empty; i++) {
			text_at(table, nr_lines, row, chosen[i], &length);
			is_empty = length == 0;
		}
		for (size_t i = 0; i < nr_chosen && !is_empty; i++) {
			const char *text = text_at(table, nr_lines, row, chosen[i], &length);

			print_cell(out, text, length, widths[chosen[i]], table->columns[chosen[i]].is_left, &owed);
		}
		if (!is_empty)
			fputc('\n', out);
	}
}

/* A width for each column, 0 where it is left out. Fresh memory. */
static size_t *
column_widths(const struct text_table *table)
{
	size_t *widths = rot_calloc(table->nr_columns + 1, sizeof(*widths)), nr_lines = heading_lines(table);

	for (size_t i = 0; i < table->nr_columns; i++)
		widths[i] = column_width(table, i, nr_lines);
	return widths;
}

size_t
text_table_width(const struct text_table *table, size_t nr_columns)
{
	autofree size_t *widths = column_widths(table);
	size_t width = table->indent;

	for (size_t i = 0; i < nr_columns; i++)
		width += widths[i] > 0 ? widths[i] + GAP : 0;
	return width;
}

size_t
text_table_print(const struct text_table *table, FILE *out)
{
	const size_t width = terminal_width(out);
	autofree size_t *widths = column_widths(table);
	autofree size_t *chosen = rot_calloc(table->nr_columns + 1, sizeof(*chosen));
	size_t nr_keys = 0, key_width = table->indent, nr, taken, i;

	for (i = 0; i < table->nr_keys; i++)
		if (widths[i] > 0) {
			chosen[nr_keys++] = i;
			key_width += widths[i] + GAP;
		}
	nr = nr_keys;
	taken = key_width;
	for (i = table->nr_keys; i < table->nr_columns; i++) {
		if (widths[i] == 0)
			continue;
		if (nr > nr_keys && taken + widths[i] > width) {
			if (table->is_one_part)
				break;
			print_columns(table, widths, chosen, nr, out);
			fputc('\n', out);
			nr = nr_keys;
			taken = key_width;
		}
		chosen[nr++] = i;
		taken += widths[i] + GAP;
	}
	print_columns(table, widths, chosen, nr, out);
	return i;
}

static void
print_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

void
text_table_print_csv(const struct text_table *table, FILE *out)
{
	for (size_t row = 0; row <= table->nr_rows; row++)
		for (size_t i = 0; i < table->nr_columns; i++) {
			print_field(out, row == 0 ? table->columns[i].heading : cell_at(table, row - 1, i));
			fputs(i + 1 < table->nr_columns ? "," : "\n", out);
		}
}
