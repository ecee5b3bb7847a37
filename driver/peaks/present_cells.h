/* SPDX-License-Identifier: MIT */
/* What the tables of peaks have in common. For present*.c only. */
#ifndef PEAKS_PRESENT_CELLS_H
#define PEAKS_PRESENT_CELLS_H

#include "peaks/peak.h"

/* "31.990 ±0.010", in units of 1 / factor. Fresh memory. */
char *estimate_text(const struct peak_estimate *estimate, double factor);

#endif
