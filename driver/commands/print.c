/* SPDX-License-Identifier: MIT */
/* How help and list print their rows on standard output. */
#include "commands/print.h"

#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/text_table.h"
#include "base/utf8.h"
#include "memory.h"

enum { NAMES_WIDTH = 26, SHORT_NAMES_WIDTH = 27, LAST_COLUMN = 80 };

void
print_entry(const char *name, const char *more, const char *text)
{
	entry_print(name, more, text, stdout);
}

size_t
print_columns(void)
{
	const size_t columns = terminal_width(stdout);

	return columns < LAST_COLUMN ? columns : LAST_COLUMN;
}

void
print_short(const char *name, const char *text)
{
	const size_t width = print_columns(), before = 2 + SHORT_NAMES_WIDTH;
	const size_t used = strlen(name) < SHORT_NAMES_WIDTH ? before : 2 + strlen(name) + 1;
	const size_t room = width > used ? width - used : 0;
	autofree char *line = rot_strndup(text, strcspn(text, "\n"));

	if (text_width(line) > room && room > 3) {
		line[utf8_fitting(line, room - 3)] = '\0';
		strcpy(strrchr(line, ' ') ? strrchr(line, ' ') : line, "...");
	}
	printf("  %-*s %s\n", SHORT_NAMES_WIDTH - 1, name, room > 3 ? line : "");
}

int
short_length(const char *text, int room)
{
	const int length = (int)strcspn(text, ":;(");

	return length <= room ? length : (int)strcspn(text, ":;(,");
}

/* Choices that do not fit go on in the next line. */
static void
print_names(const char *names)
{
	int column = printf("  ");

	for (const char *part = names, *end; *part; part = end) {
		end = part + strcspn(part, "|");
		end += *end == '|';
		if (column + (int)(end - part) > LAST_COLUMN)
			column = printf("\n            ") - 1;
		column += printf("%.*s", (int)(end - part), part);
	}
	putchar('\n');
}

void
print_options(const struct option_table *table, bool is_short)
{
	int width = 0;

	for (size_t i = 0; i < table->nr; i++) {
		autofree char *names = option_names(&table->rows[i]);

		width = (int)strlen(names) > width ? (int)strlen(names) : width;
	}
	width = width < NAMES_WIDTH ? width : NAMES_WIDTH;
	putchar('\n');
	for (size_t i = 0; i < table->nr; i++) {
		const char *text = table->rows[i].about;
		const int room = LAST_COLUMN - width - 4,
			  length = is_short ? short_length(text, room) : (int)strlen(text);
		autofree char *about = rot_strndup(text, (size_t)length);
		autofree char *names = option_names(&table->rows[i]);
		const bool is_long = strlen(names) > (size_t)width; /* has a line of its own */
		int column = 0;

		if (is_long)
			print_names(names);
		else
			column = printf("  %-*s ", width, names);
		text_print(about, width + 4, column, stdout);
	}
}

void
print_key(const struct configuration *configuration, const struct configuration_key *key)
{
	const char *value = configuration_text(configuration, key->name);
	autofree char *name = rot_format("-%s=%s", key->name, value);
	autofree char *more = rot_format("[%s%s%s; %s]", configuration_type_name(key->type), key->choices ? ": " : "",
					 key->choices ? key->choices : "",
					 configuration_source_name(configuration_origin(configuration, key->name)));

	entry_print_wrapped(name, more, key->description, stdout);
}
