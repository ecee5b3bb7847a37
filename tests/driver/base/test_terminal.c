/* SPDX-License-Identifier: MIT */
/* Tables and texts on terminals that are narrow, and on wide ones. */
#include <pty.h>

#include "base/entry.h"
#include "base/text_table.h"
#include "programs/report.h"
#include "testing.h"

#define MOST_BYTES 65536

/* A terminal that does not say how wide it is. */
#define UNKNOWN 65535

/* The longest line that is printed where lines have so many columns; 0: no terminal. */
static size_t
longest_line(void (*print)(FILE *out), unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns == UNKNOWN ? 0 : columns};
	autofree char *text = rot_calloc(MOST_BYTES, 1);
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
	return longest;
}

/* Twenty columns of ten characters, with the blanks between 238. */
static void
print_with(bool is_one_part, FILE *out)
{
	struct text_table_column columns[20];
	cleared_by(text_table_clear) struct text_table table = {
		.columns = columns, .nr_columns = NR_ELEMENTS(columns), .nr_keys = 1, .is_one_part = is_one_part};
	char *cells[NR_ELEMENTS(columns)];

	for (size_t i = 0; i < NR_ELEMENTS(columns); i++) {
		columns[i] = (struct text_table_column){"heading", false};
		cells[i] = rot_strdup("0123456789");
	}
	text_table_add(&table, cells);
	ck_assert_uint_eq(text_table_print(&table, out), is_one_part ? 6 : NR_ELEMENTS(columns));
}

static void
print_table(FILE *out)
{
	print_with(false, out);
}

static void
print_one_part(FILE *out)
{
	print_with(true, out);
}

/* Columns of 18 characters behind 38. */
static void
print_threads(FILE *out)
{
	struct quantity_value values[6];
	struct program_thread_output output = {.tid = 7, .name = (char *)"solver"};
	const struct program_values of_thread = {.values = values, .nr = NR_ELEMENTS(values), .thread = &output};
	const struct report_thread thread = {&of_thread, NAN};

	for (size_t i = 0; i < NR_ELEMENTS(values); i++)
		values[i] = (struct quantity_value){.name = (char *)"time",
						    .of = (char *)"",
						    .unit = (char *)"us",
						    .kind = (char *)"measured",
						    .summary = summary_single(1, "exact")};
	report_threads(out, &thread, 1, true);
}

/* Words of 300 characters together. */
static void
fill(char text[300])
{
	text[0] = '\0';
	while (strlen(text) + 5 < 300)
		strcat(text, "word ");
	text[strlen(text) - 1] = '\0';
}

static void
print_entry(FILE *out)
{
	char text[300];

	fill(text);
	entry_print("name", "", text, out);
	entry_print_wrapped("name", text, text, out);
}

static void
print_behind(FILE *out)
{
	char text[300];

	fill(text);
	text_print_behind("  note:", text, out);
}

static void
print_fitting(FILE *out)
{
	char text[300];

	fill(text);
	text_print_fitting(text, out);
}

static void
print_message(FILE *out)
{
	char text[300];

	fill(text);
	text_print_message(text, out);
}

static const struct {
	void (*print)(FILE *out);
	unsigned short columns;
	size_t longest;
} rows[] = {
	{print_table, 0, 70},         {print_table, 80, 70},    {print_table, 200, 190},   {print_table, 250, 238},
	{print_one_part, 0, 70},      {print_one_part, 80, 70}, {print_entry, 0, 80},      {print_entry, 60, 60},
	{print_entry, 200, 80},       {print_behind, 0, 77},    {print_behind, 80, 77},    {print_behind, 400, 302},
	{print_fitting, 0, 79},       {print_fitting, 80, 79},  {print_fitting, 400, 294}, {print_threads, 0, 75},
	{print_threads, 80, 75},      {print_threads, 40, 57},  {print_message, 0, 294},   {print_message, 80, 79},
	{print_message, UNKNOWN, 79},
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

TEST_OF(lines_fit, NR_ELEMENTS(rows))
{
	if (rows[_i].columns && !has_terminals())
		return;
	ck_assert_uint_eq(longest_line(rows[_i].print, rows[_i].columns), rows[_i].longest);
}

/* Where there is no terminal. */
TEST(columns_may_be_asked_for)
{
	setenv("COLUMNS", "200", 1);
	ck_assert_uint_eq(longest_line(print_table, 0), 190);
	setenv("COLUMNS", "many", 1);
	ck_assert_uint_eq(longest_line(print_table, 0), 70);
	unsetenv("COLUMNS");
}

TEST(percent_stays_with_its_number)
{
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	text_print_within("a share of about 33 % of its time\n", 19, out);
	fclose(out);
	ck_assert_str_eq(text, "a share of about\n33 % of its time\n");
}
