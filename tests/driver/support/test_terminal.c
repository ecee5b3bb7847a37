/* SPDX-License-Identifier: MIT */
/* Tables and texts on terminals that are narrow, and on wide ones. */
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "support/entry.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "testing.h"

#define MOST_BYTES 65536

/* The longest line that is printed where lines have so many columns; 0: no terminal. */
static size_t
longest_line(void (*print)(FILE *out), unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	char *text = rot_calloc(MOST_BYTES, 1);
	size_t longest = 0, nr = 0;
	ssize_t part;
	int master, slave, ends[2];
	FILE *out;

	ck_assert_int_eq(columns ? openpty(&master, &slave, NULL, NULL, &size) : pipe(ends), 0);
	out = fdopen(columns ? slave : ends[1], "w");
	print(out);
	fflush(out);
	if (!columns)
		fclose(out);
	else
		fcntl(master, F_SETFL, O_NONBLOCK);
	while ((part = read(columns ? master : ends[0], text + nr, MOST_BYTES - 1 - nr)) > 0)
		nr += (size_t)part;
	if (columns)
		fclose(out);
	close(columns ? master : ends[0]);
	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		const size_t length = strcspn(line, "\r\n");

		longest = length > longest ? length : longest;
		line += length;
	}
	free(text);
	return longest;
}

/* Twenty columns of ten characters, with the blanks between 238. */
static void
print_table(FILE *out)
{
	struct text_table_column columns[20];
	struct text_table table = {.columns = columns, .nr_columns = NR_ELEMENTS(columns), .nr_keys = 1};
	char *cells[NR_ELEMENTS(columns)];

	for (size_t i = 0; i < NR_ELEMENTS(columns); i++) {
		columns[i] = (struct text_table_column){"heading", false};
		cells[i] = rot_strdup("0123456789");
	}
	text_table_add(&table, cells);
	text_table_print_parts(&table, out);
	text_table_clear(&table);
}

static void
print_entry(FILE *out)
{
	char text[300] = "";

	while (strlen(text) + 5 < sizeof(text))
		strcat(text, "word ");
	entry_print("name", "", text, out);
}

static const struct {
	void (*print)(FILE *out);
	unsigned short columns;
	size_t longest;
} rows[] = {
	{print_table, 0, 118}, {print_table, 80, 70}, {print_table, 200, 190}, {print_table, 250, 238},
	{print_entry, 0, 100}, {print_entry, 80, 80}, {print_entry, 200, 100},
};

/* There are systems without. */
static bool
has_terminals(void)
{
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		return false;
	close(master);
	close(slave);
	return true;
}

START_TEST(lines_fit)
{
	if (rows[_i].columns && !has_terminals())
		return;
	ck_assert_uint_eq(longest_line(rows[_i].print, rows[_i].columns), rows[_i].longest);
}
END_TEST

static const struct listed_test tests[] = {{&lines_fit, NR_ELEMENTS(rows)}};

const struct suite test_suite = SUITE("terminal", tests);
