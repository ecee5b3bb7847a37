/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

void
rot_number_write(double number, int fewest_digits, char text[ROT_NUMBER_BYTES])
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c_locale);

	for (int digits = fewest_digits; digits <= 17; digits++) {
		snprintf(text, ROT_NUMBER_BYTES, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	uselocale(old);
	freelocale(c_locale);
}

char *
rot_number_text(double number, int fewest_digits)
{
	char text[ROT_NUMBER_BYTES];

	rot_number_write(number, fewest_digits, text);
	return rot_strdup(text);
}

char *
rot_number_in_full(double number)
{
	if (number > -0x1p53 && number < 0x1p53 && number == (double)(int64_t)number)
		return rot_format("%" PRId64, (int64_t)number);
	return rot_number_text(number, 1);
}

const char *
rot_plural(double number)
{
	return number == 1 ? "" : "s";
}

bool
rot_number_parse(const char *text, double *number)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;

	*number = strtod_l(text, &end, c_locale);
	freelocale(c_locale);
	return end != text && *end == '\0';
}
