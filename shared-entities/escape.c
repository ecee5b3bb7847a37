/* SPDX-License-Identifier: MIT */
/* Strings in text form and in canonical XML. */
#include "escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Characters with an escape of one letter, and the letters. */
static const char escaped[] = "\\\n\r\t";
static const char letters[] = "\\nrt";

static const struct {
	char character;
	const char *text;
} xml_references[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

void
escape_write_line(const char *string, FILE *out)
{
	while (*string) {
		size_t length = strcspn(string, "\\\n\r");

		fwrite(string, 1, length, out);
		string += length;
		if (*string)
			fprintf(out, "\\%c", letters[strchr(escaped, *string++) - escaped]);
	}
}

/* Bytes of the character at s if it is UTF-8 that XML 1.0 can hold and is beyond ASCII, else 0. */
static size_t
utf8_length(const unsigned char *s)
{
	size_t len = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
		     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;
	uint32_t code = len == 2 ? s[0] & 0x1f : len == 3 ? s[0] & 0x0f : s[0] & 0x07;
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0xfffe ||
	    code == 0xffff)
		return 0;
	return len;
}

/* Writes one ASCII character or one byte that has to be escaped. */
static void
write_attribute_byte(unsigned char byte, FILE *out)
{
	const char *found = strchr(escaped, byte);

	for (size_t i = 0; i < sizeof(xml_references) / sizeof(xml_references[0]); i++) {
		if (byte == (unsigned char)xml_references[i].character) {
			fputs(xml_references[i].text, out);
			return;
		}
	}
	if (found)
		fprintf(out, "\\%c", letters[found - escaped]);
	else if (byte < 0x20 || byte >= 0x7f)
		fprintf(out, "\\x%02x", byte);
	else
		putc(byte, out);
}

void
escape_write_attribute(const char *string, FILE *out)
{
	const unsigned char *s = (const unsigned char *)string;

	while (*s) {
		size_t len = utf8_length(s);

		if (len)
			fwrite(s, 1, len, out);
		else
			write_attribute_byte(*s, out);
		s += len ? len : 1;
	}
}

/* The value of a lower-case hexadecimal digit, or -1. */
static int
hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int)(found - digits) : -1;
}

char *
escape_decode(const char *text)
{
	char *string = rot_calloc(strlen(text) + 1, 1);
	size_t len = 0;

	for (; *text; text++) {
		const char *letter = text[0] == '\\' && text[1] ? strchr(letters, text[1]) : NULL;
		int byte = (unsigned char)text[0];

		if (letter) {
			byte = escaped[letter - letters];
			text++;
		} else if (text[0] == '\\') {
			int high = text[1] == 'x' ? hex_digit(text[2]) : -1;
			int low = high >= 0 ? hex_digit(text[3]) : -1;

			byte = low >= 0 ? high << 4 | low : 0;
			if (byte == 0) {
				free(string);
				return NULL;
			}
			text += 3;
		}
		string[len++] = (char)byte;
	}
	return string;
}
