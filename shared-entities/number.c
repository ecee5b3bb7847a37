/* SPDX-License-Identifier: MIT */
/* See number.h. */
#include "number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

char *
rot_number_text(double number, int fewest_digits)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c_locale);
	char text[64];

	for (int digits = fewest_digits; digits <= 17; digits++) {
		double read;

		snprintf(text, sizeof(text), "%.*g", digits, number);
		read = strtod(text, NULL);
		if (memcmp(&read, &number, sizeof(read)) == 0)
			break;
	}
	uselocale(old);
	freelocale(c_locale);
	return rot_strdup(text);
}

char *
rot_number_in_full(double number)
{
	if (number == floor(number) && fabs(number) < 0x1p53)
		return rot_format("%.0f", number == 0 ? 0.0 : number);
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
