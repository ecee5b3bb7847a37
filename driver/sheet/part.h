/* SPDX-License-Identifier: MIT */
/* A part of the data sheet that is a list of answers. */
#pragma once

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

/* bytes: of what is measured, which begins with its answers and is all zero before. */
struct sheet_part {
	const char *heading;
	size_t nr_answers, bytes;
	int (*measure)(struct rot *rot, void *measured, struct rot_error *err);
	void (*draw)(const void *measured, const struct sheet_pictures *pictures);
};
