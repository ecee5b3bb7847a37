/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: what one CPU hands to another, over the size of the block that one writes and the
 * other reads (BlackjackBench, section 3.2).
 */
#pragma once

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

enum handover_answer {
	HANDOVER_BEST,    /* GB/s, of any size */
	HANDOVER_LARGEST, /* of the largest block */
	HANDOVER_NR_ANSWERS
};

struct handover {
	struct sheet_answer answers[HANDOVER_NR_ANSWERS];
	struct measured_curve curve; /* GB/s over KiB; without points: there is one CPU alone */
};

/* Fills answers from the curve. Pure. */
void handover_conclude(struct handover *handover);

/* Measures the first two CPUs (or takes from the result cache) and concludes. */
int handover_measure(struct rot *rot, struct handover *handover, struct rot_error *err);

void handover_draw(const struct handover *handover, const struct sheet_pictures *pictures);
