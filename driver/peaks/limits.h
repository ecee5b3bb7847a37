/* SPDX-License-Identifier: MIT */
/* What the processor's documents allow, beside what was found: rows <limit> of driver/architectures/. */
#ifndef PEAKS_LIMITS_H
#define PEAKS_LIMITS_H

#include "error.h"
#include "peaks/peak.h"

struct rot;
struct architecture;

/* A peak that is this much below its limit gets a remark with the cause, or that none is known. */
#define LIMIT_NOTABLE 0.02

/* Above its limit by more than this it is not believed: the clock was misread, or the document is. It gets a remark,
 * and the profile replaces it with what is found next. */
#define LIMIT_EXCEEDED 0.005

/*
 * Sets limit, source and remark of the peak, on a CPU of that model; NaN and "" where nothing is known. A remark that
 * is there already stays.
 */
void peak_set_limit(struct peak *peak, const struct architecture *architecture, int model);

/* The same for all, on this machine, whether its events can be counted or not. */
int peaks_set_limits(struct rot *rot, struct peak_list *list, struct rot_error *err);

#endif
