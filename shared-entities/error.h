/* SPDX-License-Identifier: MIT */
/* The one error type of rot: what was attempted, why it failed, what to do next. */
#ifndef ROT_ERROR_H
#define ROT_ERROR_H

#include <stddef.h>

/*
 * Filled by the function that fails, extended on the way up, printed once by main.
 *
 * text: "cannot open 'x.xml': No such file or directory"; never empty after a failure.
 * hint: the next step for the user, or empty. May hold several lines.
 * A zeroed struct is "no error".
 */
struct rot_error {
	char text[4096];
	char hint[1024];
};

/*
 * All return -1, so that a failing path is one statement. err may be NULL (nothing is kept).
 *
 * set:    replaces text (and clears the hint); errnum > 0 appends ": strerror(errnum)".
 * prefix: puts "PREFIX: " in front of the text.
 * append: adds to the end of the text.
 * hint:   sets the hint.
 * Texts that do not fit are cut and end in "...".
 */
int rot_error_set(struct rot_error *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));
int rot_error_prefix(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rot_error_append(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rot_error_hint(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "TEXT (HINT)", or the text alone where there is no hint: for what has room for one line. It becomes the text of err.
 */
const char *rot_error_line(struct rot_error *err);

#endif
