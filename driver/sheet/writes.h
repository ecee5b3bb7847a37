/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: where stores go. A line that was stored to and is stored to again is in a cache or is
 * not (write allocate), and stores to what lies in one take as long as the next one needs for them or do not (write
 * back). By kernel Memory.
 */
#pragma once

#include "error.h"
#include "sheet/sheet.h"

struct rot;

enum writes_answer {
	WRITES_L1,    /* a line in L1 */
	WRITES_L2,    /* in L2 */
	WRITES_FIRST, /* in memory */
	WRITES_AGAIN, /* the same once more, when others were stored to */
	WRITES_NR_ANSWERS
};

/* Cycles of a line that is filled by stores, of both halves of the runs. five: of the first pass and four more, from
 * memory on. Pure. */
void writes_conclude(const double l1[2], const double l2[2], const double first[2], const double five[2],
		     struct sheet_answer answers[WRITES_NR_ANSWERS]);

/* Measures (or takes from the result cache) and concludes. */
int writes_measure(struct rot *rot, struct sheet_answer answers[WRITES_NR_ANSWERS], struct rot_error *err);
