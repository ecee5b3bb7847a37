/* SPDX-License-Identifier: MIT */
/* A document of rot for a terminal: Markdown as far as they use it, without its marks, in lines that fit. */
#include "commands/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/text_table.h"
#include "memory.h"

#define MOST_COLUMNS 80
#define MOST_CELLS 12
#define CODE_INDENT 4
#define CELL_INDENT 4

struct document {
	FILE *out;
	char *paragraph; /* lines that go on; "": none                  */
	int indent;      /* of its lines behind a bullet; 0: it has none */
	bool is_code;
	struct text_table table; /* rows of the table that is read; its headings are the first row */
};

/* ---- marks within a line ---- */

/* The text of a link or picture, and where it leads if that is not a file of rot; gives back what follows. */
static const char *
copy_link(const char *at, FILE *out)
{
	const size_t length = strcspn(at + 1, "]");
	const char *target = at + 1 + length;
	size_t target_length;

	if (strncmp(target, "](", 2) != 0) {
		fputc('[', out);
		return at + 1;
	}
	target += 2;
	target_length = strcspn(target, ")");
	fprintf(out, "%.*s", (int)length, at + 1);
	if (strncmp(target, "http", strlen("http")) == 0)
		fprintf(out, " (%.*s)", (int)target_length, target);
	return target + target_length + (target[target_length] == ')');
}

/* Within `code` only the table's own escape is one. Fresh memory. */
static char *
plain_text(const char *text, size_t length)
{
	const char *const end = text + length;
	bool is_code = false;
	char *plain = NULL;
	size_t size;
	FILE *out = open_memstream(&plain, &size);

	while (text < end) {
		is_code ^= *text == '`';
		if (strncmp(text, "\\|", 2) == 0) {
			text++;
		} else if (!is_code && strncmp(text, "**", 2) == 0) {
			text += 2;
			continue;
		} else if (!is_code && strncmp(text, "<a id=", strlen("<a id=")) == 0) {
			text = strstr(text, "</a>") ? strstr(text, "</a>") + strlen("</a>") : end;
			continue;
		} else if (!is_code && (*text == '[' || strncmp(text, "![", 2) == 0)) {
			text = copy_link(text + (*text == '!'), out);
			continue;
		}
		fputc(*text++, out);
	}
	fclose(out);
	return plain;
}

/* ---- paragraphs ---- */

static void
end_paragraph(struct document *document)
{
	autofree char *text = plain_text(document->paragraph, strlen(document->paragraph));
	const size_t blanks = strspn(text, " ");
	const int bullet = document->indent ? (int)(blanks + strcspn(text + blanks, " ")) : 0;

	fprintf(document->out, "%.*s", bullet, text);
	if (*text)
		text_print(text + bullet, document->indent, bullet, document->out);
	free(document->paragraph);
	document->paragraph = rot_strdup("");
}

/* "- ", "12. ": its length, or 0. */
static size_t
bullet_length(const char *line)
{
	const size_t digits = strspn(line, "0123456789");

	if (digits > 0)
		return strncmp(line + digits, ". ", 2) == 0 ? digits + 2 : 0;
	return strncmp(line, "- ", 2) == 0 ? 2 : 0;
}

static void
print_heading(struct document *document, const char *line, size_t length)
{
	const size_t level = strspn(line, "#"), blanks = level + strspn(line + level, " ");
	autofree char *text = plain_text(line + blanks, length - blanks);

	fprintf(document->out, "%s\n", text);
	for (size_t i = 0; level < 3 && i < text_width(text); i++)
		fputc(level == 1 ? '=' : '-', document->out);
	if (level < 3)
		fputc('\n', document->out);
}

/* ---- tables ---- */

/* A row "| a | b |". */
static void
add_row(struct text_table *table, const char *line, size_t length)
{
	char *cells[MOST_CELLS];
	size_t nr = 0;

	for (const char *at = line + 1, *end = line + length; at < end && nr < MOST_CELLS;) {
		const char *bar = at;

		while (bar < end && (*bar != '|' || bar[-1] == '\\'))
			bar++;
		at += strspn(at, " ");
		length = bar > at ? (size_t)(bar - at) : 0;
		while (length > 0 && at[length - 1] == ' ')
			length--;
		cells[nr++] = plain_text(at, length);
		at = bar + 1;
	}
	table->nr_columns = table->nr_rows == 0 ? nr : table->nr_columns;
	for (; nr < table->nr_columns; nr++)
		cells[nr] = rot_strdup("");
	while (nr > table->nr_columns)
		free(cells[--nr]);
	text_table_add(table, cells);
}

/* The widest row, with the gaps. */
static size_t
width_of(const struct text_table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		size_t widest = 0;

		for (size_t row = 0; row < table->nr_rows; row++) {
			const size_t own = text_width(table->cells[row * table->nr_columns + i]);

			widest = own > widest ? own : widest;
		}
		width += widest + 2;
	}
	return width - 2;
}

/* The first cell of a row, and the others below it, with their headings where there are several. */
static void
print_rows(const struct text_table *table, FILE *out)
{
	for (size_t row = 1; row < table->nr_rows; row++) {
		char *const *cells = &table->cells[row * table->nr_columns];

		text_print(cells[0], 0, 0, out);
		for (size_t i = 1; i < table->nr_columns; i++) {
			const bool is_named = table->nr_columns > 2 && *table->cells[i];
			autofree char *text =
				rot_format("%s%s%s", is_named ? table->cells[i] : "", is_named ? ": " : "", cells[i]);

			if (*cells[i])
				text_print(text, CELL_INDENT, 0, out);
		}
	}
}

static void
end_table(struct document *document)
{
	struct text_table *table = &document->table;
	struct text_table_column columns[MOST_CELLS];
	const size_t nr_cells = table->nr_rows * table->nr_columns, terminal = terminal_width(document->out);

	if (table->nr_rows == 0)
		return;
	if (width_of(table) <= (terminal < MOST_COLUMNS ? terminal : MOST_COLUMNS)) {
		struct text_table rows = {.columns = columns,
					  .nr_columns = table->nr_columns,
					  .cells = table->cells + table->nr_columns,
					  .nr_rows = table->nr_rows - 1,
					  .is_all_shown = true};

		for (size_t i = 0; i < table->nr_columns; i++)
			columns[i] = (struct text_table_column){table->cells[i], true};
		text_table_print(&rows, document->out);
	} else {
		print_rows(table, document->out);
	}
	for (size_t i = 0; i < nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct text_table){.nr_rows = 0};
}

/* ---- lines ---- */

static void
take_line(struct document *document, const char *line, size_t length)
{
	const size_t blanks = strspn(line, " "), bullet = bullet_length(line + blanks);
	const bool is_fence = strncmp(line + blanks, "```", 3) == 0, is_row = *line == '|';

	if (document->is_code && !is_fence) {
		fprintf(document->out, "%*s%.*s\n", length ? CODE_INDENT : 0, "", (int)length, line);
		return;
	}
	if (is_fence || is_row || length == 0 || *line == '#' || bullet)
		end_paragraph(document);
	if (!is_row)
		end_table(document);
	if (is_fence)
		document->is_code = !document->is_code;
	else if (is_row && strspn(line, "|-: ") < length)
		add_row(&document->table, line, length);
	else if (is_row)
		return;
	else if (length == 0)
		fputc('\n', document->out);
	else if (*line == '#')
		print_heading(document, line, length);
	else if (strncmp(line, "<!--", 4) != 0) {
		if (bullet || !*document->paragraph)
			document->indent = bullet ? (int)(blanks + bullet) : 0;
		rot_append(&document->paragraph, "%s%.*s", *document->paragraph ? " " : "",
			   (int)(length - (bullet ? 0 : blanks)), line + (bullet ? 0 : blanks));
	}
}

void
document_print(const char *text, FILE *out)
{
	struct document document = {.out = out, .paragraph = rot_strdup("")};

	while (*text) {
		const size_t length = strcspn(text, "\n");

		take_line(&document, text, length);
		text += length + (text[length] == '\n');
	}
	end_paragraph(&document);
	end_table(&document);
	free(document.paragraph);
}
