/* SPDX-License-Identifier: MIT */
/* Allocation that cannot fail: out of memory ends the process with one message. */
#ifndef ROT_MEMORY_H
#define ROT_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* Zeroed memory for nr elements of size bytes; exits with status 1 when there is none or nr * size overflows. */
void *rot_calloc(size_t nr, size_t size);

/* Like realloc for nr elements of size bytes; new memory is not zeroed; exits as above. */
void *rot_realloc(void *old, size_t nr, size_t size);

/* array with room for one more than its nr elements, all added through this, the first to NULL. Exits as above. */
void *rot_grow(void *array, size_t nr, size_t size);

/* Copies of strings, exit as above. rot_strdup(NULL) is "". */
char *rot_strdup(const char *s);
char *rot_strndup(const char *s, size_t n);

/* printf into fresh memory; exits as above. */
char *rot_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *rot_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
