/* SPDX-License-Identifier: MIT */
/* The one error type of rot: what was attempted, why it failed, what to do next. */
#pragma once

#include <stddef.h>

/* The extent of a failure tells what may be tried all the same. */
enum rot_error_scope {
	ROT_ERROR_OF_ALL,   /* of whatever else is attempted, for all that is known                               */
	ROT_ERROR_OF_WORK,  /* of the work that was measured: a crash, its time limit, its memory, its compilation */
	ROT_ERROR_OF_TOOLS, /* a program that builds is missing: what is built, or measured, can be used           */
};

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
	enum rot_error_scope scope;
};

/*
 * All return -1, so that a failing path is one statement. err may be NULL (nothing is kept).
 *
 * set:    replaces text (and clears hint and scope); errnum > 0 appends ": strerror(errnum)".
 * prefix: puts "PREFIX: " in front of the text.
 * append: adds to the end of the text.
 * hint:   sets the hint.
 * scope:  sets the scope.
 * Texts that do not fit are cut and end in "...".
 */
int rot_error_set(struct rot_error *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));
int rot_error_prefix(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rot_error_append(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rot_error_hint(struct rot_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rot_error_scope(struct rot_error *err, enum rot_error_scope scope);

/* "TEXT (HINT)", or the text alone where there is no hint: for what has room for one line. It becomes the text of err.
 */
const char *rot_error_line(struct rot_error *err);
