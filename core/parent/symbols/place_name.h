/* SPDX-License-Identifier: MIT */
/* How people write a place: [OBJECT:]FUNCTION, [OBJECT:]0xADDRESS, [OBJECT:]FILE:LINE, [OBJECT:]MARKER. */
#ifndef CORE_PARENT_SYMBOLS_PLACE_NAME_H
#define CORE_PARENT_SYMBOLS_PLACE_NAME_H

#include <stdint.h>

#include "error.h"

enum place_kind { PLACE_MARKER = 1, PLACE_FUNCTION = 2, PLACE_ADDRESS = 4, PLACE_LINE = 8 };

/*
 * kinds:  what it may be; a word may be a function or a marker
 * object: NULL: any
 * name:   function, marker or source file; NULL with an address
 */
struct place_name {
	unsigned kinds;
	char *object;
	char *name;
	int line;
	uint64_t address;
};

/* -1: that is no place. Two colons side by side belong to the name of a function. Free with place_name_clear. */
int place_name_read(const char *text, struct place_name *name, struct rot_error *err);
void place_name_clear(struct place_name *name);

#endif
