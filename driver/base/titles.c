/* SPDX-License-Identifier: MIT */
#include "base/titles.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "memory.h"

/* ---- points ---- */

char *
point_title(const char *series, const char *between, const char *label)
{
	if (!series[0] || strcmp(series, label) == 0)
		return rot_strdup(label);
	return label[0] ? rot_format("%s%s%s", series, between, label) : rot_strdup(series);
}

const char *
function_file(const json_t *place)
{
	return path_name(json_text_at(place, "object"));
}

char *
function_title(const json_t *place, size_t most)
{
	const char *function = json_text_at(place, "function");
	const bool has_end = !*function || strcmp(function, json_text_at(place, "symbol")) != 0;
	const json_int_t address = json_integer_value(json_object_get(place, "address"));
	char *title = *function ? rot_strdup(function)
		      : json_number_at(place, "size") > 0
			      ? rot_format("%s+0x%llx", function_file(place), (unsigned long long)address)
			      : rot_format("%s, in no function", function_file(place));
	const size_t length = strlen(title);
	size_t from = has_end ? length - most + 1 : 0, to = has_end ? length : most - 1;
	char *shorter;

	if (most == 0 || length <= most)
		return title;
	while ((title[from] & 0xC0) == 0x80) /* within a character */
		from++;
	while ((title[to] & 0xC0) == 0x80)
		to--;
	shorter = rot_format("%s%.*s%s", has_end ? "\u2026" : "", (int)(to - from), title + from,
			     has_end ? "" : "\u2026");
	free(title);
	return shorter;
}

char *
place_title(const json_t *place, size_t most)
{
	autofree char *function = function_title(place, most);
	const double line = json_number_at(place, "line");
	const double offset = json_number_at(place, "address") - json_number_at(place, "functionAddress");

	if (!(json_number_at(place, "header") > 0))
		return rot_keep(&function);
	return line > 0                           ? rot_format("%s, line %.0f", function, line)
	       : *json_text_at(place, "function") ? rot_format("%s+0x%llx", function, (unsigned long long)offset)
						  : rot_keep(&function);
}

char *
trips_text(size_t first, size_t last)
{
	if (last == 0)
		return rot_strdup("1");
	return last + 1 < 20 ? rot_format("%.0f-%.0f", ldexp(1, (int)first), ldexp(2, (int)last) - 1)
			     : rot_format("%.0f and more", ldexp(1, (int)first));
}
