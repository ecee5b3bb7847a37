/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how many entries the buffers of a core have, by time alone. A turn of the kernel
 * CoreBuffer takes longer as soon as its entries do not fit. What is read from curves is pure.
 */
#pragma once

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

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
	struct measured_curve coarse[BUFFERS_NR]; /* from few entries to many                       */
	struct measured_curve curves[BUFFERS_NR]; /* the same with more points between those of the step */
	struct sheet_answer answers[BUFFERS_NR];
	struct rot_error failure; /* why nothing could be measured; empty text: it was */
};

/* Fills answers from curves. told: entries as documents say; NaN: they do not. Pure. */
void buffers_conclude(struct buffers *buffers, const double told[BUFFERS_NR]);

/* The points that a closer look needs between those of the step of a coarse curve: their places, fewer than most. */
size_t
buffers_places_between(enum buffers_answer which, const struct measured_curve *coarse, double *places, size_t most);

void buffers_draw(const struct buffers *buffers, const struct sheet_pictures *pictures);

/* Measures (or takes from the result cache) and concludes. */
int buffers_measure(struct rot *rot, struct buffers *buffers, struct rot_error *err);
