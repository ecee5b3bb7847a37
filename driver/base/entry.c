/* SPDX-License-Identifier: MIT */
#include "base/entry.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "memory.h"

enum { INDENT = 6, LAST_COLUMN = 80 };

/* Words of one line of text; a word longer than a line stands alone. */
static void
print_line(const char *text, size_t length, int indent, size_t column, size_t last, FILE *out)
{
	while (length) {
		size_t blanks = strspn(text, " "), word;

		blanks = blanks < length ? blanks : length;
		text += blanks;
		length -= blanks;
		word = strcspn(text, " ");
		if (strncmp(text + word, " %", 2) == 0) /* no line begins with the unit of a number */
			word += 1 + strcspn(text + word + 1, " ");
		word = word < length ? word : length;
		if (!word)
			break;
		if (column && column + 1 + word > last) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%*s%.*s", column ? 1 : indent, "", (int)word, text);
		text += word;
		length -= word;
	}
	fputc('\n', out);
}

static void
print_lines(const char *text, int indent, int column, size_t last, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		print_line(text, length, indent, (size_t)column, last, out);
		text += length + (text[length] == '\n');
		column = 0;
	}
}

void
text_print(const char *text, int indent, int column, FILE *out)
{
	const size_t most = LAST_COLUMN, width = terminal_width(out);

	print_lines(text, indent, column, width < most ? width : most, out);
}

void
text_print_behind(const char *before, const char *text, FILE *out)
{
	fputs(before, out);
	print_lines(text, (int)strlen(before) + 1, (int)strlen(before), terminal_width(out), out);
}

/* Lines go on as they begin, or further to the right. */
static void
print_fitting(const char *text, size_t width, size_t least_indent, FILE *out)
{
	while (*text) {
		const size_t length = strcspn(text, "\n"), blanks = strspn(text, " "),
			     word = blanks + strcspn(text + blanks, " \n"),
			     indent = blanks > least_indent ? blanks : least_indent;

		if (length <= width) {
			fprintf(out, "%.*s\n", (int)length, text);
		} else {
			fprintf(out, "%.*s", (int)word, text);
			print_line(text + word, length - word, (int)indent, word, width, out);
		}
		text += length + (text[length] == '\n');
	}
}

void
text_print_within(const char *text, size_t width, FILE *out)
{
	print_fitting(text, width, 0, out);
}

void
text_print_fitting(const char *text, FILE *out)
{
	print_fitting(text, terminal_width(out), 0, out);
}

void
text_print_message(const char *text, FILE *out)
{
	autofree char *lines = NULL;
	size_t length;
	FILE *memory = open_memstream(&lines, &length);

	if (!memory)
		return;
	print_fitting(text, isatty(fileno(out)) ? terminal_width(out) : SIZE_MAX, strlen("rot: "), memory);
	fclose(memory);
	fputs(lines, out);
}

void
entry_print(const char *name, const char *more, const char *text, FILE *out)
{
	fprintf(out, "  %s%s%s\n", name, *more ? " " : "", more);
	text_print(text, INDENT, 0, out);
}

void
entry_print_wrapped(const char *name, const char *more, const char *text, FILE *out)
{
	const int column = fprintf(out, "  %s  ", name);

	text_print(more, INDENT, column, out);
	text_print(text, INDENT, 0, out);
}

/* ---- the terminal ---- */

size_t
terminal_columns(int descriptor, size_t otherwise)
{
	struct winsize size;

	return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

size_t
terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	const int configured = columns ? atoi(columns) : 0;

	return terminal_columns(fileno(out), configured > 0 ? (size_t)configured : 80);
}

bool
terminal_can_rewrite(int descriptor)
{
	const char *name = getenv("TERM");

	return isatty(descriptor) && name && name[0] && strcmp(name, "dumb") != 0;
}

bool
terminal_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *locale = getenv(names[i]);

		if (locale && locale[0])
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

void
terminal_page(const char *text)
{
	const char *asked = getenv("PAGER"), *pager = asked ? asked : "less";
	const bool is_paged = isatty(STDOUT_FILENO) && *pager && strcmp(pager, "cat") != 0;
	FILE *out = NULL;

	fflush(stdout);
	if (is_paged) {
		setenv("LESS", "FRX", 0);
		out = popen(pager, "we");
	}
	fputs(text, out ? out : stdout);
	/* The shell says so where there is no such program: then the text is printed all the same. */
	if (out && pclose(out) == 127 << 8)
		fputs(text, stdout);
}
