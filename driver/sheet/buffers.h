/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how many entries the buffers of a core have, by time alone. A turn of the kernel
 * CoreBuffer takes longer as soon as its entries do not fit. What is read from curves is pure.
 */
#pragma once

#include "sheet/part.h"

enum buffers_answer {
	BUFFERS_WINDOW,
	BUFFERS_INTEGER,
	BUFFERS_VECTOR,
	BUFFERS_LOAD,
	BUFFERS_STORE,
	BUFFERS_MISS,
	BUFFERS_RETURN,
	BUFFERS_TARGET,
	BUFFERS_OPERATION,
	BUFFERS_NR
};

struct buffers {
	struct sheet_answer answers[BUFFERS_NR];
	struct measured_curve coarse[BUFFERS_NR]; /* from few entries to many                       */
	struct measured_curve curves[BUFFERS_NR]; /* the same with more points between those of the step */
};

/*
 * All of these are pure. The places of the coarse curves, and of a closer look at the steps of measured coarse curves;
 * puts both together; fills answers from them. told: entries as documents say; NaN: they do not.
 */
void buffers_plan(struct buffers *buffers);
void buffers_plan_closer(const struct buffers *buffers, struct measured_curve closer[BUFFERS_NR]);
void buffers_merge(struct buffers *buffers, const struct measured_curve closer[BUFFERS_NR]);
void buffers_conclude(struct buffers *buffers, const double told[BUFFERS_NR]);

/* Measures (or takes from the result cache) and concludes. */
extern const struct sheet_part buffers_part;
