/* SPDX-License-Identifier: MIT */
/* The one error type of rot. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ends a text that did not fit with "...", without leaving half of a UTF-8 character before it. */
static void
mark_cut(char *text, size_t size)
{
	size_t end = size - sizeof("...");

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", sizeof("..."));
}

static void
join(char *target, size_t size, const char *first, const char *separator, const char *second)
{
	char joined[sizeof(((struct rot_error *)0)->text) + 1];

	if (snprintf(joined, size, "%s%s%s", first, separator, second) >= (int)size)
		mark_cut(joined, size);
	memcpy(target, joined, strlen(joined) + 1);
}

static void
format_into(char *target, size_t size, const char *format, va_list arguments)
{
	if (vsnprintf(target, size, format, arguments) >= (int)size)
		mark_cut(target, size);
}

int
rot_error_set(struct rot_error *err, int errnum, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list arguments;

	if (!err)
		return -1;
	va_start(arguments, format);
	format_into(text, sizeof(text), format, arguments);
	va_end(arguments);
	join(err->text, sizeof(err->text), text, errnum > 0 ? ": " : "", errnum > 0 ? strerror(errnum) : "");
	err->hint[0] = '\0';
	err->scope = ROT_ERROR_OF_ALL;
	return -1;
}

int
rot_error_prefix(struct rot_error *err, const char *format, ...)
{
	char prefix[sizeof(err->text)];
	va_list arguments;

	if (!err)
		return -1;
	va_start(arguments, format);
	format_into(prefix, sizeof(prefix), format, arguments);
	va_end(arguments);
	join(err->text, sizeof(err->text), prefix, ": ", err->text);
	return -1;
}

int
rot_error_append(struct rot_error *err, const char *format, ...)
{
	char tail[sizeof(err->text)];
	va_list arguments;

	if (!err)
		return -1;
	va_start(arguments, format);
	format_into(tail, sizeof(tail), format, arguments);
	va_end(arguments);
	join(err->text, sizeof(err->text), err->text, "", tail);
	return -1;
}

int
rot_error_hint(struct rot_error *err, const char *format, ...)
{
	char hint[sizeof(err->hint)];
	va_list arguments;

	if (!err)
		return -1;
	va_start(arguments, format);
	format_into(hint, sizeof(hint), format, arguments);
	va_end(arguments);
	memcpy(err->hint, hint, strlen(hint) + 1);
	return -1;
}

int
rot_error_scope(struct rot_error *err, enum rot_error_scope scope)
{
	if (err)
		err->scope = scope;
	return -1;
}

const char *
rot_error_line(struct rot_error *err)
{
	if (err->hint[0]) {
		rot_error_append(err, " (%s)", err->hint);
		err->hint[0] = '\0';
	}
	return err->text;
}
