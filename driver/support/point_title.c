/* SPDX-License-Identifier: MIT */
#include "support/point_title.h"

#include <string.h>

#include "memory.h"

char *
point_title(const char *series, const char *between, const char *label)
{
	if (!series[0] || strcmp(series, label) == 0)
		return rot_strdup(label);
	return label[0] ? rot_format("%s%s%s", series, between, label) : rot_strdup(series);
}
