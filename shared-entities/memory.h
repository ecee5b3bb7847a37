/* SPDX-License-Identifier: MIT */
/* Allocation that cannot fail: out of memory ends the process with one message. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed memory for nr elements of size bytes; exits with status 1 when there is none or nr * size overflows. */
void *rot_calloc(size_t nr, size_t size);

/* Like realloc for nr elements of size bytes; new memory is not zeroed; exits as above. */
void *rot_realloc(void *old, size_t nr, size_t size);

/* array with room for one more than its nr elements, all added through this, the first to NULL. Exits as above. */
void *rot_grow(void *array, size_t nr, size_t size);

/* The element behind the nr elements of array, which becomes one longer, as nr does: rot_add(names, nr) = name; */
#define rot_add(array, nr) (*((array) = rot_realloc(array, (nr) + 1, sizeof(*(array))), &(array)[(nr)++]))

/* Copies of strings, exit as above. rot_strdup(NULL) is "". */
char *rot_strdup(const char *s);
char *rot_strndup(const char *s, size_t n);

/* printf into fresh memory; exits as above. */
char *rot_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *rot_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* The same behind what *text has so far, which may move, or be NULL. */
void rot_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A local variable with this frees what it points to when its block ends: autofree char *path = rot_format(...);
 * errno is left alone.
 */
#define autofree __attribute__((cleanup(rot_free_local)))

static inline void
rot_free_local(void *variable)
{
	const int reason = errno;
	void *memory;

	memcpy(&memory, variable, sizeof(memory));
	free(memory);
	errno = reason;
}

/* Gives the caller what such a variable points to: return rot_keep(&path). The variable is NULL then. */
static inline void *
rot_keep(void *variable)
{
	void *memory;

	memcpy(&memory, variable, sizeof(memory));
	memset(variable, 0, sizeof(memory));
	return memory;
}
