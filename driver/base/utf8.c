/* SPDX-License-Identifier: MIT */
/* See utf8.h. Source: The Unicode Standard, table 3-7, well-formed UTF-8 byte sequences. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- texts of XML ---- */

char *
xml_text(const char *text)
{
	char *copy = utf8_text(text), *to = copy;

	for (const char *from = copy; *from; from++)
		if ((unsigned char)*from >= ' ' || *from == '\n' || *from == '\t')
			*to++ = *from;
	*to = '\0';
	return copy;
}

/* First bytes of characters, and what the second may be; those that follow are from 0x80 to 0xbf. */
static const struct {
	unsigned char first, last, second_first, second_last;
	size_t length;
} forms[] = {
	{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool
is_within(char byte, unsigned char first, unsigned char last)
{
	return (unsigned char)byte >= first && (unsigned char)byte <= last;
}

/* Bytes of the character that the text begins with; 0: that is none. */
static size_t
character_length(const char *text)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t length = 1;

		if (!is_within(text[0], forms[i].first, forms[i].last))
			continue;
		if (forms[i].length > 1 && is_within(text[1], forms[i].second_first, forms[i].second_last))
			length = 2;
		while (length > 1 && length < forms[i].length && is_within(text[length], 0x80, 0xbf))
			length++;
		return length == forms[i].length ? length : 0;
	}
	return 0;
}

char *
utf8_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = rot_calloc(3 * strlen(text) + 1, 1), *to = copy;

	while (*text) {
		const size_t length = character_length(text);

		memcpy(to, length ? text : replacement, length ? length : sizeof(replacement) - 1);
		to += length ? length : sizeof(replacement) - 1;
		text += length ? length : 1;
	}
	return copy;
}

char *
utf8_printable(const char *text)
{
	autofree char *clean = utf8_text(text);
	char *printable = rot_calloc(4 * strlen(clean) + 1, 1), *to = printable;

	for (const char *at = clean; *at; at++) {
		/* Control characters behind ASCII, U+0080 to U+009F, take two bytes. */
		const bool is_behind = (unsigned char)*at == 0xc2 && is_within(at[1], 0x80, 0x9f);
		const unsigned char last = (unsigned char)at[is_behind];

		if (is_behind || last < ' ' || last == 0x7f)
			to += sprintf(to, "\\x%02x", last);
		else
			*to++ = *at;
		at += is_behind;
	}
	return printable;
}

size_t
utf8_fitting(const char *text, size_t most)
{
	size_t length = strlen(text);

	if (length <= most)
		return length;
	for (length = most; length > 0 && is_within(text[length], 0x80, 0xbf);)
		length--;
	return length;
}
