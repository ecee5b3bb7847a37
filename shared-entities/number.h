/* SPDX-License-Identifier: MIT */
/* Numbers as text that reads back exactly, in any locale. */
#pragma once

#include <stdbool.h>

#define ROT_NUMBER_BYTES 32

/* The shortest decimal text of at least that many significant digits that reads back as the same number: in
 * fresh memory, or in text.
 */
char *rot_number_text(double number, int fewest_digits);
void rot_number_write(double number, int fewest_digits, char text[ROT_NUMBER_BYTES]);

/* The same for people: whole numbers below 2^53 in full, never with an exponent, and without a sign for zero. */
char *rot_number_in_full(double number);

/* The ending of a noun that is counted: "" for 1, else "s". */
const char *rot_plural(double number);

/* True if text is one number and nothing behind it. *number may be infinite or no number ("inf", "1e999", "nan"). */
bool rot_number_parse(const char *text, double *number);
