/* SPDX-License-Identifier: MIT */
/* See number.h. */
#include "number.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

char *
rot_number_text(double number, int fewest_digits)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c_locale);
	char text[64];

	for (int digits = fewest_digits; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	uselocale(old);
	freelocale(c_locale);
	return rot_strdup(text);
}

char *
rot_number_in_full(double number)
{
	if (number > -0x1p53 && number < 0x1p53 && number == (double)(int64_t)number)
		return rot_format("%" PRId64, (int64_t)number);
	return rot_number_text(number, 1);
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
