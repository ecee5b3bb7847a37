/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: the clock of its cores, by how many CPUs work and by the width of their registers.
 * Boost and licences of wide registers show here.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

#define CLOCKS_MAX_COUNTS 16
#define CLOCKS_NR_WIDTHS 4

struct clocks {
	size_t cpus[CLOCKS_MAX_COUNTS]; /* that work at once: 1, 2, 4, ... all */
	size_t nr;
	struct sheet_number ghz[CLOCKS_MAX_COUNTS][CLOCKS_NR_WIDTHS]; /* of the slowest CPU; NaN: no such registers */
};

/* Measures (or takes from the result cache). */
int clocks_measure(struct rot *rot, struct clocks *clocks, struct rot_error *err);

void clocks_print(const struct clocks *clocks, FILE *out);
void clocks_draw(const struct clocks *clocks, const struct sheet_pictures *pictures);
json_t *clocks_json(const struct clocks *clocks);
