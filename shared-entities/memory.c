/* SPDX-License-Identifier: MIT */
/* Allocation that cannot fail. */
#include "memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
need(void *memory, size_t nr, size_t size)
{
	if (memory)
		return memory;
	fprintf(stderr, "rot: out of memory (%zu elements of %zu bytes)\n", nr, size);
	exit(1);
}

void *
rot_calloc(size_t nr, size_t size)
{
	return need(calloc(nr ? nr : 1, size ? size : 1), nr, size);
}

void *
rot_realloc(void *old, size_t nr, size_t size)
{
	if (size && nr > SIZE_MAX / size)
		return need(NULL, nr, size);
	return need(realloc(old, nr && size ? nr * size : 1), nr, size);
}

/* It grows at 0 and at powers of two, so the capacity needs no variable. */
void *
rot_grow(void *array, size_t nr, size_t size)
{
	return (nr & (nr - 1)) == 0 ? rot_realloc(array, nr ? 2 * nr : 1, size) : array;
}

char *
rot_strdup(const char *s)
{
	return rot_strndup(s ? s : "", s ? strlen(s) : 0);
}

char *
rot_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = rot_realloc(NULL, len + 1, 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *
rot_vformat(const char *format, va_list arguments)
{
	char *text = NULL;
	int len = vasprintf(&text, format, arguments);

	return need(len < 0 ? NULL : text, 1, 1);
}

char *
rot_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rot_vformat(format, arguments);
	va_end(arguments);
	return text;
}

void
rot_append(char **text, const char *format, ...)
{
	const size_t length = *text ? strlen(*text) : 0;
	autofree char *more = NULL;
	va_list arguments;

	va_start(arguments, format);
	more = rot_vformat(format, arguments);
	va_end(arguments);
	*text = rot_realloc(*text, length + strlen(more) + 1, 1);
	strcpy(*text + length, more);
}
