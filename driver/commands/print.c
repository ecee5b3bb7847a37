/* SPDX-License-Identifier: MIT */
/* How help and list print their rows on standard output. */
#include "commands/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { INDENT = 6, LAST_COLUMN = 100 };

/* Words of one line of text; a word longer than a line stands alone. */
static void
print_wrapped(const char *text, size_t length)
{
	size_t column = 0;

	while (length) {
		size_t blanks = strspn(text, " "), word;

		blanks = blanks < length ? blanks : length;
		text += blanks;
		length -= blanks;
		word = strcspn(text, " ");
		word = word < length ? word : length;
		if (!word)
			break;
		if (column && column + 1 + word > LAST_COLUMN) {
			putchar('\n');
			column = 0;
		}
		column += (size_t)printf("%*s%.*s", column ? 1 : INDENT, "", (int)word, text);
		text += word;
		length -= word;
	}
	putchar('\n');
}

void
print_entry(const char *name, const char *more, const char *text)
{
	printf("  %s%s%s\n", name, *more ? " " : "", more);
	while (*text) {
		size_t length = strcspn(text, "\n");

		print_wrapped(text, length);
		text += length + (text[length] == '\n');
	}
}

void
print_key(const struct configuration *configuration, const struct configuration_key *key)
{
	const char *value = configuration_text(configuration, key->name);
	char *name = rot_format("-%s=%s", key->name, value);
	char *more = rot_format("  [%s%s%s; %s]", configuration_type_name(key->type), key->choices ? ": " : "",
				key->choices ? key->choices : "",
				configuration_source_name(configuration_origin(configuration, key->name)));

	print_entry(name, more, key->description);
	free(name);
	free(more);
}
