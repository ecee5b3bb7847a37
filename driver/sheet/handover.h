/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: what one CPU hands to another, over the size of the block that one writes and the
 * other reads (BlackjackBench, section 3.2).
 */
#pragma once

#include "sheet/part.h"

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
extern const struct sheet_part handover_part;
